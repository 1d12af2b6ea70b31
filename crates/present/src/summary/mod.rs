//! A study as a grid: patterns down, targets across, the repeats in each cell. Every presentation of a study starts
//! from here, so that they agree.

mod metric;
mod repeat;
mod statistic;

pub(crate) use metric::{Lane, Metric};
pub(crate) use repeat::Repeat;
pub(crate) use statistic::{Ratio, interval};

use findings::Examination;
use results::statistics::{coefficient_of_variation, median};
use results::{Finding, Interval, Latency, Question, Severity, Study, Trust, sort, test_name};

/// The patterns of a comparison in the order in which people read them; others follow.
const PATTERNS: [&str; 5] = ["read", "write", "randread", "randwrite", "randrw"];

/// Findings that let a number stand and yet keep it from winning a comparison: it says little, or nobody saw where it
/// came from.
const CANNOT_WIN: [&str; 2] = ["too-short", "not-visible"];

/// Requests of fewer bytes are counted, those of more are weighed.
pub(crate) const SMALL_BYTES: f64 = 65_536.0;

/// All cells of a study.
pub(crate) struct Grid<'a> {
    pub(crate) study: &'a Study,
    /// Names of the columns; the first is the baseline.
    pub(crate) targets: Vec<String>,
    /// The rows, in the order they first ran; those of a comparison as people read them.
    pub(crate) lines: Vec<Line<'a>>,
}

/// One pattern on all targets.
pub(crate) struct Line<'a> {
    /// The same word for the same thing on every target.
    pub(crate) pattern: String,
    /// For people.
    pub(crate) title: String,
    /// One per target; a cell without repeats was not run.
    pub(crate) cells: Vec<Cell<'a>>,
}

/// One pattern on one target, in the order of the rounds.
#[derive(Default)]
pub(crate) struct Cell<'a> {
    pub(crate) repeats: Vec<Repeat<'a>>,
}

impl<'a> Grid<'a> {
    pub(crate) fn of(study: &'a Study) -> Grid<'a> {
        let mut grid = Grid { study, targets: study.target_names(), lines: Vec::new() };
        let columns = grid.targets.len();
        for row in study.rows.iter().filter(|row| row.target < columns) {
            for repeat in Repeat::of_row(row, study.question == Question::Fio) {
                grid.place(row.target, repeat);
            }
        }
        if study.question == Question::Compare {
            // A round's reads meet what its writes made: they ran in another order than people read them in.
            let place = |line: &Line<'_>| PATTERNS.iter().position(|name| *name == line.pattern);
            sort::by_key(&mut grid.lines, |line| place(line).unwrap_or(PATTERNS.len()));
        }
        for cell in grid.lines.iter_mut().flat_map(|line| &mut line.cells) {
            sort::by_key(&mut cell.repeats, |repeat| repeat.row.round);
        }
        grid
    }

    fn place(&mut self, target: usize, repeat: Repeat<'a>) {
        let columns = self.targets.len();
        let place = self.lines.iter().position(|line| line.pattern == repeat.pattern).unwrap_or_else(|| {
            self.lines.push(Line {
                pattern: repeat.pattern.clone(),
                title: repeat.title.clone(),
                cells: std::iter::repeat_with(Cell::default).take(columns).collect(),
            });
            self.lines.len() - 1
        });
        self.lines[place].cells[target].repeats.push(repeat);
    }

    /// Every cell that was run, with its line and the index of its target.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&Line<'a>, usize, &Cell<'a>)> {
        self.lines.iter().flat_map(|line| {
            let ran = line.cells.iter().enumerate().filter(|(_, cell)| !cell.repeats.is_empty());
            ran.map(move |(target, cell)| (line, target, cell))
        })
    }

    /// The cells that answer something: filling a file for them does not, unless it failed.
    pub(crate) fn tests(&self) -> impl Iterator<Item = (&Line<'a>, usize, &Cell<'a>)> {
        self.cells().filter(|(line, _, cell)| line.pattern != test_name::FILL || cell.error().is_some())
    }

    /// The most rounds that any cell has.
    pub(crate) fn rounds(&self) -> usize {
        self.cells().map(|(_, _, cell)| cell.repeats.len()).max().unwrap_or(0)
    }
}

impl Line<'_> {
    /// The figure by which targets are compared: what is durable, where something was written and nothing read.
    pub(crate) fn headline(&self) -> Metric {
        let durable = |cell: &Cell<'_>| cell.value(Metric::Durable).is_some();
        let reads = |cell: &Cell<'_>| cell.latency(Lane::Read).is_some();
        if self.is_phase() {
            Metric::Operations
        } else if self.cells.iter().any(durable) && !self.cells.iter().any(reads) {
            Metric::Durable
        } else {
            Metric::Throughput
        }
    }

    /// Whether it is a phase of operations on names and small files.
    pub(crate) fn is_phase(&self) -> bool {
        self.cells.iter().flat_map(|cell| &cell.repeats).any(|repeat| repeat.phase.is_some())
    }
}

impl<'a> Cell<'a> {
    /// The figure over all rounds: the median, or for latencies the percentile of all rounds' requests together.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        match metric.percentile() {
            Some((lane, percent)) => self.latency(lane)?.shown(percent).map(|ns| ns as f64),
            // Rounds too short for the clock of CPU time have none: the median of the others would be too high.
            None if metric.is_of_cpu() && self.by_round(metric).len() < self.repeats.len() => None,
            None => median(&self.by_round(metric)),
        }
    }

    /// Whether its requests are so small that their number says more than their bytes.
    pub(crate) fn is_small(&self) -> bool {
        let rates = self.value(Metric::Throughput).zip(self.value(Metric::Iops));
        rates.is_some_and(|(bytes, ios)| bytes < ios * SMALL_BYTES)
    }

    /// The figure of each round that has it.
    pub(crate) fn by_round(&self, metric: Metric) -> Vec<f64> {
        self.rounds(metric).into_iter().map(|(_, figure)| figure).collect()
    }

    fn rounds(&self, metric: Metric) -> Vec<(u32, f64)> {
        self.repeats.iter().filter_map(|repeat| Some((repeat.row.round, metric.of(repeat)?))).collect()
    }

    /// Whether so few requests lie beyond a percentile that it is chance.
    pub(crate) fn is_scarce(&self, metric: Metric) -> bool {
        metric
            .percentile()
            .is_some_and(|(lane, percent)| self.latency(lane).is_none_or(|latency| !latency.shows(percent)))
    }

    /// Coefficient of variation of the rounds, percent; `None` with fewer than two.
    pub(crate) fn scatter_percent(&self, metric: Metric) -> Option<f64> {
        Some(coefficient_of_variation(&self.by_round(metric))? * 100.0)
    }

    /// Where the median of the rounds lies; `None`: too few rounds to say.
    pub(crate) fn interval(&self, metric: Metric) -> Option<Interval> {
        statistic::interval(&self.by_round(metric))
    }

    /// The figure as a multiple of the baseline's; `None` when either has none.
    pub(crate) fn ratio(&self, baseline: &Cell<'_>, metric: Metric) -> Option<Ratio> {
        self.value(metric).and(baseline.value(metric))?;
        Ratio::of(&self.rounds(metric), &baseline.rounds(metric))
    }

    /// Latency of one lane, all rounds merged; `None`: not kept.
    pub(crate) fn latency(&self, lane: Lane) -> Option<Latency> {
        let mut all = Latency::default();
        for repeat in &self.repeats {
            let latency = repeat.latency(lane)?;
            all.merge(&latency);
        }
        (all.moments.count > 0).then_some(all)
    }

    /// How far it can be trusted: the worst round, or invalid when a round ended in an error.
    pub(crate) fn trust(&self) -> Trust {
        self.repeats.iter().map(Repeat::trust).max().unwrap_or_default()
    }

    /// The same once it is known what was examined of it: what nobody has looked at is not ok.
    pub(crate) fn trust_of(&self, looked: &Examination) -> Trust {
        let is_unexamined = looked.examined.is_empty() && !looked.not_visible.is_empty();
        if is_unexamined { self.trust().max(Trust::Caution) } else { self.trust() }
    }

    /// Whether it has a number that counts against others.
    pub(crate) fn counts(&self, metric: Metric) -> bool {
        self.value(metric).is_some() && self.trust() < Trust::Invalid && self.error().is_none()
    }

    /// Whether it may be called faster than others; what may not can still be slower.
    pub(crate) fn can_win(&self) -> bool {
        !self.findings().any(|finding| CANNOT_WIN.contains(&finding.id.as_str()))
    }

    /// All findings against its rounds.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.repeats.iter().flat_map(|repeat| repeat.findings())
    }

    /// The kinds of the findings that decide its trust, each once.
    pub(crate) fn reasons(&self) -> Vec<&'a str> {
        let worst = if self.trust() == Trust::Invalid { Severity::Invalid } else { Severity::Caution };
        let mut reasons: Vec<&str> = Vec::new();
        for finding in self.findings().filter(|finding| finding.severity == worst) {
            if !reasons.contains(&finding.id.as_str()) {
                reasons.push(&finding.id);
            }
        }
        reasons
    }

    /// The first error of any round, in words.
    pub(crate) fn error(&self) -> Option<String> {
        self.repeats.iter().find_map(Repeat::error)
    }
}
