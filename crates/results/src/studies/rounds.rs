//! What the rounds of a test say together: the only place where rounds become a figure.

use super::metric::{Lane, Metric};
use super::ratio::{Ratio, interval_of_rounds};
use super::{Finding, Question, Repeat, Row, Trust, test_name};
use crate::record::Latency;
use crate::severity::Severity;
use fsdyno_stats::Interval;
use fsdyno_stats::sort;
use fsdyno_stats::{coefficient_of_variation, median};

/// Findings that let a number stand and yet keep it from winning a comparison: it says little, or nobody saw where it
/// came from.
const CANNOT_WIN: [&str; 2] = ["too-short", "not-visible"];

/// The word for the trust of what nobody examined.
pub const NOT_EXAMINED: &str = "not examined";

/// Requests of fewer bytes are counted, those of more are weighed.
pub const SMALL_BYTES: f64 = 65_536.0;

/// One test on one target, in the order of the rounds.
///
/// Its figures are those of the rounds that count: they ran, without an error, and nothing that was found makes them
/// invalid. The others are left out. Where none counts, all that ran make the figures, and these are invalid.
#[derive(Default)]
pub struct TestRounds<'a> {
    /// The test's name.
    pub pattern: String,
    /// Index of the target.
    pub target: usize,
    /// All rounds, those that are left out as well.
    pub repeats: Vec<Repeat<'a>>,
}

impl<'a> TestRounds<'a> {
    /// Of these rows, each of them a round.
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

    /// Whether something was done or found: a phase that cannot be arranged here, as with cold names, has no trust.
    pub fn was_tried(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.phase.is_none() || repeat.ran() || repeat.trust() > Trust::Ok)
    }

    /// Whether it is somebody's command.
    pub fn is_command(&self) -> bool {
        self.repeats.iter().any(|repeat| repeat.row.tree.is_some())
    }

    /// The rounds that make the figures.
    pub fn counted(&self) -> Vec<&Repeat<'a>> {
        let valid: Vec<&Repeat<'a>> = self.repeats.iter().filter(|repeat| repeat.counts()).collect();
        if valid.is_empty() { self.repeats.iter().filter(|repeat| repeat.ran()).collect() } else { valid }
    }

    /// Rounds that are no part of the figures.
    pub fn left_out(&self) -> usize {
        self.repeats.len() - self.counted().len()
    }

    /// The figure of the rounds that count: the median, or for latencies the percentile of all their requests together.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match metric.percentile() {
            Some((lane, percent)) => self.latency(lane)?.shown(percent).map(|ns| ns as f64),
            // Rounds too short for the clock of CPU time have none: the median of the others would be too high.
            None if metric.is_of_cpu() && self.by_round(metric).len() < self.counted().len() => None,
            None => median(&self.by_round(metric)),
        }
    }

    /// Which bytes and which requests per second stand for the test: what is durable, where something was written and
    /// nothing read.
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

    /// Requests in flight, by Little's law in each round that counts: the median.
    pub fn in_flight(&self) -> Option<f64> {
        median(&self.counted().into_iter().filter_map(in_flight).collect::<Vec<_>>())
    }

    /// The figure of each round that counts and has it.
    pub fn by_round(&self, metric: Metric) -> Vec<f64> {
        self.rounds(metric).into_iter().map(|(_, figure)| figure).collect()
    }

    /// The same with the number of the round.
    pub fn rounds(&self, metric: Metric) -> Vec<(u32, f64)> {
        self.counted().into_iter().filter_map(|repeat| Some((repeat.row.round, metric.of(repeat)?))).collect()
    }

    /// Whether too few requests lie beyond a percentile to tell it from chance.
    pub fn is_scarce(&self, metric: Metric) -> bool {
        metric
            .percentile()
            .is_some_and(|(lane, percent)| self.latency(lane).is_none_or(|latency| !latency.shows(percent)))
    }

    /// Coefficient of variation of the rounds, percent; `None` with fewer than two.
    pub fn scatter_percent(&self, metric: Metric) -> Option<f64> {
        Some(coefficient_of_variation(&self.by_round(metric))? * 100.0)
    }

    /// Where the median of the rounds lies; `None`: too few rounds to say.
    pub fn interval(&self, metric: Metric) -> Option<Interval> {
        interval_of_rounds(&self.by_round(metric))
    }

    /// The figure as a multiple of the baseline's; `None` when either has none.
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

    /// How far its figures can be trusted: the worst of the rounds that make them. A round that is left out asks for
    /// care.
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

    /// Nobody examined it, and nothing else speaks against it.
    pub fn is_unexamined(&self) -> bool {
        let counted = self.counted();
        let unseen = !counted.is_empty() && counted.iter().all(|repeat| repeat.row.is_unexamined());
        unseen && self.trust() == Trust::Caution && self.reasons().is_empty()
    }

    /// Its trust in a word: what nobody examined is neither ok nor suspected of anything.
    pub fn trust_word(&self) -> &'static str {
        if self.is_unexamined() { NOT_EXAMINED } else { self.trust().word() }
    }

    /// Whether it has a number that counts against others.
    pub fn counts(&self, metric: Metric) -> bool {
        self.value(metric).is_some() && self.trust() < Trust::Invalid
    }

    /// Whether it may be called faster than others; what may not can still be slower. A round that answers another
    /// question makes the rest of its rounds no proof.
    pub fn can_win(&self) -> bool {
        self.left_out() == 0 && !self.findings().any(|finding| CANNOT_WIN.contains(&finding.id.as_str()))
    }

    /// All findings against its rounds.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.repeats.iter().flat_map(|repeat| repeat.findings())
    }

    /// The kinds of the findings that decide its trust, each once.
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

    /// The first error, in words, where no round is without one; of the others the round is left out.
    pub fn error(&self) -> Option<String> {
        let is_answered = self.repeats.iter().any(Repeat::counts);
        self.repeats.iter().filter(|_| !is_answered).find_map(Repeat::error)
    }

    /// Whose latency stands for the test: that of the syncs where they are what is asked for, else that of all requests.
    pub fn asked_lane(&self, study: &super::Study) -> Lane {
        let of_sync = study.verdicts.iter().filter(|verdict| verdict.requirement.metric.starts_with("sync."));
        let mut judged = of_sync.flat_map(|verdict| &verdict.rows).filter_map(|index| study.rows.get(*index));
        let is_one = |row: &Row| self.repeats.iter().any(|repeat| std::ptr::eq(repeat.row, row));
        let is_sync = self.repeats.iter().any(|repeat| repeat.pattern == test_name::SYNC_LATENCY);
        if is_sync || judged.any(is_one) { Lane::Sync } else { Lane::Request }
    }
}

/// Rate times mean latency. Requests that began before the first window count with all of their time, so that the sum may
/// be a little larger than what was kept in flight at all.
fn in_flight(round: &Repeat<'_>) -> Option<f64> {
    let mean_ns = round.latency(Lane::Request)?.moments.mean()?;
    let most = round.workers.iter().map(|worker| f64::from(worker.setup.depth.max(1))).sum::<f64>();
    Some((Metric::Iops.of(round)? * mean_ns / 1e9).min(most))
}

impl super::Study {
    /// Every test on every target, in the order in which they first ran. Of a fio command line each row of its report is
    /// a test.
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
