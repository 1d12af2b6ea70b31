//! Recorded I/O: which logs a job replays and how, and where its own I/O is recorded.

/// Recorded I/O of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// `write_iolog`: the file that the job's I/O is recorded in.
    pub record: Option<String>,
    /// `read_iolog`: the logs that are replayed, split at colons; clones take them in turn. Empty: nothing is replayed.
    pub replay: Vec<String>,
    /// How they are replayed.
    pub options: ReplayOptions,
    /// `merge_blktrace_file` and its companions.
    pub merge: Option<MergedTrace>,
    /// `iodepth` was written: a trace does not say how many requests are in flight.
    pub depth_given: bool,
}

/// How a log is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// `replay_no_stall`: as fast as possible, without the recorded pauses.
    pub no_stall: bool,
    /// `replay_time_scale`, percent: 200 is twice as fast.
    pub time_percent: u32,
    /// `replay_scale`: offsets are divided by this (1 and up).
    pub offset_divisor: u64,
    /// `replay_align`: offsets are rounded down to a multiple of this (a power of two); 0: they stay.
    pub align: u64,
    /// `replay_redirect`: the one file that all I/O goes to.
    pub redirect: Option<String>,
    /// `replay_skip`: reads, writes, trims, syncs that are left out.
    pub skip: [bool; 4],
}

/// Several traces as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedTrace {
    /// `merge_blktrace_file`: what is written, and then replayed.
    pub file: String,
    /// `merge_blktrace_scalars`, percent: one for each trace, or none.
    pub scalars: Vec<f64>,
    /// `merge_blktrace_iters`: one for each trace, or none.
    pub iterations: Vec<f64>,
}

impl Traces {
    /// Whether requests have intended starts.
    pub fn keeps_time(&self) -> bool {
        !self.replay.is_empty() && !self.options.no_stall
    }
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            no_stall: false,
            time_percent: 100,
            offset_divisor: 1,
            align: 0,
            redirect: None,
            skip: [false; 4],
        }
    }
}
