//! T20: the generator was the limit.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::{Evidence, Row};
use crate::report::Report;
use crate::story::Story;
use crate::units::{number, percent, time};

pub(crate) const ID: &str = "generator-bound";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T20",
    title: "The processor was the limit, not the storage",
    happens: "One job is one thread, and a thread has one processor. A fast storage waits for it: the number is what \
              the processor and the kernel manage, and the latency holds time spent waiting to be picked up.",
    seen: "The CPU time of the workers beside their wall time, for direct I/O at a depth of two or more with engines \
           that keep requests in flight: 95 % or more is a caution. Polling engines (hipri, sqthread_poll) and runs \
           with a rate of their own are left out.",
    advice: "Add workers (--numjobs) until the number stops growing, or use larger blocks.",
    documented: "fio issues 703, 1206, 1496, 1501; `fsdyno doctor` shows the generator's own ceiling",
};

/// CPU over wall time of the workers.
const BUSY: f64 = 0.95;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows =
        evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced() && row.class() != StorageClass::Memory);
    rows.filter_map(|(_, row)| judge(evidence, row)).collect()
}

fn judge(evidence: &Evidence<'_>, row: &Row<'_>) -> Option<Finding> {
    let first = row.first();
    let polls = first.options.iter().any(|(name, _)| name == "hipri" || name == "sqthread_poll");
    if row.direct() != Some(true) || first.plan.synchronous_engine || first.setup.depth < 2 || polls {
        return None;
    }
    let cpu_ns =
        row.workers.iter().fold(0u64, |sum, job| sum.saturating_add(job.user_ns).saturating_add(job.system_ns));
    let wall_ms = row.workers.iter().fold(0u64, |sum, job| sum.saturating_add(job.job_runtime_ms));
    let share = cpu_ns as f64 / (wall_ms as f64 * 1e6);
    if wall_ms == 0 || share < BUSY {
        return None;
    }
    let each_ns = cpu_ns as f64 / row.ios().max(1) as f64;
    let cause = format!(
        "the workers were busy for {} of the time: {} of CPU an I/O, of which one processor does {} a second at most",
        percent(share.min(1.0)),
        time(each_ns),
        number(1e9 / each_ns)
    );
    let more = evidence.node.host.cpus.is_none_or(|cpus| (row.workers.len() as u32) < cpus);
    let next = if more {
        format!("add --numjobs={} and see whether the number grows", row.workers.len() * 2)
    } else {
        "use larger blocks, or a machine with more processors: all of them are in use".to_owned()
    };
    Some(
        Report::new(ID, Severity::Caution, row.name)
            .number("CPU over wall time", share, "ratio")
            .number("CPU time per I/O", each_ns, "ns")
            .says(cause, next),
    )
}
