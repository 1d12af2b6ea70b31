//! Shows the changes from one study to a later one: a sentence on whether anything changed, and the table of figures.

use fsdyno_results::{Change, Interval, Measure, Significance, Study, Trust, test_name};
use fsdyno_stats::{HISTORY_MIN, Scatter};
use fsdyno_text::escape;
use fsdyno_text::quantity::{counted, latency, number, rate_number, rate_unit};

use serde_json::json;

use super::table::{Form, Table};
use crate::command;
use crate::headline::Step;

/// The changes from one study to a later one, and how to present them.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// The changes.
    pub found: &'a [Change],
    /// The earlier study's name.
    pub base: String,
    /// The later study's name.
    pub new: String,
    /// Reasons against comparing the two.
    pub obstacles: &'a [String],
    /// What helps where nothing can be judged.
    pub next: JudgementCommand,
    /// Whether all figures are shown, even where nothing changed.
    pub wide: bool,
}

/// A command that makes a judgement possible.
#[derive(Clone, Debug, PartialEq)]
pub enum JudgementCommand {
    /// Measures the number of rounds that a judgement needs.
    MoreRounds(String),
    /// Lists the saved runs, for a question without rounds: they show the variation.
    KeptRuns(String),
}

/// Rounds on each side that can show a change.
const ROUNDS: u32 = 4;

impl JudgementCommand {
    /// The command for runs of this study's question.
    pub fn of(study: &Study) -> JudgementCommand {
        match study.question.rounds_option() {
            Some(option) => JudgementCommand::MoreRounds(command::with(study, option, ROUNDS)),
            None => JudgementCommand::KeptRuns(command::about(study, "history", &[])),
        }
    }
}

impl Changes<'_> {
    /// The text for a terminal with this number of columns.
    pub fn text(&self, columns: usize) -> String {
        let form = Form::Text { columns };
        let answer = form.paragraph(&format!("{}.", outcome(self.found)));
        self.shown(&answer, form)
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        self.shown(&format!("**{}**\n", escape::markdown(&outcome(self.found))), Form::Markdown)
    }

    fn shown(&self, answer: &str, form: Form) -> String {
        let (_, _, judged) = counts(self.found);
        let lines = [("base", self.base.clone()), ("new", self.new.clone())];
        // Figures that cannot be judged are no answer; the command that gives one is shown instead.
        let instead = matches!(self.next, JudgementCommand::MoreRounds(_)) && judged == 0;
        let unchanged = unchanged(self.found).is_some() && !self.wide && matches!(form, Form::Text { .. });
        let (what, command) = match &self.next {
            JudgementCommand::MoreRounds(command) => ("before the change, and after it", command),
            JudgementCommand::KeptRuns(command) => ("how far the kept runs of this command vary", command),
        };
        let step = (judged == 0).then(|| form.step(&Step { what: what.to_owned(), command: Some(command.clone()) }));
        let mut text = format!("{answer}\n{}{}", form.labelled(&lines), step.unwrap_or_default());
        if unchanged {
            let doubts = format!("{}{} --wide prints all figures.", widened(self.found, false), too_few(self.found));
            text.push_str(&format!("\n{}", form.paragraph(doubts.trim_start())));
        } else if !instead {
            text.push_str(&format!("\n{}\n{}", table(self.found).shown(form), form.paragraph(&summary(self.found))));
        }
        for reason in self.obstacles {
            text.push_str(&form.paragraph(&format!("compared with --force although {reason}")));
        }
        escape::terminal(&text).into_owned()
    }

    /// The same as a JSON document.
    pub fn json(&self) -> String {
        let rest = json!({
            "base": self.base,
            "new": self.new,
            "obstacles": self.obstacles,
            "changes": self.found.iter().map(as_json).collect::<Vec<_>>(),
        });
        crate::document(outcome(self.found), rest)
    }
}

fn table(found: &[Change]) -> Table {
    let judged = found.iter().any(|change| change.interval.is_some());
    let intervals: &[&str] = if judged { &["interval", "±runs"] } else { &[] };
    let mut table = Table::new(&[&["pattern", "<figure", "base", "new", "change"], intervals, &["<"]].concat());
    let mut last = String::new();
    for change in found {
        let name = name(change);
        let shown_name = if name == last { String::new() } else { name.clone() };
        last = name;
        let mut row = vec![
            shown_name,
            title(change.measure).to_string(),
            figure(change.measure, change.base),
            figure(change.measure, change.new),
            format!("{} %", signed(change.percent())),
        ];
        if judged {
            row.push(change.interval.map_or("-".to_string(), range));
            row.push(change.interval.map_or("-".to_string(), |_| scatter(change.scatter)));
        }
        row.push(meaning(change).to_string());
        table.row(row);
    }
    table
}

/// A signed percentage with three digits: `+3.4`, `-91.3`, `+1670`.
fn signed(percent: f64) -> String {
    if percent.abs() < 99.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
}

/// The variation between runs, as a standard deviation in percent; in brackets if it is assumed.
pub(super) fn scatter(found: Scatter) -> String {
    let percent = percent(found.deviation());
    match found {
        Scatter::Assumed => format!("({percent:.0} %)"),
        Scatter::RecordedFact { .. } => format!("{percent:.1} %"),
    }
}

/// A difference of logarithms in percent.
fn percent(logarithm: f64) -> f64 {
    logarithm.exp_m1() * 100.0
}

fn as_json(change: &Change) -> serde_json::Value {
    json!({
        "target": change.target,
        "pattern": change.pattern,
        "figure": change.measure.word(),
        "base": change.base,
        "new": change.new,
        "change_percent": change.percent(),
        "interval_ratio": change.interval,
        "scatter_percent": percent(change.scatter.deviation()),
        "scatter_runs": match change.scatter {
            Scatter::Assumed => None,
            Scatter::RecordedFact { studies, .. } => Some(studies),
        },
        "p_value": change.p_value,
        "rounds": [change.rounds.0, change.rounds.1],
        "shown": meaning(change),
        "trust": change.trust.word(),
    })
}

fn title(measure: Measure) -> &'static str {
    match measure {
        Measure::Rate => rate_unit(),
        Measure::Iops => "IOPS",
        Measure::P50 => "p50",
        Measure::P99 => "p99",
        Measure::Cpu => "CPU %",
        Measure::Wall => "wall",
        Measure::WallAndSync => "wall + sync",
    }
}

/// A figure in the unit of its title.
fn figure(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Rate => rate_number(value),
        Measure::P50 | Measure::P99 | Measure::Wall | Measure::WallAndSync => latency(value),
        Measure::Iops | Measure::Cpu => number(value),
    }
}

fn meaning(change: &Change) -> &'static str {
    if change.trust == Trust::Invalid {
        return "invalid";
    }
    match change.shown {
        Significance::Better => "better",
        Significance::Worse => "WORSE",
        Significance::NotShown => "not shown",
        Significance::Unknown if change.rounds == (1, 1) => "one run each",
        Significance::Unknown => "too few rounds",
    }
}

/// Number of figures that are worse, that are better, and that could be judged.
fn counts(found: &[Change]) -> (usize, usize, usize) {
    let count = |shown: Significance| found.iter().filter(|change| change.shown == shown).count();
    (count(Significance::Worse), count(Significance::Better), found.len() - count(Significance::Unknown))
}

/// The answer in a sentence.
fn outcome(found: &[Change]) -> String {
    match counts(found) {
        (_, _, 0) if found.iter().all(|change| change.rounds == (1, 1)) => {
            "No figure can be judged: one run does not show how far runs vary".to_owned()
        }
        (_, _, 0) => "No figure can be judged: each side needs four rounds".to_owned(),
        (0, 0, _) => unchanged(found).unwrap_or_else(|| "No figure can be judged: all are invalid".to_owned()),
        (worse, better, judged) => format!("{worse} worse and {better} better of {}", counted(judged as u64, "figure")),
    }
}

/// A sentence if nothing changed: `Nothing changed beyond the noise: the largest of 10 differences is seq-read p99 with
/// +94.5 % (interval -72.9..+571 %), 6.92 ms before and 11.1 ms after`; `None`: something changed, or no figure counts.
fn unchanged(found: &[Change]) -> Option<String> {
    let (0, 0, 1..) = counts(found) else { return None };
    let counts = |change: &&Change| change.shown == Significance::NotShown && change.trust != Trust::Invalid;
    let mut judged: Vec<&Change> = found.iter().filter(counts).collect();
    // CPU time is not a speed: it is only in the table.
    if judged.iter().any(|change| change.measure != Measure::Cpu) {
        judged.retain(|change| change.measure != Measure::Cpu);
    }
    let distance = |change: &Change| change.ratio.ln().abs();
    let most = *judged.iter().max_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    let which = match judged.len() {
        1 => "the only difference".to_owned(),
        several => format!("the largest of {several} differences"),
    };
    Some(format!("Nothing changed beyond the noise: {which} is {}", change_in_words(most)))
}

/// A change with its figures as the table has them: `randread IOPS with -25.9 % (interval -30.1..-20.4 %), 51,606 before and
/// 38,245 after`.
pub fn change_in_words(change: &Change) -> String {
    let interval = change.interval.map(|interval| format!(" (interval {})", range(interval))).unwrap_or_default();
    format!(
        "{} {} with {} %{interval}, {} before and {} after",
        name(change),
        title(change.measure),
        signed(change.percent()),
        figure(change.measure, change.base),
        figure(change.measure, change.new)
    )
}

/// An interval in words: `-72.9..+571 %`.
fn range(interval: Interval) -> String {
    format!("{}..{} %", signed((interval.low - 1.0) * 100.0), signed((interval.high - 1.0) * 100.0))
}

/// The pattern, with its target where there are several.
fn name(change: &Change) -> String {
    match &change.target {
        Some(target) => format!("{target} {}", test_name::title_of_phase(&change.pattern)),
        None => test_name::title_of_phase(&change.pattern).to_owned(),
    }
}

fn summary(found: &[Change]) -> String {
    let (worse, better, judged) = counts(found);
    let mut text = match (worse, better) {
        _ if judged == 0 => String::new(),
        (0, 0) => String::new(),
        _ => format!(
            "A change counts if its 95 % interval leaves out 0 % and it is more than 2 %; of {judged} figures up to \
             {:.0} may differ by chance.",
            (judged as f64 * 0.05).ceil()
        ),
    };
    if judged > 0 {
        let figures = "base and new are the figures of all rounds: medians of rates, percentiles of all requests";
        text.push_str(&format!(" {figures}; change is the median ratio over all pairs of rounds."));
        text.push_str(&widened(found, true));
    }
    text.push_str(too_few(found));
    text.trim_start().to_string()
}

/// Why some figures are not judged; empty where none is, as the answer says so.
fn too_few(found: &[Change]) -> &'static str {
    let (_, _, judged) = counts(found);
    match found.iter().any(|change| change.rounds == (1, 1)) {
        true if judged > 0 => " One run each shows no change: the noise between runs is unknown.",
        false if judged < found.len() => {
            " Fewer than four rounds on a side cannot separate a change from noise: run more rounds."
        }
        _ => "",
    }
}

/// A sentence on the intervals: which variation between runs they include beside that of the rounds.
fn widened(found: &[Change], in_table: bool) -> String {
    let judged = || found.iter().filter(|change| change.shown != Significance::Unknown);
    let seen = |change: &Change| match change.scatter {
        Scatter::Assumed => None,
        Scatter::RecordedFact { studies, .. } => Some(studies - 1),
    };
    let (fewest, most) = (judged().filter_map(seen).min(), judged().filter_map(seen).max());
    let mut text = String::new();
    if let (Some(fewest), Some(most)) = (fewest, most) {
        let runs = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        text.push_str(&format!(
            " The interval includes the variation between runs{} of base and {runs} earlier runs of the same plan.",
            if in_table { " (±runs, a standard deviation)" } else { "" }
        ));
    }
    if judged().any(|change| change.scatter == Scatter::Assumed) {
        text.push_str(&format!(
            " No history{}: fewer than {HISTORY_MIN} earlier runs of the same plan. The interval assumes ±{:.0} %, and \
             changes below {:.0} % are not shown. A larger difference between days may look like a change.",
            match (in_table, judged().all(|change| change.scatter == Scatter::Assumed)) {
                (true, _) => " where ±runs is in brackets",
                (false, true) => "",
                (false, false) => " of some figures",
            },
            percent(Scatter::Assumed.deviation()),
            -percent(-Scatter::Assumed.reach())
        ));
    }
    text
}
