//! What a case is: how it is measured, and the bounds of its figures.

/// A bound for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// Our value is at most this.
    AtMost(f64),
    /// We are this many times better than fio.
    Times(f64),
    /// There is no bound.
    Free,
}

/// The bound that must be reached, and the one that is aimed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) must: Bound,
    pub(super) aim: Bound,
}

pub(super) const fn at_most(must: f64, aim: f64) -> Target {
    Target { must: Bound::AtMost(must), aim: Bound::AtMost(aim) }
}

pub(super) const fn times(must: f64, aim: f64) -> Target {
    Target { must: Bound::Times(must), aim: Bound::Times(aim) }
}

/// A share of values, percent, and what it may be at most.
pub(super) type Quantile = (f64, Target);

/// No bounds.
pub(super) const FREE: Target = Target { must: Bound::Free, aim: Bound::Free };

/// The data that a job reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// None: the null engine.
    Nothing,
    /// A file in the page cache.
    Cached,
    /// The same file with O_DIRECT.
    Direct,
    /// Objects of a server in this process, by the engine http.
    Server,
}

/// How a case is measured.
#[derive(Debug)]
pub(super) enum Kind {
    /// Instructions per I/O by callgrind, as the slope between two numbers of I/Os.
    Instructions { words: &'static str, target: Target, recorded_fio: f64 },
    /// The same for each request to a server of objects.
    HttpInstructions { words: &'static str, target: Target },
    /// Instructions per I/O of a job that reads the cached file with these words, times those of the job without `more`.
    Option { words: &'static str, more: &'static str, target: Target },
    /// Heap blocks per I/O by dhat, as a slope.
    Allocations { words: &'static str, target: Target },
    /// System calls per I/O by strace, as a slope.
    SystemCalls { source: Source, words: &'static str, target: Target },
    /// Alternating pairs of timed runs: CPU per I/O, its user side, IOPS.
    Job { source: Source, words: &'static str, cpu: Target, user: Target, iops: Target },
    /// CPU time per I/O of io_uring or http, compared with a bare loop over a ring or a connection.
    Floor { source: Source, target: Target },
    /// CPU time per file of a job that makes, examines or removes files.
    Files { words: &'static str, target: Target },
    /// CPU time per operation of the phases of `smallfiles`, compared with bare system calls.
    Phases { target: Target },
    /// IOPS and CPU time per I/O of two jobs on two CPUs, compared with those of one job.
    TwoJobs { source: Source, words: &'static str, target: Target },
    /// Gaps between the starts of requests that wait.
    Gaps { words: &'static str, quantiles: &'static [Quantile] },
    /// Wall time of a run with one I/O, ms.
    Start,
    /// Wall time of sixteen jobs beyond their runtime, ms.
    SixteenJobs,
    /// Peak memory, MiB.
    Memory { words: &'static str, target: Target },
    /// Many jobs at once: wall time, s, and peak memory, MiB.
    ManyJobs { jobs: u32, wall: Target, memory: Target, recorded_fio: &'static str },
    /// Wall time of laying out a file, s.
    Layout,
    /// Instructions per I/O of many options at several iodepths.
    Depths,
    /// Wall time of a command by `fsdyno time`, compared with fork, exec and wait, ms.
    Command,
}

impl Kind {
    /// Whether other programs on the machine do not change the result.
    pub(super) fn is_deterministic(&self) -> bool {
        matches!(
            self,
            Kind::Instructions { .. }
                | Kind::HttpInstructions { .. }
                | Kind::Option { .. }
                | Kind::Depths
                | Kind::Allocations { .. }
                | Kind::SystemCalls { .. }
                | Kind::Memory { .. }
        )
    }
}

/// One case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: Kind,
}
