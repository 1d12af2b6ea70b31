//! Compares what is recorded with every single value: figures exactly, percentiles to within a bucket.

use fsdyno_job::{SimFault, SimFaultKind};
use fsdyno_results::{Latency, Moments, bucket_of, bucket_value};

use crate::ran::{conduct, jobs, times};

const IOS: usize = 50_000;

const PERCENTS: [f64; 15] =
    [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999];

/// Service times from 1 ns to 30 s, each power of two equally likely, so that every part of the histogram is used.
fn service_times() -> Vec<u64> {
    let mut state: u64 = 7;
    let mut draw = move || {
        // The high bits of Knuth's linear congruential generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 32
    };
    times(IOS, 0).map(|_| ((1 << (draw() % 34)) + draw() % (1 << (draw() % 34 + 1))).min(30_000_000_000)).collect()
}

/// The latencies that a job on a device with these service times records.
fn record(words: &str, service_ns: &[u64]) -> fsdyno_results::DirectionRecord {
    let mut jobs = jobs(&format!("--sim_service=0 --io_size={}k {words}", IOS * 4));
    jobs[0].submission.engine_options.sim.faults = (1..)
        .zip(service_ns)
        .map(|(number, service_ns)| SimFault { number, kind: SimFaultKind::Stall(*service_ns) })
        .collect();
    let ran = conduct(&jobs, None);
    assert_eq!(ran.job().error, None, "{:?}", ran.messages);
    ran.job().directions.read.clone()
}

#[track_caller]
fn assert_accurate(recorded: &Latency, mut exact: Vec<u64>) {
    exact.sort_unstable();
    let moments = Moments {
        count: exact.len() as u64,
        min: exact[0],
        max: exact[exact.len() - 1],
        sum: exact.iter().map(|value| u128::from(*value)).sum(),
        sum_of_squares: exact.iter().map(|value| u128::from(*value) * u128::from(*value)).sum(),
    };
    assert_eq!(recorded.moments, moments);
    for percent in PERCENTS {
        let rank = (percent / 100.0 * exact.len() as f64).ceil() as usize;
        let truth = exact[rank.clamp(1, exact.len()) - 1];
        let shown = recorded.percentile(percent).expect("a distribution is kept");
        assert!(bucket_of(shown).abs_diff(bucket_of(truth)) <= 1, "p{percent}: {shown} is not {truth}");
        // The last bucket has no upper end.
        let close = shown.abs_diff(truth) <= truth / 128 + 1 || bucket_of(truth) == fsdyno_results::BUCKETS - 1;
        // A rank on the border of two values may be either of them.
        let neighbour = exact[rank.min(exact.len() - 1)];
        assert!(close || bucket_of(neighbour) == bucket_of(shown), "p{percent}: {shown} is not {truth}");
    }
    let median = exact[exact.len() / 2 - 1];
    assert_eq!(recorded.percentile(50.0), Some(bucket_value(bucket_of(median))));
}

#[test]
fn one_at_a_time_every_latency_is_a_service_time() {
    let service_ns = service_times();
    let read = record("", &service_ns);
    assert_accurate(&read.clat, service_ns.clone());
    assert_eq!(read.lat.moments, read.clat.moments);
}

#[test]
fn behind_a_queue_every_latency_is_the_sum_of_those_before() {
    const DEPTH: usize = 8;
    let service_ns = service_times();
    let mut ends_ns = Vec::with_capacity(IOS);
    let mut latencies_ns = Vec::with_capacity(IOS);
    let mut end_ns = 0;
    for (number, service_ns) in service_ns.iter().enumerate() {
        end_ns += service_ns;
        ends_ns.push(end_ns);
        // The request takes the slot of the one that ended eight before it.
        let start_ns = if number < DEPTH { 0 } else { ends_ns[number - DEPTH] };
        latencies_ns.push(end_ns - start_ns);
    }
    let read = record("--iodepth=8 --lat_percentiles=1", &service_ns);
    assert_accurate(&read.clat, latencies_ns.clone());
    assert_accurate(&read.lat, latencies_ns);
}

#[test]
fn the_governed_loop_records_the_same() {
    let service_ns = service_times();
    let read = record("--max_latency=1h", &service_ns);
    assert_accurate(&read.clat, service_ns);
}

#[test]
fn coarse_classes_count_every_io_once() {
    let service_ns = service_times();
    let mut jobs = jobs(&format!("--sim_service=0 --io_size={}k", IOS * 4));
    jobs[0].submission.engine_options.sim.faults = (1..)
        .zip(&service_ns)
        .map(|(number, service_ns)| SimFault { number, kind: SimFaultKind::Stall(*service_ns) })
        .collect();
    let ran = conduct(&jobs, None);
    let job = ran.job();
    let counts: Vec<u64> =
        [&job.latency_ns_counts[..], &job.latency_us_counts[..], &job.latency_ms_counts[..]].concat();
    let steps = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    let scaled = |unit: u64| steps.map(|step| step * unit);
    let bounds = [&scaled(1)[..], &scaled(1000), &scaled(1_000_000), &[2_000_000_000, u64::MAX]].concat();
    let mut below = 0;
    for (index, bound) in bounds.iter().enumerate() {
        let expected = service_ns.iter().filter(|value| (below..*bound).contains(*value)).count();
        assert_eq!(counts[index], expected as u64, "from {below} to below {bound} ns");
        below = *bound;
    }
}
