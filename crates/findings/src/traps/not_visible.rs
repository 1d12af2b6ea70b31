//! T33: no counter shows whether requests reached the storage.

use fsdyno_results::evidence::{Layer, RecordedFact, StorageClass};
use fsdyno_results::{Finding, ReadWrite, Severity};

use super::too_short::is_too_short;
use super::writes_in_memory::without_sync;
use crate::evidence::{BYTES_MIN, Evidence, Flow, FuseBackend, JobInStage, Stage, Transfer, connected};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "not-visible";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T33",
    title: "Storage or cache: not visible which answered",
    happens: "The layers below the job are not visible from here: a daemon in another container, a filesystem without \
              a visible block device, a directory of the host. The number may be that of the storage or of a cache.",
    seen: "No counter was readable (devices, mount, daemon, its network) for the direction in which the job moved 256 \
           KiB or more. Or others used the device or the mount too, and no counter counts this run alone. Or the job \
           moved less than that, which cannot be distinguished from readahead and metadata. A caution: it says nothing \
           against the storage, but the row cannot win a comparison.",
    advice: "Run as root, in the PID namespace of the daemon. Or watch the storage's own counters during the run, and \
             use files larger than all memory on the way.",
    documented: "pid_namespaces(7); network_namespaces(7); proc(5)",
};

/// Up to this share of the written bytes may still be dirty after a sync.
const LEFT_DIRTY: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.byte_flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

fn judge(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    if matches!(row.class(), StorageClass::Memory | StorageClass::Kernel) {
        return None;
    }
    let does = ReadWrite { read: row.reads(), write: row.writes() };
    let unseen = |direction: &Transfer| {
        does[*direction] && row.done(*direction).bytes >= BYTES_MIN && !seen(stage, row, flow, *direction)
    };
    let Some(direction) = Transfer::BOTH.into_iter().find(unseen) else { return too_little(row) };
    let what = if direction == Transfer::Read { "reads came from the storage" } else { "writes reached the storage" };
    let cause = format!("not visible whether {what}: {}", reason(stage, row, flow, direction));
    let next = match row.class() {
        _ if shared_device(row, flow, direction).is_some() => {
            "find who else uses the device (iotop), and run again when it is idle"
        }
        _ if shared_mount(flow, direction) => "find who else uses the mount (lsof), and run again when nobody does",
        StorageClass::Fuse => "run as root in the PID namespace of the daemon",
        _ => "watch the storage's own counters during the run",
    };
    Some(Report::new(ID, Severity::Caution, row.name).says(cause, next))
}

/// For a run without other findings: it moved too little to show a cache.
fn too_little(row: &JobInStage<'_>) -> Option<Finding> {
    let bytes = row.done(Transfer::Read).bytes.saturating_add(row.done(Transfer::Write).bytes);
    if !(1..BYTES_MIN).contains(&bytes) || is_too_short(row.runtime_ms(), row.ios()) {
        return None;
    }
    let cause = format!(
        "not visible whether the storage or a cache was measured: {} are no more than readahead and metadata move",
        size(bytes)
    );
    Some(Report::new(ID, Severity::Caution, row.name).says(cause, "run longer, or with a larger --bs"))
}

/// Whether a layer that would show a cache was visible, and counted this run alone.
pub(crate) fn seen(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> bool {
    let dirty = flow.end.cache.value().and_then(|cache| cache.dirty_bytes);
    let unsynced = direction == Transfer::Write && without_sync(row) && dirty.is_some();
    // If no page is left dirty, the device took the run's writes, whoever else wrote.
    let clean = direction == Transfer::Write
        && dirty.is_some_and(|dirty| dirty as f64 <= flow.application.bytes.write as f64 * LEFT_DIRTY);
    let storage = flow.storage[direction].as_ref().is_some_and(|storage| !storage.shared || clean || unsynced);
    let wire = flow.wire.is_some() && !shared_mount(flow, direction);
    match stage.class() {
        Some(StorageClass::Fuse) => {
            let storage = flow.storage[direction].as_ref().is_some_and(|storage| !storage.shared);
            let has_server = row.fuse_backend(connected(flow.end)) == FuseBackend::Server;
            wire || storage && !has_server
        }
        Some(StorageClass::Network) => wire || unsynced,
        Some(_) => (storage || wire || unsynced) && shared_image(row, flow, direction).is_none(),
        None => false,
    }
}

/// The disk below an image in the page cache, if others' bytes hide what it did for the run.
fn shared_image(row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> Option<String> {
    let cached = |device: &&Layer| device.image.as_ref().is_none_or(|image| image.direct != Some(true));
    let below = |device: &Layer| flow.below_loop(device, direction).filter(|below| below.shared);
    row.loops().iter().filter(|device| cached(device)).find_map(|device| Some(below(device)?.witness))
}

/// The device whose counter would show it, if that includes others' bytes.
fn shared_device(row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> Option<String> {
    let shared = flow.storage[direction].as_ref().filter(|storage| storage.shared);
    shared.map(|storage| storage.witness.clone()).or_else(|| shared_image(row, flow, direction))
}

/// Whether others use the mount, and not everything that was asked of it crossed the network.
fn shared_mount(flow: &Flow<'_>, direction: Transfer) -> bool {
    flow.wire.as_ref().is_some_and(|wire| wire.shared[direction])
}

fn reason(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, direction: Transfer) -> String {
    if let Some(device) = shared_device(row, flow, direction) {
        return format!("others used {device} too, and no counter counts this run alone");
    }
    if shared_mount(flow, direction) {
        return "others used the mount too, and not all requested bytes crossed the network".to_owned();
    }
    let daemon = || row.storage?.fuse.as_ref()?.daemon_pid.reason();
    let layer = match stage.class() {
        None => return "jobs on different kinds of storage ran at the same time".to_owned(),
        Some(StorageClass::HostShare) => return "the directory belongs to the host".to_owned(),
        Some(StorageClass::Fuse) => {
            let daemons = "the daemon's counters do not show it, and no device is known below it";
            daemon().or(flow.end.wire.reason()).or(Some(daemons))
        }
        Some(StorageClass::Network) => flow.end.wire.reason(),
        Some(_) => flow.end.devices.reason(),
    };
    let none = if matches!(flow.end.devices, RecordedFact::Value(_)) {
        "no device is known below it"
    } else {
        "no counter covers it"
    };
    layer.unwrap_or(none).to_owned()
}
