//! Lines about latency: moments, percentiles, classes.

use fsdyno_results::{Histogram, Moments};

use crate::figures::LATENCY_LABELS;
use crate::number::{Base, Unit, num2str};

/// The unit of a block of latencies: name, and how many times ns are divided by 1000.
#[derive(Clone, Copy)]
struct Scale {
    name: &'static str,
    steps: u32,
}

const NSEC: Scale = Scale { name: "nsec", steps: 0 };
const USEC: Scale = Scale { name: "usec", steps: 1 };
const MSEC: Scale = Scale { name: "msec", steps: 2 };

impl Scale {
    /// The largest unit in which both ends of a range, and its deviation, keep some digits.
    fn of(min_ns: u64, max_ns: u64, deviation_ns: f64) -> Scale {
        if min_ns > 2_000_000 && max_ns > 99_999_999 && deviation_ns > 1_000_000.0 {
            MSEC
        } else if min_ns > 2_000 && max_ns > 99_999 && deviation_ns > 1_000.0 {
            USEC
        } else {
            NSEC
        }
    }

    fn divisor(self) -> u64 {
        1000u64.pow(self.steps)
    }
}

/// `    clat (usec): min=96, max=7104, avg=831.94, stdev=553.66`; nothing without values. `label` is 8 wide.
pub(super) fn write_moments(out: &mut String, label: &str, moments: &Moments) {
    let (Some(min), Some(max), Some(mean), Some(deviation)) =
        (moments.min(), moments.max(), moments.mean(), moments.deviation())
    else {
        return;
    };
    let scale = Scale::of(min, max, deviation);
    let divisor = scale.divisor();
    let whole = |value: u64| num2str(value / divisor, 6, Base::Decimal, Unit::None);
    let real = |value: f64| value / divisor as f64;
    out.push_str(&format!(
        "{label:>8} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        scale.name,
        whole(min),
        whole(max),
        real(mean),
        real(deviation),
    ));
}

/// Writes `    clat percentiles (usec):` and the lines below it, the percentages with this number of decimals; nothing
/// without values.
pub(super) fn write_percentiles(
    out: &mut String,
    label: &str,
    histogram: Option<&Histogram>,
    percentiles: &[f64],
    precision: usize,
) {
    let Some(histogram) = histogram else { return };
    let values: Vec<u64> = percentiles.iter().filter_map(|percent| histogram.percentile(*percent)).collect();
    let (Some(&min), Some(&max)) = (values.iter().min(), values.iter().max()) else { return };
    let scale = Scale::of(min, max, f64::INFINITY);
    let value_width = decimal_width(max / scale.divisor()).max(5);
    let percent_width = precision + 3;
    let per_line = (73 / (precision + 10 + value_width)).max(1);

    out.push_str(&format!("    {label} percentiles ({}):\n", scale.name));
    let cells: Vec<String> = percentiles
        .iter()
        .zip(&values)
        .map(|(percent, value)| {
            // Rounded up at each step: a percentile is never shown as less than it is.
            let shown = (0..scale.steps).fold(*value, |value, _| value.div_ceil(1000));
            format!(" {percent:percent_width$.precision$}th=[{shown:value_width$}]")
        })
        .collect();
    let lines: Vec<String> = cells.chunks(per_line).map(|cells| format!("     |{}", cells.join(","))).collect();
    out.push_str(&lines.join(",\n"));
    out.push('\n');
}

/// `  lat (usec)   : 100=0.04%, 500=1.10%`, five classes a line, those in use only.
pub(super) fn write_classes(out: &mut String, unit: &str, shares: &[f64]) {
    let used: Vec<String> = LATENCY_LABELS
        .iter()
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(label, share)| format!("{label}={share:3.2}%"))
        .collect();
    for line in used.chunks(5) {
        out.push_str(&format!("  lat ({unit})   : {}\n", line.join(", ")));
    }
}

fn decimal_width(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Decimals that the percentages need, at most 9: `99.99` needs two.
pub(super) fn decimals(percentiles: &[f64]) -> usize {
    let needed = |percent: &f64| {
        let text = format!("{percent:.9}");
        let digits = text.trim_end_matches('0');
        digits.len() - digits.find('.').map_or(digits.len(), |point| point + 1)
    };
    percentiles.iter().map(needed).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn precision_follows_the_list() {
        let histogram = histogram(&[34_300, 202_000]);
        let mut out = String::new();
        write_percentiles(&mut out, "clat", Some(&histogram), &[50.0, 90.0, 99.0, 99.9, 99.999, 100.0], 3);
        assert_eq!(
            out,
            "    clat percentiles (usec):\n     \
             | 50.000th=[   35], 90.000th=[  202], 99.000th=[  202], 99.900th=[  202],\n     \
             | 99.999th=[  202], 100.000th=[  202]\n"
        );
        out.clear();
        write_percentiles(&mut out, "lat", Some(&histogram), &[50.0, 99.0], decimals(&[50.0, 99.0]));
        assert_eq!(out, "    lat percentiles (usec):\n     |  50th=[   35],  99th=[  202]\n");
    }

    #[test]
    fn wide_values_leave_room_for_three() {
        let mut out = String::new();
        write_percentiles(
            &mut out,
            "clat",
            Some(&histogram(&[1736, 8_028_160])),
            &[1.0, 5.0, 99.95, 99.99],
            decimals(&[1.0, 99.95]),
        );
        assert_eq!(
            out,
            "    clat percentiles (nsec):\n     \
             |  1.00th=[   1736],  5.00th=[   1736], 99.95th=[8028160],\n     \
             | 99.99th=[8028160]\n"
        );
    }

    #[test]
    fn nothing_measured_prints_nothing() {
        let mut out = String::new();
        write_moments(&mut out, "clat", &Moments::default());
        write_percentiles(&mut out, "clat", None, &[50.0], 0);
        write_percentiles(&mut out, "clat", Some(&Histogram::new()), &[50.0], 0);
        write_classes(&mut out, "nsec", &[0.0; 10]);
        assert_eq!(out, "");
    }
}
