//! Judges whether two tools measured the same.

/// Medians that differ by at most this share agree.
pub(super) const LIMIT: f64 = 0.03;

/// A figure that both tools report.
pub(super) struct Measure {
    heading: &'static str,
    /// The JSON pointer below the direction in fio's document.
    pub(super) pointer: &'static str,
    /// Factor from the document's unit to the table's.
    factor: f64,
}

pub(super) const MEASURES: [Measure; 5] = [
    Measure { heading: "IOPS", pointer: "/iops", factor: 1.0 },
    Measure { heading: "MB/s", pointer: "/bw_bytes", factor: 1e-6 },
    Measure { heading: "mean, ms", pointer: "/clat_ns/mean", factor: 1e-6 },
    Measure { heading: "p50, ms", pointer: "/clat_ns/percentile/50.000000", factor: 1e-6 },
    Measure { heading: "p99, ms", pointer: "/clat_ns/percentile/99.000000", factor: 1e-6 },
];

/// The figures of one run, in the order of [`MEASURES`].
pub(super) type Measured = [f64; MEASURES.len()];

/// A job on a target.
pub(super) struct Line {
    target: &'static str,
    job: &'static str,
    cells: Vec<Cell>,
}

/// The comparison of one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    fio: f64,
    ours: f64,
    verdict: Verdict,
    /// Ratio of the medians in the second measurement.
    again: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Agrees,
    /// The interval of the pairs overlaps the limit.
    WithinPairs,
    Differs,
}

impl Line {
    pub(super) fn new(target: &'static str, job: &'static str, fio: &[Measured], ours: &[Measured]) -> Line {
        let of = |runs: &[Measured], index: usize| runs.iter().map(|run| run[index]).collect::<Vec<_>>();
        let cells = (0..MEASURES.len()).map(|index| cell(&of(fio, index), &of(ours, index))).collect();
        Line { target, job, cells }
    }

    pub(super) fn agrees(&self) -> bool {
        self.cells.iter().all(|cell| cell.verdict != Verdict::Differs)
    }

    /// Adds a second measurement for the cells that differ in this one.
    pub(super) fn confirm(&mut self, second: &Line) {
        let differing = |(cell, _): &(&mut Cell, &Cell)| cell.verdict == Verdict::Differs;
        for (cell, again) in self.cells.iter_mut().zip(&second.cells).filter(differing) {
            cell.again = Some(again.ours / again.fio);
            cell.verdict = again.verdict;
        }
    }
}

/// Compares the runs of the tools, which are in the order of the pairs.
fn cell(fio: &[f64], ours: &[f64]) -> Cell {
    let (fio_median, our_median) = (median(fio), median(ours));
    // The interval is from the least to the greatest ratio of a pair: with seven pairs the true ratio is outside in 1.6
    // % of cases.
    let ratios = || fio.iter().zip(ours).map(|(fio, ours)| ours / fio);
    let (least, greatest) = (ratios().fold(f64::MAX, f64::min), ratios().fold(f64::MIN, f64::max));
    let verdict = match () {
        () if (our_median / fio_median - 1.0).abs() <= LIMIT => Verdict::Agrees,
        () if least <= 1.0 + LIMIT && greatest >= 1.0 - LIMIT => Verdict::WithinPairs,
        () => Verdict::Differs,
    };
    Cell { fio: fio_median, ours: our_median, verdict, again: None }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[length / 2],
        length => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
    }
}

pub(super) fn markdown(lines: &[Line]) -> String {
    let headings: Vec<&str> = MEASURES.iter().map(|measure| measure.heading).collect();
    let mut table =
        format!("| storage | job | {} |\n|---|---|{}\n", headings.join(" | "), "---|".repeat(headings.len()));
    for line in lines {
        let cells: Vec<String> =
            line.cells.iter().zip(&MEASURES).map(|(cell, measure)| shown(cell, measure.factor)).collect();
        table.push_str(&format!("| {} | `{}` | {} |\n", line.target, line.job, cells.join(" | ")));
    }
    table
}

fn shown(cell: &Cell, factor: f64) -> String {
    let number = |value: f64| {
        let value = value * factor;
        let digits = if value >= 100.0 { 0 } else { 2 };
        format!("{value:.digits$}")
    };
    let mark = match cell.verdict {
        Verdict::Agrees => "",
        Verdict::WithinPairs => " ~",
        Verdict::Differs => " **NO**",
    };
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let again = cell.again.map_or_else(String::new, |ratio| format!(", again {}", percent(ratio)));
    format!("{} / {} ({}{again}){mark}", number(cell.fio), number(cell.ours), percent(cell.ours / cell.fio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_percent_or_the_interval_of_the_pairs() {
        let verdict = |fio: [f64; 3], ours: [f64; 3]| cell(&fio, &ours).verdict;
        assert_eq!(verdict([100.0, 100.0, 100.0], [102.9, 102.9, 102.9]), Verdict::Agrees);
        assert_eq!(verdict([100.0, 100.0, 100.0], [104.0, 104.0, 104.0]), Verdict::Differs);
        assert_eq!(verdict([90.0, 100.0, 120.0], [95.0, 110.0, 115.0]), Verdict::WithinPairs);
        assert_eq!(verdict([99.0, 100.0, 101.0], [105.0, 110.0, 115.0]), Verdict::Differs, "more in each pair");
        assert_eq!(verdict([50.0, 100.0, 150.0], [55.0, 110.0, 165.0]), Verdict::Differs, "however the runs differ");
    }

    #[test]
    fn what_differs_is_measured_twice() {
        let line = |iops: f64| Line::new("disk", "--rw=read", &[[100.0; 5]], &[[iops, 100.0, 100.0, 100.0, 100.0]]);
        let mut by_chance = line(110.0);
        assert!(!by_chance.agrees());
        by_chance.confirm(&line(101.0));
        assert!(by_chance.agrees());
        assert!(markdown(&[by_chance]).contains("| 100 / 110 (+10.0 %, again +1.0 %) |"));
        let mut lasting = line(110.0);
        lasting.confirm(&line(108.0));
        assert!(!lasting.agrees());
        assert!(markdown(&[lasting]).contains("| 100 / 110 (+10.0 %, again +8.0 %) **NO** |"));
        let mut once = line(101.0);
        once.confirm(&line(110.0));
        assert!(once.agrees(), "what agreed is not asked again");
    }

    #[test]
    fn a_line_of_the_table() {
        let run = [500.0, 2_048_000.0, 1_990_000.0, 2_000_000.0, 2_040_000.0];
        let line = Line::new("slow disk", "--rw=read", &[run], &[run]);
        assert!(line.agrees());
        let table = markdown(&[line]);
        assert!(table.ends_with(
            "| slow disk | `--rw=read` | 500 / 500 (+0.0 %) | 2.05 / 2.05 (+0.0 %) | 1.99 / 1.99 (+0.0 %) | 2.00 / 2.00 \
             (+0.0 %) | 2.04 / 2.04 (+0.0 %) |\n"
        ), "{table}");
    }
}
