//! Prepares a record for the traps: stages with their rows, and the traffic of each layer during each stage.

mod flow;
mod moved;
mod row;

use std::collections::BTreeSet;

use fsdyno_results::evidence::{FileEvidence, Ledger, StorageClass};
use fsdyno_results::{JobRecord, Node, RunRecord};

pub(crate) use fsdyno_results::Transfer;

pub(crate) use flow::{Flow, connected};
pub(crate) use moved::Moved;
use row::{moves_data, works_on_names};

pub(crate) use row::{DirectionTotals, FilesOn, FuseBackend, JobInStage, touches_nothing};

/// Least number of bytes that says anything about a cache: readahead and filesystem metadata move as many.
pub(crate) const BYTES_MIN: u64 = 256 << 10;

/// What one node has recorded.
pub(crate) struct Evidence<'r> {
    pub(crate) record: &'r RunRecord,
    pub(crate) node: &'r Node,
    /// Stages with the jobs that move data.
    pub(crate) stages: Vec<Stage<'r>>,
    /// Stages with the jobs whose requests are operations on names or on the space of files: their bytes cannot be
    /// compared.
    on_names: Vec<Stage<'r>>,
}

/// Rows that ran at the same time: either those on a storage or those in memory. The two kinds move no bytes in each
/// other's layers.
pub(crate) struct Stage<'r> {
    pub(crate) rows: Vec<JobInStage<'r>>,
    /// All workers of that time, including simulated jobs and those in memory.
    pub(crate) workers: Vec<&'r JobRecord>,
    /// The traffic of the layers; `None`: there is no ledger.
    pub(crate) flow: Option<Flow<'r>>,
}

impl<'r> Evidence<'r> {
    /// The evidence of each node: its jobs are judged by its own ledger.
    pub(crate) fn of(record: &'r RunRecord) -> impl Iterator<Item = Evidence<'r>> {
        let mut of_nodes: Vec<Vec<&JobRecord>> = vec![Vec::new(); record.nodes.len()];
        for job in &record.jobs {
            of_nodes.get_mut(job.node).into_iter().for_each(|jobs| jobs.push(job));
        }
        record.nodes.iter().zip(of_nodes).map(|(node, jobs)| {
            let mut numbers = BTreeSet::new();
            numbers.extend(jobs.iter().map(|job| job.plan.stage));
            let of = |wanted: fn(&JobRecord) -> bool| {
                numbers.iter().flat_map(|number| Stage::of(node, &jobs, *number, wanted)).collect()
            };
            Evidence { record, node, stages: of(moves_data), on_names: of(works_on_names) }
        })
    }

    /// The evidence of the node on which the first job ran.
    pub(crate) fn of_first_job(record: &'r RunRecord) -> Option<Evidence<'r>> {
        Evidence::of(record).nth(record.jobs.first()?.node)
    }

    /// Whether a note or finding on this node (`None`: on all nodes) concerns it.
    pub(crate) fn concerns(&self, node: Option<&str>) -> bool {
        node.is_none_or(|name| name == self.node.name)
    }

    /// Each row with its stage, including operations on names.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = (&Stage<'r>, &JobInStage<'r>)> {
        let stages = self.stages.iter().chain(&self.on_names);
        stages.flat_map(|stage| stage.rows.iter().map(move |row| (stage, row)))
    }

    /// Like [`Evidence::flows`], for [`Evidence::all_rows`].
    pub(crate) fn all_flows(&self) -> impl Iterator<Item = (&Stage<'r>, &JobInStage<'r>, &Flow<'r>)> {
        self.all_rows()
            .filter(|(_, row)| row.judgeable())
            .filter_map(|(stage, row)| Some((stage, row, stage.flow.as_ref()?)))
    }

    /// Each row that moves data, with its stage.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Stage<'r>, &JobInStage<'r>)> {
        self.stages.iter().flat_map(|stage| stage.rows.iter().map(move |row| (stage, row)))
    }

    /// Each row with its stage, where the layers are visible and the row did enough to be judged.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (&Stage<'r>, &JobInStage<'r>, &Flow<'r>)> {
        self.rows()
            .filter(|(_, row)| row.judgeable())
            .filter_map(|(stage, row)| Some((stage, row, stage.flow.as_ref()?)))
    }

    /// Like [`Evidence::flows`], but also for short rows: a comparison of byte counters needs no minimal time.
    pub(crate) fn byte_flows(&self) -> impl Iterator<Item = (&Stage<'r>, &JobInStage<'r>, &Flow<'r>)> {
        self.rows()
            .filter(|(_, row)| row.workers.iter().all(|worker| worker.error.is_none()))
            .filter_map(|(stage, row)| Some((stage, row, stage.flow.as_ref()?)))
    }

    pub(crate) fn ledger(&self) -> Option<&'r Ledger> {
        self.node.ledger.as_ref()
    }

    /// The memory available to the page cache: of the machine, or of the control group where that is less.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.node.host.memory_bytes.into_iter().chain(self.cgroup_memory_bytes()).min()
    }

    /// The lowest memory limit of the control groups.
    pub(crate) fn cgroup_memory_bytes(&self) -> Option<u64> {
        let group = self.ledger().and_then(|ledger| ledger.machine.cgroup_memory_bytes.value().copied().flatten());
        let of_storages =
            self.node.storages.iter().filter_map(|storage| storage.cgroup.memory_bytes.value().copied().flatten());
        group.into_iter().chain(of_storages).min()
    }

    /// What is known about the row's files.
    pub(crate) fn files(&self, row: &JobInStage<'_>) -> impl Iterator<Item = &'r FileEvidence> {
        let mut paths = BTreeSet::new();
        paths.extend(row.workers.iter().flat_map(|worker| worker.plan.files.iter().map(String::as_str)));
        self.ledger()
            .map(|ledger| &ledger.files[..])
            .unwrap_or_default()
            .iter()
            .filter(move |file| paths.contains(file.path.as_str()))
    }
}

impl<'r> Stage<'r> {
    fn of(node: &'r Node, jobs: &[&'r JobRecord], number: u32, wanted: fn(&JobRecord) -> bool) -> Vec<Stage<'r>> {
        let workers: Vec<&JobRecord> = jobs.iter().copied().filter(|job| job.plan.stage == number).collect();
        let mut rows: Vec<JobInStage<'r>> = Vec::new();
        for worker in workers.iter().copied().filter(|worker| wanted(worker)) {
            match rows.iter_mut().find(|row| row.name == worker.name) {
                Some(row) => row.add(worker),
                None => rows.push(JobInStage::new(node, worker)),
            }
        }
        let in_memory = |row: &JobInStage<'_>| row.class() == StorageClass::Memory;
        let first_in_memory = rows.first().is_some_and(in_memory);
        let (like_the_first, others): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| in_memory(row) == first_in_memory);
        let groups = [like_the_first, others].into_iter().filter(|rows| !rows.is_empty());
        groups.map(|rows| Stage::with(node, number, rows, workers.clone())).collect()
    }

    fn with(node: &'r Node, number: u32, rows: Vec<JobInStage<'r>>, workers: Vec<&'r JobRecord>) -> Stage<'r> {
        let alone = rows.iter().map(|row| row.workers.len()).sum::<usize>() == workers.len();
        let flow = node.ledger.as_ref().and_then(|ledger| Flow::of(ledger, number, &rows));
        // The ledger counts all jobs that ran, so the bytes of some rows are counted by the rows.
        let flow = flow.map(|flow| if alone { flow } else { flow.of_rows(&rows) }.with_storage(node, &rows));
        Stage { rows, workers, flow }
    }

    /// Bytes per second of the rows, in the measured time.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.rows.iter().map(JobInStage::bytes_per_s).sum()
    }

    /// The addition to a sentence whose figures are those of several rows together.
    pub(crate) fn shared_figures_note(&self) -> String {
        match &self.rows[..] {
            [_] | [] => String::new(),
            rows => {
                let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
                format!(" (figures of {} together, because they ran at the same time)", names.join(", "))
            }
        }
    }

    /// Whether all of the application's reads belong to the workload; verification also reads.
    pub(crate) fn reads_are_the_workload(&self) -> bool {
        self.rows.iter().all(|row| row.reads() || row.done(Transfer::Read).bytes == 0)
    }

    /// The storage class of all files of all rows; `None`: there are several.
    pub(crate) fn class(&self) -> Option<StorageClass> {
        let class = self.rows.first()?.class();
        self.rows.iter().all(|row| row.class() == class && !row.is_mixed()).then_some(class)
    }
}
