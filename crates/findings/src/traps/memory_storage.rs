//! T42: files that are in the memory of this machine, not on a disk.

use fsdyno_results::evidence::{InMemory, Storage, StorageClass};
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, FilesOn, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "memory-storage";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T42",
    title: "The storage is memory",
    happens: "Files on tmpfs, on a zram or brd disk, or on a loop device whose file is on one of these, never reach a \
              disk. Nothing of them survives a restart, whatever is synced. A symbolic link, or one name in a list of \
              files, can lead there. /dev/zero and similar devices store nothing at all.",
    seen: "Each file is followed to its filesystem, and the filesystem through its devices to the lowest layer that \
           this process sees. A caution, since the number is right for such a place. Invalid where the row syncs its \
           writes, because none of them is durable, and where half of the bytes or more, but not all, are in memory, \
           because the number then belongs to no storage.",
    advice: "Name a path on the disk in question; `fsdyno inspect` shows what a path lies on. If memory is what you want \
             to measure, the number is right.",
    documented: "tmpfs(5); linux Documentation/admin-guide/blockdev/zram.rst; losetup(8)",
};

/// From this share of the bytes on the number is mostly memory's.
const MOSTLY: f64 = 0.5;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.all_rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let plan = &row.first().plan;
    if let Some(path) = plan.files.first().filter(|_| row.class() == StorageClass::Kernel) {
        let cause = format!("{path} is a file that the kernel generates: no storage was measured");
        return Some(
            Report::new(ID, Severity::Caution, row.name).says(cause, "name a file on the storage in question"),
        );
    }
    let syncs = row.writes() && (plan.synchronous || plan.sync_every_writes > 0);
    judge_parts(&row.parts(), syncs, Report::new(ID, Severity::Info, row.name))
}

/// For operations on names, which are on one storage.
pub(crate) fn of_phase(storage: &Storage, syncs: bool) -> Option<Finding> {
    judge_parts(&[FilesOn { storage, files: 1, bytes: 0 }], syncs, Report::of_run(ID, Severity::Info))
}

fn judge_parts(all: &[FilesOn<'_>], syncs: bool, report: Report) -> Option<Finding> {
    let of = |wanted: InMemory| all.iter().filter(move |part| part.storage.in_memory() == Some(wanted));
    let first = of(InMemory::All).chain(of(InMemory::Part)).next()?;
    let way = first.storage.way_to_memory().unwrap_or_default();
    let (within, total) = (sum(of(InMemory::All)), sum(all.iter()));
    let share = within.share_of(total);
    let severity = match () {
        () if syncs => Severity::Invalid,
        () if (MOSTLY..1.0).contains(&share) => Severity::Invalid,
        () => Severity::Caution,
    };
    let durable = if syncs { "; no sync makes anything durable there" } else { "" };
    let cause = match () {
        () if share >= 1.0 => format!(
            "the files are in this machine's memory ({way}): the number is that of memory and not of a disk{durable}"
        ),
        () if share > 0.0 => format!(
            "this machine's memory ({way}) holds {} of {} files, {} of {}: the number belongs to no single storage{durable}",
            within.files,
            total.files,
            size(within.bytes),
            size(total.bytes)
        ),
        () => format!("a part of what the files lie on is this machine's memory ({way}){durable}"),
    };
    let report = if total.bytes > 0 {
        report.bytes("bytes in memory", within.bytes).bytes("bytes of the files", total.bytes)
    } else {
        report
    };
    let next = "name files on the disk in question";
    Some(Finding { severity, ..report.says(cause, next) })
}

/// A number of files and their bytes.
#[derive(Clone, Copy, Default)]
struct FileTotals {
    files: u64,
    bytes: u64,
}

impl FileTotals {
    /// The share by bytes; by files where no length is known.
    fn share_of(self, total: FileTotals) -> f64 {
        let (part, whole) = if total.bytes > 0 { (self.bytes, total.bytes) } else { (self.files, total.files) };
        part as f64 / whole.max(1) as f64
    }
}

fn sum<'p, 'r: 'p>(parts: impl Iterator<Item = &'p FilesOn<'r>>) -> FileTotals {
    parts.fold(FileTotals::default(), |sum, part| FileTotals {
        files: sum.files.saturating_add(part.files),
        bytes: sum.bytes.saturating_add(part.bytes),
    })
}
