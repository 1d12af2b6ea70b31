//! The load beyond which only latency grows.

use serde::{Deserialize, Serialize};

/// One step of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPoint {
    /// Requests kept in flight.
    pub load: f64,
    /// What came of it, in any unit per second.
    pub throughput: f64,
    /// Response time, in any unit: median or p99.
    pub latency: f64,
}

/// Where a sweep bends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The point after which no load gains the throughput asked for.
    pub at: LoadPoint,
    /// The highest throughput of the sweep.
    pub throughput_max: f64,
    /// Latency at the highest load over latency at the knee: above 1.
    pub latency_growth: f64,
}

/// The lightest load from which no heavier one gains more than `gain` (0.05 is 5 %) in throughput, although latency
/// grows up to the heaviest. `None` when throughput still rises to the end of the sweep, when latency does not grow,
/// below three points, or when a number is not finite and above 0.
///
/// In a closed loop, requests in flight = throughput × latency (J. D. C. Little, Operations Research 9, 1961, 383–387):
/// once throughput is bounded, latency is all that more load can add. The bend is where the bound of a saturated
/// system takes over from that of an idle one (E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter
/// 5). Comparing with everything that follows, rather than with the next point as curvature rules do, needs no smoothing
/// and no scale, and a gain that comes in small steps still counts.
pub fn knee(points: &[LoadPoint], gain: f64) -> Option<Knee> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    let are_usable = points.iter().all(|point| [point.load, point.throughput, point.latency].into_iter().all(usable));
    if points.len() < 3 || !are_usable {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.load.total_cmp(&other.load));
    let best_of = |points: &[LoadPoint]| points.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let index = (0..points.len()).find(|index| {
        let later = best_of(&points[index + 1..]);
        later <= points[*index].throughput * (1.0 + gain)
    })?;
    let (at, last) = (points[index], points[points.len() - 1]);
    let latency_growth = last.latency / at.latency;
    (latency_growth > 1.0).then(|| Knee { at, throughput_max: best_of(&points), latency_growth })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed loop around `servers` of `service_s` each, without queueing noise: the asymptotic bounds.
    fn sweep(servers: f64, service_s: f64) -> Vec<LoadPoint> {
        let point = |load: f64| {
            let throughput = load.min(servers) / service_s;
            LoadPoint { load, throughput, latency: load / throughput }
        };
        [64.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(point).to_vec()
    }

    #[test]
    fn the_bend_of_the_asymptotes_is_found() {
        let found = knee(&sweep(8.0, 1e-4), 0.05).unwrap();
        assert_eq!((found.at.load, found.throughput_max.round()), (8.0, 80_000.0));
        assert!((found.latency_growth - 8.0).abs() < 1e-9);
        assert_eq!(knee(&sweep(1.0, 1e-4), 0.05).unwrap().at.load, 1.0);
    }

    #[test]
    fn a_curve_that_still_rises_has_no_knee() {
        assert_eq!(knee(&sweep(64.0, 1e-4), 0.05), None);
        assert_eq!(knee(&sweep(1000.0, 1e-4), 0.05), None);
    }

    #[test]
    fn small_gains_add_up_and_a_falling_tail_does_not_matter() {
        let throughputs = [50.0, 80.0, 84.0, 88.0, 92.0, 60.0];
        let point = |(step, throughput): (u32, &f64)| LoadPoint {
            load: f64::from(1 << step),
            throughput: *throughput,
            latency: f64::from(1 << step) / throughput,
        };
        let points: Vec<LoadPoint> = (0..).zip(&throughputs).map(point).collect();
        assert_eq!(knee(&points, 0.05).unwrap().at.load, 8.0);
        assert_eq!(knee(&points, 0.20).unwrap().at.load, 2.0);
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(knee(&sweep(8.0, 1e-4)[..2], 0.05), None);
        let mut broken = sweep(8.0, 1e-4);
        broken[3].throughput = 0.0;
        assert_eq!(knee(&broken, 0.05), None);
        // A rate-limited sweep whose latency stays the same.
        let level = [1.0, 2.0, 4.0].map(|load| LoadPoint { load, throughput: 10.0, latency: 1.0 });
        assert_eq!(knee(&level, 0.05), None);
    }
}
