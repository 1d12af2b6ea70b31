//! Formats quantities for tables and charts: like [`fsdyno_text::quantity`], with a no-break space before the unit.

pub(crate) use fsdyno_text::quantity::{counted, number};

const NBSP: char = '\u{a0}';

/// A quantity with no-break spaces.
fn unbroken(text: String) -> String {
    text.replace(' ', "\u{a0}")
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{}{NBSP}{unit}", number(value))
}

/// `64 KiB`, `12.3 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    unbroken(fsdyno_text::quantity::bytes(bytes))
}

/// A rate, always in MB/s or MiB/s so that the cells of a table can be compared: `508 MB/s`.
pub(crate) fn megabytes_per_s(bytes_per_s: f64) -> String {
    unbroken(fsdyno_text::quantity::bytes_per_s(bytes_per_s))
}

/// A duration, given in ns: `1.33 ms`.
pub(crate) fn duration(ns: f64) -> String {
    unbroken(fsdyno_text::quantity::latency(ns))
}

/// A duration for the round values of an axis: `1 ms`, `500 µs`.
pub(crate) fn round_duration(ns: f64) -> String {
    let (scaled, unit) = match ns {
        _ if ns < 1e3 => (ns, "ns"),
        _ if ns < 1e6 => (ns / 1e3, "µs"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{}{NBSP}{unit}", round(scaled))
}

/// A value without trailing zeros: `0.5`, `20`, `1,500`.
pub(crate) fn round(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return number(value.round());
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `0.21x`.
pub(crate) fn ratio(value: f64) -> String {
    format!("{}x", times(value))
}

/// A ratio without its sign, `0.21`: three decimals where two would not show on which side of 1 it lies, and two
/// significant digits of small ones.
pub(crate) fn times(value: f64) -> String {
    let near_one = (value - 1.0).abs() < 0.005 && (value - 1.0).abs() >= 0.0005;
    let decimals = if value > 0.0 && value < 0.0095 {
        (1.0 - value.log10().floor()) as usize
    } else if value < 0.0995 || near_one {
        3
    } else if value < 9.995 {
        2
    } else {
        1
    };
    if value >= 999.5 { number(value.round()) } else { format!("{value:.decimals$}") }
}

/// An interval of ratios: `0.20–0.22`.
pub(crate) fn times_between(interval: &fsdyno_results::Interval) -> String {
    format!("{}–{}", times(interval.low), times(interval.high))
}

/// The words in place of an interval that is wider than its figure.
pub(crate) const NOT_SETTLED: &str = "not settled";

/// What [`NOT_SETTLED`] means, for the text below a table.
pub(crate) const NOT_SETTLED_MEANS: &str =
    "not settled: the interval is wider than the figure itself, so that the figure says little.";

/// How far an interval reaches from its figure: `±3.1 %`.
pub(crate) fn reach(value: f64, interval: &fsdyno_results::Interval, decimals: usize) -> String {
    if interval.is_wider_than(value) {
        return NOT_SETTLED.to_owned();
    }
    let most = (interval.high - value).max(value - interval.low);
    format!("±{:.decimals$} %", most / value * 100.0)
}

/// `2.88 %`.
pub(crate) fn percent(value: f64) -> String {
    with_unit(value, "%")
}

/// Seconds for programs, rounded to microseconds.
pub(crate) fn plain_seconds(seconds: f64) -> String {
    let text = format!("{seconds:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The words as a list: `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The text, cut to this number of characters with `…` at its end where it is longer.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(characters.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use fsdyno_results::Interval;

    use super::*;

    #[test]
    fn an_interval_that_is_wider_than_its_figure_has_no_percent() {
        let of = |low, high| reach(100.0, &Interval { low, high, confidence: 0.95 }, 1);
        assert_eq!([of(97.0, 102.0), of(60.0, 150.0)], ["±3.0 %", "±50.0 %"]);
        assert_eq!([of(0.0, 101.0), of(-4900.0, 5143.0)], [NOT_SETTLED; 2]);
    }

    #[test]
    fn units() {
        let plain = |text: String| text.replace(NBSP, " ");
        assert_eq!(plain(bytes(4096)), "4 KiB");
        assert_eq!(plain(megabytes_per_s(12_300.0)), "0.012 MB/s");
        assert_eq!(plain(duration(89_400.0)), "89.4 µs");
        assert_eq!(plain(duration(999_600.0)), "1.00 ms");
        assert_eq!(plain(duration(2.1e9)), "2.10 s");
        assert_eq!(plain(round_duration(500_000.0)), "500 µs");
        assert_eq!(round(0.5), "0.5");
        assert_eq!((plain_seconds(30.0), plain_seconds(0.25)), ("30".into(), "0.25".into()));
        assert_eq!(
            (times(1.0), times(1.003), times(0.9962), times(1.02)),
            ("1.00".into(), "1.003".into(), "0.996".into(), "1.02".into())
        );
        assert_eq!(
            (ratio(0.000_26), ratio(0.0094), ratio(0.0)),
            ("0.00026x".into(), "0.0094x".into(), "0.000x".into())
        );
        assert_eq!((ratio(0.0123), ratio(0.213), ratio(12.34)), ("0.012x".into(), "0.21x".into(), "12.3x".into()));
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}
