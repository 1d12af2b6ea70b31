//! Judges a requirement by the figures of a test.

use fsdyno_results::{Bound, Judge, LowerBound, Row, Severity, TestOrigin, Trust, Verdict, VerdictRow};
use fsdyno_stats::Interval;
use fsdyno_text::quantity::{count as of_count, number, published};

use crate::estimate::{CONFIDENCE, Estimate, RUNS_MIN, RatesOfThirds, Spread, estimate, measured_s};
use crate::gate::Outcome;
use crate::line::{self, ShortenedValue};
use crate::metric::Metric;
use crate::profile::{Gate, Profile, Requirement, Scale, Source, Test};

/// A smaller margin gets a remark, percent.
const THIN_MARGIN_PERCENT: f64 = 20.0;

/// A rate does not last if it falls by more than this share from the first to the last third of a long test.
const DECAY: f64 = 0.2;

/// The reason why a storage in memory cannot meet a requirement on durable data.
pub(crate) const NOT_DURABLE: &str = "this storage is memory: nothing on it is durable";

/// Factors for published figures; `None`: not visible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Factors {
    pub(crate) vcpus: Option<u32>,
    pub(crate) filesystem_bytes: Option<u64>,
    /// Whether the storage is memory, so that nothing on it is durable.
    pub(crate) in_memory: bool,
}

/// A requirement with its limit computed for this machine.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedRequirement<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) requirement: &'a Requirement,
    /// In the requirement's unit; the error says what is not visible.
    limit: Result<f64, String>,
    derivation: Option<String>,
    /// Whether it can fail; false: it is a reference.
    pub(crate) binding: bool,
    in_memory: bool,
}

/// The runs of a test so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestRun<'a> {
    pub(crate) test: &'a Test,
    /// The words of the line that was run.
    pub(crate) words: &'a [String],
    /// All rows of the study.
    pub(crate) rows: &'a [Row],
    /// The indices of this test's rows.
    pub(crate) indices: &'a [usize],
    /// Why there are no runs, or no more of them.
    pub(crate) problem: Option<&'a str>,
    /// The caches that take part.
    pub(crate) reach: &'a str,
    /// What was shortened.
    pub(crate) shortened: &'a [ShortenedValue],
    /// Measuring time after which it is not repeated any more, s.
    pub(crate) cap_s: f64,
}

impl<'a> ResolvedRequirement<'a> {
    pub(crate) fn new(
        profile: &'a Profile,
        requirement: &'a Requirement,
        factors: Factors,
        tier: Option<&str>,
    ) -> ResolvedRequirement<'a> {
        let Requirement { threshold, unit, per, judged_at_percent, .. } = requirement;
        let mut parts = Vec::new();
        let mut limit = Ok(*threshold);
        let figure = format!("{} {unit}", published(*threshold));
        if let Some(per) = per {
            let (count, what) = factors.count(*per);
            match count {
                Some(count) => {
                    limit = Ok(threshold * count);
                    parts.push(format!("{figure} for each of {} {what}", published(count)));
                }
                None => limit = Err(format!("the number of {what} is not visible")),
            }
        }
        if let Some(percent) = judged_at_percent {
            limit = limit.map(|limit| limit * percent / 100.0);
            let of = parts.pop().unwrap_or(figure);
            parts.push(format!("{} % of {of}", published(*percent)));
        }
        let tier_asked = requirement.tier.is_none() || requirement.tier.as_deref() == tier;
        ResolvedRequirement {
            profile,
            requirement,
            limit,
            derivation: parts.pop(),
            binding: requirement.source.kind.binds() && tier_asked,
            in_memory: factors.in_memory,
        }
    }

    /// Whether the runs so far are undecided and more runs could decide.
    pub(crate) fn undecided(&self, ran: &TestRun<'_>) -> bool {
        let Ok(limit) = self.limit else { return false };
        let rows = ran.of_test();
        let sound = ran.problem.is_none() && untrusted(&rows).is_none() && !self.asks_memory_to_last(ran.test);
        let found = estimate(&ran.counted(), self.requirement.metric);
        let undecided = |found: Estimate| self.judgement(&found, limit).0 == Verdict::Inconclusive;
        self.binding && sound && found.is_ok_and(undecided)
    }

    /// Whether it requires durable data of a storage in memory.
    pub(crate) fn asks_memory_to_last(&self, test: &Test) -> bool {
        self.in_memory
            && (matches!(self.requirement.metric, Metric::Sync(_)) || line::makes_durable(&test.work.words()))
    }

    /// Judges the estimate against a limit. A rate that does not last is judged by its last third.
    fn judgement(&self, found: &Estimate, limit: f64) -> (Verdict, Option<RatesOfThirds>) {
        let (bound, base) = (self.requirement.bound, limit * self.requirement.unit_size);
        match found
            .rates_of_thirds
            .filter(|rates_of_thirds| rates_of_thirds.last < rates_of_thirds.first * (1.0 - DECAY))
        {
            None => (found.judge(bound, base), None),
            Some(rates_of_thirds) => {
                let judged = rates_of_thirds.last_interval.map(|interval| found.judge_part(interval, bound, base));
                (judged.unwrap_or(Verdict::Inconclusive), Some(rates_of_thirds))
            }
        }
    }

    /// The verdict.
    pub(crate) fn answer(&self, ran: &TestRun<'_>) -> VerdictRow {
        let title = line::title(&ran.test.title, ran.shortened);
        let mut answer = self.row_of(ran.test, &title, ran.words, Verdict::Inconclusive, String::new());
        answer.rows = ran.indices.to_vec();
        if !ran.shortened.is_empty() {
            let changes: Vec<String> = ran.shortened.iter().map(ShortenedValue::to_string).collect();
            answer.caveats.push(format!("shortened, not the vendor's test: {}", changes.join(", ")));
        }
        if let Some(problem) = ran.problem {
            answer.reason = problem.to_string();
            return answer;
        }
        match (estimate(&ran.counted(), self.requirement.metric), &self.limit) {
            (Err(reason), _) => answer.reason = reason,
            (Ok(found), Err(reason)) => {
                self.set_figure(&mut answer, &found);
                answer.reason.clone_from(reason);
            }
            (Ok(found), Ok(limit)) => {
                self.set_figure(&mut answer, &found);
                self.decide(&mut answer, &found, *limit, ran);
            }
        }
        answer
    }

    /// A row without a figure.
    pub(crate) fn unanswered(&self, test: &Test, words: &[String], verdict: Verdict, reason: String) -> VerdictRow {
        self.row_of(test, &test.title, words, verdict, reason)
    }

    /// The same, with the test's title as it was run.
    fn row_of(&self, test: &Test, run: &str, words: &[String], verdict: Verdict, reason: String) -> VerdictRow {
        let Requirement { id, title, metric_name, bound, threshold, unit, source, tier, .. } = self.requirement;
        let sound = test.origin == TestOrigin::Sound;
        let tier = tier.as_ref().map(|tier| format!(" ({tier})")).unwrap_or_default();
        let variant = if sound { format!("; {run}") } else { String::new() };
        let requirement = fsdyno_results::Requirement {
            id: if sound { format!("{id}/{}", test.id) } else { id.clone() },
            title: format!("{title}{tier}{variant}"),
            metric: metric_name.clone(),
            bound: *bound,
            threshold: self.limit.clone().unwrap_or(*threshold),
            unit: unit.clone(),
            derivation: self.derivation.clone(),
            ..described(self.profile, source, words.join(" "))
        };
        row(requirement, test.origin, verdict, reason)
    }

    /// Sets the figure of the row, in the requirement's unit.
    fn set_figure(&self, answer: &mut VerdictRow, found: &Estimate) {
        let size = self.requirement.unit_size;
        answer.measured = Some(found.value / size);
        answer.interval = match &found.spread {
            Spread::Known(Interval { low, high, confidence }) => {
                Some(Interval { low: low / size, high: high / size, confidence: *confidence })
            }
            _ => None,
        };
        answer.at_least = self.least_percentile(found);
    }

    /// The least that a percentile without an interval can be, in the requirement's unit.
    fn least_percentile(&self, found: &Estimate) -> Option<LowerBound> {
        let Spread::Percentile(none) = &found.spread else { return None };
        let value = none.at_least_ns()? / self.requirement.unit_size;
        Some(LowerBound { value, confidence: (1.0 + CONFIDENCE) / 2.0 })
    }

    fn decide(&self, answer: &mut VerdictRow, found: &Estimate, limit: f64, ran: &TestRun<'_>) {
        let value = found.value / self.requirement.unit_size;
        let distance = if self.requirement.bound == Bound::AtMost { limit - value } else { value - limit };
        let margin_percent = distance * 100.0 / limit;
        answer.margin_percent = Some(margin_percent);
        let band = self.requirement.band(value).map(|band| format!("the source calls this \"{band}\""));
        answer.caveats.extend(band);
        let rounds = ran.rounds();
        let states_runs = rounds == 1 || found.basis.ends_with("runs");
        let runs = if states_runs { String::new() } else { format!(" in {rounds} runs") };
        let basis = format!("{}{runs}, {}", found.basis, ran.reach);
        if self.asks_memory_to_last(ran.test) {
            answer.verdict = Verdict::NotApplicable;
            answer.reason = format!("{NOT_DURABLE}, however fast it is synced");
            return;
        }
        if let Some(cause) = untrusted(&ran.of_test()) {
            answer.reason = format!("the figure cannot be trusted: {cause}");
            return;
        }
        if !self.binding {
            answer.verdict = Verdict::Reference;
            let side = if distance >= 0.0 { "reaches" } else { "does not reach" };
            answer.reason = format!("for comparison, no limit: this storage {side} it; {basis}");
            return;
        }
        let (verdict, fallen) = self.judgement(found, limit);
        answer.caveats.extend(fallen.map(|rates_of_thirds| self.rate_over_time_sentence(rates_of_thirds)));
        if let Some(rates_of_thirds) = fallen {
            let last = rates_of_thirds.last / self.requirement.unit_size;
            let distance = if self.requirement.bound == Bound::AtMost { limit - last } else { last - limit };
            answer.margin_percent = Some(distance * 100.0 / limit);
        }
        answer.verdict = verdict;
        answer.reason = match verdict {
            Verdict::Pass | Verdict::Fail => {
                let does = if verdict == Verdict::Pass { "meets" } else { "misses" };
                format!("{basis}; {}", self.what_decides(found, (verdict, does), limit, fallen.is_some()))
            }
            _ => self.why_inconclusive(found, ran),
        };
        if verdict == Verdict::Inconclusive {
            // A longer cap allows more runs if it is longer than what was used.
            answer.cap_s = ran.is_time_used().then(|| ran.cap_s.max(ran.seconds()));
        } else if let Some(count) = found.scarce {
            let text = "fewer than ten lie beyond this percentile: tables of figures leave it out";
            answer.caveats.push(format!("of {} values {text}", of_count(count)));
        }
        if answer.verdict == Verdict::Pass && margin_percent < THIN_MARGIN_PERCENT {
            answer.caveats.push(format!("the margin is below {THIN_MARGIN_PERCENT} %"));
        }
    }

    /// What is on one side of the limit: the interval, the end of the test, or each run by a large distance.
    fn what_decides(&self, found: &Estimate, (verdict, does): (Verdict, &str), limit: f64, at_end: bool) -> String {
        let by_interval =
            |interval: &Interval| interval.judge(self.requirement.bound, limit * self.requirement.unit_size);
        match &found.spread {
            _ if at_end => format!("the whole interval of the last third {does} the limit"),
            Spread::Percentile(none) => {
                let least = |least: LowerBound| {
                    let (value, level) = (number(least.value), published(least.confidence * 100.0));
                    format!("; it is at least {value} {} ({level} %)", self.requirement.unit)
                };
                let least = self.least_percentile(found).map(least).unwrap_or_default();
                format!("{none}{least}, which {does} the limit{}", by_how_much(found))
            }
            Spread::Known(interval) if by_interval(interval) != verdict => {
                let runs = found.runs.count();
                format!("the interval holds the limit, but each of the {runs} runs {does} it by more than half of it")
            }
            _ => format!("the whole interval {does} the limit{}", by_how_much(found)),
        }
    }

    fn rate_over_time_sentence(&self, rates_of_thirds: RatesOfThirds) -> String {
        let shown = |rate: f64| number(rate / self.requirement.unit_size);
        let lost = (1.0 - rates_of_thirds.last / rates_of_thirds.first) * 100.0;
        format!(
            "the rate fell by {} %, from {} in the first third to {} {} in the last: the last third is judged",
            number(lost),
            shown(rates_of_thirds.first),
            shown(rates_of_thirds.last),
            self.requirement.unit
        )
    }

    fn why_inconclusive(&self, found: &Estimate, ran: &TestRun<'_>) -> String {
        let rounds = ran.rounds();
        let used = if ran.is_time_used() { "its time is used: " } else { "" };
        let times = if rounds == 1 { "once".to_string() } else { format!("{rounds} times") };
        let why = match &found.spread {
            Spread::Known(_) if found.runs.count() < RUNS_MIN => {
                let wide = published(found.runs.wide());
                format!("fewer than {RUNS_MIN} runs, and the limit is within a factor of {wide} of the interval")
            }
            Spread::Known(_) => "the limit lies inside the interval that is sure enough (99 %)".to_string(),
            Spread::Unknown(reason) => reason.clone(),
            Spread::Percentile(none) => none.to_string(),
        };
        format!(
            "{why} ({}); {used}run {times}, {} s in all, and the cap is {} s (--cap-seconds)",
            found.basis,
            number(ran.seconds()),
            published(ran.cap_s.ceil())
        )
    }
}

/// For one or two runs: the distance that decides, as they do not show the variation between runs.
fn by_how_much(found: &Estimate) -> String {
    let few = found.runs.count() < RUNS_MIN;
    if few { format!(", by a factor of {} or more", published(found.runs.wide())) } else { String::new() }
}

impl<'a> TestRun<'a> {
    fn of_test(&self) -> Vec<&'a Row> {
        self.indices.iter().filter_map(|index| self.rows.get(*index)).collect()
    }

    /// The rounds that make the figure, as in the tables: those that count, or all if none does.
    fn counted(&self) -> Vec<&'a Row> {
        let rows = self.of_test();
        let valid = |row: &&Row| row.trust() < Trust::Invalid && row.first_error().is_none();
        let counted: Vec<&Row> = rows.iter().copied().filter(valid).collect();
        if counted.is_empty() { rows } else { counted }
    }

    /// Measured time of all runs, s.
    fn seconds(&self) -> f64 {
        self.of_test().into_iter().map(measured_s).sum()
    }

    /// Whether one more run would take longer than the cap allows.
    fn is_time_used(&self) -> bool {
        self.seconds() * (1.0 + 1.0 / f64::from(self.rounds().max(1))) > self.cap_s
    }

    fn rounds(&self) -> u32 {
        self.of_test().iter().map(|row| row.round + 1).max().unwrap_or(0)
    }
}

impl Factors {
    fn count(self, scale: Scale) -> (Option<f64>, &'static str) {
        let binary = |shift: u32| self.filesystem_bytes.map(|bytes| bytes as f64 / (1u64 << shift) as f64);
        match scale {
            Scale::Vcpu => (self.vcpus.map(f64::from), "vCPUs"),
            Scale::Gib => (binary(30), "GiB of the filesystem"),
            Scale::Tib => (binary(40), "TiB of the filesystem"),
        }
    }
}

/// Why the rows cannot pass a check; `None`: none failed, and no finding makes one invalid.
fn untrusted(rows: &[&Row]) -> Option<String> {
    if let Some((rank, error)) = rows.iter().find_map(|row| row.first_error()) {
        return Some(format!("a run failed: {rank}{}: {}", error.function, error.text));
    }
    let row = rows.iter().find(|row| row.trust() == Trust::Invalid)?;
    row.findings.iter().find(|found| found.severity == Severity::Invalid).map(|found| found.cause.clone())
}

/// The verdict of a gate.
pub(crate) fn gate_row(profile: &Profile, gate: &Gate, outcome: &Outcome) -> VerdictRow {
    let (verdict, found) = match outcome {
        Outcome::Holds(found) => (Verdict::Pass, found),
        Outcome::Broken(found) => (Verdict::Fail, found),
        Outcome::Unknown(found) => (Verdict::Inconclusive, found),
    };
    let reason = match verdict {
        Verdict::Pass => found.clone(),
        _ => format!("{found}: {}", gate.because),
    };
    let requirement = fsdyno_results::Requirement {
        id: gate.id.clone(),
        title: gate.title.clone(),
        metric: "gate".to_string(),
        bound: Bound::Gate,
        ..described(profile, &gate.source, String::new())
    };
    row(requirement, TestOrigin::Ours, verdict, reason)
}

/// A requirement of which only the profile and the source are known.
fn described(profile: &Profile, source: &Source, job: String) -> fsdyno_results::Requirement {
    fsdyno_results::Requirement {
        id: String::new(),
        profile: profile.name.clone(),
        profile_title: profile.title.clone(),
        title: String::new(),
        metric: String::new(),
        bound: Bound::Gate,
        threshold: 0.0,
        unit: String::new(),
        derivation: None,
        source: source.title.clone(),
        read_on: source.read_on.clone(),
        kind: source.kind,
        confidence: source.confidence,
        job,
    }
}

fn row(requirement: fsdyno_results::Requirement, origin: TestOrigin, verdict: Verdict, reason: String) -> VerdictRow {
    VerdictRow {
        requirement,
        verdict,
        measured: None,
        interval: None,
        margin_percent: None,
        reason,
        origin,
        caveats: Vec::new(),
        at_least: None,
        cap_s: None,
        rows: Vec::new(),
    }
}

/// Makes both verdicts INCONCLUSIVE if the vendor's test and its sound variant disagree.
pub(crate) fn compare_variants(answers: &mut [VerdictRow]) {
    let conclusive = |verdict| matches!(verdict, Verdict::Pass | Verdict::Fail);
    let verdict_and_figure = |answer: &VerdictRow| {
        let measured = answer.measured.map(|value| format!(" with {} {}", number(value), answer.requirement.unit));
        format!("{}{}", answer.verdict.word(), measured.unwrap_or_default())
    };
    for sound in 0..answers.len() {
        let Some((of, _)) = answers[sound].requirement.id.split_once('/') else { continue };
        let Some(vendors) = answers.iter().position(|answer| answer.requirement.id == of) else { continue };
        let verdicts = (answers[vendors].verdict, answers[sound].verdict);
        if answers[sound].origin != TestOrigin::Sound || verdicts.0 == verdicts.1 {
            continue;
        }
        if conclusive(verdicts.0) && conclusive(verdicts.1) {
            let why = format!(
                "the vendor's line says {}, its sound variant {}",
                verdict_and_figure(&answers[vendors]),
                verdict_and_figure(&answers[sound])
            );
            for answer in [vendors, sound] {
                answers[answer].caveats.push(std::mem::take(&mut answers[answer].reason));
                (answers[answer].verdict, answers[answer].reason) = (Verdict::Inconclusive, why.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
