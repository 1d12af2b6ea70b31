//! Finds the load beyond which only latency grows.

use super::{Interval, STUDENT_95, median};

/// One step of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// Requests in flight.
    pub load: f64,
    /// Throughput of each round, in any unit per second; all points must have the same rounds.
    pub throughputs: Vec<f64>,
    /// Mean response time, in any unit.
    pub latency: f64,
}

/// The knee of a sweep. Points are given by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knee {
    /// At this point: after it only latency grows.
    At(usize),
    /// At one of these points: the rounds do not separate them.
    Within(usize, usize),
    /// Throughput still rises at the end of the sweep.
    Beyond,
    /// Neither throughput nor latency grows after this point.
    Level(usize),
}

/// The smallest load from which no larger load gains more than `gain` (0.05 is 5 %) in throughput, although latency
/// grows up to the largest load. The points must ascend by load. Each two points are compared round by round, so that
/// effects on a whole round cancel out. The knee is named only if the 95 % intervals of these gains separate it from
/// the others: no later point may gain this share, and some later point must gain it over each point before. `None`
/// below three points or three rounds, if rounds differ in number, or if a number is not finite and above 0.
///
/// In a closed loop, requests in flight = throughput × latency (J. D. C. Little, Operations Research 9, 1961, 383–387):
/// once throughput is bounded, latency is all that more load can add. The bend is where the bound of a saturated
/// system takes over from that of an idle one (E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter
/// 5). Comparing with everything that follows, rather than with the next point as curvature rules do, needs no smoothing
/// and no scale, and a gain that comes in small steps still counts.
pub fn knee(points: &[LoadPoint], gain: f64) -> Option<Knee> {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    if points.len() < 3 || !points.iter().all(|point| usable(&point.load) && usable(&point.latency)) {
        return None;
    }
    let gained = |from: usize| -> Option<Vec<Interval>> {
        points[from + 1..].iter().map(|later| gained(&points[from].throughputs, &later.throughputs)).collect()
    };
    let gains: Vec<Vec<Interval>> = (0..points.len()).map(gained).collect::<Option<_>>()?;
    let first_that = |end: fn(&Interval) -> f64| {
        let gains_nothing = |later: &Vec<Interval>| later.iter().all(|gained| end(gained) <= 1.0 + gain);
        gains.iter().position(gains_nothing)
    };
    let (earliest, latest) = (first_that(|gained| gained.low)?, first_that(|gained| gained.high)?);
    // If most rounds of all deeper points are at one rate, the few rounds that were delayed do not matter.
    let reached = plateau_begins(points).filter(|at| (earliest..latest).contains(at));
    Some(match (earliest, reached.unwrap_or(latest)) {
        (earliest, latest) if earliest < latest && reached.is_none() => Knee::Within(earliest, latest),
        // A curve that still rises ends at the last point; it has no knee there.
        (_, at) if at + 1 == points.len() => Knee::Beyond,
        (_, at) if points[points.len() - 1].latency > points[at].latency => Knee::At(at),
        (_, at) => Knee::Level(at),
    })
}

/// Rates that differ by less than this share count as equal.
const AS_ONE: f64 = 0.02;

/// Smallest share of a plateau's rounds that must be at its rate.
const AT_THE_RATE: f64 = 0.75;

/// The smallest load from which on every median is the highest one and nearly all rounds are at this rate: then a
/// limit holds them, and other rounds were delayed by something else. `None`: the rounds show no such rate.
fn plateau_begins(points: &[LoadPoint]) -> Option<usize> {
    let medians: Vec<f64> = points.iter().map(|point| median(&point.throughputs)).collect::<Option<_>>()?;
    let level = medians.iter().copied().fold(0.0, f64::max);
    let is_level = |rate: &f64| (rate / level - 1.0).abs() <= AS_ONE;
    let lower = medians.iter().rposition(|median| !is_level(median)).map_or(0, |below| below + 1);
    let rounds: Vec<f64> = points[lower..].iter().flat_map(|point| point.throughputs.iter().copied()).collect();
    let at_level = rounds.iter().filter(|rate| is_level(rate)).count() as f64;
    // With only one point it is not known whether more load would gain anything.
    (lower + 1 < points.len() && at_level >= AT_THE_RATE * rounds.len() as f64).then_some(lower)
}

/// The ratio of another point's throughput to one point's, over their rounds.
fn gained(one: &[f64], other: &[f64]) -> Option<Interval> {
    let quotients: Vec<f64> = one.iter().zip(other).map(|(one, other)| other / one).collect();
    STUDENT_95.of_runs(&quotients).filter(|_| one.len() == other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight rounds that differ from their middle by this share in both directions, in another order for each point.
    fn point(load: f64, throughput: f64, scatter: f64) -> LoadPoint {
        let phase = load.log2() as usize;
        let side = |round: usize| if (round >> (phase % 3)).is_multiple_of(2) { 1.0 + scatter } else { 1.0 - scatter };
        let throughputs = (0..8).map(|round| throughput * side(round)).collect();
        LoadPoint { load, throughputs, latency: load / throughput }
    }

    /// A closed loop with `servers` of 100 µs each, without queueing noise: the asymptotic bounds.
    fn sweep(servers: f64, scatter: f64) -> Vec<LoadPoint> {
        [1.0f64, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|load| point(load, load.min(servers) * 1e4, scatter)).to_vec()
    }

    #[test]
    fn the_bend_of_the_asymptotes_is_found() {
        assert_eq!(knee(&sweep(8.0, 0.01), 0.05), Some(Knee::At(3)));
        assert_eq!(knee(&sweep(1.0, 0.01), 0.05), Some(Knee::At(0)));
    }

    #[test]
    fn a_curve_that_still_rises_has_no_knee() {
        assert_eq!(knee(&sweep(64.0, 0.01), 0.05), Some(Knee::Beyond));
        assert_eq!(knee(&sweep(1000.0, 0.01), 0.05), Some(Knee::Beyond));
    }

    #[test]
    fn rounds_that_differ_hide_the_knee_unless_they_differ_as_a_whole() {
        assert_eq!(knee(&sweep(8.0, 0.2), 0.05), Some(Knee::Within(3, 6)));
        let mut slower = sweep(8.0, 0.01);
        slower.iter_mut().for_each(|point| point.throughputs[4..].iter_mut().for_each(|rate| *rate *= 0.5));
        assert_eq!(knee(&slower, 0.05), Some(Knee::At(3)));
        // Depth 4 is 5 % below the others, and it cannot be excluded that these gain more.
        let mut gentle = sweep(8.0, 0.02);
        gentle[2] = point(4.0, 76_200.0, 0.02);
        assert_eq!(knee(&gentle, 0.05), Some(Knee::Within(2, 3)));
    }

    #[test]
    fn rounds_that_were_held_up_hide_no_plateau() {
        let mut limited = sweep(1.0, 0.002);
        // Nine of 56 rounds are delayed, two at some depths.
        for (index, point) in limited.iter_mut().enumerate() {
            point.throughputs[index] *= 0.6;
            if index % 3 == 0 {
                point.throughputs[(index + 3) % 8] *= 0.7;
            }
        }
        assert_eq!(knee(&limited, 0.05), Some(Knee::At(0)));
        let mut rising = sweep(8.0, 0.002);
        rising.iter_mut().skip(3).for_each(|point| point.throughputs[2] *= 0.5);
        assert_eq!(knee(&rising, 0.05), Some(Knee::At(3)));
        // Rounds that scatter are at no common rate.
        assert_eq!(knee(&sweep(8.0, 0.2), 0.05), Some(Knee::Within(3, 6)));
    }

    #[test]
    fn small_gains_add_up_and_a_falling_tail_does_not_matter() {
        let throughputs = [50.0, 80.0, 84.0, 88.0, 92.0, 60.0];
        let points: Vec<LoadPoint> =
            (0..).zip(&throughputs).map(|(step, throughput)| point(f64::from(1 << step), *throughput, 0.0)).collect();
        assert_eq!(knee(&points, 0.05), Some(Knee::At(3)));
        assert_eq!(knee(&points, 0.20), Some(Knee::At(1)));
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(knee(&sweep(8.0, 0.01)[..2], 0.05), None);
        let mut broken = sweep(8.0, 0.01);
        broken[3].throughputs[0] = 0.0;
        assert_eq!(knee(&broken, 0.05), None);
        let mut short = sweep(8.0, 0.01);
        short[3].throughputs.pop();
        assert_eq!(knee(&short, 0.05), None);
        short.iter_mut().for_each(|point| point.throughputs.truncate(2));
        assert_eq!(knee(&short, 0.05), None);
        // A sweep with a limited rate whose latency stays the same.
        let level = [1.0, 2.0, 4.0].map(|load| LoadPoint { latency: 1.0, ..point(load, 10.0, 0.01) });
        assert_eq!(knee(&level, 0.05), Some(Knee::Level(0)));
    }
}
