//! The variation between studies of an unchanged storage: another day, another placement, other load. The rounds of
//! two studies do not show it, because it is common to all rounds of one study.

use super::descriptive::{mean, median};
use super::{CHANGE_CONFIDENCE, Estimate, Interval, shifted_ratio};

/// Smallest number of studies before the base that shows how far studies scatter.
pub const HISTORY_MIN: usize = 3;

/// Largest number of the latest studies that are used, because older studies may be of another storage.
pub const HISTORY_MAX: usize = 10;

/// The deviation from study to study that is assumed without a history.
const ASSUMED: f64 = 0.03;

/// Number of deviations from the mean that contain 95 % of cases, and a little more.
const DEVIATIONS: f64 = 2.0;

/// Factors for 4 to 11 studies, the base among them. In 4 % of cases a later study lies farther from the base than
/// this number of estimated deviations, multiplied by the root of 2; this is below 5 %, to leave room for scatter
/// that is not normal. The factors are smaller than Student's, because a base that lies apart increases the
/// deviation. Simulated with normal noise, 4,000,000 cases each.
const QUANTILES: [f64; HISTORY_MAX - HISTORY_MIN + 1] = [2.963, 2.604, 2.433, 2.344, 2.284, 2.246, 2.217, 2.196];

/// The deviation of one figure from study to study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scatter {
    /// There is no history, and ±3 % are assumed.
    Assumed,
    /// RecordedFact in a number of studies, the base among them.
    RecordedFact {
        /// Number of studies.
        studies: usize,
        /// Standard deviation of the logarithms of their levels. It includes the scatter of rounds.
        deviation: f64,
    },
}

impl Scatter {
    /// The scatter of the base and of studies before it. Each study is given by the values of its rounds; the base is
    /// the last, and of the others the latest ten count. With too few valid studies it is assumed.
    pub fn of(studies: &[Vec<f64>]) -> Scatter {
        let levels: Vec<f64> = studies.iter().rev().filter_map(|rounds| level(rounds)).take(HISTORY_MAX + 1).collect();
        let Some(mean) = mean(&levels).filter(|_| levels.len() > HISTORY_MIN) else { return Scatter::Assumed };
        let squares: f64 = levels.iter().map(|level| (level - mean).powi(2)).sum();
        Scatter::RecordedFact { studies: levels.len(), deviation: (squares / (levels.len() - 1) as f64).sqrt() }
    }

    /// The deviation on a logarithmic scale.
    pub fn deviation(self) -> f64 {
        match self {
            Scatter::Assumed => ASSUMED,
            Scatter::RecordedFact { deviation, .. } => deviation,
        }
    }

    /// How far two studies of an unchanged storage may differ, 95 %, on a logarithmic scale.
    pub fn reach(self) -> f64 {
        let quantile = match self {
            Scatter::Assumed => DEVIATIONS,
            Scatter::RecordedFact { studies, .. } => QUANTILES[studies - 1 - HISTORY_MIN],
        };
        quantile * std::f64::consts::SQRT_2 * self.deviation()
    }

    /// Values of `new` divided by those of `base`; the interval includes the scatter between studies. A scatter that
    /// was seen already contains that of the rounds: then the wider of both intervals is used. An assumed scatter is
    /// added. `None` as for [`shifted_ratio`]: a history cannot replace rounds, because single runs seldom meet
    /// effects that come in bursts.
    pub fn ratio(self, new: &[f64], base: &[f64]) -> Option<Estimate> {
        shifted_ratio(new, base, CHANGE_CONFIDENCE).map(|within| self.widen(within))
    }

    fn widen(self, within: Estimate) -> Estimate {
        let Interval { low, high, confidence } = within.interval;
        let reach = self.reach();
        let distance = |within: f64| match self {
            Scatter::Assumed => within.hypot(reach),
            Scatter::RecordedFact { .. } => within.max(reach),
        };
        let (below, above) = (distance((within.value / low).ln()), distance((high / within.value).ln()));
        let interval = Interval { low: within.value * (-below).exp(), high: within.value * above.exp(), confidence };
        Estimate { interval, ..within }
    }
}

/// The level of a study's rounds on a logarithmic scale: the median of the means of all pairs of rounds (the centre
/// that belongs to [`hodges_lehmann_shift`](super::hodges_lehmann_shift())).
fn level(rounds: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = rounds.iter().map(|value| value.ln()).collect();
    let pairs = logarithms
        .iter()
        .enumerate()
        .flat_map(|(at, one)| logarithms[at..].iter().map(move |other| (one + other) / 2.0));
    median(&pairs.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::noise::share;

    fn about(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    fn seen(deviation: f64) -> Scatter {
        Scatter::RecordedFact { studies: 5, deviation }
    }

    #[test]
    fn hand_computed() {
        // Levels 1, 2, 3 and 4: a mean of 2.5, squares of 2.25, 0.25, 0.25 and 2.25.
        let studies: Vec<Vec<f64>> = (1..=4).map(|power| vec![f64::from(power).exp(); 3]).collect();
        let Scatter::RecordedFact { studies: 4, deviation } = Scatter::of(&studies) else { panic!("four are enough") };
        assert!(about(deviation, (5.0f64 / 3.0).sqrt()), "{deviation}");
        assert_eq!(Scatter::of(&studies[1..]), Scatter::Assumed, "the base and two others");
        // Means of pairs of 0, 1 and 8: 0, 0.5, 1, 4, 4.5, 8.
        assert!(about(level(&[0.0, 1.0, 8.0].map(f64::exp)).unwrap(), 2.5));
        assert!((Scatter::Assumed.reach() - 0.085).abs() < 0.001);
    }

    #[test]
    fn a_study_without_the_figure_is_none_and_old_ones_do_not_count() {
        let mut studies = vec![vec![1.0]; 4];
        studies[0].clear();
        assert_eq!(Scatter::of(&studies), Scatter::Assumed);
        studies[0] = vec![0.0];
        assert_eq!(Scatter::of(&studies), Scatter::Assumed, "0 has no logarithm");
        let mut many = vec![vec![100.0]];
        many.extend(vec![vec![1.0]; HISTORY_MAX + 1]);
        assert_eq!(Scatter::of(&many), Scatter::RecordedFact { studies: HISTORY_MAX + 1, deviation: 0.0 });
    }

    #[test]
    fn an_unchanged_storage_is_beyond_the_reach_in_one_case_of_twenty_five() {
        for studies in HISTORY_MIN + 1..=HISTORY_MAX + 1 {
            let beyond = share(20_000, |random| {
                let levels: Vec<f64> = (0..studies).map(|_| 0.1 * random.normal()).collect();
                let scatter = Scatter::of(&levels.iter().map(|level| vec![level.exp()]).collect::<Vec<_>>());
                (0.1 * random.normal() - levels[studies - 1]).abs() > scatter.reach()
            });
            assert!((0.036..0.044).contains(&beyond), "{studies} studies: {beyond}");
        }
    }

    #[test]
    fn what_was_seen_is_the_wider_and_what_is_assumed_comes_on_top() {
        let within = Estimate { value: 2.0, interval: Interval { low: 1.0, high: 2.02, confidence: 0.96 } };
        let found = seen(0.05).widen(within);
        let reach = seen(0.05).reach();
        assert!(about(found.interval.low, 1.0) && about(found.interval.high, 2.0 * reach.exp()), "{found:?}");
        assert_eq!((found.value, found.interval.confidence), (2.0, 0.96));
        let assumed = Scatter::Assumed.widen(within).interval;
        assert!(assumed.low < 1.0 && assumed.high > 2.0 * Scatter::Assumed.reach().exp(), "{assumed:?}");
        let same = seen(0.0).widen(within).interval;
        assert!(about(same.low, 1.0) && about(same.high, 2.02), "studies without scatter add nothing: {same:?}");
        assert_eq!(seen(0.01).ratio(&[8.0], &[10.0]), None, "single runs");
    }
}
