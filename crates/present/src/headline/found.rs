//! Collects the findings: each kind once for each target, with its tests and the range of its figures.

use fsdyno_results::{Finding, Severity};
use fsdyno_stats::sort;
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::called;
use super::ranged;
use crate::summary::Grid;

/// One kind of finding on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct FindingGroup {
    /// The finding's id; `fsdyno explain ID` explains it.
    pub id: String,
    /// The severity.
    pub severity: Severity,
    /// The storage's name.
    pub target: String,
    /// Index of the target.
    #[serde(skip)]
    pub(crate) target_index: usize,
    /// The title, in a few words.
    pub title: String,
    /// The names of the tests that have it.
    pub tests: Vec<String>,
    /// Number of tests of the target.
    pub of_tests: usize,
    /// What was seen; tests whose sentences differ only in figures share one case.
    pub cases: Vec<FindingCase>,
    /// The next step.
    pub next: String,
}

/// What was seen in some of the tests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingCase {
    /// The names of the tests.
    pub tests: Vec<String>,
    /// Number of runs of these tests in which it was seen.
    pub runs: usize,
    /// Number of all runs of these tests.
    pub of_runs: usize,
    /// A sentence; a figure that differs between runs is given as a range from the least to the greatest.
    pub cause: String,
    /// The tests as the text beside their table calls them.
    #[serde(skip)]
    pub(super) called: Vec<String>,
    /// The sentences of the single runs: ranges cannot be merged again.
    #[serde(skip)]
    pub(super) causes: Vec<String>,
}

/// Up to this number of tests are named; of more only the count is given.
const NAMED: usize = 6;

impl FindingGroup {
    /// Whether it reduces the trust in the figures, rather than only being worth knowing.
    pub(crate) fn is_against(&self) -> bool {
        self.severity > Severity::Info
    }

    pub(crate) fn word(&self) -> &'static str {
        if self.severity == Severity::Invalid { "invalid" } else { "caution" }
    }
}

/// The findings in short, each kind once with the number of its tests: `4 of 9 tests: CPU contention: I/O threads
/// waited for a CPU`. Where it makes only some of the tests invalid, their number is given.
pub(super) fn in_short<'a>(
    findings: impl Iterator<Item = &'a FindingGroup>,
    is_invalid: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut kinds: Vec<(&FindingGroup, Vec<&str>)> = Vec::new();
    for found in findings {
        let index = kinds.iter().position(|(first, _)| first.id == found.id).unwrap_or_else(|| {
            kinds.push((found, Vec::new()));
            kinds.len() - 1
        });
        let tests = &mut kinds[index].1;
        for test in &found.tests {
            if !tests.contains(&test.as_str()) {
                tests.push(test);
            }
        }
    }
    let sentence = |(first, tests): &(&FindingGroup, Vec<&str>)| {
        // A target with a single test needs no count.
        if first.of_tests == 1 {
            return within(&first.title);
        }
        let is_graver = |test: &&String| first.severity == Severity::Invalid && is_invalid(test);
        let graver = match first.tests.iter().filter(is_graver).count() {
            count if (1..tests.len()).contains(&count) => format!(", {count} of them invalid"),
            _ => String::new(),
        };
        format!("{}{graver}: {}", counted(tests.len(), first.of_tests), within(&first.title))
    };
    kinds.iter().map(sentence).collect()
}

/// A title as a part of a sentence: `a cache below the device`, but `CPU contention`.
pub(super) fn within(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

pub(crate) fn counted(tests: usize, of: usize) -> String {
    match (tests, of) {
        (2, 2) => "both tests".to_owned(),
        (tests, of) if tests == of => format!("all {of} tests"),
        _ => format!("{tests} of {of} tests"),
    }
}

/// The tests in words: `4 of 9 tests (seq-read, …)`.
pub(super) fn named(tests: &[String], of: usize) -> String {
    match tests {
        [only] => only.clone(),
        all if all.len() == of => counted(of, of),
        some if some.len() > NAMED => {
            format!("{} ({} and {} more)", counted(some.len(), of), some[..NAMED].join(", "), some.len() - NAMED)
        }
        some => format!("{} ({})", counted(some.len(), of), some.join(", ")),
    }
}

/// A finding while its sentences are collected.
struct Group<'a> {
    target: usize,
    first: &'a Finding,
    cases: Vec<Sentences<'a>>,
}

/// Sentences that are equal except for figures.
#[derive(Default)]
struct Sentences<'a> {
    tests: Vec<&'a str>,
    of_runs: usize,
    causes: Vec<&'a str>,
}

impl<'a> Group<'a> {
    /// Adds a run's finding; the test has `runs` runs. Figures of runs of one test are merged into one range; another
    /// test joins it only where its figures are about the same.
    fn add(&mut self, test: &'a str, runs: usize, finding: &'a Finding) {
        let own = |case: &Sentences<'a>| case.tests == [test] && ranged::alike(case.causes[0], &finding.cause);
        let like = |case: &Sentences<'a>| case.causes.iter().all(|cause| ranged::near(cause, &finding.cause));
        let index = self.cases.iter().position(like).or_else(|| self.cases.iter().position(own));
        let index = index.unwrap_or_else(|| {
            self.cases.push(Sentences::default());
            self.cases.len() - 1
        });
        let case = &mut self.cases[index];
        case.causes.push(&finding.cause);
        if !case.tests.contains(&test) {
            case.tests.push(test);
            case.of_runs += runs;
        }
    }
}

pub(super) fn all(grid: &Grid<'_>) -> Vec<FindingGroup> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (line, target, cell) in grid.whole_tests() {
        for finding in cell.findings() {
            let same = |group: &Group<'_>| {
                (group.target, &group.first.id, group.first.severity) == (target, &finding.id, finding.severity)
            };
            let index = groups.iter().position(same).unwrap_or_else(|| {
                groups.push(Group { target, first: finding, cases: Vec::new() });
                groups.len() - 1
            });
            groups[index].add(&line.pattern, cell.repeats.len(), finding);
        }
    }
    // The worst first; of equal severity, the one that concerns most tests.
    let mut found: Vec<FindingGroup> = groups.into_iter().map(|group| finished(grid, group)).collect();
    sort::by_key(&mut found, |found| std::cmp::Reverse((found.severity, found.tests.len())));
    found
}

fn finished(grid: &Grid<'_>, group: Group<'_>) -> FindingGroup {
    let Finding { id, severity, next, .. } = group.first;
    let owned = |tests: &[&str]| tests.iter().map(|test| (*test).to_owned()).collect::<Vec<_>>();
    let mut tests: Vec<&str> = Vec::new();
    for test in group.cases.iter().flat_map(|case| &case.tests) {
        if !tests.contains(test) {
            tests.push(test);
        }
    }
    let cases = group.cases.iter().map(|case| FindingCase {
        tests: owned(&case.tests),
        called: case.tests.iter().map(|test| called(grid.study, test)).collect(),
        runs: case.causes.len().min(case.of_runs),
        of_runs: case.of_runs,
        cause: ranged::merged_sentence(&case.causes),
        causes: owned(&case.causes),
    });
    FindingGroup {
        id: id.clone(),
        severity: *severity,
        target: grid.targets[group.target].clone(),
        target_index: group.target,
        title: fsdyno_findings::explanation(id).map_or(id.as_str(), |explanation| explanation.title).to_owned(),
        tests: owned(&tests),
        of_tests: grid.whole_tests().filter(|(_, target, _)| *target == group.target).count(),
        cases: cases.collect(),
        next: next.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_named_once_also_where_it_is_graver_in_some_tests() {
        let found = |severity: Severity, tests: &[&str]| FindingGroup {
            id: "fuse-cache".to_owned(),
            severity,
            target: "/s3".to_owned(),
            target_index: 0,
            title: "A cache answered".to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            of_tests: 8,
            cases: Vec::new(),
            next: String::new(),
        };
        let both = [found(Severity::Invalid, &["read", "write"]), found(Severity::Caution, &["write", "randread"])];
        let told = |invalid: &[&str]| in_short(both.iter(), &|test| invalid.contains(&test));
        assert_eq!(told(&["read", "write", "rename"]), ["3 of 8 tests, 2 of them invalid: a cache answered"]);
        assert_eq!(told(&["write"]), ["3 of 8 tests, 1 of them invalid: a cache answered"]);
        assert_eq!(told(&[]), ["3 of 8 tests: a cache answered"], "their invalid rounds are left out");
        assert_eq!(counted(2, 2), "both tests");
    }
}
