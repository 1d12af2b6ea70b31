//! Computes the totals of a run at each look, and the latencies of the I/Os since the previous look.

use fsdyno_results::{Histogram, JobRecord, Latency};

use crate::watch::{IntervalLatency, StepTotals};

/// Keeps the latencies of the previous look.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    latencies: Histogram,
}

impl Tally {
    /// The totals of these interim records, whose jobs must be past their ramp.
    pub(super) fn look(&mut self, jobs: &[JobRecord]) -> StepTotals {
        let so_far = latencies(jobs);
        let new = difference(&so_far, &self.latencies);
        self.latencies = so_far;
        let percentile = |percent| new.percentile(percent);
        let latency = percentile(50.0).zip(percentile(99.0));
        let latency = latency.map(|(p50_ns, p99_ns)| IntervalLatency { p50_ns, p99_ns });
        StepTotals { latency, ..StepTotals::of_jobs(jobs) }
    }
}

/// The latencies that answers show, of all jobs. For writes that are followed by a sync it is the latency of the sync.
fn latencies(jobs: &[JobRecord]) -> Histogram {
    let mut all = Histogram::new();
    let of = |latency: &Latency| latency.histogram.clone();
    for job in jobs {
        let directions = &job.directions;
        let writes = (job.sync.lat.moments.count == 0).then_some([&directions.write, &directions.trim]);
        let moved = std::iter::once(&directions.read).chain(writes.into_iter().flatten());
        let found = moved.filter_map(|direction| of(direction.response_or_latency()?));
        found.chain(of(&job.sync.lat)).for_each(|histogram| all.merge(&histogram));
    }
    all
}

/// The values that `now` counts beyond `then`.
fn difference(now: &Histogram, then: &Histogram) -> Histogram {
    let earlier = then.counts().into_iter().chain(std::iter::repeat(0));
    Histogram::from_counts(now.counts().iter().zip(earlier).map(|(now, then)| now.saturating_sub(then)).collect())
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{DirectionRecord, JobSetup, PerDirection};

    use super::*;
    use crate::watch::Amount;

    fn job(runtime_ms: u64, latencies_ns: &[u64]) -> JobRecord {
        let mut lat = Latency::with_histogram();
        latencies_ns.iter().for_each(|latency_ns| lat.record(*latency_ns));
        let ios = latencies_ns.len() as u64;
        let read = DirectionRecord { ios, bytes: ios * 4096, runtime_ms, lat, ..DirectionRecord::default() };
        JobRecord {
            directions: PerDirection { read, ..PerDirection::default() },
            ..JobRecord::new("job", 1, JobSetup::default())
        }
    }

    #[test]
    fn latencies_are_those_of_the_interval_and_totals_those_so_far() {
        let mut tally = Tally::default();
        let first = tally.look(&[job(1000, &[10, 10, 10])]);
        assert_eq!(first.latency, Some(IntervalLatency { p50_ns: 10, p99_ns: 10 }));
        let second = tally.look(&[job(2000, &[10, 10, 10, 90, 90])]);
        assert_eq!(second.latency, Some(IntervalLatency { p50_ns: 90, p99_ns: 90 }));
        assert_eq!((second.at_ms, second.all), (2000, Amount { operations: 5, bytes: 20_480 }));
        let (began, ended) = (first.all, second.all);
        assert_eq!((ended.operations - began.operations, ended.bytes - began.bytes), (2, 8192));
        assert_eq!((second.read, second.write), (Some(second.all), Some(Amount::default())));
        assert_eq!(tally.look(&[job(3000, &[10, 10, 10, 90, 90])]).latency, None, "nothing ended in this interval");
    }

    #[test]
    fn a_write_that_waits_for_its_sync_takes_as_long_as_that() {
        let mut synced = job(1000, &[]);
        let mut written = Latency::with_histogram();
        written.record(10);
        synced.directions.write = DirectionRecord { ios: 1, bytes: 4096, lat: written, ..DirectionRecord::default() };
        synced.sync.lat = Latency::with_histogram();
        synced.sync.lat.record(900);
        let p99_ns = Tally::default().look(&[synced]).latency.map(|latency| latency.p99_ns);
        assert!(p99_ns.is_some_and(|ns| ns > 500), "{p99_ns:?}");
    }

    #[test]
    fn workers_add_up_and_time_does_not() {
        let totals = Tally::default().look(&[job(1000, &[10]), job(1002, &[20, 30])]);
        assert_eq!((totals.at_ms, totals.all.operations), (1002, 3));
    }
}
