//! Judges an open loop: requests arrive at a rate, whatever the storage does.

use super::student::STUDENT_95;
use super::{Estimate, Interval};

/// Whether the storage served a load: as many requests completed as were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// It was served.
    Yes,
    /// Fewer requests completed, and the queue grew.
    No,
    /// There were too few requests to decide.
    CannotTell,
}

/// Below this share of the offered load, a queue grows.
pub const FALLS_BEHIND: f64 = 0.98;

/// Above this share, the load is less than a fifth too high: of such a load at most 0.83 would complete.
const KEEPS_UP: f64 = 0.9;

/// Number of requests that separates a load of 120 % from one of 90 %: chance changes their number by 2.2 %.
pub const ENOUGH_REQUESTS: f64 = 2000.0;

/// Number of parts of a run whose rates show its scatter.
const PARTS: usize = 10;

/// Number of standard deviations on each side that contain 95 %.
const NORMAL_95: f64 = 1.96;

/// The rate of an open loop with the wider of two intervals: that of a number of requests that arrive at random
/// (Poisson), and that of the rates of ten parts of the run, which includes stalls. `windows` are rates in equal
/// windows over the whole run. `None`: no request completed.
pub fn achieved_per_s(operations: u64, elapsed_s: f64, windows: &[f64]) -> Option<Estimate> {
    let value = operations as f64 / elapsed_s;
    if operations == 0 || !value.is_finite() {
        return None;
    }
    let by_chance = value * NORMAL_95 / (operations as f64).sqrt();
    let in_parts = half_width_of_parts(windows).unwrap_or_default();
    let half = by_chance.max(in_parts);
    Some(Estimate { value, interval: Interval { low: (value - half).max(0.0), high: value + half, confidence: 0.95 } })
}

fn half_width_of_parts(windows: &[f64]) -> Option<f64> {
    let length = windows.len() / PARTS;
    let parts: Vec<f64> = match length {
        0 => windows.to_vec(),
        _ => windows.chunks_exact(length).map(|part| part.iter().sum::<f64>() / length as f64).collect(),
    };
    STUDENT_95.half_width(&parts)
}

/// Judges a load by its achieved rate.
pub fn was_served(offered_per_s: f64, achieved: &Interval) -> Served {
    if achieved.high < offered_per_s * FALLS_BEHIND {
        Served::No
    } else if achieved.low >= offered_per_s * KEEPS_UP {
        Served::Yes
    } else {
        Served::CannotTell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(offered_per_s: f64, operations: u64, elapsed_s: f64, windows: &[f64]) -> Served {
        was_served(offered_per_s, &achieved_per_s(operations, elapsed_s, windows).unwrap().interval)
    }

    #[test]
    fn many_requests_tell_and_few_do_not() {
        assert_eq!(judged(1000.0, 9_950, 10.0, &[995.0; 100]), Served::Yes);
        assert_eq!(judged(1000.0, 9_500, 10.0, &[950.0; 100]), Served::No);
        // 265 of 300 requests: chance alone changes the number by 12 %.
        assert_eq!(judged(60.0, 265, 5.0, &[53.0; 50]), Served::CannotTell);
        assert_eq!(judged(60.0, 300, 5.0, &[60.0; 50]), Served::CannotTell);
    }

    #[test]
    fn a_stall_at_the_end_is_no_growing_queue() {
        let windows = [vec![1000.0; 80], vec![0.0; 20]].concat();
        assert_eq!(judged(1000.0, 8_000, 10.0, &windows), Served::CannotTell);
        assert_eq!(judged(1000.0, 8_000, 10.0, &[800.0; 100]), Served::No);
    }

    #[test]
    fn nothing_that_came_back_is_no_rate() {
        assert_eq!(achieved_per_s(0, 5.0, &[]), None);
        assert_eq!(achieved_per_s(5, 0.0, &[]), None);
        assert!(achieved_per_s(5, 1.0, &[]).is_some_and(|rate| rate.interval.low > 0.0));
    }
}
