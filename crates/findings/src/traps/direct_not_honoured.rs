//! T5: O_DIRECT that was accepted, but had no effect.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};
use fsdyno_text::shell::word_as_typed;

use super::thin_blocks::has_gaps;
use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "direct-not-honoured";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T5",
    title: "Direct I/O was accepted, but a cache answered",
    happens: "Some filesystems accept O_DIRECT at open and still use a cache. ZFS uses its ARC, fscrypt and data \
              journalling use the page cache, FUSE does what its daemon decides, btrfs caches compressed extents. The \
              number is then the cache's, although direct=1 was set.",
    seen: "From 256 KiB on, the bytes that the devices or the server delivered are compared with the bytes read. \
           Reported when 10 % or more came from a cache, invalid from 50 % on. Otherwise, in a run with direct I/O \
           only, the pages of its files that entered the page cache (cachestat) are counted, without those of other \
           programs: a caution from a quarter of the bytes on. Thin volumes and images with holes are not \
           checked, since reads of holes need no device.",
    advice: "Run `fsdyno inspect` on the path to see its filesystem. For ZFS set primarycache=metadata on a test \
             dataset; for btrfs switch compression off. Otherwise use files much larger than memory.",
    documented: "open(2), O_DIRECT; statx(2), STATX_DIOALIGN; OpenZFS pull request 10018; linux fuse ->direct_IO",
};

/// The share from a cache from which on it is reported: readahead and metadata stay below.
const CAUTION: f64 = 0.1;
/// The share from which on the number is mostly the cache's.
const INVALID: f64 = 0.5;
/// New cached pages, as a share of what was moved: a direct run makes none.
const CACHED_SHARE: f64 = 0.25;
/// If the device delivered this share of what was read, no cache answered.
const ALL_DELIVERED: f64 = 0.9;
/// Least bytes of new pages to judge.
const PAGES_BYTES_MIN: u64 = 4 << 20;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let direct = evidence.byte_flows().filter(|(stage, row, _)| {
        row.direct() == Some(true)
            && !row.maps_files()
            && stage.rows.iter().all(|row| row.direct() == Some(true))
            // Blocks that were never written are not delivered, without any cache.
            && !has_gaps(row)
            && stage.class().is_some_and(|class| class != StorageClass::Memory)
    });
    direct.filter_map(|(stage, row, flow)| undelivered(stage, row, flow).or_else(|| cached(stage, row, flow))).collect()
}

fn undelivered(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let asked = flow.application.bytes.read;
    if !row.reads() || asked < BYTES_MIN || !stage.reads_are_the_workload() {
        return None;
    }
    let (delivered, witness) = match (&flow.storage.read, &flow.wire) {
        (Some(storage), _) if row.class() != StorageClass::Fuse => (storage.bytes, storage.witness.as_str()),
        // FUSE and buffered NFS have findings of their own.
        (None, Some(wire)) if row.class() == StorageClass::Network => (wire.bytes.read, wire.witness),
        _ => return None,
    };
    let share = asked.saturating_sub(delivered) as f64 / asked as f64;
    if share < CAUTION {
        return None;
    }
    let severity = if share >= INVALID { Severity::Invalid } else { Severity::Caution };
    let cause = format!(
        "{} read with direct I/O, but only {} delivered by {witness}: {} came from a cache that direct I/O does not \
         bypass{}",
        size(asked),
        size(delivered),
        percent(share),
        stage.shared_figures_note()
    );
    let report =
        Report::new(ID, severity, row.name).bytes("bytes read by the job", asked).bytes("bytes delivered", delivered);
    Some(report.says(cause, next(row)))
}

fn cached(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let (begin, end) = (flow.begin.cache.value()?, flow.end.cache.value()?);
    let grown = end.cached_bytes.saturating_sub(begin.cached_bytes).saturating_sub(moved_by_others(flow));
    let moved = flow.application.bytes.sum();
    // A file's pages are cached once, however often it is read. But if the device delivered each of many passes, the
    // few cached pages answered no request.
    let touched =
        stage.rows.iter().map(JobInStage::span_bytes).try_fold(0u64, |sum, span| Some(sum.saturating_add(span?)));
    let delivered = flow.storage.read.as_ref().map_or(0, |storage| storage.bytes);
    let only_read = flow.application.bytes.write == 0;
    let all_delivered = only_read && delivered as f64 >= moved as f64 * ALL_DELIVERED;
    let most = if all_delivered { moved } else { moved.min(touched.unwrap_or(u64::MAX)) };
    if grown < PAGES_BYTES_MIN || (grown as f64) < most as f64 * CACHED_SHARE {
        return None;
    }
    let cause = format!(
        "{} of the files entered the page cache while {} moved with direct I/O: the I/O was not direct{}",
        size(grown),
        size(moved),
        stage.shared_figures_note()
    );
    let report = Report::new(ID, Severity::Caution, row.name)
        .bytes("growth of the page cache", grown)
        .bytes("bytes moved by the job", moved);
    Some(report.says(cause, next(row)))
}

/// What others read and wrote: it may have filled pages of the same files.
fn moved_by_others(flow: &Flow<'_>) -> u64 {
    let own = flow.application.bytes;
    if let Some(asked) = flow.wire.as_ref().and_then(|wire| wire.asked) {
        return asked.since(own).sum();
    }
    let read = flow.storage.read.as_ref().filter(|storage| !storage.shared).map(|storage| storage.bytes);
    let Some((device, read)) = flow.device.as_ref().map(|device| device.done.bytes).zip(read) else { return 0 };
    let dirty = flow.end.cache.value().and_then(|cache| cache.dirty_bytes).unwrap_or(0);
    let written = if own.write == 0 { device.write.saturating_add(dirty) } else { 0 };
    device.read.saturating_sub(read).saturating_add(written)
}

fn next(row: &JobInStage<'_>) -> String {
    match row.first().plan.files.first() {
        Some(path) => format!("fsdyno inspect {}", word_as_typed(path)),
        None => "fsdyno explain direct-not-honoured".to_owned(),
    }
}
