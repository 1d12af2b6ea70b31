//! Reads times.

use super::list::range;
use super::number::{ONE_OF_THEM, SplitNumber};
use super::{Reading, Refusal};

/// The unit of a time that is written without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `runtime`, `ramp_time`, ...
    Seconds,
    /// `thinktime`, `max_latency`, `latency_target`, ...
    Microseconds,
}

impl TimeUnit {
    /// The unit in nanoseconds.
    pub const fn nanoseconds(self) -> u64 {
        match self {
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Microseconds => 1_000,
        }
    }
}

const SECOND: u64 = 1_000_000_000;

/// Reads a time and gives nanoseconds.
pub fn time(text: &str, unit: TimeUnit) -> Result<u64, Refusal> {
    let parts = SplitNumber::of(text).map_err(|_| Refusal::new("not a time"))?;
    if parts.negative {
        return Err(Refusal::new("a time cannot be negative"));
    }
    let (number, lower) = (parts.value()?, parts.suffix.trim_end().to_ascii_lowercase());
    let factor = match lower.as_str() {
        "" => unit.nanoseconds(),
        word if word.strip_prefix('.').is_some_and(|digits| digits.bytes().all(|digit| digit == b'0')) => {
            unit.nanoseconds()
        }
        word if is_word_of("msec", word) => 1_000_000,
        word if is_word_of("usec", word) => 1_000,
        word => match unit_named(word) {
            Some(factor) => factor,
            None => return Err(misread(&parts, unit).advise(meant(text, number, word))),
        },
    };
    let time = number.checked_mul(factor).ok_or_else(|| Refusal::new("the time is too long"))?;
    match read_by_fio(&parts, unit) {
        Some(read) if read != time / 1_000 => {
            Err(misread(&parts, unit).advise("write a decimal number, its unit behind it"))
        }
        _ => Ok(time),
    }
}

/// Whether `word` is `start` with only letters after it, such as `msecs`.
fn is_word_of(start: &str, word: &str) -> bool {
    word.strip_prefix(start).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// The length of a unit, ns.
fn unit_named(word: &str) -> Option<u64> {
    Some(match word {
        "d" => 86_400 * SECOND,
        "h" => 3_600 * SECOND,
        "m" => 60 * SECOND,
        "s" => SECOND,
        "ms" => 1_000_000,
        "us" => 1_000,
        _ => return None,
    })
}

/// The time that fio reads, us. To fio, letters after the number (and after further numbers and signs) are
/// microseconds unless fio knows the unit.
fn read_by_fio(parts: &SplitNumber<'_>, unit: TimeUnit) -> Option<u64> {
    let (number, suffix) = parts.taken_by_fio()?;
    let suffix = suffix.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    let factor = match unit_named(suffix.trim_end()) {
        _ if !suffix.starts_with(|c: char| c.is_ascii_alphabetic()) => unit.nanoseconds(),
        Some(factor) => factor,
        None if suffix.starts_with("ms") => 1_000_000,
        None => 1_000,
    };
    number.checked_mul(factor / 1_000)
}

fn misread(parts: &SplitNumber<'_>, unit: TimeUnit) -> Refusal {
    if parts.suffix.contains([',', ':', '-']) {
        return Refusal::new(ONE_OF_THEM);
    }
    let reason = match parts.suffix.chars().next() {
        Some('.') => "a time is a whole number".to_owned(),
        Some(_) if parts.blank => "a blank before a time with a unit".to_owned(),
        Some(_) => format!("unknown unit of time {}", parts.suffix.trim()),
        None => "a time in hexadecimal".to_owned(),
    };
    match read_by_fio(parts, unit) {
        None => Refusal::new(reason),
        Some(us) if us % 1_000_000 == 0 && us > 0 => Refusal::misread(&reason, &format_args!("{} s", us / 1_000_000)),
        Some(us) => Refusal::misread(&reason, &format_args!("{us} microseconds")),
    }
}

/// Advice: the text that was probably meant.
fn meant(text: &str, number: u64, word: &str) -> String {
    match word {
        "sec" | "secs" | "second" | "seconds" => format!("write {number}s"),
        "min" | "mins" | "minute" | "minutes" => format!("write {number}m"),
        "hr" | "hrs" | "hour" | "hours" => format!("write {number}h"),
        "day" | "days" => format!("write {number}d"),
        _ if text.contains('.') => "write a whole number of a smaller unit, such as 1500ms for 1.5s".to_owned(),
        _ => "units are d, h, m, s, ms, us, one per value (1h30m is 90m)".to_owned(),
    }
}

/// Reads one time or `low-high`, in nanoseconds. fio takes all text after the first number for its unit: in `5-10ms`
/// the first number gets the unit of the second. With a unit of its own, fio misreads it.
pub fn time_range(text: &str, unit: TimeUnit, reading: &mut Reading) -> Result<(u64, u64), Refusal> {
    let whole = SplitNumber::of(text).ok().and_then(|parts| read_by_fio(&parts, unit));
    let mut ends = 0;
    range(text, true, |item| {
        ends += 1;
        let (time, whole) = (time(item, unit)?, whole.map(|us| us.saturating_mul(1_000)));
        match whole {
            Some(fio) if ends == 1 && fio != time => {
                if item.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Ok(fio);
                }
                reading
                    .notes
                    .push(format!("{item} is read with its unit; fio would read {} microseconds", fio / 1_000));
                Ok(time)
            }
            _ => Ok(time),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, ns) in [
            ("10", 10 * SECOND),
            ("10s", 10 * SECOND),
            ("2M", 120 * SECOND),
            ("1h", 3600 * SECOND),
            ("1d", 86_400 * SECOND),
            ("5ms", 5_000_000),
            ("5msecs", 5_000_000),
            ("7us", 7_000),
            ("7usec", 7_000),
            (" 3", 3 * SECOND),
        ] {
            assert_eq!(time(text, TimeUnit::Seconds), Ok(ns), "{text}");
        }
        assert_eq!(time("10", TimeUnit::Microseconds), Ok(10_000));
    }

    #[test]
    fn what_fio_reads_as_microseconds_is_refused() {
        for (text, advice) in [("10sec", "10s"), ("1min", "1m"), ("2hours", "2h"), ("1.5s", "1500ms"), ("1h30m", "90m")]
        {
            let refusal = time(text, TimeUnit::Seconds).unwrap_err();
            assert!(refusal.advice.as_ref().unwrap().contains(advice), "{text}: {refusal:?}");
        }
        for text in ["", "x", "-1", " 10ms", "0x10", "10ns", "99999999999999999999", "999999999999d"] {
            assert!(time(text, TimeUnit::Seconds).is_err(), "{text}");
        }
    }
}
