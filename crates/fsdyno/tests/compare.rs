//! Tests that two directories are compared, the saved run is shown, compared with a later one, and named, as in the
//! README.

use fsdyno_results::Study;
use testkit::{RunResult, TestDirectory};

fn place() -> TestDirectory {
    TestDirectory::with(&["one", "two"])
}

fn compare(place: &TestDirectory, more: &[&str]) -> RunResult {
    place.run(&[&["compare", "first=one", "second=two", "--size=8m", "--runtime=1", "-q"], more].concat()).good()
}

/// A large request costs as little CPU time as a small one, and there are fewer of them.
const LARGE: &str = "--bs=1m";

fn studies(place: &TestDirectory) -> Vec<Study> {
    place.studies("home/fsdyno")
}

fn ids(place: &TestDirectory) -> Vec<String> {
    studies(place).into_iter().map(|study| study.id).collect()
}

#[track_caller]
fn nothing_is_left(place: &TestDirectory) {
    assert!(place.names("one").is_empty() && place.names("two").is_empty());
}

#[test]
fn rounds_take_turns_and_the_kept_run_can_be_compared_again() {
    let place = place();
    let table = compare(&place, &["--rounds=3", "--wide", LARGE]).stdout;
    for words in [
        "ratio to first",
        "IOPS",
        // A slow storage has too few requests in a second for a p99.
        "p50 read",
        "CPU %",
        "MB per CPU-s",
        "read  ",
        "Medians of 4 alternating rounds",
        "88 % interval",
        "scatter %",
        "note: 4 rounds, one more than requested",
        "note: each round writes new files",
        "direct I/O, without",
    ] {
        assert!(table.contains(words), "{words} is missing:\n{table}");
    }
    let flowing = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("too few rounds ("), "{table}");
    nothing_is_left(&place);

    let study = studies(&place).remove(0);
    let turns: Vec<(u32, &str, usize)> =
        study.rows.iter().map(|row| (row.round, row.pattern.as_str(), row.target)).collect();
    assert_eq!(turns.len(), 4 * 5 * 2);
    assert_eq!(turns[..4], [(0, "write", 0), (0, "write", 1), (0, "read", 0), (0, "read", 1)], "A B");
    assert_eq!(turns[10..14], [(1, "write", 1), (1, "write", 0), (1, "read", 1), (1, "read", 0)], "B A");
    // A finished file is passed over again, so that a fast place is measured as long as a slow one.
    for row in &study.rows {
        let job = &row.run.as_ref().unwrap().jobs[0];
        assert!(job.directions.read.runtime_ms.max(job.directions.write.runtime_ms) >= 1000, "{:?}", row.command);
        assert!(row.findings.iter().all(|finding| finding.id != "too-short"), "{:?}", row.findings);
    }
    // Writes are durable within the measured time.
    let writes = study.rows.iter().filter(|row| row.pattern.contains("write"));
    for row in writes {
        assert!(row.command.iter().any(|word| word == "--end_fsync=1"), "{:?}", row.command);
        assert!(row.figures().unwrap().durable_s.is_some());
    }

    compare(&place, &["--rounds=1", LARGE]);
    two_kept_runs_are_compared(&place);
}

/// Compares again, and shows what changed.
fn two_kept_runs_are_compared(place: &TestDirectory) {
    let ids = ids(place);
    let changed = place.run(&["diff", &ids[0], &ids[1]]).good();
    // One of the runs has a single round: the answer is the command that measures enough rounds.
    let steps = || changed.stdout.split_once("next: before the change, and after it\n");
    let command = steps().and_then(|(_, rest)| rest.lines().next()).unwrap_or_default();
    assert!(
        command.trim_start().starts_with("fsdyno compare ") && command.ends_with(" --rounds=4"),
        "{}",
        changed.stdout
    );
    assert!(!changed.stdout.contains("randread"), "{}", changed.stdout);
    assert_eq!(place.run(&["compare", &ids[0], &ids[1]]).stdout, changed.stdout, "two runs after compare mean diff");
    let json = place.run(&["diff", &ids[0], &ids[1], "--json"]).document();
    assert!(json["changes"][0].get("change_percent").is_some(), "{json}");

    // Names the first run, and tests conditions for scripts.
    assert_eq!(place.run(&["baseline", "set", "good", &ids[0]]).status, Some(0));
    let absurd = place.run(&["diff", "good", "last", "--fail-if", "any.iops > -100%", "--force"]);
    let document = place.run(&["diff", "good", "last", "--json", "--force"]).document();
    let rows = document["changes"].as_array().unwrap();
    let shown = |row: &serde_json::Value| row["shown"] == "WORSE" || row["shown"] == "better";
    let judged = rows.iter().any(|row| row["figure"] == "iops" && shown(row));
    assert_eq!(absurd.status, Some(i32::from(judged)), "only a change that the rounds show can fail");
    let misspelt = place.run(&["diff", "good", "last", "--fail-if", "randread.iosp < -5%"]);
    misspelt.refused("is not one of rate, iops, p50, p99, cpu");
    let history = place.run(&["history"]).stdout;
    assert!(ids.iter().all(|id| history.contains(id)), "{history}");
    earlier_runs_tell_how_far_runs_scatter(place, &ids);
}

/// Three earlier runs like the first are the history of a change to a later one.
fn earlier_runs_tell_how_far_runs_scatter(place: &TestDirectory, ids: &[String]) {
    let first = studies(place).into_iter().find(|study| study.id == ids[0]).unwrap();
    let keep = |id: &str, started_ms: u64| {
        let study = Study { id: id.to_string(), started_ms, ..first.clone() };
        place.write(&format!("home/fsdyno/{id}.json"), study.to_json());
    };
    let of_runs = || -> Vec<serde_json::Value> {
        let document = place.run(&["diff", &ids[0], "20990101", "--json"]).document();
        document["changes"].as_array().unwrap().iter().map(|row| row["scatter_runs"].clone()).collect()
    };
    keep("20990101", first.started_ms + 1_000_000_000);
    assert!(of_runs().iter().all(serde_json::Value::is_null), "there is none before the first");
    assert!(!place.run(&["history"]).stdout.contains("run to run"));
    (1..=3).for_each(|day| keep(&format!("2020010{day}"), first.started_ms - 1000 * day));
    // A run that other tests disturbed until it is invalid has no history.
    let found = of_runs();
    assert!(found.iter().any(|runs| *runs == 4) && found.iter().all(|runs| runs.is_null() || *runs == 4), "{found:?}");
    assert!(place.run(&["history"]).stdout.contains("run to run"));
}

#[test]
fn another_plan_is_not_compared_unless_forced() {
    let place = place();
    compare(&place, &["--rounds=1", "--only=write"]);
    compare(&place, &["--rounds=1", "--only=write", "--iodepth=4"]);
    let ids = ids(&place);
    let refused = place.run(&["diff", &ids[0], &ids[1]]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("cannot be compared") && refused.stderr.contains("--force"));
    let forced = place.run(&["diff", &ids[0], &ids[1], "--force"]);
    assert_eq!(forced.status, Some(0));
    let judged = place.run(&["diff", &ids[0], &ids[1], "--force", "--fail-if", "any.iops > -99%"]);
    assert_eq!(judged.status, Some(0), "single runs fail no script");
    assert!(judged.stderr.contains("cannot judge `any.iops > -99%`"), "{}", judged.stderr);
    let text = forced.stdout;
    assert!(text.contains("compared with --force although") && text.contains("No figure can be judged"), "{text}");
}

#[test]
fn places_that_cannot_be_compared_are_refused() {
    let place = place();
    let cases: [(&[&str], &str); 4] = [
        (&["compare", "first=one"], "at least two paths"),
        (&["compare", "a=one", "a=two"], "two paths have the name a"),
        (&["compare", "a=one", "b=missing"], "missing does not exist"),
        (&["compare", "a=one", "b=two", "--expect", "b=nfs"], "should be nfs"),
    ];
    for (words, reason) in cases {
        place.run(words).refused(reason);
    }
    nothing_is_left(&place);
}
