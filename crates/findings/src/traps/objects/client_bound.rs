//! T61: the CPU of the client was the limit.

use fsdyno_results::{Finding, ObjectRecord, Severity};

use super::answers::{records, total, wall_ns};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, percent, time};

pub(crate) const ID: &str = "client-bound";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T61",
    title: "The client's CPU was the limit, not the store",
    happens: "A worker has one connection and one thread. TLS, hashes of bodies, checks of the data and the kernel's copies \
              take CPU time; when they fill it, the store waits for the client. The number is then the client's.",
    seen: "The CPU time of the workers of ioengine=http, against their time without the waits for a CPU: a caution from \
           nine tenths on. The shares of TLS and of hashes are measured in the run. Jobs with a rate limit or think time \
           are not checked.",
    advice: "Add workers (numjobs), each on a CPU of its own, or machines, until the number stops growing.",
    documented: "proc(5), schedstat",
};

/// CPU time divided by the time in which the workers had a CPU or waited for the server.
const BUSY: f64 = 0.9;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced() && records(row).next().is_some());
    rows.filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let cpu_ns = total(row.workers.iter().map(|worker| worker.cpu_of_io_ns()));
    let waited_ns = total(row.workers.iter().filter_map(|worker| worker.run_queue_wait_ns));
    let wall_ns = wall_ns(row);
    let busy = cpu_ns as f64 / (wall_ns - waited_ns as f64);
    if !busy.is_finite() || !(BUSY..).contains(&busy) {
        return None;
    }
    let share =
        |of: fn(&ObjectRecord) -> Option<u64>| percent((total(records(row).filter_map(of)) as f64 / wall_ns).min(1.0));
    let each_ns = cpu_ns as f64 / row.ios().max(1) as f64;
    let cause = format!(
        "the workers' CPUs were busy {} of the time that they had one: {} of CPU for each request, so that one worker does \
         {} per second at most; TLS took {} of the time, hashes and signatures {}",
        percent(busy.min(1.0)),
        time(each_ns),
        number(1e9 / each_ns),
        share(|record| record.tls_ns),
        share(|record| record.sign_ns)
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("CPU over time", busy, "ratio");
    Some(
        report
            .number("CPU time per request", each_ns, "ns")
            .says(cause, "add workers on other CPUs, or machines, until the number stops growing"),
    )
}
