//! Shortens numbers as fio does.

use fsdyno_results::JobSetup;

/// The text after the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nothing: a count.
    None,
    /// `B`.
    Bytes,
    /// `B/s`.
    BytesPerSecond,
    /// `bit/s`; the number is given in bytes per second.
    BitsPerSecond,
}

/// The factor between two prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// 1000: k, M, G, ...
    Decimal,
    /// 1024: Ki, Mi, Gi, ...
    Binary,
}

impl Base {
    fn other(self) -> Base {
        match self {
            Base::Decimal => Base::Binary,
            Base::Binary => Base::Decimal,
        }
    }

    fn factor(self) -> u128 {
        match self {
            Base::Decimal => 1000,
            Base::Binary => 1024,
        }
    }

    fn prefixes(self) -> [&'static str; 7] {
        match self {
            Base::Decimal => ["", "k", "M", "G", "T", "P", "E"],
            Base::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        }
    }
}

/// `value` with a prefix such that at most `digits` digits are before the point, and with as many decimals as fit in
/// the same width, point included.
pub(crate) fn num2str(value: u64, digits: u32, base: Base, unit: Unit) -> String {
    shorten(value, 0, digits, base, unit)
}

/// [`num2str`] of a value that is already given in units of `prefix` prefixes (1: thousands).
fn shorten(value: u64, mut prefix: usize, digits: u32, base: Base, unit: Unit) -> String {
    let (mut whole, name) = match unit {
        Unit::None => (u128::from(value), ""),
        Unit::Bytes => (u128::from(value), "B"),
        Unit::BytesPerSecond => (u128::from(value), "B/s"),
        Unit::BitsPerSecond => (u128::from(value) * 8, "bit/s"),
    };
    let digits = digits as usize;
    let prefixes = base.prefixes();
    let mut rest = None;
    while width(whole) > digits && prefix + 1 < prefixes.len() {
        rest = Some(whole % base.factor());
        whole /= base.factor();
        prefix += 1;
    }
    let mut decimals = String::new();
    if let Some(rest) = rest {
        // The point takes one place; if only one place is left, the number is rounded instead.
        let places = digits.saturating_sub(width(whole) + 1);
        let fraction = format!("{:.places$}", rest as f64 / base.factor() as f64);
        let (carry, shown) =
            if places == 0 { (rest * 2 >= base.factor(), "") } else { (fraction.starts_with('1'), &fraction[1..]) };
        whole += u128::from(carry);
        decimals = shown.to_owned();
    }
    format!("{whole}{decimals}{}{name}", prefixes[prefix])
}

fn width(value: u128) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// The number style of a job (`significant_figures`, `kb_base`, `unit_base`).
#[derive(Clone, Copy, Debug)]
pub struct Style {
    digits: u32,
    base: Base,
    rate: Unit,
}

impl Style {
    /// The style of a job.
    pub fn of(setup: &JobSetup) -> Style {
        Style::new(setup.significant_figures, setup.kb_base, setup.unit_base)
    }

    /// A style from the three options' values.
    pub fn new(significant_figures: u32, kb_base: u32, unit_base: u32) -> Style {
        Style {
            digits: significant_figures,
            base: if kb_base == 1000 { Base::Decimal } else { Base::Binary },
            rate: if unit_base == 1 { Unit::BitsPerSecond } else { Unit::BytesPerSecond },
        }
    }

    /// Whether `kb_base` is 1000.
    pub fn is_decimal(self) -> bool {
        self.base == Base::Decimal
    }

    /// `1483MiB`.
    pub fn bytes(self, bytes: u64) -> String {
        num2str(bytes, self.digits, self.base, Unit::Bytes)
    }

    /// Bytes in the base that [`Style::bytes`] does not use: `1555MB`.
    pub fn bytes_other(self, bytes: u64) -> String {
        num2str(bytes, self.digits, self.base.other(), Unit::Bytes)
    }

    /// `741MiB/s`.
    pub fn rate(self, bytes_per_second: u64) -> String {
        num2str(bytes_per_second, self.digits, self.base, self.rate)
    }

    /// A rate in the base that [`Style::rate`] does not use: `777MB/s`.
    pub fn rate_other(self, bytes_per_second: u64) -> String {
        num2str(bytes_per_second, self.digits, self.base.other(), self.rate)
    }

    /// A rate with the precision of the progress line, which counts in thousands of bytes: `3076KiB/s`.
    pub fn rate_in_thousands(self, bytes_per_second: u64) -> String {
        let thousands = bytes_per_second / self.base.factor() as u64;
        shorten(thousands, 1, self.digits, self.base, self.rate)
    }

    /// `48.5k`.
    pub fn count(self, count: u64) -> String {
        num2str(count, self.digits, Base::Decimal, Unit::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// value, 4 digits: plain, binary B/s, decimal B/s; plain with 6 digits. Printed by fio.
    const VECTORS: [(u64, &str, &str, &str, &str); 14] = [
        (0, "0", "0B/s", "0B/s", "0"),
        (7, "7", "7B/s", "7B/s", "7"),
        (999, "999", "999B/s", "999B/s", "999"),
        (1000, "1000", "1000B/s", "1000B/s", "1000"),
        (9999, "9999", "9999B/s", "9999B/s", "9999"),
        (10_000, "10.0k", "9.77KiB/s", "10.0kB/s", "10000"),
        (16_000, "16.0k", "15.6KiB/s", "16.0kB/s", "16000"),
        (99_950, "99.9k", "97.6KiB/s", "99.9kB/s", "99950"),
        (99_999, "100.0k", "97.7KiB/s", "100.0kB/s", "99999"),
        (190_123, "190k", "186KiB/s", "190kB/s", "190123"),
        (999_950, "1000k", "977KiB/s", "1000kB/s", "999950"),
        (1_234_567, "1235k", "1206KiB/s", "1235kB/s", "1234.6k"),
        (12_345_678, "12.3M", "11.8MiB/s", "12.3MB/s", "12346k"),
        (123_456_789, "123M", "118MiB/s", "123MB/s", "123457k"),
    ];

    #[test]
    fn numbers_are_shortened_as_fio_does() {
        for (value, plain, binary, decimal, six) in VECTORS {
            assert_eq!(num2str(value, 4, Base::Decimal, Unit::None), plain);
            assert_eq!(num2str(value, 4, Base::Binary, Unit::BytesPerSecond), binary);
            assert_eq!(num2str(value, 4, Base::Decimal, Unit::BytesPerSecond), decimal);
            assert_eq!(num2str(value, 6, Base::Decimal, Unit::None), six);
        }
    }

    #[test]
    fn bytes_in_both_bases() {
        let style = Style::new(4, 1024, 0);
        for (bytes, binary, decimal) in [
            (4096, "4096B", "4096B"),
            (16_384, "16.0KiB", "16.4kB"),
            (131_072, "128KiB", "131kB"),
            (4_096_000, "4000KiB", "4096kB"),
            (10_240_000, "9.77MiB", "10.2MB"),
            (104_857_600, "100MiB", "105MB"),
            (1_073_741_824, "1024MiB", "1074MB"),
            (777_000_000, "741MiB", "777MB"),
            (5_592_800, "5462KiB", "5593kB"),
        ] {
            assert_eq!((style.bytes(bytes).as_str(), style.bytes_other(bytes).as_str()), (binary, decimal));
        }
    }

    #[test]
    fn other_styles() {
        // Lines of real runs with unit_base=1, kb_base=1000, significant_figures=6 and =2.
        assert_eq!(Style::new(4, 1024, 1).rate(838_860_800), "6400Mibit/s");
        assert_eq!(Style::new(4, 1024, 1).rate_other(838_860_800), "6711Mbit/s");
        assert_eq!(Style::new(4, 1000, 0).bytes(8_388_608), "8389kB");
        assert_eq!(Style::new(6, 1024, 0).bytes(1_048_576), "1024.0KiB");
        assert_eq!(Style::new(2, 1024, 0).bytes(4096), "4KiB");
        // The progress line counts whole KiB: 1500 bytes are 1.
        assert_eq!(Style::new(4, 1024, 0).rate_in_thousands(1500), "1KiB/s");
        assert_eq!(Style::new(4, 1024, 0).rate_in_thousands(3076 * 1024), "3076KiB/s");
        assert_eq!(Style::new(4, 1024, 0).rate_in_thousands(190 << 20), "190MiB/s");
        assert!(num2str(u64::MAX, 4, Base::Decimal, Unit::BitsPerSecond).ends_with("Ebit/s"));
    }
}
