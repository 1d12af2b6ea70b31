//! Findings on the fio face: where they are said and where not, and their explanations.

use std::process::Command;

use fsdyno_results::Severity;
use serde_json::Value;

use crate::bench::{Bench, FILE_MIB, RunResult};

fn warm(bench: &Bench, words: &str) -> RunResult {
    std::fs::read(bench.path("file")).expect("it is read into the cache");
    let job = "--name=job --filename=file --rw=randread --bs=4k --runtime=1 --time_based --invalidate=0";
    bench.run(&format!("{job} --size={FILE_MIB}m {words}"))
}

#[test]
fn findings_are_silenced_and_kept() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let silent = warm(&bench, "--findings=off");
    assert!(!silent.stderr.contains("page-cache") && !silent.stderr.contains("fits-in-memory"), "{}", silent.stderr);
    assert_eq!(silent.one("page-cache").severity, Severity::Invalid, "the record knows all the same");
}

#[test]
fn json_stays_fios_unless_asked() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let plain: Value = serde_json::from_str(&warm(&bench, "--output-format=json").stdout).expect("one document");
    assert_eq!(plain.get("fsdyno"), None);
    let ran = warm(&bench, "--output-format=json --fsdyno-json=1");
    let document: Value = serde_json::from_str(&ran.stdout).expect("one document");
    let own = &document["fsdyno"];
    assert_eq!(own["trust"], "invalid");
    assert_eq!(own["findings"][0]["id"], "page-cache");
    assert!(own["nodes"][0]["ledger"]["samples"].as_array().is_some_and(|samples| samples.len() >= 2));
    assert!(own["nodes"][0]["storages"][0]["mount"].is_object());
    let keys = |document: &Value| document.as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>());
    let without: Vec<String> = keys(&document).unwrap_or_default().into_iter().filter(|key| key != "fsdyno").collect();
    assert_eq!(Some(without), keys(&plain), "fio's keys are as they were");
}

/// What the options say is said at once, and not when the run ends; of the depth of a synchronous engine fio has words of
/// its own.
#[test]
fn conflicts_in_the_plan_are_said_at_once() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = |runtime: u32| {
        format!(
            "--size={FILE_MIB}m --bs=4k --filename=file --time_based --runtime={runtime} --name=deep --rw=randread \
             --ioengine=psync --iodepth=32 --numjobs=2 --name=queued --rw=read --numjobs=1 --ioengine=libaio \
             --iodepth=8"
        )
    };
    let conflicts = ["[depth-not-reached]", "[shared-file]", "[jobs-overlap]"];
    let output = bench.interrupted(&words(30), &conflicts);
    assert!(output.contains("  next: "), "{output}");
    let silent = bench.run(&format!("{} --findings=off", words(1)));
    assert!(conflicts.iter().all(|conflict| !silent.stderr.contains(conflict)), "{}", silent.stderr);
    let carried = bench.run(&format!("{} --output-format=json --fsdyno-json=1", words(1)));
    let document: Value = serde_json::from_str(&carried.stdout).expect("one document");
    let found = document["fsdyno"]["findings"].as_array().cloned().unwrap_or_default();
    let ids: Vec<&str> = found.iter().filter_map(|finding| finding["id"].as_str()).collect();
    for id in ["depth-not-reached", "shared-file", "jobs-overlap"] {
        assert!(ids.contains(&id), "no {id} among {ids:?}");
    }
    // That the files fit in memory is said at once as well. After the run the layers tell whether memory answered.
    let again = "--name=again --filename=file --rw=read --bs=64k --time_based";
    bench.interrupted(&format!("{again} --size={FILE_MIB}m --runtime=30"), &["[fits-in-memory]"]);
}

/// A look at the layers asks the system some dozens of questions, once a second, and none of them is in the way of an I/O:
/// they are asked by the thread that waits for the workers. Its time is in the record; how long a busy machine takes for
/// the same questions is no matter of a test.
#[test]
fn the_ledger_costs_next_to_nothing() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let job = format!("--name=job --filename=file --rw=randread --bs=4k --size={FILE_MIB}m --time_based --rate_iops=5");
    let ran = bench.run(&format!("{job} --runtime=3"));
    let ledger = ran.record.only_node().unwrap().ledger.as_ref().expect("a ledger");
    assert!(ledger.samples.len() >= 3 && ledger.cost_ns > 0, "{}", ledger.samples.len());
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "calls", "-e", "trace=open,openat,read,readlink,getdents64,close,statx"]);
    strace.arg(testkit::program()).args(format!("{job} --runtime=4").split_whitespace());
    if strace.current_dir(bench.path("")).output().is_err() {
        return testkit::skip("strace is not installed");
    }
    let calls = std::fs::read_to_string(bench.path("calls")).expect("strace has written them");
    // Each look reads this file once.
    let looks = calls.lines().enumerate().filter(|(_, call)| call.contains("\"/proc/self/io\""));
    let at: Vec<usize> = looks.map(|(number, _)| number).collect();
    let each = at.windows(2).map(|two| two[1] - two[0]).min();
    assert!(each.is_some_and(|each| (5..=100).contains(&each)), "calls between two looks: {at:?}");
}

#[test]
fn simulated_jobs_are_left_alone_and_memory_is_called_memory() {
    let Some(bench) = Bench::new() else { return };
    for engine in ["null", "sim"] {
        let job = "--name=job --rw=randread --bs=4k --size=1g --runtime=1 --time_based --iodepth=8";
        let ran = bench.run(&format!("{job} --ioengine={engine}"));
        assert_eq!(ran.record.findings, [], "{engine}");
        assert_eq!(ran.stderr, "", "{engine}");
    }
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return eprintln!("skipped: no /dev/shm") };
    let file = memory.path().join("file");
    let words =
        format!("--name=job --filename={} --rw=read --bs=64k --size=64m --runtime=1 --time_based", file.display());
    let ran = bench.run(&words);
    if ran
        .record
        .storages()
        .next()
        .is_none_or(|storage| storage.class != fsdyno_results::evidence::StorageClass::Memory)
    {
        return testkit::skip("/dev/shm is no memory filesystem");
    }
    let found = ran.record.findings.iter().filter(|finding| finding.id != "cpu-starved");
    assert_eq!(found.map(|finding| finding.id.as_str()).collect::<Vec<_>>(), ["memory-storage"]);
}

#[test]
fn stories_are_told() {
    let explain = |words: &str| testkit::TestDirectory::new().run(&format!("explain {words}"));
    let explanation = explain("page-cache").good().stdout;
    for part in ["page-cache (T2): ", "What happens\n", "How it is detected\n", "What to do\n", "Documented\n"] {
        assert!(explanation.contains(part), "{explanation}");
    }
    assert_eq!(explain("t2").stdout, explanation, "by its number");
    let list = explain("").stdout;
    assert!(fsdyno_findings::catalogue().all(|explanation| list.contains(explanation.id)), "{list}");
    let complaint = explain("no-such-thing").refused("there is no finding `no-such-thing`");
    assert!(complaint.contains("next: "), "{complaint}");
}
