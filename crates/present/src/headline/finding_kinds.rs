//! Groups findings over several places: each kind once, with its places.

use super::found::{FindingCase, FindingGroup, counted, named};
use super::ranged;
use crate::quantity::listed;

/// Up to this number of tests are named where places are listed; of more only the count is given.
const NAMED: usize = 3;

/// A kind of finding on all places that have it.
pub(crate) struct FindingKind<'a> {
    /// One finding for each place; the first gives name and severity of all.
    pub(crate) places: Vec<&'a FindingGroup>,
}

/// A sentence that applies to some of the places.
struct Sentence<'a> {
    of: Vec<(&'a FindingGroup, &'a FindingCase)>,
}

/// The kinds, in the order of their first occurrence.
pub(crate) fn by_kind(findings: &[FindingGroup]) -> Vec<FindingKind<'_>> {
    let mut kinds: Vec<FindingKind<'_>> = Vec::new();
    for found in findings {
        let same = |kind: &&mut FindingKind<'_>| {
            let first = kind.first();
            (&first.id, first.severity) == (&found.id, found.severity)
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.places.push(found),
            None => kinds.push(FindingKind { places: vec![found] }),
        }
    }
    kinds
}

impl<'a> FindingKind<'a> {
    pub(crate) fn first(&self) -> &'a FindingGroup {
        self.places[0]
    }

    /// The names of the places: `local, nfs`.
    pub(crate) fn targets(&self) -> String {
        self.places.iter().map(|found| found.target.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The next step; where places differ, one for each.
    pub(crate) fn next(&self) -> String {
        let first = &self.first().next;
        if self.places.iter().all(|found| found.next == *first) {
            return first.clone();
        }
        self.places.iter().map(|found| format!("{}: {}", found.target, found.next)).collect::<Vec<_>>().join("; ")
    }

    /// What was seen in which tests, with places where a name is needed.
    pub(crate) fn sentences(&self, with_places: bool) -> Vec<String> {
        let mut sentences: Vec<Sentence<'_>> = Vec::new();
        for found in &self.places {
            for case in &found.cases {
                let near = |(_, known): &(&FindingGroup, &FindingCase)| {
                    known.causes.iter().all(|one| case.causes.iter().all(|other| ranged::near(one, other)))
                };
                let alike = |sentence: &&mut Sentence<'_>| sentence.of.iter().all(near);
                match sentences.iter_mut().find(alike) {
                    Some(sentence) => sentence.of.push((found, case)),
                    None => sentences.push(Sentence { of: vec![(found, case)] }),
                }
            }
        }
        let last = sentences.len().saturating_sub(1);
        let words = |(index, sentence): (usize, &Sentence<'_>)| {
            let words = sentence.words(with_places);
            // Another sentence follows on the same line.
            if index < last { words.trim_end_matches('.').to_owned() } else { words }
        };
        sentences.iter().enumerate().map(words).collect()
    }
}

impl Sentence<'_> {
    /// The sentence with its tests: `local (read, write), nfs (all 5 tests), 3 of 21 runs: CPU contention …`.
    fn words(&self, with_places: bool) -> String {
        let sum = |count: fn(&FindingCase) -> usize| self.of.iter().map(|(_, case)| count(case)).sum::<usize>();
        let (runs, of_runs) = (sum(|case| case.runs), sum(|case| case.of_runs));
        let runs = if runs < of_runs { format!(", {runs} of {of_runs} runs") } else { String::new() };
        let causes: Vec<&str> = self.of.iter().flat_map(|(_, case)| case.causes.iter().map(String::as_str)).collect();
        format!("{}{runs}: {}", self.which(with_places), ranged::merged_sentence(&causes))
    }

    /// The tests, with the places that they ran on.
    fn which(&self, with_places: bool) -> String {
        let tests = |(found, case): &(&FindingGroup, &FindingCase)| named(&case.called, found.of_tests);
        match &self.of[..] {
            [only] if with_places => format!("{}, {}", only.0.target, tests(only)),
            [only] => tests(only),
            several if several.iter().all(|one| tests(one) == tests(&several[0])) => {
                let places: Vec<String> = several.iter().map(|(found, _)| found.target.clone()).collect();
                format!("{}, {}", listed(&places), tests(&several[0]))
            }
            several => several.iter().map(in_brackets).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A place with its tests: `nfs (read, write)`.
fn in_brackets((found, case): &(&FindingGroup, &FindingCase)) -> String {
    let tests = match case.tests.len() {
        all if all == found.of_tests && all > 1 => counted(all, all),
        some if some > NAMED => counted(some, found.of_tests),
        _ => case.called.join(", "),
    };
    format!("{} ({tests})", found.target)
}
