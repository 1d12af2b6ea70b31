//! Makes the first section: the headline, the figures that it rests on, trust, limits, next steps.

use fsdyno_results::{Question, Study, Trust};
use maud::{Markup, html};

use super::outline::{Outline, badge};
use super::{glance, tiles, verdicts};
use crate::headline::{Headline, Step, figures};
use crate::quantity::{counted, shortened};
use crate::summary::{Grid, PatternLine};
use crate::tables::{left_out, with_joined_units};

pub(super) fn section(grid: &Grid<'_>, headline: &Headline, place: &Outline) -> Markup {
    let study = grid.study;
    html! {
        section.answer aria-labelledby=(place.id("answer")) {
            p.lead id=(place.id("answer")) {
                (prose(&headline.headline.clone().unwrap_or_else(|| in_short(grid, headline))))
            }
            (tiles::of(grid, headline))
            (glance::table(grid, headline))
            (verdicts::list(&headline.verdicts))
            (super::load::figure(grid, place))
            (super::scaling::figure(grid, place))
            (short_lines(headline, study))
        }
    }
}

/// The study's sentences on why the figures are as they are.
pub(super) fn why(grid: &Grid<'_>, headline: &Headline, place: &Outline) -> Markup {
    let sentences = grid.study.sentences.iter().filter_map(|sentence| headline.beyond(grid.study, sentence));
    let sentences: Vec<&str> = sentences.collect();
    if sentences.is_empty() {
        return html! {};
    }
    place.section(
        "why",
        "Behind the figures",
        html! { ul.why { @for sentence in sentences { li { (prose(sentence)) } } } },
    )
}

/// A sentence on what the study contains, where the question has no headline.
fn in_short(grid: &Grid<'_>, headline: &Headline) -> String {
    match &headline.tests[..] {
        [] => "No results.".to_owned(),
        [only] => {
            let p99 = figures::p99(only).map(|p99| format!("p99 {p99}"));
            let words: Vec<String> =
                [figures::throughput(only), figures::rate(only), p99].into_iter().flatten().collect();
            let words = if words.is_empty() { "no figures".to_owned() } else { words.join(", ") };
            format!("{}: {words}", shortened(&only.title, 120))
        }
        tests => {
            let kind = match grid.study.question {
                Question::Fio => "job",
                _ if grid.lines.iter().all(PatternLine::is_phase) => "operation",
                _ => "test",
            };
            let places = match grid.targets.len() {
                1 => String::new(),
                several => format!(" on {}", counted(several as u64, "place")),
            };
            let doubts = [(Trust::Invalid, "invalid"), (Trust::Caution, "to be read with care")];
            let doubt = |(trust, words): (Trust, &str)| {
                let count = tests.iter().filter(|test| test.trust == trust).count();
                (count > 0).then(|| format!("; {} {words}", counted(count as u64, "result")))
            };
            let doubts: String = doubts.into_iter().filter_map(doubt).collect();
            format!("{}{places}{doubts}", counted(grid.lines.len() as u64, kind))
        }
    }
}

/// Up to this number of kinds of findings are named here; all are in their own section.
const KINDS: usize = 3;

/// The labelled short lines below the headline: trust, limits and next steps.
fn short_lines(headline: &Headline, study: &Study) -> Markup {
    if headline.tests.is_empty() {
        return html! {};
    }
    // The step that opens this sheet is left out.
    let is_sheet = |step: &Step| step.command.as_ref().is_some_and(|command| command.starts_with("fsdyno report "));
    // Trust has its badge here, and each limit a line of its own.
    let is_beside = |(label, _): &(&str, String)| !["trust", "limited by", ""].contains(label);
    let beside: Vec<(&str, String)> = headline.lines(study).into_iter().filter(is_beside).collect();
    let next: Vec<&Step> = headline.next.iter().filter(|step| !is_sheet(step)).collect();
    html! {
        dl.short {
            @for (label, words) in &beside { div { dt { (label) } dd { (prose(words)) } } }
            div { dt { "trust" } dd { (badge(headline.trust.trust)) " " (prose(&headline.trust.reasons(KINDS))) } }
            @if !headline.limits.is_empty() { div { dt { "limited by" }
                @for limit in &headline.limits { dd { (prose(limit)) } } } }
            @for text in left_out(study) { div { dt { "note" } dd { (prose(text)) } } }
            @if !next.is_empty() && study.question != Question::Fio { div { dt { "next" } @for step in next {
                dd { (step.what) @if let Some(command) = &step.command { ": " code { (unbroken(command)) } } } } } }
        }
    }
}

/// Up to this length a word with a hyphen is kept unbroken.
const UNBROKEN: usize = 28;

/// Sentences whose units stay with their numbers, and whose names stay unbroken.
pub(super) fn prose(text: &str) -> Markup {
    unbroken(&with_joined_units(text))
}

/// A text whose options and names stay unbroken: browsers break lines after hyphens.
pub(super) fn unbroken(text: &str) -> Markup {
    html! {
        @for (index, word) in text.split(' ').enumerate() {
            @if index > 0 { " " }
            @if word.contains('-') && word.len() <= UNBROKEN { span.option { (word) } } @else { (word) }
        }
    }
}
