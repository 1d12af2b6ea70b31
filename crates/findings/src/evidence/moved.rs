//! Computes what the storage moved for the run, by the most exact counter that belongs to the run alone: its process,
//! its control group, the daemon of its mount, the pages of its image. A whole device's counter includes others' bytes:
//! it is an upper bound, and where others used the device, nothing follows from what it delivered.

use fsdyno_job::EngineName;
use fsdyno_results::evidence::{CacheCounters, Layer, LayerCounters, LayerKind, LedgerSample, StorageClass};
use fsdyno_results::{Node, ReadWrite, Transfer};

use super::flow::{Flow, Queue, connected};
use super::row::{FuseBackend, JobInStage};

/// Bytes that the storage moved for the run in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moved {
    /// Upper bound of the bytes.
    pub(crate) bytes: u64,
    /// The counter's name: `vda`, `vda for this process`.
    pub(crate) witness: String,
    /// Whether others' bytes may be included: then a sufficient number proves nothing.
    pub(crate) shared: bool,
}

/// A device moved others' bytes if it moved more than the run's own by this share and by `SLACK_BYTES`.
const SLACK: f64 = 0.1;
/// Metadata, journals and readahead stay below this, bytes.
const SLACK_BYTES: u64 = 16 << 20;
/// Journal bytes of each sync.
const JOURNAL_BYTES: u64 = 128 << 10;
/// Requests below this mean size are single pages, bytes.
const SMALL_BYTES: u64 = 32 << 10;
/// Size of a page of the cache, bytes.
const PAGE_BYTES: u64 = 4096;
/// Pages written for a page that is stored by itself, with its journal.
const JOURNAL_TIMES: u64 = 8;
/// A counter that saw this share of the bytes is taken to have seen all.
pub(super) const ALL: f64 = 0.9;

/// Filesystems whose reads the kernel charges to the reading process. Others read in threads that serve everybody.
const READ_BY_THE_ASKER: [&str; 17] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "msdos", "exfat", "ntfs3", "iso9660", "udf", "squashfs",
    "erofs", "overlay", "nilfs2", "minix",
];

/// From this kernel version on, io_uring's threads belong to the process.
const OWN_URING_THREADS: (u32, u32) = (5, 12);

/// Whether a device moved more than this run can have caused.
pub(super) fn has_others(moved: u64, own_max: u64) -> bool {
    moved as f64 > own_max as f64 * (1.0 + SLACK) + SLACK_BYTES as f64
}

/// The most bytes that the requests can have read below a mount: a random request may need one page more than it asks
/// for.
pub(super) fn own_max(application: &LayerCounters, direction: Transfer, rows: &[JobInStage<'_>]) -> u64 {
    let pages = if rows.iter().any(JobInStage::random) { application.operations[direction] } else { 0 };
    application.bytes[direction].saturating_add(pages.saturating_mul(PAGE_BYTES))
}

/// What was moved for the rows of a stage, reads and writes; `None`: not visible. The rows have one storage class.
pub(super) fn of_rows(flow: &Flow<'_>, node: &Node, rows: &[JobInStage<'_>]) -> ReadWrite<Option<Moved>> {
    if rows.iter().any(|row| row.class() == StorageClass::Fuse) {
        return ReadWrite { read: read_by_daemon(flow, rows), write: written(flow, rows) };
    }
    ReadWrite { read: read(flow, node, rows), write: written(flow, rows) }
}

/// Reads: each counter is an upper bound, so the smallest is the most exact.
fn read(flow: &Flow<'_>, node: &Node, rows: &[JobInStage<'_>]) -> Option<Moved> {
    let device = flow.device.as_ref()?;
    let whole = device.done.bytes.read;
    let process = flow.process.filter(|_| charges_the_asker(node, rows)).map(|process| process.storage_bytes.read);
    let group = flow.group.map(|group| group.read);
    let Some(own) = process.into_iter().chain(group).min() else {
        let shared = has_others(whole, flow.application.bytes.read) || flow.foreign_before;
        return Some(Moved { bytes: whole, witness: device.name.clone(), shared });
    };
    // A device that moved hardly more worked for this run alone.
    let alone = own as f64 >= whole as f64 * ALL;
    let whose = if process == Some(own) { "process" } else { "control group" };
    let witness = if alone { device.name.clone() } else { format!("{} for this {whose}", device.name) };
    Some(Moved { bytes: own.min(whole), witness, shared: false })
}

/// Reads through a daemon: the bytes of the daemon and its helpers if these do all reading; a device below gives an
/// upper bound.
fn read_by_daemon(flow: &Flow<'_>, rows: &[JobInStage<'_>]) -> Option<Moved> {
    let asked = flow.application.bytes.read;
    // With passthrough the kernel reads the daemon's files directly, and charges this process.
    let own = flow.process.map_or(0, |process| process.storage_bytes.read);
    let daemon = flow.daemon.as_ref().and_then(|daemon| Some(daemon.storage?.read.saturating_add(own)));
    // A daemon reads for all who use its mount.
    let shared = |bytes| has_others(bytes, own_max(&flow.application, Transfer::Read, rows));
    let daemon = daemon.map(|bytes| Moved { bytes, witness: "the storage below".to_owned(), shared: shared(bytes) });
    let device = flow.device.as_ref().map(|device| {
        let (bytes, witness) = (device.done.bytes.read, device.name.clone());
        Moved { bytes, witness, shared: has_others(bytes, asked) || flow.foreign_before }
    });
    // Bytes from a cache on this machine's disk do not prove that the storage was read.
    let may_be_a_cache = rows.iter().any(|row| row.fuse_backend(connected(flow.end)) == FuseBackend::Unknown)
        && rows.iter().any(JobInStage::names_a_cache);
    let daemon = daemon.filter(|_| !may_be_a_cache);
    let enough = |moved: &Moved| moved.bytes as f64 >= asked as f64 * ALL;
    let is_all = rows.iter().all(|row| local_folders(row) || helpers_are_all(flow) && !on_another_mount(row));
    match (daemon, device) {
        (Some(daemon), _) if enough(&daemon) => Some(daemon),
        // Both are upper bounds. If the device moved hardly more, it worked for this daemon alone, and its name is more
        // informative.
        (Some(daemon), Some(device)) if is_all && (daemon.bytes as f64) < device.bytes as f64 * ALL => Some(daemon),
        (_, Some(device)) if !enough(&device) => Some(device),
        (Some(daemon), _) if is_all => Some(daemon),
        (_, device) => device.filter(|_| !may_be_a_cache),
    }
}

/// Writes: only a device shows what arrived, as process and daemon are charged when a page becomes dirty.
fn written(flow: &Flow<'_>, rows: &[JobInStage<'_>]) -> Option<Moved> {
    let device = flow.device.as_ref()?;
    let (whole, name) = (device.done.bytes.write, &device.name);
    if let Some(group) = flow.group.map(|group| group.write) {
        let alone = group as f64 >= whole as f64 * ALL;
        let witness = if alone { name.clone() } else { format!("{name} for this control group") };
        return Some(Moved { bytes: group.min(whole), witness, shared: false });
    }
    let charged = flow.process.map_or(0, |process| process.storage_bytes.write);
    let daemon = flow.daemon.as_ref().and_then(|daemon| daemon.storage).map_or(0, |bytes| bytes.write);
    let dirty_before = flow.begin.cache.value().and_then(|cache| cache.dirty_bytes).unwrap_or(0);
    let own = flow.application.bytes.write.max(charged).max(daemon).saturating_add(dirty_before);
    let syncs = if rows.iter().any(JobInStage::syncs_between) { flow.application.operations.write } else { 0 };
    // A daemon may have each page stored by itself: small requests, most of them the journal's.
    let small = whole / device.done.operations.write.max(1) < SMALL_BYTES;
    let by_page = small && rows.iter().any(|row| row.class() == StorageClass::Fuse);
    let own = if by_page { own.saturating_mul(JOURNAL_TIMES) } else { own };
    let journal = syncs.saturating_mul(JOURNAL_BYTES);
    // Mirrors write each byte several times.
    let copies = name.split('+').count() as u64;
    let own = own.saturating_add(journal).saturating_mul(copies);
    Some(Moved { bytes: whole, witness: name.clone(), shared: has_others(whole, own) })
}

/// Whether the kernel charges reads to this process.
fn charges_the_asker(node: &Node, rows: &[JobInStage<'_>]) -> bool {
    let uring = |row: &JobInStage<'_>| matches!(row.engine(), Some(EngineName::IoUring));
    let threads_are_ours =
        || node.host.kernel.as_deref().and_then(kernel_version).is_none_or(|version| version >= OWN_URING_THREADS);
    (rows.iter().all(|row| !uring(row)) || threads_are_ours())
        && rows.iter().flat_map(JobInStage::parts).all(|part| {
            let storage = part.storage;
            let by_mount = || {
                let mount = storage.mount.value();
                mount.is_some_and(|mount| READ_BY_THE_ASKER.contains(&mount.fstype.as_str()))
            };
            match storage.class {
                StorageClass::Device => true,
                StorageClass::Block if storage.layers.is_empty() => by_mount(),
                StorageClass::Block => storage.layers.iter().all(read_by_the_asker),
                _ => false,
            }
        })
}

/// Whether the filesystems from this layer down to the first devices read in the asking process.
fn read_by_the_asker(layer: &Layer) -> bool {
    let own = layer.kind != LayerKind::Filesystem || READ_BY_THE_ASKER.contains(&layer.name.as_str());
    layer.is_device() || own && layer.below_with_data().all(read_by_the_asker)
}

/// Major and minor version: `Linux 6.18.44` as 6 and 18.
fn kernel_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("Linux ")?.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Whether the daemon shows known folders or files on filesystems whose reads the kernel charges to it.
fn local_folders(row: &JobInStage<'_>) -> bool {
    let below =
        |layer: &Layer| layer.below_with_data().next().is_some() && layer.below_with_data().all(read_by_the_asker);
    row.storage.is_some_and(|storage| !storage.layers.is_empty() && storage.layers.iter().all(below))
}

/// Whether the daemon's folders are known to be on a mount whose reads no process counter shows.
fn on_another_mount(row: &JobInStage<'_>) -> bool {
    let below = |layer: &Layer| !layer.below_with_data().all(read_by_the_asker);
    row.storage.is_some_and(|storage| storage.layers.iter().any(below))
}

fn helpers_are_all(flow: &Flow<'_>) -> bool {
    let helpers = flow.end.wire.value().and_then(|wire| wire.daemon_helpers.as_ref());
    helpers.is_some_and(|helpers| helpers.complete)
}

impl Flow<'_> {
    /// What the storage below a loop device's file moved of the loop device's bytes; `None`: not visible.
    pub(crate) fn below_loop(&self, device: &Layer, direction: Transfer) -> Option<Moved> {
        let (moved, below) = (self.moved(&device.name)?[direction], self.below_image(device)?[direction]);
        let pages = |sample: &LedgerSample| self.counters(sample, &device.name)?.image;
        // With direct I/O the image has no pages.
        let cached = device.image.as_ref().is_some_and(|image| image.direct == Some(false));
        let pages = pages(self.begin).zip(pages(self.end)).filter(|_| cached);
        let kept = pages.and_then(|(begin, end)| kept_in_pages(&begin, &end, direction, moved));
        let names: Vec<&str> = device.devices_below().iter().map(|below| below.name.as_str()).collect();
        let below = Moved { bytes: below, witness: names.join("+"), shared: has_others(below, moved) };
        // The image's pages include others' where they used the loop device itself.
        let others = has_others(moved, self.own_of(device, moved, direction));
        match kept {
            // The new pages bound the bytes that were read, whoever else used the disk.
            Some(most) if most < below.bytes => {
                let shared = others || below.shared && direction == Transfer::Write;
                Some(Moved { bytes: most, witness: format!("{} for it", below.witness), shared })
            }
            Some(_) if direction == Transfer::Read => Some(Moved { shared: others, ..below }),
            _ => Some(below),
        }
    }

    /// The run's part of what a device moved, as far as its own counters show it; lower layers may move more by
    /// readahead.
    pub(crate) fn own_of(&self, device: &Layer, moved: u64, direction: Transfer) -> u64 {
        let is_first = |queue: &Queue| queue.name.split('+').any(|name| name == device.name);
        match &self.storage[direction] {
            _ if !self.device.as_ref().is_some_and(is_first) => moved,
            Some(storage) if storage.shared => moved.min(self.application.bytes[direction]),
            Some(storage) if direction == Transfer::Read => moved.min(storage.bytes),
            _ => moved,
        }
    }
}

/// The most bytes that the storage can have moved for an image, by the image's pages. Reads: all pages that appeared,
/// if none was evicted. Writes: all bytes except those still dirty.
fn kept_in_pages(begin: &CacheCounters, end: &CacheCounters, direction: Transfer, moved: u64) -> Option<u64> {
    match direction {
        Transfer::Read => (end.evicted_bytes? == 0).then(|| end.cached_bytes.saturating_sub(begin.cached_bytes)),
        Transfer::Write => {
            let dirty = |cache: &CacheCounters| Some(cache.dirty_bytes?.saturating_add(cache.writeback_bytes?));
            Some(moved.saturating_sub(dirty(end)?.saturating_sub(dirty(begin)?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_kernels() {
        assert_eq!(kernel_version("Linux 6.18.44-fc-v669"), Some((6, 18)));
        assert_eq!(kernel_version("Linux 5.4"), Some((5, 4)));
        assert_eq!(kernel_version("Windows 10.0"), None);
    }

    #[test]
    fn pages_of_an_image_bound_what_was_read_for_it() {
        let pages = |cached: u64, dirty: u64, evicted: Option<u64>| CacheCounters {
            cached_bytes: cached,
            dirty_bytes: Some(dirty),
            writeback_bytes: Some(0),
            evicted_bytes: evicted,
        };
        let most = |end: CacheCounters, direction| kept_in_pages(&pages(10, 1, Some(0)), &end, direction, 50);
        assert_eq!(most(pages(10, 1, Some(0)), Transfer::Read), Some(0), "all came from memory");
        assert_eq!(most(pages(40, 1, Some(0)), Transfer::Read), Some(30));
        assert_eq!(most(pages(40, 1, Some(4)), Transfer::Read), None, "a page may have come and gone");
        assert_eq!(most(pages(40, 1, None), Transfer::Read), None);
        assert_eq!(most(pages(40, 31, Some(0)), Transfer::Write), Some(20));
        assert_eq!(most(pages(40, 1, Some(0)), Transfer::Write), Some(50));
    }
}
