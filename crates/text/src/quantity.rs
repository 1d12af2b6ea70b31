//! Numbers in the form for people: three significant digits, thousands separated. Amounts are in powers of two, rates
//! in the units that the program shows.

use std::sync::atomic::{AtomicBool, Ordering};

/// Units of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1,000, as vendors use them: MB/s.
    #[default]
    Decimal,
    /// Powers of 1,024: MiB/s.
    Binary,
}

/// The units are the same for the whole program, like its language.
static BINARY: AtomicBool = AtomicBool::new(false);

impl Units {
    /// The units that the program shows.
    pub fn shown() -> Units {
        if BINARY.load(Ordering::Relaxed) { Units::Binary } else { Units::Decimal }
    }

    /// From now on the program shows these units.
    pub fn show(self) {
        BINARY.store(self == Units::Binary, Ordering::Relaxed);
    }

    /// The unit of columns and axes: `MB`.
    pub fn megabyte(self) -> &'static str {
        match self {
            Units::Decimal => "MB",
            Units::Binary => "MiB",
        }
    }

    /// Number of bytes of this unit.
    pub fn megabyte_bytes(self) -> f64 {
        match self {
            Units::Decimal => 1e6,
            Units::Binary => 1_048_576.0,
        }
    }

    fn bytes_per_s(self, rate: f64) -> String {
        format!("{} {}/s", number(rate / self.megabyte_bytes()), self.megabyte())
    }
}

/// Three significant digits, or all digits before the point, with thousands separated: `12,345`, `123`, `12.3`,
/// `0.123`. A number that is too small for three decimals has two digits: `0.00026`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_string();
    }
    let size = value.abs();
    let digits = match size {
        0.0 => 0,
        _ if size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.0005 => 3,
        _ => (1.0 - size.log10().floor()).min(9.0) as usize,
    };
    grouped(&format!("{value:.digits$}"))
}

/// A published figure with all its digits: `10`, `2.5`, `33,415`. A figure with many digits was computed, and is
/// shown like any other number.
pub fn published(value: f64) -> String {
    let text = value.to_string();
    if value.is_finite() && text.len() <= 8 { grouped(&text) } else { number(value) }
}

/// A count, with all its digits: `1,001`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A count of things, in singular or plural: `1 file`, `1,001 files`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Puts a comma between groups of three digits before the point.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.find('.').map_or((text, ""), |point| text.split_at(point));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// A latency from ns, in a suitable unit.
pub fn latency(ns: f64) -> String {
    scaled(ns, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// Mean and median of a latency are both printed if they differ by this factor.
const APART: f64 = 3.0;

/// Whether mean and median of a latency differ so much that both are printed.
pub fn are_apart(mean: f64, median: f64) -> bool {
    mean >= median * APART || median >= mean * APART
}

/// A latency by its median, in a sentence: `a median of 114 µs (mean 2.03 ms)`. With too few requests for a median,
/// by its mean.
pub fn by_median(median_ns: Option<f64>, mean_ns: f64) -> String {
    match median_ns {
        None => format!("a mean of {}", latency(mean_ns)),
        Some(median_ns) if are_apart(mean_ns, median_ns) => {
            format!("a median of {} (mean {})", latency(median_ns), latency(mean_ns))
        }
        Some(median_ns) => format!("a median of {}", latency(median_ns)),
    }
}

/// A latency by its mean, after a word that says so: `2.03 ms (median 114 µs)`.
pub fn by_mean(mean_ns: f64, median_ns: Option<f64>) -> String {
    let median_ns = median_ns.filter(|median_ns| are_apart(mean_ns, *median_ns));
    let median = median_ns.map(|ns| format!(" (median {})", latency(ns))).unwrap_or_default();
    format!("{}{median}", latency(mean_ns))
}

/// An amount of bytes, for files, memory and devices: `512 B`, `64 KiB`, `7.70 GiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    // A value that rounds to 1,024 of a unit is shown as 1 of the next.
    let fits = |(size, _): &&(u64, &str)| bytes >= size - size / 2048;
    match UNITS.iter().find(fits) {
        Some((size, unit)) if bytes.is_multiple_of(*size) => format!("{} {unit}", count(bytes / size)),
        Some((size, unit)) => format!("{} {unit}", number(bytes as f64 / *size as f64)),
        None => format!("{} B", count(bytes)),
    }
}

/// Bytes per second, always in MB/s or MiB/s, so that cells of a table can be compared.
pub fn bytes_per_s(rate: f64) -> String {
    Units::shown().bytes_per_s(rate)
}

/// Bytes per second without the unit, for a column with the header [`rate_unit`].
pub fn rate_number(rate: f64) -> String {
    number(rate / Units::shown().megabyte_bytes())
}

/// `MB/s` or `MiB/s`.
pub fn rate_unit() -> &'static str {
    match Units::shown() {
        Units::Decimal => "MB/s",
        Units::Binary => "MiB/s",
    }
}

/// Operations per second.
pub fn count_per_s(rate: f64) -> String {
    format!("{} IOPS", number(rate))
}

/// The value in the largest unit in which it is at least 1.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // A value that rounds to 1000 of a unit is shown as 1 of the next.
    let fits = |size: f64| value.abs() >= size * 0.9995;
    let (size, unit) = units.iter().rev().find(|(size, _)| fits(*size)).unwrap_or(&units[0]);
    format!("{} {unit}", number(value / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_say_something() {
        let shown: Vec<String> = [0.0, 0.1234, 1.0, 9.996, 12.34, 99.96, 123.4, 1234.5, 1234567.0, -1500.0]
            .iter()
            .map(|value| number(*value))
            .collect();
        assert_eq!(shown, ["0", "0.123", "1.00", "10.0", "12.3", "100", "123", "1,234", "1,234,567", "-1,500"]);
        assert_eq!([0.001, 0.0005, 0.000_26, 0.000_044_5].map(number), ["0.001", "0.001", "0.00026", "0.000044"]);
        assert_eq!(number(f64::NAN), "?");
    }

    #[test]
    fn published_figures_stay_as_they_were_written() {
        let shown: Vec<String> =
            [10.0, 3000.0, 0.484, 2.5, 90.0, 113.283_019].iter().map(|value| published(*value)).collect();
        assert_eq!(shown, ["10", "3,000", "0.484", "2.5", "90", "113"]);
    }

    #[test]
    fn a_mean_far_from_the_median_stands_beside_it() {
        assert_eq!(by_median(Some(1e5), 2.9e5), "a median of 100 µs");
        assert_eq!(by_median(Some(1e5), 3e5), "a median of 100 µs (mean 300 µs)");
        assert_eq!(by_median(Some(3e5), 1e5), "a median of 300 µs (mean 100 µs)");
        assert_eq!(by_median(None, 1e5), "a mean of 100 µs");
        assert_eq!(
            [by_mean(3e5, Some(1e5)), by_mean(3e5, Some(2e5)), by_mean(3e5, None)],
            ["300 µs (median 100 µs)", "300 µs", "300 µs"]
        );
    }

    #[test]
    fn counts_keep_all_their_digits() {
        assert_eq!([count(0), count(7), count(1001), count(12_345_678)], ["0", "7", "1,001", "12,345,678"]);
    }

    #[test]
    fn units_change_where_a_thousand_is_reached() {
        assert_eq!(latency(612_345.0), "612 µs");
        assert_eq!(latency(999_600.0), "1.00 ms");
        assert_eq!(latency(55.0), "55.0 ns");
        assert_eq!(latency(2.5e9), "2.50 s");
        assert_eq!(bytes_per_s(125_000_000.0), "125 MB/s");
        assert_eq!(count_per_s(33_415.2), "33,415 IOPS");
        let amounts = [0, 512, 1023, 1024, 1536, 1_048_000, 1_048_575, 8 << 20, 8_270_110_720, u64::MAX].map(bytes);
        let expected = ["0 B", "512 B", "1,023 B", "1 KiB", "1.50 KiB", "1,023 KiB", "1.00 MiB", "8 MiB", "7.70 GiB"];
        assert_eq!((&amounts[..9], &*amounts[9]), (&expected.map(str::to_owned)[..], "16,384 PiB"));
        assert_eq!(Units::Binary.bytes_per_s(125_000_000.0), "119 MiB/s");
    }
}
