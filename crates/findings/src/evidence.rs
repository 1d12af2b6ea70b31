//! The record as the traps look at it: stages with their rows, and what flowed through each layer meanwhile.

mod flow;
mod row;

use std::collections::BTreeSet;

use results::evidence::{FileEvidence, Ledger, Storage, StorageClass};
use results::{JobRecord, RunRecord};

pub(crate) use flow::Flow;
pub(crate) use row::{Row, diskless};

/// Index of reads in pairs.
pub(crate) const READ: usize = 0;
/// Index of writes in pairs.
pub(crate) const WRITE: usize = 1;

/// A record, arranged.
pub(crate) struct Evidence<'r> {
    pub(crate) record: &'r RunRecord,
    pub(crate) stages: Vec<Stage<'r>>,
}

/// Rows that ran at the same time.
pub(crate) struct Stage<'r> {
    pub(crate) rows: Vec<Row<'r>>,
    /// What flowed through the layers; `None`: nobody looked, or part of it belongs to no storage (simulated jobs).
    pub(crate) flow: Option<Flow<'r>>,
}

impl<'r> Evidence<'r> {
    pub(crate) fn of(record: &'r RunRecord) -> Evidence<'r> {
        let numbers: BTreeSet<u32> = record.jobs.iter().map(|job| job.plan.stage).collect();
        let stages = numbers.into_iter().map(|number| Stage::of(record, number)).collect();
        Evidence { record, stages }
    }

    /// Each row with its stage.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Stage<'r>, &Row<'r>)> {
        self.stages.iter().flat_map(|stage| stage.rows.iter().map(move |row| (stage, row)))
    }

    /// Each row with its stage, where the layers are visible and enough was done to judge.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Stage<'r>, &Row<'r>, &Flow<'r>)> {
        self.rows()
            .filter(|(_, row)| row.judgeable())
            .filter_map(|(stage, row)| Some((stage, row, stage.flow.as_ref()?)))
    }

    /// As [`Evidence::flows`], however short: bytes counted on both sides compare without any time.
    pub(crate) fn byte_flows(&self) -> impl Iterator<Item = (&Stage<'r>, &Row<'r>, &Flow<'r>)> {
        self.rows()
            .filter(|(_, row)| row.workers.iter().all(|worker| worker.error.is_none()))
            .filter_map(|(stage, row)| Some((stage, row, stage.flow.as_ref()?)))
    }

    pub(crate) fn ledger(&self) -> Option<&'r Ledger> {
        self.record.ledger.as_ref()
    }

    /// Memory that a page cache can have: of the machine, or of the control group where that is less.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let machine = self.record.host.memory_bytes;
        let group = self.ledger().and_then(|ledger| ledger.machine.cgroup_memory_bytes.value().copied().flatten());
        let of_storages =
            self.record.storages.iter().filter_map(|storage| storage.cgroup.memory_bytes.value().copied().flatten());
        machine.into_iter().chain(group).chain(of_storages).min()
    }

    /// What is known about the row's files.
    pub(crate) fn files(&self, row: &Row<'_>) -> impl Iterator<Item = &'r FileEvidence> {
        let paths: BTreeSet<&str> =
            row.workers.iter().flat_map(|worker| worker.plan.files.iter().map(String::as_str)).collect();
        self.ledger()
            .map(|ledger| &ledger.files[..])
            .unwrap_or_default()
            .iter()
            .filter(move |file| paths.contains(file.path.as_str()))
    }
}

impl<'r> Stage<'r> {
    fn of(record: &'r RunRecord, number: u32) -> Stage<'r> {
        let workers: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.plan.stage == number).collect();
        let simulated = workers.iter().any(|worker| diskless(worker));
        let mut rows: Vec<Row<'r>> = Vec::new();
        for worker in workers.into_iter().filter(|worker| !diskless(worker)) {
            match rows.iter_mut().find(|row| row.name == worker.name) {
                Some(row) => row.workers.push(worker),
                None => rows.push(Row::new(record, worker)),
            }
        }
        let flow =
            if simulated { None } else { record.ledger.as_ref().and_then(|ledger| Flow::of(ledger, number, &rows)) };
        Stage { rows, flow }
    }

    /// What to add to a sentence whose figures are those of several rows.
    pub(crate) fn together(&self) -> String {
        match &self.rows[..] {
            [_] | [] => String::new(),
            rows => {
                let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
                format!(" (figures of {} together, which ran at the same time)", names.join(", "))
            }
        }
    }

    /// Reads that come from another source than the workload (verification) are among the application's.
    pub(crate) fn reads_are_the_workload(&self) -> bool {
        self.rows.iter().all(|row| row.reads() || row.done(READ).bytes == 0)
    }

    /// The class of storage that all rows are on; `None`: several.
    pub(crate) fn class(&self) -> Option<StorageClass> {
        let class = self.rows.first()?.class();
        self.rows.iter().all(|row| row.class() == class).then_some(class)
    }
}

/// Whether `path` lies in the folder `mount`.
fn lies_below(path: &str, mount: &str) -> bool {
    let mount = mount.trim_end_matches('/');
    path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The storage that a path is on: the longest mount point above it.
fn storage_of<'r>(record: &'r RunRecord, path: &str) -> Option<&'r Storage> {
    let mounted_at = |storage: &&'r Storage| storage.mount.value().map(|mount| mount.mount_point.as_str());
    let above = |storage: &&'r Storage| {
        storage.asked_path == path || mounted_at(storage).is_some_and(|mount| lies_below(path, mount))
    };
    let closeness = |storage: &&'r Storage| (storage.asked_path == path, mounted_at(storage).map_or(0, str::len));
    let found = record.storages.iter().filter(above).max_by_key(closeness);
    match (found, &record.storages[..]) {
        (None, [only]) => Some(only),
        (found, _) => found,
    }
}
