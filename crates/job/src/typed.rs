//! A job with its values parsed, its defaults filled in and its units named. No system call has been made: whether a
//! path exists, or a device supports direct I/O, is decided later.

mod content;
mod engine;
mod files;
mod object;
mod pattern;
mod reporting;
mod schedule;
mod shared;
mod submission;
mod traces;

pub use content::*;
pub use engine::*;
pub use files::*;
pub use object::*;
pub use pattern::*;
pub use reporting::*;
pub use schedule::*;
pub use shared::Shared;
pub use submission::*;
pub use traces::*;

/// One job section (or one `--name`), before cloning by `numjobs`. Its parts are shared by jobs that have equal ones, so that
/// each of many sections takes little memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Label; also the stem of generated file names.
    pub name: String,
    /// `name=` in a section: the label of the first clone in reports and log files.
    pub display_name: Option<String>,
    /// Free text for the reports.
    pub description: Option<String>,
    /// Clones of this job, each with its own worker (1 to 1,048,576).
    pub clones: u32,
    /// Wait for all earlier jobs, and start a new report group.
    pub stonewall: bool,
    /// Start a new report group without waiting.
    pub new_group: bool,
    /// Start when all clones of this other job have ended.
    pub wait_for: Option<String>,
    /// When this job ends, end the jobs that `exit_what` selects.
    pub exit_all: bool,
    /// When this job fails, end the jobs that `exit_what` selects.
    pub exit_all_on_error: bool,
    /// The jobs that are ended.
    pub exit_what: ExitWhat,
    /// The section is the first of a job file after the first file: stonewall and a new group are implied.
    pub starts_file: bool,
    /// Which files, how large, how made.
    pub files: Shared<Files>,
    /// Offsets, sizes, directions.
    pub pattern: Shared<Pattern>,
    /// How requests reach the kernel.
    pub submission: Shared<Submission>,
    /// When the job begins and ends.
    pub extent: Extent,
    /// What makes written data durable.
    pub durability: Durability,
    /// Rates, think time, latency limits.
    pub pacing: Shared<Pacing>,
    /// What is written.
    pub content: Shared<Content>,
    /// Check of what is read; `None` without `verify`.
    pub verify: Option<Box<Verify>>,
    /// Processors, priority, identity of the workers.
    pub process: Shared<Process>,
    /// What is measured and how it is shown.
    pub reporting: Shared<Reporting>,
    /// Which errors are counted and survived.
    pub errors: Shared<ErrorPolicy>,
    /// Recorded I/O: logs that are replayed or written.
    pub traces: Shared<Traces>,
    /// Options as written for this job, canonical names, for the reports' `job options`.
    pub options: Shared<Vec<(String, String)>>,
}

impl Job {
    /// The name of this clone in reports and log files.
    pub fn label(&self, clone: u32) -> &str {
        self.display_name.as_deref().filter(|_| clone == 0).unwrap_or(&self.name)
    }

    /// The name of a file that this job writes beside its data. Where several nodes may write to the same directory,
    /// the node's name is added at the end, as in the logs that fio's client receives.
    pub fn name_on_node(&self, name: String) -> String {
        match &self.files.client {
            Some(client) => format!("{name}.{client}"),
            None => name,
        }
    }

    /// Shares each part that is equal to the other job's.
    pub fn share_with(&mut self, other: &Job) {
        self.files.share_with(&other.files);
        self.pattern.share_with(&other.pattern);
        self.submission.share_with(&other.submission);
        self.pacing.share_with(&other.pacing);
        self.content.share_with(&other.content);
        self.process.share_with(&other.process);
        self.reporting.share_with(&other.reporting);
        self.errors.share_with(&other.errors);
        self.traces.share_with(&other.traces);
        self.options.share_with(&other.options);
    }

    /// Whether the job discards data of a device.
    pub fn discards(&self) -> bool {
        let trims = self.pattern.access.trims || self.verify.as_ref().is_some_and(|verify| verify.trims.is_some());
        trims && self.submission.engine.moves_data()
    }
}

impl Default for Job {
    fn default() -> Job {
        Job {
            name: String::new(),
            display_name: None,
            description: None,
            clones: 1,
            stonewall: false,
            new_group: false,
            wait_for: None,
            exit_all: false,
            exit_all_on_error: false,
            exit_what: ExitWhat::Group,
            starts_file: false,
            files: Shared::default(),
            pattern: Shared::default(),
            submission: Shared::default(),
            extent: Extent { loops: 1, ..Extent::default() },
            durability: Durability::default(),
            pacing: Pacing { rate_cycle_ms: 1000, think_blocks: 1, ..Pacing::default() }.into(),
            content: Shared::default(),
            verify: None,
            process: Shared::default(),
            reporting: Shared::default(),
            errors: Shared::default(),
            traces: Shared::default(),
            options: Shared::default(),
        }
    }
}

/// `exit_what`: the jobs that end together with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    /// The jobs of the same report group.
    Group,
    /// The jobs up to the next `stonewall`.
    Stonewall,
    /// All jobs; those that have not started yet never start.
    All,
}

/// Processors, priority and identity of the workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `thread` was given. Workers are threads either way; only wording differs.
    pub thread: bool,
    /// Allowed processors; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// Each clone gets one of these processors instead of the whole set.
    pub cpus_split: bool,
    /// Nice value.
    pub nice: Option<i32>,
    /// Priority of its I/O.
    pub priority: Option<IoPriority>,
    /// NUMA nodes whose processors are allowed; empty: all.
    pub nodes: Vec<u32>,
    /// The NUMA nodes that memory comes from.
    pub memory_policy: Option<MemoryPolicy>,
    /// User that the worker becomes.
    pub user: Option<u32>,
    /// Group that the worker becomes.
    pub group: Option<u32>,
    /// Control group that the worker joins, below the blkio mount.
    pub control_group: Option<String>,
    /// Weight of that group.
    pub control_group_weight: Option<u16>,
    /// Whether that group stays if the run has made it.
    pub control_group_kept: bool,
    /// Name of the worker's thread.
    pub thread_name: Option<String>,
    /// Command before the job.
    pub exec_prerun: Option<String>,
    /// Command after the job.
    pub exec_postrun: Option<String>,
}

/// `prioclass`, `prio` and `priohint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoPriority {
    /// 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// 0 (first) to 7 (last).
    pub level: u8,
    /// Hint for the device (0 to 1023).
    pub hint: u16,
}

impl IoPriority {
    /// The number that the kernel and the logs use.
    pub fn as_number(self) -> u16 {
        u16::from(self.class) << 13 | self.hint << 3 | u16::from(self.level)
    }
}

/// `numa_mem_policy`: which NUMA nodes memory comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// The policy of the system.
    Default,
    /// The node of the processor that the worker runs on.
    Local,
    /// This node first.
    Prefer(u32),
    /// These nodes alone.
    Bind(Vec<u32>),
    /// These nodes in turn.
    Interleave(Vec<u32>),
}

impl MemoryPolicy {
    /// The nodes that the policy names.
    pub fn nodes(&self) -> &[u32] {
        match self {
            MemoryPolicy::Default | MemoryPolicy::Local => &[],
            MemoryPolicy::Prefer(node) => std::slice::from_ref(node),
            MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => nodes,
        }
    }
}

/// Which errors are counted and survived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorPolicy {
    /// Go on after read errors.
    pub on_read: bool,
    /// Go on after write errors.
    pub on_write: bool,
    /// Go on after verify errors.
    pub on_verify: bool,
    /// Print the errors that the job survives.
    pub dump: bool,
    /// Errnos to ignore for reads, writes and verify.
    pub ignored: [Vec<i32>; 3],
}
