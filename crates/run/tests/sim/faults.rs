//! Tests scripted faults: what ends a job, what it continues after, what is counted.

use crate::ran::{S, US, assert_exact, simulate, simulate_one, times};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

#[test]
fn an_error_ends_the_job_with_what_was_done() {
    let ran = simulate("--sim_faults=error:EIO@5");
    let job = ran.job();
    let error = job.error.as_ref().expect("the job failed");
    assert_eq!((error.code, error.function.as_str(), error.text.as_str()), (EIO, "io_u error", "Input/output error"));
    assert_eq!((job.directions.read.ios, job.directions.read.bytes), (5, 4 * 4096));
    assert_exact(&job.directions.read.clat, times(4, 100 * US));
    assert!(ran.messages[0].starts_with("fio: io_u error on file"), "{:?}", ran.messages);
    assert!(ran.messages[0].contains("Input/output error: read offset="), "{:?}", ran.messages);
}

#[test]
fn an_error_in_a_queue_lets_the_others_come_back() {
    let ran = simulate("--iodepth=8 --sim_faults=error:EIO@5");
    let job = ran.job();
    assert_eq!(job.error.as_ref().unwrap().code, EIO);
    // Four were done and replaced before the fifth failed; the seven after it are drained.
    assert_eq!((job.directions.read.ios, job.directions.read.bytes), (12, 11 * 4096));
    assert_eq!(job.directions.read.clat.moments.count, 11);
}

#[test]
fn the_first_of_two_errors_is_reported() {
    let ran = simulate("--iodepth=8 --sim_faults=error:EIO@5,error:ENOSPC@6");
    assert_eq!(ran.job().error.as_ref().unwrap().code, EIO);
}

#[test]
fn survived_errors_are_counted_and_not_transferred() {
    for depth in [1, 8] {
        let job =
            simulate_one(&format!("--iodepth={depth} --continue_on_error=io --sim_faults=error:EIO@5,error:EIO@7"));
        let survived = job.survived_errors.unwrap();
        assert_eq!((survived.total, survived.first), (2, EIO));
        assert_eq!((job.directions.read.ios, job.directions.read.bytes), (1000, 998 * 4096));
        assert_eq!(job.directions.read.clat.moments.count, 998);
        assert_eq!(job.directions.read.runtime_ms, 100);
    }
}

#[test]
fn survived_errors_are_dumped_up_to_a_hundred_and_the_others_counted() {
    let faults: Vec<String> = (1..=103).map(|number| format!("error:EIO@{number}")).collect();
    let words = format!("--continue_on_error=io --sim_faults={}", faults.join(","));
    assert!(simulate(&words).messages.is_empty(), "nobody asked for them");
    let messages = simulate(&format!("{words} --error_dump=1")).messages;
    assert_eq!(messages.len(), 101);
    assert!(messages[..100].iter().all(|line| line.contains("Input/output error: read offset=")), "{messages:?}");
    assert!(messages[100].ends_with(": 3 further errors"), "{}", messages[100]);
}

#[test]
fn an_error_that_is_not_on_the_list_is_counted_and_ends_the_job() {
    let ran = simulate("--continue_on_error=io --sim_faults=error:EIO@5,error:ENOSPC@7");
    let job = ran.job();
    assert_eq!(job.error.as_ref().unwrap().code, ENOSPC);
    assert_eq!(job.survived_errors.unwrap().total, 2);
}

#[test]
fn errors_may_be_put_on_the_list() {
    let job = simulate_one("--continue_on_error=io --ignore_error=ENOSPC --sim_faults=error:ENOSPC@7");
    assert_eq!(job.survived_errors.unwrap().first, ENOSPC);
    let ran = simulate("--continue_on_error=io --ignore_error=ENOSPC --sim_faults=error:EIO@7");
    assert_eq!(
        ran.job().error.as_ref().unwrap().code,
        EIO,
        "the list replaces the errors that are survived by default"
    );
}

#[test]
fn a_full_device_is_the_end_that_fill_device_waits_for() {
    let job = simulate_one("--rw=write --fill_device=1 --size=4000k --sim_faults=error:ENOSPC@10");
    assert_eq!((job.error, job.directions.write.bytes), (None, 9 * 4096));
    assert_eq!(simulate("--rw=write --sim_faults=error:ENOSPC@10").job().error.as_ref().unwrap().code, ENOSPC);
}

#[test]
fn a_short_transfer_is_continued_and_timed_from_its_first_issue() {
    let job = simulate_one("--sim_faults=short:1024@10");
    assert_eq!(
        (job.directions.read.short_ios, job.directions.read.ios, job.directions.read.bytes),
        (1, 1000, 4_096_000)
    );
    assert_exact(&job.directions.read.clat, times(999, 100 * US).chain([200 * US]));
    assert_eq!(job.directions.read.runtime_ms, 101, "1,001 services");
}

#[test]
fn the_rest_of_a_short_transfer_may_be_short_again() {
    let job = simulate_one("--sim_faults=short:1024@10,short:1024@11,short:1024@12 --iodepth=1");
    assert_eq!((job.directions.read.short_ios, job.directions.read.bytes), (3, 4_096_000));
    assert_exact(&job.directions.read.clat, times(999, 100 * US).chain([400 * US]));
}

#[test]
fn short_transfers_in_a_queue_lose_nothing() {
    let job = simulate_one("--iodepth=8 --sim_faults=short:512@1,short:512@9,short:512@1000,short:1@1003");
    assert_eq!((job.directions.read.ios, job.directions.read.bytes), (1000, 4_096_000));
    assert_eq!(job.directions.read.short_ios, 4);
    assert_eq!(job.directions.read.clat.moments.count, 1000);
    let job = simulate_one(
        "--iodepth=8 --iodepth_batch=8 --iodepth_batch_complete_min=8 --sim_faults=short:512@1,short:512@9",
    );
    assert_eq!(
        (job.directions.read.ios, job.directions.read.bytes, job.directions.read.short_ios),
        (1000, 4_096_000, 2)
    );
}

#[test]
fn the_end_of_the_file_is_an_error() {
    let ran = simulate("--sim_faults=eof@5");
    let error = ran.job().error.as_ref().unwrap();
    assert_eq!((error.code, error.function.as_str()), (EIO, "full resid"));
    assert_eq!(ran.job().directions.read.bytes, 4 * 4096);
}

#[test]
fn a_stall_is_in_the_latency_of_whoever_waits_behind_it() {
    let job = simulate_one("--iodepth=2 --sim_faults=stall:1s@500");
    // Request 500 and the one after it.
    assert_exact(
        &job.directions.read.clat,
        [100 * US].into_iter().chain(times(997, 200 * US)).chain(times(2, S + 200 * US)),
    );
}

#[test]
fn a_failed_sync_ends_the_job() {
    let ran = simulate("--rw=write --fsync=4 --sim_faults=error:EIO@5");
    assert_eq!(ran.job().error.as_ref().unwrap().code, EIO);
    assert_eq!((ran.job().directions.write.bytes, ran.job().sync.ios), (4 * 4096, 1));
}

#[test]
fn an_error_does_not_hide_a_request_that_never_comes_back() {
    // The third never ends, which is noticed while draining; the fifth failed before.
    let ran = simulate("--rw=write --iodepth=8 --sim_channels=8 --sim_faults=stall:10000d@3,error:EIO@5 --end_fsync=1");
    let job = ran.job();
    assert_eq!(job.error.as_ref().unwrap().code, EIO, "the first failure is the job's");
    let lost = job.lost.as_ref().expect("one is missing");
    assert_eq!((lost.count, lost.oldest.len()), (1, 1));
    assert_eq!((lost.oldest[0].kind.as_str(), lost.oldest[0].offset, lost.oldest[0].bytes), ("write", 2 * 4096, 4096));
    assert_eq!(job.final_sync_ns, None, "a sync would wait for it");
    assert!(ran.messages.iter().any(|text| text.contains("Input/output error")), "{:?}", ran.messages);
    assert!(ran.messages.iter().any(|text| text.contains("a request never completed")), "{:?}", ran.messages);
}

#[test]
fn all_that_was_lost_is_told() {
    let stalls: Vec<String> = (3..=22).map(|number| format!("stall:10000d@{number}")).collect();
    let ran = simulate(&format!("--iodepth=32 --sim_channels=32 --sim_faults={}", stalls.join(",")));
    let lost = ran.job().lost.as_ref().expect("twenty are missing");
    assert_eq!((lost.count, lost.oldest.len()), (20, 16));
    assert_eq!(ran.job().error.as_ref().unwrap().code, 110);
    assert!(ran.messages.iter().any(|text| text.contains("20 requests never completed")), "{:?}", ran.messages);
    assert!(ran.messages.iter().any(|text| text.contains("and 4 more")), "{:?}", ran.messages);
}
