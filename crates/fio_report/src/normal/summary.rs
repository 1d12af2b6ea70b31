//! Writes the status of the groups, and the disks.

use fsdyno_results::{CpuIdleness, DiskRecord, ReadWrite};

use crate::disks::LowerDevices;
use crate::groups::Group;

/// `Run status group 0 (all jobs):` and a line per lane.
pub(super) fn write_group(out: &mut String, group: &Group) {
    let style = group.style;
    out.push_str(&format!("\nRun status group {} (all jobs):\n", group.number));
    for (lane, totals) in group.lanes() {
        let rate = |bytes_per_second: u64| style.rate(bytes_per_second);
        let other = |bytes_per_second: u64| style.rate_other(bytes_per_second);
        out.push_str(&format!(
            "{:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
            lane.title(),
            rate(totals.bandwidth()),
            other(totals.bandwidth()),
            rate(totals.bandwidth_min),
            rate(totals.bandwidth_max),
            other(totals.bandwidth_min),
            other(totals.bandwidth_max),
            style.bytes(totals.bytes),
            style.bytes_other(totals.bytes),
            totals.runtime_ms_min,
            totals.runtime_ms_max,
        ));
    }
}

/// `Disk stats (read/write):` and a line per device; nothing without devices.
pub(super) fn write_disks(out: &mut String, disks: &[&DiskRecord]) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        out.push_str(&line(disk));
    }
}

fn line(disk: &DiskRecord) -> String {
    let DiskRecord { name, ios, sectors, merges, ticks_ms, in_queue_ms, util_percent, slaves } = disk;
    let below = LowerDevices::of(slaves);
    let indent = if below.is_some() { "    " } else { "  " };
    let aggregated = below.map_or(String::new(), |below| {
        let LowerDevices { ios, sectors, merges, ticks_ms, in_queue_ms, util_percent } = below;
        format!(
            ", aggrios={}, aggsectors={}, aggrmerge={}, aggrticks={}, aggrin_queue={in_queue_ms}, \
             aggrutil={util_percent:3.2}%",
            pair(ios),
            pair(sectors),
            pair(merges),
            pair(ticks_ms),
        )
    });
    format!(
        "{indent}{name}: ios={}, sectors={}, merge={}, ticks={}, in_queue={in_queue_ms}, \
         util={util_percent:3.2}%{aggregated}\n",
        pair(*ios),
        pair(*sectors),
        pair(*merges),
        pair(*ticks_ms),
    )
}

/// `5582/13744`: reads and writes.
fn pair(ReadWrite { read, write }: ReadWrite<u64>) -> String {
    format!("{read}/{write}")
}

/// `  unit work: mean=7.28us, stddev=0.47`.
pub fn unit_work(us_mean: f64, us_deviation: f64) -> String {
    format!("  unit work: mean={us_mean:.2}us, stddev={us_deviation:.2}\n")
}

pub(super) fn write_idleness(out: &mut String, idleness: &CpuIdleness) {
    let CpuIdleness { system_percent, processors, unit_us_mean, unit_us_deviation } = idleness;
    out.push_str(&format!("\nCPU idleness:\n  system: {system_percent:.2}%\n"));
    if !processors.is_empty() {
        let each: Vec<String> = processors.iter().map(|percent| format!("{percent:.2}%")).collect();
        out.push_str(&format!("  percpu: {}\n", each.join(", ")));
    }
    out.push_str(&unit_work(*unit_us_mean, *unit_us_deviation));
}
