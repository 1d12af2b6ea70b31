//! Tests stacks beside another user of the same device, or of the disk below: what is found stays found.

use std::path::{Path, PathBuf};

use testkit::stack::{inside_beside_others, place};
use testkit::{Neighbour, shell, skip, word};

use crate::bench::{Bench, Run};

/// Another file on the stack's disk, of 64 MiB.
fn other() -> PathBuf {
    let other = place("LAB_LOCAL").join("other");
    shell(&format!("dd if=/dev/urandom of={} bs=1M count=64 conv=fsync status=none", word(&other)));
    other
}

/// Mounts ext4 at `top` on a loop device whose image is on the stack's disk; returns the device's name.
fn upper(options: &str) -> String {
    let disk = place("LAB_LOCAL");
    let line = format!(
        "set -e; cd {}; mkdir top; dd if=/dev/zero of=image bs=1M count=96 conv=fsync status=none; \
         device=$(losetup --find --show {options} image); mkfs.ext4 -q $device; mount $device top; \
         losetup --detach $device; echo $device",
        word(&disk)
    );
    shell(&line).trim().trim_start_matches("/dev/").to_owned()
}

/// Reads of 48 MiB with direct I/O, for a second.
fn direct(file: &Path) -> Run {
    let words = "--rw=read --bs=1m --size=48m --direct=1 --time_based --runtime=1";
    Bench::new().fio(&format!("--name=job --filename={} {words}", word(file)))
}

/// Writes what [`direct`] reads, however long that takes.
fn written(file: &Path) -> Run {
    Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=1m --size=48m --direct=1", word(file)))
}

/// Reads few bytes: even a slow neighbour moves many times more.
fn few_reads(file: &Path) -> Run {
    let words = "--rw=read --bs=64k --size=48m --direct=1 --time_based --runtime=5 --rate=1m";
    Bench::new().fio(&format!("--name=job --filename={} {words}", word(file)))
}

fn top() -> PathBuf {
    place("LAB_LOCAL").join("top/file")
}

#[test]
fn an_image_in_memory_beside_a_reader_below() {
    inside_beside_others("neighbours::an_image_in_memory_beside_a_reader_below", "ext4 --size-mb 400", || {
        let device = upper("");
        let _neighbour = Neighbour::reading(&other());
        written(&top());
        direct(&top()).invalid("host-cache");
        shell(&format!("losetup --direct-io=on /dev/{device}"));
        direct(&top()).silent(&["host-cache", "not-visible"]);
    });
}

#[test]
fn an_image_that_stays_dirty_beside_a_writer_below() {
    inside_beside_others("neighbours::an_image_that_stays_dirty_beside_a_writer_below", "ext4 --size-mb 400", || {
        let device = upper("");
        let _neighbour = Neighbour::writing(&place("LAB_LOCAL").join("other"));
        let once = |name: &str| {
            let file = place("LAB_LOCAL").join("top").join(name);
            Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=1m --size=32m --direct=1", word(&file)))
        };
        once("first").invalid("host-cache");
        shell(&format!("sync; losetup --direct-io=on /dev/{device}"));
        once("second").silent(&["host-cache", "not-visible"]);
    });
}

#[test]
fn others_on_the_disk_below() {
    inside_beside_others("neighbours::others_on_the_disk_below", "ext4 --size-mb 400", || {
        let device = upper("--direct-io=on");
        let disk = place("LAB_DEVICE");
        let disk = disk.file_name().and_then(|name| name.to_str()).expect("a device");
        let named = format!("{disk} below {device} moved");
        let file = other();
        written(&top());
        let quiet = few_reads(&top());
        // The machine's own disk, further below, has other users.
        assert!(quiet.finding("foreign-load").is_none_or(|finding| !finding.cause.starts_with(&named)));
        let neighbour = Neighbour::reading(&file);
        few_reads(&top()).caution("foreign-load");
        drop(neighbour);
        let _neighbour = Neighbour::writing(&file);
        few_reads(&top()).caution("foreign-load");
    });
}

#[test]
fn direct_io_that_is_not_direct_beside_others() {
    inside_beside_others("neighbours::direct_io_that_is_not_direct_beside_others", "ext4 --size-mb 400", || {
        let (file, other) = (place("LAB_LOCAL").join("file"), other());
        written(&file);
        let beside = |judge: &dyn Fn(Run)| {
            for begin in [Neighbour::reading, Neighbour::writing] {
                let _neighbour = begin(&other);
                judge(direct(&file));
            }
        };
        beside(&|run| run.silent(&["direct-not-honoured"]));
        let (disk, device) = (place("LAB_LOCAL"), place("LAB_DEVICE"));
        // Its own loop device for the journal's mode: the stack's is removed with its mount.
        shell(&format!(
            "image=$(losetup --noheadings --output BACK-FILE {1}); umount {0}; mount -o loop,data=journal \"$image\" {0}",
            word(&disk),
            word(&device)
        ));
        beside(&|run| drop(run.invalid("direct-not-honoured").clone()));
    });
}

#[test]
fn a_daemon_with_warm_pages_beside_others_below() {
    inside_beside_others("neighbours::a_daemon_with_warm_pages_beside_others_below", "bindfs", || {
        let other = other();
        let (above, below) = (place("LAB_FUSE").join("file"), place("LAB_LOCAL").join("file"));
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=64 conv=fsync status=none", word(&below)));
        let words = format!("--name=job --filename={} --rw=read --bs=1m --size=64m", word(&above));
        for begin in [Neighbour::reading, Neighbour::writing] {
            let _neighbour = begin(&other);
            shell(&format!("cat {} > /dev/null", word(&above)));
            Bench::new().fio(&format!("{words} --invalidate=0")).invalid("fuse-cache");
            shell(&format!("dd if={} iflag=nocache count=0 status=none", word(&below)));
            Bench::new().fio(&words).silent(&["fuse-cache", "not-visible"]);
        }
    });
}

/// Bytes on the disk may be the neighbour's, and an overlay's pages are not counted.
#[test]
fn a_sync_that_does_nothing_beside_a_writer() {
    let write = |at: PathBuf| {
        Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=1m --size=32m --end_fsync=1", word(&at)))
    };
    inside_beside_others("neighbours::a_sync_that_does_nothing_beside_a_writer", "ext4 --size-mb 400", || {
        let disk = place("LAB_LOCAL");
        shell(&format!(
            "set -e; cd {}; mkdir lower upper work at; mount -t overlay overlay \
             -o lowerdir=lower,upperdir=upper,workdir=work,volatile at",
            word(&disk)
        ));
        write(disk.join("at/first")).invalid("sync-ignored");
        let _neighbour = Neighbour::writing(&disk.join("other"));
        let words = format!(
            "--name=job --filename={} --rw=write --bs=64k --size=32m --end_fsync=1 --time_based --runtime=6 --rate=1m",
            word(&disk.join("at/second"))
        );
        Bench::new().fio(&words).caution("not-visible");
        write(disk.join("plain")).silent(&["not-visible", "sync-ignored"]);
    });
}

#[test]
fn an_image_with_holes_beside_a_reader_below() {
    inside_beside_others("neighbours::an_image_with_holes_beside_a_reader_below", "ext4 --size-mb 400", || {
        let image = place("LAB_LOCAL").join("image");
        shell(&format!("truncate -s 64M {}", word(&image)));
        let _neighbour = Neighbour::reading(&other());
        let read = || {
            let device = shell(&format!("losetup --find --show --direct-io=on {}", word(&image))).trim().to_owned();
            let words = format!("--name=job --filename={device} --rw=read --bs=1m --direct=1 --readonly");
            let ran = Bench::new().fio(&words);
            shell(&format!("losetup --detach {device}"));
            ran
        };
        read().caution("thin-blocks");
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=64 conv=notrunc,fsync status=none", word(&image)));
        read().silent(&["thin-blocks"]);
    });
}

/// A daemon whose child makes its reads, and none of whose bytes cross a network.
#[test]
fn a_daemon_whose_child_reads() {
    inside_beside_others("neighbours::a_daemon_whose_child_reads", "ext4 --size-mb 256", || {
        if shell("type -P nbdfuse nbdkit || true").lines().count() < 2 {
            return skip("nbdfuse or nbdkit is not installed");
        }
        let (image, at) = (other(), place("LAB_LOCAL").join("at"));
        shell(&format!(
            "touch {at}; nbdfuse {at} [ nbdkit --exit-with-parent file {image} ] > /dev/null 2>&1 & \
             for attempt in $(seq 50); do mountpoint -q {at} && exit; sleep 0.1; done; exit 1",
            at = word(&at),
            image = word(&image)
        ));
        let words = format!("--name=job --filename={} --rw=read --bs=1m --size=64m --readonly", word(&at));
        shell(&format!("dd if={} iflag=nocache count=0 status=none", word(&image)));
        Bench::new().fio(&words).silent(&["fuse-cache", "not-visible", "memory-storage"]);
        Bench::new().fio(&words).invalid("fuse-cache");
        shell(&format!("umount {}", word(&at)));
    });
}

/// A daemon is charged when a page becomes dirty, which does not mean that it is on a disk.
#[test]
fn writes_of_a_daemon_over_a_folder_that_is_not_known() {
    inside_beside_others("neighbours::writes_of_a_daemon_over_a_folder_that_is_not_known", "fuse", || {
        let write = |at: PathBuf| {
            Bench::new()
                .fio(&format!("--name=job --filename={} --rw=write --bs=1m --size=32m --end_fsync=1", word(&at)))
        };
        write(place("LAB_FUSE").join("file")).caution("not-visible");
        write(place("LAB_FUSE_BEHIND").join("file")).silent(&["not-visible"]);
    });
}
