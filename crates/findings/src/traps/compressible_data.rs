//! T17: data that is compressed on the way to storage.

use fsdyno_results::evidence::{FileState, StorageClass};
use fsdyno_results::{Finding, Row, Severity, Target};

use super::writes_in_memory::without_sync;
use super::wrote_elsewhere::{compresses, dirty_and_written, missing};
use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "compressible-data";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T17",
    title: "The data were compressed or deduplicated",
    happens: "Zeros, one repeated pattern or half-empty buffers take a fraction of their size on storage that \
              compresses or deduplicates. The number then counts bytes that were never stored.",
    seen: "Before the run, from the buffer options, a caution: zeros, one repeated pattern, or buffers of which half \
           or more compresses away. After the run, from 256 KiB on: compressed extents in the extent map, and the \
           bytes that the device moved; on squashfs and erofs, which compress all data, only the bytes. Not checked \
           where a cache can have kept bytes away from the device. Reported when a tenth is saved; invalid when the \
           device moved less than half. For a timed command, on mounts that compress: a caution if the device wrote \
           less than half of the bytes that were made dirty, from 1 MiB on.",
    advice: "Keep the default random data: no zero_buffers, buffer_pattern or buffer_compress_percentage. Add \
             --refill_buffers=1 where the storage deduplicates. If you compress on purpose, report the ratio.",
    documented: "fio documentation, zero_buffers, buffer_compress_percentage, refill_buffers; btrfs(5); elbencho issue 75",
};

/// Buffers that compress to less than this percentage count as compressible.
const PERCENT: u32 = 50;
/// The saved share from which on it is reported.
const SAVED: f64 = 0.1;
/// If the device moved less than this share, most bytes were never stored.
const MOVED: f64 = 0.5;
/// A range read at most this many times counts as read once.
const ONE_PASS: f64 = 1.1;

/// For a timed command on a filesystem that compresses: other users' data may compress less.
pub(crate) fn of_command(target: &Target, row: &Row) -> Option<Finding> {
    let (made_dirty, written) = dirty_and_written(target, row).filter(|_| compresses(target))?;
    let saved = missing(made_dirty, written)?;
    let cause = format!(
        "the command wrote {}, and the storage {}: it compresses, so that the time holds only for data that compress as well",
        size(made_dirty),
        size(written)
    );
    let report = Report::new(ID, Severity::Caution, &row.pattern).bytes("never stored", saved);
    Some(report.says(cause, "run it with data of your own, or with compression switched off"))
}

pub(crate) fn preflight(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| conflict(row, true)).collect()
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    // Preallocated space is not compressed, whatever the mount option says.
    let encoded = |row: &JobInStage<'_>| {
        let states: Vec<&FileState> = evidence.files(row).filter_map(|file| file.after.value()).collect();
        states.is_empty() || states.iter().any(|state| state.encoded_bytes.is_none_or(|bytes| bytes > 0))
    };
    let mut found: Vec<Finding> = evidence.rows().filter_map(|(_, row)| conflict(row, encoded(row))).collect();
    let shrunk = evidence.byte_flows().filter_map(|(stage, row, flow)| {
        let states: Vec<&FileState> = evidence.files(row).filter_map(|file| file.after.value()).collect();
        stored(stage, row, flow, &states)
    });
    found.extend(shrunk);
    found
}

/// The conflict in a plan. `encoded`: whether the filesystem may have compressed the files.
fn conflict(row: &JobInStage<'_>, encoded: bool) -> Option<Finding> {
    let plan = &row.first().plan;
    let percent = plan.compressible_percent.unwrap_or(0);
    if !row.writes() || row.class() == StorageClass::Memory || !(plan.uniform_data || percent >= PERCENT) {
        return None;
    }
    let what = if plan.uniform_data {
        "buffers of zeros or of one repeated pattern".to_owned()
    } else {
        format!("buffers of which {percent} % compress away")
    };
    let storage = row.storage.and_then(|storage| storage.compression.as_deref());
    let cause = match storage {
        Some(option) if encoded => {
            format!("{what} on a filesystem that compresses ({option}): fewer bytes are stored than counted")
        }
        _ => format!("{what}: storage that compresses or deduplicates stores fewer bytes than counted"),
    };
    let report = Report::new(ID, Severity::Caution, row.name);
    Some(report.says(
        cause,
        "leave out zero_buffers, buffer_pattern, verify_pattern and buffer_compress_percentage: random data are the \
         default",
    ))
}

/// The finding from the bytes that the filesystem encoded and the device moved.
fn stored(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, states: &[&FileState]) -> Option<Finding> {
    let sum = |part: fn(&FileState) -> Option<u64>| {
        states.iter().try_fold(0u64, |sum, state| Some(sum.saturating_add(part(state)?)))
    };
    let bytes = sum(|state| Some(state.size_bytes))?;
    // Not every filesystem lists its extents, or marks compressed ones.
    let encoded = if holds_compressed(row) { bytes } else { sum(|state| state.encoded_bytes)? };
    let direction = if row.reads() { Transfer::Read } else { Transfer::Write };
    let storage = flow.storage[direction].as_ref()?;
    let (asked, moved) = (flow.application.bytes[direction], storage.bytes);
    let ratio = moved as f64 / asked.max(1) as f64;
    // Encrypted extents are encoded too, but in full size: then the device moved all bytes.
    let shrunk = encoded as f64 >= bytes as f64 * SAVED && ratio <= 1.0 - SAVED;
    if !shrunk || bytes < BYTES_MIN || asked < BYTES_MIN || !only_by_encoding(stage, row, flow) {
        return None;
    }
    let severity = if ratio < MOVED { Severity::Invalid } else { Severity::Caution };
    let cause = format!(
        "{} of the {} in the files are stored compressed: {} {} by the job, {} by {}{}",
        percent(encoded as f64 / bytes as f64),
        size(bytes),
        size(asked),
        if direction == Transfer::Read { "read" } else { "written" },
        size(moved),
        storage.witness,
        stage.shared_figures_note()
    );
    Some(
        Report::new(ID, severity, row.name)
            .bytes("bytes of the files", bytes)
            .bytes("bytes stored in another form", encoded)
            .bytes("bytes moved by the job", asked)
            .bytes("bytes moved by the device", moved)
            .says(cause, next(row, ratio)),
    )
}

/// Whether the filesystem is a compressed image, which is made in one go.
fn holds_compressed(row: &JobInStage<'_>) -> bool {
    row.storage.is_some_and(|storage| matches!(storage.compression.as_deref(), Some("squashfs" | "erofs")))
}

fn next(row: &JobInStage<'_>, ratio: f64) -> String {
    let data = if holds_compressed(row) { "read files that do not compress" } else { "use random data (the default)" };
    format!("{data}, or report the ratio: {} of the bytes moved", percent(ratio))
}

/// Whether nothing else keeps bytes from the device: no warm or reused page cache, no writes left in memory.
pub(super) fn only_by_encoding(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> bool {
    if !row.reads() {
        return !without_sync(row);
    }
    let span = row.span_bytes().unwrap_or(0) as f64;
    let cold = flow.begin.cache.value().is_some_and(|cache| cache.cached_bytes as f64 <= span * SAVED);
    let once = flow.application.bytes.read as f64 <= span * ONE_PASS;
    stage.reads_are_the_workload() && (row.direct() == Some(true) || cold && once)
}
