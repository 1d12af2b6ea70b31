//! The table of traps. Each trap has a file with its explanation, its thresholds, and its detection.

pub(crate) mod above_link_speed;
pub(crate) mod attribute_cache;
pub(crate) mod burst;
pub(crate) mod client_cache;
pub(crate) mod clock;
pub(crate) mod clocks_drift;
pub(crate) mod compressible_data;
pub(crate) mod cpu_starved;
pub(crate) mod depth_not_reached;
pub(crate) mod direct_not_honoured;
pub(crate) mod directory_lost;
pub(crate) mod drift;
pub(crate) mod fits_in_memory;
pub(crate) mod foreign_load;
pub(crate) mod fuse_cache;
pub(crate) mod generator_bound;
pub(crate) mod host_cache;
pub(crate) mod jobs_overlap;
pub(crate) mod latency_off;
pub(crate) mod lazy_blocks;
pub(crate) mod left_running;
pub(crate) mod memory_limit;
pub(crate) mod memory_storage;
pub(crate) mod mounts_differ;
pub(crate) mod nfs_data_cache;
pub(crate) mod node_limit;
pub(crate) mod not_visible;
#[cfg(feature = "object")]
pub(crate) mod objects;
pub(crate) mod page_cache;
pub(crate) mod power_saving;
pub(crate) mod ranks_apart;
pub(crate) mod ranks_missing;
pub(crate) mod replay_late;
pub(crate) mod request_size;
pub(crate) mod run_failed;
pub(crate) mod same_offsets;
pub(crate) mod server_durability;
pub(crate) mod shared_extents;
pub(crate) mod shared_file;
pub(crate) mod slow_node;
pub(crate) mod stalled;
pub(crate) mod sync_ignored;
pub(crate) mod sync_not_flushed;
pub(crate) mod thin_blocks;
pub(crate) mod throttled;
pub(crate) mod too_noisy;
pub(crate) mod too_short;
pub(crate) mod unwritten_data;
pub(crate) mod work_differs;
pub(crate) mod writes_in_memory;
pub(crate) mod wrote_elsewhere;

use fsdyno_results::{Finding, RunRecord};

use crate::evidence::Evidence;
use crate::explanation::Explanation;

/// Detects one trap.
pub(crate) type Find = fn(&Evidence<'_>) -> Vec<Finding>;

/// A trap, with the functions that detect it.
pub(crate) struct Trap {
    /// The text of `explain`.
    pub(crate) explanation: &'static Explanation,
    /// Detects it in a finished run.
    pub(crate) find: Find,
    /// Detects it in a plan; `None`: only a run shows it.
    pub(crate) preflight: Option<Find>,
}

const fn seen(explanation: &'static Explanation, find: Find) -> Trap {
    Trap { explanation, find, preflight: None }
}

const fn with_preflight(explanation: &'static Explanation, find: Find, preflight: Find) -> Trap {
    Trap { explanation, find, preflight: Some(preflight) }
}

/// All traps of single nodes.
pub(crate) fn all() -> impl Iterator<Item = &'static Trap> {
    ALL.iter().chain(OF_OBJECTS)
}

#[cfg(feature = "object")]
const OF_OBJECTS: &[Trap] = objects::ALL;
#[cfg(not(feature = "object"))]
const OF_OBJECTS: &[Trap] = &[];

#[cfg(feature = "object")]
const OF_PHASES: &[&Explanation] = objects::OF_PHASES;
#[cfg(not(feature = "object"))]
const OF_PHASES: &[&Explanation] = &[];

/// The traps of files, by number.
const ALL: &[Trap] = &[
    seen(&unwritten_data::EXPLANATION, unwritten_data::find),
    seen(&page_cache::EXPLANATION, page_cache::find),
    with_preflight(&depth_not_reached::EXPLANATION, depth_not_reached::find, depth_not_reached::preflight),
    seen(&writes_in_memory::EXPLANATION, writes_in_memory::find),
    seen(&direct_not_honoured::EXPLANATION, direct_not_honoured::find),
    seen(&fuse_cache::EXPLANATION, fuse_cache::find),
    seen(&above_link_speed::EXPLANATION, above_link_speed::find),
    seen(&nfs_data_cache::EXPLANATION, nfs_data_cache::find),
    seen(&attribute_cache::EXPLANATION, attribute_cache::find),
    with_preflight(&fits_in_memory::EXPLANATION, fits_in_memory::find, fits_in_memory::preflight),
    seen(&host_cache::EXPLANATION, host_cache::find),
    seen(&thin_blocks::EXPLANATION, thin_blocks::find),
    seen(&lazy_blocks::EXPLANATION, lazy_blocks::find),
    seen(&burst::EXPLANATION, burst::find),
    seen(&drift::EXPLANATION, drift::find),
    with_preflight(&compressible_data::EXPLANATION, compressible_data::find, compressible_data::preflight),
    with_preflight(&shared_file::EXPLANATION, shared_file::find, shared_file::preflight),
    with_preflight(&jobs_overlap::EXPLANATION, jobs_overlap::find, jobs_overlap::preflight),
    seen(&generator_bound::EXPLANATION, generator_bound::find),
    seen(&cpu_starved::EXPLANATION, cpu_starved::find),
    seen(&clock::EXPLANATION, clock::find),
    seen(&power_saving::EXPLANATION, power_saving::find),
    seen(&throttled::EXPLANATION, throttled::find),
    seen(&too_short::EXPLANATION, too_short::find),
    seen(&too_noisy::EXPLANATION, too_noisy::find),
    seen(&foreign_load::EXPLANATION, foreign_load::find),
    seen(&request_size::EXPLANATION, request_size::find),
    with_preflight(&latency_off::EXPLANATION, latency_off::find, latency_off::find),
    seen(&directory_lost::EXPLANATION, directory_lost::find),
    seen(&sync_ignored::EXPLANATION, sync_ignored::find),
    seen(&not_visible::EXPLANATION, not_visible::find),
    seen(&stalled::EXPLANATION, stalled::find),
    with_preflight(&memory_storage::EXPLANATION, memory_storage::find, memory_storage::find),
    seen(&run_failed::EXPLANATION, run_failed::find),
    seen(&sync_not_flushed::EXPLANATION, sync_not_flushed::find),
    seen(&memory_limit::EXPLANATION, memory_limit::find),
    seen(&server_durability::EXPLANATION, server_durability::find),
    seen(&replay_late::EXPLANATION, replay_late::find),
    seen(&shared_extents::EXPLANATION, shared_extents::find),
];

/// A trap that only the comparison of nodes shows.
pub(crate) struct TrapBetweenNodes {
    pub(crate) explanation: &'static Explanation,
    pub(crate) find: fn(&RunRecord) -> Vec<Finding>,
}

const fn between(explanation: &'static Explanation, find: fn(&RunRecord) -> Vec<Finding>) -> TrapBetweenNodes {
    TrapBetweenNodes { explanation, find }
}

/// The traps of runs on several nodes, by number.
pub(crate) const BETWEEN_NODES: &[TrapBetweenNodes] = &[
    between(&ranks_missing::EXPLANATION, ranks_missing::find),
    between(&ranks_apart::EXPLANATION, ranks_apart::find),
    between(&slow_node::EXPLANATION, slow_node::find),
    between(&client_cache::EXPLANATION, client_cache::find),
    between(&node_limit::EXPLANATION, node_limit::find),
    between(&mounts_differ::EXPLANATION, mounts_differ::find),
    between(&clocks_drift::EXPLANATION, clocks_drift::find),
    between(&same_offsets::EXPLANATION, same_offsets::find),
];

/// The traps of timed commands, by number.
const OF_COMMANDS: &[&Explanation] =
    &[&left_running::EXPLANATION, &work_differs::EXPLANATION, &wrote_elsewhere::EXPLANATION];

/// All explanations, by trap number.
pub fn catalogue() -> impl Iterator<Item = &'static Explanation> {
    let of_runs = all().map(|trap| trap.explanation).chain(BETWEEN_NODES.iter().map(|trap| trap.explanation));
    of_runs.chain(OF_COMMANDS.iter().chain(OF_PHASES).copied())
}

/// The explanation of a finding's id (`page-cache`) or of a trap's number (`T2`), in any letter case.
pub fn explanation(name: &str) -> Option<&'static Explanation> {
    catalogue()
        .find(|explanation| explanation.id.eq_ignore_ascii_case(name) || explanation.trap.eq_ignore_ascii_case(name))
}
