//! Judges the passes of a phase of operations on names together. A pass may end within milliseconds: counters and waits
//! are judged over all passes, and their spread replaces the length that a run of I/O needs.

use fsdyno_results::{Finding, PhaseRecord, Row, Study};

use crate::passes::Passes;
use crate::traps::{
    clock, cpu_starved, foreign_load, memory_storage, page_cache, sync_ignored, sync_not_flushed, too_noisy, too_short,
};

mod on_nodes;

pub(crate) use on_nodes::OnNode;

/// The beginnings of the names of phases whose operations each end with a sync.
const SYNCED: [&str; 3] = ["fsync", "write-4k", "write-1m"];

/// All findings on the passes of a phase, given as the rows of one test on one target.
pub fn of_phase_rows(study: &Study, rows: &[&Row]) -> Vec<Finding> {
    let records: Vec<&PhaseRecord> = rows.iter().filter_map(|row| row.phase.as_ref()).collect();
    // A pass that failed has no figures, and no finding quotes it.
    let counts = |record: &&PhaseRecord| record.operations > 0 && record.error.is_none();
    let records: Vec<&PhaseRecord> = records.into_iter().filter(counts).collect();
    let storage = rows.first().and_then(|row| study.targets.get(row.target)).map(|target| &target.storage);
    let name = records.first().map_or("", |record| &record.name);
    let syncs = SYNCED.iter().any(|synced| name.starts_with(synced));
    let whole = Passes { host: &study.host, storage, syncs, records: &records };
    match &OnNode::all(rows)[..] {
        [] => of_passes(&whole),
        nodes => on_nodes::judge(&whole, nodes, rows),
    }
}

/// All findings on a phase on one node.
pub fn of_passes(passes: &Passes<'_>) -> Vec<Finding> {
    let mut found = judged(passes);
    if passes.operations() > 0 {
        let is_starved = found.iter().any(|finding| finding.id == cpu_starved::ID);
        // Passes that wait for a CPU vary anyway, and have that finding.
        let noisy = if is_starved { None } else { too_noisy::of_phase(passes) };
        found.extend([foreign_load::of_phase(passes), too_short::of_phase(passes), noisy].into_iter().flatten());
    }
    found
}

/// The findings of a single node.
fn judged(passes: &Passes<'_>) -> Vec<Finding> {
    let memory = passes.storage.and_then(|storage| memory_storage::of_phase(storage, passes.syncs));
    if passes.operations() == 0 {
        return memory.into_iter().collect();
    }
    [
        memory,
        cpu_starved::of_phase(passes),
        page_cache::of_phase(passes),
        // A sync that does nothing does not flush either: one finding is enough.
        sync_ignored::of_phase(passes).or_else(|| sync_not_flushed::of_phase(passes)),
        clock::of_phase(passes),
        #[cfg(feature = "object")]
        crate::traps::objects::retries_hidden::of_phase(passes),
    ]
    .into_iter()
    .flatten()
    .collect()
}
