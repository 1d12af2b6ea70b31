//! Compares a study with a later one: which figures became faster or slower, and whether the rounds show it.

use super::{Digest, DigestTest, Lane, Metric, Study, TestRounds, Trust};
use fsdyno_stats::Interval;
use fsdyno_stats::{CHANGE_CONFIDENCE, Difference, Estimate, Scatter, mann_whitney};

pub use history::{earlier, is_repeat, scatter};

mod history;

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes per second; for writes, until they are durable.
    Rate,
    /// Operations per second; for writes, until they are durable.
    Iops,
    /// Median latency.
    P50,
    /// 99th percentile of latency.
    P99,
    /// CPU time, percent of one processor.
    Cpu,
    /// Time of a command.
    Wall,
    /// Time of a command with the sync after it.
    WallAndSync,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 7] =
        [Measure::Rate, Measure::Iops, Measure::P50, Measure::P99, Measure::Cpu, Measure::Wall, Measure::WallAndSync];

    /// The word in conditions: `randread.iops`.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Rate => "rate",
            Measure::Iops => "iops",
            Measure::P50 => "p50",
            Measure::P99 => "p99",
            Measure::Cpu => "cpu",
            Measure::Wall => "wall",
            Measure::WallAndSync => "wall+sync",
        }
    }

    /// Whether more is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Measure::Rate | Measure::Iops)
    }

    /// The metric of a test, in bytes per second, 1/s, ns or percent; `None`: the test has no such figure.
    pub(super) fn metric(self, rounds: &TestRounds<'_>, lane: Lane) -> Option<Metric> {
        Some(match self {
            // A command has a time; its runs per second would say the same.
            Measure::Rate | Measure::Iops if rounds.is_command() => return None,
            Measure::Rate => rounds.rates().0,
            Measure::Iops => rounds.rates().1,
            Measure::P50 => Metric::P50(lane),
            Measure::P99 => Metric::P99(lane),
            Measure::Cpu => Metric::Cpu,
            Measure::Wall => Metric::Wall,
            Measure::WallAndSync => Metric::WallAndSync,
        })
    }
}

/// How certain a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// Better, and the interval shows it.
    Better,
    /// Worse, and the interval shows it.
    Worse,
    /// Smaller than the rounds can show, or too small to matter.
    NotShown,
    /// Too few rounds to separate a change from chance; four on each side are enough. One run on each side is never
    /// enough: its windows show how the run went, but not how far the next run would differ.
    Unknown,
}

/// The change of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the target; `None` if both studies have only one.
    pub target: Option<String>,
    /// The pattern.
    pub pattern: String,
    /// The measure.
    pub measure: Measure,
    /// The figures of the test before and after.
    pub base: f64,
    /// See `base`.
    pub new: f64,
    /// New divided by base: the median of the quotients of all pairs of rounds; with fewer than three rounds, the
    /// quotient of the medians.
    pub ratio: f64,
    /// Confidence interval of the ratio, widened by the scatter; `None` with fewer than three rounds on a side.
    pub interval: Option<Interval>,
    /// How far studies differ although nothing has changed.
    pub scatter: Scatter,
    /// Exact two-sided probability that chance alone makes at least this difference (Mann-Whitney); `None` with fewer
    /// than three rounds on a side.
    pub p_value: Option<f64>,
    /// Number of rounds before and after.
    pub rounds: (usize, usize),
    /// The significance of the change.
    pub shown: Significance,
    /// The worse of both sides' trust.
    pub trust: Trust,
}

impl Change {
    /// The change in percent: -5 means five percent less.
    pub fn percent(&self) -> f64 {
        (self.ratio - 1.0) * 100.0
    }

    /// Both ends of the interval in percent, for a change that the rounds confirm; `None` for any other change.
    pub fn confirmed_percent(&self) -> Option<(f64, f64)> {
        let interval = self.interval.filter(|_| matches!(self.shown, Significance::Better | Significance::Worse))?;
        Some(((interval.low - 1.0) * 100.0, (interval.high - 1.0) * 100.0))
    }
}

/// Reasons not to compare two studies, each as a sentence. Empty: they can be compared.
pub fn obstacles(base: &Study, new: &Study) -> Vec<String> {
    differences(&Digest::of(base), &Digest::of(new), |pattern| {
        let (plan, other) = (plan_of(base, pattern), plan_of(new, pattern));
        format!("`{}` became `{}` in the plan of", beyond(&plan, &other), beyond(&other, &plan))
    })
}

/// The same for digests. `plans`: a sentence about the difference between the plans of a pattern.
fn differences(base: &Digest, new: &Digest, plans: impl Fn(&str) -> String) -> Vec<String> {
    let mut reasons = Vec::new();
    if base.question != new.question {
        reasons.push(format!("one is from {}, the other from {}", base.question.word(), new.question.word()));
    }
    if base.version != new.version {
        reasons.push(format!("they were measured by {} and {}", base.version, new.version));
    }
    if base.targets.len() != new.targets.len() {
        reasons.push(format!("one has {} targets, the other {}", base.targets.len(), new.targets.len()));
    }
    // A user who compares different places wants to know. The same path with another filesystem is probably a
    // filesystem that was not mounted.
    for (one, other) in base.targets.iter().zip(&new.targets).filter(|(one, other)| one.path == other.path) {
        if let (Some(before), Some(after)) = (&one.fstype, &other.fstype)
            && before != after
        {
            reasons.push(format!("{} was {before}, {} is {after}", one.name, other.name));
        }
    }
    let plan =
        |study: &Digest, pattern: &str| study.tests.iter().find(|test| test.pattern == pattern).map(|test| test.plan);
    let mut differences: Vec<(String, Vec<&str>)> = Vec::new();
    let added = new.patterns().into_iter().filter(|pattern| plan(base, pattern).is_none());
    // The size of the file is part of the plans of the tests that use it.
    for pattern in base.patterns().into_iter().chain(added) {
        let difference = match (plan(base, pattern), plan(new, pattern)) {
            (before, after) if before == after => continue,
            (Some(_), Some(_)) => plans(pattern),
            _ => "only one of them has".to_string(),
        };
        match differences.iter_mut().find(|(known, _)| *known == difference) {
            Some((_, patterns)) => patterns.push(pattern),
            None => differences.push((difference, vec![pattern])),
        }
    }
    reasons.extend(differences.iter().map(|(difference, patterns)| format!("{difference} {}", patterns.join(", "))));
    for (what, one, other) in [
        ("kernel", &base.kernel, &new.kernel),
        ("number of CPUs", &base.cpus.map(|n| n.to_string()), &new.cpus.map(|n| n.to_string())),
    ] {
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            reasons.push(format!("the {what} differs: {one} and {other}"));
        }
    }
    reasons
}

/// What was asked for in a pattern.
fn plan_of<'a>(study: &'a Study, pattern: &str) -> Vec<&'a str> {
    study.rows.iter().find(|row| row.pattern == pattern).map(|row| row.plan().collect()).unwrap_or_default()
}

/// The words of `plan` that `other` does not have.
fn beyond(plan: &[&str], other: &[&str]) -> String {
    plan.iter().filter(|word| !other.contains(word)).copied().collect::<Vec<_>>().join(" ")
}

/// The changes of every figure that both studies have, by pattern and target. The [`earlier`] studies show how far
/// studies differ although nothing has changed.
pub fn changes(base: &Study, new: &Study, earlier: &[&Digest]) -> Vec<Change> {
    let (last, latest) = (Digest::of(base), Digest::of(new));
    let history: Vec<&Digest> = earlier.iter().copied().chain([&last]).collect();
    let mut found = Vec::new();
    for pattern in last.patterns() {
        for target in 0..base.targets.len().min(new.targets.len()) {
            let named = (base.targets.len() > 1).then(|| new.targets[target].name.clone());
            let Some((before, after)) = last.test(target, pattern).zip(latest.test(target, pattern)) else { continue };
            let rounds = before.rounds.len().min(after.rounds.len());
            let changed = Measure::ALL.into_iter().filter_map(|measure| {
                change(measure, before, after, scatter(&history, target, pattern, measure, rounds))
            });
            found.extend(changed.map(|change| Change { target: named.clone(), ..change }));
        }
    }
    found
}

fn change(measure: Measure, before: &DigestTest, after: &DigestTest, scatter: Scatter) -> Option<Change> {
    let (of_base, of_new) = (before.figure(measure)?, after.figure(measure)?);
    let (base, new) = (before.values(measure), after.values(measure));
    let estimate = scatter.ratio(&new, &base);
    let trust = before.trust.max(after.trust);
    Some(Change {
        target: None,
        pattern: before.pattern.clone(),
        measure,
        base: of_base,
        new: of_new,
        ratio: estimate.map_or(of_new / of_base, |estimate| estimate.value),
        interval: estimate.map(|estimate| estimate.interval),
        scatter,
        p_value: mann_whitney(&new, &base).map(|test| test.p_value),
        rounds: (base.len(), new.len()),
        shown: shown(measure, estimate, trust),
        trust,
    })
}

fn shown(measure: Measure, estimate: Option<Estimate>, trust: Trust) -> Significance {
    let Some(estimate) = estimate else { return Significance::Unknown };
    match estimate.difference(CHANGE_CONFIDENCE) {
        Difference::TooFew => Significance::Unknown,
        Difference::Shown if trust < Trust::Invalid => {
            if (estimate.value > 1.0) == measure.more_is_better() {
                Significance::Better
            } else {
                Significance::Worse
            }
        }
        Difference::NotShown | Difference::Shown => Significance::NotShown,
    }
}

#[cfg(test)]
mod tests;
