//! The few figures that an answer rests on, large; and its short lines.

use maud::{Markup, html};
use results::Trust;

use super::place::badge;
use crate::headline::{Headline, Six, TestFigures, figures};

/// One tile for each figure by which a storage is known; none where the question measures others.
pub(super) fn of(headline: &Headline) -> Markup {
    let six = Six::of(&headline.tests);
    if !six.any() {
        return html! {};
    }
    let tiles: [(&str, Option<&TestFigures>, Figure); 7] = [
        ("sequential read", six.seq_read, figures::throughput),
        ("sequential write", six.seq_write, figures::throughput),
        ("random 4k read", six.rand_read, figures::rate),
        ("random 4k write", six.rand_write, figures::rate),
        ("a 4k read", six.read_latency, figures::typical),
        ("a 4k write", six.write_latency, figures::typical),
        ("making a write durable", six.sync_latency, figures::typical),
    ];
    html! {
        ul.tiles {
            @for (name, test, figure) in tiles {
                @if let Some(test) = test { (tile(name, test, figure)) }
            }
        }
    }
}

type Figure = fn(&TestFigures) -> Option<String>;

fn tile(name: &str, test: &TestFigures, figure: Figure) -> Markup {
    let words = figure(test).filter(|_| test.counts()).unwrap_or_else(|| "–".to_owned());
    let (value, unit) = words.split_once(' ').unwrap_or((&words, ""));
    let is_latency = test.name.ends_with("-latency");
    html! {
        li.tile {
            span.tile-name { (name) }
            span.tile-value { (value) @if !unit.is_empty() { "\u{a0}" small { (unit) } } }
            span.tile-more {
                @if let Some(p99) = figures::p99(test).filter(|_| is_latency && test.counts()) { "p99 " (p99) " " }
                @if test.trust > Trust::Ok { (badge(test.trust)) " " }
                code { (test.name) }
            }
        }
    }
}

/// Trust, limits and next steps, each behind its label; what has no label belongs to the one before.
pub(super) fn lines(lines: &[(&str, String)]) -> Markup {
    let mut labelled: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, words) in lines {
        match labelled.last_mut().filter(|_| label.is_empty()) {
            Some((_, same)) => same.push(words),
            None => labelled.push((label, vec![words])),
        }
    }
    html! {
        @if !labelled.is_empty() {
            dl.short { @for (label, all) in labelled {
                div { dt { (label) } @for words in all { dd { (words) } } }
            } }
        }
    }
}
