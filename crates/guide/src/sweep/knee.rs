//! Finds the knee of a sweep, if its points are not too noisy to show it.

use fsdyno_results::{Row, Study, SweepPoint};
use fsdyno_stats::sort;
use fsdyno_stats::{Knee, LoadPoint, RUNS_MIN, knee};
use fsdyno_text::quantity::{by_mean, count_per_s, counted, latency, number};

use crate::requests::{Requests, at_once};

/// A rise of the throughput above this share is a gain.
const GAIN: f64 = 0.1;

/// Least number of points that can have a knee.
const POINTS_MIN: usize = 3;

/// From this share of the most IOPS on a point has reached them.
const SAME: f64 = 0.995;

/// The depth of a point, and its figures.
#[derive(Clone)]
struct Point {
    depth: u32,
    found: SweepPoint,
    mean_ns: f64,
    /// Whether fewer requests than the depth were in flight.
    not_reached: bool,
    /// Whether its requests are for objects, each over a connection of its own.
    of_objects: bool,
}

impl Point {
    /// `None`: no run has figures that count.
    fn of(depth: u32, rows: &[&Row], of_objects: bool) -> Option<Point> {
        let found = SweepPoint::of(rows)?;
        let not_reached = |row: &&Row| row.findings.iter().any(|finding| finding.id == "depth-not-reached");
        let not_reached = rows.iter().all(not_reached);
        Some(Point { depth, mean_ns: found.latency?.mean_ns, not_reached, of_objects, found })
    }

    /// The mean latency in words, with the median where the two differ much.
    fn mean(&self) -> String {
        by_mean(self.mean_ns, self.found.latency.map(|found| found.p50_ns as f64))
    }

    /// Its requests in flight: `depth 8`, `8 connections`.
    fn at(&self) -> String {
        at_once(self.of_objects, self.depth)
    }

    /// Whether one request was in flight.
    fn is_alone(&self) -> bool {
        self.depth == 1 || self.not_reached
    }
}

/// A sentence on the points of one kind of request.
pub(super) fn sentence(study: &Study, requests: &Requests) -> String {
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for (depth, rows) in study.depths(&requests.pattern()) {
        match Point::of(depth, &rows, requests.of_objects) {
            Some(point) => points.push(point),
            None => left_out.push(requests.at_once(depth)),
        }
    }
    let varied = varied(requests.of_objects);
    let description = if points.is_empty() {
        left_out.clear();
        untold(varied, &format!("no {varied} has a valid number"))
    } else if points.iter().any(|point| point.depth > 1) && points.iter().all(Point::is_alone) {
        let engine = format!("one request was in flight at every {varied} (fsdyno explain depth-not-reached)");
        format!("use {}: {engine}, so more has no effect.", requests.at_once(1))
    } else {
        description(&points)
    };
    let left_out = match &left_out[..] {
        [] => String::new(),
        points => format!(" Left out, without a valid number: {}.", points.join(", ")),
    };
    format!("{}: {description}{left_out}", requests.title())
}

/// What differs between the points of a sweep.
fn varied(of_objects: bool) -> &'static str {
    if of_objects { "number of connections" } else { "depth" }
}

/// No point is the best one, and why.
fn untold(varied: &str, why: &str) -> String {
    format!("the best {varied} cannot be told: {why}.")
}

/// First which depth to use, in a sentence; then what that rests on. There is at least one point.
fn description(points: &[Point]) -> String {
    let last = &points[points.len() - 1];
    let varied = varied(last.of_objects);
    if points.len() < POINTS_MIN {
        let found = points.len();
        return untold(
            varied,
            &format!("{POINTS_MIN} points with a valid number are needed, and this sweep has {found}"),
        );
    }
    let loads = loads(points);
    match knee(&loads, GAIN) {
        Some(Knee::At(at)) => knee_described(&points[at], last, points),
        Some(Knee::Within(earliest, latest)) => blurred(&points[earliest], &points[latest], points),
        Some(Knee::Beyond) => still_rising(points, last),
        Some(Knee::Level(from)) => format!(
            "use {}: no {} gains more than {} % of throughput, and {} has no longer latency.",
            points[from].at(),
            if last.of_objects { "larger number" } else { "deeper one" },
            GAIN * 100.0,
            last.at()
        ),
        None => {
            let rounds = counted(loads[0].throughputs.len() as u64, "round");
            let why =
                format!("{rounds} with a valid number at every {varied} cannot show the noise; {RUNS_MIN} are needed");
            untold(varied, &why)
        }
    }
}

fn loads(points: &[Point]) -> Vec<LoadPoint> {
    loads_of(&points.iter().map(|point| (point.depth, &point.found)).collect::<Vec<_>>())
}

/// The points with their loads, in the rounds that all points have.
pub(crate) fn loads_of(points: &[(u32, &SweepPoint)]) -> Vec<LoadPoint> {
    let has = |found: &SweepPoint, round: u32| found.runs.iter().any(|(of, _)| *of == round);
    let in_all = |round: u32| points.iter().all(|(_, found)| has(found, round));
    let load = |(load, found): &(u32, &SweepPoint)| {
        let mut runs: Vec<(u32, f64)> = found.runs.iter().copied().filter(|(round, _)| in_all(*round)).collect();
        sort::by_key(&mut runs, |(round, _)| *round);
        let throughputs = runs.into_iter().map(|(_, iops)| iops).collect();
        let latency = found.latency.map_or(0.0, |latency| latency.mean_ns);
        LoadPoint { load: f64::from(*load), throughputs, latency }
    };
    points.iter().map(load).collect()
}

fn knee_described(knee: &Point, last: &Point, points: &[Point]) -> String {
    let deeper = points.iter().filter(|point| point.depth > knee.depth);
    let best = deeper.map(|point| point.found.iops).fold(0.0, f64::max);
    let gained = (best / knee.found.iops - 1.0) * 100.0;
    let gains = if gained < 0.5 { "no throughput".to_string() } else { format!("{} % of throughput", number(gained)) };
    let p99 = |point: &Point| point.found.latency?.p99_ns.map(|ns| latency(ns as f64));
    let same_tail = match (knee.found.p99_interval, last.found.p99_interval) {
        (Some(one), Some(other)) if one.overlaps(&other) => " (no clear difference)",
        _ => "",
    };
    let tail = match p99(knee).zip(p99(last)) {
        Some((one, other)) => format!(", and p99 changes from {one} to {other}{same_tail}"),
        None => String::new(),
    };
    format!(
        "{} The knee is there: {} at a mean latency of {}. Beyond it more requests in flight gain {gains}, while at \
         {} the mean is {} times as long, {}{tail}.",
        advice(knee, points),
        count_per_s(knee.found.iops),
        knee.mean(),
        last.at(),
        number(last.mean_ns / knee.mean_ns),
        last.mean(),
    )
}

/// `use depth 8: 92 % of the most IOPS at 31 % of the latency of depth 64.`
fn advice(knee: &Point, points: &[Point]) -> String {
    let most = |one: &&Point, other: &&Point| one.found.iops.total_cmp(&other.found.iops);
    let best = points.iter().max_by(most).unwrap_or(knee);
    let share = knee.found.iops / best.found.iops;
    if share > SAME {
        let (at, rate) = (knee.at(), number(knee.found.iops));
        let most = if share >= 1.0 { "has the most IOPS" } else { "is within 0.5 % of the most IOPS" };
        let more = if knee.of_objects { "more connections only add" } else { "more depth only adds" };
        return format!("use {at}: it {most} ({rate}), and {more} latency.");
    }
    format!(
        "use {}: {:.0} % of the most IOPS ({}) at {:.0} % of the latency of {}.",
        knee.at(),
        share * 100.0,
        number(best.found.iops),
        knee.mean_ns / best.mean_ns * 100.0,
        best.at()
    )
}

fn still_rising(points: &[Point], last: &Point) -> String {
    let before = &points[points.len() - 2];
    let grown = (last.found.iops / before.found.iops - 1.0) * 100.0;
    let grew = if grown < 0.5 { String::new() } else { format!(" by {} %", number(grown)) };
    format!(
        "use {deepest} or more: throughput still grew{grew} from {}, to {}. There is no knee up to {deepest}: go \
         {further} {}..{}.",
        before.at(),
        count_per_s(last.found.iops),
        last.depth,
        last.depth.saturating_mul(8),
        deepest = last.at(),
        further = if last.of_objects { "on, with --connections" } else { "deeper, with --iodepth" }
    )
}

/// Says whether the rounds show no difference between these points.
fn blurred(earliest: &Point, latest: &Point, points: &[Point]) -> String {
    let widest = points.iter().filter_map(|point| {
        let interval = point.found.interval?;
        Some((interval.high / point.found.iops - 1.0).max(1.0 - interval.low / point.found.iops))
    });
    let percent = number(widest.fold(0.0, f64::max) * 100.0);
    let wide = |point: &Point| point.found.interval.is_some_and(|interval| interval.is_wider_than(point.found.iops));
    let varied = varied(latest.of_objects);
    let why = if points.iter().any(wide) {
        format!("because the figures have not settled (runs of one {varied} differ by more than their mean)")
    } else {
        format!("because runs vary too much (±{percent} %)")
    };
    let runs = points.iter().map(|point| point.found.runs.len()).min().unwrap_or(0);
    let end = match points.last() {
        Some(last) if last.depth == latest.depth => format!("{} or beyond", last.at()),
        _ => latest.at(),
    };
    let first = untold(varied, &format!("anywhere from {} to {end}, {why}", earliest.at()));
    let gain = GAIN * 100.0;
    format!("{first} The {runs} runs per {varied} do not show gains of {gain} %: measure longer, with --runtime.")
}

#[cfg(test)]
mod tests;
