//! The knee of a sweep, as far as the noise of its points lets it be told.

use results::quantity::{count_per_s, latency, number};
use results::statistics::{LoadPoint, bootstrap_mean_interval, knee, percentile_interval};
use results::{Interval, JobRecord, LatencyFigures, Row, Study, Trust};

use crate::requests::Requests;

/// More throughput than this is a gain, as a share.
const GAIN: f64 = 0.05;

const CONFIDENCE: f64 = 0.95;

/// Intervals are the same each time.
const SEED: u64 = 1;

/// Fewer points have no knee.
const POINTS_MIN: usize = 3;

/// A depth and what came of it.
struct Point {
    depth: u32,
    iops: f64,
    /// Where the rate would lie if it went on like this; `None`: too short to tell.
    interval: Option<Interval>,
    latency: LatencyFigures,
    p99_interval: Option<Interval>,
    /// The depth was not there.
    not_reached: bool,
}

impl Point {
    /// `None`: the row has no figures that count.
    fn of(row: &Row, depth: u32) -> Option<Point> {
        let failed = row.run.iter().flat_map(|run| &run.jobs).any(|job| job.error.is_some());
        let total = row.figures().filter(|_| !failed && row.trust() < Trust::Invalid)?.total;
        let interval = relative_interval(row).map(|relative| Interval {
            low: total.iops * relative.low,
            high: total.iops * relative.high,
            confidence: relative.confidence,
        });
        let p99_interval = || {
            let job = only_job(row)?;
            let both = job.mixed();
            let histogram = both.lat.histogram.as_ref().or(both.clat.histogram.as_ref())?;
            percentile_interval(histogram, 99.0, CONFIDENCE).ok()
        };
        let usable = total.iops > 0.0;
        Some(Point {
            depth,
            iops: total.iops,
            interval,
            latency: total.latency.filter(|_| usable)?,
            p99_interval: p99_interval(),
            not_reached: row.findings.iter().any(|finding| finding.id == "depth-not-reached"),
        })
    }

    /// One request was in flight.
    fn is_alone(&self) -> bool {
        self.depth == 1 || self.not_reached
    }

    fn low(&self) -> f64 {
        self.interval.map_or(self.iops, |interval| interval.low)
    }

    fn high(&self) -> f64 {
        self.interval.map_or(self.iops, |interval| interval.high)
    }
}

fn only_job(row: &Row) -> Option<&JobRecord> {
    match &row.run.as_ref()?.jobs[..] {
        [job] => Some(job),
        _ => None,
    }
}

/// The interval of the mean rate over that mean, from the rates of its tenths of a second.
fn relative_interval(row: &Row) -> Option<Interval> {
    let job = only_job(row)?;
    let (read, write) = (&job.read.iops_samples.series, &job.write.iops_samples.series);
    let rates: Vec<f64> = match (read.is_empty(), write.is_empty()) {
        (false, true) => read.iter().map(|(_, rate)| *rate as f64).collect(),
        (true, false) => write.iter().map(|(_, rate)| *rate as f64).collect(),
        // Windows of both directions end together.
        _ => read.iter().zip(write).map(|((_, read), (_, write))| (read + write) as f64).collect(),
    };
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let interval = bootstrap_mean_interval(&rates, CONFIDENCE, SEED).filter(|_| mean > 0.0)?;
    Some(Interval { low: interval.low / mean, high: interval.high / mean, ..interval })
}

/// What the points of one kind of request say.
pub(super) fn sentence(study: &Study, requests: &Requests) -> String {
    let group = requests.pattern();
    let rows = study
        .rows
        .iter()
        .filter_map(|row| row.numbered("qd").filter(|(of, _)| *of == group).map(|(_, depth)| (row, depth)));
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for (row, depth) in rows {
        match Point::of(row, depth) {
            Some(point) => points.push(point),
            None => left_out.push(depth.to_string()),
        }
    }
    points.sort_by_key(|point| point.depth);
    let left_out = match &left_out[..] {
        [] => String::new(),
        [only] => format!(" Depth {only} is left out of this: it has no number that counts."),
        several => format!(" Depths {} are left out of this: they have no number that counts.", several.join(", ")),
    };
    let said = if points.iter().any(|point| point.depth > 1) && points.iter().all(Point::is_alone) {
        let engine = "one request at a time was in flight whatever the depth (see depth-not-reached)";
        format!("no knee to be found: {engine}, so that more depth can gain nothing.")
    } else {
        said(&points)
    };
    format!("{}: {said}{left_out}", requests.title())
}

fn said(points: &[Point]) -> String {
    if points.len() < POINTS_MIN {
        let count = points.len();
        return format!("{count} depths with a number that counts are too few for a knee; it takes {POINTS_MIN}.");
    }
    let last = &points[points.len() - 1];
    let (earliest, latest) = (first_that(points, Point::high, Point::low), first_that(points, Point::low, Point::high));
    if earliest < latest {
        return blurred(&points[earliest], &points[latest], last);
    }
    let load = |point: &Point| LoadPoint {
        load: f64::from(point.depth),
        throughput: point.iops,
        latency: point.latency.mean_ns,
    };
    let loads: Vec<LoadPoint> = points.iter().map(load).collect();
    let at = |depth: f64| points.iter().find(|point| f64::from(point.depth) == depth);
    // The last point is where a curve that still rises ends, not where it bends.
    match knee(&loads, GAIN).and_then(|found| at(found.at.load)).filter(|point| point.depth < last.depth) {
        Some(knee) => told(knee, last, points),
        None if earliest + 1 == points.len() => still_rising(points, last),
        None => format!(
            "no knee: neither throughput nor latency grows from depth {} to {}.",
            points[earliest].depth, last.depth
        ),
    }
}

/// The lightest point from which no heavier one gains, if the point is as good as `own` and the others as `theirs`.
fn first_that(points: &[Point], own: fn(&Point) -> f64, theirs: fn(&Point) -> f64) -> usize {
    let gains_nothing = |index: &usize| {
        let later = points[index + 1..].iter().map(theirs).fold(0.0, f64::max);
        later <= own(&points[*index]) * (1.0 + GAIN)
    };
    (0..points.len()).find(gains_nothing).unwrap_or(points.len() - 1)
}

fn told(knee: &Point, last: &Point, points: &[Point]) -> String {
    let best = points.iter().map(|point| point.iops).fold(0.0, f64::max);
    let gained = (best / knee.iops - 1.0) * 100.0;
    let gains = if gained < 0.5 { "no throughput".to_string() } else { format!("{} % of throughput", number(gained)) };
    let p99 = |point: &Point| point.latency.p99_ns.map(|ns| latency(ns as f64));
    let same_tail = match (knee.p99_interval, last.p99_interval) {
        (Some(one), Some(other)) if one.overlaps(&other) => " (which cannot be told apart)",
        _ => "",
    };
    let short = if points.iter().any(|point| point.interval.is_none()) {
        " Some points are too short to show how much their rate varies."
    } else {
        ""
    };
    let tail = match p99(knee).zip(p99(last)) {
        Some((one, other)) => format!(" and p99 goes from {one} to {other}{same_tail}"),
        None => String::new(),
    };
    format!(
        "the knee is at depth {}: {} at a mean of {}. After that only latency grows: up to depth {} more requests in \
         flight gain {gains}, while the mean becomes {} times as long ({}){tail}.{short}",
        knee.depth,
        count_per_s(knee.iops),
        latency(knee.latency.mean_ns),
        last.depth,
        number(last.latency.mean_ns / knee.latency.mean_ns),
        latency(last.latency.mean_ns),
    )
}

fn still_rising(points: &[Point], last: &Point) -> String {
    let before = &points[points.len() - 2];
    format!(
        "no knee up to depth {}: from depth {} to {} throughput still grew by {} %, to {}. Go deeper, with --iodepth {}..{}.",
        last.depth,
        before.depth,
        last.depth,
        number((last.iops / before.iops - 1.0) * 100.0),
        count_per_s(last.iops),
        last.depth,
        last.depth.saturating_mul(8),
    )
}

fn blurred(earliest: &Point, latest: &Point, last: &Point) -> String {
    let widest = [earliest, latest].map(|point| (point.high() / point.iops).max(2.0 - point.low() / point.iops) - 1.0);
    let percent = number(widest.into_iter().fold(0.0, f64::max) * 100.0);
    let end = if latest.depth == last.depth {
        format!("depth {} or beyond", last.depth)
    } else {
        format!("depth {}", latest.depth)
    };
    format!(
        "where the knee is cannot be told: anywhere from depth {} to {end}. The rates in between differ by no more than \
         each varies while it is measured (±{percent} %). Measure longer, with --runtime.",
        earliest.depth,
    )
}

#[cfg(test)]
mod tests {
    use results::{DirectionRecord, Finding, JobSetup, Latency, RunRecord, Severity};

    use super::*;

    /// A closed loop around `servers` of 100 µs each, with rates known to this share.
    fn points(servers: f64, known_to: f64, deepest: u32) -> Vec<Point> {
        let depths = (0..).map(|bit| 1u32 << bit).take_while(|depth| *depth <= deepest);
        depths
            .map(|depth| {
                let iops = f64::from(depth).min(servers) * 10_000.0;
                let mean_ns = f64::from(depth) / iops * 1e9;
                let interval =
                    Interval { low: iops * (1.0 - known_to), high: iops * (1.0 + known_to), confidence: 0.95 };
                let p99_ns = (mean_ns * 2.0) as u64;
                let p99_interval = Interval { low: mean_ns * 1.9, high: mean_ns * 2.1, confidence: 0.95 };
                Point {
                    depth,
                    iops,
                    interval: (known_to > 0.0).then_some(interval),
                    latency: LatencyFigures {
                        count: 10_000,
                        mean_ns,
                        p99_ns: Some(p99_ns),
                        ..LatencyFigures::default()
                    },
                    p99_interval: Some(p99_interval),
                    not_reached: false,
                }
            })
            .collect()
    }

    #[test]
    fn the_depth_after_which_only_latency_grows_is_named() {
        assert_eq!(
            said(&points(8.0, 0.01, 64)),
            "the knee is at depth 8: 80,000 IOPS at a mean of 100 µs. After that only latency grows: up to depth 64 more \
             requests in flight gain no throughput, while the mean becomes 8.00 times as long (800 µs) and p99 goes from \
             200 µs to 1.60 ms."
        );
        assert!(said(&points(1.0, 0.01, 64)).starts_with("the knee is at depth 1:"));
    }

    #[test]
    fn a_sweep_that_still_rises_has_none() {
        let text = said(&points(64.0, 0.01, 64));
        assert!(
            text.starts_with("no knee up to depth 64: from depth 32 to 64 throughput still grew by 100 %"),
            "{text}"
        );
        assert!(text.contains("--iodepth 64..512"), "{text}");
    }

    #[test]
    fn noise_that_hides_the_gains_hides_the_knee() {
        let text = said(&points(8.0, 0.4, 64));
        assert!(text.contains("cannot be told: anywhere from depth 4 to depth 64 or beyond"), "{text}");
        assert!(text.contains("±40.0 %"), "{text}");
        let mut gentle = points(8.0, 0.01, 64);
        // Depth 4 is within 6 % of the rest: a gain of 5 % or less cannot be excluded.
        gentle[2].iops = 75_500.0;
        gentle[2].interval = Some(Interval { low: 74_700.0, high: 76_300.0, confidence: 0.95 });
        let text = said(&gentle);
        assert!(text.contains("anywhere from depth 4 to depth 8."), "{text}");
    }

    #[test]
    fn too_few_or_too_short_points_are_told() {
        assert!(said(&points(8.0, 0.01, 2)).contains("too few"));
        let text = said(&points(8.0, 0.0, 64));
        assert!(text.starts_with("the knee is at depth 8") && text.ends_with("how much their rate varies."), "{text}");
    }

    /// A row of 3 s whose rate is the same in each tenth of a second.
    fn row(depth: u32, servers: u32) -> Row {
        let iops = u64::from(depth.min(servers)) * 10_000;
        let mut lat = Latency::with_histogram();
        (0..1000).for_each(|_| lat.record(u64::from(depth) * 1_000_000_000 / iops));
        let mut read = DirectionRecord {
            ios: 3 * iops,
            bytes: 3 * iops * 4096,
            runtime_ms: 3000,
            lat,
            ..DirectionRecord::default()
        };
        (1..=30).for_each(|window| read.iops_samples.record(iops, window * 100));
        let pattern = format!("randread-4k-qd{depth}");
        let mut run = RunRecord::new("fsdyno", 0);
        run.jobs.push(JobRecord { read, ..JobRecord::new(&pattern, 1, JobSetup::default()) });
        Row { pattern, ..Study::of_run(run).rows.remove(0) }
    }

    fn finding(id: &str, severity: Severity) -> Finding {
        Finding { id: id.into(), severity, job: None, numbers: Vec::new(), cause: String::new(), next: String::new() }
    }

    #[test]
    fn a_study_is_read_from_its_rows() {
        let requests = Requests::parse("randread", "4k").unwrap();
        let mut study = Study::of_run(RunRecord::new("fsdyno", 0));
        study.rows = [64, 1, 2, 4, 8, 16, 32].map(|depth| row(depth, 8)).to_vec();
        let text = sentence(&study, &requests);
        assert!(text.starts_with("4k random read: the knee is at depth 8: 80,000 IOPS at a mean of 100 µs."), "{text}");
        assert!(!text.contains("too short"), "the tenths of a second give intervals: {text}");
        // What answers another question does not count, and neither do other kinds of requests.
        study.rows[0].findings.push(finding("page-cache", Severity::Invalid));
        study.rows.push(Row { pattern: "randread-64k-qd128".into(), ..row(128, 1000) });
        let text = sentence(&study, &requests);
        assert!(
            text.contains("up to depth 32")
                && text.ends_with("Depth 64 is left out of this: it has no number that counts."),
            "{text}"
        );
        for row in &mut study.rows {
            row.findings = vec![finding("depth-not-reached", Severity::Caution)];
        }
        assert!(sentence(&study, &requests).contains("no knee to be found: one request at a time"));
    }

    #[test]
    fn tails_that_overlap_are_not_called_different() {
        let mut points = points(8.0, 0.01, 16);
        let last = points.len() - 1;
        points[last].p99_interval = points[3].p99_interval;
        assert!(said(&points).contains("(which cannot be told apart)"));
    }
}
