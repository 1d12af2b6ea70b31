//! What was found against the numbers: the reason a number is not what it looks like, and the next step.

use maud::{Markup, html};
use results::{Finding, Note, Severity, Trust};

use super::place::{Place, badge};
use crate::quantity::{binary_bytes, bytes, duration, number};
use crate::summary::Grid;

/// The same kind of finding against one target.
struct Group<'a> {
    target: usize,
    id: &'a str,
    severity: Severity,
    next: &'a str,
    cases: Vec<Case<'a>>,
}

/// What was found, in the words of the first round, and the patterns for which the same words hold.
struct Case<'a> {
    titles: Vec<&'a str>,
    finding: &'a Finding,
    /// Rounds that have it, of all rounds of these patterns.
    rounds: usize,
    of: usize,
}

impl Case<'_> {
    /// The patterns, of so many in all.
    fn named(&self, lines: usize) -> String {
        if self.titles.len() == lines { "every pattern".to_owned() } else { self.titles.join(" · ") }
    }

    fn says_the_same(&self, finding: &Finding) -> bool {
        self.finding.cause == finding.cause && self.finding.numbers == finding.numbers
    }
}

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let groups = groups(grid);
    let (worth_knowing, against): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|group| group.severity == Severity::Info);
    let notes = notes(grid);
    let errors: Vec<(&str, &str, String)> = grid
        .cells()
        .filter_map(|(line, target, cell)| Some((line.title.as_str(), grid.targets[target].as_str(), cell.error()?)))
        .collect();
    if grid.lines.is_empty() && notes.is_empty() {
        return html! {};
    }
    place.section(
        "findings",
        "Findings",
        html! {
            @if against.is_empty() && errors.is_empty() {
                p { "No findings against these numbers." }
            }
            @if !errors.is_empty() { ul.findings { @for (title, target, error) in &errors {
                li.finding.invalid {
                    p.finding-head { (badge(Trust::Invalid)) " " strong { (target) } " · " (title) }
                    p { "Failed with an error: " (error) "." }
                }
            } } }
            @if !against.is_empty() { ul.findings { @for group in &against { (item(group, grid, place)) } } }
            @if !worth_knowing.is_empty() {
                details { summary { "Worth knowing (" (worth_knowing.len()) ")" }
                    ul.findings { @for group in &worth_knowing { (item(group, grid, place)) } }
                }
            }
            @if !notes.is_empty() {
                details open[notes.iter().any(|note| note.severity > Severity::Info)] {
                    summary { "How it was done (" (notes.len()) ")" }
                    ul.notes { @for note in &notes { (note_item(note)) } }
                }
            }
        },
    )
}

/// The place that a cell's reason links to.
pub(super) fn anchor(place: &Place, target: usize, id: &str) -> String {
    let plain: String =
        id.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '-' }).collect();
    place.id(&format!("finding-{target}-{plain}"))
}

fn groups<'a>(grid: &'a Grid<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (line, target, cell) in grid.cells() {
        for finding in cell.findings() {
            let same = |group: &Group<'_>| {
                group.target == target && group.id == finding.id && group.severity == finding.severity
            };
            let index = groups.iter().position(same);
            let group = match index {
                Some(index) => &mut groups[index],
                None => {
                    groups.push(Group {
                        target,
                        id: &finding.id,
                        severity: finding.severity,
                        next: &finding.next,
                        cases: Vec::new(),
                    });
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            group.add(&line.title, finding, cell.repeats.len());
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.severity));
    groups
}

impl<'a> Group<'a> {
    /// A round's finding against a pattern that has so many rounds.
    fn add(&mut self, title: &'a str, finding: &'a Finding, rounds: usize) {
        // Later rounds of a pattern say it with numbers of their own: the first stands for them.
        if let Some(case) = self.cases.iter_mut().find(|case| case.titles.contains(&title)) {
            case.rounds += 1;
        } else if let Some(case) = self.cases.iter_mut().find(|case| case.says_the_same(finding)) {
            case.titles.push(title);
            case.rounds += 1;
            case.of += rounds;
        } else {
            self.cases.push(Case { titles: vec![title], finding, rounds: 1, of: rounds });
        }
    }
}

fn item(group: &Group<'_>, grid: &Grid<'_>, place: &Place) -> Markup {
    let trust = match group.severity {
        Severity::Info => Trust::Ok,
        Severity::Caution => Trust::Caution,
        Severity::Invalid => Trust::Invalid,
    };
    let class = if group.severity == Severity::Info { "finding info" } else { trust.word() };
    html! {
        li class=(format!("finding {class}")) id=(anchor(place, group.target, group.id)) {
            p.finding-head {
                @if group.severity != Severity::Info { (badge(trust)) " " }
                strong { (grid.targets[group.target]) } " · " code { (group.id) }
            }
            @for case in &group.cases {
                p { @if grid.lines.len() > 1 { strong.case { (case.named(grid.lines.len())) ": " } }
                    (sentence(&case.finding.cause))
                    @if case.of > 1 { small.muted { " " (case.rounds.min(case.of)) " of " (case.of) " rounds." } } }
                // Of several, the sentences say the numbers.
                @if group.cases.len() == 1 { (numbers(case.finding)) }
            }
            @if !group.next.trim().is_empty() { p.next { span { "Next" } " " (group.next) } }
        }
    }
}

/// With its full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}

fn numbers(finding: &Finding) -> Markup {
    html! {
        @if !finding.numbers.is_empty() {
            dl.numbers { @for figure in &finding.numbers {
                div { dt { (figure.name) } dd { (quantity(figure.value, &figure.unit)) } }
            } }
        }
    }
}

fn quantity(value: f64, unit: &str) -> String {
    match unit {
        // As the sentence before says it.
        "B" if value >= 0.0 => binary_bytes(value as u64),
        "B/s" => format!("{}/s", bytes(value)),
        "ns" => duration(value),
        // Shares are told in percent; what is many times something is a multiple.
        "ratio" if value.abs() <= 1.0 => format!("{}\u{a0}%", whole(value * 100.0)),
        "" | "ratio" => whole(value),
        "1/s" => format!("{}/s", number(value)),
        other => format!("{}\u{a0}{other}", whole(value)),
    }
}

/// Without decimals where there are none: `32`, not `32.0`.
fn whole(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
        return results::quantity::count(value as u64);
    }
    number(value)
}

/// Notes of the study and of its runs, each once, the grave ones first.
fn notes<'a>(grid: &Grid<'a>) -> Vec<&'a Note> {
    let study = grid.study;
    let of_runs = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.notes);
    let mut notes: Vec<&Note> = Vec::new();
    for note in study.notes.iter().chain(of_runs) {
        if !notes.iter().any(|known| known.id == note.id && known.text == note.text && known.job == note.job) {
            notes.push(note);
        }
    }
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    notes
}

fn note_item(note: &Note) -> Markup {
    let word = match note.severity {
        Severity::Info => None,
        Severity::Caution => Some(Trust::Caution),
        Severity::Invalid => Some(Trust::Invalid),
    };
    html! {
        li {
            @if let Some(trust) = word { (badge(trust)) " " }
            @if let Some(job) = &note.job { strong { (job) } ": " }
            (sentence(&note.text)) " " code.muted { (note.id) }
        }
    }
}
