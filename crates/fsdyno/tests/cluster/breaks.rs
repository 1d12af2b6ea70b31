//! Tests runs in which a rank, its launcher or its disk fails.

use fsdyno_results::RunRecord;
use testkit::{Running, TestDirectory, shell, wait_until};

use crate::launcher::{agent_and_worker, command, program, runs, signal};
use crate::one_record::{on_own_filesystems, record};

const LONG: &str = "--name=a --ioengine=null --size=1g --bs=4k --rw=read --rate_iops=500 --time_based --runtime=8 \
                    --record=run.json --record-interval=0";

/// Whether a process has a handler for SIGTERM; before, the signal would kill it.
fn hears_term(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 << 14 != 0)
}

/// Starts a run of three ranks, and waits until they work.
#[track_caller]
fn begun(place: &TestDirectory, words: &str) -> Option<Running> {
    let running = Running::start(&mut command(&place.path(""), 3, program()?, words));
    for rank in 0..3 {
        let (_, worker) = agent_and_worker(running.id(), rank);
        wait_until("a worker that hears signals", || hears_term(worker));
    }
    testkit::pause(1500);
    Some(running)
}

fn missing(record: &RunRecord) -> Vec<(u32, &str)> {
    let together = record.ranks_record.as_ref().expect("they ran together");
    together.missing.iter().map(|missing| (missing.rank, missing.reason.as_str())).collect()
}

#[test]
fn the_others_go_on_without_a_worker_that_is_killed() {
    let place = TestDirectory::new();
    let Some(running) = begun(&place, LONG) else { return };
    let (_, worker) = agent_and_worker(running.id(), 2);
    signal(worker, "KILL");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    let record = record(&place);
    assert_eq!(missing(&record), [(2, "it ended by signal 9")]);
    assert_eq!(record.nodes.len(), 2);
    assert!(!record.complete && record.signal.is_none());
    let faces = |words: &str| place.run(words);
    assert_eq!(faces("show run.json --json").document()["complete"].as_bool(), Some(false));
    assert!(faces("show run.json").stdout.contains("Incomplete: some ranks sent no results"));
    for (form, says) in [
        ("openmetrics", "\nfsdyno_complete{question=\"fio\","),
        ("openmetrics", "\"} 0\n# TYPE fsdyno_end_timestamp_seconds"),
        ("html", "<strong>Incomplete</strong>: some ranks"),
        ("markdown", "**Incomplete.**"),
    ] {
        let shown = faces(&format!("report run.json --as {form}")).stdout;
        assert!(shown.contains(says), "{form}: {shown}");
    }
}

#[test]
fn a_worker_that_hangs_is_left_behind() {
    let place = TestDirectory::new();
    let Some(program) = program() else { return };
    let mut command = command(&place.path(""), 3, program, LONG);
    let running = Running::start(command.env("FSDYNO_PATIENCE", "1"));
    let (_, worker) = agent_and_worker(running.id(), 1);
    testkit::pause(1500);
    signal(worker, "STOP");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    let record = record(&place);
    let missing = missing(&record);
    assert!(missing.len() == 1 && missing[0].0 == 1 && missing[0].1.starts_with("it did not answer"), "{missing:?}");
}

/// Like a machine without power or network: its connections stay open.
#[test]
fn a_silent_rank_is_named_while_the_others_wait() {
    let place = TestDirectory::new();
    let Some(program) = program() else { return };
    let mut command = command(&place.path(""), 3, program, &format!("{LONG} --eta=always"));
    let mut running = Running::start(command.env("FSDYNO_SILENCE", "3"));
    let (agent, worker) = agent_and_worker(running.id(), 1);
    // A long message to a stopped process would block the launcher's library: here all ranks have their order already.
    running.wait_until("the run", |running| running.output().contains("[r="));
    [agent, worker].iter().for_each(|process| signal(*process, "STOP"));
    running.wait_until("its name", |running| running.output().contains("rank 1"));
    [agent, worker].iter().for_each(|process| signal(*process, "CONT"));
    let ran = running.finish();
    for part in [" has said nothing for ", " and the other ranks wait", " speaks again"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(missing(&record(&place)).is_empty(), "it was waited for: {}", ran.stderr);
}

#[test]
fn a_rank_that_is_killed_with_its_agent_leaves_the_record_of_the_first() {
    let place = TestDirectory::new();
    let Some(running) = begun(&place, LONG) else { return };
    let (agent, worker) = agent_and_worker(running.id(), 1);
    let (_, first) = agent_and_worker(running.id(), 0);
    signal(agent, "KILL");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    // The launcher has killed all agents; the workers have ended normally.
    wait_until("end of the workers", || [worker, first].iter().all(|process| !runs(*process)));
    let record = record(&place);
    assert!(record.signal.is_some());
    assert_eq!(missing(&record).iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn the_first_worker_may_be_the_one_that_is_killed() {
    let place = TestDirectory::new();
    let Some(running) = begun(&place, LONG) else { return };
    let (_, worker) = agent_and_worker(running.id(), 0);
    signal(worker, "KILL");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    // The record is not saved beside the measured files: the worker may have been lost with their storage.
    let [study] = &place.studies("home/fsdyno")[..] else { panic!("{:?}", place.names("home")) };
    assert!(ran.stderr.contains(&format!("fsdyno show {}", place.word("home/fsdyno"))), "{}", ran.stderr);
    let record = study.rows[0].run.as_ref().expect("the record of the others");
    assert_eq!(missing(record), [(0, "it ended by signal 9")]);
    assert_eq!(record.nodes.len(), 2);
}

/// Jobs that read their own file, some hundred times per second, until the time is over.
const READ: &str = "--name=a --ioengine=psync --rw=randread --bs=4k --size=1m --direct=1 --rate_iops=200 \
                    --time_based --runtime=8 --record=run.json --record-interval=0";

/// Runs three ranks on a FUSE filesystem that has a fault for one of them; `check` gets the record.
fn with_a_fault(test: &str, fault: &'static str, check: impl FnOnce(&RunRecord)) {
    let Some(program) = program() else { return };
    testkit::stack::inside_beside_others(test, "fuse", || {
        let place = TestDirectory::new();
        shell("lab-fault direct-io 1");
        let words = format!("{READ} --directory={}", testkit::word(&testkit::stack::place("LAB_FUSE")));
        let mut command = command(&place.path(""), 3, program, &words[..]);
        // Open MPI names its files by process number, and the stacks use the same numbers.
        command.env("TMPDIR", place.path("")).env("OMPI_MCA_btl_vader_backing_directory", place.path(""));
        let running = Running::start(command.env("FSDYNO_PATIENCE", "2"));
        for rank in 0..3 {
            agent_and_worker(running.id(), rank);
        }
        wait_until("reads", || !shell("lab-fault counts").contains("reads 0\n"));
        shell(fault);
        let ran = running.finish();
        shell("lab-fault abort");
        assert_ne!(ran.status, Some(0), "{}", ran.stderr);
        check(&record(&place));
    });
}

/// The errors of the jobs, with their nodes.
fn errors(record: &RunRecord) -> Vec<(i32, &str)> {
    let failed = record.jobs.iter().filter_map(|job| Some((job.error.as_ref()?.code, node(record, job))));
    failed.collect()
}

#[test]
fn a_mount_that_fails_under_one_rank_is_its_error_alone() {
    with_a_fault("breaks::a_mount_that_fails_under_one_rank_is_its_error_alone", "lab-fault read-eio 1", |record| {
        assert_eq!(errors(record).iter().map(|(code, _)| *code).collect::<Vec<_>>(), [5]);
        assert!(record.nodes.len() == 3 && missing(record).is_empty());
    });
}

#[test]
fn a_mount_that_never_answers_again_keeps_nobody() {
    with_a_fault("breaks::a_mount_that_never_answers_again_keeps_nobody", "lab-fault hang-forever 1", |record| {
        let errors = errors(record);
        assert!(errors.len() == 1 && errors[0].0 == 110, "{errors:?}");
        assert_eq!((record.nodes.len(), missing(record)), (3, Vec::new()));
        let whole = record.jobs.iter().filter(|job| job.error.is_none());
        assert!(whole.clone().count() == 2 && whole.clone().all(|job| job.directions.read.ios > 500));
    });
}

#[test]
fn a_signal_at_one_rank_ends_all_with_a_report() {
    a_signal_ends_all_with_a_report(|agent, _| agent);
}

/// A user who looks for the busiest process finds another one than the launcher knows.
#[test]
fn a_signal_at_a_worker_alone_ends_the_run_of_all() {
    a_signal_ends_all_with_a_report(|_, worker| worker);
}

/// Sends a signal to one of the two processes of a rank, in a run of ten minutes.
#[track_caller]
fn a_signal_ends_all_with_a_report(chosen: impl FnOnce(u32, u32) -> u32) {
    let place = TestDirectory::new();
    let Some(running) = begun(&place, &LONG.replace("--runtime=8", "--runtime=600")) else { return };
    let (agent, worker) = agent_and_worker(running.id(), 2);
    signal(chosen(agent, worker), "TERM");
    let ran = running.finish();
    assert_ne!(ran.status, Some(0));
    let record = record(&place);
    assert_eq!((record.signal, record.nodes.len()), (Some(15), 3));
    assert!(missing(&record).is_empty());
}

#[test]
fn a_signal_at_the_launcher_leaves_a_record_and_no_files() {
    for name in ["TERM", "INT"] {
        let place = TestDirectory::new();
        let words = "measure . --only=seq-read --runtime=30 --store=kept --record-interval=1 --size=4m";
        let Some(running) = begun(&place, words) else { return };
        let workers: Vec<u32> = (0..3).map(|rank| agent_and_worker(running.id(), rank).1).collect();
        signal(running.id(), name);
        let ran = running.finish();
        assert_ne!(ran.status, Some(0), "{name}");
        wait_until("end of the workers", || workers.iter().all(|process| !runs(*process)));
        let left: Vec<String> = place.names("").into_iter().filter(|name| name.starts_with("fsdyno-work")).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
        assert!(!place.names("kept").is_empty(), "{name}: a record is kept");
    }
}

#[test]
fn a_full_disk_at_one_rank_is_its_error_alone() {
    let place = TestDirectory::new();
    let words = "--name=a --rw=write --size=8m --bs=64k --fallocate=none --directory=data --record=run.json";
    let Some(ran) = on_own_filesystems(&place, "tmpfs", [64, 2, 64], words) else { return };
    assert_ne!(ran.status, Some(0));
    let record = record(&place);
    let failed: Vec<&str> =
        record.jobs.iter().filter(|job| job.error.is_some()).map(|job| node(&record, job)).collect();
    assert!(failed == ["machine-1"], "{failed:?}");
    // It is named on stderr, and wherever the record is shown.
    let named = "rank 1 on ";
    assert!(ran.stderr.contains(named) && ran.stderr.contains("No space left on device"), "{}", ran.stderr);
    let document = place.run("show run.json --json").document();
    let errors: Vec<&str> =
        document["summary"]["tests"].as_array().unwrap().iter().filter_map(|test| test["error"].as_str()).collect();
    assert!(errors.len() == 1 && errors[0].starts_with(named), "{errors:?}");
    let failed = |test: &&serde_json::Value| test["findings"].as_array().unwrap().iter().any(|id| id == "run-failed");
    let tests = document["summary"]["tests"].as_array().unwrap();
    assert_eq!(tests.iter().filter(failed).count(), 1, "the others did their work: {tests:?}");
    assert!(place.run("show run.json").stdout.contains("the run failed (rank 1 on "));
    let wrote = record.jobs.iter().filter(|job| job.directions.write.bytes == 8 << 20).count();
    assert_eq!((wrote, record.nodes.len()), (2, 3));
}

fn node<'a>(record: &'a RunRecord, job: &fsdyno_results::JobRecord) -> &'a str {
    &record.nodes[job.node].name
}
