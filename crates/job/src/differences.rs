//! Where we read or answer something otherwise than fio, on purpose. COMPAT.md shows this table.

/// One chosen difference.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// What is written or asked for.
    pub written: &'static str,
    /// What fio 3.42 does.
    pub fio: &'static str,
    /// What happens here.
    pub here: &'static str,
    /// Why.
    pub reason: &'static str,
}

const fn difference(written: &'static str, fio: &'static str, here: &'static str, reason: &'static str) -> Difference {
    Difference { written, fio, here, reason }
}

const MISREAD: &str = "a silent misreading measures something else than was asked for";

/// The differences of the language, in the order of COMPAT.md.
pub const DIFFERENCES: &[Difference] = &[
    difference("size=1.5g", "1 byte", "error; says 1536m", MISREAD),
    difference("size=4x, 0x1k, 1KiBs", "drops the unknown unit", "error; lists the units", MISREAD),
    difference("runtime=10sec, 1min, 1h30m", "microseconds", "error; says 10s, 1m, 90m", MISREAD),
    difference("bwavgtime=1s (an option without units)", "1 ms", "error", MISREAD),
    difference("size= 64k (blank after =, with a unit)", "64 bytes", "error; says where the blank is", MISREAD),
    difference("iodepth= 4 (blank after =, no unit)", "4", "4", "nothing is misread"),
    difference(
        "description= text, directory= d, filename= f",
        "keeps or trims the blank, by option",
        "trims it",
        "nobody means the blank",
    ),
    difference("bs=4k-16k, bs=4k:16k", "4k for reads, 16k for writes", "error; says bsrange", MISREAD),
    difference("bs=4k,8k,16k,32k; iodepth=4,8", "keeps three; keeps one", "error", MISREAD),
    difference("size=4KiB", "4000 bytes, as documented", "4000 bytes, with a warning", "odd but documented"),
    difference("size=4ki under kb_base=1000", "4000 bytes", "error", MISREAD),
    difference("size=-1", "2^64-1 bytes", "error", MISREAD),
    difference("size=200%", "accepted", "error", MISREAD),
    difference("bssplit=4k/50:8k/30", "gives the missing 20 % to one size", "error", MISREAD),
    difference("bssplit=4k/50:8k/60", "accepted", "error", MISREAD),
    difference("percentile_list=50,99", "keeps 50", "error", MISREAD),
    difference("percentile_list=50:199", "message, the run goes on", "error", MISREAD),
    difference("rw=read,write; continue_on_error=read,write", "keeps the first word", "error", MISREAD),
    difference("rw=randread:x, ioengine=psync:x", "drops what follows the colon", "error", MISREAD),
    difference("cpus_allowed=foo", "processor 0", "error", MISREAD),
    difference("ignore_error=BOGUS", "accepted", "error; suggests a name", MISREAD),
    difference(
        "-foo, -iodepht=4 (one dash, unknown)",
        "a short option with a value",
        "error; suggests a name",
        "it may write files or change the report",
    ),
    difference("--direct --size=4k (value forgotten)", "takes --size=4k as the value", "error", MISREAD),
    difference(
        "filename before directory on the command line",
        "ignores the directory",
        "the same, with a warning",
        "a silent misreading otherwise",
    ),
    difference("numjobs=0", "underflows", "error", "no such number of jobs"),
    difference("[name without a closing bracket", "drops its last letter", "error", MISREAD),
    difference(
        "include of a file that is missing",
        "message; status 0 under --parse-only",
        "error",
        "part of the job is missing",
    ),
    difference(
        "size=${UNSET}",
        "message that names the variable only by its line",
        "error that says the value is empty",
        "clearer",
    ),
    difference("8*$pagesize", "runs bc(1)", "calculates integers itself", "no program need be installed"),
    difference("--eta=bogus", "auto, silently", "auto, with a warning", "an error in a progress line harms no result"),
    difference(
        "--readonly after a job",
        "does not protect the job",
        "protects every job",
        "a guard must not depend on its place",
    ),
    difference(
        "--showcmd with jobs on the command line",
        "prints nothing for them",
        "prints them too",
        "an empty answer helps nobody",
    ),
    difference(
        "--showcmd with blanks or quotes in values",
        "prints them bare",
        "quotes them for the shell",
        "the line must be usable",
    ),
    difference(
        "list of valid values after a bad word",
        "on standard output",
        "on standard error",
        "standard output holds reports only",
    ),
    difference(
        "several errors in one command",
        "some are found in the next try",
        "all are listed",
        "one try instead of many",
    ),
    difference(
        "options that are not built",
        "-",
        "error by name, unless the value is the default or off",
        "never silently ignored",
    ),
    difference(
        "verify=sha512",
        "keeps the end of the data in place of a hash (3.33)",
        "SHA-512; neither tool reads the other's",
        "damage in a block must be found",
    ),
    difference(
        "verify with buffered writes",
        "reads back what may never have left the page cache",
        "fsync and a cache drop come first",
        "it is the storage that is asked",
    ),
    difference(
        "verify after writing the same file twice",
        "the same run has the same blocks each time",
        "the header says which run wrote it, and as which write",
        "a write that got lost must not hide behind its predecessor",
    ),
    difference(
        "verify of blocks that were written over",
        "reads the newest once, in the order of offsets; 3.33 takes some for damaged (rw=X:N, percentage_random, a queue)",
        "reads the newest once, in the order of writes; once per write where telling the newest takes over 1 GiB",
        "four bytes a block in place of a list of all writes",
    ),
    difference(
        "verify with loops",
        "reads back after each loop",
        "reads back after the last, each loop's newest blocks",
        "the same reads, in one phase",
    ),
    difference(
        "verify of a file that is too short (rw=read, verify_only)",
        "lays the file out again, then finds no headers",
        "error; the file stays as it is",
        "what is left of the file is the evidence",
    ),
    difference(
        "verify of a file with blocks of several runs",
        "nothing; each block is whole",
        "says so, and of how many blocks",
        "an older run's block passes every checksum",
    ),
    difference(
        "--readonly with a file that is too short",
        "says that it refuses, then reads beyond the end",
        "error before the run; the file stays as it is",
        "a read-only run writes nothing",
    ),
    difference(
        "a file longer than offset and size, with a size that is no multiple of bs or with holes (rw=read:8k)",
        "goes by the length of the file: requests reach beyond the range, holes end elsewhere",
        "goes by the range, as fio does where the file ends with it",
        "bytes outside the range that was given are not read and not written",
    ),
    difference(
        "ioengine=null with a filesize that is less than size",
        "takes the file to be as long as size: requests reach beyond filesize, or end there (rw=randread:3)",
        "the file is as long as filesize says",
        "the null engine takes the same requests as the others",
    ),
    difference(
        "rw=write:N or rw=rw:N with verify, where the holes leave less than half of size",
        "writes and verifies the same blocks once more",
        "one pass, as without verify",
        "verification adds no writes",
    ),
    difference(
        "verify_offset=N below the length of the header (sha256, sha512, sha3-512: 104 bytes)",
        "mixes the header with its own bytes and takes the block for damaged",
        "error; says what fits",
        "the blocks could never be verified",
    ),
    difference(
        "fsync or fdatasync with rw=trimwrite",
        "never comes",
        "comes after so many writes",
        "a sync that was asked for is done",
    ),
    difference(
        "rw=randtrimwrite with offset",
        "trims one block, then only writes (3.33)",
        "trims each block before its write",
        "each block was to be trimmed",
    ),
    difference(
        "rw=trimwrite:-N",
        "trims the first block for ever (3.33)",
        "goes backwards",
        "a job must come to its end",
    ),
    difference("rw=trim with ioengine=vsync", "error", "trims", "the call is the same for every engine"),
    difference(
        "rw=trim of a file",
        "lays the file out, then fails with its first trim",
        "error before the file is made",
        "no file can be trimmed",
    ),
    difference(
        "rw=trimwrite with io_uring",
        "the write of a block may overtake its trim (3.42)",
        "the trim is over before its write begins",
        "the data must be there afterwards",
    ),
    difference(
        "trim_percentage with a queue",
        "a trim may overtake the write of its block",
        "the writes in flight are awaited first",
        "a trimmed block must read as zeroes",
    ),
    difference(
        "trim_percentage with loops, norandommap, io_size or time_based",
        "accepted; verification may fail",
        "error",
        "which write or trim of a block comes last is not followed",
    ),
    difference(
        "trim_verify_zero=0",
        "verification fails (3.42)",
        "trimmed blocks are not read",
        "nothing is wrong with them",
    ),
    difference(
        "trim_percentage without trim_backlog",
        "message after the run",
        "warning before it",
        "the run was made for the trims",
    ),
    difference(
        "verify_only with a job that writes",
        "reports the writes that it does not make (3.33)",
        "reports no writes",
        "nothing was written",
    ),
    difference(
        "rw=X:-N with offset",
        "steps back before the first request, to the end of the file, and ends there",
        "begins with the range",
        "the range was given to be used",
    ),
    difference(
        "random patterns with a size for each direction (bs=8k,4k)",
        "the map is full early: the job ends after part of its size",
        "each block of the range comes once",
        "a job must not end before its size",
    ),
    difference(
        "random_generator=lfsr with few blocks",
        "no I/O at all",
        "each block once",
        "a job must not end before its size",
    ),
    difference(
        "a sequential mix with libaio or io_uring whose size is no multiple of bs, from the second pass on",
        "begins with what was left of the pass before",
        "begins each pass alike",
        "a pass is repeatable",
    ),
    difference(
        "mmap with blocks that are no whole pages, and direct, fsync or fdatasync",
        "error",
        "copies the bytes",
        "a mapping has no such limit",
    ),
    difference("pre_read with ioengine=null", "crashes", "nothing to read", "there is no file"),
    difference(
        "verify_interval without verify_fatal",
        "damage counts only in the last interval of a block (3.33)",
        "damage counts in each",
        "damage in a block must be found",
    ),
    difference(
        "random map",
        "bitmap of all blocks",
        "a permutation in constant memory; random_generator=tausworthe gives fio's sequence",
        "memory does not grow with the file",
    ),
    difference(
        "gtod_reduce=1",
        "no latency at all",
        "one I/O in 64 is timed and noted; the report keeps fio's shape",
        "the most-copied command deserves a latency",
    ),
    difference(
        "write_bw_log, write_iops_log of each I/O with gtod_reduce=1 or disable_bw=1",
        "empty files",
        "one line per I/O",
        "an empty log helps nobody",
    ),
    difference(
        "bandwidth and IOPS samples of a job with a log of each I/O",
        "one sample per I/O",
        "one per window, as without the log",
        "a log must not change the report",
    ),
    difference(
        "write_bw_log into a directory that is missing",
        "message after the run, status 0",
        "error before the run",
        "the run was made for the log",
    ),
    difference(
        "workers",
        "processes unless thread=1",
        "threads in any case",
        "one address space; results do not depend on it",
    ),
    difference(
        "messages of jobs that fail, notes",
        "on standard output, before the JSON document",
        "on standard error",
        "JSON on standard output is always one valid document",
    ),
    difference(
        "an option written twice, in job options of the JSON document",
        "listed twice",
        "the last one",
        "strict readers refuse repeated keys",
    ),
    difference(
        "fdatasync, in the JSON document of 3.33",
        "counted as short reads",
        "counted as syncs",
        "they are syncs",
    ),
    difference(
        "a short transfer, in io_bytes",
        "its first part is missing",
        "all bytes are counted",
        "bandwidth is what was transferred",
    ),
    difference(
        "unified_rw_reporting=both, in the normal report of 3.33",
        "a mixed line of zeros",
        "the sums",
        "the JSON document has them as well",
    ),
    difference(
        "allow_file_create=0 without the file, in the JSON document",
        "error 0, exit status 1",
        "error 1 (EPERM), exit status 1",
        "a failed job must not look like a good one",
    ),
    difference(
        "filename_format without $jobnum, numjobs=2",
        "the second clone does nothing",
        "both clones work on the one file",
        "a clone that was asked for must not vanish",
    ),
];
