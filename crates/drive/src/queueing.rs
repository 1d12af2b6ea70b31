//! Depth and batches as the engine will really use them.

/// How requests are queued, in the engine's effective terms.
#[derive(Clone, Copy, Debug)]
pub struct Queueing {
    /// In flight at most.
    pub depth: usize,
    /// Number of staged requests at which they are submitted.
    pub batch: usize,
    /// Least number of completions that a call waits for.
    pub reap_min: usize,
    /// Largest number of completions that a call takes.
    pub reap_max: usize,
    /// Refill only after falling to this.
    pub depth_low: usize,
}

impl Queueing {
    /// Whether the engine hands over and waits in one call: where batches were asked for. One request at a time is handed
    /// over by a call of its own, whose end is when it was issued.
    pub(crate) fn joins<E: fsdyno_engine::Engine>(self, engine: &E) -> bool {
        self.batch > 1 && engine.joins()
    }
}
