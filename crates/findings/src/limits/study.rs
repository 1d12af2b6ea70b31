//! Determines what limited the tests of a study, for each target: tests with the same limit are grouped.

use fsdyno_results::{Study, TestRounds};
use fsdyno_stats::sort;

use super::{Limit, Limiter, Phrase, of_run};

/// Tests of one target with the same limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// Index of the target in the study.
    pub target: usize,
    /// What limits them, or why that is not visible.
    pub limiter: Result<Limiter, &'static str>,
    /// The names of the patterns, in the order in which they ran.
    pub tests: Vec<String>,
    /// The patterns with other limits.
    pub others: Vec<String>,
    /// The evidence of each test; empty when it is not visible.
    pub evidence: Vec<Phrase>,
}

/// Most exceptions that are named.
const NAMED: usize = 4;

impl Limited {
    /// Moves these tests to the others.
    pub fn leave_out(&mut self, left_out: &[&String]) {
        let stays: Vec<bool> = self.tests.iter().map(|test| !left_out.contains(&test)).collect();
        let mut kept = stays.iter();
        // A limit that is not visible has no evidence.
        self.evidence.retain(|_| *kept.next().unwrap_or(&true));
        let (tests, others) = std::mem::take(&mut self.tests).into_iter().partition(|test| !left_out.contains(&test));
        self.tests = tests;
        self.others.extend::<Vec<String>>(others);
    }

    /// The tests in a few words: `all tests`, `all tests but rand-write`; `None`: they should be named one by one, which
    /// is as short. In both cases it is clear for each test whether it belongs.
    pub fn in_short(&self, word: &str) -> Option<String> {
        let (tests, others) = (in_groups(&self.tests), in_groups(&self.others));
        match &others[..] {
            _ if self.tests.len() < 2 => None,
            [] => Some(format!("all {word}")),
            _ if self.tests.len() <= self.others.len() || tests.len() <= others.len() => None,
            several if several.len() > NAMED => None,
            [only] => Some(format!("all {word} but {only}")),
            [first @ .., last] => Some(format!("all {word} but {} and {last}", first.join(", "))),
        }
    }
}

/// The names of tests, where names that differ by their number are one group: `depth 4`, `50, 120 % load`.
pub fn in_groups(names: &[String]) -> Vec<String> {
    let mut groups: Vec<(String, String, String)> = Vec::new();
    for name in names {
        let words: Vec<&str> = name.split(' ').collect();
        let number = words.iter().rposition(|word| word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty());
        let Some(at) = number else {
            groups.push((name.clone(), String::new(), String::new()));
            continue;
        };
        let (before, after) = (words[..at].join(" "), words[at + 1..].join(" "));
        match groups.iter_mut().find(|group| !group.1.is_empty() && group.0 == before && group.2 == after) {
            Some((_, numbers, _)) => numbers.push_str(&format!(", {}", words[at])),
            None => groups.push((before, words[at].to_owned(), after)),
        }
    }
    let words = |(before, numbers, after): (String, String, String)| {
        [before, numbers, after].iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    };
    groups.into_iter().map(words).collect()
}

/// The limits of all targets; those that are not visible last.
pub fn of_study(study: &Study) -> Vec<Limited> {
    (0..study.targets.len()).flat_map(|target| of_target(study, target)).collect()
}

fn of_target(study: &Study, target: usize) -> Vec<Limited> {
    let mut limits: Vec<Limited> = Vec::new();
    // Rows that only fill a file are not tests.
    let patterns: Vec<&str> = study.tests();
    for pattern in &patterns {
        let (limiter, shown) = match usual_limit(study, target, pattern) {
            Ok(limit) => (Ok(limit.limiter), Some(limit.evidence)),
            Err(reason) => (Err(reason), None),
        };
        let index = limits.iter().position(|known| known.limiter == limiter).unwrap_or_else(|| {
            limits.push(Limited { target, limiter, tests: Vec::new(), others: Vec::new(), evidence: Vec::new() });
            limits.len() - 1
        });
        limits[index].tests.push((*pattern).to_string());
        limits[index].evidence.extend(shown);
    }
    for limited in &mut limits {
        let named = |pattern: &&&str| limited.tests.iter().any(|test| test == **pattern);
        limited.others =
            patterns.iter().filter(|pattern| !named(pattern)).map(|pattern| (*pattern).to_string()).collect();
    }
    sort::by_key(&mut limits, |limited| limited.limiter.is_err());
    limits
}

/// The limit in most rounds of a pattern that count, or why no round shows any.
fn usual_limit(study: &Study, target: usize, pattern: &str) -> Result<Limit, &'static str> {
    let mut seen: Vec<(usize, Limit)> = Vec::new();
    let mut unseen = "nothing was measured";
    let rounds = TestRounds::of_rows(study.repeats(target, pattern));
    for round in rounds.counted() {
        let Some(run) = round.row.run.as_ref() else { continue };
        let limit = match of_run(run) {
            Ok(limit) => limit,
            Err(reason) => {
                unseen = reason;
                continue;
            }
        };
        match seen.iter_mut().find(|(_, known)| known.limiter == limit.limiter) {
            Some((count, _)) => *count += 1,
            None => seen.push((1, limit)),
        }
    }
    // Of equally frequent limits the first one wins, as rounds are in order.
    seen.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, limit)| limit).ok_or(unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_named_where_they_are_the_shorter_list() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let short = |tests: &[&str], others: &[&str]| {
            let (tests, others) = (names(tests), names(others));
            Limited { target: 0, limiter: Err("-"), tests, others, evidence: Vec::new() }.in_short("tests")
        };
        assert_eq!(short(&["a", "b", "c"], &["d"]).as_deref(), Some("all tests but d"));
        assert_eq!(short(&["a", "b", "c"], &["d", "e"]).as_deref(), Some("all tests but d and e"));
        assert_eq!(short(&["a", "b"], &["c", "d"]), None, "as many are left out");
        let depths = ["depth 1", "depth 4", "depth 16"];
        assert_eq!(short(&depths, &["a", "b"]), None, "depth 1, 4, 16");
        assert_eq!(short(&["a", "b"], &depths), None, "the tests are fewer");
    }

    #[test]
    fn names_that_differ_by_a_number_are_one_group() {
        let grouped = |names: &[&str]| in_groups(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(grouped(&["depth 4", "50 % load", "120 % load"]), ["depth 4", "50, 120 % load"]);
        assert_eq!(grouped(&["1 node", "2 nodes", "4 nodes"]), ["1 node", "2, 4 nodes"]);
        assert_eq!(grouped(&["4k random read depth 1", "64k random read depth 1"]).len(), 2);
        assert_eq!(grouped(&["rand-read", "seq-read-64k"]), ["rand-read", "seq-read-64k"], "names are no numbers");
    }
}
