//! Tests that a signal ends the run with a report, or asks for one.

use std::process::Stdio;

use crate::program::results;
use testkit::{Running, TestDirectory, program, skip, wait_until};

/// A run of ten minutes, which computes all the time.
const ENDLESS: &str = "--name=a --ioengine=null --size=1m --rw=randread --time_based --runtime=600";

/// The same, mostly asleep, with a progress line that shows when I/O was done: a job without any has no block in the
/// report.
const ENDLESS_WATCHED: &str = "--eta=always --eta-interval=250ms --name=a --ioengine=null --size=1m --rw=randread \
                               --thinktime=1ms --time_based --runtime=600";

/// The beginning of that line.
const IO_WAS_DONE: &str = "Jobs: 1 (f=1)";

#[test]
fn sigint_and_sigterm_end_the_run_with_its_report() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let mut running = TestDirectory::new().start(ENDLESS_WATCHED);
        running.wait_for(IO_WAS_DONE);
        running.signal(name);
        let ran = running.finish();
        assert_eq!(ran.status, Some(128), "{name}");
        assert!(ran.stdout.contains(&format!("\nfio: terminating on signal {number}\n")), "{}", ran.stdout);
        assert!(results(&ran.stdout).contains("err= 0:"), "{}", ran.stdout);
        assert!(results(&ran.stdout).contains("   READ: bw="), "{}", ran.stdout);
    }
}

#[test]
fn the_document_of_an_interrupted_run_is_whole() {
    let place = TestDirectory::new();
    let words = "--name=a --size=64k --rw=randwrite --time_based --runtime=600 --output-format=json";
    let mut running = place.start(words);
    let file = place.path("a.0.0");
    running.wait_until("data", |_| std::fs::metadata(&file).is_ok_and(|data| data.len() > 0));
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    let document = ran.document();
    assert_eq!(document["jobs"][0]["error"], 0);
    assert!(ran.stderr.contains("terminating on signal 2"), "{}", ran.stderr);
}

#[test]
fn a_signal_that_comes_twice_does_not_lose_the_report() {
    // timeout(1) sends it to its child and to the child's group.
    for _ in 0..10 {
        let place = TestDirectory::new();
        let mut running = place.start(ENDLESS);
        running.wait_for("Starting 1 process\n");
        running.signal_twice("INT");
        let ran = running.finish();
        assert_eq!(ran.status, Some(128));
        assert!(ran.stdout.contains("Run status group 0"), "{}", ran.stdout);
    }
}

#[test]
fn a_failed_job_adds_to_the_status() {
    let mut running =
        TestDirectory::new().start(&format!("{ENDLESS} --name=bad --filename=nosuch --ioengine=psync --size=0"));
    running.wait_until("the failure", |running| running.stderr().contains("bad: you need to specify size"));
    running.wait_for("Starting");
    running.signal("INT");
    assert_eq!(running.finish().status, Some(129));
}

#[test]
fn later_stages_do_not_begin() {
    let words = format!("{ENDLESS} --name=late --stonewall --size=64k --rw=write --filename=late");
    let place = TestDirectory::new();
    let mut running = place.start(&words);
    running.wait_for("Starting 2 processes\n");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    assert!(!ran.stdout.contains("late: (groupid"), "{}", ran.stdout);
}

#[test]
fn sigusr1_asks_for_a_report_in_between() {
    let mut running = TestDirectory::new().start(ENDLESS);
    running.wait_for("Starting 1 process\n");
    running.signal("USR1");
    running.wait_for("Run status group 0 (all jobs):");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    assert_eq!(ran.stdout.matches("Run status group 0 (all jobs):").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_data_of_an_interrupted_writer_stays() {
    let place = TestDirectory::new();
    let mut running = place.start("--name=a --size=64k --rw=write --time_based --runtime=600");
    running.wait_for("Starting");
    let file = place.path("a.0.0");
    running.wait_until("data", |_| std::fs::metadata(&file).is_ok_and(|data| data.len() == 65536));
    running.signal("INT");
    assert_eq!(running.finish().status, Some(128));
    assert_eq!(place.names(""), ["a.0.0"]);
}

/// Runs the program after shell words whose last one starts it.
fn behind(place: &TestDirectory, before: &str, words: &str) -> Running {
    let mut command = place.program("sh", "-c");
    Running::start(command.arg(format!("{before} {} {words}", program())))
}

#[test]
fn a_terminal_that_is_closed_ends_the_run_with_its_report_and_its_record() {
    let place = TestDirectory::new();
    let mut running = place.start(&format!("{ENDLESS_WATCHED} --record=kept"));
    running.wait_for(IO_WAS_DONE);
    running.signal("HUP");
    let ran = running.finish();
    assert_eq!(ran.status, Some(128));
    assert!(ran.stdout.contains("\nfio: terminating on signal 1\n"), "{}", ran.stdout);
    assert!(results(&ran.stdout).contains("   READ: bw="), "{}", ran.stdout);
    let record: serde_json::Value = serde_json::from_str(&place.read("kept")).unwrap();
    assert_eq!((&record["signal"], &record["complete"]), (&1.into(), &true.into()));
}

#[test]
fn a_question_whose_terminal_is_closed_removes_what_it_made_and_keeps_the_study() {
    let place = TestDirectory::new();
    let mut running = place.start("measure . --quick --size=16m --store kept");
    running.wait_until("the first test", |running| running.stderr().contains("[1/"));
    running.signal("HUP");
    assert_eq!(running.finish().status, Some(129));
    assert_eq!(place.names(""), ["kept"], "the work directory is gone");
    assert_eq!(std::fs::read_dir(place.path("kept")).unwrap().count(), 1);
}

#[test]
fn whoever_was_started_by_nohup_goes_on() {
    let place = TestDirectory::new();
    let mut running = behind(&place, "exec nohup", ENDLESS_WATCHED);
    running.wait_for(IO_WAS_DONE);
    running.signal("HUP");
    // Signals are handled in the order of their numbers: the first would be reported if it had been handled.
    running.signal("INT");
    let ran = running.finish();
    assert!(ran.stdout.contains("\nfio: terminating on signal 2\n"), "{}", ran.stdout);
}

#[test]
fn without_a_reader_a_run_that_keeps_a_record_goes_on_to_its_end() {
    let place = TestDirectory::new();
    // A closed terminal also answers with an error for each line.
    let words = "--name=a --ioengine=null --size=1m --rw=read --thinktime=1ms --time_based --runtime=1 --eta=always --record=kept";
    let mut running =
        Running::start_with_stdout(&mut place.command(words), std::fs::File::create("/dev/full").unwrap());
    running.wait_until("the end", |running| running.stderr().contains("cannot write the report"));
    assert_eq!(running.finish().status, Some(1));
    let record: serde_json::Value = serde_json::from_str(&place.read("kept")).unwrap();
    assert!(
        record["jobs"][0]["directions"]["read"]["runtime_ms"].as_u64().unwrap() >= 1000,
        "it ran as long as it was to"
    );
}

#[test]
fn a_file_beyond_the_limit_of_file_sizes_is_an_error_of_its_write() {
    let place = TestDirectory::new();
    let words = "--name=a --size=1m --bs=4k --rw=write --fallocate=none --record=kept";
    // 64 KiB, or twice that: the unit depends on the shell.
    let ran = behind(&place, "ulimit -f 128; exec", words).finish();
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("io_u error on file a.0.0: File too large: write offset="), "{}", ran.stderr);
    let record: serde_json::Value = serde_json::from_str(&place.read("kept")).unwrap();
    assert_eq!(record["jobs"][0]["error"]["code"], 27);
}

#[test]
fn a_question_under_a_limit_of_file_sizes_removes_what_it_made() {
    let place = TestDirectory::new();
    let ran = behind(&place, "ulimit -f 16384; exec", "measure . --quick --size=64m --store kept").finish();
    assert!(matches!(ran.status, Some(1 | 2)), "{:?} {}", ran.status, ran.stderr);
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    assert_eq!(place.names(""), ["kept"], "the work directory is gone");
}

#[test]
fn processor_time_that_is_nearly_used_up_ends_the_run_with_its_report() {
    let ran = behind(&TestDirectory::new(), "ulimit -t 2; exec", ENDLESS).finish();
    assert_eq!(ran.status, Some(128), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("\nfio: terminating on signal 24\n"), "{}", ran.stdout);
    assert!(results(&ran.stdout).contains("   READ: bw="), "{}", ran.stdout);
}

#[test]
fn a_question_whose_processor_time_is_nearly_used_up_removes_what_it_made() {
    let place = TestDirectory::new();
    let ran = behind(&place, "ulimit -t 2; exec", "measure . --size=16m --store kept").finish();
    assert_eq!(ran.status, Some(152), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(place.names(""), ["kept"], "the work directory is gone");
}

/// Runs words in a terminal that is closed once `data` exists; the result is in the place's file `kept`. `None`: there
/// is no terminal.
fn until_its_terminal_is_closed(place: &TestDirectory, before: &str, words: &str) -> Option<serde_json::Value> {
    let line = format!("{before} {} {words} --filename=data --record=kept", program());
    let mut command = place.program("script", "--quiet --command");
    let Ok(mut terminal) = command.arg(line).arg("/dev/null").stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    else {
        skip("no program `script`, which makes terminals");
        return None;
    };
    let begun = place.path("data");
    wait_until("data", || begun.metadata().is_ok_and(|data| data.len() > 0));
    terminal.kill().expect("it is a child");
    terminal.wait().expect("it has ended");
    let kept = place.path("kept");
    wait_until("a record", || kept.exists());
    Some(serde_json::from_str(&place.read("kept")).expect("it is whole"))
}

#[test]
fn the_record_outlives_the_terminal() {
    let words = "--name=a --size=64k --rw=write --thinktime=1ms --time_based --runtime=600";
    if let Some(record) = until_its_terminal_is_closed(&TestDirectory::new(), "exec", words) {
        assert_eq!((&record["signal"], &record["complete"]), (&1.into(), &true.into()));
    }
}

#[test]
fn a_run_that_does_not_hear_of_its_terminal_goes_on_without_it() {
    let words = "--name=a --size=64k --rw=write --thinktime=1ms --time_based --runtime=2 --record-interval=0";
    if let Some(record) = until_its_terminal_is_closed(&TestDirectory::new(), "trap '' HUP; exec", words) {
        assert_eq!((&record["signal"], &record["complete"]), (&serde_json::Value::Null, &true.into()));
        assert!(
            record["jobs"][0]["directions"]["write"]["runtime_ms"].as_u64().unwrap() >= 2000,
            "as long as it was to"
        );
    }
}

/// The sum of an averaged log's lines times their windows, per second.
fn lines_times_windows(log: &str) -> u64 {
    let lines = log.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect::<Vec<u64>>());
    let mut before_ms = 0;
    let of_line = |line: Vec<u64>| line[1] * (line[0] - std::mem::replace(&mut before_ms, line[0]));
    lines.map(of_line).sum::<u64>() / 1000
}

#[test]
fn the_averaged_logs_of_an_interrupted_run_hold_all_of_it() {
    let logs =
        "--write_iops_log=l --write_bw_log=l --write_hist_log=l --write_lat_log=l --log_avg_msec=50 --log_hist_msec=50";
    for end in ["INT", "TERM", ""] {
        let place = TestDirectory::new();
        let words =
            format!("--name=a --ioengine=null --size=1g --rw=write --rate_iops=20000 {logs} --output-format=json");
        let length = if end.is_empty() { "--time_based --runtime=170ms" } else { "--time_based --runtime=600" };
        let mut running = place.start(&format!("{words} {length}"));
        if !end.is_empty() {
            // A chunk of lines comes each second.
            let log = place.path("l_iops.1.log");
            running.wait_until("lines", |_| std::fs::metadata(&log).is_ok_and(|data| data.len() > 0));
            running.signal(end);
        }
        let written = &running.finish().document()["jobs"][0]["write"];
        let (ios, kib) = (written["total_ios"].as_u64().unwrap(), written["io_kbytes"].as_u64().unwrap());
        for (subject, expected) in [("iops", ios), ("bw", kib)] {
            let log = place.read(&format!("l_{subject}.1.log"));
            let (sum, lines) = (lines_times_windows(&log), log.lines().count() as u64);
            assert!(expected <= sum + lines, "{end} {subject}: {sum} of {expected}\n{log}");
        }
        let histograms = place.read("l_clat_hist.1.log");
        let counts = |line: &str| line.split(", ").skip(3).map(|count| count.parse::<u64>().unwrap()).sum::<u64>();
        assert_eq!(histograms.lines().map(counts).sum::<u64>(), ios, "{end}");
    }
}

/// Starts a question of ten minutes, and waits until it has made its file.
fn measuring(place: &TestDirectory) -> Running {
    let words = "measure . --quick --size=4m --runtime=600 --only=rand-read --no-store";
    let mut running = place.start(words);
    running.wait_until("the file", |_| work_directory(place).is_some_and(|name| place.names(&name).len() > 1));
    running
}

fn work_directory(place: &TestDirectory) -> Option<String> {
    place.names("").into_iter().find(|name| name.starts_with("fsdyno-work-"))
}

/// All signals that would end a program without a report.
#[test]
#[cfg(target_os = "linux")]
fn whatever_signal_ends_a_question_its_directory_goes() {
    let signals = [("QUIT", 3), ("USR2", 12), ("ALRM", 14), ("STKFLT", 16), ("XCPU", 24), ("VTALRM", 26), ("PROF", 27)];
    let signals = signals.into_iter().chain([("IO", 29), ("PWR", 30)]);
    let begun: Vec<_> = signals
        .map(|(name, number)| {
            let place = TestDirectory::new();
            let running = measuring(&place);
            // Not every shell knows all names.
            running.signal(&number.to_string());
            (name, number, place, running)
        })
        .collect();
    for (name, number, place, running) in begun {
        let ran = running.finish();
        assert_eq!(ran.status, Some(128 + number), "{name}: {}", ran.stderr);
        assert!(ran.stdout.contains("Stopped early"), "{name}: {}", ran.stdout);
        assert_eq!(work_directory(&place), None, "{name}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_directory_of_a_killed_worker_is_removed_by_the_process_that_was_called() {
    let place = TestDirectory::new();
    let running = measuring(&place);
    let children = format!("/proc/{0}/task/{0}/children", running.id());
    let worker = std::fs::read_to_string(children).expect("the kernel tells the children");
    testkit::shell(&format!("kill -KILL {worker}"));
    let ran = running.finish();
    assert_eq!(ran.status, Some(137), "{}", ran.stderr);
    assert!(ran.stderr.contains("ended by signal 9") && ran.stderr.contains(" was removed"), "{}", ran.stderr);
    assert_eq!(work_directory(&place), None);
}
