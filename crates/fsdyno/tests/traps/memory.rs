//! T2, T4, T18: other ways to the page cache than the usual one.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use fsdyno_results::Severity;

use crate::bench::{Bench, FILE_MIB};

/// A mapping has no direct I/O.
#[test]
fn a_mapped_file_that_is_in_memory() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = |engine: &str| {
        format!("--name=job --filename=file --rw=read --bs=1m --size={FILE_MIB}m --invalidate=0 --ioengine={engine}")
    };
    std::fs::read(bench.path("file")).expect("it is read into the cache");
    let mapped = bench.run(&words("mmap"));
    mapped.caught("page-cache", Severity::Invalid);
    assert!(mapped.stderr.contains("mmap always uses the page cache"), "{}", mapped.stderr);
    bench.run(&words("psync --direct=1")).honest("page-cache");
}

/// The next section of a job file reads what the one before has just written.
#[test]
fn what_was_written_a_moment_ago() {
    let Some(bench) = Bench::new() else { return };
    let sections = |read: &str| {
        format!(
            "--filename=fresh --size={FILE_MIB}m --bs=1m --invalidate=0 --name=write --rw=write --end_fsync=1 \
             --name=read --rw=read --stonewall {read}"
        )
    };
    bench.run(&sections("")).caught("page-cache", Severity::Invalid);
    bench.run(&sections("--direct=1")).honest("page-cache");
}

/// Each job brings into memory what the others come to later.
#[test]
fn jobs_whose_parts_overlap() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let jobs = |size: u32, increment: u32| {
        bench.run(&format!(
            "--name=job --filename=file --rw=read --bs=1m --size={size}m --offset_increment={increment}m --numjobs=4 \
             --group_reporting"
        ))
    };
    let overlapping = jobs(48, 4);
    assert!(overlapping.one("page-cache").severity >= Severity::Caution, "{}", overlapping.stderr);
    jobs(16, 16).honest("page-cache");
}

/// The kernel knows that it is one file, whatever its names.
#[test]
fn one_file_under_four_names() {
    let Some(bench) = Bench::new() else { return };
    bench.file("name0");
    (1..4).for_each(|number| {
        std::fs::hard_link(bench.path("name0"), bench.path(&format!("name{number}"))).expect("a link is made");
    });
    let size = FILE_MIB / 4;
    let read = |names: &str, size: u64| {
        bench.run(&format!(
            "--name=job --filename_format={names} --rw=read --bs=1m --size={size}m --numjobs=4 --group_reporting"
        ))
    };
    let same = read("name$jobnum", FILE_MIB);
    assert!(same.one("page-cache").severity >= Severity::Caution, "{}", same.stderr);
    read("own$jobnum", size).honest("page-cache");
}

/// Stores into a mapping are memory's until somebody syncs.
#[test]
fn stores_into_a_mapping() {
    let Some(bench) = Bench::new() else { return };
    let words = |name: &str| format!("--name=job --filename={name} --rw=write --bs=1m --size=64m --ioengine=mmap");
    bench.run(&words("memory")).caught("writes-in-memory", Severity::Invalid);
    bench.run(&format!("{} --end_fsync=1", words("disk"))).honest("writes-in-memory");
}

/// A sync now and then leaves the rest in memory.
#[test]
fn a_last_part_that_no_sync_followed() {
    let Some(bench) = Bench::new() else { return };
    let words = |name: &str, more: &str| {
        format!("--name=job --filename={name} --rw=write --bs=1m --size=64m --fallocate=none {more}")
    };
    let late = bench.run(&words("memory", "--fsync=40"));
    let last = late.record.only_node().unwrap().ledger.as_ref().and_then(|ledger| ledger.samples.last()?.cache.value());
    if last.is_none_or(|cache| cache.dirty_bytes.is_none()) {
        return eprintln!("skipped: this kernel tells no dirty pages of a file (cachestat, Linux 6.5)");
    }
    assert!(late.one("writes-in-memory").severity >= Severity::Caution, "{}", late.stderr);
    bench.run(&words("disk", "--fsync=40 --end_fsync=1")).honest("writes-in-memory");
}

/// Maps and locks the file of its argument until its input ends.
const LOCK: &str = "import ctypes, mmap, sys
file = open(sys.argv[1], 'rb')
libc = ctypes.CDLL(None, use_errno=True)
if libc.mlockall(2):
    sys.exit('mlockall: errno %d' % ctypes.get_errno())
held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
print('held', flush=True)
sys.stdin.read()";

/// Pages that another program has locked stay when a job drops those of its file.
#[test]
fn a_file_that_is_locked_in_memory() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!("--name=job --filename=file --rw=read --bs=64k --size={FILE_MIB}m");
    bench.run(&words).honest("page-cache");
    let mut command = Command::new("python3");
    command.args(["-c", LOCK]).arg(bench.path("file")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut holder) = command.spawn() else { return testkit::skip("python3 is not installed") };
    let mut said = String::new();
    let stdout = holder.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut said).expect("it can be read");
    if said.trim() != "held" {
        holder.wait().expect("it ends");
        return testkit::skip("no memory can be locked here");
    }
    let locked = bench.run(&words);
    let direct = bench.run(&format!("{words} --direct=1"));
    drop(holder.stdin.take());
    holder.wait().expect("it ends with its input");
    locked.caught("page-cache", Severity::Invalid);
    direct.honest("direct-not-honoured");
}
