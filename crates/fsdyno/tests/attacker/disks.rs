//! Checks that a disk in use, or with content, is not written unless the line allows it: whoever uses it, by whatever
//! name it is reached, and whatever happens between the check and the write.

use std::path::Path;

use crate::loops::{Bench, Disk};
use testkit::skip;

/// How this machine's tools format a disk `DISK`, and what the disk then contains.
const FORMATS: &[(&str, &str)] = &[
    ("mkfs.ext4 -q DISK", "an ext2/3/4 filesystem"),
    ("mke2fs -q -O journal_dev DISK", "an ext2/3/4 filesystem"),
    ("mkfs.xfs -q DISK", "an xfs filesystem"),
    ("mkfs.btrfs -q DISK", "a btrfs filesystem"),
    ("mkfs.minix -1 DISK", "a minix filesystem"),
    ("mkfs.minix -2 DISK", "a minix filesystem"),
    ("mkfs.minix -3 DISK", "a minix filesystem"),
    ("mkfs.bfs DISK", "a bfs filesystem"),
    ("mkdir -p empty && mkfs.cramfs empty cram && dd if=cram of=DISK conv=notrunc", "a cramfs filesystem"),
    ("mkdir -p empty && mksquashfs empty DISK -noappend", "a squashfs filesystem"),
    ("mkdir -p empty && mkfs.erofs erofs.img empty && dd if=erofs.img of=DISK conv=notrunc", "an erofs filesystem"),
    ("mkswap DISK", "swap space"),
    ("mkfs.vfat DISK", "a FAT filesystem"),
    ("mkfs.exfat DISK", "an exFAT filesystem"),
    ("mkfs.ntfs --quick --force DISK", "an NTFS filesystem"),
    ("mkfs.f2fs -q DISK", "an f2fs filesystem"),
    ("mkfs.jfs -q DISK", "a jfs filesystem"),
    ("mkfs.reiserfs -qff DISK", "a reiserfs filesystem"),
    ("mkfs.nilfs2 -q DISK", "a nilfs2 filesystem"),
    ("mkfs.udf DISK", "a UDF filesystem"),
    ("mkfs.gfs2 -qO -p lock_nolock DISK", "a gfs or gfs2 filesystem"),
    ("mkfs.ocfs2 -q -M local DISK", "an ocfs2 filesystem"),
    ("mkfs.hfsplus DISK", "an HFS+ filesystem"),
    ("make-bcache -B DISK", "a bcache device"),
    ("pvcreate -qy DISK", "an LVM physical volume"),
    ("cryptsetup luksFormat -q --type luks1 --iter-time 1 DISK /proc/version", "an encrypted volume (LUKS)"),
    ("cryptsetup luksFormat -q --type luks2 --iter-time 1 DISK /proc/version", "an encrypted volume (LUKS)"),
    ("echo , | sfdisk --label gpt DISK", "a partition table (GPT)"),
    ("echo , | sfdisk --label dos DISK", "a partition table (MBR)"),
];

#[test]
fn what_tools_have_formatted_is_not_written() {
    let Some(bench) = Bench::new() else { return };
    let mut missing = Vec::new();
    for (line, holds) in FORMATS {
        // The formatting tool is the last of the commands.
        let tool = line.split(" && ").find(|part| part.contains("mk") && !part.starts_with("mkdir")).unwrap_or(line);
        let tool = tool.trim_start_matches("echo , | ").split(' ').next().unwrap_or_default();
        if bench.try_shell(&format!("command -v {tool}")).is_err() {
            missing.push(tool);
            continue;
        }
        let disk = bench.disk("disk", 512);
        bench.shell(&format!("({}) >/dev/null", line.replace("DISK", &disk.device)));
        bench.is_refused(&disk.device, "", &format!("holds {holds}; refusing to write to it"));
        bench.is_refused(&disk.device, "--rw=randtrim", &format!("holds {holds}; refusing to trim it"));
        bench.shell("rm disk");
    }
    if !missing.is_empty() {
        skip(&format!("what these make is only judged by its signature: {}", missing.join(", ")));
    }
}

#[test]
fn what_was_allowed_is_written() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("mkfs.ext4 -q {}", disk.device));
    bench.is_written(&disk.device, "--allow_mounted_write=1");
    bench.is_written(&disk.device, "--refill_buffers --randseed=7");
    bench.job(&disk.device, "--rw=trim").good();
}

/// The log device has no superblock, and no mount has it as its source.
#[test]
fn the_log_of_a_mounted_xfs_is_in_use() {
    let Some(bench) = Bench::new() else { return };
    let (data, log) = (bench.disk("data", 400), bench.disk("log", 64));
    bench.shell(&format!("mkfs.xfs -q -l logdev={} {}", log.device, data.device));
    bench.is_refused(&log.device, "", "holds the log of an xfs filesystem");
    let words = format!("-o logdev={} {}", log.device, data.device);
    let Ok(_) = bench.try_shell(&format!("mount {words} mnt && umount mnt")) else {
        return skip("this kernel mounts no xfs");
    };
    let mounted = bench.mount(&words);
    // Its content is not the reason for the refusal.
    bench.shell("cp --sparse=always log before && dd if=/dev/zero of=log bs=1M count=64 conv=notrunc status=none");
    for engine in ["psync", "libaio --direct=1", "io_uring", "mmap"] {
        bench.is_refused(&log.device, &format!("--ioengine={engine}"), "is mounted at ");
    }
    bench.is_refused(&log.device, "--rw=trim", "refusing to trim it");
    bench.is_refused("log", "", &format!("log backs {}, which is mounted at ", name(&log)));
    bench.shell("dd if=before of=log bs=1M conv=notrunc status=none");
    drop(mounted);
    drop(bench.mount(&words));
}

#[test]
fn a_mount_of_another_namespace_is_seen() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("mkfs.ext4 -q {}", disk.device));
    // The program runs outside; zeroes written over the disk hide its content from the program. A filesystem that may be
    // written changes its disk later, by itself.
    let line = format!(
        "mount -o ro {0} mnt && dd if=/dev/zero of={0} bs=1M count=4 status=none && touch ready && read wait",
        disk.device
    );
    let mut other = bench.place.program("unshare", &["--mount", "bash", "-c", &line]);
    let mut other = other.stdin(std::process::Stdio::piped()).spawn().expect("unshare is there");
    testkit::wait_until("the mount", || bench.place.path("ready").exists() || other.try_wait().unwrap().is_some());
    if bench.place.path("ready").exists() {
        bench.is_refused(&disk.device, "", "is in use: by whom is not visible");
        bench.is_refused("disk", "", "which is in use: by whom is not visible");
    } else {
        skip("this machine makes no namespace of mounts");
    }
    drop(other.stdin.take());
    let _ = other.wait();
}

#[test]
fn swap_in_use_is_not_written() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    if let Err(reason) = bench.try_shell(&format!("mkswap -q {0} && swapon {0}", disk.device)) {
        return skip(&format!("this machine takes no swap: {reason}"));
    }
    let refused = bench.job(&disk.device, "");
    bench.shell(&format!("swapoff {}", disk.device));
    assert!((refused.stdout + &refused.stderr).contains("is swap space in use; refusing to write to it"));
}

/// A loop device does not claim the device below it.
#[test]
fn what_loop_devices_lie_on_is_as_they_are() {
    let Some(bench) = Bench::new() else { return };
    let lower = bench.disk("disk", 64);
    let upper = bench.attach(&lower.device, "--offset=8388608");
    bench.is_written(&lower.device, "");
    bench.shell(&format!("mkfs.ext4 -q {}", upper.device));
    let reason = format!("backs {}, which holds an ext2/3/4 filesystem", name(&upper));
    bench.is_refused(&lower.device, "--refill_buffers --randseed=7", &reason);
    let _mounted = bench.mount(&upper.device);
    bench.is_refused(&lower.device, "", &format!("backs {}, which is mounted at ", name(&upper)));
    let reason = format!("disk backs {}, which backs {}, which is mounted at ", name(&lower), name(&upper));
    bench.is_refused("disk", "", &reason);
    bench.shell("ln disk other-name");
    bench.is_refused("other-name", "", "other-name backs ");
}

#[test]
fn a_partition_in_use_is_its_disk_and_not_its_neighbour() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    let parts = format!("addpart {0} 1 2048 32768 && addpart {0} 2 40960 32768", disk.device);
    if bench.try_shell(&parts).is_err() || !Path::new(&format!("{}p2", disk.device)).exists() {
        return skip("this machine makes no partitions of loop devices");
    }
    bench.shell(&format!("mkfs.ext4 -q {}p1", disk.device));
    let mounted = bench.mount(&format!("{}p1", disk.device));
    bench.is_refused(&disk.device, "", "is mounted at ");
    bench.is_written(&format!("{}p2", disk.device), "");
    drop(mounted);
}

#[test]
fn a_member_of_a_raid_set_is_not_written() {
    let Some(bench) = Bench::new() else { return };
    if !Path::new("/proc/mdstat").exists() {
        return skip("this kernel has no md");
    }
    for (number, metadata) in [(91, "0.90"), (92, "1.0"), (93, "1.1"), (94, "1.2")] {
        let (one, other) = (bench.disk("one", 64), bench.disk("other", 64));
        let set = format!("/dev/md{number}");
        let make = format!(
            "mdadm --create {set} --run --metadata={metadata} --level=1 --raid-devices=2 {} {}",
            one.device, other.device
        );
        if let Err(reason) = bench.try_shell(&make) {
            return skip(&format!("mdadm makes no RAID set: {reason}"));
        }
        let refused = bench.job(&one.device, "");
        bench.shell(&format!("mdadm --stop {set}"));
        assert!((refused.stdout + &refused.stderr).contains(&format!("is part of md{number}; refusing")), "{metadata}");
        bench.is_refused(&one.device, "", "holds a RAID member (md)");
        drop((one, other));
        bench.shell("rm one other");
    }
}

#[test]
fn a_program_that_writes_it_uses_it() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    let mut other = bench.place.program("bash", &["-c", &format!("exec 3<>{}; touch ready; read wait", disk.device)]);
    let mut other = other.stdin(std::process::Stdio::piped()).spawn().expect("bash is there");
    testkit::wait_until("the open device", || bench.place.path("ready").exists());
    bench.is_refused(&disk.device, "", &format!("is open for writing by bash (process {})", other.id()));
    drop(other.stdin.take());
    other.wait().expect("it ends");
    bench.is_written(&disk.device, "");
}

/// Jobs of one run may share a disk, and so may parallel runs.
#[test]
fn our_own_jobs_do_not_keep_each_other_out() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    let line = format!(
        "--bs=64k --size=1m --rw=write --filename={} --numjobs=4 --name=a --name=b --stonewall --rw=randrw",
        disk.device
    );
    let running: Vec<_> = (0..4).map(|_| bench.place.start(&line)).collect();
    running.into_iter().for_each(|running| drop(running.finish().good()));
}

/// The guard judges what a worker has opened, not the name that was examined before.
#[test]
fn a_name_that_leads_elsewhere_by_now_is_judged_anew() {
    let Some(bench) = Bench::new() else { return };
    let (free, used) = (bench.disk("free", 64), bench.disk("used", 64));
    bench.shell(&format!("mkfs.ext4 -q {}; ln -s {} link; truncate -s 1M file", used.device, free.device));
    let _mounted = bench.mount(&used.device);
    let swap = |name: &str| format!("--exec_prerun=\"ln -sfn {} {name}\"", used.device);
    let try_job = |name: &str, words: &str| {
        let line = format!("--name=a --bs=64k --size=1m --rw=write --filename={name} {words}");
        bench.shell(&format!("{} {line} 2>&1 || true", testkit::program()))
    };
    for name in ["link", "file", "missing"] {
        let said = try_job(name, &swap(name));
        assert!(said.contains("is mounted at ") && said.contains("--allow_mounted_write=1"), "{name}: {said}");
    }
    let format = format!("--exec_prerun=\"mkfs.ext4 -q {}\"", free.device);
    let said = try_job(&free.device, &format);
    assert!(said.contains("holds an ext2/3/4 filesystem; refusing"), "formatted after the look: {said}");
    bench.shell(&format!("wipefs -qa {}; mkdir mnt2", free.device));
    let mount = format!("--exec_prerun=\"mkfs.ext4 -q {0} && mount {0} mnt2\"", free.device);
    let said = try_job(&free.device, &mount);
    bench.shell("umount mnt2");
    assert!(said.contains("mnt2; refusing to write to it"), "mounted after the look: {said}");
}

#[test]
fn buffers_on_a_disk_in_use_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("mkfs.ext4 -q {}", disk.device));
    bench.shell("truncate -s 1M file");
    let before = bench.shell("sha256sum disk");
    let ran = bench.job("file", &format!("--rw=read --mem=mmapshared:{}", disk.device));
    let said = ran.stdout + &ran.stderr;
    assert!(said.contains("holds an ext2/3/4 filesystem; refusing to write to it"), "{said}");
    assert_eq!(bench.shell("sha256sum disk"), before);
}

/// fio does not remove device nodes either.
#[test]
fn the_node_of_a_device_is_not_removed() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("cp --archive {} node", disk.device));
    for words in ["--unlink=1", "--unlink_each_loop=1 --loops=2"] {
        bench.job("node", words).good();
        bench.shell("test -b node");
    }
}

#[test]
fn a_log_is_not_written_to_a_disk() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("cp --archive {} a_bw.1.log", disk.device));
    let ran = bench.job("file", "--write_bw_log=a");
    let said = ran.stdout + &ran.stderr;
    assert!(ran.status != Some(0) && said.contains("a_bw.1.log is a block device"), "{said}");
    bench.shell("cmp --bytes=64M disk /dev/zero");
}

fn name(disk: &Disk) -> &str {
    disk.device.trim_start_matches("/dev/")
}

/// A foreign log that names a disk in use is stopped by the same guard as any job.
#[test]
fn a_log_that_writes_to_a_disk_in_use() {
    let Some(bench) = Bench::new() else { return };
    let disk = bench.disk("disk", 64);
    bench.shell(&format!("mkfs.ext4 -q {}", disk.device));
    let log = |device: &str| {
        format!("fio version 3 iolog\n0 {device} add\n0 {device} open\n9 {device} write 0 4096\n9 {device} close\n")
    };
    bench.place.write("log", log(&disk.device));
    bench.place.write("harmless", log("file"));
    bench.shell("cp disk before");
    let refused = [
        "--read_iolog=log".to_owned(),
        "--read_iolog=log --ioengine=io_uring".to_owned(),
        format!("--read_iolog=harmless --replay_redirect={}", disk.device),
    ];
    for words in refused {
        let ran = bench.place.run(&format!("fio --name=job {words}"));
        let says = "holds an ext2/3/4 filesystem; refusing to write to it";
        assert!(ran.status == Some(1) && ran.stderr.contains(says), "{words}: {ran:?}");
    }
    bench.shell("cmp disk before");
    bench.place.run("fio --name=job --read_iolog=log --allow_mounted_write=1").good();
    bench.shell("! cmp -s disk before");
}
