//! Tests that saved records print what the live run printed.

use crate::program::results;
use testkit::TestDirectory;

/// A mix of what a report contains: two jobs, a group, counted errors, latencies.
const JOBS: &str = "--ioengine=null --size=256k --group_reporting --name=a --rw=randrw --numjobs=2 --iodepth=4 \
                    --name=b --rw=write --continue_on_error=io --description=words";

/// Saves a record of a run and returns its live output.
fn live(place: &TestDirectory, words: &str) -> String {
    let ran = place.run(&format!("{words} --record=run.json"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[track_caller]
fn again(place: &TestDirectory, form: &str) -> String {
    let ran = place.run(&format!("report --as {form} run.json"));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{form}");
    ran.stdout
}

#[test]
fn machine_formats_come_again_byte_for_byte() {
    let place = TestDirectory::new();
    for form in ["json", "json+", "terse"] {
        let printed = live(&place, &format!("{JOBS} --output-format={form}"));
        assert!(!printed.is_empty());
        assert_eq!(printed, again(&place, form), "{form}");
    }
    assert_eq!(place.names(""), ["run.json"], "nothing else is left");
}

#[test]
fn terse_versions_come_again() {
    let place = TestDirectory::new();
    for version in 2..=5 {
        let printed = live(&place, &format!("{JOBS} --output-format=terse --terse-version={version}"));
        assert_eq!(printed, again(&place, &format!("terse --terse-version {version}")), "{version}");
    }
}

#[test]
fn the_normal_report_comes_again() {
    let place = TestDirectory::new();
    let printed = live(&place, JOBS);
    let again = again(&place, "normal");
    assert_eq!(results(&printed), results(&again));
    assert_eq!(again, place.run("report run.json").stdout, "normal is the default");
}

#[test]
fn a_real_file_with_its_disk_comes_again() {
    let place = TestDirectory::new();
    let words = "--name=a --filename=data --size=256k --rw=randread --iodepth=4";
    let printed = live(&place, words);
    assert_eq!(results(&printed), results(&again(&place, "normal")));
}

#[test]
fn an_interrupted_run_has_a_record() {
    let place = TestDirectory::new();
    let mut running = place.start(
        "--name=a --ioengine=null --size=1m --rw=read --thinktime=1ms --time_based --runtime=600 --record=run.json \
         --eta=always --eta-interval=250ms",
    );
    // Then I/O was done, and the job has a block in the report.
    running.wait_for("Jobs: 1 (f=1)");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(results(&ran.stdout), results(&again(&place, "normal")));
    let record: serde_json::Value = serde_json::from_str(&place.read("run.json")).expect("JSON");
    assert_eq!(record["signal"], 2);
    assert_eq!(record["complete"], true);
}

#[test]
fn what_is_no_record_is_told() {
    let place = TestDirectory::new();
    place.write("text", "this is text\n");
    place.write("other.json", "{\"jobs\": []}\n");
    live(&place, JOBS);
    let record = place.read("run.json");
    place.write("cut.json", &record[..record.len() / 2]);
    for (name, says) in [
        ("text", "not a run record"),
        ("other.json", "not a run record"),
        ("cut.json", "not a run record"),
        ("missing.json", "no file of that name"),
        (".", "directory"),
    ] {
        let ran = place.run(&format!("report {name}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{name}");
        assert!(ran.stderr.contains(name) && ran.stderr.contains(says), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_newer_record_is_told() {
    let place = TestDirectory::new();
    live(&place, JOBS);
    let mut record: serde_json::Value = serde_json::from_str(&place.read("run.json")).expect("JSON");
    record["schema"] = 999.into();
    place.write("run.json", record.to_string());
    let ran = place.run("report run.json");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("format 999") && ran.stderr.contains("newer"), "{}", ran.stderr);
}

#[test]
fn a_record_that_cannot_be_saved_is_told_before_the_run() {
    let place = TestDirectory::new();
    let ran = place.run("--name=a --size=64k --rw=write --record=no/such/place.json");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("--record=no/such/place.json"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0], "nothing was run");
}

/// A store with two runs of one plan, a and b; returns the id of the later one.
fn two_kept_runs(place: &TestDirectory) -> String {
    for name in ["a", "b"] {
        let words = format!("--name=a --ioengine=null --rw=read --size=1m --record=store/{name}.json");
        place.run(&words[..]).good();
        testkit::pause(2);
    }
    place.run("show store/b.json --json").document()["id"].as_str().expect("an id").to_owned()
}

#[test]
fn an_odd_file_in_the_store_costs_a_line_of_warning_and_nothing_else() {
    let place = TestDirectory::with(&["store"]);
    let last = two_kept_runs(&place);
    let lists = ["runs", "runs --json", "history", "history --json", "diff a b --force", "diff a last --json --force"];
    let one = format!("show {last}");
    let others = ["show a", &one, "show last", "report a --as csv", "baseline set good b", "report good --as json"];
    let run = |words: &str| place.run(&format!("{words} --store store")[..]);
    run("baseline set good b").good();
    let before: Vec<_> = lists.iter().chain(&others).map(|words| run(words).good()).collect();
    testkit::shell(&format!(
        "cd {} && mkfifo fifo.json && ln -s /dev/zero zero.json && truncate -s 3G sparse.json && ln -s fifo.json link.json",
        place.word("store")
    ));
    for (words, before) in lists.iter().chain(&others).zip(before) {
        let after = run(words).good();
        assert_eq!(after.stdout, before.stdout, "{words}");
        let warnings: Vec<&str> = after.stderr.lines().filter(|line| !before.stderr.contains(line)).collect();
        // An id that is no file name is searched in all of them.
        let by_id = words.contains("last") || words.starts_with("report good") || **words == one;
        let looks_at_all = lists.contains(words) || by_id;
        assert_eq!(warnings.len(), if looks_at_all { 4 } else { 0 }, "{words}: {warnings:?}");
        assert!(warnings.iter().all(|line| line.starts_with("fsdyno: cannot read store/")), "{warnings:?}");
    }
}

#[test]
fn a_run_is_shown_without_a_look_into_others_and_a_list_reads_none_again() {
    if !testkit::has("strace") {
        return;
    }
    let place = TestDirectory::with(&["store"]);
    two_kept_runs(&place);
    // Enough bytes for an index.
    let run = place.read("store/b.json").trim_end().to_owned() + &" ".repeat(1 << 16);
    for number in 0..40 {
        place.write(&format!("store/2026{number:02}.json"), &run);
    }
    let opened = |words: &str| {
        let mut strace = std::process::Command::new("strace");
        strace.args(["-f", "-e", "trace=open,openat,openat2", "-o", "calls", &testkit::program()]);
        strace.args(words.split(' ')).args(["--store", "store"]).current_dir(place.path(""));
        assert!(strace.output().expect("strace runs").status.success(), "{words}");
        place.read("calls").lines().filter(|call| call.contains(".json")).count()
    };
    assert_eq!(["show a", "show 202607", "show store/b.json", "report a --as csv"].map(opened), [1; 4]);
    assert_eq!([opened("runs"), opened("runs"), opened("history a"), opened("show last")], [42, 0, 1, 1]);
    place.write("store/202607.json", &run);
    assert_eq!(opened("runs --json"), 1, "the one that has changed");
}

#[test]
fn no_file_that_is_read_keeps_a_command_waiting() {
    let place = TestDirectory::with(&["xdg/fsdyno/profiles", "store"]);
    let folder = place.path("xdg");
    let run = |words: &str| {
        let mut command = place.command(words);
        testkit::Running::start(command.env("XDG_CONFIG_HOME", &folder)).finish()
    };
    let fifo = |name: &str| testkit::shell(&format!("mkfifo {}", place.word(name)));
    fifo("store/baselines");
    let listed = run("runs --store store").good();
    assert!(listed.stderr.starts_with("fsdyno: cannot read store/baselines: it is not a regular file\n"));
    run("baseline list --store store").refused("cannot read store/baselines: it is not a regular file");
    fifo("xdg/fsdyno/profiles/x.toml");
    run("check --list").refused("it is not a regular file");
    fifo("xdg/fsdyno/config.toml");
    run("runs --store store").refused("it is not a regular file");
    let ran = place.run("report store/baselines");
    ran.refused("cannot read store/baselines: it is not a regular file");
    fifo("local-a-0-verify.state");
    let words = "--name=a --filename=f --size=4k --rw=read --verify=crc32c --verify_state_load=1";
    let ran = place.run(words);
    assert!(ran.status != Some(0) && ran.stderr.contains("it is not a regular file"), "{}", ran.stderr);
}

#[test]
fn a_job_file_may_be_a_pipe_and_has_an_end() {
    let place = TestDirectory::new();
    place.write("job.fio", "[a]\nioengine=null\nsize=1m\nrw=read\n");
    let ran = |line: &str| {
        let mut shell = std::process::Command::new("bash");
        let line = line.replace("fsdyno", &testkit::program());
        testkit::Running::start(shell.args(["-c", &line]).current_dir(place.path(""))).finish()
    };
    for line in ["fsdyno fio <(cat job.fio)", "cat job.fio | fsdyno fio -", "mkfifo p; cat job.fio > p & fsdyno fio p"]
    {
        assert!(ran(line).good().stdout.contains("total=256,0,0,0"), "{line}");
    }
    for line in ["fsdyno fio /dev/zero", "fsdyno fio - < /dev/zero"] {
        let ran = ran(line);
        assert!(ran.status == Some(1) && ran.stderr.contains("it holds more than 67108864 bytes"), "{}", ran.stderr);
    }
}

/// A question that saves its run each second; waits until it has reported that saving fails.
fn without_a_store(place: &TestDirectory) -> testkit::Running {
    let words = "measure . --quick --size=4m --runtime=3 --only=rand-read --record-interval=1 --store=runs";
    let mut running = place.start(words);
    running.wait_until("the store", |_| std::path::Path::new(&place.path("runs")).is_dir());
    running.wait_until("the first test", |running| running.stderr().contains("[1/2]"));
    std::fs::rename(place.path("runs"), place.path("elsewhere")).unwrap();
    place.write("runs", "no directory");
    running.wait_until("a failure", |running| running.stderr().contains("not saved yet: cannot save"));
    running
}

#[test]
fn a_run_that_was_saved_at_last_says_so_and_one_that_was_not_does_not() {
    let (kept, lost) = (TestDirectory::new(), TestDirectory::new());
    let saved = without_a_store(&kept);
    std::fs::remove_file(kept.path("runs")).unwrap();
    std::fs::rename(kept.path("elsewhere"), kept.path("runs")).unwrap();
    let not_saved = without_a_store(&lost);
    let (saved, not_saved) = (saved.finish(), not_saved.finish());
    assert_eq!(saved.status, Some(0), "{}", saved.stderr);
    let after = saved.stderr.rsplit_once("not saved yet").unwrap().1;
    assert!(after.contains("\nsaved as ") && !after.contains("fsdyno: cannot save"), "{}", saved.stderr);
    assert!(
        after.contains("(see `fsdyno runs --store=") && after.contains("runs`)"),
        "where it lies: {}",
        saved.stderr
    );
    assert_eq!(kept.studies("runs").len(), 1);
    assert_eq!(not_saved.status, Some(2), "{}", not_saved.stderr);
    assert!(!not_saved.stderr.contains("saved as"), "{}", not_saved.stderr);
    assert!(not_saved.stderr.contains("\nfsdyno: cannot save "), "{}", not_saved.stderr);
}
