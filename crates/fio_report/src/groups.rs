//! Totals of the report groups (`new_group`, `stonewall`).

use std::borrow::Cow;

use fsdyno_results::{DirectionRecord, JobRecord, RunRecord, Samples, per_second};

use crate::lanes::{Lane, lanes};
use crate::number::Style;

/// The rows of a report, with the totals of their groups.
pub(crate) struct Table<'r> {
    pub(crate) rows: Vec<Cow<'r, JobRecord>>,
    pub(crate) groups: Vec<Group>,
}

impl<'r> Table<'r> {
    pub(crate) fn of(run: &'r RunRecord) -> Table<'r> {
        Table::with(run.report_rows(), groups(run.jobs.iter()))
    }

    /// The table of one client of several.
    pub(crate) fn of_node(run: &'r RunRecord, node: usize) -> Table<'r> {
        Table::with(run.report_rows_of(node), groups(run.jobs.iter().filter(|job| job.node == node)))
    }

    /// A row that is a group by itself.
    pub(crate) fn of_row(row: JobRecord) -> Table<'r> {
        let own = groups(std::iter::once(&row));
        Table::with(vec![Cow::Owned(row)], own)
    }

    fn with(rows: Vec<Cow<'r, JobRecord>>, mut groups: Vec<Group>) -> Table<'r> {
        for row in &rows {
            if let Some(group) = groups.iter_mut().find(|group| group.number == row.group) {
                group.add(row);
            }
        }
        Table { rows, groups }
    }

    /// Each row with its group.
    pub(crate) fn grouped_rows(&self) -> impl Iterator<Item = (&JobRecord, &Group)> {
        self.rows.iter().filter_map(|row| Some((&**row, self.groups.iter().find(|group| group.number == row.group)?)))
    }
}

/// The groups of these jobs. Each group has a status, even if none of its jobs has results.
fn groups<'r>(jobs: impl Iterator<Item = &'r JobRecord>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for job in jobs.filter(|job| job.setup.shown) {
        if !groups.iter().any(|group| group.number == job.group) {
            groups.push(Group::new(job));
        }
    }
    groups
}

/// Totals of one group.
pub(crate) struct Group {
    pub(crate) number: u32,
    pub(crate) style: Style,
    totals: [Option<LaneTotals>; 4],
}

/// Totals of one lane of a group.
#[derive(Clone, Copy)]
pub(crate) struct LaneTotals {
    pub(crate) bytes: u64,
    /// Least and greatest over the rows, B/s.
    pub(crate) bandwidth_min: u64,
    pub(crate) bandwidth_max: u64,
    /// Least and greatest over the rows, ms.
    pub(crate) runtime_ms_min: u64,
    pub(crate) runtime_ms_max: u64,
}

impl LaneTotals {
    /// All bytes divided by the longest runtime, B/s.
    pub(crate) fn bandwidth(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms_max)
    }
}

impl Group {
    fn new(job: &JobRecord) -> Group {
        Group { number: job.group, style: Style::of(&job.setup), totals: [None; 4] }
    }

    fn add(&mut self, row: &JobRecord) {
        for (lane, direction) in lanes(row) {
            if direction.runtime_ms > 0 {
                let total = &mut self.totals[lane as usize];
                *total = Some(with(*total, &direction));
            }
        }
    }

    /// The lanes with traffic.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = (Lane, &LaneTotals)> {
        Lane::ALL.into_iter().filter_map(|lane| Some((lane, self.totals[lane as usize].as_ref()?)))
    }

    /// Share of a row's mean bandwidth in its group's, percent. fio rounds the mean down to whole KiB/s, shows groups
    /// below 1 KiB/s as 100 %, and limits the share to 100 % (the mean leaves out the last partial window).
    pub(crate) fn share_percent(&self, lane: Lane, bandwidth: &Samples) -> f64 {
        match self.totals[lane as usize].map(|totals| totals.bandwidth()) {
            Some(whole) if whole > 1024 => (bandwidth.mean.trunc() * 100.0 / (whole as f64 / 1024.0)).min(100.0),
            _ => 100.0,
        }
    }
}

fn with(total: Option<LaneTotals>, direction: &DirectionRecord) -> LaneTotals {
    let bandwidth = direction.bandwidth();
    let runtime_ms = direction.runtime_ms;
    match total {
        None => LaneTotals {
            bytes: direction.bytes,
            bandwidth_min: bandwidth,
            bandwidth_max: bandwidth,
            runtime_ms_min: runtime_ms,
            runtime_ms_max: runtime_ms,
        },
        Some(total) => LaneTotals {
            bytes: total.bytes + direction.bytes,
            bandwidth_min: total.bandwidth_min.min(bandwidth),
            bandwidth_max: total.bandwidth_max.max(bandwidth),
            runtime_ms_min: total.runtime_ms_min.min(runtime_ms),
            runtime_ms_max: total.runtime_ms_max.max(runtime_ms),
        },
    }
}
