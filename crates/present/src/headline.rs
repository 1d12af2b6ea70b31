//! Makes the answer of a study, shown before its tables: a sentence, the figures that it rests on, whether they can be
//! trusted, what limits them, and what to do next. The terminal, Markdown, the sheet and JSON all print this, so that a
//! figure is the same on each.

pub(crate) mod figures;
pub(crate) mod finding_kinds;
pub(crate) mod found;
mod limited;
pub(crate) mod next;
mod nodes;
mod other_tools;
mod ranged;
mod sentence;
mod standing;
mod test;
mod timed;
pub(crate) mod verdict;

use fsdyno_findings::Aspect;
use fsdyno_results::{Question, Study, TimeUse, Trust};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::QuestionError;
use crate::summary::Grid;

pub use found::{FindingCase, FindingGroup};
pub use next::Step;
pub(crate) use nodes::overlap_of_phases;
pub use nodes::{NodeFigures, NodesOfTest, Spread};
pub use standing::PatternRanking;
pub(crate) use standing::ratio_legend;
pub use test::{LatencyMicroseconds, Ranges, TestFigures};
pub use timed::{Share, TimeFigures, Times};
pub use verdict::VerdictLine;

pub(crate) use limited::LimitDetail;
pub(crate) use other_tools::{Pair, pairs};
pub(crate) use sentence::StorageTests;
pub(crate) use test::{metrics, rounded};
pub(crate) use timed::seconds;

/// The answer of a study.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// The answer in a sentence; `None`: the question has none, or nothing was measured.
    pub headline: Option<String>,
    /// Why nothing was measured; missing: something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<QuestionError>,
    /// The verdicts on requirements, in the order in which they were asked for.
    pub verdicts: Vec<VerdictLine>,
    /// The ranking in each pattern of a comparison.
    pub standings: Vec<PatternRanking>,
    /// The times of commands (`time`).
    pub times: Vec<TimeFigures>,
    /// How far the figures can be trusted.
    pub trust: TrustLine,
    /// What limits the tests: a sentence for each limit with its tests.
    pub limits: Vec<String>,
    /// What the wall time was used for; `None`: no test ran.
    pub time: Option<TimeUse>,
    /// What to do next.
    pub next: Vec<Step>,
    /// Each test on each target.
    pub tests: Vec<TestFigures>,
    /// The nodes of each test that ran on several.
    pub nodes: Vec<NodesOfTest>,
    /// The findings, each kind once for each target, the worst first.
    pub findings: Vec<FindingGroup>,
}

/// What `--json` prints of a study: the answer, then the whole study.
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
    /// The trust of the worst test.
    pub trust: Trust,
    /// The reasons for less than `ok`: `4 of 9 tests: CPU contention`.
    pub why: Vec<String>,
    /// What could not be examined: `foreign load (3 of 9 tests)`.
    pub not_visible: Vec<String>,
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
        let standings = standing::all(grid);
        let times = timed::all(grid);
        let next = next::of(study, &tests, &findings);
        Headline {
            headline: sentence::of(grid, &tests, &findings, (&standings, &times)),
            error: sentence::error(study, &tests, &next),
            verdicts: verdict::of(study),
            standings,
            times,
            trust: trust(&tests.iter().filter(|test| test.is_whole).collect::<Vec<_>>(), &findings),
            limits: limited::of(study, LimitDetail::Evidence),
            time: study.time_use(),
            next,
            tests,
            nodes: nodes::all(grid),
            findings,
        }
    }

    /// The study as one line of JSON, with this answer in front.
    pub fn json(study: &Study) -> String {
        let document = Document { summary: Headline::of(study), study };
        let text = serde_json::to_string(&document).expect("a study has no map whose keys could fail to be text");
        fsdyno_text::escape::json_report(&text).into_owned()
    }

    /// Whether there are several targets, so that a finding must name its target.
    pub(crate) fn has_several_targets(&self) -> bool {
        self.tests.iter().any(|test| test.target != self.tests[0].target)
    }

    /// The labelled lines on trust and limits; none for a saved fio run.
    pub(crate) fn lines(&self, study: &Study) -> Vec<(&'static str, String)> {
        self.lines_with(study, &self.limits, LimitDetail::Evidence)
    }

    /// The limits of several targets in the fewest words: each limit once, with its targets.
    pub(crate) fn limits_with_targets(study: &Study) -> String {
        limited::with_targets(study).join("; ")
    }

    /// The same lines, with this much of each limit: as many lines, whatever is said.
    pub(crate) fn lines_saying(&self, study: &Study, said: LimitDetail) -> Vec<(&'static str, String)> {
        self.lines_with(study, &limited::of(study, said), said)
    }

    fn lines_with(&self, study: &Study, limits: &[String], said: LimitDetail) -> Vec<(&'static str, String)> {
        if study.question == Question::Fio || self.tests.is_empty() {
            return Vec::new();
        }
        let mut lines = timed::lines(&self.times, &self.standings);
        lines.extend(figures::apart(&self.tests, study, said == LimitDetail::Name).map(|tests| ("latency", tests)));
        lines.push(("trust", self.trust.words()));
        // With several targets, a line for each shows why one is faster.
        if study.targets.len() > 1 {
            lines.extend(below("limited by", limits));
        } else if !limits.is_empty() {
            lines.push(("limited by", limits.join("; ")));
        }
        lines
    }

    /// The next steps. A check that measured nothing still has verdicts, and steps.
    pub(crate) fn steps(&self, study: &Study) -> &[Step] {
        let is_answer = !self.tests.is_empty() || !self.verdicts.is_empty();
        if study.question != Question::Fio && is_answer { &self.next } else { &[] }
    }

    /// The part of a study's sentence that the answer has not said yet; `None`: it has said all of it.
    pub(crate) fn beyond<'a>(&self, study: &Study, sentence: &'a str) -> Option<&'a str> {
        let said = sentence::first_of(sentence);
        let is_said = self.headline.as_deref().is_some_and(|headline| headline.contains(said));
        match sentence[said.len()..].trim_start() {
            _ if !is_said => Some(sentence),
            "" => None,
            // With several kinds of requests the beginning is needed: it names the kind.
            _ if study.question == Question::Sweep && study.sentences.len() > 1 => Some(sentence),
            rest => Some(rest),
        }
    }
}

/// These lines below one label: the first line has it, the others an empty one.
fn below<'a>(label: &'static str, lines: &'a [String]) -> impl Iterator<Item = (&'static str, String)> + 'a {
    lines.iter().enumerate().map(move |(index, line)| (if index == 0 { label } else { "" }, line.clone()))
}

impl TrustLine {
    /// `caution: 4 of 9 tests: CPU contention; not visible: foreign load`.
    pub fn words(&self) -> String {
        format!("{}: {}", self.trust.word(), self.reasons(usize::MAX))
    }

    /// The reasons for the trust: the first `kinds` kinds of findings, then the number of the others.
    pub(crate) fn reasons(&self, kinds: usize) -> String {
        // One more kind takes no more space than its count would.
        let shown = if self.why.len() <= kinds.saturating_add(1) { self.why.len() } else { kinds };
        let mut parts: Vec<String> = self.why.iter().take(shown).cloned().collect();
        if self.why.len() > shown {
            parts.push(format!("and {} more findings", self.why.len() - shown));
        }
        if parts.is_empty() {
            parts.push("nothing was found against the figures".to_owned());
        }
        if !self.not_visible.is_empty() {
            parts.push(format!("not visible: {}", self.not_visible.join(", ")));
        }
        parts.join("; ")
    }
}

fn trust(tests: &[&TestFigures], findings: &[FindingGroup]) -> TrustLine {
    if tests.is_empty() {
        // Nothing was examined.
        return TrustLine {
            trust: Trust::Caution,
            why: vec!["nothing was measured".to_owned()],
            not_visible: Vec::new(),
        };
    }
    let trust = tests.iter().map(|test| test.trust).max().unwrap_or_default();
    let failed = tests.iter().filter(|test| test.error.is_some()).count();
    let mut why: Vec<String> = Vec::new();
    if failed > 0 {
        why.push(format!("{failed} of {} tests failed", tests.len()));
    }
    // A test that failed completely is reported elsewhere.
    let answered = || tests.iter().filter(|test| test.counts() && test.runs > 0);
    let (left_out, runs) =
        answered().fold((0, 0), |sum, test| (sum.0 + test.left_out, sum.1 + test.runs + test.left_out));
    if left_out > 0 {
        let verb = if left_out == 1 { "is" } else { "are" };
        why.push(format!("{left_out} of {runs} runs {verb} invalid or failed, and left out"));
    }
    let against = || findings.iter().filter(|found| found.is_against());
    if tests.iter().any(|test| test.target != tests[0].target) {
        why.extend(titles(against()));
    } else {
        // A test of which only some rounds are invalid is not invalid.
        let is_invalid = |name: &str| tests.iter().any(|test| test.name == name && test.trust == Trust::Invalid);
        why.extend(found::in_short(against(), &is_invalid));
    }
    let unexamined = tests.iter().filter(|test| test.is_unexamined()).count();
    if unexamined > 0 {
        why.push(match tests.len() {
            1 => "nothing was examined".to_owned(),
            of => format!("nothing was examined of {}", found::counted(unexamined, of)),
        });
    }
    TrustLine { trust, why, not_visible: not_visible(tests) }
}

/// The aspects that could not be examined, with the number of tests that each concerns. Tests of which nothing at all
/// was examined have a line of their own.
fn not_visible(tests: &[&TestFigures]) -> Vec<String> {
    let of_aspect = |word: &'static str| {
        let looked_at = || tests.iter().filter(|test| !test.is_unexamined());
        let unseen = looked_at().filter(|test| test.not_visible.contains(&word)).count();
        let concerned = unseen + looked_at().filter(|test| test.examined.contains(&word)).count();
        let share = if unseen < concerned { format!(" ({unseen} of {} tests)", tests.len()) } else { String::new() };
        (unseen > 0).then(|| format!("{word}{share}"))
    };
    Aspect::ALL.into_iter().map(Aspect::word).filter_map(of_aspect).collect()
}

/// The kinds of findings with their targets, `CPU contention (local, nfs)`: each kind once, whatever its severity and
/// next step on each target.
fn titles<'a>(findings: impl Iterator<Item = &'a FindingGroup>) -> Vec<String> {
    let mut kinds: Vec<(&FindingGroup, Vec<&str>)> = Vec::new();
    for found in findings {
        match kinds.iter_mut().find(|(first, _)| first.id == found.id) {
            Some((_, targets)) if targets.contains(&found.target.as_str()) => {}
            Some((_, targets)) => targets.push(&found.target),
            None => kinds.push((found, vec![&found.target])),
        }
    }
    // The place in memory has a name in brackets already.
    let names =
        |targets: &[&str]| targets.iter().map(|name| name.trim_matches(['(', ')'])).collect::<Vec<_>>().join(", ");
    kinds.iter().map(|(found, targets)| format!("{} ({})", found::within(&found.title), names(targets))).collect()
}
