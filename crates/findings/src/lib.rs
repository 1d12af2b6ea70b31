//! Finds reasons to distrust a number: traps that make a benchmark measure something else than was asked, found in the
//! evidence of a record. Pure functions: a saved run can be judged again. A trap whose layer is not visible reports
//! nothing.
#![forbid(unsafe_code)]

mod document;
mod evidence;
mod examined;
mod explanation;
pub mod limits;
mod node_comparison;
mod one_per_cause;
mod passes;
mod phases;
mod reached;
mod report;
mod traps;
mod units;

use fsdyno_results::evidence::WireCounters;
use fsdyno_results::{Finding, PhaseRecord, Row, RunRecord, Study, Target};
use fsdyno_stats::sort;

pub use document::markdown;
pub use examined::{Aspect, Examination, examined};
pub use explanation::Explanation;
pub use passes::Passes;
pub use phases::{of_passes, of_phase_rows};
pub use reached::{Reached, reached};
pub use traps::too_short::{ID as TOO_SHORT, IOS as OPERATIONS_MIN, is_too_short};
pub use traps::{catalogue, explanation};

use evidence::Evidence;

/// All findings of a finished run, the worst first.
pub fn of_run(record: &RunRecord) -> Vec<Finding> {
    let mut all = between_nodes(record);
    if !without_storage(record) {
        all.extend(look(record, |evidence| traps::all().flat_map(|trap| (trap.find)(evidence)).collect()));
    }
    sort::by_key(&mut all, |finding| std::cmp::Reverse(finding.severity));
    all
}

/// The findings from comparing the nodes of a run; those of each node were found before the records were merged.
pub fn between_nodes(record: &RunRecord) -> Vec<Finding> {
    traps::BETWEEN_NODES.iter().flat_map(|trap| (trap.find)(record)).collect()
}

/// The findings before the run: conflicts in the plan. They read the jobs' `setup`, `plan` and `timed_one_in`, and the
/// nodes' `host` and, where known, `storages`; nothing else.
pub fn of_plan(planned: &RunRecord) -> Vec<Finding> {
    if without_storage(planned) {
        return Vec::new();
    }
    let preflights = || traps::all().filter_map(|trap| trap.preflight);
    look(planned, |evidence| preflights().flat_map(|preflight| preflight(evidence)).collect())
}

/// Runs `find` on each node of a run. With several nodes, a finding names its node.
fn look(record: &RunRecord, find: impl Fn(&Evidence<'_>) -> Vec<Finding>) -> Vec<Finding> {
    let mut all = Vec::new();
    for evidence in Evidence::of(record) {
        let node = (record.nodes.len() > 1).then(|| evidence.node.name.clone());
        all.extend(
            one_per_cause::for_each_cause(find(&evidence))
                .into_iter()
                .map(|found| Finding { node: node.clone(), ..found }),
        );
    }
    sort::by_key(&mut all, |finding| std::cmp::Reverse(finding.severity));
    all
}

/// Whether all jobs are simulated or do nothing: then there is no storage whose numbers could be doubted.
fn without_storage(record: &RunRecord) -> bool {
    record.jobs.iter().all(evidence::touches_nothing)
}

/// The findings of a phase of operations on names: attributes from a network client's cache. `begin` and `end`: the
/// mount's counters before and after the phase.
pub fn of_phase(phase: &PhaseRecord, begin: &WireCounters, end: &WireCounters) -> Vec<Finding> {
    traps::attribute_cache::of_phase(phase, begin, end).into_iter().collect()
}

/// The findings of what the answers of an object server say, where a record has nothing else.
#[cfg(feature = "object")]
pub fn of_answers(record: &RunRecord) -> Vec<Finding> {
    let of_store =
        |evidence: &Evidence<'_>| traps::objects::ALL.iter().flat_map(|trap| (trap.find)(evidence)).collect();
    look(record, |evidence| [of_store(evidence), traps::throttled::find(evidence)].concat())
}

/// The findings of one run of a timed command.
pub fn of_command(target: &Target, row: &Row) -> Vec<Finding> {
    let found = [
        traps::left_running::find(row),
        traps::wrote_elsewhere::find(target, row),
        traps::compressible_data::of_command(target, row),
        traps::cpu_starved::of_command(row),
        traps::foreign_load::of_command(row),
    ];
    found.into_iter().flatten().collect()
}

/// The findings from comparing runs of timed commands, each with the index of its row.
pub fn between_commands(study: &Study) -> Vec<(usize, Finding)> {
    let mut found = traps::work_differs::find(study);
    // A run that failed has no figures.
    let ran = || study.rows.iter().enumerate().filter(|(_, row)| row.tree.is_some() && row.first_error().is_none());
    for (first, row) in ran() {
        let is_same = |(_, other): &(usize, &Row)| (other.target, &other.pattern) == (row.target, &row.pattern);
        let runs: Vec<(usize, &Row)> = ran().filter(is_same).collect();
        if runs[0].0 != first {
            continue;
        }
        let rows: Vec<&Row> = runs.iter().map(|(_, row)| *row).collect();
        if let Some(finding) = traps::cpu_starved::of_short_commands(&rows) {
            found.extend(runs.iter().map(|(index, _)| (*index, finding.clone())));
        }
    }
    found
}
