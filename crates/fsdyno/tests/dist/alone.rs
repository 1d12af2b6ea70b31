//! Tests the static program with nothing around it: no /proc, /sys, /etc and /dev, no home, no library.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::{RunResult, is_root, skip};

use crate::{have, release, run};

/// Runs a line in a root with the program and an empty directory.
fn in_empty_root(root: &Path, line: &str) -> RunResult {
    run(Command::new("chroot")
        .arg(root)
        .arg("/fsdyno")
        .args(line.split_whitespace())
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin"))
}

/// A root with only the program; `None`: there is no program.
fn empty_root() -> Option<tempfile::TempDir> {
    if !is_root("chroot") {
        return None;
    }
    let root = testkit::directory();
    let tree = release::unpacked(root.path())?;
    std::fs::copy(tree.join("bin/fsdyno"), root.path().join("fsdyno")).unwrap();
    std::fs::remove_dir_all(tree).unwrap();
    std::fs::create_dir(root.path().join("data")).unwrap();
    Some(root)
}

#[test]
fn a_fio_line_runs_and_its_record_is_reported() {
    let Some(root) = empty_root() else { return };
    let line = "--name=a --directory=/data --size=4m --bs=4k --rw=randwrite --verify=crc32c --randseed=3 --direct=1";
    let ran = in_empty_root(root.path(), &format!("{line} --output-format=json --record=/data/run.json")).good();
    let document = ran.document();
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 1024);
    assert_eq!(document["jobs"][0]["error"], 0);
    let again = in_empty_root(root.path(), "report --as json /data/run.json").good().document();
    assert_eq!(again["jobs"][0]["write"]["total_ios"], 1024);
    let sheet = in_empty_root(root.path(), "report -o /data/sheet.html /data/run.json").good();
    assert!(std::fs::read_to_string(root.path().join("data/sheet.html")).unwrap().contains("</html>"), "{sheet:?}");
}

#[test]
fn a_question_is_answered_and_says_what_it_cannot_see() {
    let Some(root) = empty_root() else { return };
    let ran = in_empty_root(root.path(), "measure /data --quick --size=16m --runtime=1 --json --store=/data/store");
    let document = ran.good().document();
    let tests = document["summary"]["tests"].as_array().unwrap();
    assert!(tests.len() >= 6 && tests.iter().all(|test| test["error"].is_null()), "{}", document["summary"]);
    assert!(tests.iter().all(|test| test["iops"].as_f64().is_some_and(|iops| iops > 0.0)), "{tests:?}");
    // Without /proc/mounts the storage is not visible.
    let found = serde_json::to_string(&document["summary"]["findings"]).unwrap();
    assert!(found.contains("not-visible"), "{found}");
    let shown = in_empty_root(root.path(), "show last --store=/data/store --json").good().document();
    assert_eq!(shown["summary"]["headline"], document["summary"]["headline"]);
}

/// Without a home there is no place for records: it measures, says so, and saves nothing.
#[test]
fn without_a_home_it_measures_all_the_same() {
    let Some(root) = empty_root() else { return };
    let ran = in_empty_root(root.path(), "measure /data --quick --size=16m --runtime=1 --only=rand-read");
    let ran = ran.good();
    assert!(ran.stderr.contains("HOME"), "{}", ran.stderr);
    assert_eq!(testkit::names(&root.path().join("data")), [""; 0]);
}

/// Each engine that needs no network starts there, or says why not; none crashes.
#[test]
fn engines_do_their_work() {
    let Some(root) = empty_root() else { return };
    for engine in ["psync", "libaio", "mmap", "io_uring", "null"] {
        let line = format!("--name={engine} --ioengine={engine} --directory=/data --size=1m --bs=4k --iodepth=4");
        let ran = in_empty_root(root.path(), &format!("{line} --rw=randrw --output-format=json --thread")).good();
        let job: &Value = &ran.document()["jobs"][0];
        let ios = |direction: &str| job[direction]["total_ios"].as_u64().unwrap();
        assert_eq!(ios("read") + ios("write"), 256, "{engine}");
    }
}

/// The kernel's vDSO clock is found without a loader, too: a reading is no system call.
#[test]
fn time_is_read_in_user_space() {
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if !source.is_ok_and(|name| ["tsc", "kvm-clock", "arch_sys_counter"].contains(&name.trim())) {
        return skip("the kernel's clock cannot be read in user space here");
    }
    let place = testkit::directory();
    let Some(tree) = have(&["strace"]).then(|| release::unpacked(place.path())).flatten() else { return };
    let calls = place.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-e", "trace=clock_gettime", "-o"]).arg(&calls).arg(tree.join("bin/fsdyno"));
    strace.args(["--name=a", "--ioengine=null", "--size=1m", "--time_based", "--runtime=300ms"]).output().unwrap();
    let calls = std::fs::read_to_string(calls).unwrap();
    let of = |clock: &str| calls.lines().filter(|line| line.contains(clock)).count();
    assert!(of("CLOCK_THREAD_CPUTIME_ID") > 0, "what has no other way is seen:\n{calls}");
    assert_eq!(of("CLOCK_MONOTONIC"), 0, "{calls}");
}
