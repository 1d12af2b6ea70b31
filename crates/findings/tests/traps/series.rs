//! Rates that change through the run.

use crate::scene::*;

const STEADY: [u64; 20] =
    [400, 410, 395, 402, 399, 405, 412, 398, 401, 396, 407, 403, 399, 411, 397, 400, 404, 398, 406, 402];

#[test]
fn a_steady_run_is_silent() {
    let record = on_disk(vec![direct(rates(reader("job"), &STEADY))]);
    assert_eq!(findings::of_run(&record), []);
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
    assert_eq!(findings::of_run(&on_disk(vec![paced])), [], "a rate of its own");
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
    // A rise that has nothing to do with a pass.
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
