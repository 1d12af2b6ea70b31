//! T32: a sync that returned before the data were stored.

use fsdyno_results::evidence::{Storage, StorageClass};
use fsdyno_results::{Finding, Severity};

use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{count, percent, size};

pub(crate) const ID: &str = "sync-ignored";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T32",
    title: "A sync returned before the device had the data",
    happens: "A volatile overlay mount skips every sync, as do some network and FUSE filesystems. Libraries such as \
              libeatmydata make fsync() return at once. The run looks durable, but its number is that of memory.",
    seen: "From 256 KiB on, the bytes that must be on the device after the job's syncs are compared with those that \
           the device or NFS server got before the last sync returned. Each block counts once. For random writes with \
           a sync at the end one hundredth counts, since the number of repeated blocks is unknown. Invalid if less \
           than half of them arrived. For a phase that syncs each file or directory: invalid if the devices wrote less \
           than half a block for each file, or half a sector for each directory.",
    advice: "Mount without volatile, run without the library, or report the number as a memory number.",
    documented: "linux Documentation/filesystems/overlayfs.rst, volatile mount; fsync(2)",
};

/// If less than this share of the required bytes arrived, journals, compression and coarse counters do not explain it.
const ARRIVED: f64 = 0.5;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.byte_flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

/// Least bytes of a synced new file: it needs a block of data and one of the journal, a synced directory a sector of
/// the journal; half of that is required.
const FILE_BYTES: u64 = 2048;
/// Least bytes of a synced directory, as `FILE_BYTES`.
const DIRECTORY_BYTES: u64 = 256;
/// Least number of syncs to judge.
const SYNCS_MIN: u64 = 64;

/// For the passes of a phase whose operations are each durable. The devices' other writes are counted as well.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let (syncs, storage) = (passes.operations(), passes.storage?);
    if !passes.syncs || syncs < SYNCS_MIN || !matches!(storage.class, StorageClass::Block | StorageClass::Device) {
        return None;
    }
    let each = if passes.records.iter().any(|record| record.bytes.is_some()) { FILE_BYTES } else { DIRECTORY_BYTES };
    let arrived = passes.bytes(|seen| seen.device.value().map(|device| device.bytes)).map(|bytes| bytes.write);
    let little = arrived.filter(|arrived| *arrived < syncs / passes.threads() * each);
    let volatile = is_volatile(storage);
    let cause = match little {
        _ if volatile => format!("{} syncs did nothing: the overlay is mounted volatile", count(syncs)),
        Some(arrived) => format!("{} syncs, and the devices got {}: they stored less", count(syncs), size(arrived)),
        None => return None,
    };
    Some(
        Report::new(ID, Severity::Invalid, passes.name())
            .number("syncs", syncs as f64, "syncs")
            .says(cause, next(volatile)),
    )
}

fn is_volatile(storage: &Storage) -> bool {
    let options = storage.mount.value().map_or(&[][..], |mount| &mount.options[..]);
    options.iter().any(|option| matches!(option.as_str(), "volatile" | "fsync=volatile"))
}

fn next(volatile: bool) -> &'static str {
    if volatile { "mount the overlay without volatile" } else { "find what skips the sync (fsdyno inspect)" }
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let class = stage.class()?;
    let (arrived, witness) = match (&flow.storage.write, &flow.wire) {
        (Some(storage), _) if matches!(class, StorageClass::Block | StorageClass::Device | StorageClass::Fuse) => {
            (storage.bytes, storage.witness.as_str())
        }
        (None, Some(wire)) if class == StorageClass::Network && wire.exclusive => (wire.bytes.write, wire.witness),
        _ => return None,
    };
    let due = if row.synced() { row.durable_bytes_min() } else { 0 };
    if due < BYTES_MIN || arrived as f64 >= due as f64 * ARRIVED {
        return None;
    }
    let volatile = row.storage.is_some_and(is_volatile);
    let why = if volatile { " (the overlay is mounted volatile)" } else { "" };
    let cause = format!(
        "{} were written and synced, but {witness} got {}: the sync did not store {} of it{why}{}",
        size(due),
        size(arrived),
        percent(1.0 - arrived as f64 / due as f64),
        stage.shared_figures_note()
    );
    let report = Report::new(ID, Severity::Invalid, row.name)
        .bytes("bytes that must be on the device", due)
        .bytes("bytes that the device took", arrived);
    Some(report.says(cause, next(volatile)))
}
