//! T20, the other face: the generator did not get a processor.

use results::{Finding, Severity};

use crate::evidence::{Evidence, Flow, Row, Stage};
use crate::report::Report;
use crate::story::Story;
use crate::units::percent;

pub(crate) const ID: &str = "cpu-starved";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T20",
    title: "The workers waited for a processor",
    happens: "A hypervisor that gives the time to others (steal), a control group with a processor limit, other \
              programs, or more workers than processors make the generator wait. Rates fall and latencies grow, and \
              the storage has no part in it. Where the storage's own work takes the processors, a FUSE daemon's or \
              the kernel's for io_uring, the rate is what this machine gets from it, and the row stays ok.",
    seen: "Steal time of the machine from 10 % on, throttling by the control group from 5 % of the time on, workers \
           that waited for a processor for 20 % of their time or more. Also who used the processors for at least half \
           of that time. A caution; information where the storage's own work did.",
    advice: "Run when the machine is idle, with no more jobs than processors, and without a processor limit.",
    documented: "proc(5), /proc/stat and schedstat; linux Documentation/admin-guide/cgroup-v2.rst, cpu.stat",
};

/// Stolen share of the processors' time.
const STEAL: f64 = 0.1;
/// Share of the time in which the control group held us.
const THROTTLED: f64 = 0.05;
/// Share of the workers' time spent runnable and not running.
const WAITING: f64 = 0.2;

/// A way to be without a processor.
struct Shortage {
    name: &'static str,
    share: f64,
    limit: f64,
    /// Who had the processors, where that is known.
    user: Option<User>,
    next: &'static str,
}

/// Processor time of somebody other than the workers that waited.
struct User {
    name: &'static str,
    seconds: f64,
    /// It worked for the storage.
    is_storage: bool,
    next: &'static str,
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

fn judge(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let all = [steal(flow), throttled(flow), waiting(stage, row, flow)].into_iter().flatten();
    let over = all.filter(|shortage| shortage.share.is_finite() && shortage.share >= shortage.limit);
    let worst = over.max_by(|one, other| (one.share / one.limit).total_cmp(&(other.share / other.limit)))?;
    let (name, share, limit) = (worst.name, percent(worst.share), percent(worst.limit));
    let mut cause = format!("{name} for {share} of the time (from {limit} on it shows in the numbers)");
    let mut severity = Severity::Caution;
    let mut next = worst.next;
    if let Some(user) = worst.user {
        let processors = user.seconds / flow.seconds;
        cause += &format!("; meanwhile {} used the time of {processors:.1} processors", user.name);
        severity = if user.is_storage { Severity::Info } else { severity };
        next = user.next;
    }
    Some(Report::new(ID, severity, row.name).number(name, worst.share, "ratio").says(cause, next))
}

fn steal(flow: &Flow<'_>) -> Option<Shortage> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let share = grown(end.steal_ms, begin.steal_ms)? / grown(end.total_ms, begin.total_ms)?;
    let name = "the hypervisor gave the processors to others";
    Some(Shortage { name, share, limit: STEAL, user: None, next: "run again when the host is quiet" })
}

fn throttled(flow: &Flow<'_>) -> Option<Shortage> {
    let share = grown(flow.end.system.throttled_us, flow.begin.system.throttled_us)? / 1e6 / flow.seconds;
    let name = "the control group's processor limit held the run";
    Some(Shortage { name, share, limit: THROTTLED, user: None, next: "raise the group's cpu.max (CPU limit)" })
}

/// The workers' own waiting. Threads that work for them (the kernel's for io_uring) are not asked: many of them wait in
/// a queue that is the storage's.
fn waiting(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Shortage> {
    let waited_ns = row.workers.iter().map(|worker| worker.run_queue_wait_ns).sum::<Option<u64>>()?;
    let runtime_ms: u64 = row.workers.iter().map(|worker| worker.job_runtime_ms).sum();
    Some(Shortage {
        name: "the workers waited for a processor",
        share: (waited_ns as f64 / 1e6 / runtime_ms as f64).min(1.0),
        limit: WAITING,
        // Whoever had less than half of that time does not explain it: the workers may have been pinned together.
        user: largest_user(stage, flow).filter(|user| user.seconds >= waited_ns as f64 / 2e9),
        next: "use fewer jobs than the machine has processors, or stop what else runs",
    })
}

/// Who else used the processors most.
fn largest_user(stage: &Stage<'_>, flow: &Flow<'_>) -> Option<User> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let busy_s = grown(end.busy_ms, begin.busy_ms)? / 1e3;
    // Ticks are coarse: a little less than one is one.
    let processors = (grown(end.total_ms, begin.total_ms)? / 1e3 / flow.seconds).round().max(1.0);
    let process_s = flow.process?.cpu_ns as f64 / 1e9;
    let workers = || stage.workers.iter();
    let workers_s = workers().map(|worker| worker.user_ns + worker.system_ns).sum::<u64>() as f64 / 1e9;
    let daemon_s = flow.daemon.and_then(|daemon| daemon.cpu_ns).unwrap_or(0) as f64 / 1e9;
    let user = |name, seconds, is_storage, next| User { name, seconds, is_storage, next };
    let more_than_processors = workers().count() as f64 > processors;
    let users = [
        user(
            "other programs and the kernel",
            busy_s - process_s - daemon_s,
            false,
            "stop what else runs, and run again",
        ),
        user(
            "this run's own workers",
            if more_than_processors { workers_s } else { 0.0 },
            false,
            "use no more jobs than the machine has processors",
        ),
        user(
            "the filesystem's daemon",
            daemon_s,
            true,
            "the daemon is part of this mount: run it where there are more processors, or ask for less at once",
        ),
        user(
            "the kernel's threads for this run's requests",
            process_s - workers_s,
            true,
            "the kernel does these requests on threads of its own: compare with ioengine=psync and several jobs",
        ),
    ];
    users.into_iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds))
}

fn grown(end: Option<u64>, begin: Option<u64>) -> Option<f64> {
    Some(end?.saturating_sub(begin?) as f64)
}
