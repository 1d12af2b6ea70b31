//! Computes throughput over time: the windows of all workers added up, round by round, on one time axis.

use std::collections::BTreeMap;

use fsdyno_results::evidence::RecordedFact;
use fsdyno_results::{JobRecord, Repeat, TestRounds};
use fsdyno_stats::{self, median};
use fsdyno_text::quantity::{Units, rate_unit};

use crate::headline::metrics;
use crate::quantity::{megabytes_per_s, number};
use crate::summary::PatternLine;

/// Points of one pattern's chart, over all its lines: the page has a size budget.
const POINTS_MAX: usize = 4000;
/// Points of one line: more cannot be distinguished.
const POINTS_OF_A_LINE: std::ops::RangeInclusive<usize> = 40..=300;

/// Least number of points that show a development over time.
pub(super) const POINTS_OF_A_COURSE: usize = 4;

/// The unit of a chart: that by which the test is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes per second.
    Bytes,
    /// Requests per second.
    Requests,
}

impl Unit {
    fn of(line: &PatternLine<'_>) -> Unit {
        if line.cells.iter().any(TestRounds::is_small) { Unit::Requests } else { Unit::Bytes }
    }

    /// The unit's name, and the factor from a line's values to it.
    pub(super) fn shown(self) -> (&'static str, f64) {
        match self {
            Unit::Bytes => (rate_unit(), Units::shown().megabyte_bytes()),
            Unit::Requests => ("IOPS", 1.0),
        }
    }

    /// A value with its unit.
    pub(super) fn words(self, value: f64) -> String {
        match self {
            Unit::Bytes => megabytes_per_s(value),
            Unit::Requests => format!("{}\u{a0}IOPS", number(value)),
        }
    }

    /// A worker's samples in each direction, `(ms, value)`, and the factor from a sample to a line's value.
    fn samples(self, worker: &JobRecord) -> ([&[(u64, u64)]; 3], f64) {
        let directions = [&worker.directions.read, &worker.directions.write, &worker.directions.trim];
        match self {
            Unit::Bytes => (directions.map(|direction| &direction.bandwidth_samples.series[..]), 1024.0),
            Unit::Requests => (directions.map(|direction| &direction.iops_samples.series[..]), 1.0),
        }
    }
}

/// All lines of one pattern's chart.
pub(super) struct Series {
    pub(super) unit: Unit,
    /// Seconds between two points.
    pub(super) step_s: f64,
    /// Number of windows that are averaged into one point; 1: all windows are shown.
    pub(super) thinned: usize,
    /// One line per round of each target.
    pub(super) rounds: Vec<RoundLine>,
    /// The median of the rounds, for each target with more than one round.
    pub(super) medians: Vec<RoundLine>,
    /// Events during the rounds.
    pub(super) marks: Vec<Mark>,
    /// The tables' figure of each target, which is the only one that the chart shows. `None`: the target has none.
    pub(super) figures: Vec<Option<f64>>,
}

/// A line in the series' unit; point i stands for the time from `i * step_s` to `(i + 1) * step_s`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoundLine {
    pub(super) target: usize,
    pub(super) round: u32,
    pub(super) values: Vec<Option<f64>>,
}

impl RoundLine {
    /// Mean of the points.
    pub(super) fn mean(&self) -> f64 {
        mean(&self.values).unwrap_or(0.0)
    }
}

/// An event during a round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) target: usize,
    /// Time since the first counted request, s.
    pub(super) at_s: f64,
    /// Length, s; 0: an instant.
    pub(super) lasted_s: f64,
    pub(super) kind: MarkKind,
}

/// The kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// The control group's CPU limit throttled the run.
    Throttled,
    /// The sync after the last write.
    FinalSync,
}

impl Series {
    /// `None`: no worker kept samples.
    pub(super) fn of(line: &PatternLine<'_>) -> Option<Series> {
        let unit = Unit::of(line);
        let window_ms = line.cells.iter().flat_map(|cell| &cell.repeats).find_map(|repeat| window_ms(repeat, unit))?;
        let mut rounds = Vec::new();
        let mut marks = Vec::new();
        for (target, cell) in line.cells.iter().enumerate() {
            for repeat in cell.counted() {
                let values = sum_of_workers(&repeat.workers, window_ms, unit);
                if values.iter().any(Option::is_some) {
                    marks.extend(marks_of(repeat, target));
                    rounds.push(RoundLine { target, round: repeat.row.round, values });
                }
            }
        }
        let longest = rounds.iter().map(|line| line.values.len()).max()?;
        let of_a_line = (POINTS_MAX / rounds.len()).clamp(*POINTS_OF_A_LINE.start(), *POINTS_OF_A_LINE.end());
        let thinned = longest.div_ceil(of_a_line).max(1);
        for line in &mut rounds {
            line.values = line.values.chunks(thinned).map(mean).collect();
        }
        let medians = medians(&rounds, line.cells.len());
        let (moved, requests) = metrics(line);
        let metric = if unit == Unit::Requests { requests } else { moved };
        let figures = line.cells.iter().map(|cell| cell.value(metric)).collect();
        Some(Series { unit, step_s: window_ms as f64 * thinned as f64 / 1e3, thinned, rounds, medians, marks, figures })
    }

    /// The figure beside a line.
    pub(super) fn figure(&self, line: &RoundLine) -> f64 {
        self.figures.get(line.target).copied().flatten().unwrap_or_else(|| line.mean())
    }

    /// Whether any line has enough points to show a development over time.
    pub(super) fn has_samples_over_time(&self) -> bool {
        self.rounds.iter().any(|line| line.values.iter().flatten().count() >= POINTS_OF_A_COURSE)
    }

    /// The line that represents each target: the median, or the only round.
    pub(super) fn main_lines(&self) -> impl Iterator<Item = &RoundLine> {
        let alone = self.rounds.iter().filter(|line| !self.medians.iter().any(|median| median.target == line.target));
        self.medians.iter().chain(alone)
    }

    /// Largest value of any line.
    pub(super) fn highest(&self) -> f64 {
        self.rounds.iter().flat_map(|line| &line.values).flatten().copied().fold(0.0, f64::max)
    }

    /// End of the last window, s.
    pub(super) fn end_s(&self) -> f64 {
        let points = self.rounds.iter().map(|line| line.values.len()).max().unwrap_or(0);
        points as f64 * self.step_s
    }
}

/// The length of a window, ms: the smallest distance between two samples of the first series.
fn window_ms(repeat: &Repeat<'_>, unit: Unit) -> Option<u64> {
    let series = repeat.workers.iter().flat_map(|worker| unit.samples(worker).0).find(|series| !series.is_empty())?;
    let distances = series.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0));
    // Windows may end a little late; they are meant to be whole tenths of a second.
    let least = distances.filter(|distance| *distance > 0).min().unwrap_or(series[0].0);
    Some(((least + 50) / 100 * 100).max(1).max(if least < 50 { least } else { 1 }))
}

/// The rate by window, summed over workers and directions.
fn sum_of_workers(workers: &[&JobRecord], window_ms: u64, unit: Unit) -> Vec<Option<f64>> {
    let mut windows: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for (series, size) in workers.iter().map(|worker| unit.samples(worker)) {
        for (at_ms, rate) in series.into_iter().flatten() {
            let index = ((at_ms + window_ms / 2) / window_ms).saturating_sub(1);
            let window = windows.entry(index).or_default();
            window.0 += *rate as f64 * size;
            window.1 += 1;
        }
    }
    // Some workers may have ended before the last window: that is no loss of speed.
    let usual = windows.values().map(|(_, count)| *count).max().unwrap_or(0);
    if windows.len() > 1 && windows.values().next_back().is_some_and(|(_, count)| *count < usual) {
        windows.pop_last();
    }
    // A damaged series could contain any time.
    let count = windows.keys().next_back().map_or(0, |last| (last + 1).min(1_000_000));
    let mut values = vec![None; count as usize];
    for (index, (sum, _)) in windows {
        if let Some(place) = values.get_mut(index as usize) {
            *place = Some(sum);
        }
    }
    values
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    fsdyno_stats::mean(&values.iter().flatten().copied().collect::<Vec<f64>>())
}

fn medians(rounds: &[RoundLine], targets: usize) -> Vec<RoundLine> {
    let of_target = |target: usize| {
        let mine: Vec<&RoundLine> = rounds.iter().filter(|line| line.target == target).collect();
        let points = mine.iter().map(|line| line.values.len()).max().filter(|_| mine.len() > 1)?;
        let at = |index: usize| {
            let there: Vec<f64> = mine.iter().filter_map(|line| line.values.get(index).copied().flatten()).collect();
            // Once most rounds have ended, the median would be that of the slow rounds.
            if there.len() * 2 > mine.len() { median(&there) } else { None }
        };
        Some(RoundLine { target, round: 0, values: (0..points).map(at).collect() })
    };
    (0..targets).filter_map(of_target).collect()
}

fn marks_of(repeat: &Repeat<'_>, target: usize) -> Vec<Mark> {
    let mut marks = Vec::new();
    let runtime_ms = repeat
        .merged
        .as_ref()
        .map_or(0, |merged| merged.directions.write.runtime_ms.max(merged.directions.read.runtime_ms));
    let sync_ns = repeat.merged.as_ref().and_then(|merged| merged.final_sync_ns).unwrap_or(0);
    if sync_ns > 0 {
        // The runtime includes the sync.
        let lasted_s = sync_ns as f64 / 1e9;
        let at_s = (runtime_ms as f64 / 1e3 - lasted_s).max(0.0);
        marks.push(Mark { target, at_s, lasted_s, kind: MarkKind::FinalSync });
    }
    let samples = repeat.ledger().map_or(&[][..], |ledger| &ledger.samples[..]);
    let mine: Vec<_> = samples.iter().filter(|sample| sample.stage == repeat.stage()).collect();
    let begin_ms = mine.first().map_or(0, |sample| sample.at_ms);
    let ramp_ms = repeat.workers.first().map_or(0, |worker| worker.plan.ramp_ms);
    for pair in mine.windows(2) {
        let (before, after) = (pair[0].system.throttled_count, pair[1].system.throttled_count);
        if before.zip(after).is_some_and(|(before, after)| after > before) {
            let at_ms = pair[1].at_ms.saturating_sub(begin_ms + ramp_ms);
            marks.push(Mark { target, at_s: at_ms as f64 / 1e3, lasted_s: 0.0, kind: MarkKind::Throttled });
        }
    }
    marks
}

/// Whether throttling by the CPU limit was visible in a cell.
pub(super) fn throttle_visible(cell: &TestRounds<'_>) -> bool {
    let ledgers = cell.repeats.iter().filter_map(|repeat| repeat.ledger());
    ledgers.flat_map(|ledger| &ledger.samples).any(|sample| sample.system.throttled_count.is_some())
}

/// Mean number of requests in the devices' queues, by the kernel's counters: the rate of the weighted time.
pub(super) fn device_depth(repeat: &Repeat<'_>) -> Option<f64> {
    let samples = &repeat.ledger()?.samples;
    let mine: Vec<_> = samples.iter().filter(|sample| sample.stage == repeat.stage()).collect();
    let (first, last) = (mine.first()?, mine.last()?);
    let weighted = |devices: &RecordedFact<Vec<fsdyno_results::evidence::DeviceCounters>>| {
        let devices = devices.value().filter(|devices| !devices.is_empty())?;
        Some(devices.iter().map(|device| device.weighted_ms).sum::<u64>())
    };
    let elapsed_ms = last.at_ms.checked_sub(first.at_ms).filter(|elapsed| *elapsed > 0)?;
    let queued = weighted(&last.devices)?.checked_sub(weighted(&first.devices)?)?;
    Some(queued as f64 / elapsed_ms as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::JobSetup;

    fn worker(series: &[(u64, u64)]) -> JobRecord {
        let mut job = JobRecord::new("a", 1, JobSetup::default());
        series.iter().for_each(|(at_ms, value)| job.directions.read.bandwidth_samples.record(*value, *at_ms));
        job
    }

    #[test]
    fn windows_of_workers_add_up_and_the_last_partial_one_goes() {
        let (first, second) = (worker(&[(500, 1000), (1001, 2000), (1500, 7)]), worker(&[(500, 1), (999, 2)]));
        let sums = sum_of_workers(&[&first, &second], 500, Unit::Bytes);
        assert_eq!(sums, [Some(1001.0 * 1024.0), Some(2002.0 * 1024.0)]);
        let gap = worker(&[(500, 1), (1500, 1)]);
        assert_eq!(sum_of_workers(&[&gap], 500, Unit::Bytes), [Some(1024.0), None, Some(1024.0)]);
        assert!(sum_of_workers(&[], 500, Unit::Bytes).is_empty());
        let mut counted = worker(&[(500, 7)]);
        counted.directions.write.iops_samples.record(300, 500);
        assert_eq!(sum_of_workers(&[&counted], 500, Unit::Requests), [Some(300.0)], "bytes are another matter");
    }

    #[test]
    fn medians_need_most_rounds() {
        let line =
            |round, values: &[f64]| RoundLine { target: 0, round, values: values.iter().copied().map(Some).collect() };
        let found = medians(&[line(0, &[1.0, 5.0]), line(1, &[2.0]), line(2, &[9.0])], 1);
        assert_eq!(found[0].values, [Some(2.0), None]);
        assert!(medians(&[line(0, &[1.0])], 1).is_empty());
    }
}
