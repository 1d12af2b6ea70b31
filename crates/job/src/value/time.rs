//! Times.

use super::{Refusal, split_leading_blank};

/// What a time without a unit counts.
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
    let (blank, trimmed) = split_leading_blank(text);
    let end = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, suffix) = trimmed.split_at(end);
    if trimmed.starts_with('-') {
        return Err(Refusal::new("a time cannot be negative"));
    }
    if digits.is_empty() {
        return Err(Refusal::new("not a time"));
    }
    let number: u64 = digits.parse().map_err(|_| Refusal::new("the time is too long"))?;
    let factor = factor(trimmed, number, suffix, unit)?;
    if blank && !suffix.is_empty() {
        return Err(Refusal::new(format!("a blank before {trimmed} makes fio misread its unit"))
            .advise(format!("write {trimmed} right after the =")));
    }
    number.checked_mul(factor).ok_or_else(|| Refusal::new("the time is too long"))
}

fn factor(text: &str, number: u64, suffix: &str, unit: TimeUnit) -> Result<u64, Refusal> {
    let lower = suffix.trim_end().to_ascii_lowercase();
    Ok(match lower.as_str() {
        "" => unit.nanoseconds(),
        "d" => 86_400 * SECOND,
        "h" => 3_600 * SECOND,
        "m" => 60 * SECOND,
        "s" => SECOND,
        "ms" => 1_000_000,
        "us" => 1_000,
        other if other.starts_with("msec") => 1_000_000,
        other if other.starts_with("usec") => 1_000,
        other => {
            let refusal = Refusal::new(format!("unknown unit of time {suffix}: fio would read {number} microseconds"));
            let meant = match other {
                "sec" | "secs" | "second" | "seconds" => format!("write {number}s"),
                "min" | "mins" | "minute" | "minutes" => format!("write {number}m"),
                "hr" | "hrs" | "hour" | "hours" => format!("write {number}h"),
                "day" | "days" => format!("write {number}d"),
                _ if text.contains('.') => "write a whole number of a smaller unit, such as 1500ms for 1.5s".to_owned(),
                _ => "units are d, h, m, s, ms, us, one per value (1h30m is 90m)".to_owned(),
            };
            return Err(refusal.advise(meant));
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
        for text in ["", "x", "-1", " 10s", "10ns", "99999999999999999999", "999999999999d"] {
            assert!(time(text, TimeUnit::Seconds).is_err(), "{text}");
        }
    }
}
