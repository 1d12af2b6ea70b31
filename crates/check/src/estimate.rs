//! Estimates one figure from the runs of a test: its value and confidence interval. Runs of the same test count as one
//! larger test: histograms are merged, percentiles never averaged. The interval is the wider of those of the variation
//! within and between runs.

use std::collections::BTreeMap;

use fsdyno_results::{Bound, DirectionRecord, JobRecord, Judge, Latency, PhaseRecord, Row, Verdict};
use fsdyno_stats::{Interval, NoPercentileInterval, bootstrap_mean_interval, mean, median, percentile_interval};
use fsdyno_text::quantity::count as of_count;

use crate::metric::{IoDirection, JoblessPhase, Metric, PhaseFigure, Span, Statistic};

mod runs;
mod series;

pub(crate) use fsdyno_stats::RUNS_MIN;
pub(crate) use runs::Runs;

/// The confidence of all intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Fixed seed: the same runs give the same interval.
const SEED: u64 = 42;

/// Standard deviations on each side of a mean that contain 95 %.
const NORMAL_95: f64 = 1.96;

/// Least time of a test that shows whether its rate lasts, s.
const LONG_S: f64 = 180.0;

/// The estimate of a value, in base units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) spread: Spread,
    /// The data behind it: `10,029 values`, `120 windows`.
    pub(crate) basis: String,
    /// Rates at the beginning and the end of a long test.
    pub(crate) rates_of_thirds: Option<RatesOfThirds>,
    /// The variation within the runs.
    within: Spread,
    /// The figures of the single runs.
    pub(crate) runs: Runs,
    /// For a percentile: the number of values, if it is too small for tables to show it.
    pub(crate) scarce: Option<u64>,
}

impl Estimate {
    /// The estimate from all runs as one, without the variation between them.
    fn of_one(value: f64, within: Spread, basis: String) -> Estimate {
        Estimate {
            value,
            spread: within.clone(),
            basis,
            rates_of_thirds: None,
            within,
            runs: Runs::default(),
            scarce: None,
        }
    }

    /// PASS, FAIL or INCONCLUSIVE against a limit, in the base unit.
    pub(crate) fn judge(&self, bound: Bound, limit: f64) -> Verdict {
        match &self.within {
            Spread::Known(within) => self.runs.judge(*within, bound, limit),
            // A single run has no known variation: only several runs can show it.
            Spread::Unknown(_) if self.runs.count() >= RUNS_MIN => {
                let point = Interval { low: self.value, high: self.value, confidence: CONFIDENCE };
                self.runs.judge(point, bound, limit)
            }
            Spread::Unknown(_) => Verdict::Inconclusive,
            Spread::Percentile(none) => none.judge(bound, limit * self.runs.distance()),
        }
    }

    /// The same for an interval that was made from a part of a run.
    pub(crate) fn judge_part(&self, part: Interval, bound: Bound, limit: f64) -> Verdict {
        self.runs.judge(part, bound, limit)
    }
}

/// The confidence interval of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spread {
    Known(Interval),
    /// Why there is no interval.
    Unknown(String),
    Percentile(NoPercentileInterval),
}

/// Mean rates of the first and the last third of a long test, 1/s or B/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RatesOfThirds {
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) last_interval: Option<Interval>,
}

/// The estimate from all runs of a test; the error says why there is none.
pub(crate) fn estimate(rows: &[&Row], metric: Metric) -> Result<Estimate, String> {
    let mut found = of_all(rows, metric)?;
    let mut rounds: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| rounds.entry(row.round).or_default().push(row));
    let own = rounds.values().filter_map(|rows| of_all(rows, metric).ok()).map(|found| found.value);
    found.runs = Runs::new(own.collect(), metric.is_percentile());
    let within = match &found.within {
        Spread::Known(interval) => Some(*interval),
        _ => None,
    };
    // As in the tables: the median of the rounds. Latencies are those of all requests together.
    if !matches!(metric, Metric::Latency(..) | Metric::Sync(_) | Metric::Phase(_, PhaseFigure::Latency(_))) {
        found.value = found.runs.median().unwrap_or(found.value);
    }
    // A percentile of too few values stays unknown, whatever the number of runs.
    if let (Some(interval), false) = (found.runs.judged_interval(within), matches!(found.within, Spread::Percentile(_)))
    {
        let (low, high) = (interval.low.min(found.value), interval.high.max(found.value));
        found.spread = Spread::Known(Interval { low, high, ..interval });
    }
    Ok(found)
}

/// The estimate from all runs as one.
fn of_all(rows: &[&Row], metric: Metric) -> Result<Estimate, String> {
    match metric {
        Metric::Iops(io_direction) => rate(rows, io_direction, false),
        Metric::Bandwidth(io_direction) => rate(rows, io_direction, true),
        Metric::Latency(io_direction, span, statistic) => {
            let seconds = if alone(rows, io_direction) { series::mean_latencies(rows) } else { Vec::new() };
            of_latency(&latency_of(rows, io_direction, span), statistic, &seconds)
        }
        Metric::Sync(statistic) => {
            // Each write waits for its sync, so the rate of writes gives the time of both.
            let rates = rows.iter().flat_map(|row| series::of_run(row, IoDirection::Write, false));
            let times: Vec<f64> = rates.filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate).collect();
            of_latency(&merged(jobs(rows).map(|job| job.sync.lat.clone())), statistic, &times)
        }
        Metric::Phase(phase, figure) => {
            let phases = phases(rows, phase)?;
            match figure {
                PhaseFigure::Elapsed => Ok(phase_elapsed(&phases)),
                PhaseFigure::Rate => Ok(phase_rate(&phases)),
                PhaseFigure::Latency(statistic) => {
                    of_latency(&merged(phases.iter().map(|phase| phase.latency.clone())), statistic, &[])
                }
            }
        }
    }
}

/// Measured time of a run, s.
pub(crate) fn measured_s(row: &Row) -> f64 {
    row.elapsed_s().unwrap_or(0.0)
}

fn jobs<'a>(rows: &'a [&'a Row]) -> impl Iterator<Item = &'a JobRecord> {
    rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs)
}

fn merged(latencies: impl Iterator<Item = Latency>) -> Latency {
    let mut all = Latency::default();
    latencies.for_each(|latency| all.merge(&latency));
    all
}

/// The directions of a job that these I/Os belong to.
fn directions(job: &JobRecord, io_direction: IoDirection) -> Vec<&DirectionRecord> {
    match io_direction {
        IoDirection::Read => vec![&job.directions.read],
        IoDirection::Write => vec![&job.directions.write],
        IoDirection::Total => vec![&job.directions.read, &job.directions.write],
    }
}

/// The rate of one run; its workers ran at the same time.
fn rate_of_run(row: &Row, io_direction: IoDirection, bytes: bool) -> Option<(f64, f64)> {
    let jobs = &row.run.as_ref()?.jobs;
    let records: Vec<&DirectionRecord> = jobs.iter().flat_map(|job| directions(job, io_direction)).collect();
    let amount: u64 = records.iter().map(|record| if bytes { record.bytes } else { record.ios }).sum();
    let runtime_ms = records.iter().map(|record| record.runtime_ms).max()?;
    (runtime_ms > 0 && amount > 0).then_some((amount as f64, runtime_ms as f64 / 1e3))
}

fn rate(rows: &[&Row], io_direction: IoDirection, bytes: bool) -> Result<Estimate, String> {
    let runs: Vec<(f64, f64)> = rows.iter().filter_map(|row| rate_of_run(row, io_direction, bytes)).collect();
    let (amount, seconds) = runs.iter().fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    if amount == 0.0 {
        return Err("nothing was transferred in that direction".to_string());
    }
    let value = amount / seconds;
    let windows: Vec<f64> = rows.iter().flat_map(|row| series::of_run(row, io_direction, bytes)).collect();
    let (spread, basis) = match interval_about(value, &windows) {
        Some(interval) => (Spread::Known(interval), format!("{} windows", windows.len())),
        None => {
            let basis = format!("{} {}", runs.len(), if runs.len() == 1 { "run" } else { "runs" });
            (Spread::Unknown(format!("a rate without windows has an interval from {RUNS_MIN} runs on")), basis)
        }
    };
    Ok(Estimate {
        rates_of_thirds: rates_of_thirds(rows, io_direction, bytes, value),
        ..Estimate::of_one(value, spread, basis)
    })
}

/// The bootstrap interval of a series, scaled to its value.
fn interval_about(value: f64, series: &[f64]) -> Option<Interval> {
    let interval = bootstrap_mean_interval(series, CONFIDENCE, SEED)?;
    // The last partial window is in the value but not in the series.
    let scale = value / mean(series).filter(|mean| *mean > 0.0)?;
    Some(Interval { low: interval.low * scale, high: interval.high * scale, confidence: interval.confidence })
}

/// Rates of the first and last third of a test that measured long enough without a break.
fn rates_of_thirds(rows: &[&Row], io_direction: IoDirection, bytes: bool, value: f64) -> Option<RatesOfThirds> {
    let row = rows.first().filter(|row| measured_s(row) >= LONG_S)?;
    let windows = series::of_run(row, io_direction, bytes);
    let third = windows.len() / 3;
    let scale = value / mean(&windows)?;
    let last = &windows[windows.len() - third..];
    Some(RatesOfThirds {
        first: mean(&windows[..third])? * scale,
        last: mean(last)? * scale,
        last_interval: interval_about(mean(last)? * scale, last),
    })
}

/// Whether the runs did I/O of this direction only.
fn alone(rows: &[&Row], io_direction: IoDirection) -> bool {
    let others = match io_direction {
        IoDirection::Read => IoDirection::Write,
        IoDirection::Write => IoDirection::Read,
        IoDirection::Total => return true,
    };
    jobs(rows).flat_map(|job| directions(job, others)).all(|record| record.ios == 0)
}

fn latency_of(rows: &[&Row], io_direction: IoDirection, span: Span) -> Latency {
    if span == Span::FirstByte {
        return first_byte_of(rows);
    }
    let pick = |record: &DirectionRecord| match span {
        Span::Completion => record.clat.clone(),
        Span::Whole | Span::FirstByte => record.lat.clone(),
        Span::Response => record.response.clone().unwrap_or_default(),
    };
    let latency = merged(jobs(rows).flat_map(|job| directions(job, io_direction)).map(pick));
    if latency.moments.count > 0 || span != Span::Completion {
        return latency;
    }
    // With gtod_reduce some I/Os were timed, at regular intervals.
    let sampled = jobs(rows).filter_map(|job| job.sampled_latency.as_deref()).flat_map(|of| match io_direction {
        IoDirection::Read => vec![of.read.clone()],
        IoDirection::Write => vec![of.write.clone()],
        IoDirection::Total => vec![of.read.clone(), of.write.clone()],
    });
    merged(sampled)
}

/// Times to the first byte of an answer: of all requests of a job, which has one direction. Their mean is not kept.
fn first_byte_of(rows: &[&Row]) -> Latency {
    let mut all = Latency::with_histogram();
    if let Some(histogram) = &mut all.histogram {
        jobs(rows).filter_map(|job| job.object.as_deref()).for_each(|object| histogram.merge(&object.first_byte));
        all.moments.count = histogram.count();
    }
    all
}

/// The estimate of a latency. `series`: a series that varies as the latency does, in any unit.
fn of_latency(latency: &Latency, statistic: Statistic, series: &[f64]) -> Result<Estimate, String> {
    let count = latency.moments.count;
    let mean_ns = latency.moments.mean().ok_or("no latency was measured")?;
    let basis = format!("{} values", of_count(count));
    let (value, spread) = match statistic {
        Statistic::Mean => (mean_ns, mean_spread(latency, mean_ns, series)),
        Statistic::Percentile(percent) => {
            let histogram = latency.histogram.as_ref().ok_or("no histogram of this latency was kept")?;
            let value = histogram.percentile(percent).ok_or("no latency was measured")? as f64;
            match percentile_interval(histogram, percent, CONFIDENCE) {
                Ok(interval) => (value, Spread::Known(interval)),
                Err(none) => (value, Spread::Percentile(none)),
            }
        }
    };
    let is_scarce = matches!(statistic, Statistic::Percentile(percent) if !latency.shows(percent));
    Ok(Estimate { scarce: is_scarce.then_some(count), ..Estimate::of_one(value, spread, basis) })
}

/// The interval of a mean: for independent values, or from the series where that varies more.
fn mean_spread(latency: &Latency, mean_ns: f64, series: &[f64]) -> Spread {
    let count = latency.moments.count;
    let Some(deviation) = latency.moments.deviation().filter(|_| count > 1) else {
        return Spread::Unknown("one value gives no interval".to_string());
    };
    let half = NORMAL_95 * deviation / (count as f64).sqrt();
    let plain = Interval { low: (mean_ns - half).max(0.0), high: mean_ns + half, confidence: CONFIDENCE };
    Spread::Known(match interval_about(mean_ns, series) {
        Some(found) => Interval { low: found.low.min(plain.low), high: found.high.max(plain.high), ..plain },
        None => plain,
    })
}

/// The records of a phase that did all of its operations.
fn phases<'a>(rows: &[&'a Row], phase: JoblessPhase) -> Result<Vec<&'a PhaseRecord>, String> {
    let of_name = |record: &&PhaseRecord| record.name == phase.name();
    let found: Vec<&PhaseRecord> = rows.iter().filter_map(|row| row.phase.as_ref()).filter(of_name).collect();
    if let Some(failed) = found.iter().find(|record| record.failures > 0) {
        return Err(format!("{} of its operations failed", failed.failures));
    }
    if found.is_empty() || found.iter().any(|record| record.operations == 0) {
        return Err("the phase did not run to its end".to_string());
    }
    Ok(found)
}

/// The wall time of a phase, the median of its passes. It is the sum of its operations' times, so its variation follows
/// from theirs.
fn phase_elapsed(phases: &[&PhaseRecord]) -> Estimate {
    let runs = phases.len() as f64;
    let times: Vec<f64> = phases.iter().map(|phase| phase.elapsed_ns as f64).collect();
    let value = median(&times).unwrap_or(0.0);
    let all = merged(phases.iter().map(|phase| phase.latency.clone()));
    let threads = phases.iter().map(|phase| f64::from(phase.threads.max(1))).fold(1.0, f64::max);
    let spread = match all.moments.deviation().filter(|_| all.moments.count > 1) {
        Some(deviation) => {
            let half = NORMAL_95 * deviation * (all.moments.count as f64).sqrt() / runs / threads;
            Spread::Known(Interval { low: (value - half).max(0.0), high: value + half, confidence: CONFIDENCE })
        }
        None => Spread::Unknown("too few operations give no interval".to_string()),
    };
    let medians = if phases.len() > 1 { format!(", the median of {} runs", phases.len()) } else { String::new() };
    let basis = format!("{} operations{medians}", of_count(all.moments.count));
    Estimate::of_one(value, spread, basis)
}

/// Operations per second: a fixed number of operations in a varying time.
fn phase_rate(phases: &[&PhaseRecord]) -> Estimate {
    let elapsed = phase_elapsed(phases);
    let operations = phases.iter().map(|phase| phase.operations as f64).sum::<f64>() / phases.len() as f64;
    let per_s = |elapsed_ns: f64| operations * 1e9 / elapsed_ns;
    let within = match elapsed.within {
        Spread::Known(Interval { low, high, confidence }) if low > 0.0 => {
            Spread::Known(Interval { low: per_s(high), high: per_s(low), confidence })
        }
        Spread::Known(_) => Spread::Unknown("the times scatter too much".to_string()),
        unknown => unknown,
    };
    Estimate::of_one(per_s(elapsed.value), within, elapsed.basis)
}

#[cfg(test)]
pub(crate) mod tests;
