//! Tests statements where layers are in between: local daemons, other namespaces, images, syncs that do nothing.

use crate::bench::{Bench, Run};
use testkit::shell;
use testkit::stack::{inside_beside_others, place, show};
use testkit::word;

/// In its own PID namespace a program does not see the daemon of a mount.
const APART: &[&str] = &["unshare", "--pid", "--fork", "--mount-proc"];

/// Checks that there is no finding that memory answered, or that it is not visible.
#[track_caller]
fn honest(run: &Run) {
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.silent(&[
        "fuse-cache",
        "not-visible",
        "writes-in-memory",
        "sync-ignored",
        "host-cache",
        "page-cache",
        "direct-not-honoured",
        "above-link-speed",
    ]);
}

/// A daemon without a server: the device below it counts, not the wire.
#[test]
fn a_local_daemon() {
    inside_beside_others("trust::a_local_daemon", "bindfs", || {
        let bench = Bench::new();
        let (above, below) = (place("LAB_FUSE").join("file"), place("LAB_LOCAL"));
        let words = format!("--filename={} --bs=1m --size=256m", word(&above));
        honest(&bench.fio(&format!("--name=synced {words} --rw=write --end_fsync=1")));
        let read = format!("--name=read {words} --rw=read");
        let cold = || shell(&format!("dd if={} iflag=nocache count=0 status=none", word(&below.join("file"))));

        let warm = bench.fio(&format!("{read} --invalidate=0"));
        let cause = &warm.invalid("fuse-cache").cause;
        assert!(cause.contains("memory of bindfs or of the kernel"), "{cause}");
        cold();
        honest(&bench.fio(&read));
        // If the daemon is hidden, what is below it is not visible.
        Bench::started_by(APART).fio(&format!("{read} --invalidate=0")).caution("not-visible");

        shell(&format!("rm {}", word(&above)));
        let unsynced = format!("--name=unsynced {words} --rw=write --fallocate=none");
        bench.fio(&unsynced).invalid("writes-in-memory");
        shell(&format!("rm {}; mount -o remount,sync {}", word(&above), word(&below)));
        honest(&bench.fio(&unsynced.replace("256m", "32m")));
    });
}

/// A daemon that waits 5 ms in each read has no layer that shows it; every row that counts has a line that says so.
#[test]
fn a_daemon_that_waits() {
    inside_beside_others("trust::a_daemon_that_waits", "fuse", || {
        shell("lab-fault delay-us 5000");
        let study = Bench::new().ask(&["measure", word(&place("LAB_FUSE")), "--quick", "--size=4m"]);
        show(&study.sentences.join("\n"));
        let counts = |row: &&fsdyno_results::Row| {
            row.pattern != fsdyno_results::test_name::FILL && row.trust() < fsdyno_results::Trust::Invalid
        };
        let limits = fsdyno_present::Headline::of(&study).limits;
        let unseen: Vec<&str> =
            study.sentences.iter().filter_map(|text| Some(text.split_once(" is not visible")?.0)).collect();
        // By its name, or as one of all but the named ones.
        let is_meant = |text: &str, pattern: &str| text.contains(pattern) != text.contains("all ");
        for row in study.rows.iter().filter(counts) {
            let mut texts = limits.iter().map(String::as_str).chain(unseen.iter().copied());
            let said = texts.any(|text| is_meant(text, &row.pattern));
            assert!(said, "none for {}: {limits:?} {unseen:?}", row.pattern);
        }
        let why = "a FUSE daemon does not report what its requests wait for";
        let of_writes = |text: &String| text.contains(why) && is_meant(text, "write-latency");
        assert!(study.sentences.iter().any(of_writes), "{:?}", study.sentences);
    });
}

/// Storage that is served from memory with a wait per request has no capacity: few bytes are moved, and no row is ok.
#[test]
fn a_curve_over_a_cache_that_waits() {
    inside_beside_others("trust::a_curve_over_a_cache_that_waits", "fuse", || {
        shell("lab-fault delay-us 5000");
        let at = place("LAB_FUSE");
        let output =
            Bench::new().run(&["curve", word(&at), "--size=4m", "--loads=50", "--runtime=2", "--json", "--quiet"]);
        let answer = testkit::text(&output.stdout);
        let study = fsdyno_results::Study::from_json(&answer).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let tests = study.rows.iter().filter(|row| row.pattern != fsdyno_results::test_name::FILL);
        let trusts: Vec<_> = tests.map(|row| (row.pattern.as_str(), row.trust())).collect();
        show(&format!("{trusts:?} {:?}", study.sentences));
        assert!(!trusts.is_empty() && trusts.iter().all(|(_, trust)| *trust > fsdyno_results::Trust::Ok), "{trusts:?}");
        let headline = fsdyno_present::Headline::of(&study).headline.unwrap_or_default();
        assert!(headline.starts_with("no figure can be trusted"), "{headline}");
    });
}

/// The situation in containers: the daemon's network is not the program's.
#[test]
fn a_daemon_in_another_namespace() {
    inside_beside_others("trust::a_daemon_in_another_namespace", "s3fs", || {
        let line = |name: &str| format!("--name={name} --directory={} --bs=1m --size=32m", word(&place("LAB_S3")));
        let elsewhere = Bench::started_by(&["unshare", "--net"]);
        honest(&elsewhere.fio(&format!("{} --rw=write --end_fsync=1", line("durable"))));
        // The first pass comes from the server, the others from the daemon.
        elsewhere.fio(&format!("{} --rw=read --loops=4", line("durable"))).invalid("fuse-cache");
        Bench::started_by(APART).fio(&format!("{} --rw=read", line("durable"))).caution("not-visible");
    });
}

fn synced_write() -> Run {
    let file = place("LAB_LOCAL").join("file");
    Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=1m --size=256m --end_fsync=1", word(&file)))
}

/// Writes like a database: half a MiB, each block synced.
fn small_synced_writes() -> Run {
    let file = place("LAB_LOCAL").join("small");
    Bench::new().fio(&format!("--name=job --filename={} --rw=write --bs=4k --size=512k --fdatasync=1", word(&file)))
}

#[test]
fn a_sync_that_does_nothing() {
    inside_beside_others("trust::a_sync_that_does_nothing", "overlay --volatile", || {
        let run = synced_write();
        let cause = &run.invalid("sync-ignored").cause;
        assert!(cause.contains("the overlay is mounted volatile"), "{cause}");
        small_synced_writes().invalid("sync-ignored");
    });
}

#[test]
fn a_sync_that_does_its_work() {
    inside_beside_others("trust::a_sync_that_does_its_work", "overlay", || {
        honest(&synced_write());
        honest(&small_synced_writes());
    });
}

/// The page cache of the file below a loop device, for reads and for writes.
#[test]
fn an_image_in_the_page_cache() {
    inside_beside_others("trust::an_image_in_the_page_cache", "ext4", || {
        let (bench, device) = (Bench::new(), place("LAB_DEVICE"));
        let file = place("LAB_LOCAL").join("file");
        let words = format!("--filename={} --size=128m --direct=1", word(&file));
        let attach = |direct: &str| shell(&format!("losetup --direct-io={direct} {}", word(&device)));
        let write = format!("--name=write {words} --rw=randwrite --bs=64k --runtime=2 --time_based");
        let read = format!("--name=read {words} --rw=read --bs=1m");
        honest(&bench.fio(&write));
        honest(&bench.fio(&read));
        attach("off");
        let cached = bench.fio(&write);
        let cause = &cached.invalid("host-cache").cause;
        assert!(cause.contains("stayed in the page cache of that file"), "{cause}");
        bench.fio(&read);
        bench.fio(&read).invalid("host-cache");
    });
}

/// A raw loop device whose image was never written; and the same image written.
#[test]
fn an_image_with_holes() {
    inside_beside_others("trust::an_image_with_holes", "ext4", || {
        let image = place("LAB_LOCAL").join("image");
        shell(&format!("truncate -s 256M {}", word(&image)));
        let attach = || shell(&format!("losetup --find --show --direct-io=on {}", word(&image))).trim().to_owned();
        let read = |device: &str| {
            Bench::new().fio(&format!("--name=job --filename={device} --rw=read --bs=1m --direct=1 --readonly"))
        };
        let device = attach();
        let holes = read(&device);
        shell(&format!("losetup --detach {device}"));
        assert!(holes.caution("thin-blocks").cause.contains("an image with holes"), "{}", holes.stderr);
        holes.silent(&["host-cache", "page-cache", "direct-not-honoured"]);
        shell(&format!("dd if=/dev/urandom of={0} bs=1M count=256 conv=notrunc,fsync status=none", word(&image)));
        let device = attach();
        let written = read(&device);
        shell(&format!("losetup --detach {device}"));
        honest(&written);
        written.silent(&["thin-blocks"]);
    });
}

/// A server that does not answer for two seconds.
#[test]
fn a_server_that_pauses() {
    inside_beside_others("trust::a_server_that_pauses", "nfs", || {
        let bench = Bench::new();
        let file = place("LAB_NFS").join("file");
        let line =
            format!("--name=job --filename={} --rw=randread --bs=4k --size=16m --direct=1 --time_based", word(&file));
        bench.fio(&format!("{line} --runtime=6")).silent(&["stalled"]);
        let mut beside = std::process::Command::new("bash")
            .args(["-c", "sleep 2.5; lab-server stall 2"])
            .spawn()
            .expect("bash is there");
        // Longer than the way to the server takes on a busy machine.
        let stalled = bench.fio(&format!("{line} --runtime=15"));
        assert!(beside.wait().expect("it ends").success());
        assert!(stalled.caution("stalled").cause.starts_with("no I/O completed for"), "{}", stalled.stderr);
    });
}
