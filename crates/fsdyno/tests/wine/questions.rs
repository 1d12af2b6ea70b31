//! The questions.

use crate::bench::{directory, windows, wine};

/// Each is answered, what it has made is removed, and its answer is found in the store of the user.
#[test]
fn every_question_is_answered_and_kept() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let (here, a, b) = (windows(place.path()), place.path().join("a"), place.path().join("b"));
    [&a, &b].iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let inspected = wine.fsdyno(&["inspect", &here]);
    assert!(inspected.contains("buffers aligned to") && inspected.contains("Windows 10"), "{inspected}");
    let measured =
        wine.fsdyno(&["measure", &here, "--quick", "--size=4m", "--runtime=1", "--only=rand-read,sync-latency"]);
    assert!(measured.contains("Measured with windowsaio"), "{measured}");
    let (first, second) = (format!("a={}", windows(&a)), format!("b={}", windows(&b)));
    let compared =
        wine.fsdyno(&["compare", &first, &second, "--rounds=2", "--size=4m", "--runtime=1", "--only=randread"]);
    assert!(compared.contains("randread"), "{compared}");
    let small = wine.fsdyno(&["smallfiles", &here, "--files=20"]);
    assert!(small.contains("create+fsync of dir") && small.contains("Windows makes symbolic links"), "{small}");
    // Each published line is planned for this system.
    assert!(wine.fsdyno(&["check", "--list"]).contains("etcd"));

    let runs = wine.fsdyno(&["runs"]);
    for question in ["measure", "compare", "smallfiles"] {
        assert!(runs.contains(&format!("-{question}-")), "{runs}");
    }
    let users = wine.prefix.join("drive_c/users").read_dir().unwrap().flatten();
    let mut stores = users.map(|user| user.path().join("AppData/Local/fsdyno")).filter(|store| store.is_dir());
    assert!(stores.next().is_some(), "the store is that of the user");
    assert!(wine.fsdyno(&["history", "last"]).contains("1 run"));
    assert!(wine.fsdyno(&["report", "last"]).contains("| **create** |"));
    assert!(wine.fsdyno(&["diff", "last", "last"]).contains("write"));

    assert!(wine.fsdyno(&["clean", &here]).contains("no fsdyno files are left"));
    assert_eq!(testkit::names(place.path()), ["a", "b"]);
    assert!(testkit::names(&a).is_empty() && testkit::names(&b).is_empty());
    assert!(wine.fsdyno(&["doctor"]).contains("windowsaio"));
    assert!(wine.fsdyno(&["completions", "powershell"]).contains("Register-ArgumentCompleter"));
}
