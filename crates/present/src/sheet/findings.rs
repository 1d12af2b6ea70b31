//! What was found against the numbers: the reason a number is not what it looks like, and the next step.

use maud::{Markup, html};
use results::{Note, Severity, Trust};

use super::place::{Place, badge};
use crate::headline::{Found, Headline};
use crate::summary::Grid;

pub(super) fn section(grid: &Grid<'_>, headline: &Headline, place: &Place) -> Markup {
    let (against, worth_knowing): (Vec<&Found>, Vec<&Found>) =
        headline.findings.iter().partition(|found| found.is_against());
    let several_targets = grid.targets.len() > 1;
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
            @if !against.is_empty() { ul.findings { @for found in &against { (item(found, several_targets, place)) } } }
            @if !worth_knowing.is_empty() {
                details { summary { "Worth knowing (" (worth_knowing.len()) ")" }
                    ul.findings { @for found in &worth_knowing { (item(found, several_targets, place)) } }
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

fn item(found: &Found, several_targets: bool, place: &Place) -> Markup {
    let trust = if found.severity == Severity::Invalid { Trust::Invalid } else { Trust::Caution };
    let class = if found.is_against() { trust.word() } else { "info" };
    html! {
        li class=(format!("finding {class}")) id=(anchor(place, found.target_index, &found.id)) {
            p.finding-head {
                @if found.is_against() { (badge(trust)) " " }
                @if several_targets { strong { (found.target) } " · " }
                strong { (found.title) } " · " code { (found.id) }
            }
            @for cause in found.sentences() { p { (sentence(&cause)) } }
            @if !found.next.trim().is_empty() { p.next { span { "Next" } " " (found.next) } }
        }
    }
}

/// With its full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
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
