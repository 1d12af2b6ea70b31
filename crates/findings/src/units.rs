//! Formats numbers in sentences. Sizes are in powers of two, as in options; rates as in every table.

pub(crate) use fsdyno_text::quantity::{bytes_per_s as rate, count, counted, latency as time, number};

/// A size: `4.0 GiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 99.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A share from 0 to 1 as a percentage, `95 %`; it shows 100 % or 0 % only if that is exact.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if (99.5..100.0).contains(&percent) => format!("{:.2} %", percent.min(99.99)),
        percent if percent > 0.0 && percent < 0.5 => format!("{:.2} %", percent.max(0.01)),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_powers_of_two() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1000), "1000 B");
        assert_eq!(size(4 << 30), "4.0 GiB");
        assert_eq!(size(204 << 20), "204 MiB");
        assert_eq!(size(u64::MAX), "16384 PiB");
    }

    #[test]
    fn a_share_is_whole_only_when_it_is() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.9999999), "99.99 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000001), "0.01 %");
        assert_eq!(percent(0.954), "95 %");
    }
}
