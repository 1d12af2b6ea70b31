//! Makes the section on reproduction: the conditions, the exact commands, and the numbers.

use fsdyno_results::{Note, Question, Severity, Trust};
use fsdyno_stats::sort;
use maud::{Markup, html};

use super::answer::unbroken;
use super::outline::{Outline, badge, place_of, test};
use crate::summary::Grid;
use crate::{command, export};
use fsdyno_text::shell::as_typed;

pub(super) fn section(grid: &Grid<'_>, place: &Outline) -> Markup {
    let (notes, whole) = (notes(grid), command::of(grid.study));
    if grid.lines.is_empty() && notes.is_empty() {
        return html! {};
    }
    let lines: Vec<(&str, usize, String)> = grid
        .cells()
        .filter_map(|(line, target, cell)| Some((&*line.pattern, target, today(&cell.repeats.first()?.row.command))))
        .filter(|(_, _, command)| !command.is_empty() && *command != as_typed(&grid.study.command))
        .collect();
    let csv = export::csv(grid.study);
    let (all, before) = match grid.study.question {
        Question::Time => ("Each command, as it ran in its directory", ""),
        _ => ("Each test alone, as a line of fio", "fio "),
    };
    place.section(
        "reproduce",
        "Reproduce",
        html! {
            @if !whole.is_empty() { pre.command tabindex="0" { code { (whole) } } }
            @if !notes.is_empty() { ul.notes { @for note in &notes { (note_item(note)) } } }
            @if !lines.is_empty() { details {
                summary { (all) }
                ul.commands { @for (name, target, command) in &lines {
                    li { span.command-name { (test(name)) @if let Some(place) = place_of(grid, *target) { " " (place) } }
                        pre.command tabindex="0" { code { (before) (command) } } }
                } }
            } }
            @if !grid.lines.is_empty() { details {
                summary { "Each round as CSV (" (csv.lines().count().saturating_sub(1)) " rows)" }
                pre.csv tabindex="0" { (csv) }
            } }
        },
    )
}

/// The first part of a work directory's name.
const WORK: &str = "/fsdyno-work-";

/// The command line as it can be run today: the work directory is gone, so its files are placed beside it, under unique
/// names.
fn today(command: &[String]) -> String {
    let is_work = |word: &String| word.contains(WORK);
    let moved = |word: &String| {
        // The name of each job's file; a file of the user must not have it.
        if let Some(format) = word.strip_prefix("--filename_format=").filter(|_| command.iter().any(is_work)) {
            return format!("--filename_format=fsdyno-{format}");
        }
        let Some((place, rest)) = word.split_once(WORK) else { return word.clone() };
        match rest.split_once('/') {
            Some((_, file)) => format!("{place}/fsdyno-{}", file.replace('/', "-")),
            None => place.to_owned(),
        }
    };
    as_typed(&command.iter().map(moved).collect::<Vec<_>>())
}

/// Notes of the study and of its runs without duplicates, the gravest first.
fn notes<'a>(grid: &Grid<'a>) -> Vec<&'a Note> {
    let study = grid.study;
    let of_runs = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.notes);
    let mut notes: Vec<&Note> = Vec::new();
    for note in study.notes.iter().chain(of_runs) {
        if !notes.iter().any(|known| known.id == note.id && known.text == note.text && known.job == note.job) {
            notes.push(note);
        }
    }
    sort::by_key(&mut notes, |note| std::cmp::Reverse(note.severity));
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
            (note.text) " " code.muted { (unbroken(&note.id)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_no_directory_that_is_gone() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let file = words(&["--rw=read", "--filename=/data/fsdyno-work-1-2-3/measure.dat", "--size=1m"]);
        assert_eq!(today(&file), "--rw=read --filename=/data/fsdyno-measure.dat --size=1m");
        let several = words(&["--directory=/my data/fsdyno-work-1-2-3", "--filename_format=compare.$jobnum"]);
        assert_eq!(today(&several), "'--directory=/my data' '--filename_format=fsdyno-compare.$jobnum'");
        assert_eq!(today(&several[1..]), "'--filename_format=compare.$jobnum'", "it is the user's");
        assert_eq!(today(&words(&["--directory=/data"])), "--directory=/data");
    }
}
