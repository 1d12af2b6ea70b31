//! Makes figures of the rounds of a test. No other code does this.

use super::metric::{Lane, Metric};
use super::ratio::{Ratio, interval_of_rounds};
use super::{Finding, Question, Repeat, Row, Trust, test_name};
use crate::record::Latency;
use crate::severity::Severity;
use fsdyno_stats::Interval;
use fsdyno_stats::sort;
use fsdyno_stats::{coefficient_of_variation, median};

/// Findings that leave a number valid but prevent it from winning a comparison: it says little, or its origin is not
/// visible.
const CANNOT_WIN: [&str; 2] = ["too-short", "not-visible"];

/// The word for trust where nobody examined the run.
pub const NOT_EXAMINED: &str = "not examined";

/// Below this size requests are compared by their number per second, above by bytes per second.
pub const SMALL_BYTES: f64 = 65_536.0;

/// One test on one target, in the order of the rounds.
///
/// Its figures are those of the rounds that count: they ran without an error, and no finding makes them invalid.
/// Other rounds are left out. If no round counts, the figures are of all rounds that ran, and are invalid.
#[derive(Default)]
pub struct TestRounds<'a> {
    /// The test's name.
    pub pattern: String,
    /// Index of the target.
    pub target: usize,
    /// All rounds, including those that are left out.
    pub repeats: Vec<Repeat<'a>>,
}

impl<'a> TestRounds<'a> {
    /// The test of these rows, each of which is a round.
    pub fn of_rows(rows: impl IntoIterator<Item = &'a Row>) -> TestRounds<'a> {
        let mut repeats: Vec<Repeat<'a>> = rows.into_iter().flat_map(|row| Repeat::of_row(row, false)).collect();
        sort::by_key(&mut repeats, |repeat| repeat.row.round);
        let first = repeats.first();
        let (pattern, target) = first.map_or_else(Default::default, |first| (first.pattern.clone(), first.row.target));
        TestRounds { pattern, target, repeats }
    }

    /// Whether it is a phase of operations on names and small files.
    pub fn is_phase(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.phase.is_some())
    }

    /// Whether something was done or found. A phase that is not possible here, such as one with cold names, has no
    /// trust.
    pub fn was_tried(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.phase.is_none() || repeat.ran() || repeat.trust() > Trust::Ok)
    }

    /// Whether it is a command of the user.
    pub fn is_command(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.row.tree.is_some())
    }

    /// The rounds that the figures are made of.
    pub fn counted(&self) -> Vec<&Repeat<'a>> {
        let valid: Vec<&Repeat<'a>> = self.repeats.iter().filter(|repeat| repeat.counts()).collect();
        if valid.is_empty() { self.repeats.iter().filter(|repeat| repeat.ran()).collect() } else { valid }
    }

    /// Number of rounds that are left out.
    pub fn left_out(&self) -> usize {
        self.repeats.len() - self.counted().len()
    }

    /// The figure of the rounds that count: the median; for latencies, the percentile of all their requests together.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match metric.percentile() {
            Some((lane, percent)) => self.latency(lane)?.shown(percent).map(|ns| ns as f64),
            // Rounds too short for the clock of CPU time have no figure; the median of the other rounds would be too
            // high.
            None if metric.is_of_cpu() && self.by_round(metric).len() < self.counted().len() => None,
            None => median(&self.by_round(metric)),
        }
    }

    /// The metrics of bytes and of requests per second that represent the test: the durable ones if it writes and
    /// does not read.
    pub fn rates(&self) -> (Metric, Metric) {
        if self.is_phase() {
            (Metric::Throughput, Metric::Operations)
        } else if self.value(Metric::Durable).is_some() && self.latency(Lane::Read).is_none() {
            (Metric::Durable, Metric::DurableIops)
        } else {
            (Metric::Throughput, Metric::Iops)
        }
    }

    /// Whether its requests are so small that their number says more than their bytes.
    pub fn is_small(&self) -> bool {
        let rates = self.value(Metric::Throughput).zip(self.value(Metric::Iops));
        rates.is_some_and(|(bytes, ios)| bytes < ios * SMALL_BYTES)
    }

    /// Requests in flight: the median of Little's law over the rounds that count.
    pub fn in_flight(&self) -> Option<f64> {
        median(&self.counted().into_iter().filter_map(in_flight).collect::<Vec<_>>())
    }

    /// The figure of each round that counts and has one.
    pub fn by_round(&self, metric: Metric) -> Vec<f64> {
        self.rounds(metric).into_iter().map(|(_, figure)| figure).collect()
    }

    /// Number and figure of each round that counts and has one.
    pub fn rounds(&self, metric: Metric) -> Vec<(u32, f64)> {
        self.counted().into_iter().filter_map(|repeat| Some((repeat.row.round, metric.of(repeat)?))).collect()
    }

    /// Whether too few requests lie beyond a percentile to separate it from chance.
    pub fn is_scarce(&self, metric: Metric) -> bool {
        metric
            .percentile()
            .is_some_and(|(lane, percent)| self.latency(lane).is_none_or(|latency| !latency.shows(percent)))
    }

    /// Coefficient of variation of the rounds, percent; `None` with fewer than two.
    pub fn scatter_percent(&self, metric: Metric) -> Option<f64> {
        Some(coefficient_of_variation(&self.by_round(metric))? * 100.0)
    }

    /// Confidence interval of the median of the rounds; `None`: too few rounds.
    pub fn interval(&self, metric: Metric) -> Option<Interval> {
        interval_of_rounds(&self.by_round(metric))
    }

    /// The figure divided by the baseline's figure; `None` if one of them is missing.
    pub fn ratio(&self, baseline: &TestRounds<'_>, metric: Metric) -> Option<Ratio> {
        self.value(metric).and(baseline.value(metric))?;
        Ratio::of(&self.rounds(metric), &baseline.rounds(metric))
    }

    /// Latency of one lane, all rounds that count merged; `None`: not kept.
    pub fn latency(&self, lane: Lane) -> Option<Latency> {
        let mut all = Latency::default();
        for repeat in self.counted() {
            all.merge(repeat.latency(lane)?.as_ref());
        }
        (all.moments.count > 0).then_some(all)
    }

    /// Trust of its figures: the worst of the rounds that count. A round that is left out makes it at least caution.
    pub fn trust(&self) -> Trust {
        let worst =
            |repeats: &mut dyn Iterator<Item = &Repeat<'a>>| repeats.map(Repeat::trust).max().unwrap_or_default();
        let counted = self.counted();
        if !counted.iter().any(|repeat| repeat.counts()) {
            return worst(&mut self.repeats.iter());
        }
        let of_counted = worst(&mut counted.into_iter());
        if self.left_out() > 0 { of_counted.max(Trust::Caution) } else { of_counted }
    }

    /// Whether nobody examined it and nothing else speaks against it.
    pub fn is_unexamined(&self) -> bool {
        let counted = self.counted();
        let unseen = !counted.is_empty() && counted.iter().all(|repeat| repeat.row.is_unexamined());
        unseen && self.trust() == Trust::Caution && self.reasons().is_empty()
    }

    /// Its trust in a word. A test that nobody examined is neither ok nor suspect.
    pub fn trust_word(&self) -> &'static str {
        if self.is_unexamined() { NOT_EXAMINED } else { self.trust().word() }
    }

    /// Whether it has a figure that can be compared with others.
    pub fn counts(&self, metric: Metric) -> bool {
        self.value(metric).is_some() && self.trust() < Trust::Invalid
    }

    /// Whether it may be called faster than others; a test that may not can still be slower. With one round that
    /// answers another question, the remaining rounds are no proof.
    pub fn can_win(&self) -> bool {
        self.left_out() == 0 && !self.findings().any(|finding| CANNOT_WIN.contains(&finding.id.as_str()))
    }

    /// All findings of its rounds.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.repeats.iter().flat_map(|repeat| repeat.findings())
    }

    /// The ids of the findings that decide its trust, each once.
    pub fn reasons(&self) -> Vec<&'a str> {
        let least = if self.trust() == Trust::Invalid { Severity::Invalid } else { Severity::Caution };
        let mut reasons: Vec<&str> = Vec::new();
        for finding in self.findings().filter(|finding| finding.severity >= least) {
            if !reasons.contains(&finding.id.as_str()) {
                reasons.push(&finding.id);
            }
        }
        reasons
    }

    /// The first error in words, if every round has one; otherwise the rounds with errors are left out.
    pub fn error(&self) -> Option<String> {
        let is_answered = self.repeats.iter().any(Repeat::counts);
        self.repeats.iter().filter(|_| !is_answered).find_map(Repeat::error)
    }

    /// The lane whose latency represents the test: the syncs if the test asks for them, otherwise all requests.
    pub fn asked_lane(&self, study: &super::Study) -> Lane {
        let of_sync = study.verdicts.iter().filter(|verdict| verdict.requirement.metric.starts_with("sync."));
        let mut judged = of_sync.flat_map(|verdict| &verdict.rows).filter_map(|index| study.rows.get(*index));
        let is_one = |row: &Row| self.repeats.iter().any(|repeat| std::ptr::eq(repeat.row, row));
        let is_sync = self.repeats.iter().any(|repeat| repeat.pattern == test_name::SYNC_LATENCY);
        if is_sync || judged.any(is_one) { Lane::Sync } else { Lane::Request }
    }
}

/// Rate multiplied by mean latency. Requests that began before the first window count with all of their time, so that
/// the result may be a little above the iodepth.
fn in_flight(round: &Repeat<'_>) -> Option<f64> {
    let mean_ns = round.latency(Lane::Request)?.moments.mean()?;
    let most = round.workers.iter().map(|worker| f64::from(worker.setup.depth.max(1))).sum::<f64>();
    Some((Metric::Iops.of(round)? * mean_ns / 1e9).min(most))
}

impl super::Study {
    /// Every test on every target, in the order in which they first ran. For a fio command line, each row of its
    /// report is a test.
    pub fn test_rounds(&self) -> Vec<TestRounds<'_>> {
        let mut tests: Vec<TestRounds<'_>> = Vec::new();
        for repeat in self.rows.iter().flat_map(|row| Repeat::of_row(row, self.question == Question::Fio)) {
            let (target, pattern) = (repeat.row.target, &repeat.pattern);
            match tests.iter_mut().find(|test| test.target == target && test.pattern == *pattern) {
                Some(test) => test.repeats.push(repeat),
                None => tests.push(TestRounds { pattern: pattern.clone(), target, repeats: vec![repeat] }),
            }
        }
        tests.iter_mut().for_each(|test| sort::by_key(&mut test.repeats, |repeat| repeat.row.round));
        tests
    }
}
