//! T20: the generator was the limit.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, percent, time};

pub(crate) const ID: &str = "generator-bound";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T20",
    title: "The CPU was the limit, not the storage",
    happens: "One job is one thread, and one thread uses one CPU. A fast storage waits for it. The number is then \
              what the CPU and the kernel achieve, and the latency includes time that a completed request waits to be \
              reaped.",
    seen: "The CPU time of the I/O threads is compared with their wall time, for direct I/O at a depth of two or more \
           with asynchronous engines. 95 % or more is a caution. Polling engines (hipri, sqthread_poll) and jobs with \
           a rate limit or think time are not checked.",
    advice: "Add jobs (--numjobs) until the number stops growing, or use larger blocks.",
    documented: "fio issues 703, 1206, 1496, 1501; `fsdyno doctor` shows the generator's own ceiling",
};

/// CPU time divided by wall time of the workers.
const BUSY: f64 = 0.95;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows =
        evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced() && row.class() != StorageClass::Memory);
    rows.filter_map(|(_, row)| judge(evidence, row)).collect()
}

fn judge(evidence: &Evidence<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let first = row.first();
    let polls = first.options.iter().any(|(name, _)| name == "hipri" || name == "sqthread_poll");
    if row.direct() != Some(true) || first.plan.synchronous_engine || first.setup.depth < 2 || polls {
        return None;
    }
    let cpu_ns = row.workers.iter().fold(0u64, |sum, job| sum.saturating_add(job.cpu_of_io_ns()));
    let wall_ms = row.workers.iter().fold(0u64, |sum, job| sum.saturating_add(job.job_runtime_ms));
    let share = cpu_ns as f64 / (wall_ms as f64 * 1e6);
    if wall_ms == 0 || share < BUSY {
        return None;
    }
    let each_ns = cpu_ns as f64 / row.ios().max(1) as f64;
    let cause = format!(
        "CPUs of the I/O threads were busy {} of the time: {} of CPU per I/O, so one CPU does at most {} per second",
        percent(share.min(1.0)),
        time(each_ns),
        number(1e9 / each_ns)
    );
    let more = evidence.node.host.cpus.is_none_or(|cpus| (row.workers.len() as u32) < cpus);
    let next = if more {
        format!("add --numjobs={}, and check whether the number grows", row.workers.len() * 2)
    } else {
        "use larger blocks, or a machine with more CPUs: all of them are in use".to_owned()
    };
    Some(
        Report::new(ID, Severity::Caution, row.name)
            .number("CPU over wall time", share, "ratio")
            .number("CPU time per I/O", each_ns, "ns")
            .says(cause, next),
    )
}
