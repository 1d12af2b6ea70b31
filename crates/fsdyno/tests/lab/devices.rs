//! Devices of a virtual machine, beside Debian's fio: the same lines leave the same zones behind. The processor is
//! emulated, so that no time is judged.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::process::Command;

use serde_json::Value;
use testkit::stack::{inside, place};
use testkit::{shell, text, word};

/// A zoned disk.
struct Disk {
    path: String,
}

/// What a line did: its exit status is 0, and the bytes that it read and wrote.
type Done = (bool, u64, u64);

impl Disk {
    fn of(variable: &str) -> Disk {
        Disk { path: word(&place(variable)).to_owned() }
    }

    fn blkzone(&self, word: &str) -> String {
        let ran = Command::new("blkzone").args([word, &self.path]).output().expect("blkzone is there");
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        text(&ran.stdout)
    }

    /// Condition and write pointer of each zone.
    fn zones(&self) -> Vec<String> {
        let zone = |line: &str| {
            let pointer = line.split("wptr ").nth(1)?.split_whitespace().next()?;
            let condition = line.split("zcond:").nth(1)?.split(['(', ')']).nth(1)?;
            Some(format!("{condition} {pointer}"))
        };
        self.blkzone("report").lines().map(|line| zone(line).expect("blkzone's line")).collect()
    }

    fn by(&self, program: &str, line: &str) -> Done {
        let ran = Command::new(program)
            .args([&format!("--filename={}", self.path), "--direct=1", "--zonemode=zbd", "--output-format=json"])
            .args(["--name=j", "--verify_state_save=0"])
            .args(line.split_whitespace())
            .output()
            .expect("the program starts");
        let said = text(&ran.stdout);
        // Other lines may stand before and after.
        let json = said.find('{').map(|at| serde_json::Deserializer::from_str(&said[at..]).into_iter::<Value>());
        let json = json.and_then(|mut values| values.next()?.ok());
        let jobs = json.as_ref().and_then(|json| json["jobs"].as_array()).cloned().unwrap_or_default();
        let bytes = |direction: &str| jobs.iter().filter_map(|job| job[direction]["io_bytes"].as_u64()).sum();
        (ran.status.success(), bytes("read"), bytes("write"))
    }

    /// Runs lines one after the other on empty zones: what each did, and the zones afterwards.
    fn after(&self, program: &str, lines: &[&str]) -> (Vec<Done>, Vec<String>) {
        self.blkzone("reset");
        (lines.iter().map(|line| self.by(program, line)).collect(), self.zones())
    }

    /// Both programs leave the same behind.
    #[track_caller]
    fn same(&self, lines: &[&str]) {
        let (fio, own) = (self.after("fio", lines), self.after(&testkit::program(), lines));
        assert_eq!(own, fio, "{lines:?}");
    }

    /// Both programs do the same, at places of their own; `open` zones at most are partly written afterwards.
    #[track_caller]
    fn as_much(&self, lines: &[&str], open: usize) {
        let (fio, own) = (self.after("fio", lines), self.after(&testkit::program(), lines));
        assert_eq!(own.0, fio.0, "{lines:?}");
        for (_, zones) in [&fio, &own] {
            let partly = zones.iter().filter(|zone| ["oi", "cl"].iter().any(|word| zone.starts_with(word))).count();
            assert!(partly <= open, "{lines:?}: {zones:?}");
        }
    }
}

/// What is read and written one after the other.
#[test]
fn sequences_leave_the_zones_that_fio_leaves() {
    inside("devices::sequences_leave_the_zones_that_fio_leaves", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        let write = "--rw=write --bs=256k --size=8m";
        disk.same(&[write, write, "--rw=read --bs=256k"]);
        disk.same(&["--rw=write --bs=128k --offset=5m --size=10m", "--rw=read --bs=128k --size=8m"]);
        disk.same(&["--rw=read --bs=128k", "--rw=read --bs=128k --read_beyond_wp=1"]);
        // fio 3.33 prints no valid JSON for this line, so that only the zones are compared.
        let skips = ["--rw=write --bs=128k --size=48m --zoneskip=4m"];
        let (fio, own) = (disk.after("fio", &skips), disk.after(&testkit::program(), &skips));
        assert_eq!((own.1, own.0), (fio.1, vec![(true, 0, 48 << 20)]));
        disk.same(&["--rw=write --bs=64k --size=16m --ioengine=libaio --iodepth=8"]);
    });
}

/// Zones are drawn at random, by each program in its own order.
#[test]
fn random_writes_keep_to_the_limits() {
    inside("devices::random_writes_keep_to_the_limits", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        let random = "--rw=randwrite --bs=64k --norandommap";
        // Six zones of the device can be open.
        disk.as_much(
            &[
                &format!("{random} --io_size=24m --ioengine=io_uring --iodepth=8"),
                "--rw=randread --bs=64k --io_size=2m",
            ],
            6,
        );
        disk.as_much(&[&format!("{random} --io_size=12m --max_open_zones=3")], 3);
        disk.as_much(&[&format!("{random} --io_size=12m --job_max_open_zones=1")], 1);
        disk.as_much(&["--rw=randrw --bs=64k --size=16m --norandommap --ioengine=libaio --iodepth=4"], 6);
        disk.as_much(&[&format!("{random} --size=16m --zone_reset_frequency=0.1 --zone_reset_threshold=0.2")], 6);
    });
}

/// Conventional zones are written anywhere, those behind them at their write pointers.
#[test]
fn conventional_zones_are_like_a_disk() {
    inside("devices::conventional_zones_are_like_a_disk", "devices", || {
        let disk = Disk::of("LAB_NULL_ZONED");
        disk.same(&["--rw=write --bs=128k --size=8m", "--rw=write --bs=128k --offset=8m --size=8m"]);
        disk.as_much(&["--rw=randwrite --bs=64k --io_size=16m --norandommap --ioengine=libaio --iodepth=4"], 4);
    });
}

/// Jobs that write the same zones take turns: a write that is not at the write pointer would fail. Each does all of its
/// `io_size`; fio 3.33 ends some of them early.
#[test]
fn jobs_share_zones() {
    inside("devices::jobs_share_zones", "devices --timeout=900", || {
        let own = testkit::program();
        for (variable, device_open) in [("LAB_NVME_ZONED", 6), ("LAB_NULL_ZONED", 4)] {
            let disk = Disk::of(variable);
            let random = "--rw=randwrite --bs=64k --norandommap --size=32m --io_size=10m";
            for (line, jobs, open) in [
                ("--rw=write --bs=256k --size=8m --io_size=10m --numjobs=2", 2, device_open),
                (
                    "--rw=write --bs=320k --offset=8m --size=32m --io_size=10m --numjobs=2 --ioengine=libaio --iodepth=4",
                    2,
                    device_open,
                ),
                (&format!("{random} --numjobs=3"), 3, device_open),
                (&format!("{random} --numjobs=3 --ioengine=io_uring --iodepth=8"), 3, device_open),
                (&format!("{random} --numjobs=2 --max_open_zones=1 --ioengine=libaio --iodepth=4"), 2, 1),
                (&format!("{random} --numjobs=2 --job_max_open_zones=1"), 2, 2),
                (
                    &format!("{random} --numjobs=2 --zone_reset_frequency=0.1 --zone_reset_threshold=0.1"),
                    2,
                    device_open,
                ),
                (&format!("{random} --numjobs=2 --rate=8m"), 2, device_open),
            ] {
                let (done, zones) = disk.after(&own, &[line]);
                assert_eq!(done, [(true, 0, jobs * (10 << 20))], "{line}");
                let partly = zones.iter().filter(|zone| ["oi", "cl"].iter().any(|word| zone.starts_with(word))).count();
                assert!(partly <= open, "{line}: {zones:?}");
            }
            // A job that ends early leaves its zones to the other.
            let early = format!("{random} --number_ios=7 --ioengine=libaio --iodepth=4 --name=k {random}");
            let (done, _) = disk.after(&own, &[&early]);
            assert_eq!(done, [(true, 0, (7 << 16) + (10 << 20))]);
        }
    });
}

/// What would be wrong without a word is refused.
#[test]
fn jobs_have_zones_of_their_own() {
    inside("devices::jobs_have_zones_of_their_own", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        let program = testkit::program();
        disk.blkzone("reset");
        let refused = [
            "--rw=write --bs=64k --numjobs=2 --size=8m --verify=crc32c",
            "--rw=write --bs=64k --numjobs=2 --size=8m --offset_increment=4m",
            "--rw=write --verify=crc32c --verify_backlog=8 --size=8m",
            "--rw=randtrim --bs=64k --size=8m",
        ];
        refused.iter().for_each(|line| assert!(!disk.by(&program, line).0, "{line}"));
        let seven = "--rw=write --bs=64k --size=8m --offset_increment=8m --numjobs=7";
        assert!(!disk.by(&program, seven).0, "six zones can be open");
        assert!(disk.zones().iter().all(|zone| zone.starts_with("em")), "nothing was written");
        assert!(disk.by(&program, &seven.replace("=7", "=6")).0);
        // Without the limit, it is the device that refuses the seventh.
        disk.blkzone("reset");
        let (succeeded, _, written) = disk.by(&program, &format!("{seven} --ignore_zone_limits=1"));
        assert!(!succeeded && written > 0, "{written} bytes");
        let inspected = Command::new(&program).args(["inspect", &disk.path]).output().expect("the program starts");
        assert!(text(&inspected.stdout).contains("a zoned device: 16 zones of 4096 KiB, of which at most 6"));
        assert!(disk.by(&program, "--rw=randread --bs=64k --io_size=1m --numjobs=3").0, "readers share zones");
    });
}

/// A trim resets its zone.
#[test]
fn trims_reset_zones() {
    inside("devices::trims_reset_zones", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        let write = "--rw=write --bs=256k --size=16m";
        disk.same(&[write, "--rw=trim --bs=4m --size=8m"]);
        disk.same(&[write, "--rw=trim --bs=4m --offset=1z --size=2z --ioengine=io_uring --iodepth=4"]);
        disk.same(&[write, "--rw=trim --bs=3m --size=16m"]);
        disk.same(&[write, "--rw=randtrim --bs=4m --size=16m"]);
        let mixed = "--rw=write --bs=256k --offset=1z --size=2z --io_size=6z";
        disk.same(&[mixed, "--rw=trim --bs=4m --offset=2z --size=1z", mixed]);
    });
}

/// What was written is read back, whatever resets have taken of it.
#[test]
fn what_zones_hold_is_verified() {
    inside("devices::what_zones_hold_is_verified", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        disk.same(&["--rw=write --bs=256k --size=8m --verify=crc32c"]);
        disk.same(&["--rw=write --bs=256k --size=8m --verify=crc32c", "--rw=read --bs=256k --size=8m --verify=crc32c"]);
        let own = testkit::program();
        for line in [
            "--rw=randwrite --bs=64k --norandommap --io_size=24m --size=16m",
            "--rw=randwrite --bs=64k --io_size=12m --size=16m --ioengine=libaio --iodepth=8",
            "--rw=randwrite --bs=64k --io_size=12m --size=16m --zone_reset_frequency=0.1 --zone_reset_threshold=0.1",
        ] {
            disk.blkzone("reset");
            let (succeeded, read, written) = disk.by(&own, &format!("{line} --verify=crc32c --do_verify=1"));
            assert!(succeeded && read > 0 && read < written, "{line}: {read} of {written} bytes were read back");
        }
        // The twin: a block that another program has changed is found.
        let conventional = Disk::of("LAB_NULL_ZONED");
        let line = "--rw=write --bs=64k --size=4m --verify=crc32c --verify_state_save=0";
        assert!(conventional.by(&own, &format!("{line} --do_verify=0")).0);
        let disk = OpenOptions::new().write(true).open(&conventional.path);
        disk.and_then(|disk| disk.write_all_at(&[7; 4096], 65536)).expect("zone 0 is written anywhere");
        assert!(!conventional.by(&own, &line.replace("--rw=write", "--rw=read")).0);
    });
}

/// Several devices, and the size of a zone as the unit.
#[test]
fn devices_and_their_zones_are_counted() {
    inside("devices::devices_and_their_zones_are_counted", "devices", || {
        let disk = Disk::of("LAB_NVME_ZONED");
        disk.same(&["--rw=write --bs=256k --size=2z --offset=1z", "--rw=read --bs=256k --size=4z"]);
        disk.same(&["--rw=write --bs=256k --size=4z --io_size=6z"]);
        disk.same(&["--rw=write --bs=256k --size=1z --offset_increment=2z --numjobs=2"]);
        let (done, zones) =
            disk.after(&testkit::program(), &["--rw=write --bs=256k --size=6z --io_size=3z --zoneskip=1z"]);
        let full: Vec<usize> = (0..6).filter(|zone| zones[*zone].starts_with("fu")).collect();
        assert_eq!((done[0], full), ((true, 0, 12 << 20), vec![0, 2, 4]));
        let null = Disk::of("LAB_NULL_ZONED");
        null.blkzone("reset");
        disk.blkzone("reset");
        let both = Disk { path: format!("{}:{}", disk.path, null.path) };
        let line = "--rw=write --bs=256k --size=24m --verify=crc32c";
        assert_eq!(
            both.by(&testkit::program(), line),
            (true, 20 << 20, 20 << 20),
            "three zones of each, two of them whole"
        );
    });
}

/// Writes that the device does whole or not at all, on a kernel that has them.
#[test]
fn writes_are_atomic_where_the_device_says_so() {
    inside("devices::writes_are_atomic_where_the_device_says_so", "newer-devices", || {
        let (disk, other) = (word(&place("LAB_SCSI")).to_owned(), word(&place("LAB_NULL_ZONED")).to_owned());
        let name = std::fs::canonicalize(&disk).expect("the disk is there");
        let name = name.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let limit = std::fs::read_to_string(format!("/sys/block/{name}/queue/atomic_write_unit_max_bytes"));
        let limit: u64 = limit.expect("the kernel knows atomic writes").trim().parse().expect("bytes");
        let trace = "/sys/kernel/tracing";
        shell(&format!(
            "mountpoint -q {trace} || mount -t tracefs tracefs {trace}; echo 1 > {trace}/events/scsi/scsi_dispatch_cmd_start/enable"
        ));
        // WRITE ATOMIC (16), and any other write.
        let commands = || {
            let events = std::fs::read_to_string(format!("{trace}/trace")).expect("the trace");
            std::fs::write(format!("{trace}/trace"), "").expect("the trace can be emptied");
            ["raw=9c ", "raw=8a ", "raw=2a "].map(|raw| events.matches(raw).count())
        };
        let run = |file: &str, line: &str| {
            let ran = Command::new(testkit::program())
                .args([&format!("--filename={file}"), "--name=a", "--verify_state_save=0", "--atomic=1"])
                .args(line.split_whitespace())
                .output()
                .expect("the program starts");
            (ran.status.success(), text(&ran.stdout) + &text(&ran.stderr))
        };
        commands();
        for engine in ["pvsync2", "libaio --iodepth=4", "io_uring --iodepth=4"] {
            let line = format!("--ioengine={engine} --rw=randwrite --bs=16k --size=1m --verify=crc32c");
            let (succeeded, said) = run(&disk, &line);
            assert!(succeeded, "{line}: {said}");
            assert_eq!(commands(), [64, 0, 0], "{line}");
        }
        // The kernel refuses what is too large, has an odd size, or goes to a device that says nothing of the kind.
        for (file, bytes, words) in [
            (&disk, 2 * limit, "Invalid argument"),
            (&disk, 12 << 10, "Invalid argument"),
            (&other, 4096, "not supported"),
        ] {
            let (succeeded, said) =
                run(file, &format!("--ioengine=pvsync2 --rw=write --bs={bytes} --size={}", 4 * bytes));
            assert!(!succeeded && said.contains(words), "{file} {bytes}: {said}");
        }
        assert_eq!(commands()[0], 0);
    });
}
