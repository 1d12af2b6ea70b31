//! T11: a working set that fits in memory.

use results::evidence::StorageClass;
use results::{Finding, Severity};

use crate::evidence::{Evidence, Row, Stage};
use crate::report::Report;
use crate::story::Story;
use crate::units::size;

pub(crate) const ID: &str = "fits-in-memory";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T11",
    title: "The files fit in memory",
    happens: "Files smaller than memory can be served from memory after the first pass, and writes below the limit of \
              dirty pages never have to wait for the storage. The same holds for the memory of a file server or a disk \
              array, which cannot be seen from here.",
    seen: "From the options, a caution: no direct I/O, and bytes that come again (time_based, io_size, invalidate=0) \
           in files smaller than memory, or writes without a sync of less than a fifth of it. After the run the \
           ledger knows whether it happened; then this is not said any more. Reads of a network mount within 64 GiB \
           are information after the run: what the server has in memory is not seen.",
    advice: "Add --direct=1, or --end_fsync=1 for writes, or use a --size of at least twice the memory. For a server \
             grow the size step by step (x1, x4, x16) and look for the knee.",
    documented: "fio documentation, size, direct, invalidate; OpenZFS issue 14743; CrystalDiskMark issue 13",
};

/// Dirty pages may take this share of memory before writers are held back (vm.dirty_ratio).
const DIRTY_SHARE: f64 = 0.2;
/// A larger file than this fits in few servers' memory.
const SERVER_MEMORY_BYTES: u64 = 64 << 30;
/// A smaller file is no test of a storage anyway, and says so by its time.
const SPAN_MIN: u64 = 1 << 20;

pub(crate) fn foretell(evidence: &Evidence<'_>) -> Vec<Finding> {
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

/// The layers tell whether memory answered.
fn witnessed(stage: &Stage<'_>, row: &Row<'_>) -> bool {
    let seen = stage.flow.as_ref().is_some_and(|flow| match row.class() {
        StorageClass::Block | StorageClass::Device => flow.device.is_some(),
        StorageClass::Fuse if flow.device.is_some() => true,
        StorageClass::Fuse if row.reads() && flow.daemon.is_some_and(|daemon| daemon.storage.is_some()) => true,
        _ => flow.wire.is_some(),
    });
    // What is too short to be judged did not come to a second pass either.
    seen || !row.judgeable()
}

fn conflict(evidence: &Evidence<'_>, row: &Row<'_>) -> Option<Finding> {
    let plan = &row.first().plan;
    let (memory, span) = (evidence.memory_bytes()?, row.span_bytes()?);
    if !row.buffered() || matches!(row.class(), StorageClass::Memory | StorageClass::Unknown) || span < SPAN_MIN {
        return None;
    }
    let each = plan.span_bytes?;
    let again = plan.time_based || plan.io_bytes.is_some_and(|bytes| bytes > each) || plan.invalidated == Some(false);
    let unsynced = !plan.end_sync && !plan.synchronous && plan.sync_every_writes == 0;
    let (cause, next) = if row.reads() && again && span < memory {
        (
            format!(
                "the {} read fit in the {} of memory and are read again: then memory answers",
                size(span),
                size(memory)
            ),
            "add --direct=1",
        )
    } else if row.writes() && !row.reads() && unsynced && (span as f64) < memory as f64 * DIRTY_SHARE {
        (
            format!(
                "the {} written fit in the {} of memory: they can all be there when the run ends",
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

/// What a server has in memory cannot be seen from its client.
fn servers_memory(row: &Row<'_>) -> Option<Finding> {
    let span = row.span_bytes()?;
    if row.class() != StorageClass::Network || !row.reads() || !row.judgeable() || span > SERVER_MEMORY_BYTES {
        return None;
    }
    let cause = format!("the {} read fit in most servers' memory: their disks may have had no part in it", size(span));
    let report = Report::new(ID, Severity::Info, row.name).bytes("bytes touched", span);
    Some(report.says(cause, "repeat with four times the --size and see whether the number falls"))
}
