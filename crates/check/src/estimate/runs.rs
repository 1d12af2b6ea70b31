//! Computes the variation of a figure between runs. Neighbouring requests and seconds are correlated: the variation
//! within one run is too small, and only other runs show the rest.

use fsdyno_results::{Bound, Judge, Verdict};
use fsdyno_stats::{Interval, RUNS_MIN, STUDENT_99, median};

/// With one or two runs, a limit must be this multiple of their interval away. Repeats of a test on the same storage
/// stayed below it (docs/measurement.md lists the observed variation).
const WIDE: f64 = 1.5;

/// The same for a percentile, whose tail varies more on a busy machine.
const WIDE_PERCENTILE: f64 = 2.0;

/// The figures of the runs of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Runs {
    values: Vec<f64>,
    is_percentile: bool,
}

impl Runs {
    /// From each run's own figure.
    pub(super) fn new(values: Vec<f64>, is_percentile: bool) -> Runs {
        Runs { values, is_percentile }
    }

    /// Number of runs.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// The multiple of the interval that a limit must be away to decide with one or two runs.
    pub(crate) fn wide(&self) -> f64 {
        if self.is_percentile { WIDE_PERCENTILE } else { WIDE }
    }

    /// The multiple of the observed variation that a limit must be away for a certain failure with these runs.
    pub(super) fn distance(&self) -> f64 {
        if self.count() < RUNS_MIN { self.wide() } else { 1.0 }
    }

    /// The median of the runs; `None`: there are no runs.
    pub(super) fn median(&self) -> Option<f64> {
        median(&self.values)
    }

    /// The interval of the variation within and between the runs, by which they are judged; 99 % from three runs on.
    /// One or two runs only have the variation within, and decide by their distance.
    pub(super) fn judged_interval(&self, within: Option<Interval>) -> Option<Interval> {
        match (within, STUDENT_99.of_runs(&self.values)) {
            (Some(one), Some(other)) => Some(other.joined(one)),
            (one, other) => one.or(other),
        }
    }

    /// The common verdict if all runs are on one side of the limit by more than half of it: so far away, their
    /// variation does not matter.
    fn far_away(&self, bound: Bound, limit: f64) -> Option<Verdict> {
        let all =
            |is_far: &dyn Fn(f64) -> bool| self.count() >= RUNS_MIN && self.values.iter().all(|value| is_far(*value));
        let (below, above) = (all(&|value| value < limit * 0.5), all(&|value| value > limit * 1.5));
        match (below, above) {
            (false, false) => None,
            (below, _) => Some(if below == (bound == Bound::AtMost) { Verdict::Pass } else { Verdict::Fail }),
        }
    }

    /// Judges the runs against a limit. It is called after each run until it is decided, each time with 99 %, so that
    /// all calls together are wrong in less than 5 % of cases.
    pub(super) fn judge(&self, within: Interval, bound: Bound, limit: f64) -> Verdict {
        // The requests within the runs must agree with that verdict.
        if let Some(verdict) = self.far_away(bound, limit).filter(|found| within.judge(bound, limit) == *found) {
            return verdict;
        }
        let sure = match self.judged_interval(Some(within)).filter(|_| self.count() >= RUNS_MIN) {
            Some(between) => between,
            None => Interval { low: within.low / self.wide(), high: within.high * self.wide(), ..within },
        };
        sure.judge(bound, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers: xorshift64, and the Box-Muller transform.
    struct RandomNumbers(u64);

    impl RandomNumbers {
        fn even(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * (1.0 - self.even()).ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
        }
    }

    /// The variation of the seconds of a test, and of its runs.
    #[derive(Clone, Copy)]
    struct RunVariation {
        /// Correlation of a second with the previous one.
        rho: f64,
        /// Standard deviation from run to run.
        shift: f64,
        /// Share of the seconds that are four times as slow as the others.
        burst: f64,
    }

    const WORLDS: [RunVariation; 8] = [
        RunVariation { rho: 0.0, shift: 0.0, burst: 0.0 },
        RunVariation { rho: 0.5, shift: 0.0, burst: 0.0 },
        RunVariation { rho: 0.8, shift: 0.0, burst: 0.0 },
        RunVariation { rho: 0.95, shift: 0.0, burst: 0.0 },
        RunVariation { rho: 0.0, shift: 0.05, burst: 0.0 },
        RunVariation { rho: 0.8, shift: 0.05, burst: 0.0 },
        RunVariation { rho: 0.0, shift: 0.03, burst: 0.05 },
        RunVariation { rho: 0.8, shift: 0.1, burst: 0.0 },
    ];

    /// A run's mean, and the interval that it would have if its seconds were independent.
    fn run(world: RunVariation, chance: &mut RandomNumbers) -> (f64, f64) {
        const SECONDS: usize = 30;
        let level = (world.shift * chance.normal()).exp();
        let mut state = chance.normal();
        let mut seconds = Vec::new();
        for _ in 0..SECONDS {
            state = world.rho * state + (1.0 - world.rho * world.rho).sqrt() * chance.normal();
            let burst = if chance.even() < world.burst { 4.0 } else { 1.0 };
            seconds.push(level * (1.0 + 0.1 * state) * burst / (1.0 + 3.0 * world.burst));
        }
        let mean = seconds.iter().sum::<f64>() / SECONDS as f64;
        let square = seconds.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (SECONDS - 1) as f64;
        (mean, 1.96 * (square / SECONDS as f64).sqrt())
    }

    fn runs(world: RunVariation, count: usize, chance: &mut RandomNumbers) -> (Runs, Interval) {
        let all: Vec<(f64, f64)> = (0..count).map(|_| run(world, chance)).collect();
        let mean = all.iter().map(|run| run.0).sum::<f64>() / count as f64;
        let half = (all.iter().map(|run| run.1 * run.1).sum::<f64>()).sqrt() / count as f64;
        let within = Interval { low: mean - half, high: mean + half, confidence: 0.95 };
        (Runs::new(all.iter().map(|run| run.0).collect(), false), within)
    }

    #[test]
    fn intervals_over_runs_hold_what_they_say() {
        const CASES: usize = 4000;
        for (index, world) in WORLDS.into_iter().enumerate() {
            for count in [3, 5, 8] {
                let mut chance = RandomNumbers(0x9e37_79b9_7f4a_7c15 ^ (index * 100 + count) as u64);
                let held = (0..CASES).filter(|_| {
                    let (runs, within) = runs(world, count, &mut chance);
                    runs.judged_interval(Some(within)).is_some_and(|found| found.low <= 1.0 && 1.0 <= found.high)
                });
                let share = held.count() as f64 / CASES as f64;
                assert!(share >= 0.92, "world {index}, {count} runs: {share}");
            }
        }
    }

    /// Judged after each run, up to ten of them, with the true value 1 % on the wrong side.
    #[test]
    fn wrong_verdicts_are_rare_although_each_run_is_looked_at() {
        const CASES: usize = 2000;
        for (index, world) in WORLDS.into_iter().enumerate() {
            let mut chance = RandomNumbers(0x2545_f491_4f6c_dd1d ^ index as u64);
            let wrong = (0..CASES).filter(|_| {
                let all: Vec<(f64, f64)> = (0..10).map(|_| run(world, &mut chance)).collect();
                let verdict = (1..=10).map(|count| {
                    let mean = all[..count].iter().map(|run| run.0).sum::<f64>() / count as f64;
                    let half = all[..count].iter().map(|run| run.1 * run.1).sum::<f64>().sqrt() / count as f64;
                    let within = Interval { low: mean - half, high: mean + half, confidence: 0.95 };
                    let runs = Runs::new(all[..count].iter().map(|run| run.0).collect(), false);
                    runs.judge(within, Bound::AtMost, 0.99)
                });
                verdict.into_iter().find(|verdict| *verdict != Verdict::Inconclusive) == Some(Verdict::Pass)
            });
            let share = wrong.count() as f64 / CASES as f64;
            assert!(share <= 0.05, "world {index}: {share}");
        }
    }

    #[test]
    fn one_run_decides_only_what_is_far_away() {
        let (one, within) = (Runs::new(vec![1.0], false), Interval { low: 0.9, high: 1.1, confidence: 0.95 });
        assert_eq!(one.judge(within, Bound::AtMost, 1.6), Verdict::Inconclusive);
        assert_eq!(one.judge(within, Bound::AtMost, 1.7), Verdict::Pass);
        assert_eq!(one.judge(within, Bound::AtLeast, 0.5), Verdict::Pass);
        assert_eq!(one.judge(within, Bound::AtMost, 0.5), Verdict::Fail);
        let tail = Runs::new(vec![1.0, 1.0], true);
        assert_eq!(tail.judge(within, Bound::AtMost, 1.7), Verdict::Inconclusive);
        assert_eq!(tail.judge(within, Bound::AtMost, 2.3), Verdict::Pass);
    }

    #[test]
    fn runs_that_are_far_from_the_limit_on_one_side_decide() {
        let judge = |values: &[f64], bound, limit: f64| {
            let (low, high) = (values[0].min(values[1]), values[0].max(values[1]));
            Runs::new(values.to_vec(), false).judge(Interval { low, high, confidence: 0.95 }, bound, limit)
        };
        let one_faster = [1.0, 1.1, 0.4];
        assert!(STUDENT_99.of_runs(&one_faster).unwrap().high > 3.0);
        assert_eq!(judge(&one_faster, Bound::AtMost, 2.5), Verdict::Pass);
        assert_eq!(judge(&one_faster, Bound::AtLeast, 2.5), Verdict::Fail);
        assert_eq!(judge(&one_faster, Bound::AtMost, 0.25), Verdict::Fail);
        assert_eq!(judge(&one_faster, Bound::AtMost, 2.1), Verdict::Inconclusive, "one is not half of it away");
        assert_eq!(judge(&one_faster[..2], Bound::AtMost, 1.3), Verdict::Inconclusive, "two are too few");
    }

    #[test]
    fn runs_that_differ_widen_the_interval() {
        let within = Interval { low: 0.99, high: 1.01, confidence: 0.95 };
        let differing = Runs::new(vec![0.9, 1.0, 1.1], false);
        assert_eq!(differing.judge(within, Bound::AtMost, 1.2), Verdict::Inconclusive);
        let found = differing.judged_interval(Some(within)).unwrap();
        assert!(found.low < 0.8 && found.high > 1.25, "{found:?}");
        let same = Runs::new(vec![1.0; 3], false);
        assert_eq!(
            same.judged_interval(Some(within)),
            Some(Interval { confidence: 0.99, ..within }),
            "that of three runs decides"
        );
        assert_eq!(same.judge(within, Bound::AtMost, 1.02), Verdict::Pass);
        assert_eq!(Runs::new(vec![1.0; 2], false).judged_interval(None), None);
    }
}
