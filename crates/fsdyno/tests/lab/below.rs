//! Tests what devices and filesystems are based on: memory at the bottom of a stack, images that were never written,
//! compressed images.

use std::path::{Path, PathBuf};

use fsdyno_results::Verdict;
use serde_json::Value;
use testkit::stack::{inside_beside_others, place};
use testkit::{shell, skip, word};

use crate::bench::{Bench, Run};

/// The stack's disk; `None`: the lab itself is in memory, and the reason is printed.
fn disk() -> Option<PathBuf> {
    let disk = place("LAB_LOCAL");
    let ways = ways(&Bench::new().inspect(&disk));
    let in_memory = ways.iter().any(|way| way.contains("memory"));
    if in_memory {
        skip("the lab's own folder is in memory");
    }
    (!in_memory).then_some(disk)
}

/// The layers of a document of `inspect`: a line for each, after those above it.
fn ways(document: &Value) -> Vec<String> {
    fn grow(layer: &Value, above: &str, lines: &mut Vec<String>) {
        let memory = if layer["memory"] == true { " in memory" } else { "" };
        let way = format!("{above}{}{memory}", layer["name"].as_str().expect("a name"));
        lines.push(way.clone());
        let below = layer["below"].as_array().map_or(&[][..], Vec::as_slice);
        below.iter().for_each(|below| grow(below, &format!("{way} on "), lines));
    }
    let mut lines = Vec::new();
    let layers = document["storage"]["layers"].as_array().expect("layers");
    layers.iter().for_each(|layer| grow(layer, "", &mut lines));
    lines
}

/// A tmpfs in the stack's own namespace.
fn memory(disk: &Path) -> PathBuf {
    let memory = disk.join("memory");
    shell(&format!("mkdir {0}; mount -t tmpfs -o size=400m tmpfs {0}", word(&memory)));
    memory
}

/// Mounts ext4 on a loop device on a new image. The device is removed with its mount.
pub(crate) fn mounted_image(image: &Path, at: &Path, options: &str) -> String {
    let (image, at) = (word(image), word(at));
    let line = format!(
        "set -e; mkdir -p {at}; truncate -s 128M {image}; device=$(losetup --find --show {options} {image}); \
         mkfs.ext4 -q $device; mount $device {at}; losetup --detach $device; echo $device"
    );
    shell(&line).trim().trim_start_matches("/dev/").to_owned()
}

fn random_reads(file: &Path) -> Run {
    let words = format!("--name=job --filename={} --rw=randread --bs=4k --size=16m --direct=1", word(file));
    Bench::new().fio(&words)
}

fn synced_writes(file: &Path) -> Run {
    let words = format!("--name=job --filename={} --rw=write --bs=4k --size=256k --fsync=1", word(file));
    Bench::new().fio(&words)
}

/// Memory is called memory on the fio face, and no requirement of durable data is passed there.
#[track_caller]
fn is_memory(at: &Path, way: &str) {
    let read = random_reads(&at.join("file"));
    assert!(read.caution("memory-storage").cause.contains(way), "{}", read.stderr);
    synced_writes(&at.join("file")).invalid("memory-storage");
    let study = Bench::new().ask(&["check", "etcd", "--quick", word(at)]);
    let verdicts: Vec<Verdict> = study.verdicts.iter().map(|answer| answer.verdict).collect();
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::NotApplicable) && !verdicts.is_empty(), "{verdicts:?}");
    let remarks = Bench::new().inspect(at)["storage"]["remarks"].to_string();
    assert!(remarks.contains("the data are in memory"), "{remarks}");
}

#[test]
fn a_loop_device_in_memory() {
    inside_beside_others("below::a_loop_device_in_memory", "ext4 --size-mb 256", || {
        let Some(disk) = disk() else { return };
        random_reads(&disk.join("file")).silent(&["memory-storage"]);
        synced_writes(&disk.join("file")).silent(&["memory-storage"]);
        let memory = memory(&disk);
        let upper = disk.join("upper");
        let device = mounted_image(&memory.join("image"), &upper, "");
        is_memory(&upper, &format!("(ext4 on {device} on tmpfs)"));
        let inner = mounted_image(&upper.join("image"), &disk.join("inner"), "");
        let way = format!("ext4 on {inner} on ext4 on {device} on tmpfs in memory");
        let found = ways(&Bench::new().inspect(&disk.join("inner")));
        assert!(found.contains(&way), "{found:?}");
        // Only the device still holds the image.
        shell(&format!("rm {}", word(&memory.join("image"))));
        random_reads(&disk.join("inner/file")).caution("memory-storage");
    });
}

/// A directory and a file that are bind mounts of others.
#[test]
fn a_bind_mount_of_memory() {
    inside_beside_others("below::a_bind_mount_of_memory", "ext4 --size-mb 128", || {
        let Some(disk) = disk() else { return };
        let memory = memory(&disk);
        let (folder, file) = (disk.join("folder"), disk.join("file"));
        shell(&format!(
            "set -e; mkdir {folder} {memory}/part; truncate -s 16M {memory}/part/file; touch {file}; \
             mount --bind {memory}/part {folder}; mount --bind {memory}/part/file {file}",
            memory = word(&memory),
            folder = word(&folder),
            file = word(&file)
        ));
        let write = |path: &Path| {
            Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=64k --size=16m", word(path)))
        };
        write(&folder.join("new")).caution("memory-storage");
        write(&file).caution("memory-storage");
        write(&disk.join("own")).silent(&["memory-storage"]);
    });
}

#[test]
fn compressed_memory() {
    inside_beside_others("below::compressed_memory", "ext4 --size-mb 64", || {
        let Ok(number) = std::fs::read_to_string("/sys/class/zram-control/hot_add") else { return skip("no zram") };
        let (name, at) = (format!("zram{}", number.trim()), place("LAB_LOCAL").join("at"));
        shell(&format!(
            "set -e; mkdir {at}; echo 128M > /sys/block/{name}/disksize; mkfs.ext4 -q /dev/{name}; mount /dev/{name} {at}",
            at = word(&at)
        ));
        let judged = std::panic::catch_unwind(|| is_memory(&at, &format!("(ext4 on {name})")));
        shell(&format!(
            "umount {}; for attempt in $(seq 50); do echo {} > /sys/class/zram-control/hot_remove && exit; sleep 0.1; done",
            word(&at),
            number.trim()
        ));
        judged.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn an_overlay_that_writes_into_memory() {
    inside_beside_others("below::an_overlay_that_writes_into_memory", "ext4 --size-mb 256", || {
        let Some(disk) = disk() else { return };
        let memory = memory(&disk);
        let (lower, at) = (disk.join("lower"), disk.join("merged"));
        shell(&format!(
            "set -e; mkdir {lower} {at} {memory}/upper {memory}/work; dd if=/dev/urandom of={lower}/low bs=1M count=16 \
             conv=fsync status=none; mount -t overlay overlay -o \
             lowerdir={lower},upperdir={memory}/upper,workdir={memory}/work {at}",
            lower = word(&lower),
            at = word(&at),
            memory = word(&memory)
        ));
        // It is on the disk as long as it is only read.
        let low = random_reads(&at.join("low"));
        low.silent(&["memory-storage", "not-visible", "direct-not-honoured"]);
        let device = place("LAB_DEVICE");
        let device = device.file_name().and_then(|name| name.to_str()).expect("a device");
        assert!(low.record.storages().any(|storage| {
            storage.devices.value().is_some_and(|devices| devices.iter().any(|known| known.name == device))
        }));
        let words = |name: &str, more: &str| {
            format!("--name=job --filename={} --bs=64k --size=16m {more}", word(&at.join(name)))
        };
        Bench::new().fio(&words("new", "--rw=read")).caution("memory-storage");
        let copied = Bench::new().fio(&words("low", "--rw=randwrite --end_fsync=1"));
        copied.caution("memory-storage");
    });
}

/// In a container the overlay's directories are not visible; a file of the host that is mounted there shows their
/// filesystem.
#[test]
fn an_overlay_whose_directories_are_hidden() {
    inside_beside_others("below::an_overlay_whose_directories_are_hidden", "ext4 --size-mb 128", || {
        let disk = place("LAB_LOCAL");
        let root = disk.parent().expect("a room").join("container");
        let (root, disk) = (word(&root), word(&disk));
        shell(&format!(
            "set -e; mkdir -p {disk}/host/lower {disk}/host/upper {disk}/host/work {root}; touch {disk}/hosts {root}/hosts; \
             mkdir {root}/merged; mount -t overlay overlay -o \
             lowerdir={disk}/host/lower,upperdir={disk}/host/upper,workdir={disk}/host/work {root}/merged; \
             mount --bind {disk}/hosts {root}/hosts; mount -t tmpfs -o size=1m tmpfs {disk}/host"
        ));
        let merged = Path::new(root).join("merged");
        let found = ways(&Bench::new().inspect(&merged));
        let device = place("LAB_DEVICE");
        let device = device.file_name().and_then(|name| name.to_str()).expect("a device");
        assert!(found.iter().any(|way| way.starts_with(&format!("overlay on ext4 on {device}"))), "{found:?}");
        let written = Bench::new()
            .fio(&format!("--name=job --filename={root}/merged/new --rw=write --bs=64k --size=16m --end_fsync=1"));
        written.silent(&["not-visible"]);
        shell(&format!("umount {root}/hosts; mount --bind {disk}/host {disk}"));
        let hidden = Bench::new().inspect(&merged)["storage"]["layers"].to_string();
        assert!(hidden.contains("not visible to this process"), "{hidden}");
    });
}

/// A folder in memory behind a daemon, and the same daemon over the disk.
#[test]
fn a_daemon_over_memory() {
    inside_beside_others("below::a_daemon_over_memory", "bindfs", || {
        let Some(disk) = disk() else { return };
        let read = |at: &Path| {
            let words = format!("--name=job --filename={} --rw=read --bs=64k --size=16m", word(&at.join("small")));
            Bench::new().fio(&words)
        };
        read(&place("LAB_FUSE")).silent(&["memory-storage"]);
        let (memory, at) = (memory(&disk), disk.join("at"));
        shell(&format!("mkdir {0}; bindfs {1} {0}", word(&at), word(&memory)));
        let over_memory = read(&at);
        shell(&format!("umount {}", word(&at)));
        assert!(over_memory.caution("memory-storage").cause.contains("on tmpfs)"), "{}", over_memory.stderr);
    });
}

/// A union of a folder on the disk and one in memory, and of two on the disk. `mount`: the command and its options,
/// with `ONE` and `TWO` for the folders and `AT` for the union.
fn union_of(program: &str, mount: &str) {
    if shell(&format!("type -P {program} || true")).is_empty() {
        return skip(&format!("{program} is not installed"));
    }
    let Some(disk) = disk() else { return };
    let memory = memory(&disk);
    let at = disk.join("at");
    let (one, two) = (memory.join("one"), disk.join("two"));
    shell(&format!("mkdir {} {} {}", word(&one), word(&two), word(&at)));
    for (folder, name) in [(&one, "quick"), (&two, "slow")] {
        shell(&format!("head -c 16M /dev/urandom > {}/{name}", word(folder)));
    }
    let stand = |one: &Path| {
        let line = mount.replace("ONE", word(one)).replace("TWO", word(&two)).replace("AT", word(&at));
        shell(&format!("{line}; for attempt in $(seq 50); do mountpoint -q {0} && exit; sleep 0.1; done", word(&at)));
    };
    let run = |name: &str, more: &str| {
        let files = name.split(':').map(|name| word(&at.join(name)).to_owned()).collect::<Vec<_>>().join(":");
        Bench::new().fio(&format!("--name=job --filename={files} --bs=64k {more}"))
    };
    stand(&one);
    let (old, new) = ("--rw=read --size=16m --readonly", "--rw=write --size=16m --end_fsync=1");
    let way = format!("(fuse.{program} on tmpfs)");
    run("slow", old).silent(&["memory-storage"]);
    let whole = run("quick", old);
    assert!(
        whole.caution("memory-storage").cause.starts_with(&format!("the files are in this machine's memory {way}"))
    );
    let both = run("slow:quick", "--rw=read --size=32m --readonly");
    let part = format!("this machine's memory {way} holds 1 of 2 files, 16.0 MiB of 32.0 MiB");
    assert!(both.invalid("memory-storage").cause.starts_with(&part), "{}", both.stderr);
    let unknown = run("new", new);
    assert!(
        unknown.finding("memory-storage").is_some_and(|finding| finding.cause.contains(&way)),
        "{}",
        unknown.stderr
    );
    let study = Bench::new().ask(&["check", "etcd", "--quick", word(&at)]);
    let verdicts: Vec<Verdict> = study.verdicts.iter().map(|answer| answer.verdict).collect();
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::NotApplicable) && !verdicts.is_empty(), "{verdicts:?}");
    shell(&format!("umount {0}; mkdir {1}; rm -f {2}/new", word(&at), word(&disk.join("one")), word(&two)));
    // The honest twin has both folders on the disk.
    stand(&disk.join("one"));
    run("slow", old).silent(&["memory-storage", "not-visible"]);
    run("new", new).silent(&["memory-storage"]);
    shell(&format!("umount {}", word(&at)));
}

#[test]
fn mergerfs_with_a_branch_in_memory() {
    inside_beside_others("below::mergerfs_with_a_branch_in_memory", "ext4 --size-mb 256", || {
        union_of("mergerfs", "mergerfs -o cache.files=off,minfreespace=0,category.create=ff ONE:TWO AT");
    });
}

#[test]
fn unionfs_with_a_branch_in_memory() {
    inside_beside_others("below::unionfs_with_a_branch_in_memory", "ext4 --size-mb 256", || {
        union_of("unionfs", "unionfs -o cow ONE=RW:TWO=RO AT");
    });
}

/// A loop device with direct I/O on a filesystem on a loop device whose image is in the page cache.
#[test]
fn a_page_cache_two_levels_down() {
    inside_beside_others("below::a_page_cache_two_levels_down", "ext4 --size-mb 400", || {
        let disk = place("LAB_LOCAL");
        let middle = mounted_image(&disk.join("middle.image"), &disk.join("middle"), "--direct-io=on");
        mounted_image(&disk.join("middle/top.image"), &disk.join("top"), "--direct-io=on");
        let words = |rw: &str| {
            format!("--name=job --filename={} --rw={rw} --bs=1m --size=32m --direct=1", word(&disk.join("top/file")))
        };
        Bench::new().fio(&words("write"));
        Bench::new().fio(&words("read")).silent(&["host-cache", "memory-storage"]);
        shell(&format!("losetup --direct-io=off /dev/{middle}"));
        Bench::new().fio(&words("read"));
        let cached = Bench::new().fio(&words("read"));
        let finding = cached.invalid("host-cache");
        assert!(finding.cause.starts_with(&format!("{middle} delivered")), "{}", finding.cause);
        assert!(finding.next.contains(&middle), "{}", finding.next);
    });
}

fn many_syncs(top: &Path) -> Run {
    let file = top.join("file");
    Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=4k --size=1m --fsync=1", word(&file)))
}

/// A sync whose flush ends at a loop device's file, because the file's filesystem omits syncs.
#[track_caller]
fn flushes_end_below(top: &Path) {
    let cause = many_syncs(top).invalid("sync-not-flushed").cause.clone();
    assert!(cause.contains("below its file") && cause.contains("leaves syncs out"), "{cause}");
    let study = Bench::new().ask_any(&["check", "etcd", "--quick", word(top)]);
    let verdicts: Vec<Verdict> = study.verdicts.iter().map(|answer| answer.verdict).collect();
    assert!(!verdicts.contains(&Verdict::Pass) && !verdicts.is_empty(), "{verdicts:?}");
}

#[test]
fn a_flush_that_ends_at_a_mount_with_nobarrier() {
    inside_beside_others("below::a_flush_that_ends_at_a_mount_with_nobarrier", "ext4 --size-mb 400", || {
        let (middle, top) = (place("LAB_LOCAL").join("middle"), place("LAB_LOCAL").join("top"));
        mounted_image(&middle.with_extension("image"), &middle, "--direct-io=on");
        mounted_image(&middle.join("image"), &top, "--direct-io=on");
        many_syncs(&top).silent(&["sync-not-flushed"]);
        shell(&format!("mount -o remount,nobarrier {}", word(&middle)));
        flushes_end_below(&top);
    });
}

#[test]
fn a_flush_that_ends_at_a_volatile_overlay() {
    inside_beside_others("below::a_flush_that_ends_at_a_volatile_overlay", "ext4 --size-mb 400", || {
        let disk = place("LAB_LOCAL");
        let top = disk.join("top");
        let overlay = |options: &str| {
            shell(&format!(
                "set -e; cd {}; rm -rf at lower upper work; mkdir at lower upper work; mount -t overlay overlay -o \
                 lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work{options} at",
                word(&disk)
            ));
            mounted_image(&disk.join("at/image"), &top, "--direct-io=on");
        };
        overlay("");
        many_syncs(&top).silent(&["sync-not-flushed"]);
        shell(&format!("umount {}; umount {}/at", word(&top), word(&disk)));
        overlay(",volatile");
        flushes_end_below(&top);
    });
}

/// A loop device's requests to the disk below count for the process that caused them, and for a limit there.
#[test]
fn a_limit_below_a_loop_device() {
    inside_beside_others("below::a_limit_below_a_loop_device", "throttle --in-memory --size-mb 256", || {
        let (disk, top) = (place("LAB_LOCAL"), place("LAB_LOCAL").join("top"));
        mounted_image(&disk.join("image"), &top, "--direct-io=on");
        let read = |seconds: u32| {
            let file = top.join("file");
            let words = "--rw=read --bs=64k --size=32m --direct=1 --ioengine=libaio --iodepth=4 --time_based";
            Bench::new().fio(&format!("--name=job --filename={} {words} --runtime={seconds}", word(&file)))
        };
        read(1).silent(&["throttled"]);
        shell("lab-throttle read-bps=10000000");
        let limited = read(4);
        let cause = &limited.caution("throttled").cause;
        assert!(cause.contains("rbps=10000000"), "{cause}");
    });
}

/// A raw device whose image was allocated but not written; and the same written.
#[test]
fn an_image_that_was_allocated() {
    inside_beside_others("below::an_image_that_was_allocated", "ext4 --size-mb 256", || {
        let image = place("LAB_LOCAL").join("image");
        let read = |options: &str| {
            let device = shell(&format!("losetup --find --show {options} {}", word(&image))).trim().to_owned();
            let ran =
                Bench::new().fio(&format!("--name=job --filename={device} --rw=read --bs=1m --direct=1 --readonly"));
            shell(&format!("losetup --detach {device}"));
            ran
        };
        shell(&format!("fallocate -l 64M {}; sync {0}", word(&image)));
        for options in ["", "--direct-io=on"] {
            let unwritten = read(options);
            let cause = &unwritten.caution("thin-blocks").cause;
            assert!(cause.contains("allocated but not written"), "{cause}");
            unwritten.silent(&["host-cache", "direct-not-honoured"]);
        }
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=64 conv=notrunc,fsync status=none", word(&image)));
        read("--direct-io=on").silent(&["thin-blocks", "host-cache"]);
        // What was just written is in the page cache of its file.
        read("").invalid("host-cache");
    });
}

/// Files that an image filesystem stores compressed: the device delivers fewer bytes than are read.
fn compressed_by(program: &str, make: &str) {
    if shell(&format!("type -P {program} || true")).is_empty() {
        return skip(&format!("{program} is not installed"));
    }
    let disk = place("LAB_LOCAL");
    shell(&format!(
        "set -e; cd {}; mkdir files at; yes 'a line that compresses' | head -c 32M > files/text; \
             head -c 32M /dev/urandom > files/random; {make} > /dev/null; sync; \
             mount -o loop,ro image at; losetup --direct-io=on $(findmnt --noheadings --output SOURCE at)",
        word(&disk)
    ));
    let read = |name: &str, more: &str| {
        let file = disk.join("at").join(name);
        Bench::new().fio(&format!("--name=job --filename={} --rw=read --bs=64k --readonly {more}", word(&file)))
    };
    let text = read("text", "");
    let finding = text.invalid("compressible-data");
    assert!(finding.cause.contains("are stored compressed") && !finding.next.contains("--"), "{finding:?}");
    text.silent(&["page-cache", "fits-in-memory"]);
    read("random", "").silent(&["compressible-data", "page-cache"]);
    let again = read("random", "--loops=4 --invalidate=0");
    again.invalid("page-cache");
}

/// Direct I/O is refused there.
#[test]
fn a_compressed_image() {
    inside_beside_others("below::a_compressed_image", "ext4 --size-mb 256", || {
        compressed_by("mksquashfs", "mksquashfs files image -quiet -no-progress");
        let file = place("LAB_LOCAL").join("at/random");
        if file.exists() {
            let words = "--rw=read --bs=64k --readonly --loops=4 --invalidate=0";
            let next = Bench::new().fio(&format!("--name=job --filename={} {words}", word(&file)));
            let next = &next.invalid("page-cache").next;
            assert!(next.contains("no direct I/O") && !next.contains("--direct"), "{next}");
        }
    });
}

#[test]
fn a_compressed_erofs() {
    inside_beside_others("below::a_compressed_erofs", "ext4 --size-mb 256", || {
        compressed_by("mkfs.erofs", "mkfs.erofs -zlz4 image files");
    });
}

/// zram without a filesystem is not on a disk. The stack's own raw loop device is.
#[test]
fn a_raw_device_of_memory() {
    inside_beside_others("below::a_raw_device_of_memory", "ext4 --size-mb 64", || {
        let Ok(number) = std::fs::read_to_string("/sys/class/zram-control/hot_add") else {
            return skip("no zram");
        };
        let number = number.trim();
        shell(&format!(
            "echo 64M > /sys/block/zram{number}/disksize; dd if=/dev/urandom of=/dev/zram{number} bs=1M count=32 status=none"
        ));
        let read = |device: &str| {
            Bench::new()
                .fio(&format!("--name=job --filename={device} --rw=randread --bs=4k --size=16m --direct=1 --readonly"))
        };
        let zram = read(&format!("/dev/zram{number}"));
        let remove = format!("echo {number} > /sys/class/zram-control/hot_remove && exit");
        shell(&format!("for attempt in $(seq 50); do {remove}; sleep 0.1; done"));
        zram.caution("memory-storage");
        if disk().is_some() {
            read(word(&place("LAB_DEVICE"))).silent(&["memory-storage"]);
        }
    });
}
