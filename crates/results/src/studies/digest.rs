//! A short form of a saved study, for lists, histories and comparisons. A directory of many runs keeps the digests
//! beside them, so that a list reads no run.

mod bytes;

use super::{Measure, NOT_EXAMINED, Question, Repeat, Study, Target, TestRounds, Trust, test_name};

/// A study in short form.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// Unique name of the study.
    pub id: String,
    /// The question.
    pub question: Question,
    /// Version line of the writer.
    pub version: String,
    /// When it began, ms since the epoch.
    pub started_ms: u64,
    /// False when it was stopped before its end, or ranks sent no results.
    pub complete: bool,
    /// The machine's own name.
    pub host_name: Option<String>,
    /// Whether ranks sent no results.
    pub lacks_ranks: bool,
    /// Whether a job or an operation failed.
    pub failed: bool,
    /// The worst trust of all tests; `Caution`: nothing was measured.
    pub trust: Trust,
    /// uname -sr.
    pub kernel: Option<String>,
    /// Processors online.
    pub cpus: Option<u32>,
    /// The storages that were asked about.
    pub targets: Vec<DigestTarget>,
    /// Number of rows.
    pub rows: usize,
    /// The tests, by target, in the order in which they first ran.
    pub tests: Vec<DigestTest>,
}

/// A storage that was asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DigestTarget {
    /// Its name: see [`Study::target_names`].
    pub name: String,
    /// The path.
    pub path: String,
    /// Type of its filesystem; `None`: not known.
    pub fstype: Option<String>,
}

/// All rounds of one test on one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DigestTest {
    /// Index into the targets.
    pub target: usize,
    /// The pattern.
    pub pattern: String,
    /// A hash of the command lines, without the words that name places: a different plan has a different hash.
    pub plan: u64,
    /// How far its figures can be trusted.
    pub trust: Trust,
    /// Whether nobody examined it and nothing else speaks against it.
    pub unexamined: bool,
    /// Whether it does operations on names instead of transfers.
    pub is_phase: bool,
    /// The test's figures, in the order of [`Measure::ALL`].
    pub figures: [Option<f64>; Measure::ALL.len()],
    /// The figures of each round that counts.
    pub rounds: Vec<[Option<f64>; Measure::ALL.len()]>,
}

impl Digest {
    /// Makes the digest of a study.
    pub fn of(study: &Study) -> Digest {
        let named = study.target_names().into_iter().zip(&study.targets);
        let tests = study.test_rounds().into_iter().filter(|rounds| rounds.pattern != test_name::FILL);
        let tests: Vec<DigestTest> = tests.map(|rounds| DigestTest::of(study, rounds)).collect();
        Digest {
            id: study.id.clone(),
            question: study.question,
            version: study.version.clone(),
            started_ms: study.started_ms,
            complete: study.complete,
            host_name: study.host_name.clone(),
            lacks_ranks: study.lacks_ranks(),
            failed: study.rows.iter().any(|row| row.first_error().is_some()),
            trust: tests.iter().map(|test| test.trust).max().unwrap_or(Trust::Caution),
            kernel: study.host.kernel.clone(),
            cpus: study.host.cpus,
            targets: named.map(|(name, target)| DigestTarget::of(name, target)).collect(),
            rows: study.rows.len(),
            tests,
        }
    }

    /// The patterns, in the order in which they first ran.
    pub fn patterns(&self) -> Vec<&str> {
        let mut patterns: Vec<&str> = Vec::new();
        for test in &self.tests {
            if !patterns.contains(&test.pattern.as_str()) {
                patterns.push(&test.pattern);
            }
        }
        patterns
    }

    /// The trust of these tests in a word. A test that nobody examined is neither ok nor suspect.
    pub fn trust_word<'a>(tests: impl Iterator<Item = &'a DigestTest> + Clone) -> &'static str {
        let worst = tests.clone().map(|test| test.trust).max().unwrap_or_default();
        let is_unexamined = tests.filter(|test| test.trust == worst).all(|test| test.unexamined);
        if worst == Trust::Caution && is_unexamined { NOT_EXAMINED } else { worst.word() }
    }

    /// One test on one target; `None`: there is none.
    pub fn test(&self, target: usize, pattern: &str) -> Option<&DigestTest> {
        self.tests.iter().find(|test| test.target == target && test.pattern == pattern)
    }
}

impl DigestTarget {
    fn of(name: String, target: &Target) -> DigestTarget {
        let fstype = target.storage.mount.value().map(|mount| mount.fstype.clone());
        DigestTarget { name, path: target.path.clone(), fstype }
    }
}

impl DigestTest {
    fn of(study: &Study, rounds: TestRounds<'_>) -> DigestTest {
        let lane = rounds.asked_lane(study);
        let metrics = Measure::ALL.map(|measure| measure.metric(&rounds, lane));
        // A figure of 0 does not count: nothing was measured.
        let of_round = |repeat: &Repeat<'_>| metrics.map(|metric| metric?.of(repeat).filter(|value| *value > 0.0));
        DigestTest {
            target: rounds.target,
            plan: rounds.repeats.first().map_or(0, |repeat| fingerprint(repeat.row.plan())),
            trust: rounds.trust(),
            unexamined: rounds.is_unexamined(),
            is_phase: rounds.is_phase(),
            figures: metrics.map(|metric| rounds.value(metric?).filter(|value| *value > 0.0)),
            rounds: rounds.counted().into_iter().map(of_round).collect(),
            pattern: rounds.pattern,
        }
    }

    /// Whether something was done or found.
    pub fn was_tried(&self) -> bool {
        !self.rounds.is_empty() || self.trust > Trust::Ok
    }

    /// The test's figure.
    pub fn figure(&self, measure: Measure) -> Option<f64> {
        self.figures[measure as usize]
    }

    /// The figure of each round that has it.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.rounds.iter().filter_map(|figures| figures[measure as usize]).collect()
    }
}

/// The FNV-1a hash, which is the same in every version of the program.
fn fingerprint<'a>(words: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = words.flat_map(|word| word.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests;
