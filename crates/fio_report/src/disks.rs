//! Devices on top of others (dm, md, loop).

use fsdyno_results::{DiskRecord, ReadWrite, RunRecord};

/// The average of the devices below one.
pub(crate) struct LowerDevices {
    pub(crate) ios: ReadWrite<u64>,
    pub(crate) sectors: ReadWrite<u64>,
    pub(crate) merges: ReadWrite<u64>,
    pub(crate) ticks_ms: ReadWrite<u64>,
    pub(crate) in_queue_ms: u64,
    /// Of the busiest device.
    pub(crate) util_percent: f64,
}

impl LowerDevices {
    /// `None` for a device without others below.
    pub(crate) fn of(slaves: &[DiskRecord]) -> Option<LowerDevices> {
        if slaves.is_empty() {
            return None;
        }
        let mean = |of: fn(&DiskRecord) -> ReadWrite<u64>| {
            let sum = slaves.iter().map(of).fold(ReadWrite::default(), ReadWrite::plus);
            sum.map(|sum| sum / slaves.len() as u64)
        };
        Some(LowerDevices {
            ios: mean(|disk| disk.ios),
            sectors: mean(|disk| disk.sectors),
            merges: mean(|disk| disk.merges),
            ticks_ms: mean(|disk| disk.ticks_ms),
            in_queue_ms: slaves.iter().map(|disk| disk.in_queue_ms).sum::<u64>() / slaves.len() as u64,
            util_percent: slaves.iter().map(|disk| disk.util_percent).fold(0.0, f64::max),
        })
    }
}

/// All devices of each node without duplicates: each one before those below it.
pub(crate) fn disks_of(run: &RunRecord) -> Vec<&DiskRecord> {
    run.nodes.iter().flat_map(|node| listed(&node.disks)).collect()
}

/// All devices of these without duplicates.
pub(crate) fn listed(disks: &[DiskRecord]) -> Vec<&DiskRecord> {
    let mut all: Vec<&DiskRecord> = Vec::new();
    for disk in disks {
        let with_slaves = std::iter::once(disk).chain(listed(&disk.slaves));
        for disk in with_slaves {
            if !all.iter().any(|seen| seen.name == disk.name) {
                all.push(disk);
            }
        }
    }
    all
}
