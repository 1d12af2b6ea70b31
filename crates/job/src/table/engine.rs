//! The engine, its depth, the mode of the file, the memory of the buffers.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Status, Status::*};
use crate::typed::{CHOICES as BUILT_ENGINES, EngineName, Memory, SyncOpen};
use crate::value::{Refusal, Word};

const METADATA: Status = NotYet("tests of file operations are not built as engines");
const NETWORK: Status = Rejected("it moves data between machines, not to a filesystem");
const OBJECTS: Status = Rejected("it talks to a storage service by its own library, past every filesystem");
const DEVICE: Status = Rejected("it drives a device past the filesystem");
const NO_STORAGE: Status = Rejected("it does no storage I/O");

/// Every engine of fio's: those of [`EngineName`], then those that end the run by name.
const ENGINE_CHOICES: &[Choice] = &{
    let mut all = [MISSING_ENGINES[0]; BUILT_ENGINES.len() + MISSING_ENGINES.len()];
    let (built, missing) = all.split_at_mut(BUILT_ENGINES.len());
    built.copy_from_slice(BUILT_ENGINES);
    missing.copy_from_slice(MISSING_ENGINES);
    all
};

const MISSING_ENGINES: &[Choice] = &[
    Choice::new("splice", "Moves pages through a pipe").status(NotYet("use psync or io_uring")),
    Choice::new("filecreate", "Creates files").status(METADATA),
    Choice::new("filestat", "Looks files up").status(METADATA),
    Choice::new("filedelete", "Deletes files").status(METADATA),
    Choice::new("filerename", "Renames files").status(METADATA),
    Choice::new("dircreate", "Creates directories").status(METADATA),
    Choice::new("dirstat", "Looks directories up").status(METADATA),
    Choice::new("dirdelete", "Deletes directories").status(METADATA),
    Choice::new("falloc", "fallocate as reads and writes").status(METADATA),
    Choice::new("ftruncate", "ftruncate as writes").status(METADATA),
    Choice::new("e4defrag", "Defragments ext4 files").status(Rejected("it changes the layout of existing files")),
    Choice::new("io_uring_cmd", "NVMe commands through rings").status(DEVICE),
    Choice::new("sg", "SCSI generic commands").status(DEVICE),
    Choice::new("mtd", "Raw flash").status(DEVICE),
    Choice::new("libzbc", "Zoned devices by library").status(DEVICE),
    Choice::new("xnvme", "NVMe by library").status(DEVICE),
    Choice::new("libblkio", "Block devices by library").status(DEVICE),
    Choice::new("libcufile", "GPU direct storage").status(DEVICE),
    Choice::new("pmemblk", "Persistent memory blocks by library").status(DEVICE),
    Choice::new("dev-dax", "Persistent memory devices").status(DEVICE),
    Choice::new("libpmem", "Persistent memory files by library").status(DEVICE),
    Choice::new("rbd", "Ceph block images").status(OBJECTS),
    Choice::new("rados", "Ceph objects").status(OBJECTS),
    Choice::new("http", "WebDAV, S3 and Swift objects").status(OBJECTS),
    Choice::new("nbd", "Network block devices").status(OBJECTS),
    Choice::new("nfs", "NFS by library, without a mount").status(OBJECTS),
    Choice::new("dfs", "DAOS files by library").status(OBJECTS),
    Choice::new("gfapi", "Gluster files by library").status(OBJECTS),
    Choice::new("gfapi_async", "Gluster files by library, asynchronous").status(OBJECTS),
    Choice::new("libhdfs", "Hadoop files by library").status(OBJECTS),
    Choice::new("ime_psync", "Infinite Memory Engine").status(OBJECTS),
    Choice::new("ime_psyncv", "Infinite Memory Engine, vectored").status(OBJECTS),
    Choice::new("ime_aio", "Infinite Memory Engine, asynchronous").status(OBJECTS),
    Choice::new("net", "TCP and UDP").status(NETWORK),
    Choice::new("netsplice", "TCP and UDP through splice").status(NETWORK),
    Choice::new("rdma", "RDMA").status(NETWORK),
    Choice::new("librpma_apm", "RDMA to persistent memory").status(NETWORK),
    Choice::new("librpma_gpspm", "RDMA to persistent memory").status(NETWORK),
    Choice::new("cpuio", "Burns CPU time").status(NO_STORAGE),
    Choice::new("exec", "Runs a program").status(NO_STORAGE),
    Choice::new("external", "An engine from a shared object")
        .tail("path")
        .status(Rejected("fio's plug-in interface is C code compiled against fio")),
];

const SYNCS: &[Choice] = &[
    Choice::new("none", "Neither flag"),
    Choice::new("0", "Another name of none"),
    Choice::new("sync", "O_SYNC: data and metadata before each write returns"),
    Choice::new("1", "Another name of sync"),
    Choice::new("dsync", "O_DSYNC: data before each write returns"),
];

const ONE_KIND: &str = "buffers are anonymous pages in any case";

const MEMORIES: &[Choice] = &[
    Choice::new("malloc", "Anonymous pages"),
    Choice::new("shm", "Shared memory segments").status(Partial(ONE_KIND)),
    Choice::new("shmhuge", "Shared memory of huge pages").status(NotYet("use mmaphuge")),
    Choice::new("mmap", "Anonymous pages, or a file").tail("path").status(Partial("anonymous pages; no file")),
    Choice::new("mmapshared", "A shared mapping").tail("path").status(Partial(ONE_KIND)),
    Choice::new("mmaphuge", "Anonymous huge pages").tail("path"),
    Choice::new("cudamalloc", "Memory of a GPU").status(NotYet("GPU memory is not supported")),
];

const SUBMIT_MODES: &[Choice] = &[
    Choice::new("inline", "The worker submits its own I/O"),
    Choice::new("offload", "Threads of their own submit it").status(NotYet("use numjobs for more submitting threads")),
];

const WRITE_HINTS: &[Choice] = &[
    Choice::new("none", "No hint"),
    Choice::new("short", "Short-lived data").status(NotYet(HINTS)),
    Choice::new("medium", "Data of medium life").status(NotYet(HINTS)),
    Choice::new("long", "Long-lived data").status(NotYet(HINTS)),
    Choice::new("extreme", "Data that stays").status(NotYet(HINTS)),
];

const HINTS: &str = "hints to the device are not given";

const PLACEMENTS: &[Choice] = &[
    Choice::new("none", "No placement"),
    Choice::new("fdp", "NVMe flexible data placement").status(NotYet(HINTS)),
    Choice::new("streams", "Write streams").status(NotYet(HINTS)),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("ioengine", word(ENGINE_CHOICES, set_engine))
        .tier(1).default(if cfg!(windows) { "windowsaio" } else { "psync" }).help("How requests reach the kernel"),
    option("iodepth", integer(1, COUNT_MAX, |d, n| d.job.submission.depth = count(n)))
        .tier(1).default("1").help("Requests in flight at most; synchronous engines have one"),
    option("iodepth_batch", integer(0, COUNT_MAX, |d, n| d.job.submission.batch = count(n)))
        .aliases(&["iodepth_batch_submit"]).default("1").help("Submit when so many are queued; 0 is the depth"),
    option("iodepth_batch_complete_min", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.batch_complete_min = count(n);
    })).aliases(&["iodepth_batch_complete"]).default("1").help("Wait for so many completions; 0 polls"),
    option("iodepth_batch_complete_max", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.batch_complete_max = count(n);
    })).help("Take at most so many completions at a time"),
    option("iodepth_low", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.depth_low = (n > 0).then(|| count(n));
    })).tier(3).help("Fill the queue again only when it has fallen to this"),
    option("io_submit_mode", word(SUBMIT_MODES, ignore_word))
        .tier(3).default("inline").help("Who submits I/O").status(Partial("inline only")),
    option("serialize_overlap", boolean(|d, on| d.job.submission.serialize_overlap = on))
        .tier(3).default("0").help("Hold an I/O back while one in flight overlaps it, unless both read"),
    option("direct", boolean(|d, on| d.job.submission.direct = on))
        .tier(1).default("0").help("O_DIRECT: past the page cache"),
    option("buffered", boolean(|d, on| d.job.submission.direct = !on))
        .tier(1).default("1").help("Through the page cache: the opposite of direct"),
    option("sync", word(SYNCS, set_sync))
        .default("none").help("O_SYNC or O_DSYNC when the file is opened"),
    option("atomic", boolean(ignore))
        .tier(4).default("0").help("Atomic writes of the device").status(NotYet("RWF_ATOMIC is not used")),
    option("write_hint", word(WRITE_HINTS, ignore_word))
        .tier(4).default("none").help("How long written data will live").status(Partial("none only")),
    option("dataplacement", word(PLACEMENTS, ignore_word))
        .tier(4).default("none").help("Where the device puts written data").status(Partial("none only")),
    option("fdp", boolean(ignore))
        .tier(4).default("0").help("NVMe flexible data placement").status(NotYet(HINTS)),
    option("plid_select", text(ignore_text))
        .tier(4).aliases(&["fdp_pli_select"]).help("How placements are chosen").status(NotYet(HINTS)),
    option("plids", text(ignore_text))
        .tier(4).aliases(&["fdp_pli"]).help("Placements to use").status(NotYet(HINTS)),
    option("dp_scheme", text(ignore_text))
        .tier(4).help("File that maps offsets to placements").status(NotYet(HINTS)),
    option("mem", word(MEMORIES, set_memory))
        .aliases(&["iomem"]).default("malloc").help("What the buffers are made of")
        .status(Partial("anonymous pages, plain or huge")),
    option("iomem_align", integer(0, COUNT_MAX, |d, n| d.job.submission.memory_align = count(n)))
        .tier(3).aliases(&["mem_align"]).default("0").help("Alignment of the buffers in bytes, a power of two"),
    option("hugepage-size", size(0, ignore))
        .tier(3).default("2m").help("Size of huge pages").status(NotYet("the system's own size is used")),
    option("lockmem", size(0, ignore))
        .tier(3).default("0").help("Lock so much memory, to take it from the page cache")
        .status(NotYet("limit memory with a cgroup")),
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
    if word.tail.is_some() {
        return Err(
            Refusal::new("buffers in a file are not supported yet").advise(format!("write {}", word.choice.word))
        );
    }
    draft.job.submission.memory = match word.choice.word {
        "mmaphuge" => Memory::Huge,
        _ => Memory::Anonymous,
    };
    Ok(())
}
