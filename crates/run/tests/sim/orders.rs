//! Tests orders from outside: stop, signals, interim records, ends of other jobs. The device's clock is virtual, but
//! orders arrive in real time: it is not known how far a job came, but its figures must agree.

use fsdyno_results::{JobRecord, RunRecord};
use fsdyno_run::{Control, View};

use crate::ran::{RunResult, conduct, jobs, simulate};

const ENDLESS: &str = "--time_based --runtime=1000d";

/// Checks that everything that was submitted completed and was counted.
#[track_caller]
fn assert_drained(job: &JobRecord) {
    assert_eq!(job.error, None);
    assert!(job.directions.read.ios > 0);
    assert_eq!(job.directions.read.bytes, job.directions.read.ios * 4096);
    assert_eq!(job.directions.read.clat.moments.count, job.directions.read.ios);
}

/// Runs until each worker has done some I/O, then gives the order.
fn run_until_busy(words: &str, mut order: impl FnMut(&Control)) -> RunResult {
    let mut watch = |view: &View<'_>, control: &Control, _: &[RunRecord]| {
        if view.cells.iter().all(|cell| cell.published().ios.read > 0) {
            order(control);
        }
    };
    conduct(&jobs(words), Some(&mut watch))
}

#[test]
fn a_stop_drains_the_queue_and_reports() {
    for depth in [1, 8] {
        let ran = run_until_busy(&format!("{ENDLESS} --iodepth={depth}"), |control: &Control| control.stop());
        assert_drained(ran.job());
        assert!(ran.record.complete);
        assert_eq!(ran.record.signal, None);
    }
}

#[test]
fn requests_that_a_stop_cancels_are_no_errors() {
    // Ten seconds each: seven of eight still wait for the device, and are cancelled instead of waited for.
    let ran = run_until_busy(&format!("{ENDLESS} --iodepth=8 --sim_service=10s"), |control: &Control| control.stop());
    let job = ran.job();
    assert_eq!(job.error, None, "{:?}", ran.messages);
    assert_eq!(job.directions.read.bytes, job.directions.read.clat.moments.count * 4096);
    // One is being served; the order may come before the last reaped one is replaced.
    let called_back = job.directions.read.ios - job.directions.read.clat.moments.count;
    assert!((6..=7).contains(&called_back), "{called_back} were issued, but never carried out");
}

#[test]
fn a_device_that_never_answers_is_an_error_and_no_hang() {
    let mut watch = |view: &View<'_>, control: &Control, _: &[RunRecord]| {
        if view.cells[0].published().ios.read == 99 {
            control.stop();
        }
    };
    let jobs = jobs(&format!("{ENDLESS} --iodepth=1 --sim_faults=stall:10000d@100"));
    let ran = conduct(&jobs, Some(&mut watch));
    let error = ran.job().error.as_ref().expect("one request is missing");
    assert_eq!((error.code, error.function.as_str()), (110, "drain"));
    assert_eq!((ran.job().directions.read.ios, ran.job().directions.read.bytes), (100, 99 * 4096));
}

#[test]
fn a_stop_reaches_governed_and_sampled_jobs() {
    assert_drained(run_until_busy(&format!("{ENDLESS} --rate_iops=1000"), |control: &Control| control.stop()).job());
    assert_drained(run_until_busy(&format!("{ENDLESS} --thinktime=1s"), |control: &Control| control.stop()).job());
    let ran = run_until_busy(&format!("{ENDLESS} --gtod_reduce=1 --iodepth=4"), |control: &Control| control.stop());
    assert_eq!(ran.job().directions.read.bytes, ran.job().directions.read.ios * 4096);
}

#[test]
fn the_first_signal_is_remembered() {
    let ran = run_until_busy(ENDLESS, |control| {
        control.stop_by_signal(2);
        control.stop_by_signal(15);
    });
    assert_eq!(ran.record.signal, Some(2));
    assert_drained(ran.job());
}

#[test]
fn all_clones_stop() {
    let ran = run_until_busy(&format!("{ENDLESS} --numjobs=3"), |control: &Control| control.stop());
    assert_eq!(ran.record.jobs.len(), 3);
    ran.record.jobs.iter().for_each(assert_drained);
}

#[test]
fn a_stage_that_a_stop_kept_from_starting_has_done_nothing() {
    let mut watch = |view: &View<'_>, control: &Control, _: &[RunRecord]| {
        if view.cells[0].published().ios.read > 0 {
            control.stop();
        }
    };
    let jobs = jobs(&format!("{ENDLESS} --name=a --name=b --stonewall"));
    let ran = conduct(&jobs, Some(&mut watch));
    let [first, second] = &ran.record.jobs[..] else { panic!("two jobs") };
    assert_drained(first);
    assert_eq!((second.directions.read.ios, second.started_ms, &second.error), (0, None, &None));
}

#[test]
fn interim_records_hold_what_was_done_so_far() {
    let has_io = |record: &RunRecord| record.jobs.iter().any(|job| job.directions.read.bytes > 0);
    let mut watch = |_: &View<'_>, control: &Control, interims: &[RunRecord]| {
        // If none ever comes, the run must still end.
        if interims.iter().any(has_io) || interims.len() > 50 {
            control.stop();
        }
    };
    let ran = conduct(&jobs(&format!("{ENDLESS} --iodepth=8")), Some(&mut watch));
    let at_last = &ran.job().directions.read;
    let interim = ran.interims.iter().find(|interim| has_io(interim)).expect("the run went on until there was one");
    let then = &interim.jobs[0].directions.read;
    assert!(!interim.complete);
    assert!(then.bytes < at_last.bytes, "it was taken while the job ran");
    assert_eq!(then.bytes, then.clat.moments.count * 4096);
    // Requests in flight were submitted, but are not counted yet.
    assert!((1..=8).contains(&(then.ios - then.clat.moments.count)), "{} of {}", then.clat.moments.count, then.ios);
}

#[test]
fn a_job_may_take_its_group_with_it() {
    let ran = simulate(&format!("--name=a --exitall --name=b {ENDLESS}"));
    assert_eq!(ran.record.jobs[0].directions.read.ios, 1000);
    assert_drained(&ran.record.jobs[1]);
}

#[test]
fn a_failure_may_end_all_jobs() {
    let ran = simulate(&format!(
        "--exitall_on_error --name=a --sim_faults=error:EIO@5 --name=b --sim_faults=stall:1@1 {ENDLESS}"
    ));
    assert_eq!(ran.record.jobs[0].error.as_ref().unwrap().code, 5);
    assert_drained(&ran.record.jobs[1]);
}

#[test]
fn stages_run_one_after_the_other() {
    let ran = simulate("--name=a --name=b --stonewall --name=c --new_group");
    let jobs: Vec<(&str, u32, u64)> =
        ran.record.jobs.iter().map(|job| (job.name.as_str(), job.group, job.directions.read.ios)).collect();
    assert_eq!(jobs, [("a", 0, 1000), ("b", 1, 1000), ("c", 2, 1000)]);
    let started = |index: usize| ran.record.jobs[index].started_ms.expect("it started");
    assert!(started(0) <= started(1));
}
