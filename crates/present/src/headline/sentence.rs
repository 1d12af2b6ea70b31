//! The answer in a sentence.

use results::quantity::counted;
use results::{Question, Study, Verdict, test_name};

use super::figures::{rate, throughput, typical};
use super::test::TestFigures;
use crate::summary::Grid;

pub(super) fn of(grid: &Grid<'_>, tests: &[TestFigures]) -> Option<String> {
    let study = grid.study;
    match study.question {
        Question::Measure => measured(&Six::of(tests)),
        Question::Check => verdicts(study),
        Question::Compare => Some(crate::tables::verdict(grid).join(" ")).filter(|text| !text.is_empty()),
        Question::Sweep | Question::Curve | Question::SmallFiles => study.sentences.first().cloned(),
        Question::Fio => None,
    }
}

/// The tests by which a storage is known; `None`: did not run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Six<'a> {
    pub(crate) seq_read: Option<&'a TestFigures>,
    pub(crate) seq_write: Option<&'a TestFigures>,
    pub(crate) rand_read: Option<&'a TestFigures>,
    pub(crate) rand_write: Option<&'a TestFigures>,
    pub(crate) read_latency: Option<&'a TestFigures>,
    pub(crate) write_latency: Option<&'a TestFigures>,
    pub(crate) sync_latency: Option<&'a TestFigures>,
}

impl<'a> Six<'a> {
    pub(crate) fn of(tests: &'a [TestFigures]) -> Six<'a> {
        let find = |name: &str| tests.iter().find(|test| test.name == name);
        Six {
            seq_read: find(test_name::SEQ_READ),
            seq_write: find(test_name::SEQ_WRITE),
            rand_read: find(test_name::RAND_READ),
            rand_write: find(test_name::RAND_WRITE),
            read_latency: find(test_name::READ_LATENCY),
            write_latency: find(test_name::WRITE_LATENCY),
            sync_latency: find(test_name::SYNC_LATENCY),
        }
    }

    /// Whether there is any of them.
    pub(crate) fn any(&self) -> bool {
        *self != Six::default()
    }
}

/// The test, if its figures answer the question.
fn counted_in(test: Option<&TestFigures>) -> Option<&TestFigures> {
    test.filter(|test| test.counts())
}

fn measured(six: &Six<'_>) -> Option<String> {
    let moved = |verb: &str, sequential: Option<&TestFigures>, random: Option<&TestFigures>| {
        let (sequential, random) = (counted_in(sequential).and_then(throughput), counted_in(random).and_then(rate));
        let figures: Vec<String> = [sequential, random].into_iter().flatten().collect();
        (!figures.is_empty()).then(|| format!("{verb} {}", figures.join(" and ")))
    };
    let took = |what: &str, test: Option<&TestFigures>| Some(format!("{what} {}", typical(counted_in(test)?)?));
    let rates = [moved("reads", six.seq_read, six.rand_read), moved("writes", six.seq_write, six.rand_write)];
    let latencies = [
        took("a 4k read takes", six.read_latency),
        took("a 4k write", six.write_latency),
        took("making a write durable", six.sync_latency),
    ];
    let joined = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    let parts: Vec<String> = [joined(&rates), joined(&latencies)].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `2 of 3 requirements: FAIL; 1: PASS`.
fn verdicts(study: &Study) -> Option<String> {
    let all = study.verdicts.len();
    let order = [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass, Verdict::Reference, Verdict::NotApplicable];
    let count = |verdict: Verdict| study.verdicts.iter().filter(|row| row.verdict == verdict).count();
    let given: Vec<String> = order
        .into_iter()
        .filter(|verdict| count(*verdict) > 0)
        .map(|verdict| format!("{} {}", count(verdict), verdict.word()))
        .collect();
    (all > 0).then(|| format!("{}: {}", counted(all as u64, "requirement"), given.join(", ")))
}
