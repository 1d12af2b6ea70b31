//! Writes the terse report: one line of fields per row, separated by semicolons.

use fsdyno_results::{
    DirectionRecord, DiskRecord, JobRecord, JobSetup, Latency, PerDirection, ReadWrite, RunRecord, SurvivedErrors,
    UnifiedReporting,
};
use fsdyno_text::escape;

use crate::clients;
use crate::disks::{LowerDevices, disks_of, listed};
use crate::figures::{Shares, error_code};
use crate::groups::{Group, Table};
use crate::lanes::Lane;

/// Version of the terse format. Each version adds fields, so that a reader must know the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Without fio's version and without disks, with trims.
    V2 = 2,
    /// The usual version: reads and writes.
    V3 = 3,
    /// Adds trims.
    V4 = 4,
    /// Adds IOPS and the numbers of samples.
    V5 = 5,
}

impl Version {
    /// The version of this number, which was checked to be 2 to 5.
    pub fn numbered(number: u8) -> Version {
        match number {
            2 => Version::V2,
            4 => Version::V4,
            5 => Version::V5,
            _ => Version::V3,
        }
    }
}

/// Number of percentile fields; unused ones are filled.
const PERCENTILES: usize = 20;

/// The lines, each ending with a line feed.
pub fn lines(run: &RunRecord, version: Version) -> String {
    let Some(clients) = clients::clients(run) else {
        let table = Table::of(run);
        return table.grouped_rows().map(|(row, group)| line(run, row, group, disks_of(run), version)).collect();
    };
    let rows = |table: &Table<'_>| -> String {
        table.grouped_rows().map(|(row, group)| line(run, row, group, Vec::new(), version)).collect()
    };
    let mut lines = String::new();
    for client in &clients {
        lines.push('\n');
        lines.push_str(&rows(&client.table));
        for disk in listed(&client.node.disks).into_iter().filter(|_| version > Version::V2) {
            // A line of its own, whose first field is empty.
            let mut fields = Fields(vec![String::new()]);
            fields.add_disk(disk);
            lines.push_str(&(fields.0.join(";") + "\n"));
        }
    }
    lines + &clients::all(&clients).as_ref().map(rows).unwrap_or_default()
}

fn line(run: &RunRecord, row: &JobRecord, group: &Group, disks: Vec<&DiskRecord>, version: Version) -> String {
    let JobRecord { name, description, setup, survived_errors, .. } = row;
    let mut fields = Fields(Vec::new());
    fields.add(version as u32);
    if version > Version::V2 {
        fields.add(&run.version);
    }
    fields.add(name);
    fields.add(row.group);
    fields.add(error_code(row));
    for (lane, direction) in sections(row, version) {
        fields.add_direction(lane, direction, setup, group, version);
    }
    let (user, system) = row.cpu_percent();
    fields.add(format!("{user:.6}%"));
    fields.add(format!("{system:.6}%"));
    fields.add(row.context_switches);
    fields.add(row.major_faults);
    fields.add(row.minor_faults);
    fields.add_shares(Shares::of(row));
    if version > Version::V2 {
        disks.into_iter().for_each(|disk| fields.add_disk(disk));
    }
    if let Some(SurvivedErrors { total, first }) = survived_errors {
        fields.add(total);
        fields.add(first);
    }
    if let Some(description) = description {
        fields.add(description);
    }
    fields.0.join(";") + "\n"
}

/// The sections are in fixed places: the sum of all directions (`unified_rw_reporting=mixed`) takes that of reads.
fn sections(row: &JobRecord, version: Version) -> Vec<(Lane, DirectionRecord)> {
    let PerDirection { read, mut write, mut trim } = row.directions.clone();
    let first = match row.setup.unified {
        UnifiedReporting::Mixed => {
            (write, trim) = (DirectionRecord::default(), DirectionRecord::default());
            (Lane::Mixed, row.mixed())
        }
        UnifiedReporting::None | UnifiedReporting::Both => (Lane::Read, read),
    };
    let mut sections = vec![first, (Lane::Write, write)];
    if version != Version::V3 {
        sections.push((Lane::Trim, trim));
    }
    if row.setup.unified == UnifiedReporting::Both {
        sections.push((Lane::Mixed, row.mixed()));
    }
    sections
}

struct Fields(Vec<String>);

impl Fields {
    fn add(&mut self, value: impl ToString) {
        self.0.push(escape::terse(&value.to_string()).into_owned());
    }

    fn add_real(&mut self, value: f64) {
        self.0.push(format!("{value:.6}"));
    }

    fn add_direction(
        &mut self,
        lane: Lane,
        direction: DirectionRecord,
        setup: &JobSetup,
        group: &Group,
        version: Version,
    ) {
        self.add(direction.bytes / 1024);
        self.add(direction.bandwidth() / 1024);
        self.add(direction.iops_whole());
        let DirectionRecord { runtime_ms, slat, clat, lat, bandwidth_samples, iops_samples, .. } = direction;
        let (bandwidth, iops) = (bandwidth_samples, iops_samples);
        self.add(runtime_ms);
        self.add_latency(&slat);
        self.add_latency(&clat);
        match (setup.lat_percentiles, setup.clat_percentiles) {
            (true, _) => self.add_percentiles(&lat, &setup.percentiles),
            (false, true) => self.add_percentiles(&clat, &setup.percentiles),
            (false, false) => self.add_percentiles(&clat, &[]),
        }
        self.add_latency(&lat);
        let share = if bandwidth.count > 0 { group.share_percent(lane, &bandwidth) } else { 0.0 };
        self.add(bandwidth.min);
        self.add(bandwidth.max);
        self.add(format!("{share:.6}%"));
        self.add_real(bandwidth.mean);
        self.add_real(bandwidth.deviation());
        if version >= Version::V5 {
            self.add(bandwidth.count);
            self.add(iops.min);
            self.add(iops.max);
            self.add_real(iops.mean);
            self.add_real(iops.deviation());
            self.add(iops.count);
        }
    }

    /// Minimum, maximum, mean and deviation, µs; zeroes without values.
    fn add_latency(&mut self, latency: &Latency) {
        let moments = &latency.moments;
        self.add(moments.min().unwrap_or(0) / 1000);
        self.add(moments.max().unwrap_or(0) / 1000);
        self.add_real(moments.mean().unwrap_or(0.0) / 1000.0);
        self.add_real(moments.deviation().unwrap_or(0.0) / 1000.0);
    }

    fn add_percentiles(&mut self, latency: &Latency, percentiles: &[f64]) {
        for index in 0..PERCENTILES {
            match percentiles.get(index) {
                Some(percent) => {
                    let value_us = latency.percentile(*percent).unwrap_or(0) / 1000;
                    self.add(format!("{percent:.6}%={value_us}"));
                }
                None => self.add("0%=0"),
            }
        }
    }

    /// The distributions. Classes below 1 µs are counted in the first one.
    fn add_shares(&mut self, shares: Shares) {
        let Shares { depth, submit: _, complete: _, latency_ns, mut latency_us, latency_ms } = shares;
        latency_us[0] += latency_ns.iter().sum::<f64>();
        depth.iter().for_each(|share| self.add(format!("{share:3.1}%")));
        latency_us.iter().chain(&latency_ms).for_each(|share| self.add(format!("{share:3.2}%")));
    }

    fn add_disk(&mut self, disk: &DiskRecord) {
        let DiskRecord { name, ios, sectors: _, merges, ticks_ms, in_queue_ms, util_percent, slaves } = disk;
        self.add_device(name, [*ios, *merges, *ticks_ms], *in_queue_ms, *util_percent);
        if let Some(LowerDevices { ios, sectors: _, merges, ticks_ms, in_queue_ms, util_percent }) =
            LowerDevices::of(slaves)
        {
            self.add_device("slaves", [ios, merges, ticks_ms], in_queue_ms, util_percent);
        }
    }

    fn add_device(&mut self, name: &str, pairs: [ReadWrite<u64>; 3], in_queue_ms: u64, util_percent: f64) {
        self.add(name);
        pairs.into_iter().flat_map(<[u64; 2]>::from).for_each(|count| self.add(count));
        self.add(in_queue_ms);
        self.add(format!("{util_percent:3.2}%"));
    }
}
