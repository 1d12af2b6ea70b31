//! Writes the headline: the answer in a sentence.

use fsdyno_results::{Question, Severity, Study, Verdict, test_name};
use fsdyno_text::quantity::{counted, number};

use super::figures::{rate, throughput, typical_named};
use super::found::{FindingGroup, within};
use super::next::{Step, mostly_invalid};
use super::other_tools::pairs;
use super::standing::{self, PatternRanking};
use super::test::TestFigures;
use super::timed::{self, TimeFigures};
use crate::document::QuestionError;
use crate::quantity::listed;
use crate::summary::Grid;

pub(super) fn of(
    grid: &Grid<'_>,
    tests: &[TestFigures],
    findings: &[FindingGroup],
    (standings, times): (&[PatternRanking], &[TimeFigures]),
) -> Option<String> {
    let study = grid.study;
    if study.question != Question::Fio
        && let Some(failed) = nothing(tests)
    {
        return Some(failed);
    }
    let is_void = !tests.is_empty() && !tests.iter().any(TestFigures::counts);
    if matches!(study.question, Question::Sweep | Question::Curve) && is_void {
        return untrusted(tests, findings, true);
    }
    let joined = |sentences: &[String]| Some(sentences.join(" ")).filter(|text| !text.is_empty());
    match study.question {
        // The tests of an object store have sentences of their own.
        Question::Measure if study.targets.first().is_some_and(|target| target.path.contains("://")) => joined(
            &study.sentences.first().map(|sentence| first_of(sentence).to_owned()).into_iter().collect::<Vec<_>>(),
        ),
        Question::Measure => measured(tests, findings),
        Question::Check => verdicts(study),
        Question::Compare => joined(&standing::sentences(standings, grid.rounds())),
        Question::Time => timed::sentence(grid, times, standings),
        // One sentence for each kind of request.
        Question::Sweep => {
            joined(&study.sentences.iter().map(|sentence| first_of(sentence).to_owned()).collect::<Vec<_>>())
        }
        Question::Fio => None,
        _ => {
            let answer = study.sentences.first().map(|sentence| first_of(sentence).to_owned());
            joined(&answer.into_iter().chain(failed_in_part(tests)).collect::<Vec<_>>())
        }
    }
}

/// The first sentence of several.
pub(super) fn first_of(sentences: &str) -> &str {
    sentences.split_inclusive(". ").next().unwrap_or_default().trim_end()
}

/// Why there are no figures at all; `None`: there is one.
fn nothing(tests: &[TestFigures]) -> Option<String> {
    let tests: Vec<&TestFigures> = tests.iter().filter(|test| test.is_whole).collect();
    let errors: Option<Vec<&String>> = tests.iter().map(|test| test.error.as_ref()).collect();
    let error = errors?.first().copied()?;
    Some(match &tests[..] {
        [only] if only.name == test_name::FILL => {
            format!("nothing was measured: the file could not be written: {error}")
        }
        [_] => format!("nothing was measured: the test failed: {error}"),
        all => format!("nothing was measured: all {} tests failed, the first with {error}", all.len()),
    })
}

/// The exit status of a question whose tests failed.
const TESTS_FAILED: u8 = 1;

/// The same for programs, with the first next step and the place.
pub(super) fn error(study: &Study, tests: &[TestFigures], next: &[Step]) -> Option<QuestionError> {
    let sentence = nothing(tests).filter(|_| study.question != Question::Fio)?;
    let next = next.first().map(|step| step.command.as_ref().unwrap_or(&step.what).clone());
    let path = study.targets.first().map(|target| target.path.clone());
    Some(QuestionError { code: TESTS_FAILED, sentence, next, path })
}

/// A sentence on the tests that failed, where others did not; `None`: none failed.
fn failed_in_part(tests: &[TestFigures]) -> Option<String> {
    let tests: Vec<&TestFigures> = tests.iter().filter(|test| test.is_whole).collect();
    let mut failed = tests.iter().filter_map(|test| Some((&test.name, test.error.as_ref()?)));
    let (name, error) = failed.next()?;
    let more = if failed.next().is_some() { ", the first of them," } else { "" };
    let count = tests.iter().filter(|test| test.error.is_some()).count();
    Some(format!("{count} of {} tests failed: {name}{more} with {error}.", tests.len()))
}

/// The tests by which a storage is described; `None`: did not run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StorageTests<'a> {
    pub(crate) seq_read: Option<&'a TestFigures>,
    pub(crate) seq_write: Option<&'a TestFigures>,
    pub(crate) rand_read: Option<&'a TestFigures>,
    pub(crate) rand_write: Option<&'a TestFigures>,
    pub(crate) read_latency: Option<&'a TestFigures>,
    pub(crate) write_latency: Option<&'a TestFigures>,
    pub(crate) sync_latency: Option<&'a TestFigures>,
}

impl<'a> StorageTests<'a> {
    pub(crate) fn of(tests: &'a [TestFigures]) -> StorageTests<'a> {
        let find = |name: &str| tests.iter().find(|test| test.name == name);
        StorageTests {
            seq_read: find(test_name::SEQ_READ),
            seq_write: find(test_name::SEQ_WRITE),
            rand_read: find(test_name::RAND_READ),
            rand_write: find(test_name::RAND_WRITE),
            read_latency: find(test_name::READ_LATENCY),
            write_latency: find(test_name::WRITE_LATENCY),
            sync_latency: find(test_name::SYNC_LATENCY),
        }
    }

    /// Whether any of them ran.
    pub(crate) fn any(&self) -> bool {
        *self != StorageTests::default()
    }
}

/// The test, if its figures count.
fn counted_in(test: Option<&TestFigures>) -> Option<&TestFigures> {
    test.filter(|test| test.counts())
}

fn measured(tests: &[TestFigures], findings: &[FindingGroup]) -> Option<String> {
    let six = StorageTests::of(tests);
    let moved = |verb: &str, sequential: Option<&TestFigures>, random: Option<&TestFigures>| {
        let (sequential, random) = (counted_in(sequential).and_then(throughput), counted_in(random).and_then(rate));
        let figures: Vec<String> = [sequential, random].into_iter().flatten().collect();
        (!figures.is_empty()).then(|| format!("{verb} {}", figures.join(" and ")))
    };
    let rates = [moved("reads", six.seq_read, six.rand_read), moved("writes", six.seq_write, six.rand_write)];
    let latencies = [
        ("a 4k read", six.read_latency),
        ("a 4k write", six.write_latency),
        ("making a write durable", six.sync_latency),
    ];
    let latencies = latencies.into_iter().filter_map(|(what, test)| Some((what, typical_named(counted_in(test)?)?)));
    // Only the first part has the verb.
    let takes = |(index, (what, time)): (usize, (&str, String))| {
        if index == 0 { format!("{what} takes {time}") } else { format!("{what} {time}") }
    };
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    let latencies: Vec<String> = latencies.enumerate().map(takes).collect();
    let durable =
        counted_in(six.sync_latency).and_then(|test| Some(format!("{} durable writes/s", number(test.iops?))));
    let latencies: Vec<String> = latencies.into_iter().chain(durable).collect();
    let familiar: Vec<String> = pairs(tests).iter().filter_map(|pair| pair.sentence()).collect();
    let known = [rates, latencies].into_iter().filter(|part| !part.is_empty()).map(|part| part.join(", "));
    let mut parts: Vec<String> = known.chain(familiar).collect();
    if !parts.is_empty() && tests.iter().any(|test| test.counts() && test.runs > 1) {
        parts.push("rates are medians of the runs".to_owned());
    }
    let others = untrusted(tests, findings, parts.is_empty());
    let all: Vec<String> = parts.into_iter().chain(others).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Why most figures do not count; `None`: most do.
fn untrusted(tests: &[TestFigures], findings: &[FindingGroup], none_is_left: bool) -> Option<String> {
    if tests.iter().all(TestFigures::counts) || !(none_is_left || mostly_invalid(tests)) {
        return None;
    }
    let failed = tests.iter().filter(|test| test.error.is_some()).count();
    let mut reasons: Vec<&str> = Vec::new();
    for found in findings.iter().filter(|found| found.severity == Severity::Invalid) {
        if !reasons.contains(&found.title.as_str()) {
            reasons.push(&found.title);
        }
    }
    let mut reasons: Vec<String> = reasons.into_iter().map(within).collect();
    if failed > 0 {
        reasons.push(format!("{failed} of {} tests failed", tests.len()));
    }
    let what = if none_is_left { "no figure can be trusted" } else { "nothing else can be trusted" };
    Some(format!("{what}: {}", listed(&reasons)))
}

/// The number of each verdict: `2 of 3 requirements: FAIL; 1: PASS`.
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
