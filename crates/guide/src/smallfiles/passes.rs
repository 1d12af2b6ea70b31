//! Selects the passes of a phase whose figures count.

use fsdyno_results::{PhaseRecord, Study, TestRounds};

/// All passes of a phase.
pub(super) fn passes_of<'a>(study: &'a Study, pattern: &'a str) -> TestRounds<'a> {
    TestRounds::of_rows(study.rows.iter().filter(|row| row.pattern == pattern))
}

/// The first pass of a phase that did at least one operation.
pub(super) fn phase_of<'a>(study: &'a Study, pattern: &'a str) -> Option<&'a PhaseRecord> {
    passes_of(study, pattern).counted().first()?.phase
}

/// The passes that say how long all files take: passes that were not stopped, and without failures, are preferred to
/// the others.
pub(super) fn whole<'a>(passes: impl IntoIterator<Item = &'a PhaseRecord>) -> Vec<&'a PhaseRecord> {
    let attempted = |phase: &PhaseRecord| phase.operations + phase.failures;
    let mut passes: Vec<&PhaseRecord> = passes.into_iter().collect();
    let most = passes.iter().map(|phase| attempted(phase)).max();
    passes.retain(|phase| Some(attempted(phase)) == most);
    let least = passes.iter().map(|phase| phase.failures).min();
    passes.retain(|phase| Some(phase.failures) == least);
    passes
}
