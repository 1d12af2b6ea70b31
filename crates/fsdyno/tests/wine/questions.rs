//! The questions.

use serde_json::Value;
use testkit::{Running, text, wait_until};

use crate::bench::{built, directory, windows, wine};

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
    // A remark takes several lines of its column.
    let words = small.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("create+fsync of dir") && words.contains("Windows makes symbolic links"), "{small}");
    assert!(wine.fsdyno(&["check", "--list"]).contains("etcd"));
    // A published line runs, with the engine of this system; how it is judged is the storage's.
    let checked = wine.try_fsdyno(&["check", "etcd", &here, "--quick", "--no-store"]);
    let said = text(&checked.stdout);
    assert!(checked.status.code() != Some(2) && said.contains("99th percentile of fdatasync"), "{said}");

    let runs = wine.fsdyno(&["runs"]);
    for question in ["measure", "compare", "smallfiles"] {
        assert!(runs.contains(&format!("-{question}-")), "{runs}");
    }
    let users = wine.prefix.join("drive_c/users").read_dir().unwrap().flatten();
    let mut stores = users.map(|user| user.path().join("AppData/Local/fsdyno")).filter(|store| store.is_dir());
    assert!(stores.next().is_some(), "the store is that of the user");
    assert!(wine.fsdyno(&["history", "last"]).contains("1 run"));
    assert!(wine.fsdyno(&["report", "last"]).contains("| **create** |"));
    let sheet = place.path().join("sheet.html");
    wine.fsdyno(&["report", "last", "-o", &windows(&sheet)]);
    assert!(std::fs::read_to_string(&sheet).unwrap().contains("</html>"), "a whole sheet");
    std::fs::remove_file(&sheet).unwrap();
    assert!(wine.fsdyno(&["show", "last-0"]).contains("write"));

    assert!(wine.fsdyno(&["clean", &here]).contains("no fsdyno files are left"));
    assert_eq!(testkit::names(place.path()), ["a", "b"]);
    assert!(testkit::names(&a).is_empty() && testkit::names(&b).is_empty());
    assert!(wine.fsdyno(&["doctor"]).contains("windowsaio"));
    assert!(wine.fsdyno(&["completions", "powershell"]).contains("Register-ArgumentCompleter"));
}

/// The second process ends with the first, and `clean` knows that what they have made is nobody's.
#[test]
fn what_a_killed_run_leaves_is_removed_by_clean() {
    let Some(wine) = wine() else { return };
    let (place, elsewhere) = (directory(), directory());
    let asked = windows(place.path());
    let question = ["measure", &asked, "--no-store", "--size=4m", "--only=rand-read", "--runtime=600"];
    let mut command = wine.command(built("fsdyno", "fsdyno"), elsewhere.path());
    let running = Running::start(command.args(question));
    let work = || testkit::names(place.path()).pop();
    wait_until("work directory", || work().is_some());
    let marker = place.path().join(work().unwrap()).join(".fsdyno-work");
    wait_until("marker", || marker.metadata().is_ok_and(|marker| marker.len() > 0));
    running.signal("KILL");
    running.finish_with_signal();
    // What was killed may take a moment to end.
    wait_until("clean directory", || {
        wine.fsdyno(&["clean", &asked]);
        work().is_none()
    });
}

/// Cmd runs loops like the published ones: the same files, and both times are shown.
#[test]
fn the_shell_loops_are_those_of_cmd() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let asked = ["smallfiles", &windows(place.path()), "--literal", "--limit=1", "--no-store", "--json"];
    let study: Value = serde_json::from_str(&wine.fsdyno(&asked)).expect("one study");
    let rows = study["rows"].as_array().unwrap().iter();
    let loops: Vec<&Value> = rows.filter(|row| row["pattern"].as_str().unwrap().starts_with("shell")).collect();
    assert_eq!(loops.len(), 2 * 3, "two loops in three passes: {study}");
    for row in loops {
        assert_eq!((&row["phase"]["operations"], &row["phase"]["failures"]), (&1001.into(), &0.into()), "{row}");
        // Each line that cmd writes ends with two bytes.
        assert_eq!(row["phase"]["bytes"], 1001 * 6, "{row}");
        assert_eq!(row["command"][0], "cmd", "{row}");
    }
    assert!(study["sentences"].to_string().contains("Cmd itself adds about"), "{study}");
    assert_eq!(testkit::names(place.path()), [""; 0]);
}
