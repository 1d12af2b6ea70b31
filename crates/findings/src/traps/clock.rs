//! T21: a clock that is slow to read, or drifts.

use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{percent, time};

pub(crate) const ID: &str = "clock";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T21",
    title: "The clock is slow or inaccurate",
    happens: "Some clock sources (hpet, acpi_pm, those of some hypervisors) need a system call or a hypervisor exit \
              for each reading, once or twice per I/O. Others drift or jump, and latencies come out as 0 or as most \
              of a second.",
    seen: "The cost of a clock reading, measured before the run, is compared with the time of an I/O: a caution from \
           5 % on. The drift of the counter against the system clock is measured over two seconds or more: a caution \
           from 500 ppm on. Simulated time is not checked. Operations on names that take less than a microsecond are \
           cheap on any clock: there it is a caution from 25 % on.",
    advice: "Choose another source in /sys/devices/system/clocksource/clocksource0/current_clocksource (tsc where the \
             kernel trusts it, kvm-clock in guests).",
    documented: "linux Documentation/virt/kvm/x86/timekeeping.rst; fio documentation, clocksource; fio issues 533, 630, 902",
};

/// Cost of the clock readings divided by a worker's mean time per I/O.
const COST_SHARE: f64 = 0.05;
/// Drift, parts per million; a machine's crystal stays below 100.
const DRIFT_PPM: f64 = 500.0;
/// In a shorter run, the drift is only the jitter of its ends, ms.
const DRIFT_RUN_MS: u64 = 2_000;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(clock) = evidence.node.host.clock.as_ref().filter(|clock| clock.source != "virtual") else {
        return Vec::new();
    };
    let kernel = evidence.ledger().and_then(|ledger| ledger.machine.clock_source.as_deref());
    let source = kernel.map_or(clock.source.clone(), |kernel| format!("{}, {kernel}", clock.source));
    let costly = |(_, row): (_, &JobInStage<'_>)| {
        let each_ns = row.runtime_ms() as f64 * 1e6 * row.workers.len() as f64 / row.ios() as f64;
        // One reading ends a synchronous read and starts the next.
        let chained = row.first().plan.synchronous_engine && !row.writes() && !row.paced();
        let (readings, how_often) = if chained { (1.0, "once") } else { (2.0, "twice") };
        let share = clock.cost_ns * readings / each_ns;
        let reportable = row.judgeable() && row.first().timed_one_in <= 1 && share.is_finite() && share >= COST_SHARE;
        reportable.then(|| {
            let cause = format!(
                "reading the clock ({source}) costs {}, {how_often} per I/O: {} of the {} that an I/O takes",
                time(clock.cost_ns),
                percent(share),
                time(each_ns)
            );
            Report::new(ID, Severity::Caution, row.name)
                .number("cost of a reading", clock.cost_ns, "ns")
                .number("share of an I/O's time", share, "ratio")
                .says(cause, "choose a faster clock source, or add --gtod_reduce=1 and do without latencies")
        })
    };
    let mut found: Vec<Finding> = evidence.rows().filter_map(costly).collect();
    let long = evidence.rows().any(|(_, row)| row.runtime_ms() >= DRIFT_RUN_MS);
    if let Some(ppm) = clock.drift_ppm.filter(|ppm| long && ppm.abs() >= DRIFT_PPM) {
        let cause = format!("clock {source} drifted by {ppm:.0} ppm from the system clock: times are wrong by as much");
        let report = Report::of_run(ID, Severity::Caution).number("drift", ppm, "ppm");
        found.push(report.says(cause, "choose another clock source"));
    }
    found
}

/// Cost of two readings divided by the mean time of an operation on names.
const COST_SHARE_PHASE: f64 = 0.25;

/// For the passes of a phase.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let clock = passes.host.clock.as_ref()?;
    let each_ns = passes.thread_ns() as f64 / passes.operations() as f64;
    let share = 2.0 * clock.cost_ns / each_ns;
    (share.is_finite() && share >= COST_SHARE_PHASE).then(|| {
        let cause = format!(
            "reading the clock ({}) costs {}, twice per operation: {} of the {} that one takes",
            clock.source,
            time(clock.cost_ns),
            percent(share),
            time(each_ns)
        );
        let report =
            Report::new(ID, Severity::Caution, passes.name()).number("share of an operation's time", share, "ratio");
        report.says(cause, "choose a faster clock source, where the system has one")
    })
}
