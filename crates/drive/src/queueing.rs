//! Iodepth and batches as the engine really uses them.

/// The effective values of iodepth and batches.
#[derive(Clone, Copy, Debug)]
pub struct Queueing {
    /// Largest number of requests in flight.
    pub depth: usize,
    /// Number of staged requests at which they are submitted.
    pub batch: usize,
    /// Least number of completions that a call waits for.
    pub reap_min: usize,
    /// Largest number of completions that a call takes.
    pub reap_max: usize,
    /// Number in flight at which new requests are submitted again.
    pub depth_low: usize,
}

impl Queueing {
    /// One request at a time.
    pub const ONE: Queueing = Queueing { depth: 1, batch: 1, reap_min: 1, reap_max: 1, depth_low: 1 };

    /// Whether the engine submits and waits in one call, which it does where batches were asked for. A single request
    /// is submitted by a call of its own, whose end is the time of issue.
    pub(crate) fn joins<E: fsdyno_engine::Engine>(self, engine: &E) -> bool {
        self.batch > 1 && engine.joins()
    }
}
