//! Keeps the account of a worker's thread (identity, CPU time, page faults) and makes its record from that and its
//! counters.

use fsdyno_drive::{Account, Recorder, ReportedFigures};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::reason;
use fsdyno_os::thread::{self, ThreadUsage};
use fsdyno_probe::wait_of_this_thread_ns;
use fsdyno_results::{JobError, JobRecord, SurvivedErrors};

use crate::plan::WorkerPlan;

/// With `gtod_reduce`, one I/O in this number is timed.
const SAMPLED_ONE_IN: u32 = fsdyno_workload::BLOCK_OPS as u32;

/// The account of one worker's thread.
pub(crate) struct ThreadAccount<'plan> {
    plan: &'plan WorkerPlan,
    clock: RealClock,
    usage_then: ThreadUsage,
    waited_then_ns: Option<u64>,
    began_ns: u64,
    started_ms: Option<u64>,
    /// Length of the write phase before the verification, ms.
    writes_ms: Option<u64>,
}

impl<'plan> ThreadAccount<'plan> {
    /// Begins the account; called on the worker's own thread.
    #[inline(never)]
    pub(crate) fn begin(plan: &'plan WorkerPlan, clock: RealClock) -> ThreadAccount<'plan> {
        ThreadAccount {
            plan,
            began_ns: clock.now_ns(),
            clock,
            usage_then: thread::usage(),
            waited_then_ns: wait_of_this_thread_ns(),
            started_ms: fsdyno_drive::epoch_ms(plan.job.reporting.start_clock),
            writes_ms: None,
        }
    }

    fn shown(&self) -> ReportedFigures {
        let reporting = &self.plan.job.reporting;
        // Operations on names only have a completion latency, and only while total latencies are wanted, as in fio.
        let names = self.plan.job.submission.engine.works_on_names();
        ReportedFigures {
            clat: if names { reporting.total_latency } else { reporting.completion_latency },
            slat: reporting.submission_latency,
            lat: reporting.total_latency && !names,
            classes: reporting.completion_latency && !names,
            bandwidth: reporting.bandwidth || reporting.sampled_clock,
            sampled: reporting.sampled_clock,
        }
    }
}

impl Account for ThreadAccount<'_> {
    fn begin_measuring(&mut self) {
        self.usage_then = thread::usage();
        self.waited_then_ns = wait_of_this_thread_ns();
        self.began_ns = self.clock.now_ns();
    }

    fn writes_over(&mut self, elapsed_ms: u64) {
        self.writes_ms = Some(elapsed_ms);
    }

    fn job_record(&self, recorder: &Recorder, elapsed_ms: u64, survived: SurvivedErrors) -> Box<JobRecord> {
        let counted = recorder.counted(elapsed_ms, self.shown());
        let used = thread::usage().since(&self.usage_then);
        let mut record = blank_record(self.plan);
        record.pid = thread::thread_id();
        record.started_ms = self.started_ms;
        record.latency_depth = self.plan.job.submission.depth;
        record.directions = counted.directions;
        if let Some(writes_ms) = self.writes_ms {
            // Verification adds to the time of the reads only.
            for moved in
                [&mut record.directions.write, &mut record.directions.trim].into_iter().filter(|moved| moved.bytes > 0)
            {
                moved.runtime_ms = writes_ms;
            }
            if self.plan.job.pattern.access.reads {
                record.directions.read.runtime_ms += writes_ms;
            }
        }
        record.sync = counted.sync;
        record.zone_resets = self.plan.job.pattern.zoned.map(|_| recorder.zone_resets());
        record.job_runtime_ms = self.clock.now_ns().saturating_sub(self.began_ns) / 1_000_000;
        record.user_ns = used.user.as_nanos() as u64;
        record.system_ns = used.system.as_nanos() as u64;
        let waited_ns = self.waited_then_ns.zip(wait_of_this_thread_ns());
        record.run_queue_wait_ns = waited_ns.map(|(then, now)| now.saturating_sub(then));
        record.context_switches = used.context_switches_voluntary + used.context_switches_involuntary;
        record.major_faults = used.faults_major;
        record.minor_faults = used.faults_minor;
        record.depth_levels = counted.depth_levels;
        record.submit_sizes = counted.submit_sizes;
        record.complete_sizes = counted.complete_sizes;
        record.latency_ns_counts.copy_from_slice(&counted.classes[..10]);
        record.latency_us_counts.copy_from_slice(&counted.classes[10..20]);
        record.latency_ms_counts.copy_from_slice(&counted.classes[20..]);
        let policy = &self.plan.job.errors;
        record.survived_errors = (policy.on_read || policy.on_write || policy.on_verify).then_some(survived);
        record.sampled_latency = counted.sampled_latency;
        record
    }
}

/// The record of a worker that has done nothing (yet).
pub(crate) fn blank_record(plan: &WorkerPlan) -> Box<JobRecord> {
    let job = &plan.job;
    let mut record = Box::new(JobRecord::new(job.label(plan.clone), plan.thread_number, plan.setup.clone()));
    record.description = job.description.clone();
    record.group = plan.group;
    record.group_reporting = job.reporting.group;
    record.clone = plan.clone;
    record.options = job.options.to_vec();
    record.plan = plan.for_record();
    // The depth is set when the worker begins.
    record.latency_depth = 0;
    if job.reporting.sampled_clock {
        record.timed_one_in = SAMPLED_ONE_IN;
    }
    record
}

/// An error in the form of the record.
pub(crate) fn job_error(code: i32, function: &str) -> JobError {
    let text = reason(&std::io::Error::from_raw_os_error(code));
    JobError { code, function: function.to_string(), text }
}
