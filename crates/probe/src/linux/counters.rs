//! Counters of disks, as the difference of two readings of /proc/diskstats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fsdyno_results::DiskRecord;
use fsdyno_results::ReadWrite;
use procfs::DiskStat;

use super::{Look, paths};
use fsdyno_results::evidence::BlockDevice;

/// Counts the traffic of the disks behind a set of files.
#[derive(Debug)]
pub struct DiskWatch {
    diskstats: PathBuf,
    disks: Vec<WatchedDisk>,
}

/// A disk, its counters at the start of the watch, and the devices below it.
#[derive(Debug)]
struct WatchedDisk {
    before: DiskStat,
    slaves: Vec<WatchedDisk>,
}

impl DiskWatch {
    /// Reads the counters of the disks behind `paths` (each disk once, in the order of the paths). Files without a
    /// disk, as on NFS or in memory, add none.
    pub fn begin(look: &Look, paths: impl IntoIterator<Item = PathBuf>) -> DiskWatch {
        let mut devices: Vec<BlockDevice> = Vec::new();
        for path in paths {
            for device in paths::devices_of(look, &path).unwrap_or_default() {
                if devices.iter().all(|other| other.name != device.name) {
                    devices.push(device);
                }
            }
        }
        let diskstats = look.proc.join("diskstats");
        let counters = counters(&diskstats);
        let disks = devices.iter().filter_map(|device| watch(device, &counters)).collect();
        DiskWatch { diskstats, disks }
    }

    /// Traffic of the disks since the watch began `elapsed` ago. It may be called again for interim reports. A disk
    /// that was removed meanwhile is left out.
    pub fn finish(&self, elapsed: Duration) -> Vec<DiskRecord> {
        if self.disks.is_empty() {
            return Vec::new();
        }
        let counters = counters(&self.diskstats);
        self.disks.iter().filter_map(|disk| record(disk, &counters, elapsed)).collect()
    }
}

/// The counters of every disk and partition by name. Malformed lines are ignored.
fn counters(diskstats: &Path) -> BTreeMap<String, DiskStat> {
    let text = super::read_text(diskstats).unwrap_or_default();
    let stats = text.lines().filter_map(|line| DiskStat::from_line(line).ok());
    let mut counters = BTreeMap::new();
    counters.extend(stats.map(|stat| (stat.name.clone(), stat)));
    counters
}

fn watch(device: &BlockDevice, counters: &BTreeMap<String, DiskStat>) -> Option<WatchedDisk> {
    let before = counters.get(&device.name)?.clone();
    Some(WatchedDisk { before, slaves: device.slaves.iter().filter_map(|slave| watch(slave, counters)).collect() })
}

fn record(disk: &WatchedDisk, counters: &BTreeMap<String, DiskStat>, elapsed: Duration) -> Option<DiskRecord> {
    let (before, after) = (&disk.before, counters.get(&disk.before.name)?);
    let pair = |before: [_; 2], after: [_; 2]| {
        ReadWrite::from(before).zip(after.into()).map(|(before, after)| delta(before, after))
    };
    let busy_ms = delta(before.time_in_progress, after.time_in_progress);
    Some(DiskRecord {
        name: before.name.clone(),
        ios: pair([before.reads, before.writes], [after.reads, after.writes]),
        sectors: pair([before.sectors_read, before.sectors_written], [after.sectors_read, after.sectors_written]),
        merges: pair([before.merged, before.writes_merged], [after.merged, after.writes_merged]),
        ticks_ms: pair([before.time_reading, before.time_writing], [after.time_reading, after.time_writing]),
        in_queue_ms: delta(before.weighted_time_in_progress, after.weighted_time_in_progress),
        util_percent: util_percent(busy_ms, elapsed),
        slaves: disk.slaves.iter().filter_map(|slave| record(slave, counters, elapsed)).collect(),
    })
}

/// Growth of a counter. The kernel stores milliseconds in 32 bits, which wrap after 49 days.
pub(super) fn delta(before: u64, after: u64) -> u64 {
    const WRAP: u64 = 1 << 32;
    if after < before && before < WRAP { after + WRAP - before } else { after.saturating_sub(before) }
}

/// Busy share of the time, percent (0 to 100). The counter advances in ticks of the kernel and may exceed the time.
fn util_percent(busy_ms: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        return 0.0;
    }
    (busy_ms as f64 / (elapsed.as_secs_f64() * 1000.0) * 100.0).min(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;

    const BEFORE: &str = "\
   8       0 sda 100 10 1000 50 200 20 2000 60 0 300 400 0 0 0 0 0 0
   8       1 sda1 1 1 1 1 1 1 1 1 0 1 1
   8      16 sdb 0 0 0 0 0 0 0 0 0 0 4294967290 0 0 0 0 0 0
   9       0 md0 5 0 40 0 5 0 40 0 0 0 0
 253       0 dm-0 5 0 40 0 5 0 40 0 0 0 0
 what is this
";
    const AFTER: &str = "\
   8       0 sda 103 14 1024 56 207 28 2072 70 0 550 420 0 0 0 0 0 0
   8      16 sdb 1 0 8 2 0 0 0 0 0 2000 4 0 0 0 0 0 0
   9       0 md0 6 0 48 0 5 0 40 0 0 0 0
 253       0 dm-0 6 0 48 0 5 0 40 0 0 0 0
";

    fn watch_of(tree: &fixture::Tree, number: (u32, u32)) -> DiskWatch {
        let diskstats = tree.look.proc.join("diskstats");
        fs::write(&diskstats, BEFORE).unwrap();
        let number = fsdyno_results::evidence::DeviceNumber { major: number.0, minor: number.1 };
        let device = super::super::block::device(&tree.look, number).unwrap();
        let disks = vec![watch(&device, &counters(&diskstats)).unwrap()];
        DiskWatch { diskstats, disks }
    }

    #[test]
    fn differences_of_a_disk() {
        let tree = fixture::tree();
        let watch = watch_of(&tree, (8, 1));
        fs::write(tree.look.proc.join("diskstats"), AFTER).unwrap();
        let expected = DiskRecord {
            name: "sda".into(),
            ios: [3, 7].into(),
            sectors: [24, 72].into(),
            merges: [4, 8].into(),
            ticks_ms: [6, 10].into(),
            in_queue_ms: 20,
            util_percent: 25.0,
            slaves: vec![],
        };
        assert_eq!(watch.finish(Duration::from_secs(1)), [expected]);
    }

    #[test]
    fn a_stack_brings_its_slaves() {
        let tree = fixture::tree();
        let watch = watch_of(&tree, (253, 0));
        fs::write(tree.look.proc.join("diskstats"), AFTER).unwrap();
        let records = watch.finish(Duration::from_secs(1));
        assert_eq!((records[0].name.as_str(), records[0].ios), ("dm-0", [1, 0].into()));
        let md0 = &records[0].slaves[0];
        let names: Vec<_> = md0.slaves.iter().map(|disk| disk.name.as_str()).collect();
        assert_eq!((md0.name.as_str(), names), ("md0", vec!["sda", "sdb"]));
        let sdb = &md0.slaves[1];
        assert_eq!(sdb.in_queue_ms, 10, "the 32-bit counter wrapped");
        assert_eq!(sdb.util_percent, 100.0, "capped");
    }

    #[test]
    fn a_disk_that_went_away_is_left_out() {
        let tree = fixture::tree();
        let watch = watch_of(&tree, (8, 0));
        fs::write(tree.look.proc.join("diskstats"), "").unwrap();
        assert_eq!(watch.finish(Duration::from_secs(1)), []);
    }

    #[test]
    fn no_time_is_no_share() {
        assert_eq!(util_percent(5, Duration::ZERO), 0.0);
    }

    #[test]
    fn memory_has_no_disk() {
        let watch = DiskWatch::begin(&Look::new(), [PathBuf::from("/proc/self/status")]);
        assert_eq!(watch.finish(Duration::from_secs(1)), []);
    }

    #[test]
    fn this_machine_counts_what_is_written() {
        use std::io::Write;
        let directory = tempfile::tempdir_in(".").unwrap();
        let watch = DiskWatch::begin(&Look::new(), [directory.path().join("a"), directory.path().join("b")]);
        if watch.disks.is_empty() {
            eprintln!("skipped: no block device behind the current directory");
            return;
        }
        let mut file = fs::File::create(directory.path().join("a")).unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        let records = watch.finish(Duration::from_secs(1));
        assert_eq!(records.len(), 1, "the disk behind both files counts once");
        assert!(records[0].ios.write >= 1);
        assert!(records[0].sectors.write >= 2048, "{:?}", records[0]);
    }
}
