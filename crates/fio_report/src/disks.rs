//! Devices that stand on others (dm, md, loop).

use results::DiskRecord;

/// What the devices below one did, on average.
pub(crate) struct Below {
    pub(crate) ios: [u64; 2],
    pub(crate) sectors: [u64; 2],
    pub(crate) merges: [u64; 2],
    pub(crate) ticks_ms: [u64; 2],
    pub(crate) in_queue_ms: u64,
    /// Of the busiest one.
    pub(crate) util_percent: f64,
}

impl Below {
    /// `None` for a device that stands on no other.
    pub(crate) fn of(slaves: &[DiskRecord]) -> Option<Below> {
        if slaves.is_empty() {
            return None;
        }
        let mean = |of: fn(&DiskRecord) -> u64| slaves.iter().map(of).sum::<u64>() / slaves.len() as u64;
        Some(Below {
            ios: [mean(|disk| disk.ios[0]), mean(|disk| disk.ios[1])],
            sectors: [mean(|disk| disk.sectors[0]), mean(|disk| disk.sectors[1])],
            merges: [mean(|disk| disk.merges[0]), mean(|disk| disk.merges[1])],
            ticks_ms: [mean(|disk| disk.ticks_ms[0]), mean(|disk| disk.ticks_ms[1])],
            in_queue_ms: mean(|disk| disk.in_queue_ms),
            util_percent: slaves.iter().map(|disk| disk.util_percent).fold(0.0, f64::max),
        })
    }
}

/// Every device once: each before those it stands on.
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
