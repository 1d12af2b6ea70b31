//! T4: writes that were still in memory when the run ended.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, rate, size, time};

pub(crate) const ID: &str = "writes-in-memory";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T4",
    title: "Writes were still in memory at the end of the run",
    happens: "A buffered write returns when the kernel has copied it. The storage gets it later, or never if the \
              machine loses power. A test that ends before the data are stored measures memory. On NFS and FUSE \
              mounts close() hides the rest of the work.",
    seen: "From 256 KiB on, without a sync: the dirty pages of the run's files when the last write returned \
           (cachestat; not on FUSE mounts, whose daemons have their own). Otherwise the bytes that the devices or the \
           server got by then. Reported from 10 % on, invalid from 50 % on. Also the time of close(), from 0.1 s on: \
           reported from a fifth of the run time on, invalid if it is as long as the run. A close after a sync counts \
           on FUSE mounts only, whose daemons may store then.",
    advice: "Add --end_fsync=1: the time of the last sync then belongs to the run. --fsync=1 (or --sync=1) measures \
             writes that are each durable. --direct=1 bypasses the page cache, but not the device's own cache.",
    documented: "fio documentation, end_fsync, fsync, sync; fsync(2); cachestat(2); fio issue 470",
};

/// The counter that shows what is in memory.
const DIRTY: &str = "dirty pages of its files";
/// The share in memory from which on it is reported: the last second's pages of a long run stay below.
const CAUTION: f64 = 0.1;
/// The share from which on the number is mostly memory's.
const INVALID: f64 = 0.5;
/// A close that takes this share of the run's time does hidden work.
const CLOSE_SHARE: f64 = 0.2;
/// A shorter close does not matter, ns.
const CLOSE_NS_MIN: u64 = 100_000_000;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let unsynced = evidence.byte_flows().filter_map(|(stage, row, flow)| unsynced(stage, row, flow));
    unsynced.chain(evidence.rows().filter_map(|(stage, row)| late_close(stage, row))).collect()
}

/// Whether no sync waits for the data: neither at the end of the run, nor after some writes, nor in each write.
pub(super) fn without_sync(row: &JobInStage<'_>) -> bool {
    let plan = &row.first().plan;
    row.writes() && row.buffered() && !plan.end_sync && !plan.synchronous && plan.sync_every_writes == 0
}

/// Whether there are syncs between writes, but none after the last one.
fn synced_now_and_then(row: &JobInStage<'_>) -> bool {
    let plan = &row.first().plan;
    row.writes() && row.buffered() && !plan.end_sync && !plan.synchronous && plan.sync_every_writes > 1
}

fn unsynced(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let written = flow.application.bytes.write;
    let class = stage.class()?;
    if class == StorageClass::Memory || written < BYTES_MIN {
        return None;
    }
    let (left, witness) = match () {
        // A verification has stored these bytes after the clock stopped.
        () if let Some(left) = before_verification(stage) => (left.min(written), DIRTY.to_owned()),
        () if without_sync(row) => left_in_memory(flow, class, written)?,
        // Blocks written twice between two syncs reach the device once: the dirty pages show what followed the last
        // sync.
        () if synced_now_and_then(row) => dirty_pages(flow, class, written)?,
        () => return None,
    };
    let share = left as f64 / written as f64;
    if share < CAUTION {
        return None;
    }
    let severity = if share >= INVALID { Severity::Invalid } else { Severity::Caution };
    let cause = format!(
        "{2} ({3}) of {0} written were not on the storage when the last write returned ({witness}); {1} is the speed \
         of memory{4}",
        size(written),
        rate(row.done(Transfer::Write).bytes_per_s()),
        percent(share),
        size(left),
        stage.shared_figures_note()
    );
    Some(
        Report::new(ID, severity, row.name)
            .bytes("bytes written by the job", written)
            .bytes("bytes still in memory", left)
            .number("share still in memory", share, "ratio")
            .says(cause, "add --end_fsync=1 for the rate to durable storage"),
    )
}

/// Dirty pages when the last write had returned, of jobs that then verify what they wrote.
fn before_verification(stage: &Stage<'_>) -> Option<u64> {
    let all = stage.rows.iter().flat_map(|row| &row.workers).filter_map(|worker| worker.unstored_bytes);
    all.reduce(u64::saturating_add)
}

/// Pages of the files that the run made dirty and left dirty.
fn dirty_pages(flow: &Flow<'_>, class: StorageClass, written: u64) -> Option<(u64, String)> {
    let pages = |sample: &fsdyno_results::evidence::LedgerSample| {
        let cache = sample.cache.value()?;
        Some(cache.dirty_bytes?.saturating_add(cache.writeback_bytes.unwrap_or(0)))
    };
    // A daemon may have more dirty pages below those of its mount.
    let dirty = pages(flow.end).filter(|_| class != StorageClass::Fuse)?;
    // Pages that were dirty before do not count, unless the stage wrote them again: then they hold the bytes that no
    // device took.
    let grown = dirty.saturating_sub(pages(flow.begin).unwrap_or(0));
    let not_taken = flow.storage.write.as_ref().map_or(0, |storage| written.saturating_sub(storage.bytes));
    Some((grown.max(not_taken.min(dirty)).min(written), DIRTY.to_owned()))
}

/// Bytes that no storage received, with the counter that shows it.
fn left_in_memory(flow: &Flow<'_>, class: StorageClass, written: u64) -> Option<(u64, String)> {
    if let Some(left) = dirty_pages(flow, class, written) {
        return Some(left);
    }
    if let Some(storage) = &flow.storage.write {
        let taken = storage.bytes;
        return Some((written.saturating_sub(taken), format!("{} took {}", storage.witness, size(taken))));
    }
    let wire = flow.wire.as_ref()?;
    Some((written.saturating_sub(wire.bytes.write), format!("{} sent, by {}", size(wire.bytes.write), wire.witness)))
}

/// A close after the clock stopped that does the work of the writes.
fn late_close(stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let close_ns = row.workers.iter().filter_map(|worker| worker.close_ns).max()?;
    let written = row.done(Transfer::Write);
    let run_ns = row.runtime_ms().checked_mul(1_000_000)?;
    let hidden = close_ns as f64 >= run_ns as f64 * CLOSE_SHARE && close_ns >= CLOSE_NS_MIN;
    if !row.writes() || !hidden || written.bytes < BYTES_MIN || row.class() == StorageClass::Memory {
        return None;
    }
    // After a sync nothing is left to store, except for daemons that always store at the close.
    let synced = row.first().plan.end_sync;
    if synced && row.class() != StorageClass::Fuse {
        return None;
    }
    let next = if synced {
        "include the close: this daemon stores at the close, even after fsync"
    } else {
        "add --end_fsync=1, so that this time belongs to the run"
    };
    let severity = if close_ns >= run_ns { Severity::Invalid } else { Severity::Caution };
    let whole = written.bytes as f64 * 1e9 / (run_ns as f64 + close_ns as f64);
    let wire = stage.flow.as_ref().and_then(|flow| Some((flow.wire.as_ref()?, flow.seconds)));
    let crossed = wire.filter(|(_, seconds)| *seconds > 0.0).map_or_else(String::new, |(wire, seconds)| {
        let bytes = wire.bytes.write;
        format!("; {} crossed the network in {} ({})", size(bytes), time(seconds * 1e9), wire.witness)
    });
    let cause = format!(
        "closing the files took {} after {} of writing: {} without the close, {} with it{crossed}",
        time(close_ns as f64),
        time(run_ns as f64),
        rate(written.bytes as f64 * 1e9 / run_ns as f64),
        rate(whole)
    );
    Some(
        Report::new(ID, severity, row.name)
            .number("time of the close", close_ns as f64, "ns")
            .number("rate with the close", whole, "B/s")
            .says(cause, next),
    )
}
