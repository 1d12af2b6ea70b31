//! Arranges a study as a grid: patterns as rows, targets as columns, the repeats in each cell. All presentations start
//! from it, so that they agree.

use fsdyno_results::{Lane, Metric, PhaseRecord, Question, Study, TestRounds, test_name};
use fsdyno_stats::sort;

/// The patterns of a comparison in reading order; others follow.
const PATTERNS: [&str; 5] = ["read", "write", "randread", "randwrite", "randrw"];

/// All cells of a study.
pub(crate) struct Grid<'a> {
    pub(crate) study: &'a Study,
    /// Names of the columns; the first is the baseline.
    pub(crate) targets: Vec<String>,
    /// The rows, in the order in which they first ran; those of a comparison in reading order.
    pub(crate) lines: Vec<PatternLine<'a>>,
}

/// One pattern on all targets.
pub(crate) struct PatternLine<'a> {
    /// The pattern's name, the same on every target.
    pub(crate) pattern: String,
    /// The title for people.
    pub(crate) title: String,
    /// One cell per target; a cell without repeats was not run.
    pub(crate) cells: Vec<TestRounds<'a>>,
}

impl<'a> Grid<'a> {
    pub(crate) fn of(study: &'a Study) -> Grid<'a> {
        let mut grid = Grid { study, targets: study.target_names(), lines: Vec::new() };
        for test in study.test_rounds() {
            if test.target < grid.targets.len() {
                grid.place(test);
            }
        }
        if study.question == Question::Compare {
            // They ran in another order than people read them in, as reads use the files of the round's writes.
            let place = |line: &PatternLine<'_>| PATTERNS.iter().position(|name| *name == line.pattern);
            sort::by_key(&mut grid.lines, |line| place(line).unwrap_or(PATTERNS.len()));
        }
        grid
    }

    fn place(&mut self, test: TestRounds<'a>) {
        let columns = self.targets.len();
        let place = self.lines.iter().position(|line| line.pattern == test.pattern).unwrap_or_else(|| {
            self.lines.push(PatternLine {
                pattern: test.pattern.clone(),
                title: test.repeats.first().map(|first| first.title.clone()).unwrap_or_default(),
                cells: std::iter::repeat_with(TestRounds::default).take(columns).collect(),
            });
            self.lines.len() - 1
        });
        let target = test.target;
        self.lines[place].cells[target] = test;
    }

    /// Every cell that was run, with its line and the index of its target.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&PatternLine<'a>, usize, &TestRounds<'a>)> {
        self.lines.iter().flat_map(|line| {
            let ran = line.cells.iter().enumerate().filter(|(_, cell)| cell.was_tried());
            ran.map(move |(target, cell)| (line, target, cell))
        })
    }

    /// The cells of tests: without the filling of files, unless that failed.
    pub(crate) fn tests(&self) -> impl Iterator<Item = (&PatternLine<'a>, usize, &TestRounds<'a>)> {
        self.cells().filter(|(line, _, cell)| line.pattern != test_name::FILL || cell.error().is_some())
    }

    /// Those that count as tests of their own.
    pub(crate) fn whole_tests(&self) -> impl Iterator<Item = (&PatternLine<'a>, usize, &TestRounds<'a>)> {
        self.tests().filter(|(line, _, cell)| line.is_whole(cell))
    }

    /// Whether this target is the reference run in memory, which nobody asked about.
    pub(crate) fn is_reference(&self, target: usize) -> bool {
        self.study.targets.get(target).is_some_and(|target| target.reference)
    }

    /// The most rounds that count in any cell.
    pub(crate) fn rounds(&self) -> usize {
        self.cells().map(|(_, _, cell)| cell.counted().len()).max().unwrap_or(0)
    }
}

/// Whether it is a phase that did not run.
pub(crate) fn did_nothing(cell: &TestRounds<'_>) -> bool {
    let did = |phase: &PhaseRecord| phase.operations > 0 || phase.failures > 0 || phase.error.is_some();
    cell.repeats.iter().all(|repeat| repeat.phase.is_some_and(|phase| !did(phase)))
}

impl PatternLine<'_> {
    /// Whether it is a test of its own: it ran, and is not a call that is timed as a part of another phase.
    pub(crate) fn is_whole(&self, cell: &TestRounds<'_>) -> bool {
        test_name::phase_of_part(&self.pattern).is_none() && !did_nothing(cell)
    }

    /// The metric by which targets are compared; for lines that only write, of what became durable.
    pub(crate) fn headline(&self) -> Metric {
        let durable = |cell: &TestRounds<'_>| cell.value(Metric::Durable).is_some();
        let reads = |cell: &TestRounds<'_>| cell.latency(Lane::Read).is_some();
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
        self.cells.iter().any(TestRounds::is_phase)
    }
}
