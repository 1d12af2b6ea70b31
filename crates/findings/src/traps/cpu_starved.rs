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
    happens: "A hypervisor that gives the time to others (steal), a control group with a processor limit, or more \
              runnable threads than processors make the generator wait. Rates fall and latencies grow, and the storage \
              has no part in it.",
    seen: "Steal time of the machine from 10 % on, throttling by the control group from 5 % of the time on, waiting in \
           the run queue from 20 % of the workers' time on.",
    advice: "Run when the machine is idle, with no more jobs than processors, and without a processor limit.",
    documented: "proc(5), /proc/stat and schedstat; linux Documentation/admin-guide/cgroup-v2.rst, cpu.stat",
};

/// Stolen share of the processors' time.
const STEAL: f64 = 0.1;
/// Share of the time in which the control group held us.
const THROTTLED: f64 = 0.05;
/// Share of the workers' time spent runnable and not running.
const WAITING: f64 = 0.2;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

fn judge(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let (name, share, limit, next) = worst(stage, flow)?;
    let cause =
        format!("{name} for {} of the time (from {} on it shows in the numbers)", percent(share), percent(limit));
    let report = Report::new(ID, Severity::Caution, row.name).number(name, share, "ratio");
    Some(report.says(cause, next))
}

/// The share that is furthest above its limit.
fn worst(stage: &Stage<'_>, flow: &Flow<'_>) -> Option<(&'static str, f64, f64, &'static str)> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let grown = |end: Option<u64>, begin: Option<u64>| Some(end?.saturating_sub(begin?) as f64);
    let workers: usize = stage.rows.iter().map(|row| row.workers.len()).sum();
    let steal = grown(end.steal_ms, begin.steal_ms)
        .zip(grown(end.total_ms, begin.total_ms))
        .map(|(steal, total)| steal / total)
        .map(|share| {
            ("the hypervisor gave the processors to others", share, STEAL, "run again when the host is quiet")
        });
    let throttled = grown(end.throttled_us, begin.throttled_us).map(|us| us / 1e6 / flow.seconds).map(|share| {
        ("the control group's processor limit held the run", share, THROTTLED, "raise the group's cpu.max (CPU limit)")
    });
    let waiting = flow.process.and_then(|process| process.run_queue_wait_ns);
    // Threads that work for the workers (the kernel's for io_uring) wait beside them.
    let waiting = waiting.map(|ns| (ns as f64 / 1e9 / (flow.seconds * workers as f64)).min(1.0)).map(|share| {
        (
            "the workers waited for a processor",
            share,
            WAITING,
            "use fewer jobs than the machine has processors, or stop what else runs",
        )
    });
    let all = [steal, throttled, waiting].into_iter().flatten();
    let over = all.filter(|(_, share, limit, _)| share.is_finite() && share >= limit);
    over.max_by(|one, other| (one.1 / one.2).total_cmp(&(other.1 / other.2)))
}
