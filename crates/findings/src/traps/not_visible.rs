//! T33: no counter shows whether requests reached the storage.

use results::evidence::{Seen, StorageClass};
use results::{Finding, ReadWrite, Severity};

use super::too_short::is_too_short;
use super::writes_in_memory::without_sync;
use crate::evidence::{BYTES_MIN, Evidence, Flow, FuseBackend, Row, Stage, Transfer, connected};
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
    seen: "No counter was readable (devices, mount, daemon, its network) for the direction in which the job moved \
           256 KiB or more; or all that it moved was less, which says nothing beside readahead and metadata. A caution: it says nothing against the storage, but the row cannot win a comparison.",
    advice: "Run as root, in the PID namespace of the daemon. Or watch the storage's own counters during the run, and \
             use files larger than all memory on the way.",
    documented: "pid_namespaces(7); network_namespaces(7); proc(5)",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.byte_flows().filter_map(|(stage, row, flow)| judge(stage, row, flow)).collect()
}

fn judge(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> Option<Finding> {
    if matches!(row.class(), StorageClass::Memory | StorageClass::Kernel) {
        return None;
    }
    let does = ReadWrite { read: row.reads(), write: row.writes() };
    let unseen = |direction: &Transfer| {
        does[*direction] && row.done(*direction).bytes >= BYTES_MIN && !seen(stage, row, flow, *direction)
    };
    let Some(direction) = Transfer::BOTH.into_iter().find(unseen) else { return too_little(row) };
    let what = if direction == Transfer::Read { "reads came from the storage" } else { "writes reached the storage" };
    let cause = format!("not visible whether {what}: {}", reason(stage, row, flow));
    let next = match row.class() {
        StorageClass::Fuse => "run as root in the PID namespace of the daemon",
        _ => "watch the storage's own counters during the run",
    };
    Some(Report::new(ID, Severity::Caution, row.name).says(cause, next))
}

/// What a run in which nothing else is wrong says nothing about, as it moved so little.
fn too_little(row: &Row<'_>) -> Option<Finding> {
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

/// A layer that would show a cache was watched.
pub(crate) fn seen(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>, direction: Transfer) -> bool {
    let dirty = flow.end.cache.value().is_some_and(|cache| cache.dirty_bytes.is_some());
    let (unsynced, device) = (direction == Transfer::Write && without_sync(row), flow.device.is_some());
    match stage.class() {
        Some(StorageClass::Fuse) => match row.fuse_backend(connected(flow.end)) {
            FuseBackend::Server => flow.wire.is_some(),
            // That a daemon wrote its files does not say that they are on a device.
            FuseBackend::ThisMachine => {
                device || flow.daemon.is_some_and(|daemon| daemon.storage.is_some()) && !unsynced
            }
            FuseBackend::Unknown => false,
        },
        Some(StorageClass::Network) => flow.wire.is_some() || unsynced && dirty,
        Some(_) => device || flow.wire.is_some() || unsynced && dirty,
        None => false,
    }
}

fn reason(stage: &Stage<'_>, row: &Row<'_>, flow: &Flow<'_>) -> String {
    let daemon = || row.storage?.fuse.as_ref()?.daemon_pid.reason();
    let layer = match stage.class() {
        None => return "jobs on different kinds of storage ran at the same time".to_owned(),
        Some(StorageClass::HostShare) => return "the directory belongs to the host".to_owned(),
        Some(StorageClass::Fuse) => daemon().or(flow.end.wire.reason()),
        Some(StorageClass::Network) => flow.end.wire.reason(),
        Some(_) => flow.end.devices.reason(),
    };
    let none =
        if matches!(flow.end.devices, Seen::Value(_)) { "no device is known below it" } else { "no counter covers it" };
    layer.unwrap_or(none).to_owned()
}
