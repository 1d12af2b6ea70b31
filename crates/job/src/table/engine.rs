//! Rows: the engine, its iodepth, the mode of the file, the memory of the buffers.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Status, Status::*};
use crate::typed::{CHOICES as BUILT_ENGINES, EngineName, Memory, SyncOpen};
use crate::value::{Refusal, Word};

const RDMA: Status = Rejected("it needs RDMA hardware and its library: ioengine=net measures the way by IP");
const OBJECTS: Status =
    Rejected("it uses the library of a storage service, without a filesystem: mount the storage instead");
const DEVICE: Status =
    Rejected("it bypasses the block layer of a device: io_uring or libaio with direct=1 drive its block device");
const ATTRIBUTES: Status =
    Rejected("it works on extended attributes: filestat and filecreate measure metadata without them");

/// Every engine of fio: first those of [`EngineName`], then those that are not built.
const ENGINE_CHOICES: &[Choice] = &{
    let mut all = [MISSING_ENGINES[0]; BUILT_ENGINES.len() + MISSING_ENGINES.len()];
    let (built, missing) = all.split_at_mut(BUILT_ENGINES.len());
    built.copy_from_slice(BUILT_ENGINES);
    missing.copy_from_slice(MISSING_ENGINES);
    all
};

pub(super) const MISSING_ENGINES: &[Choice] = &[
    Choice::new("mtd", "Raw flash").status(DEVICE),
    Choice::new("libzbc", "Zoned devices by library").status(DEVICE),
    Choice::new("xnvme", "NVMe by library").status(DEVICE),
    Choice::new("libblkio", "Block devices by library").status(DEVICE),
    Choice::new("libcufile", "GPU direct storage").status(DEVICE),
    Choice::new("libhipfile", "GPU direct storage of AMD").status(DEVICE),
    Choice::new("pmemblk", "Persistent memory blocks by library").status(DEVICE),
    Choice::new("dev-dax", "Persistent memory devices").status(DEVICE),
    Choice::new("libpmem", "Persistent memory files by library").status(DEVICE),
    Choice::new("rbd", "Ceph block images").status(OBJECTS),
    Choice::new("rados", "Ceph objects").status(OBJECTS),
    Choice::new("nbd", "Network block devices").status(OBJECTS),
    Choice::new("libiscsi", "iSCSI disks by library").status(OBJECTS),
    Choice::new("nfs", "NFS by library, without a mount").status(OBJECTS),
    Choice::new("dfs", "DAOS files by library").status(OBJECTS),
    Choice::new("gfapi", "Gluster files by library").status(OBJECTS),
    Choice::new("gfapi_async", "Gluster files by library, asynchronous").status(OBJECTS),
    Choice::new("libhdfs", "Hadoop files by library").status(OBJECTS),
    Choice::new("ime_psync", "Infinite Memory Engine").status(OBJECTS),
    Choice::new("ime_psyncv", "Infinite Memory Engine, vectored").status(OBJECTS),
    Choice::new("ime_aio", "Infinite Memory Engine, asynchronous").status(OBJECTS),
    Choice::new("rdma", "RDMA").status(RDMA),
    Choice::new("librpma_apm", "RDMA to persistent memory").status(RDMA),
    Choice::new("librpma_gpspm", "RDMA to persistent memory").status(RDMA),
    Choice::new("filesetxattr", "Sets extended attributes of files").status(ATTRIBUTES),
    Choice::new("filelistxattr", "Lists extended attributes of files").status(ATTRIBUTES),
    Choice::new("external", "An engine from a shared object")
        .tail("path")
        .status(Rejected("fio's plug-in interface is C code compiled against fio")),
];

const SYNCS: &[Choice] = &[
    Choice::new("none", "Neither flag"),
    Choice::new("0", "Alias of none"),
    Choice::new("sync", "O_SYNC: data and metadata before each write returns"),
    Choice::new("1", "Alias of sync"),
    Choice::new("dsync", "O_DSYNC: data before each write returns"),
];

const MEMORIES: &[Choice] = &[
    Choice::new("malloc", "Anonymous pages"),
    Choice::new("shm", "Shared memory segments"),
    Choice::new("shmhuge", "Shared memory segments of huge pages"),
    Choice::new("mmap", "Anonymous pages, or a private mapping of a file").tail("path"),
    Choice::new("mmapshared", "A shared mapping, of a file if one is named").tail("path"),
    Choice::new("mmaphuge", "Anonymous huge pages, or a shared mapping of a file on hugetlbfs").tail("path"),
    Choice::new("cudamalloc", "Memory of a GPU")
        .status(Rejected("memory of a GPU needs its maker's library; mem=malloc, mmaphuge or shm have the machine's")),
];

const SUBMIT_MODES: &[Choice] = &[
    Choice::new("inline", "The worker submits its own I/O"),
    Choice::new("offload", "Separate threads submit its I/O, one for each request in flight"),
];

const WRITE_HINTS: &[Choice] = &[
    Choice::new("none", "No hint"),
    Choice::new("short", "Short-lived data"),
    Choice::new("medium", "Data of medium life"),
    Choice::new("long", "Long-lived data"),
    Choice::new("extreme", "Data that stays"),
];

const HINTS: &str = "no command here names a place: no device with placement was there to prove it; write_hint tells the kernel how \
    long data will live";

const PLACEMENTS: &[Choice] = &[
    Choice::new("none", "No placement"),
    Choice::new("fdp", "NVMe flexible data placement").status(Rejected(HINTS)),
    Choice::new("streams", "Write streams").status(Rejected(HINTS)),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("ioengine", word(ENGINE_CHOICES, set_engine))
        .tier(1).default(if cfg!(windows) { "windowsaio" } else { "psync" }).help("How requests reach the kernel"),
    option("iodepth", integer(1, COUNT_MAX, |d, n| d.job.submission.depth = count(n)))
        .tier(1).default("1").help("Requests in flight at most; synchronous engines have one"),
    option("iodepth_batch", integer(0, COUNT_MAX, |d, n| d.job.submission.batch = count(n)))
        .aliases(&["iodepth_batch_submit"]).default("1").help("Submit when this number of requests is queued; 0 is the depth"),
    option("iodepth_batch_complete_min", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.batch_complete_min = count(n);
    })).aliases(&["iodepth_batch_complete"]).default("1").help("Wait for this number of completions; 0 polls"),
    option("iodepth_batch_complete_max", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.batch_complete_max = count(n);
    })).help("Take at most this number of completions at a time"),
    option("iodepth_low", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.depth_low = (n > 0).then(|| count(n));
    })).tier(3).help("Fill the queue again only when it has fallen to this"),
    option("io_submit_mode", word(SUBMIT_MODES, |d, word| {
        d.job.submission.offload = word.choice.word == "offload";
        Ok(())
    })).tier(3).default("inline").help("Who submits I/O"),
    option("serialize_overlap", boolean(|d, on| d.job.submission.serialize_overlap = on))
        .tier(3).default("0").help("Hold an I/O back while one in flight overlaps it, unless both read"),
    option("direct", boolean(|d, on| d.job.submission.direct = on))
        .tier(1).default("0").help("O_DIRECT: bypass the page cache"),
    option("buffered", boolean(|d, on| d.job.submission.direct = !on))
        .tier(1).default("1").help("Use the page cache: the opposite of direct"),
    option("sync", word(SYNCS, set_sync))
        .default("none").help("O_SYNC or O_DSYNC when the file is opened"),
    option("atomic", boolean(|d, on| d.job.submission.engine_options.atomic = on))
        .tier(4).default("0").help("Writes that the device does whole or not at all (RWF_ATOMIC); direct=1 with it"),
    option("write_hint", word(WRITE_HINTS, |d, word| {
        // The kernel's number of "none" is 1.
        let number = WRITE_HINTS.iter().position(|choice| choice.word == word.choice.word).map_or(0, |at| at + 1);
        d.job.files.write_hint = Some(number as u8).filter(|number| *number > 1);
        Ok(())
    })).tier(4).default("none").help("How long written data will live"),
    option("dataplacement", word(PLACEMENTS, ignore_word))
        .tier(4).default("none").help("Where the device puts written data").status(Partial("none only")),
    option("fdp", boolean(ignore))
        .tier(4).default("0").help("NVMe flexible data placement").status(Rejected(HINTS)),
    option("plid_select", text(ignore_text))
        .tier(4).aliases(&["fdp_pli_select"]).help("How placements are chosen").status(Rejected(HINTS)),
    option("plids", text(ignore_text))
        .tier(4).aliases(&["fdp_pli"]).help("Placements to use").status(Rejected(HINTS)),
    option("dp_scheme", text(ignore_text))
        .tier(4).help("File that maps offsets to placements").status(Rejected(HINTS)),
    option("mem", word(MEMORIES, set_memory))
        .aliases(&["iomem"]).default("malloc").help("What the buffers are made of"),
    option("iomem_align", integer(0, COUNT_MAX, |d, n| d.job.submission.memory_align = count(n)))
        .tier(3).aliases(&["mem_align"]).default("0").help("Alignment of the buffers in bytes, a power of two"),
    // fio's default (2 MiB) is stored as 0, which stands for the huge page size that the system prefers.
    option("hugepage-size", size(0, |d, n| d.job.submission.huge_page_bytes = if n == 2 << 20 { 0 } else { n }))
        .tier(3).default("2m").help("Size of the huge pages that mem asks for"),
    option("lockmem", size(0, |d, bytes| d.job.submission.locked_bytes = bytes))
        .tier(3).default("0").help("Memory that each worker locks, to take it from the page cache"),
];

fn set_engine(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    match EngineName::named(word.choice.word) {
        Some(engine) if engine.is_of_this_system() => {
            draft.job.submission.engine = engine;
            Ok(())
        }
        Some(engine) => Err(Refusal::new(engine.missing_because())),
        None => Err(Refusal::new("this build has no such engine")),
    }
}

fn set_sync(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.submission.sync_open = match word.choice.word {
        "sync" | "1" => SyncOpen::Sync,
        "dsync" => SyncOpen::Dsync,
        _ => SyncOpen::None,
    };
    Ok(())
}

fn set_memory(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let path = word.tail.as_ref().filter(|path| !path.is_empty());
    let file = |shared| path.map(|path| Memory::File { path: path.clone(), shared });
    draft.job.submission.memory = match word.choice.word {
        "shm" => Memory::Segment,
        "shmhuge" => Memory::HugeSegment(0),
        "mmap" => file(false).unwrap_or(Memory::Anonymous),
        "mmapshared" => file(true).unwrap_or(Memory::Shared),
        "mmaphuge" => file(true).unwrap_or(Memory::Huge(0)),
        _ => Memory::Anonymous,
    };
    Ok(())
}
