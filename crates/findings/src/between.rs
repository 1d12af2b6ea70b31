//! What the nodes of a run did, beside each other.

use results::statistics::median;
use results::{JobRecord, RunRecord, sort};

/// What a job did on one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Done {
    /// Index into the record's nodes.
    pub(crate) node: usize,
    /// I/Os per second.
    pub(crate) iops: f64,
}

/// A job that ran on several nodes.
pub(crate) struct Everywhere<'r> {
    pub(crate) first: &'r JobRecord,
    pub(crate) nodes: Vec<Done>,
}

/// Fewer I/Os of a node, or less time, tell nothing of its rate.
const IOS_MIN: u64 = 64;
/// See `IOS_MIN`.
const RUNTIME_MS_MIN: u64 = 200;

/// The jobs that ran on several nodes, each with the rate of every node that did enough; jobs with a rate limit set their
/// own pace and are left out.
pub(crate) fn jobs_everywhere(record: &RunRecord) -> Vec<Everywhere<'_>> {
    let mut workers: Vec<&JobRecord> =
        record.jobs.iter().filter(|job| !job.plan.paced && job.error.is_none()).collect();
    sort::by(&mut workers, |one, other| key(one).cmp(&key(other)).then(one.node.cmp(&other.node)));
    let of_job = workers.chunk_by(|one, other| key(one) == key(other));
    let everywhere = of_job.map(|workers| {
        let of_node = workers.chunk_by(|one, other| one.node == other.node);
        Everywhere { first: workers[0], nodes: of_node.filter_map(done).collect() }
    });
    everywhere.filter(|job| job.nodes.len() > 1).collect()
}

fn key(job: &JobRecord) -> (u32, &str) {
    (job.plan.stage, &job.name)
}

fn done(workers: &[&JobRecord]) -> Option<Done> {
    let moved = || workers.iter().flat_map(|worker| worker.directions.iter().map(|(_, moved)| moved));
    let ios = moved().fold(0u64, |sum, moved| sum.saturating_add(moved.ios));
    let runtime_ms = moved().map(|moved| moved.runtime_ms).max()?;
    let enough = ios >= IOS_MIN && runtime_ms >= RUNTIME_MS_MIN;
    enough.then(|| Done { node: workers[0].node, iops: ios as f64 * 1e3 / runtime_ms as f64 })
}

/// So many deviations from the median are no chance.
const DEVIATIONS: f64 = 3.0;

/// The median deviation of a normal distribution, made comparable with its standard deviation.
const SCALE: f64 = 1.4826;

impl Everywhere<'_> {
    pub(crate) fn median(&self) -> f64 {
        median(&self.rates()).unwrap_or(0.0)
    }

    fn rates(&self) -> Vec<f64> {
        self.nodes.iter().map(|done| done.iops).collect()
    }

    /// How far from the median a rate is usual; `None`: two nodes do not show what is usual.
    pub(crate) fn usual_distance(&self) -> Option<f64> {
        let middle = self.median();
        let distances: Vec<f64> = self.nodes.iter().map(|done| (done.iops - middle).abs()).collect();
        (self.nodes.len() > 2).then(|| median(&distances).unwrap_or(0.0) * SCALE * DEVIATIONS)
    }
}
