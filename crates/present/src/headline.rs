//! The answer of a study before its tables: a sentence, the figures that it rests on, whether they can be trusted, what
//! limits them, and what to do next. The terminal, Markdown, the sheet and JSON print this, so that a figure is the same
//! on each.

pub(crate) mod figures;
mod found;
mod limited;
mod next;
mod ranged;
mod sentence;
mod test;

use results::{Question, Study, Trust};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::Grid;

pub use found::{Case, Found};
pub use test::{LatencyMicroseconds, Ranges, TestFigures};

pub(crate) use sentence::Six;
pub(crate) use test::rounded;

/// The answer of a study.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// The answer in a sentence; `None`: the question has none, or nothing was measured.
    pub headline: Option<String>,
    /// How far the figures can be trusted.
    pub trust: TrustLine,
    /// What limits the tests, each limit with its tests.
    pub limits: Vec<String>,
    /// What to do next: commands, or steps in words.
    pub next: Vec<String>,
    /// Each test on each target.
    pub tests: Vec<TestFigures>,
    /// What was found against the figures, each kind once for each target, the worst first.
    pub findings: Vec<Found>,
    /// The answers to requirements.
    pub verdicts: Vec<VerdictLine>,
}

/// What `--json` prints of a study: the answer, then all of it.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Study")]
pub struct Document<'a> {
    /// The answer.
    summary: Headline,
    #[serde(flatten)]
    study: &'a Study,
}

/// How far the figures can be trusted, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrustLine {
    /// The worst test's.
    pub trust: Trust,
    /// Why not more: `4 of 9 tests: CPU contention`.
    pub why: Vec<String>,
}

/// A requirement and its answer, in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VerdictLine {
    /// The profile.
    pub profile: String,
    /// The requirement's name in it.
    pub id: String,
    /// `PASS`, `FAIL`, `INCONCLUSIVE`, `NOT APPLICABLE`, `REFERENCE`.
    pub verdict: &'static str,
    /// The figure, in the unit; `None`: nothing was measured.
    pub measured: Option<f64>,
    /// The threshold.
    pub threshold: f64,
    /// The unit of both.
    pub unit: String,
}

impl Headline {
    /// The answer of this study.
    pub fn of(study: &Study) -> Headline {
        Headline::of_grid(&Grid::of(study))
    }

    pub(crate) fn of_grid(grid: &Grid<'_>) -> Headline {
        let study = grid.study;
        let tests: Vec<TestFigures> =
            grid.tests().map(|(line, target, cell)| TestFigures::of(grid, line, target, cell)).collect();
        let findings = found::all(grid);
        let verdicts = study.verdicts.iter().map(|row| VerdictLine {
            profile: row.requirement.profile.clone(),
            id: row.requirement.id.clone(),
            verdict: row.verdict.word(),
            measured: row.measured,
            threshold: row.requirement.threshold,
            unit: row.requirement.unit.clone(),
        });
        Headline {
            headline: sentence::of(grid, &tests),
            trust: trust(&tests, &findings),
            limits: limited::of(study),
            next: next::of(study, &findings),
            verdicts: verdicts.collect(),
            tests,
            findings,
        }
    }

    /// The study as one line of JSON, this answer before it.
    pub fn json(study: &Study) -> String {
        let document = Document { summary: Headline::of(study), study };
        let text = serde_json::to_string(&document).expect("a study has no map whose keys could fail to be text");
        results::escape::json(&text).into_owned()
    }

    /// Whether a finding needs its target's name.
    pub(crate) fn has_several_targets(&self) -> bool {
        self.tests.iter().any(|test| test.target != self.tests[0].target)
    }

    /// The short lines of the answer, each with its label; a fio run by itself has none.
    pub(crate) fn lines(&self, study: &Study) -> Vec<(&'static str, String)> {
        if study.question == Question::Fio || self.tests.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![("trust", self.trust.words())];
        if !self.limits.is_empty() {
            lines.push(("limited by", self.limits.join("; ")));
        }
        lines.extend(
            self.next.iter().enumerate().map(|(index, next)| (if index == 0 { "next" } else { "" }, next.clone())),
        );
        lines
    }
}

impl TrustLine {
    /// `caution: 4 of 9 tests: CPU contention`.
    pub(crate) fn words(&self) -> String {
        match &self.why[..] {
            [] => format!("{}: nothing was found against the figures", self.trust.word()),
            why => format!("{}: {}", self.trust.word(), why.join("; ")),
        }
    }
}

fn trust(tests: &[TestFigures], findings: &[Found]) -> TrustLine {
    let trust = tests.iter().map(|test| test.trust).max().unwrap_or_default();
    let failed = tests.iter().filter(|test| test.error.is_some()).count();
    let mut why: Vec<String> = Vec::new();
    if failed > 0 {
        why.push(format!("{failed} of {} tests failed", tests.len()));
    }
    why.extend(findings.iter().filter(|found| found.is_against()).map(Found::in_short));
    TrustLine { trust, why }
}
