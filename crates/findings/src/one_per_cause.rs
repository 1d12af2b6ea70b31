//! Keeps one finding per cause: a finding that a more exact one explains is dropped.

use fsdyno_results::{Finding, Severity};
use fsdyno_stats::sort;

use crate::traps::*;

/// A finding, and the more exact findings that replace it if they are on the same row with at least its severity.
const EXPLAINED_BY: &[(&str, &[&str])] = &[
    (page_cache::ID, &[unwritten_data::ID, shared_file::ID, compressible_data::ID]),
    (direct_not_honoured::ID, &[unwritten_data::ID, compressible_data::ID]),
    (
        fits_in_memory::ID,
        &[
            page_cache::ID,
            writes_in_memory::ID,
            fuse_cache::ID,
            nfs_data_cache::ID,
            shared_file::ID,
            unwritten_data::ID,
        ],
    ),
    (writes_in_memory::ID, &[fuse_cache::ID, compressible_data::ID, sync_ignored::ID]),
    (sync_ignored::ID, &[compressible_data::ID]),
    (
        not_visible::ID,
        &[
            page_cache::ID,
            writes_in_memory::ID,
            fuse_cache::ID,
            nfs_data_cache::ID,
            unwritten_data::ID,
            above_link_speed::ID,
            memory_storage::ID,
            host_cache::ID,
        ],
    ),
    (too_noisy::ID, &[stalled::ID, burst::ID, drift::ID, too_short::ID, host_cache::ID, lazy_blocks::ID]),
    (drift::ID, &[burst::ID, host_cache::ID, lazy_blocks::ID]),
    (burst::ID, &[host_cache::ID, lazy_blocks::ID]),
    (generator_bound::ID, &[page_cache::ID, unwritten_data::ID, nfs_data_cache::ID, fuse_cache::ID]),
    (cpu_starved::ID, &[page_cache::ID, unwritten_data::ID]),
    #[cfg(feature = "object")]
    (objects::first_byte_only::ID, &[objects::delayed_ack::ID]),
];

/// The findings without duplicates and without those that others explain; the worst first, otherwise in their order.
pub(crate) fn for_each_cause(found: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in &found {
        let same = |other: &Finding| other.id == finding.id && other.job == finding.job;
        let worse = |other: &Finding| same(other) && other.severity > finding.severity;
        if !explained(finding, &found) && !found.iter().any(worse) && !kept.iter().any(same) {
            kept.push(finding.clone());
        }
    }
    sort::by_key(&mut kept, |finding| std::cmp::Reverse(finding.severity));
    kept
}

fn explained(finding: &Finding, all: &[Finding]) -> bool {
    let Some((_, better)) = EXPLAINED_BY.iter().find(|(id, _)| *id == finding.id) else { return false };
    all.iter().any(|other| {
        better.contains(&other.id.as_str())
            && other.job == finding.job
            && other.severity >= finding.severity
            && other.severity > Severity::Info
    })
}
