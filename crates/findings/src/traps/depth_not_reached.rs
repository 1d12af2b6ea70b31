//! T3: fewer requests in flight than iodepth.

use fsdyno_job::EngineName;
use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use super::cpu_starved::Quota;
use super::throttled::limited;
use crate::evidence::{Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, time};

pub(crate) const ID: &str = "depth-not-reached";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T3",
    title: "The queue depth was not reached",
    happens: "Synchronous engines keep one request in flight, whatever iodepth is. libaio does the same without \
              direct I/O: io_submit returns when the request is done. The report then shows 32 requests in flight \
              while the device saw one, and a clat of up to 32 times the real latency. Direct writes that extend a \
              file, or go to a filesystem with checksums, are also done one at a time.",
    seen: "Before the run, from the options: a caution; on a memory filesystem information only. After a run with \
           libaio and iodepth=4 or more, two figures must agree. The device's average queue depth was below a quarter \
           of iodepth, and submission took 70 % of the time (slat times the number of I/Os). Without latencies \
           (gtod_reduce) the queue depth decides alone, if the device delivered nine tenths of the bytes. Invalid \
           without direct I/O. With direct I/O a caution, since the filesystem itself serialises the writes. Not \
           reported where a control group limit held the requests.",
    advice: "Add --direct=1 to libaio, or use --ioengine=io_uring, which reaches its depth without direct I/O too. \
             With synchronous engines use --numjobs to have several requests in flight.",
    documented: "fio documentation, iodepth and libaio; io_submit(2); fio issues 226, 376, 512, 812",
};

/// The device's queue held less than this share of the iodepth.
const DEPTH_SHARE: f64 = 0.25;
/// Share of the workers' time spent in submission from which on it blocks; for engines that only submit, all of it.
const SUBMITTING: f64 = 0.7;
/// The device moved this share of what the run did.
const DELIVERED: f64 = 0.9;
/// Mean slat of a submission that waits for a device; one that only queues takes a few µs, ns.
const BLOCKED_SLAT_NS: f64 = 10_000.0;

pub(crate) fn preflight(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| conflict(row)).collect()
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = preflight(evidence);
    // A control group's limit holds requests above the device: then the limit is the cause, and has its own finding.
    let held = |stage: &Stage<'_>, row: &JobInStage<'_>| row.direct() == Some(true) && limited(stage, row).is_some();
    let flows =
        evidence.flows().filter(|(stage, row, flow)| !held(stage, row) && Quota::that_held(row, flow).is_none());
    found.extend(flows.filter_map(|(_, row, flow)| blocked(row, flow)));
    found
}

/// The conflict in the options.
fn conflict(row: &JobInStage<'_>) -> Option<Finding> {
    let depth = row.first().setup.depth;
    let buffered_libaio = row.engine() == Some(EngineName::Libaio) && row.buffered() && !row.offloads();
    if depth <= 1 || !(row.first().plan.synchronous_engine || buffered_libaio) {
        return None;
    }
    let (cause, next) = if buffered_libaio {
        (
            format!(
                "iodepth={depth}, but libaio without direct I/O has one request in flight (io_submit waits for it): \
                 clat is up to {depth} times the real latency"
            ),
            "add --direct=1, or use --ioengine=io_uring".to_owned(),
        )
    } else {
        (
            format!("iodepth={depth}, but {} is synchronous: one request is in flight", row.first().setup.engine),
            format!("use --ioengine=io_uring (or libaio with --direct=1), or --numjobs={depth} instead of the depth"),
        )
    };
    // In memory nothing waits: a deeper queue would only raise clat.
    let severity = if row.class() == StorageClass::Memory { Severity::Info } else { Severity::Caution };
    let report = Report::new(ID, severity, row.name).number("depth asked for", f64::from(depth), "requests");
    Some(report.says(cause, next))
}

/// The finding from the run's latencies.
fn blocked(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let depth = f64::from(row.first().setup.depth);
    if depth < 4.0
        || row.first().plan.synchronous_engine
        || row.engine() != Some(EngineName::Libaio)
        || row.paced()
        || row.offloads()
    {
        return None;
    }
    let device = flow.device.as_ref()?;
    let seen = device.depth(flow.seconds)?;
    let asked = row.depth_asked() as f64;
    let (Some(slat), Some(clat)) = (row.slat_ns(), row.clat_ns()) else {
        return (seen < asked * DEPTH_SHARE).then(|| unclocked(row, flow, asked, seen)).flatten();
    };
    let submitting = slat * row.ios() as f64 / (row.runtime_ms() as f64 * 1e6 * row.workers.len() as f64);
    let waits = slat >= BLOCKED_SLAT_NS || row.buffered();
    if seen >= asked * DEPTH_SHARE || submitting < SUBMITTING || !waits {
        return None;
    }
    let cause = format!(
        "only {seen:.1} of {asked} requests reached {} at a time: submission took {} of the time; a request took {}, \
         not the {} of clat",
        device.name,
        percent(submitting.min(1.0)),
        time(slat),
        time(clat)
    );
    let next = if row.buffered() {
        "add --direct=1, or use --ioengine=io_uring"
    } else {
        "use --ioengine=io_uring; if direct writes extend the file, write it once before the run"
    };
    // The filesystem may do direct writes one at a time: then this is its true speed.
    let severity = if row.buffered() { Severity::Invalid } else { Severity::Caution };
    Some(
        Report::new(ID, severity, row.name)
            .number("depth asked for", asked, "requests")
            .number("average queue depth of the device", seen, "requests")
            .number("mean submission latency", slat, "ns")
            .number("mean completion latency", clat, "ns")
            .says(cause, next),
    )
}

/// The finding without latencies (gtod_reduce), from the device's queue alone: through the page cache io_submit is
/// known to block, and what the device did was the run's.
fn unclocked(row: &JobInStage<'_>, flow: &Flow<'_>, asked: f64, seen: f64) -> Option<Finding> {
    let device = flow.device.as_ref()?;
    if !row.buffered() || (device.done.bytes.sum() as f64) < flow.application.bytes.sum() as f64 * DELIVERED {
        return None;
    }
    let cause = format!(
        "only {seen:.1} of {asked} requests reached {} at a time: without direct I/O io_submit waits until the \
         request is done",
        device.name
    );
    Some(
        Report::new(ID, Severity::Invalid, row.name)
            .number("depth asked for", asked, "requests")
            .number("average queue depth of the device", seen, "requests")
            .says(cause, "add --direct=1, or use --ioengine=io_uring"),
    )
}
