//! T2: reads answered from the page cache.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, PhaseRecord, Severity};

use super::compressible_data::only_by_encoding;
use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{counted, percent, size};

pub(crate) const ID: &str = "page-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T2",
    title: "Reads came from the page cache",
    happens: "Without direct I/O the kernel keeps data that were read or written in memory, and answers the next read \
              from there. The number is then the speed of memory and of a system call, not of the storage.",
    seen: "From 256 KiB on, the bytes that the job read are compared with those that the devices delivered for it. \
           Reported when 10 % or more came from memory, invalid from 50 % on. Memory filesystems have no device and \
           are not checked. Network and FUSE mounts have findings of their own. For a phase that reads small files \
           cold, a caution if pages of the files could not be dropped, or if this process read less than half of the \
           files from storage.",
    advice: "Add --direct=1 for the storage's own number. If you want to measure the cache, the number is right as a \
             cache number; run once with --direct=1 and once without to have both. Files much larger than memory work \
             as well.",
    documented: "fio documentation, direct and invalidate; fio issues 329, 383, 1212",
};

/// The share from memory from which on it is reported: readahead and metadata stay below.
const CAUTION: f64 = 0.1;
/// The share from which on the number is mostly memory's.
const INVALID: f64 = 0.5;
/// The advice where direct I/O is not possible.
pub(super) const READ_ONCE: &str =
    "this filesystem has no direct I/O: read each byte once, without time_based, loops or invalidate=0";

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.byte_flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let on_disk = matches!(stage.class()?, StorageClass::Block | StorageClass::Device | StorageClass::Unknown);
    if !row.reads() || !row.buffered() || !on_disk || !stage.reads_are_the_workload() {
        return None;
    }
    let storage = flow.storage.read.as_ref()?;
    let (asked, delivered) = (flow.application.bytes.read, storage.bytes);
    // Rows with direct I/O got their bytes from the device: what is missing belongs to the buffered rows.
    let buffered: u64 = stage
        .rows
        .iter()
        .filter(|row| row.buffered())
        .fold(0, |sum, row| row.done(Transfer::Read).bytes.saturating_add(sum));
    let missing = asked.saturating_sub(delivered);
    let share = (missing as f64 / asked.min(buffered).max(1) as f64).min(1.0);
    if asked.min(buffered) < BYTES_MIN || share < CAUTION {
        return None;
    }
    // Compressed files: fewer bytes are stored than read. The device delivered them all, and no page was cached before.
    let compressed = row.storage.is_some_and(|storage| storage.compression.is_some());
    if compressed && only_by_encoding(stage, row, flow) {
        return None;
    }
    let severity = if share >= INVALID { Severity::Invalid } else { Severity::Caution };
    let cause = format!(
        "{} read by the job, {} by {}: {} came from the page cache{}",
        size(asked),
        size(delivered),
        storage.witness,
        percent(share),
        stage.shared_figures_note()
    );
    Some(
        Report::new(ID, severity, row.name)
            .bytes("bytes read by the job", asked)
            .bytes("bytes read by the device", delivered)
            .number("share from the page cache", share, "ratio")
            .says(cause, next(row)),
    )
}

/// The next step, depending on the options that were used.
fn next(row: &JobInStage<'_>) -> &'static str {
    let plan = &row.first().plan;
    if row.cannot_be_direct() {
        READ_ONCE
    } else if row.maps_files() {
        "use --ioengine=psync --direct=1 for the storage's number: mmap always uses the page cache"
    } else if plan.invalidated == Some(false) {
        "add --direct=1, or remove --invalidate=0 and read each byte once"
    } else {
        "add --direct=1"
    }
}

/// The least bytes that a filesystem reads for a file whose data is not in its metadata.
const FILE_BYTES_MIN: u64 = 512;
/// If fewer files than this share came from the storage, most of the phase was not cold.
const COLD_SHARE: f64 = 0.5;

/// For the passes of a phase whose files were to be read cold.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let next = "stop what else reads these files, and run again";
    let report = Report::new(ID, Severity::Caution, passes.name());
    if let Some(kept) = passes.records.iter().find_map(|record| record.cache.as_deref().filter(|cache| is_kept(cache)))
    {
        return Some(report.says(format!("the files were to be read cold: {kept}"), next));
    }
    let (asked, files) = (cold_bytes(passes)?, passes.operations());
    let read = passes.bytes(|seen| seen.own_storage_bytes)?.read;
    let share = read as f64 / asked as f64;
    (share < COLD_SHARE).then(|| {
        let cause = format!(
            "{} were to be read cold, and this process read {} from storage: a cache had most of them",
            counted(files, "file"),
            size(read)
        );
        report.bytes("bytes read from storage", read).says(cause, next)
    })
}

/// Bytes that the storage had to deliver for files that were to be read cold; `None`: the phase is of another kind.
pub(crate) fn cold_bytes(passes: &Passes<'_>) -> Option<u64> {
    let is_cold = |record: &PhaseRecord| record.cache.as_deref().is_some_and(|cache| COLD.contains(&cache));
    let on_disk = matches!(passes.class(), StorageClass::Block | StorageClass::Device);
    let asked = passes.sum(|record| record.bytes.unwrap_or(0).max(record.operations * FILE_BYTES_MIN));
    let reads = passes.records.iter().all(|record| record.bytes.is_some() && is_cold(record));
    (on_disk && reads && asked > 0).then_some(asked)
}

/// Whether a phase's cache state says that others hold its files' pages in memory.
fn is_kept(cache: &str) -> bool {
    cache.ends_with(" files still cached")
}

/// The cache states with dropped file data.
const COLD: [&str; 2] = ["cold", "data cold, names hot"];
