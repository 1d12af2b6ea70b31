//! The table: one line for each measure of a case, with its bounds and whether they are met.

use super::case::{Bound, Target};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// Costs.
    Less,
    /// Rates.
    More,
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) case: String,
    /// What was measured, with its unit.
    pub(super) measure: String,
    /// fio's value, as it is shown.
    pub(super) fio: Option<String>,
    /// Our value.
    pub(super) ours: Option<f64>,
    /// How many times better than fio.
    pub(super) ratio: Option<f64>,
    pub(super) target: Target,
    /// Whether the gate judges it.
    pub(super) deterministic: bool,
    /// Why there is no value, or a remark.
    pub(super) note: Option<String>,
}

/// The result for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The aim is reached.
    Aim,
    /// The required bound is reached.
    Must,
    /// The required bound is missed.
    Missed,
    /// There is no bound.
    Free,
    /// No value to judge.
    Unknown,
}

impl Line {
    /// Judges the line by its target.
    pub(super) fn mark(&self) -> Mark {
        match (self.reaches(self.target.must), self.reaches(self.target.aim)) {
            (Some(true), Some(true)) if self.target.aim != Bound::Free => Mark::Aim,
            (Some(true), _) if self.target.must == Bound::Free => Mark::Free,
            (Some(true), _) => Mark::Must,
            (Some(false), _) => Mark::Missed,
            (None, _) => Mark::Unknown,
        }
    }

    /// Whether a required bound was measured and missed.
    pub(super) fn is_missed(&self) -> bool {
        self.mark() == Mark::Missed
    }

    fn reaches(&self, bound: Bound) -> Option<bool> {
        match bound {
            Bound::Free => Some(true),
            Bound::AtMost(limit) => self.ours.map(|value| value <= limit),
            Bound::Times(factor) => self.ratio.map(|ratio| ratio >= factor),
        }
    }
}

/// How many times better ours is.
pub(super) fn times_better(better: Better, fio_over_ours: f64) -> f64 {
    if better == Better::Less { fio_over_ours } else { 1.0 / fio_over_ours }
}

/// A number with a useful number of digits.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || value == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 4,
    };
    grouped(&format!("{value:.digits$}"))
}

/// The number, with two more digits if a value above its bound would look equal to it.
fn beside_bound(value: f64, bound: Bound) -> String {
    match bound {
        Bound::AtMost(limit) if value > limit && number(value) == number(limit) => grouped(&format!("{value:.2}")),
        _ => number(value),
    }
}

/// Inserts commas: `1234567` becomes `1,234,567`.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Heads of the columns.
const HEADS: [&str; 9] = ["case", "measure", "fio", "fsdyno", "times better", "must", "aim", "result", "measured"];

/// A line of the table as text, in the order of [`HEADS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row([String; HEADS.len()]);

impl Row {
    /// The line, measured on this day.
    pub(super) fn of(line: &Line, day: &str) -> Row {
        let mark = match line.mark() {
            Mark::Aim => "aim reached",
            Mark::Must => "must reached",
            Mark::Missed => "MISSED",
            Mark::Free => "",
            Mark::Unknown => "not judged",
        };
        let note = line.note.as_deref().unwrap_or_default();
        let separator = if mark.is_empty() || note.is_empty() { "" } else { ": " };
        Row([
            line.case.clone(),
            line.measure.clone(),
            line.fio.clone().unwrap_or_else(|| "-".to_owned()),
            line.ours.map_or_else(|| "-".to_owned(), |value| beside_bound(value, line.target.must)),
            line.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{}x", number(ratio))),
            bound(line.target.must),
            bound(line.target.aim),
            format!("{mark}{separator}{note}"),
            day.to_owned(),
        ])
    }

    /// Title of the case.
    pub(super) fn case(&self) -> &str {
        &self.0[0]
    }

    /// What was measured.
    pub(super) fn measure(&self) -> &str {
        &self.0[1]
    }

    /// The values of fio and of fsdyno, and how many times better it is.
    pub(super) fn values(&self) -> [&str; 3] {
        [&self.0[2], &self.0[3], self.0[4].trim_end_matches('x')]
    }

    /// Whether it is of the same case and measure as `earlier`, and has each value that `earlier` has: a program that
    /// could not be run does not erase what was measured.
    fn replaces(&self, earlier: &Row) -> bool {
        let is_same = self.case() == earlier.case() && self.measure() == earlier.measure();
        is_same && earlier.values().iter().zip(self.values()).all(|(had, has)| *had == "-" || has != "-")
    }
}

/// The rows of a document's table.
pub(super) fn rows_of(document: &str) -> Vec<Row> {
    let cells = |line: &str| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().ok().map(Row)
    };
    let rows = document.lines().filter_map(cells);
    rows.skip_while(|row| row.0 != HEADS).skip(2).collect()
}

/// The rows of these cases in their order: the new ones, and those of `earlier` that no new one replaces.
pub(super) fn joined<'a>(cases: impl Iterator<Item = &'a str>, new: &[Row], earlier: &[Row]) -> Vec<Row> {
    let is_same = |row: &Row, other: &Row| row.case() == other.case() && row.measure() == other.measure();
    let known = earlier.iter().map(|row| new.iter().find(|other| other.replaces(row)).unwrap_or(row));
    let added = new.iter().filter(|row| !earlier.iter().any(|other| is_same(row, other)));
    let all: Vec<&Row> = known.chain(added).collect();
    // Several cases may have one title, with a measure each.
    let mut titles: Vec<&str> = Vec::new();
    for title in cases.filter(|title| all.iter().any(|row| row.case() == *title)) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles.iter().flat_map(|title| all.iter().filter(|row| row.case() == *title).copied().cloned()).collect()
}

/// The whole table in Markdown, columns aligned for the terminal.
pub(super) fn markdown(rows: &[Row]) -> String {
    let head = Row(HEADS.map(str::to_owned));
    let rows: Vec<&Row> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row.0[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; HEADS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (cell, &width) in row.0.iter().zip(&widths) {
            text.push_str(&format!("| {cell:<width$} "));
        }
        text.push_str("|\n");
        if index == 0 {
            text.extend(widths.iter().map(|width| format!("|{}", "-".repeat(width + 2))));
            text.push_str("|\n");
        }
    }
    text
}

fn bound(bound: Bound) -> String {
    match bound {
        Bound::AtMost(value) => format!("≤ {}", number(value)),
        Bound::Times(factor) => format!("{}x", number(factor)),
        Bound::Free => String::new(),
    }
}

/// The text of docs/benchmarks.md.
pub(super) fn document(machine: &[String], digest: &str, table: &str) -> String {
    format!(
        "# Benchmarks\n\n\
         Ten figures of the table below, which says how each is made. A figure of 2 in the last column: fio needs twice as much.\n\n\
         {digest}\n\
         The latest result of `cargo xtask bench --write` for each case, with its day; the list of facts before the table is of the\n\
         latest of them. Unless a case says otherwise, requests are 4 KiB, each block is used once, and all latencies are recorded. fio runs with `thread=1`. Values are medians unless marked as means.\n\
         \"times better\" is the median ratio of the rounds: fio / fsdyno for a cost, fsdyno / fio for a rate.\n\
         \"must\" is the bound to be met, \"aim\" the goal.\n\n\
         The static program of a release (musl) takes 0.98 to 1.02 times the CPU time of a glibc build for each I/O (null at\n\
         depths 1 and 64, page-cached psync and libaio; 7 pairs on a busy machine), and 1 MiB less at its peak. Measured before\n\
         releases kept frame pointers, which take 1 to 3 % more instructions.\n\n\
         Position-independent code costs 0.19 MB of a program of 5.97 and 0.24 MiB of one job's peak memory, and nothing of\n\
         the start that could be measured (beside a build with `-C relocation-model=static`).\n\n\
         The rows of http are beside fio 3.41, built with its engine http, which Debian's fio has not. A bare loop of the two system\n\
         calls of a GET takes 19.7 us; the bound of 20 us is of a processor on which fio took 52 us for it (99 us here).\n\n\
         Start and memory are of the static program of a release with object stores. These add 1.36 MB to its file, which\n\
         has 8,448,232 bytes with them and 7,084,096 without.\n\n\
         In buffered reads of 64 KiB nearly all of the time is the kernel's copy into the job's buffer. fsdyno's buffers begin\n\
         with a page; fio's do so with direct I/O or `iomem_align`, and lie elsewhere within a page otherwise, which the\n\
         processor named here copies 5 to 8 % faster. The second of these rows has the same alignment in both.\n\n\
         A replay of 100,000 reads that were recorded 100 us apart (10.0 s; page-cached, psync) lasts 10.00 s with fsdyno and 42 to 46 s\n\
         with fio 3.33, while some twenty other programs want the two processors (4 runs each): fio forgets each delay, and all later\n\
         requests come later by it. Their lateness with fsdyno is then 1 ms at the median and up to 1.3 s at most, where the worker got no\n\
         processor; fio does not tell it.\n\n\
         With batches of 32 both tools hand over and wait in one call, and the kernel's own work is 90 to 97 % of the time: beside\n\
         fio little is left to gain. Beside fsdyno with two calls a batch, that row takes 0.90 times the CPU (5 pairs, 0.84 to\n\
         0.98).\n\n\
         {}\n\n{table}",
        machine.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ours: Option<f64>, ratio: Option<f64>, must: Bound, aim: Bound) -> Line {
        Line {
            case: "a".to_owned(),
            measure: "ns".to_owned(),
            fio: None,
            ours,
            ratio,
            target: Target { must, aim },
            deterministic: true,
            note: None,
        }
    }

    #[test]
    fn a_missed_bound_is_not_shown_as_reached() {
        let shown = |value| Row::of(&line(Some(value), None, Bound::AtMost(337.0), Bound::Free), "").0[3].clone();
        assert_eq!([shown(336.6), shown(337.0), shown(337.12), shown(341.0)], ["337", "337", "337.12", "341"]);
    }

    #[test]
    fn rows_that_were_not_measured_again_stay_and_the_order_is_that_of_the_cases() {
        let of = |case: &str, ours: f64, day: &str| {
            Row::of(&Line { case: case.to_owned(), ..line(Some(ours), None, Bound::Free, Bound::Free) }, day)
        };
        let earlier = [of("b", 1.0, "2026-11-25"), of("gone", 2.0, "2026-11-25"), of("a", 3.0, "2026-11-25")];
        let read = rows_of(&format!("| a | b |\n|---|---|\n\ntext\n\n{}", markdown(&earlier)));
        assert_eq!(read, earlier);
        let rows = joined(["a", "b", "b", "c"].into_iter(), &[of("b", 4.0, "2026-11-27")], &read);
        assert_eq!(rows, [of("a", 3.0, "2026-11-25"), of("b", 4.0, "2026-11-27")]);
    }

    #[test]
    fn a_row_without_a_value_does_not_replace_a_measured_one() {
        let row = |fio: Option<&str>, ours: Option<f64>, ratio: Option<f64>| {
            let fio = fio.map(str::to_owned);
            Row::of(&Line { fio, ratio, ..line(ours, ratio, Bound::Times(2.0), Bound::Free) }, "")
        };
        let measured = [row(Some("4.00"), Some(1.0), Some(4.0))];
        for lacking in
            [row(Some("5.00"), None, None), row(None, Some(2.0), None), row(None, None, None)].map(|row| [row])
        {
            assert_eq!(joined(["a"].into_iter(), &lacking, &measured), measured, "{lacking:?}");
            assert_eq!(joined(["a"].into_iter(), &measured, &lacking), measured);
        }
    }

    #[test]
    fn marks() {
        let at_most = |value| line(Some(value), None, Bound::AtMost(200.0), Bound::AtMost(110.0)).mark();
        assert_eq!([at_most(100.0), at_most(150.0), at_most(201.0)], [Mark::Aim, Mark::Must, Mark::Missed]);
        let times = |ratio| line(Some(1.0), Some(ratio), Bound::Times(8.0), Bound::Times(14.0)).mark();
        assert_eq!([times(20.0), times(8.0), times(7.9)], [Mark::Aim, Mark::Must, Mark::Missed]);
        // An aim of another kind does not stand for what is required.
        assert_eq!(line(Some(39.0), Some(2.4), Bound::AtMost(20.0), Bound::Times(2.0)).mark(), Mark::Missed);
        assert_eq!(line(None, None, Bound::AtMost(1.0), Bound::AtMost(1.0)).mark(), Mark::Unknown);
        assert_eq!(line(Some(1.0), None, Bound::Times(1.0), Bound::Times(1.0)).mark(), Mark::Unknown);
        assert_eq!(line(Some(1.0), None, Bound::Free, Bound::Free).mark(), Mark::Free);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(2155.3), "2,155");
        assert_eq!(number(33.46), "33.5");
        assert_eq!(number(1.25), "1.25");
        assert_eq!(number(0.001), "0.0010");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(1_234_567.0), "1,234,567");
    }

    #[test]
    fn rates_and_costs_turn_the_ratio() {
        assert_eq!(times_better(Better::Less, 4.0), 4.0);
        assert_eq!(times_better(Better::More, 4.0), 0.25);
    }
}
