//! The verdicts on requirements, in short.

use fsdyno_results::{Bound, Interval, LowerBound, Study, Verdict, VerdictRow};
use fsdyno_text::quantity::{counted, number, published};
use schemars::JsonSchema;
use serde::Serialize;

/// A requirement and its verdict, in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VerdictLine {
    /// The profile.
    pub profile: String,
    /// The requirement's name in it.
    pub id: String,
    /// For people.
    pub title: String,
    /// The storage's name.
    pub target: String,
    /// `PASS`, `FAIL`, `INCONCLUSIVE`, `NOT APPLICABLE`, `REFERENCE`.
    pub verdict: &'static str,
    /// The measured figure, in `unit`; `None`: nothing was measured.
    pub measured: Option<f64>,
    /// Interval of the figure, in `unit`; `None`: not known.
    pub interval: Option<Interval>,
    /// The least that a percentile without an interval can be, in `unit`; `None`: it has one, or not even this is known.
    pub at_least: Option<LowerBound>,
    /// Whether the figure must be at most or at least the threshold.
    pub bound: Bound,
    /// The threshold.
    pub threshold: f64,
    /// The unit of figure, interval and threshold.
    pub unit: String,
    /// The reason for the verdict.
    pub reason: String,
    /// Whether it is for comparison only, and no limit.
    #[serde(skip)]
    is_reference: bool,
    /// Number of runs after which the time for them was used without a decision; `None`: more time would not help.
    #[serde(skip)]
    runs_in_time: Option<u32>,
}

/// All verdicts, in the order in which they were asked for.
pub(crate) fn of(study: &Study) -> Vec<VerdictLine> {
    let names = study.target_names();
    let target = |row: &VerdictRow| {
        let index = row.rows.first().and_then(|index| study.rows.get(*index)).map_or(0, |row| row.target);
        names.get(index).cloned().unwrap_or_default()
    };
    let rounds = |row: &VerdictRow| row.rows.iter().filter_map(|index| Some(study.rows.get(*index)?.round + 1)).max();
    let line = |row: &VerdictRow| {
        let runs_in_time = row.cap_s.and_then(|_| rounds(row));
        VerdictLine { runs_in_time, ..VerdictLine::of(row, target(row)) }
    };
    study.verdicts.iter().map(line).collect()
}

/// The verdicts in words; those that do not apply for the same reason are merged.
pub(crate) fn distinct_verdicts(verdicts: &[VerdictLine]) -> Vec<(&VerdictLine, String)> {
    let like = |one: &VerdictLine, other: &VerdictLine| {
        !one.applies() && !other.applies() && one.profile == other.profile && one.reason == other.reason
    };
    let words = |(index, line): (usize, &'_ VerdictLine)| {
        if verdicts[..index].iter().any(|earlier| like(earlier, line)) {
            return None;
        }
        match verdicts.iter().filter(|other| like(other, line)).count() {
            0 | 1 => Some(line.words()),
            same => Some(format!("{same} requirements: {}", line.reason)),
        }
    };
    verdicts.iter().enumerate().filter_map(|(index, line)| Some((line, words((index, line))?))).collect()
}

impl VerdictLine {
    fn of(row: &VerdictRow, target: String) -> VerdictLine {
        let asked = &row.requirement;
        VerdictLine {
            profile: asked.profile.clone(),
            id: asked.id.clone(),
            title: asked.title.clone(),
            target,
            verdict: row.verdict.word(),
            measured: row.measured,
            interval: row.interval,
            at_least: row.at_least,
            bound: asked.bound,
            threshold: asked.threshold,
            unit: asked.unit.clone(),
            reason: row.reason.clone(),
            is_reference: row.verdict == Verdict::Reference,
            runs_in_time: None,
        }
    }

    /// Whether the requirement applies to this storage.
    pub(crate) fn applies(&self) -> bool {
        self.verdict != Verdict::NotApplicable.word()
    }

    /// The verdict in words: `99th percentile of fdatasync: 11.7 ms, at most 10 ms (95 %: 10.2 – 12.9)`; without a
    /// figure, the reason.
    pub(crate) fn words(&self) -> String {
        let Some(value) = self.measured.filter(|_| self.applies()) else {
            return format!("{}: {}", self.title, self.reason);
        };
        let mut text = format!("{}: {} {}", self.title, figure(value), self.unit);
        let side = match self.bound {
            Bound::AtMost => Some("at most"),
            Bound::AtLeast => Some("at least"),
            Bound::Gate => None,
        };
        if let Some(side) = side {
            let published_as = if self.is_reference { "published " } else { "" };
            text.push_str(&format!(", {published_as}{side} {} {}", published(self.threshold), self.unit));
        }
        if let Some(interval) = self.interval {
            text.push_str(&format!(" ({})", between(&interval)));
        } else if let Some(LowerBound { value, confidence }) = self.at_least {
            text.push_str(&format!(" ({} %: at least {})", published(confidence * 100.0), figure(value)));
        }
        // For INCONCLUSIVE the figures need the reason beside them.
        if self.verdict == Verdict::Inconclusive.word() {
            let why = self.reason.split([';', '(']).next().unwrap_or_default();
            text.push_str(&format!("; {}", why.trim()));
            if let Some(runs) = self.runs_in_time {
                text.push_str(&format!("; its time is used after {}", counted(runs.into(), "run")));
            }
        }
        text
    }
}

/// The interval in words, `95 %: 10.2 – 12.9`; one that begins at 0 has only its upper end.
pub(crate) fn between(Interval { low, high, confidence }: &Interval) -> String {
    let from = if *low > 0.0 { format!("{} –", figure(*low)) } else { "up to".to_owned() };
    format!("{:.0} %: {from} {}", confidence * 100.0, figure(*high))
}

/// The distance to the limit, `+12.3 %`; above 100 % beyond it a multiple is clearer: `10.0 times the limit`.
pub(crate) fn margin(row: &VerdictRow) -> Option<String> {
    let percent = row.margin_percent?;
    let what = if row.verdict == Verdict::Reference { "what is published" } else { "the limit" };
    // Only a figure with an upper limit can be beyond it by more than 100 %.
    let times = || format!("{} times {what}", number(1.0 - percent / 100.0));
    let sign = if percent > 0.0 { "+" } else { "" };
    Some(if percent < -100.0 { times() } else { format!("{sign}{} %", number(percent)) })
}

/// A figure in the vendor's unit, which may be far too large for it: it gets two significant digits at least.
pub(crate) fn figure(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.1 {
        return number(value);
    }
    let digits = (1.0 - value.abs().log10().floor()) as usize;
    format!("{value:.digits$}")
}
