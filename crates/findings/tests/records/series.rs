//! Tests rates that change during the run.

use crate::scene::*;

const STEADY: [u64; 20] =
    [400, 410, 395, 402, 399, 405, 412, 398, 401, 396, 407, 403, 399, 411, 397, 400, 404, 398, 406, 402];

#[test]
fn a_steady_run_is_silent() {
    let record = on_disk(vec![direct(rates(reader("job"), &STEADY))]);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn a_burst_is_named_with_both_levels() {
    let mut values = vec![1140, 1150, 1130, 1145, 1138, 1142];
    values.extend(STEADY);
    let record = on_disk(vec![direct(rates(reader("job"), &values))]);
    assert_eq!(found(&record), caution("burst"));
    let finding = one(&record, "burst");
    assert!(finding.cause.starts_with("1,196 MB/s for the first 6 s, then 421 MB/s"), "{}", finding.cause);

    let mut paced = direct(rates(reader("job"), &values));
    paced.plan.paced = true;
    assert_eq!(fsdyno_findings::of_run(&on_disk(vec![paced])), [], "a rate of its own");
}

#[test]
fn a_drift_is_named() {
    let falling: Vec<u64> = (0..30).map(|second| 1000 - 15 * second + STEADY[second as usize % 20] / 40).collect();
    let record = on_disk(vec![direct(rates(reader("job"), &falling))]);
    assert_eq!(found(&record), caution("drift"));
    assert!(one(&record, "drift").cause.starts_with("the rate fell by"));
    let rising: Vec<u64> = falling.iter().rev().copied().collect();
    let record = on_disk(vec![direct(rates(reader("job"), &rising))]);
    assert_eq!(found(&record), caution("drift"));
}

#[test]
fn noise_is_named_when_it_is_large() {
    let wild = [900, 200, 850, 300, 1000, 150, 700, 250, 950, 180, 820, 220];
    let record = on_disk(vec![direct(rates(reader("job"), &wild))]);
    assert_eq!(found(&record), caution("too-noisy"));
}

#[test]
fn workers_of_a_row_are_added_up() {
    let (mut first, mut second): (Vec<u64>, Vec<u64>) = (vec![900; 10], vec![100; 10]);
    first.extend([100; 10]);
    second.extend([900; 10]);
    let jobs = [first, second].map(|values| direct(rates(reader("job"), &values))).to_vec();
    let cautions = found(&on_disk(jobs));
    assert_eq!(cautions, [], "together they are steady");
}

#[test]
fn a_second_pass_that_is_faster() {
    let mut values = vec![400; 10];
    values.extend(vec![1600; 20]);
    let mut job = direct(rates(reader("job"), &values));
    job.plan.time_based = true;
    let bytes = (400 * 10 + 1600 * 20) * MIB;
    let mut record = on_disk(vec![job.clone()]);
    look(&mut record, 0, [bytes, 0], [bytes, 0]);
    assert_eq!(found(&record), caution("lazy-blocks"), "files of another time");
    job.plan.laid_out = true;
    record.jobs[0] = job.clone();
    assert_eq!(found(&record), caution("host-cache"));
    assert!(one(&record, "host-cache").cause.contains("likely"));
    // The rise does not coincide with the end of a pass.
    record.jobs[0].plan.span_bytes = Some(40 * GIB);
    assert_eq!(found(&record), caution("drift"));
}

#[test]
fn a_flat_rate_with_an_idle_queue() {
    let flat = vec![3000; 25];
    let job = direct(queued(rates(reader("job"), &flat), "libaio", 32));
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [75_000 * MIB, 0], [75_000 * MIB, 0]);
    vda(&mut record).weighted_ms = 20_000;
    assert_eq!(found(&record), caution("throttled"));
    vda(&mut record).weighted_ms = 310_000;
    assert_eq!(found(&record), [], "a full queue: a ceiling, which is worth knowing at most");
}

/// Ten seconds of 400 MiB/s, with a pause of `pause_ms` after three of them.
fn paused(pause_ms: u64, waits_in_loop: bool) -> fsdyno_results::JobRecord {
    let mut job = direct(reader("job"));
    let mut at_ms = 0;
    for window in 0..20 {
        if window == 6 && waits_in_loop {
            // The engine returns from time to time while it waits.
            (1..=pause_ms / 500).for_each(|quiet| job.directions.read.bandwidth_samples.record(0, at_ms + quiet * 500));
        }
        at_ms += 500 + if window == 6 { pause_ms } else { 0 };
        job.directions.read.bandwidth_samples.record(400 * 1024, at_ms);
    }
    (job.directions.read.runtime_ms, job.job_runtime_ms) = (at_ms, at_ms);
    job
}

/// A run with samples of the ledger at these times, ms.
fn watched(job: fsdyno_results::JobRecord, looks: &[u64]) -> fsdyno_results::RunRecord {
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
    for at_ms in looks {
        let between = fsdyno_results::evidence::LedgerSample {
            at_ms: *at_ms,
            moment: fsdyno_results::evidence::Moment::During,
            ..samples[0].clone()
        };
        samples.insert(samples.len() - 1, between);
    }
    record
}

#[test]
fn a_pause_of_everything() {
    assert_eq!(found(&watched(paused(0, false), &[1000, 2000])), []);
    assert_eq!(found(&watched(paused(600, false), &[1000, 2000])), [], "a long request");
    for waits_in_loop in [false, true] {
        let storage = watched(paused(2_000, waits_in_loop), &[1000, 2000, 3000, 4000, 5000, 6000]);
        assert_eq!(found(&storage), caution("stalled"));
        let cause = one(&storage, "stalled").cause;
        assert!(cause.starts_with("no I/O completed for 2.00 s of 12.0 s (17 %), 3.00 s after the start"), "{cause}");
        assert!(cause.ends_with("the storage or the path to it did not respond"), "{cause}");
        let stopped = watched(paused(2_000, waits_in_loop), &[1000, 2000, 3000, 5100, 6000, 7000]);
        assert!(one(&stopped, "stalled").cause.contains("fsdyno was stopped too"));
        let unseen = on_disk(vec![paused(2_000, waits_in_loop)]);
        assert!(one(&unseen, "stalled").cause.ends_with("not visible whether the storage or fsdyno was stopped"));
    }
    // Another worker went on; a storage that does three I/Os in that time; a paced rate.
    assert_eq!(found(&on_disk(vec![paused(2_000, false), paused(0, false)])), []);
    let mut slow = paused(2_000, false);
    slow.directions.read.ios = 15;
    assert_eq!(found_in_a_moment(&on_disk(vec![slow])), []);
    let mut paced = paused(2_000, false);
    paced.plan.paced = true;
    assert_eq!(found(&on_disk(vec![paced])), []);
}

#[test]
fn a_limit_that_was_set_during_the_run() {
    let mut values = vec![1140, 1150, 1130, 1145, 1138, 1142];
    values.extend(STEADY);
    let limited = |line: &str| {
        let mut record = on_disk(vec![direct(rates(reader("job"), &values))]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        record.nodes[0].ledger.as_mut().unwrap().io_limits_after =
            fsdyno_results::evidence::RecordedFact::Value(vec![line.into()]);
        record
    };
    let record = limited("vda (254:0) rbps=421000000");
    assert_eq!(found(&record), caution("throttled"));
    assert!(one(&record, "throttled").cause.contains("a control group limit set during the run (vda (254:0) rbps="));
    let by_requests = limited("vda (254:0) riops=103000");
    assert!(one(&by_requests, "throttled").cause.contains("riops=103000"));
    assert_eq!(found(&limited("vda (254:0) rbps=900000000")), caution("burst"), "another limit");
    // Before the limit the rate varied, and was below it at times.
    let mut noisy = limited("vda (254:0) rbps=421000000");
    let uneven = [2900, 150, 1140, 3000, 180, 900].into_iter().chain(STEADY).collect::<Vec<_>>();
    noisy.jobs[0] = direct(rates(reader("job"), &uneven));
    assert_eq!(found(&noisy), caution("throttled"));
    noisy.nodes[0].ledger.as_mut().unwrap().io_limits_after = fsdyno_results::evidence::RecordedFact::default();
    assert_eq!(found(&noisy), caution("too-noisy"), "without the limit");
    assert_eq!(found(&limited("vda (254:0) wbps=421000000")), caution("burst"), "of writes");
}

#[test]
fn a_replay_that_is_late() {
    let late = |counts: &[(u64, u64)]| {
        let mut job = reader("job");
        let mut lateness = fsdyno_results::Latency::with_histogram();
        counts.iter().for_each(|(count, ns)| (0..*count).for_each(|_| lateness.record(*ns)));
        job.lateness = Some(Box::new(lateness));
        job.plan.paced = true;
        on_disk(vec![job])
    };
    assert_eq!(found(&late(&[(980, 5_000), (20, 3_000_000)])), caution("replay-late"));
    let cause = one(&late(&[(980, 5_000), (20, 3_000_000)]), "replay-late").cause;
    assert!(cause.starts_with("1 % of the 1000 requests with a recorded time began 3.0"), "{cause}");
    assert_eq!(found(&late(&[(991, 5_000), (9, 3_000_000)])), [], "fewer than one in a hundred");
    assert_eq!(found(&late(&[(1000, 900_000)])), [], "less than a millisecond");
    // With few requests only larger percentages are known.
    assert_eq!(found(&late(&[(60, 5_000), (60, 3_000_000)])), caution("replay-late"));
    assert_eq!(found(&late(&[(115, 5_000), (5, 3_000_000)])), []);
}
