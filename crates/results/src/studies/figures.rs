//! The figures of a row: rates, latencies, CPU time.

use super::Row;
use crate::record::{DirectionRecord, JobRecord, Latency};
use crate::{PerDirection, test_name};

/// Figures of one row, all its workers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Reads; `None`: there were none.
    pub read: Option<DirectionFigures>,
    /// Writes; `None`: there were none.
    pub write: Option<DirectionFigures>,
    /// Reads and writes together, or the operations of a phase.
    pub total: DirectionFigures,
    /// Latency of fsync and fdatasync calls; `None`: there were none.
    pub sync: Option<LatencyFigures>,
    /// CPU time of the workers, ns.
    pub cpu_ns: u64,
    /// CPU time as a share of the wall time of one processor, percent: 200 is two processors.
    pub cpu_percent: f64,
    /// Measured wall time, s.
    pub elapsed_s: f64,
    /// See [`JobRecord::durable_s`].
    pub durable_s: Option<f64>,
}

/// Figures of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionFigures {
    /// Number of operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Latency from start to reap if the run kept its distribution, otherwise from issue to reap; `None`: not
    /// measured. The total of the test of durable writes has the latency of the sync.
    pub latency: Option<LatencyFigures>,
}

/// Figures of one latency, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyFigures {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile; `None` with fewer than ten values beyond it.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile; `None` with fewer than ten values beyond it.
    pub p999_ns: Option<u64>,
    /// Largest.
    pub max_ns: u64,
}

impl LatencyFigures {
    /// The figures of a latency; `None` without a histogram.
    pub fn of(latency: &Latency) -> Option<LatencyFigures> {
        let histogram = latency.histogram.as_ref().filter(|histogram| histogram.count() > 0)?;
        Some(LatencyFigures {
            count: histogram.count(),
            mean_ns: latency.moments.mean()?,
            p50_ns: histogram.percentile(50.0)?,
            p99_ns: latency.shown(99.0),
            p999_ns: latency.shown(99.9),
            max_ns: latency.moments.max()?,
        })
    }
}

impl Row {
    /// The measured time, s; `None`: it never ran.
    pub fn elapsed_s(&self) -> Option<f64> {
        match &self.phase {
            Some(phase) => Some(phase.elapsed_ns as f64 / 1e9),
            None => self.run.as_ref()?.jobs.iter().map(elapsed_s).reduce(f64::max),
        }
    }

    /// The row's figures; `None`: it never ran.
    pub fn figures(&self) -> Option<Figures> {
        if let Some(phase) = &self.phase {
            let elapsed_s = self.elapsed_s()?;
            let bytes = phase.bytes.unwrap_or(0);
            let rate = |amount: u64| if elapsed_s > 0.0 { amount as f64 / elapsed_s } else { 0.0 };
            let total = DirectionFigures {
                operations: phase.operations,
                bytes,
                iops: rate(phase.operations),
                bytes_per_s: rate(bytes),
                latency: LatencyFigures::of(&phase.latency),
            };
            let cpu_percent =
                if phase.elapsed_ns > 0 { phase.cpu_ns as f64 * 100.0 / phase.elapsed_ns as f64 } else { 0.0 };
            return Some(Figures { total, cpu_ns: phase.cpu_ns, cpu_percent, elapsed_s, ..Figures::default() });
        }
        let run = self.run.as_ref()?;
        // The sampled latencies of gtod_reduce are judged elsewhere; here the merged group counts.
        let mut merged = JobRecord::merged(&run.jobs)?;
        merged.count_what_completed();
        let mut figures = Figures::of_job(&merged);
        if self.pattern == test_name::SYNC_LATENCY {
            figures.total.latency = figures.sync;
        }
        Some(figures)
    }

    /// Response times of a paced row, from the intended start of each request: the time that requests wait behind a
    /// slow one is included. `None`: it was not paced, or no request completed.
    pub fn response_times(&self) -> Option<LatencyFigures> {
        let mut merged = Latency::default();
        for job in &self.run.as_ref()?.jobs {
            for (_, direction) in job.directions.iter() {
                // A direction without requests does not matter; one without response times would make the sum wrong.
                match &direction.response {
                    Some(response) => merged.merge(response),
                    None if direction.ios == 0 => {}
                    None => return None,
                }
            }
        }
        LatencyFigures::of(&merged)
    }
}

/// The time of a job's or a group's longest direction, s.
fn elapsed_s(job: &JobRecord) -> f64 {
    job.directions.iter().map(|(_, direction)| direction.runtime_ms).max().unwrap_or(0) as f64 / 1e3
}

impl Figures {
    /// The figures of a job's or a group's record.
    pub fn of_job(job: &JobRecord) -> Figures {
        let cpu_ns = job.cpu_of_io_ns();
        // CPU time covers the whole life of the workers, wall time is summed over them.
        let wall_ns = job.job_runtime_ms.max(1) * 1_000_000;
        Figures {
            read: direction(&job.directions.read),
            write: direction(&job.directions.write),
            total: direction(&job.mixed()).unwrap_or_default(),
            sync: LatencyFigures::of(&job.sync.lat),
            cpu_ns,
            cpu_percent: cpu_ns as f64 * 100.0 * f64::from(job.members.max(1)) / wall_ns as f64,
            elapsed_s: elapsed_s(job),
            durable_s: job.durable_s(),
        }
    }

    /// Bytes per second; for writes, until they are durable. Tests are compared by this rate.
    pub fn bytes_per_s(&self) -> f64 {
        self.durable_s.map_or(self.total.bytes_per_s, |seconds| self.total.bytes as f64 / seconds)
    }

    /// Operations per second; for writes, until they are durable.
    pub fn iops(&self) -> f64 {
        self.durable_s.map_or(self.total.iops, |seconds| self.total.operations as f64 / seconds)
    }
}

impl JobRecord {
    /// Time until all written data are durable, s; `None`: there was no sync at the end, or other requests came
    /// between the writes, so that the sync says nothing about their pace.
    pub fn durable_s(&self) -> Option<f64> {
        self.final_sync_ns?;
        let PerDirection { read, write, trim } = &self.directions;
        // The runtime ends after the sync; the close follows.
        let durable_s = write.runtime_ms as f64 / 1e3 + self.close_ns.unwrap_or(0) as f64 / 1e9;
        (write.ios > 0 && read.ios == 0 && trim.ios == 0 && durable_s > 0.0).then_some(durable_s)
    }
}

fn direction(record: &DirectionRecord) -> Option<DirectionFigures> {
    (record.ios > 0).then(|| DirectionFigures {
        operations: record.ios,
        bytes: record.bytes,
        iops: record.iops(),
        bytes_per_s: record.bandwidth() as f64,
        latency: record.latency().and_then(LatencyFigures::of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobSetup;

    #[test]
    fn the_sync_counts_once_and_the_close_too() {
        let mut job = JobRecord::new("write", 1, JobSetup::default());
        // One second of writing and one second of sync, both in the runtime, then two seconds of close.
        (job.directions.write.ios, job.directions.write.bytes, job.directions.write.runtime_ms) = (1, 4_000_000, 2000);
        (job.final_sync_ns, job.close_ns) = (Some(1_000_000_000), Some(2_000_000_000));
        let figures = Figures::of_job(&job);
        assert_eq!((figures.durable_s, figures.bytes_per_s(), figures.iops()), (Some(4.0), 1e6, 0.25));
        assert_eq!(figures.total.iops, 0.5, "fio's figure leaves the close out");
        // Reads between the writes do not wait for the sync at the end, and a close without a sync stores nothing.
        let mut mixed = job.clone();
        mixed.directions.read.ios = 1;
        assert_eq!(mixed.durable_s(), None);
        assert_eq!(JobRecord { final_sync_ns: None, ..job }.durable_s(), None);
    }
}
