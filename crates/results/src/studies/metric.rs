//! The metrics of a test, and the figure of each in one round.

use super::Repeat;
use crate::record::{DirectionRecord, JobRecord};

/// Which requests a latency is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// fsync and similar calls between the writes.
    Sync,
    /// One operation of a phase.
    Operation,
    /// Every request, read or write; in a phase, every operation.
    Request,
}

impl Lane {
    /// The lanes that are shown separately.
    pub const ALL: [Lane; 4] = [Lane::Read, Lane::Write, Lane::Sync, Lane::Operation];

    /// `read`, `sync`.
    pub fn word(self) -> &'static str {
        match self {
            Lane::Read => "read",
            Lane::Write => "write",
            Lane::Sync => "sync",
            Lane::Operation => "operation",
            Lane::Request => "request",
        }
    }
}

/// A figure of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bytes read and written per second.
    Throughput,
    /// Bytes written per second, including the time of syncs and closes after the last write.
    Durable,
    /// I/Os per second.
    Iops,
    /// Writes per second, including the time of syncs and closes after the last write; for a command, including the
    /// sync after it.
    DurableIops,
    /// Operations of a phase per second.
    Operations,
    /// Time of a command, ns.
    Wall,
    /// Time of a command with the sync after it, ns.
    WallAndSync,
    /// Median latency, ns.
    P50(Lane),
    /// 99th percentile of latency, ns.
    P99(Lane),
    /// User and system CPU time of all workers in percent of one processor: 200 is two processors.
    Cpu,
    /// Bytes moved per second of CPU time.
    BytesPerCpuSecond,
}

impl Metric {
    /// Whether the metric is computed from CPU time.
    pub fn is_of_cpu(self) -> bool {
        matches!(self, Metric::Cpu | Metric::BytesPerCpuSecond)
    }

    /// Lane and percentile of a latency; `None` for other metrics.
    pub fn percentile(self) -> Option<(Lane, f64)> {
        match self {
            Metric::P50(lane) => Some((lane, 50.0)),
            Metric::P99(lane) => Some((lane, 99.0)),
            _ => None,
        }
    }

    /// The figure of one repeat, in bytes, ns, percent or per second; `None`: not measured.
    pub fn of(self, repeat: &Repeat<'_>) -> Option<f64> {
        if let Some((lane, percent)) = self.percentile() {
            return repeat.latency(lane)?.shown(percent).map(|ns| ns as f64);
        }
        if let Some(phase) = repeat.phase {
            return match self {
                Metric::Operations => phase.rate_per_s(),
                // A command that failed may have done less.
                Metric::Wall => (repeat.row.tree.is_some() && phase.operations > 0).then_some(phase.elapsed_ns as f64),
                Metric::WallAndSync => {
                    let sync_ns = repeat.row.tree.as_ref().filter(|_| phase.operations > 0)?.sync_ns?;
                    Some((phase.elapsed_ns + sync_ns) as f64)
                }
                Metric::DurableIops => Metric::WallAndSync.of(repeat).filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns),
                Metric::Throughput => {
                    let bytes = phase.bytes.filter(|_| phase.elapsed_ns > 0)?;
                    Some(bytes as f64 * 1e9 / phase.elapsed_ns as f64)
                }
                Metric::Cpu => (phase.elapsed_ns > 0).then(|| phase.cpu_ns as f64 * 100.0 / phase.elapsed_ns as f64),
                _ => None,
            };
        }
        let merged = repeat.merged.as_ref()?;
        match self {
            Metric::Throughput => {
                sum(merged, |direction| direction.bytes as f64 * 1000.0 / direction.runtime_ms as f64)
            }
            Metric::Iops => sum(merged, DirectionRecord::iops),
            Metric::Durable => durable(merged, merged.directions.write.bytes),
            Metric::DurableIops => durable(merged, merged.directions.write.ios),
            // The wall time is the sum over the workers, so that a group counts once for each member. Without any CPU
            // time the run was too short for the kernel's clock.
            Metric::Cpu => (merged.job_runtime_ms > 0 && merged.user_ns + merged.system_ns > 0).then(|| {
                let (user, system) = merged.cpu_percent();
                (user + system) * f64::from(merged.members.max(1))
            }),
            Metric::BytesPerCpuSecond => {
                let cpu_ns = merged.cpu_of_io_ns();
                let bytes: u64 = [&merged.directions.read, &merged.directions.write]
                    .into_iter()
                    .map(|direction| direction.bytes)
                    .sum();
                (cpu_ns > 0 && bytes > 0).then(|| bytes as f64 * 1e9 / cpu_ns as f64)
            }
            _ => None,
        }
    }
}

/// The sum over the directions with I/O; `None`: no direction has any.
fn sum(merged: &JobRecord, figure: impl Fn(&DirectionRecord) -> f64) -> Option<f64> {
    let busy = [&merged.directions.read, &merged.directions.write, &merged.directions.trim]
        .into_iter()
        .filter(|direction| direction.runtime_ms > 0);
    busy.map(figure).reduce(|sum, more| sum + more)
}

/// Durable bytes per second: `written` divided by the time until the last sync has returned.
fn durable(merged: &JobRecord, written: u64) -> Option<f64> {
    Some(written as f64 / merged.durable_s()?)
}
