//! Compares what the nodes of a run did.

use fsdyno_results::{Direction, JobRecord, RunRecord};
use fsdyno_stats::median;
use fsdyno_stats::sort;

/// The rate of a job on one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeRate {
    /// Index of the node in the record.
    pub(crate) node: usize,
    /// I/Os, or operations on names, per second.
    pub(crate) iops: f64,
    ios: u64,
}

/// A job that ran on several nodes.
pub(crate) struct JobOnNodes<'r> {
    pub(crate) first: &'r JobRecord,
    pub(crate) nodes: Vec<NodeRate>,
}

/// Least number of I/Os of a node that can count as fast. A slow node may have few I/Os, as it is slow.
const IOS_MIN: u64 = 64;
/// A node's rate is reliable only after this time, ms.
const RUNTIME_MS_MIN: u64 = 200;

/// The jobs that ran on several nodes, with the rate of each node that ran long enough.
pub(crate) fn jobs_on_nodes(record: &RunRecord) -> Vec<JobOnNodes<'_>> {
    let mut workers: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.error.is_none()).collect();
    sort::by(&mut workers, |one, other| key(one).cmp(&key(other)).then(one.node.cmp(&other.node)));
    let of_job = workers.chunk_by(|one, other| key(one) == key(other));
    let everywhere = of_job.map(|workers| {
        let of_node = workers.chunk_by(|one, other| one.node == other.node);
        JobOnNodes { first: workers[0], nodes: of_node.filter_map(done).collect() }
    });
    everywhere.filter(|job| job.nodes.len() > 1).collect()
}

impl<'r> JobOnNodes<'r> {
    /// The same for a phase: operations and time of each node over all passes, ms. `first`: one of its records.
    pub(crate) fn of_phase(first: &'r JobRecord, all: &[(u64, u64)]) -> JobOnNodes<'r> {
        let done = |(node, (ios, runtime_ms)): (usize, &(u64, u64))| {
            (*runtime_ms >= RUNTIME_MS_MIN).then(|| NodeRate::new(node, *ios, *runtime_ms))
        };
        JobOnNodes { first, nodes: all.iter().enumerate().filter_map(done).collect() }
    }
}

/// Whether both are workers of the same job, on the same node or on two.
pub(crate) fn is_same_job(one: &JobRecord, other: &JobRecord) -> bool {
    key(one) == key(other)
}

fn key(job: &JobRecord) -> (u32, &str) {
    (job.plan.stage, &job.name)
}

fn done(workers: &[&JobRecord]) -> Option<NodeRate> {
    let moved = || workers.iter().flat_map(|worker| worker.directions.iter().map(|(_, moved)| moved));
    let completed = |worker: &&JobRecord| Direction::ALL.map(|direction| worker.completed_ios(direction));
    let ios = workers.iter().flat_map(completed).fold(0, u64::saturating_add);
    let runtime_ms = moved().map(|moved| moved.runtime_ms).max().filter(|_| ios > 0);
    // A job without any I/O has no runtime of a direction.
    let runtime_ms = runtime_ms.or_else(|| workers.iter().map(|worker| worker.job_runtime_ms).max())?;
    let long = runtime_ms >= RUNTIME_MS_MIN;
    long.then(|| NodeRate::new(workers[0].node, ios, runtime_ms))
}

impl NodeRate {
    fn new(node: usize, ios: u64, runtime_ms: u64) -> NodeRate {
        NodeRate { node, iops: ios as f64 * 1e3 / runtime_ms as f64, ios }
    }

    /// Whether the rate is below this one by more than chance, which depends on the number of I/Os.
    pub(crate) fn is_below(&self, iops: f64) -> bool {
        let ios = self.ios as f64;
        let by_chance = if self.ios == 0 { 0.0 } else { DEVIATIONS * (ios + 1.0).sqrt() / ios };
        self.iops * (1.0 + by_chance) < iops
    }
}

/// A value further from the median than this number of deviations is not chance.
const DEVIATIONS: f64 = 3.0;

/// Factor that turns a median absolute deviation into a standard deviation, for normally distributed values.
const SCALE: f64 = 1.4826;

impl JobOnNodes<'_> {
    /// Without the nodes that did few I/Os; `None`: the job is paced, so that no node can be faster than its pace.
    pub(crate) fn at_full_speed(mut self) -> Option<Self> {
        self.nodes.retain(|done| done.ios >= IOS_MIN);
        (!self.first.plan.paced).then_some(self)
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.rates()).unwrap_or(0.0)
    }

    fn rates(&self) -> Vec<f64> {
        self.nodes.iter().map(|done| done.iops).collect()
    }

    /// The distance from the median up to which a rate is usual; `None`: two nodes are too few to tell.
    pub(crate) fn usual_distance(&self) -> Option<f64> {
        let middle = self.median();
        let distances: Vec<f64> = self.nodes.iter().map(|done| (done.iops - middle).abs()).collect();
        (self.nodes.len() > 2).then(|| median(&distances).unwrap_or(0.0) * SCALE * DEVIATIONS)
    }
}
