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

    /// The tests in a few words: `all tests`, `all tests but rand-write`; `None`: they should be named one by one. In
    /// both cases it is clear for each test whether it belongs.
    pub fn in_short(&self, word: &str) -> Option<String> {
        let (tests, others) = (self.tests.len(), &self.others);
        match &others[..] {
            _ if tests < 2 => None,
            [] => Some(format!("all {word}")),
            _ if tests <= others.len() || others.len() > NAMED => None,
            [only] => Some(format!("all {word} but {only}")),
            [first @ .., last] => Some(format!("all {word} but {} and {last}", first.join(", "))),
        }
    }
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
