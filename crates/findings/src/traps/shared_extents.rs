//! T51: first writes to blocks that a file shares with its copies.

use fsdyno_results::evidence::Layer;
use fsdyno_results::{Finding, Severity, Transfer};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "shared-extents";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T51",
    title: "The files written share their blocks with copies",
    happens: "After `cp --reflink`, deduplication or a snapshot of a file, copies share blocks until one of them is \
              written. The first write to a shared block gets a new block and changes the map of the file: it costs \
              more than a write in place, and its sync stores the map as well. The second write to it is in place. The \
              number mixes both kinds of writes, and another run on the same file gives another number. cp makes such \
              copies by default on XFS. Reads are not changed: each copy has its own pages in the page cache.",
    seen: "Shared extents in the map of the files before the first I/O (FIEMAP), on filesystems that write in place. A \
           caution if a tenth or more of the bytes that the job writes may be shared. Not on btrfs, bcachefs and ZFS, \
           where each write gets a new block, shared or not.",
    advice: "Write the files whole once before the run (--rw=write --bs=1M --end_fsync=1), or remove them, so that \
             fsdyno lays them out.",
    documented: "ioctl_ficlone(2); cp(1), --reflink; linux Documentation/filesystems/fiemap.rst",
};

/// The share of the written bytes from which on it is reported.
const SHARE: f64 = 0.1;

/// Filesystems that never write in place.
const NEVER_IN_PLACE: [&str; 3] = ["btrfs", "bcachefs", "zfs"];

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.rows().map(|(_, row)| row).filter(|row| row.writes() && writes_in_place(row));
    rows.filter_map(|row| judge(evidence, row)).collect()
}

fn judge(evidence: &Evidence<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let stage = row.first().plan.stage;
    let states = evidence.files(row).filter_map(|file| file.before_stage(stage).value());
    let (total, shared) = states.fold((0u64, 0u64), |(total, shared), state| {
        (total.saturating_add(state.size_bytes), shared.saturating_add(state.shared_bytes.unwrap_or(0)))
    });
    let range = row.span_bytes().unwrap_or(total).clamp(1, total.max(1));
    let written = row.done(Transfer::Write).bytes;
    let shared = shared.min(range);
    if written == 0 || (shared as f64) < range as f64 * SHARE {
        return None;
    }
    let cause = format!(
        "{} of the {} that are written share their blocks with copies: the first write to each block gets a new one, \
         later writes are in place",
        size(shared),
        size(range)
    );
    let report =
        Report::new(ID, Severity::Caution, row.name).bytes("shared bytes", shared).bytes("bytes written", written);
    Some(report.says(cause, "write the files whole once (--rw=write --bs=1M --end_fsync=1), then run again"))
}

fn writes_in_place(row: &JobInStage<'_>) -> bool {
    let parts = row.parts();
    !parts.iter().flat_map(|part| &part.storage.layers).any(never_in_place)
}

/// Whether one of the filesystems from this layer down to the first devices never writes in place.
fn never_in_place(layer: &Layer) -> bool {
    NEVER_IN_PLACE.contains(&layer.name.as_str()) || !layer.is_device() && layer.below_with_data().any(never_in_place)
}
