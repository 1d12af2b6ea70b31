//! What is known of a run before it: the storages its files are on, and a record of what the plan says.

use results::evidence::Storage;
use results::{Host, RunRecord};

use crate::account::blank_record;
use crate::ledger::places;
use crate::plan::Plan;

/// The storages that the plan's files are on, one per mount or device. Servers are connected to, so that this may take
/// some seconds where one does not answer; no file is opened.
pub fn storages(plan: &Plan) -> Vec<Storage> {
    let mut known = Vec::new();
    let mut storages = Vec::new();
    for place in places(plan) {
        let is_device = probe::path_facts(&place).kind == probe::FileKind::BlockDevice;
        let mount = probe::mount_of(&place).ok().filter(|_| !is_device).map(|mount| mount.mount_point);
        let identity = mount.unwrap_or_else(|| place.clone());
        if !known.contains(&identity) {
            storages.push(probe::storage_of(&place));
            known.push(identity);
        }
    }
    storages
}

/// The record as it is before the first I/O: plans, and nothing done.
pub fn preflight(plan: &Plan, host: Host, storages: Vec<Storage>) -> RunRecord {
    let mut record = RunRecord::new("", 0);
    record.host = host;
    record.jobs = plan.workers.iter().map(blank_record).collect();
    record.notes.clone_from(&plan.notes);
    record.storages = storages;
    record
}
