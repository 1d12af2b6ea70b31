//! From one study to a later one, as a table; and the history of one figure.

use results::quantity::{counted, latency, number, rate_number, rate_unit};
use results::statistics::{HISTORY_MIN, Scatter, median};
use results::{Change, Measure, Question, Significance, Study, escape};

use serde_json::json;

use super::measure::reach;
use super::table::{Form, Table};
use crate::command;
use crate::summary::interval;

/// The changes from one study to a later one, and what is to be said of them.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// The changes.
    pub found: &'a [Change],
    /// What the earlier study is called.
    pub base: String,
    /// What the later one is called.
    pub new: String,
    /// What speaks against comparing them.
    pub obstacles: &'a [String],
    /// What helps where nothing can be judged.
    pub next: Next,
}

/// A command that leads to a judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It measures as many rounds as a judgement needs.
    MoreRounds(String),
    /// The question has no rounds: it lists the kept runs, which show how far they vary.
    KeptRuns(String),
}

/// Rounds on each side that can show a change.
const ROUNDS: u32 = 4;

impl Next {
    /// What helps with runs of this study's question.
    pub fn of(study: &Study) -> Next {
        match study.question {
            Question::Measure => Next::MoreRounds(command::with(study, "--runs", ROUNDS)),
            Question::Compare => Next::MoreRounds(command::with(study, "--rounds", ROUNDS)),
            _ => Next::KeptRuns(format!("fsdyno history {}", study.id)),
        }
    }
}

impl Changes<'_> {
    /// For a terminal of so many columns.
    pub fn text(&self, columns: usize) -> String {
        let form = Form::Text { columns };
        let answer = form.paragraph(&format!("{}.", outcome(self.found)));
        self.shown(&answer, form)
    }

    /// In Markdown.
    pub fn markdown(&self) -> String {
        self.shown(&format!("**{}**\n", escape::markdown(&outcome(self.found))), Form::Markdown)
    }

    fn shown(&self, answer: &str, form: Form) -> String {
        let (_, _, judged) = counts(self.found);
        let mut lines = vec![("base", self.base.clone()), ("new", self.new.clone())];
        // Figures that nobody can judge are no answer: what would give one is.
        let instead = matches!(self.next, Next::MoreRounds(_)) && judged == 0;
        let next = match &self.next {
            Next::MoreRounds(command) => format!("{command}: before the change, and after it"),
            Next::KeptRuns(command) => format!("{command}: how far the kept runs of this command vary"),
        };
        lines.extend((judged == 0).then_some(("next", next)));
        let mut text = format!("{answer}\n{}", form.labelled(&lines));
        if !instead {
            text.push_str(&format!("\n{}\n{}", table(self.found).shown(form), form.paragraph(&summary(self.found))));
        }
        for reason in self.obstacles {
            text.push_str(&form.paragraph(&format!("compared with --force although {reason}")));
        }
        escape::terminal(&text).into_owned()
    }

    /// As one JSON document.
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
        let name = match &change.target {
            Some(target) => format!("{target} {}", change.pattern),
            None => change.pattern.clone(),
        };
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
            row.push(change.interval.map_or("-".to_string(), |interval| {
                format!("{}..{} %", signed((interval.low - 1.0) * 100.0), signed((interval.high - 1.0) * 100.0))
            }));
            row.push(change.interval.map_or("-".to_string(), |_| scatter(change.scatter)));
        }
        row.push(meaning(change).to_string());
        table.row(row);
    }
    table
}

/// `+3.4`, `-91.3`, `+1670`: three digits say enough.
fn signed(percent: f64) -> String {
    if percent.abs() < 99.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
}

/// How far runs lie from each other, as a deviation in percent; in brackets what is assumed.
fn scatter(found: Scatter) -> String {
    let percent = percent(found.deviation());
    match found {
        Scatter::Assumed => format!("({percent:.0} %)"),
        Scatter::Seen { .. } => format!("{percent:.1} %"),
    }
}

/// A distance of logarithms in percent.
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
            Scatter::Seen { studies, .. } => Some(studies),
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
    }
}

/// A figure in the unit of its title.
fn figure(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Rate => rate_number(value),
        Measure::P50 | Measure::P99 => latency(value),
        Measure::Iops | Measure::Cpu => number(value),
    }
}

fn meaning(change: &Change) -> &'static str {
    if change.trust == results::Trust::Invalid {
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

/// So many figures are worse, so many better, and so many could be judged.
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
        (0, 0, _) => "No figure changed clearly".to_owned(),
        (worse, better, judged) => format!("{worse} worse and {better} better of {}", counted(judged as u64, "figure")),
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
        text.push_str(" base and new are medians of the rounds; change is the median ratio over all pairs of rounds.");
        text.push_str(&widened(found));
    }
    // Where nothing is judged, the answer has said why.
    let single = found.iter().any(|change| change.rounds == (1, 1));
    if single && judged > 0 {
        text.push_str(" One run each shows no change: the noise between runs is unknown.");
    } else if !single && judged < found.len() {
        text.push_str(" Fewer than four rounds on a side cannot separate a change from noise: run more rounds.");
    }
    text.trim_start().to_string()
}

/// What stands in the intervals beside the scatter of the rounds.
fn widened(found: &[Change]) -> String {
    let judged = || found.iter().filter(|change| change.shown != Significance::Unknown);
    let seen = |change: &Change| match change.scatter {
        Scatter::Assumed => None,
        Scatter::Seen { studies, .. } => Some(studies - 1),
    };
    let (fewest, most) = (judged().filter_map(seen).min(), judged().filter_map(seen).max());
    let mut text = String::new();
    if let (Some(fewest), Some(most)) = (fewest, most) {
        let runs = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        text.push_str(&format!(
            " The interval includes the variation between runs (±runs, a standard deviation) of base and {runs} \
             earlier runs of the same plan."
        ));
    }
    if judged().any(|change| change.scatter == Scatter::Assumed) {
        text.push_str(&format!(
            " No history where ±runs is in brackets: fewer than {HISTORY_MIN} earlier runs of the same plan. The \
             interval assumes ±{:.0} %, and changes below {:.0} % are not shown. A larger difference between days may \
             look like a change.",
            percent(Scatter::Assumed.deviation()),
            -percent(-Scatter::Assumed.reach())
        ));
    }
    text
}

/// One line per study: the course of the main figures of the patterns; a table per target.
pub fn history(studies: &[Study], columns: usize) -> String {
    let Some(first) = studies.first() else { return String::new() };
    let form = Form::Text { columns };
    let runs = counted(studies.len() as u64, "run");
    let title = first.question.title(&first.target_names().join(", "));
    let mut text = form.paragraph(&format!(
        "{title} {runs}; IOPS (of writes until they are durable), medians of the rounds, ± the interval of the median \
         from three rounds on:"
    ));
    for target in 0..first.targets.len().max(1) {
        if first.targets.len() > 1 {
            text.push_str(&format!("\n{} = {}\n", first.targets[target].name, first.targets[target].path));
        }
        let tests = first.tests();
        let mut rest = &tests[..];
        while !rest.is_empty() {
            // As many tests beside each other as there is room for.
            let fitting = (1..=rest.len()).rev().find(|count| course(studies, target, &rest[..*count]).fits(form));
            let (shown, others) = rest.split_at(fitting.unwrap_or(1));
            let table = course(studies, target, shown);
            text.push_str(&format!("\n{}", table.explained(form)));
            rest = others;
        }
    }
    escape::terminal(&text).into_owned()
}

/// The same as one JSON document, with all figures: bytes per second, ns, percent of a CPU.
pub fn history_json(studies: &[Study]) -> String {
    let tests = |study: &Study| -> Vec<serde_json::Value> {
        let each_target = study.targets.iter().enumerate();
        let tests = each_target.flat_map(|(target, place)| {
            study.tests().into_iter().map(move |pattern| {
                let each = |of: &dyn Fn(&[f64]) -> serde_json::Value| -> serde_json::Map<String, serde_json::Value> {
                    let figure = |measure: Measure| of(&by_round(study, target, pattern, measure));
                    Measure::ALL.into_iter().map(|measure| (measure.word().to_owned(), figure(measure))).collect()
                };
                json!({
                    "target": place.path,
                    "pattern": pattern,
                    "figures": each(&|values| median(values).into()),
                    "intervals": each(&|values| json!(interval(values))),
                    "rounds": study.repeats(target, pattern).count(),
                    "trust": study.repeats(target, pattern).map(results::Row::trust).max().unwrap_or_default().word(),
                })
            })
        });
        tests.collect()
    };
    let runs = studies.iter().map(|study| {
        json!({
            "id": study.id,
            "started_ms": study.started_ms,
            "complete": study.complete,
            "tests": tests(study),
        })
    });
    let headline = format!("{} of the same plan", counted(studies.len() as u64, "run"));
    crate::document(headline, json!({ "runs": runs.collect::<Vec<_>>() }))
}

/// The figure of each round that has it.
fn by_round(study: &Study, target: usize, pattern: &str, measure: Measure) -> Vec<f64> {
    study.repeats(target, pattern).filter_map(|row| measure.of(row)).collect()
}

/// The course of these tests on one target.
fn course(studies: &[Study], target: usize, patterns: &[&str]) -> Table {
    let headers: Vec<&str> = ["run"].into_iter().chain(patterns.iter().copied()).chain(["<trust"]).collect();
    let mut table = Table::new(&headers);
    for study in studies {
        let mut cells = vec![study.id.clone()];
        for pattern in patterns {
            let values = by_round(study, target, pattern, Measure::Iops);
            let shown = |median: f64| format!("{}{}", number(median), reach(median, interval(&values)));
            cells.push(median(&values).map_or("-".to_string(), shown));
        }
        let rows = study.rows.iter().filter(|row| row.target == target && patterns.contains(&row.pattern.as_str()));
        cells.push(rows.map(results::Row::trust).max().unwrap_or_default().word().to_string());
        table.row(cells);
    }
    if let Some(cells) = scatter_row(studies, target, patterns) {
        table.row(cells);
    }
    table
}

/// How far runs lie from each other: what `diff` widens its intervals by when the last of them is its base. `None`: too
/// few runs.
fn scatter_row(studies: &[Study], target: usize, patterns: &[&str]) -> Option<Vec<String>> {
    let whole: Vec<&Study> = studies.iter().filter(|study| study.complete).collect();
    let last = whole.last()?;
    let of = |pattern: &&str| {
        results::scatter(&whole, target, pattern, Measure::Iops, last.repeats(target, pattern).count())
    };
    let found: Vec<Scatter> = patterns.iter().map(of).collect();
    if found.iter().all(|found| *found == Scatter::Assumed) {
        return None;
    }
    let cell = |found: &Scatter| match found {
        Scatter::Assumed => "-".to_string(),
        seen => format!("±{}", scatter(*seen)),
    };
    Some(["run to run".to_string()].into_iter().chain(found.iter().map(cell)).chain([String::new()]).collect())
}
