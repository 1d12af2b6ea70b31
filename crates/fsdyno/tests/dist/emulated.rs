//! Tests the program for aarch64, run by qemu: this machine's program and fio read what it writes, and vice versa. It
//! runs only where it was built, as building it costs as much as a release for this CPU.

use std::path::PathBuf;
use std::process::Command;

use testkit::{RunResult, TestDirectory, skip, workspace};

use crate::run;

/// The program and its emulator; `None`: there is none here, which was printed.
struct Foreign {
    emulator: &'static str,
    program: PathBuf,
}

fn foreign() -> Option<Foreign> {
    let program = workspace().join("target/aarch64-unknown-linux-musl/release/fsdyno");
    if std::env::consts::ARCH != "x86_64" || !program.exists() {
        skip("no program for another processor is built: cargo xtask dist --bare --platform aarch64-linux builds it");
        return None;
    }
    let answers = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let Some(emulator) = ["qemu-aarch64-static", "qemu-aarch64"].iter().find(answers) else {
        skip("qemu-aarch64 is not installed");
        return None;
    };
    Some(Foreign { emulator, program })
}

impl Foreign {
    fn fsdyno(&self, place: &TestDirectory, line: &str) -> RunResult {
        let mut command = Command::new(self.emulator);
        command.arg(&self.program).args(line.split_whitespace()).current_dir(place.path(""));
        run(command.env("HOME", place.path("")).env("XDG_DATA_HOME", place.path("home")))
    }
}

/// The oracle's first checks: counts, bytes and errors of a report equal fio's.
#[test]
fn reports_count_what_fio_counts() {
    let Some(foreign) = foreign() else { return };
    if !testkit::has("fio") {
        return;
    }
    let place = TestDirectory::new();
    for line in [
        "--name=a --ioengine=psync --size=2m --bs=4k --rw=write",
        "--name=a --ioengine=psync --size=2m --bs=16k --rw=randread",
        "--name=a --ioengine=psync --size=2m --bsrange=4k-64k --rw=read --numjobs=2 --group_reporting",
        "--name=a --ioengine=psync --size=2m --bs=4k --rw=randrw --rwmixread=75 --number_ios=100",
        "--name=a --ioengine=mmap --size=1m --bs=4k --rw=randwrite",
    ] {
        let line = format!("{line} --thread --output-format=json");
        let ours = foreign.fsdyno(&place, &line).good().document();
        let theirs =
            run(Command::new("fio").args(line.split_whitespace()).current_dir(place.path(""))).good().document();
        let (ours, theirs) = (&ours["jobs"][0], &theirs["jobs"][0]);
        let total = |job: &serde_json::Value, key: &str| {
            ["read", "write"].map(|direction| job[direction][key].as_u64().unwrap())
        };
        for key in ["total_ios", "io_bytes"] {
            let (ours, theirs) = (total(ours, key), total(theirs, key));
            // Which requests of a mix are reads is random, and so are drawn sizes.
            let sum = |both: [u64; 2]| both.iter().sum::<u64>();
            if line.contains("bsrange") && key == "total_ios" {
                continue;
            }
            if line.contains("randrw") {
                assert_eq!(sum(ours), sum(theirs), "{line}: {key}");
            } else {
                assert_eq!(ours, theirs, "{line}: {key}");
            }
        }
        assert_eq!(ours["error"], theirs["error"], "{line}");
    }
}

#[test]
fn data_written_there_is_verified_here_and_the_other_way_round() {
    let Some(foreign) = foreign() else { return };
    let place = TestDirectory::new();
    for checksum in ["crc32c", "sha256", "xxhash", "md5"] {
        let line =
            format!("--name={checksum} --size=1m --bs=16k --verify={checksum} --randseed=7 --output-format=json");
        let count = |ran: RunResult, direction: &str| {
            let document = ran.good().document();
            assert_eq!(document["jobs"][0]["error"], 0, "{checksum}");
            document["jobs"][0][direction]["total_ios"].as_u64().unwrap()
        };
        assert_eq!(count(foreign.fsdyno(&place, &format!("{line} --rw=randwrite")), "write"), 64);
        assert_eq!(count(place.run(&format!("{line} --rw=randread")), "read"), 64);
        assert_eq!(count(place.run(&format!("{line} --rw=randwrite")), "write"), 64);
        assert_eq!(count(foreign.fsdyno(&place, &format!("{line} --rw=randread")), "read"), 64);
    }
}

#[test]
fn a_question_is_answered() {
    let Some(foreign) = foreign() else { return };
    let place = TestDirectory::with(&["data"]);
    let ran =
        foreign.fsdyno(&place, "measure data --quick --size=8m --runtime=1 --only=rand-read --engine=psync --json");
    let document = ran.good().document();
    assert!(document["summary"]["tests"][0]["iops"].as_f64().unwrap() > 0.0, "{}", document["summary"]);
}
