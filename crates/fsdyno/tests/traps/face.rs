//! Findings on the fio face: where they are said and where not, and their stories.

use std::process::Command;

use results::Severity;
use serde_json::Value;

use crate::bench::{Bench, FILE_MIB, Ran};

fn warm(bench: &Bench, words: &str) -> Ran {
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
    assert!(own["ledger"]["samples"].as_array().is_some_and(|samples| samples.len() >= 2));
    assert!(own["storages"][0]["mount"].is_object());
    let keys = |document: &Value| document.as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>());
    let without: Vec<String> = keys(&document).unwrap_or_default().into_iter().filter(|key| key != "fsdyno").collect();
    assert_eq!(Some(without), keys(&plain), "fio's keys are as they were");
}

#[test]
fn memory_filesystems_and_simulated_jobs_are_left_alone() {
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
    if ran.record.storages.first().is_none_or(|storage| storage.class != results::evidence::StorageClass::Memory) {
        return eprintln!("skipped: /dev/shm is no memory filesystem");
    }
    let about_storage: Vec<_> = ran.record.findings.iter().filter(|finding| finding.id != "cpu-starved").collect();
    assert!(about_storage.is_empty(), "{about_storage:#?}");
}

#[test]
fn stories_are_told() {
    let explain = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fsdyno")).arg("explain").args(words).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, story, _) = explain(&["page-cache"]);
    assert_eq!(status, Some(0));
    for part in ["page-cache (T2): ", "What happens\n", "How it is seen\n", "What to do\n", "Documented\n"] {
        assert!(story.contains(part), "{story}");
    }
    assert_eq!(explain(&["t2"]).1, story, "by its number");
    let (_, list, _) = explain(&[]);
    assert!(findings::catalogue().iter().all(|story| list.contains(story.id)), "{list}");
    let (status, out, complaint) = explain(&["no-such-thing"]);
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(complaint.contains("no finding is called no-such-thing") && complaint.contains("next: "), "{complaint}");
}
