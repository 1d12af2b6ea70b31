//! How often to repeat.

use std::fmt;

use super::descriptive::median;
use super::{Estimate, median_interval};

/// The fewest rounds: five are the first whose interval has more than 90 % confidence.
pub const ROUNDS_MIN: usize = 5;

/// The confidence that the rule works with.
const CONFIDENCE: f64 = 0.95;

/// Whether to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// One more round.
    No,
    /// Enough, for a reason that reads as a sentence.
    Yes(StopReason),
}

/// Why no more rounds are run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopReason {
    /// The interval is as narrow as was wanted.
    Precise {
        /// Rounds run.
        rounds: usize,
        /// The interval's confidence, 0 to 1.
        confidence: f64,
        /// Distance to the interval's farther end over the value.
        relative_half_width: f64,
    },
    /// As many rounds as allowed, and the interval is wider than wanted.
    Cap {
        /// Rounds run.
        rounds: usize,
        /// Distance to the interval's farther end over the value; `None` when there is no such number.
        relative_half_width: Option<f64>,
        /// What was wanted.
        target: f64,
    },
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StopReason::Precise { rounds, confidence, relative_half_width } => write!(
                f,
                "after {rounds} rounds the {:.0} % interval is within ±{:.1} %",
                confidence * 100.0,
                relative_half_width * 100.0
            ),
            StopReason::Cap { rounds, relative_half_width: Some(width), target } => write!(
                f,
                "the cap of {rounds} rounds is reached: the interval is still ±{:.1} %, ±{:.1} % was wanted",
                width * 100.0,
                target * 100.0
            ),
            StopReason::Cap { rounds, relative_half_width: None, .. } => {
                write!(f, "the cap of {rounds} rounds is reached: there is no interval")
            }
        }
    }
}

/// Whether the rounds so far (one value each) are enough: their median's 95 % interval reaches no farther than `target`
/// (0.05 is ±5 %) from it, or there are `cap` of them. Never before [`ROUNDS_MIN`] rounds, unless the cap is lower.
///
/// Looking after each round and stopping at the first narrow interval favours rounds that agree by chance. Simulated
/// with 10 % noise, a target of 10 % and a cap of 20, it stops after nine rounds on average, and the interval at the stop
/// holds the median in 0.93 of cases.
pub fn enough_rounds(samples: &[f64], target: f64, cap: usize) -> Stop {
    let interval = median_interval(samples, CONFIDENCE);
    let estimate = median(samples).zip(interval).map(|(value, interval)| Estimate { value, interval });
    enough_rounds_for(estimate.as_ref(), samples.len(), target, cap)
}

/// [`enough_rounds`] for any other estimate from so many rounds, such as a [`paired_ratio`](super::paired_ratio).
/// `None` stands for one that does not exist: more rounds may bring it.
pub fn enough_rounds_for(estimate: Option<&Estimate>, rounds: usize, target: f64, cap: usize) -> Stop {
    let width = estimate.and_then(|estimate| Some((estimate.relative_half_width()?, estimate.interval.confidence)));
    match width {
        Some((relative_half_width, confidence)) if relative_half_width <= target && rounds >= ROUNDS_MIN.min(cap) => {
            Stop::Yes(StopReason::Precise { rounds, confidence, relative_half_width })
        }
        _ if rounds >= cap => {
            Stop::Yes(StopReason::Cap { rounds, relative_half_width: width.map(|(width, _)| width), target })
        }
        _ => Stop::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::noise::{Shape, share};

    fn sentence(stop: Stop) -> String {
        match stop {
            Stop::No => "no".to_string(),
            Stop::Yes(reason) => reason.to_string(),
        }
    }

    #[test]
    fn the_reason_is_a_sentence() {
        let narrow = [100.0, 101.0, 99.0, 102.0, 100.0];
        assert_eq!(sentence(enough_rounds(&narrow[..4], 0.05, 20)), "no");
        assert_eq!(sentence(enough_rounds(&narrow, 0.05, 20)), "after 5 rounds the 94 % interval is within ±2.0 %");
        assert_eq!(sentence(enough_rounds(&narrow, 0.01, 20)), "no");
        assert_eq!(
            sentence(enough_rounds(&narrow, 0.01, 5)),
            "the cap of 5 rounds is reached: the interval is still ±2.0 %, ±1.0 % was wanted"
        );
        assert_eq!(sentence(enough_rounds(&[0.0; 5], 0.01, 5)), "the cap of 5 rounds is reached: there is no interval");
    }

    #[test]
    fn a_cap_below_the_minimum_holds() {
        assert_eq!(sentence(enough_rounds(&[], 0.05, 3)), "no");
        assert!(matches!(enough_rounds(&[1.0, 5.0], 0.05, 2), Stop::Yes(StopReason::Cap { .. })));
        assert!(matches!(enough_rounds(&[1.0, 1.0, 1.0], 0.05, 3), Stop::Yes(StopReason::Precise { .. })));
    }

    #[test]
    fn the_interval_at_the_stop_still_covers() {
        let mut rounds = 0;
        let covered = share(2000, |random| {
            let mut samples = random.samples(Shape::Normal, 5);
            while enough_rounds(&samples, 0.1, 20) == Stop::No {
                samples.push(random.sample(Shape::Normal));
            }
            rounds += samples.len();
            median_interval(&samples, 0.95).unwrap().contains(100.0)
        });
        assert!((0.91..0.955).contains(&covered), "{covered}");
        let mean_rounds = rounds as f64 / 2000.0;
        assert!((6.0..12.0).contains(&mean_rounds), "{mean_rounds}");
    }
}
