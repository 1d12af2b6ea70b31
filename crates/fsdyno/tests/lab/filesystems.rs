//! Tests what filesystems and devices of this machine do to requests: T5, T12, T17, T27, T28.

use std::process::Command;

use fsdyno_results::{Severity, Trust};

use crate::bench::{Bench, Run};
use testkit::stack::{inside, place, show};
use testkit::word;
use testkit::{shell, text};

const FILE_MIB: u64 = 64;

/// A file on the stack's disk, which is not in memory.
fn file() -> String {
    let file = word(&place("LAB_LOCAL").join("file")).to_owned();
    shell(&format!("dd if=/dev/urandom of={file} bs=1M count={FILE_MIB} conv=fsync status=none"));
    file
}

/// Direct reads of a file for a second.
#[track_caller]
fn direct_reads(file: &str, bs: &str) -> Run {
    Bench::new().fio(&format!(
        "--name=job --filename={file} --rw=read --bs={bs} --size={FILE_MIB}m --direct=1 --time_based --runtime=1"
    ))
}

/// ext4 with data=journal accepts O_DIRECT but uses the page cache.
#[test]
fn direct_io_that_is_not_direct() {
    inside("filesystems::direct_io_that_is_not_direct", "ext4 --size-mb 256", || {
        let file = file();
        direct_reads(&file, "256k").silent(&["direct-not-honoured"]);
        let (disk, device) = (place("LAB_LOCAL"), place("LAB_DEVICE"));
        let (disk, device) = (word(&disk), word(&device));
        // Its own loop device for the journal's mode: the stack's is removed with its mount.
        shell(&format!(
            "image=$(losetup --noheadings --output BACK-FILE {device}); umount {disk}; \
             mount -o loop,data=journal \"$image\" {disk}"
        ));
        let trapped = direct_reads(&file, "256k");
        let finding = trapped.invalid("direct-not-honoured");
        assert!(finding.cause.contains("direct"), "{}", finding.cause);
        assert_eq!(Trust::of(&trapped.record.findings), Trust::Invalid);
        // A quarter of the file exists before; then a mebibyte of it is read.
        let once = |more: &str| {
            let cold = format!("sync {file}; dd if={file} iflag=nocache count=0 status=none");
            shell(&format!("{cold}; dd if={file} of=/dev/null bs=1M count=16 status=none"));
            Bench::new().fio(&format!("--name=job --filename={file} --rw=read --direct=1 --invalidate=0 {more}"))
        };
        once("--bs=256k --size=64m").caution("direct-not-honoured");
        for depth in [1, 16] {
            once(&format!("--bs=4k --size=1m --ioengine=libaio --iodepth={depth}")).invalid("direct-not-honoured");
        }
    });
}

/// btrfs reads directly into a missing page through the page cache, with readahead: a short run would get the finding
/// that its I/O was not direct.
#[test]
fn direct_reads_are_direct_from_the_first_on() {
    inside("filesystems::direct_reads_are_direct_from_the_first_on", "btrfs --size-mb 400", || {
        let file = file();
        for engine in ["libaio", "io_uring", "psync"] {
            shell(&format!("dd if={file} iflag=nocache count=0 status=none"));
            let run = Bench::new().fio(&format!(
                "--name=job --filename={file} --rw=read --bs=64k --size=16m --direct=1 --ioengine={engine} --iodepth=32"
            ));
            run.silent(&["direct-not-honoured"]);
            let samples = &run.record.only_node().and_then(|node| node.ledger.as_ref()).expect("a ledger").samples;
            let pages = samples.last().and_then(|sample| sample.cache.value()).expect("pages are counted");
            assert_eq!(pages.cached_bytes, 0, "{engine}");
        }
    });
}

/// The first writes to shared blocks are relocated, the second ones are not.
#[test]
fn files_that_share_their_blocks() {
    inside("filesystems::files_that_share_their_blocks", "xfs --size-mb 400", || {
        let file = file();
        let write = |more: &str| {
            Bench::new()
                .fio(&format!("--name=job --filename={file} --bs=64k --size={FILE_MIB}m --direct=1 --rw=write {more}"))
        };
        write("").silent(&["shared-extents"]);
        shell(&format!("cp --reflink=always {file} {file}.copy; sync"));
        let cause = write("").caution("shared-extents").cause.clone();
        assert!(cause.starts_with(&format!("{FILE_MIB}.0 MiB of the {FILE_MIB}.0 MiB that are written")), "{cause}");
        write("").silent(&["shared-extents"]);
        // The copy has its own pages and blocks.
        shell(&format!("cp --reflink=always --force {file} {file}.copy; sync; cat {file}.copy > /dev/null"));
        let read = Bench::new().fio(&format!("--name=job --filename={file} --bs=64k --rw=read --readonly"));
        read.silent(&["shared-extents", "page-cache"]);
    });
}

/// On btrfs every write is relocated, shared or not.
#[test]
fn files_that_share_their_blocks_where_no_write_is_in_place() {
    inside("filesystems::files_that_share_their_blocks_where_no_write_is_in_place", "btrfs --size-mb 400", || {
        let file = file();
        shell(&format!("cp --reflink=always {file} {file}.copy; sync"));
        let run = Bench::new()
            .fio(&format!("--name=job --filename={file} --bs=64k --size={FILE_MIB}m --rw=write --end_fsync=1"));
        run.silent(&["shared-extents"]);
    });
}

/// Zeroes on a filesystem that compresses; random data on the same.
#[test]
fn data_that_shrink() {
    inside("filesystems::data_that_shrink", "btrfs --compress zstd --size-mb 512", || {
        let bench = Bench::new();
        let directory = place("LAB_LOCAL");
        let line = format!("--directory={} --rw=write --bs=1m --size=64m --end_fsync=1", word(&directory));
        let zeros = bench.fio(&format!("--name=zeros {line} --zero_buffers=1 --fallocate=none"));
        zeros.invalid("compressible-data");
        assert!(zeros.stderr.contains("compressible-data"), "{}", zeros.stderr);
        let random = bench.fio(&format!("--name=random {line} --refill_buffers=1 --fallocate=none"));
        random.silent(&["compressible-data"]);
        assert_ne!(Trust::of(&random.record.findings), Trust::Invalid, "{:?}", random.record.findings);
    });
}

/// A device that takes requests of 64 KiB at most.
#[test]
fn requests_that_are_cut() {
    inside("filesystems::requests_that_are_cut", "ext4 --size-mb 256", || {
        let file = file();
        let device = place("LAB_DEVICE");
        let name = device.file_name().and_then(|name| name.to_str()).expect("a device");
        shell(&format!("echo 64 > /sys/block/{name}/queue/max_sectors_kb"));
        let cut = direct_reads(&file, "1m");
        let finding = cut.finding("request-size").unwrap_or_else(|| panic!("nothing: {}", cut.stderr));
        assert!(finding.cause.contains("block size 1.0 MiB, but the device got 6"), "{}", finding.cause);
        assert_eq!(finding.severity, Severity::Info, "the device takes no larger ones");
        direct_reads(&file, "64k").silent(&["request-size"]);
    });
}

/// A loop device whose file is in the page cache: like a host's cache below a virtual disk, but with the lower device
/// visible.
#[test]
fn a_cache_below_the_device() {
    inside("filesystems::a_cache_below_the_device", "ext4 --size-mb 256", || {
        let file = file();
        direct_reads(&file, "256k").silent(&["host-cache"]);
        let device = place("LAB_DEVICE");
        shell(&format!("losetup --direct-io=off {}", word(&device)));
        // The first pass caches it.
        shell(&format!("dd if={file} of=/dev/null bs=1M iflag=direct status=none"));
        let finding = direct_reads(&file, "256k").invalid("host-cache").clone();
        assert!(finding.cause.contains("page cache of that file"), "{}", finding.cause);
    });
}

/// Another program reads from the same device; the stack's loop device has no other users.
#[test]
fn a_neighbour_on_the_device() {
    inside("filesystems::a_neighbour_on_the_device", "ext4 --size-mb 256", || {
        let file = file();
        let quiet = direct_reads(&file, "64k");
        // The machine's own disk, below the image, has other users.
        let device = place("LAB_DEVICE");
        let name = device.file_name().and_then(|name| name.to_str()).expect("a device");
        let at_top =
            quiet.finding("foreign-load").filter(|finding| finding.cause.starts_with(&format!("{name} moved")));
        assert!(at_top.is_none(), "{at_top:?}");
        let other = place("LAB_LOCAL").join("other");
        shell(&format!("cp {file} {}; sync {}", word(&other), word(&other)));
        let load = format!("while true; do dd if={} of=/dev/null bs=1M iflag=direct status=none; done", word(&other));
        // Its own process group, which is ended with its children.
        let mut neighbour =
            Command::new("timeout").args(["60", "bash", "-c", &load]).spawn().expect("timeout is there");
        let shared = direct_reads(&file, "64k");
        shell(&format!("kill {}", neighbour.id()));
        neighbour.wait().expect("it ends");
        let finding = shared.caution("foreign-load");
        assert!(finding.cause.contains("for others"), "{}", finding.cause);
    });
}

/// ext4 that omits the flush of the device, and the verdict of `check` on it.
#[test]
fn a_sync_without_a_flush() {
    inside("filesystems::a_sync_without_a_flush", "ext4 --size-mb 256", || {
        let (disk, device) = (place("LAB_LOCAL"), place("LAB_DEVICE"));
        let file = disk.join("new");
        // A device's declaration outlives its image: an earlier user may have changed it.
        let name = device.file_name().and_then(|name| name.to_str()).expect("a device");
        let declare = |cache: &str| shell(&format!("echo '{cache}' > /sys/block/{name}/queue/write_cache"));
        declare("write back");
        let synced = || {
            let words = format!("--name=job --filename={} --rw=write --bs=4k --size=1m --fsync=1", word(&file));
            Bench::new().fio(&words)
        };
        let checked = || text(&Bench::new().run(&["check", "etcd", word(&disk), "--quick"]).stdout);
        synced().silent(&["sync-not-flushed"]);
        let answer = checked();
        assert!(answer.contains("etcd  ") && !answer.contains("flushes"), "{answer}");
        shell(&format!("mount -o remount,nobarrier {}", word(&disk)));
        let cause = &synced().invalid("sync-not-flushed").cause.clone();
        assert!(cause.contains("got 0 flushes: the mount has nobarrier"), "{cause}");
        let answer = checked();
        show(&answer);
        assert!(answer.contains("etcd  INCONCLUSIVE  ") && answer.contains("got 0 flushes"), "{answer}");
        // The same with a device that declares that it needs no flush.
        declare("write through");
        let through = synced();
        declare("write back");
        let finding = through.finding("sync-not-flushed").expect("what was seen is said");
        assert_eq!(finding.severity, Severity::Info, "{finding:?}");
    });
}

/// A disk that is full before the job is done, and one that is not.
#[test]
fn a_full_disk() {
    inside("filesystems::a_full_disk", "ext4 --size-mb 64", || {
        let file = place("LAB_LOCAL").join("file");
        let write = |mib: u32| {
            Bench::new().fio(&format!(
                "--name=job --filename={} --rw=write --bs=64k --size={mib}m --direct=1 --fallocate=none",
                word(&file)
            ))
        };
        let full = write(128);
        let cause = &full.invalid("run-failed").cause;
        assert!(cause.starts_with("not judged: the run failed") && cause.contains("No space left"), "{cause}");
        shell(&format!("rm {}", word(&file)));
        write(16).silent(&["run-failed"]);
    });
}
