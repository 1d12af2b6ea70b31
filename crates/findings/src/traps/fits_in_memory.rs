//! T11: a working set that fits in memory.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use super::page_cache::READ_ONCE;
use crate::evidence::{Evidence, Flow, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "fits-in-memory";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T11",
    title: "The files fit in memory",
    happens: "Files smaller than memory can be read from memory after the first pass. Writes below the dirty page \
              limit never wait for the storage. The same is true of the memory of a file server or disk array, which \
              is not visible from here.",
    seen: "From the options, a caution, without direct I/O only. Reads that repeat (time_based, io_size, \
           invalidate=0) in files smaller than memory, or writes without a sync of less than a fifth of memory. After \
           the run the ledger shows whether a cache answered, and this finding is dropped. Reads of up to 64 GiB from \
           a network mount stay as information, since the server's memory is not visible.",
    advice: "Add --direct=1, or --end_fsync=1 for writes, or use a --size of at least twice the memory. For a server \
             increase the size step by step (x1, x4, x16) until the rate drops.",
    documented: "fio documentation, size, direct, invalidate; OpenZFS issue 14743; CrystalDiskMark issue 13",
};

/// Share of memory that dirty pages may take before writers are throttled (vm.dirty_ratio).
const DIRTY_SHARE: f64 = 0.2;
/// A larger file than this fits in few servers' memory, bytes.
const SERVER_MEMORY_BYTES: u64 = 64 << 30;
/// A smaller file is no test of a storage in any case, and is reported as too short, bytes.
const SPAN_MIN: u64 = 1 << 20;

pub(crate) fn preflight(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| conflict(evidence, row)).collect()
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let judge = |(stage, row)| {
        if witnessed(stage, row) {
            servers_memory(row)
        } else {
            conflict(evidence, row).or_else(|| servers_memory(row))
        }
    };
    evidence.rows().filter_map(judge).collect()
}

/// Whether the layers show if memory answered.
fn witnessed(stage: &Stage<'_>, row: &JobInStage<'_>) -> bool {
    let direction = if row.reads() { Transfer::Read } else { Transfer::Write };
    let pages =
        |flow: &Flow<'_>| !row.reads() && flow.end.cache.value().is_some_and(|cache| cache.dirty_bytes.is_some());
    let judged = |flow: &Flow<'_>| flow.storage[direction].as_ref().is_some_and(|moved| !moved.shared || pages(flow));
    let seen = stage.flow.as_ref().is_some_and(|flow| match row.class() {
        StorageClass::Block | StorageClass::Device => judged(flow),
        StorageClass::Fuse if judged(flow) => true,
        _ => flow.wire.is_some(),
    });
    // A run that is too short to be judged did not reach a second pass.
    seen || !row.judgeable()
}

fn conflict(evidence: &Evidence<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let plan = &row.first().plan;
    let (memory, span) = (evidence.memory_bytes()?, row.span_bytes()?);
    if !row.buffered()
        || matches!(row.class(), StorageClass::Memory | StorageClass::Kernel | StorageClass::Unknown)
        || span < SPAN_MIN
    {
        return None;
    }
    let each = plan.span_bytes?;
    let again = plan.time_based || plan.io_bytes.is_some_and(|bytes| bytes > each) || plan.invalidated == Some(false);
    let unsynced = !plan.end_sync && !plan.synchronous && plan.sync_every_writes == 0;
    let (cause, next) = if row.reads() && again && span < memory {
        (
            format!(
                "the {} read fit in the {} of memory and are read again: later passes come from memory",
                size(span),
                size(memory)
            ),
            if row.cannot_be_direct() { READ_ONCE } else { "add --direct=1" },
        )
    } else if row.writes() && !row.reads() && unsynced && (span as f64) < memory as f64 * DIRTY_SHARE {
        (
            format!(
                "the {} written fit in the {} of memory: all may still be there when the run ends",
                size(span),
                size(memory)
            ),
            "add --end_fsync=1",
        )
    } else {
        return None;
    };
    let report = Report::new(ID, Severity::Caution, row.name).bytes("bytes touched", span).bytes("memory", memory);
    Some(report.says(cause, next))
}

/// A server's memory is not visible from its client: the finding is made from the size alone.
fn servers_memory(row: &JobInStage<'_>) -> Option<Finding> {
    let span = row.span_bytes()?;
    if row.class() != StorageClass::Network || !row.reads() || !row.judgeable() || span > SERVER_MEMORY_BYTES {
        return None;
    }
    let cause =
        format!("the {} read fit in the memory of most servers: their disks may not have been used", size(span));
    let report = Report::new(ID, Severity::Info, row.name).bytes("bytes touched", span);
    Some(report.says(cause, "repeat with four times the --size, and check whether the rate falls"))
}
