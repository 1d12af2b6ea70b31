//! T49: a timed command wrote to other storage than its place.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Row, Severity, Target};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "wrote-elsewhere";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T49",
    title: "The command wrote somewhere else",
    happens: "A command that writes to a fixed path (a cache, /var/tmp, a database that runs elsewhere) measures the \
              storage of that path, not that of its place. It also finds the files of its earlier runs there.",
    seen: "Pages that the command made dirty and did not drop again, minus the bytes that the storage of its place \
           wrote until the sync after it had ended. A caution from 1 MiB on, if this is half of the bytes that it \
           wrote or more. In memory no bytes count as written, so that the run in memory shows this finding wherever \
           else the command writes. Not examined on FUSE, and on filesystems that compress.",
    advice: "Make the command write below the directory that {} and FSDYNO_DIR name; HOME and TMPDIR are next to it. \
             Files that it wrote elsewhere are not removed.",
    documented: "proc(5), write_bytes and cancelled_write_bytes in /proc/PID/io",
};

/// Fewer bytes are logs.
const BYTES_MIN: u64 = 1 << 20;

pub(crate) fn find(target: &Target, row: &Row) -> Option<Finding> {
    let (made_dirty, written) = dirty_and_written(target, row).filter(|_| !compresses(target))?;
    let elsewhere = missing(made_dirty, written)?;
    let cause = format!(
        "the command wrote {}, of which the storage of this place wrote {} at most: the rest lies somewhere else",
        size(made_dirty),
        size(written)
    );
    let report = Report::new(ID, Severity::Caution, &row.pattern).bytes("written elsewhere", elsewhere);
    Some(report.says(cause, "make it write below {} (or FSDYNO_DIR), and remove the files that it left elsewhere"))
}

/// Whether the mount compresses what is written.
pub(super) fn compresses(target: &Target) -> bool {
    let compress = |option: &String| option.starts_with("compress");
    target.storage.mount.value().is_some_and(|mount| mount.options.iter().any(compress))
}

/// The bytes that the storage did not write, if they are a large part of what was to be written.
pub(super) fn missing(made_dirty: u64, written: u64) -> Option<u64> {
    let missing = made_dirty.saturating_sub(written);
    (missing >= BYTES_MIN && missing * 2 >= made_dirty).then_some(missing)
}

/// Bytes that a command made dirty and did not discard, and those that its place's storage wrote until the end of the
/// sync after it.
pub(super) fn dirty_and_written(target: &Target, row: &Row) -> Option<(u64, u64)> {
    let tree = row.tree.as_ref()?;
    let written = match (target.storage.class, tree.during.wire.value()) {
        (StorageClass::Memory, _) => 0,
        // The daemon writes, or the kernel on its behalf.
        (_, Some(wire)) if wire.operations.is_none() => return None,
        (_, Some(wire)) => wire.bytes.write + tree.in_sync.wire.value()?.bytes.write,
        (_, None) => tree.during.devices.value()?.bytes.write + tree.in_sync.devices.value()?.bytes.write,
    };
    Some((tree.storage_bytes?.write.saturating_sub(tree.cancelled_bytes?), written))
}
