//! The dyno sheet: one or more studies as one HTML file that needs nothing beside it. It opens offline, prints on
//! paper, and says all it has to say without scripts; with them, throughput through the run can be zoomed and read.
//!
//! - The page may load nothing: its policy names the only script, by its hash.
//! - What people wrote (names, paths, commands) is text wherever it stands, never markup.
//! - Long series are averaged to fewer points, and the page says so.

mod answer;
mod chart;
mod commands;
mod comparison;
mod course;
mod findings;
mod identity;
mod latency;
mod ledger;
mod load;
mod page;
mod pattern;
mod phases;
mod place;
mod raw;
mod series;
mod tiles;

use jiff::tz::TimeZone;
use maud::{Markup, html};
use results::{Question, Study};

use crate::headline::Headline;
use crate::quantity::{binary_bytes, listed, shortened};
use crate::summary::Grid;
use place::Place;

/// What is not in the studies.
#[derive(Clone, Debug)]
pub struct SheetOptions {
    /// The page's title; `None`: made from the studies.
    pub title: Option<String>,
    /// Times are shown in this zone.
    pub zone: TimeZone,
}

impl Default for SheetOptions {
    fn default() -> SheetOptions {
        SheetOptions { title: None, zone: TimeZone::UTC }
    }
}

/// The sheet of these studies, one after the other.
pub fn html(studies: &[Study], options: &SheetOptions) -> String {
    let grids: Vec<Grid<'_>> = studies.iter().map(Grid::of).collect();
    let title = options.title.clone().unwrap_or_else(|| page_title(&grids));
    let content = html! {
        header.masthead {
            p.brand { "fsdyno " span { "dyno sheet" } }
            h1 { (shortened(&title, 160)) }
            @if let [grid] = &grids[..] { (facts(grid, &options.zone)) }
        }
        @if grids.is_empty() { p.missing { "There are no runs to show." } }
        @for (index, grid) in grids.iter().enumerate() {
            @if grids.len() == 1 {
                (study(grid, &Place::new("s", 2)))
            } @else {
                @let place = Place::new(&format!("s{}", index + 1), 2);
                article.study {
                    (place.heading("title", html! { (shortened(&study_title(grid), 160)) }))
                    (facts(grid, &options.zone))
                    (study(grid, &place.deeper()))
                }
            }
        }
        (how_to_read(&grids))
    };
    page::document(&shortened(&title, 160), content)
}

fn study(grid: &Grid<'_>, place: &Place) -> Markup {
    let headline = Headline::of_grid(grid);
    html! {
        (answer::section(grid, &headline, place))
        (findings::section(grid, &headline, place))
        (identity::section(grid, place))
        (comparison::section(grid, place))
        (phases::section(grid, place))
        (pattern::sections(grid, place))
        (commands::section(grid, place))
        (raw::section(grid, place))
    }
}

fn page_title(grids: &[Grid<'_>]) -> String {
    match grids {
        [] => "Nothing measured".to_owned(),
        [grid] => study_title(grid),
        several => format!("{} studies", several.len()),
    }
}

fn study_title(grid: &Grid<'_>) -> String {
    if grid.study.question == Question::Fio {
        let jobs: Vec<String> = grid.lines.iter().map(|line| shortened(&line.title, 40)).collect();
        return if jobs.is_empty() { "A run without results".to_owned() } else { jobs.join(", ") };
    }
    let names: Vec<String> = grid.targets.iter().map(|name| shortened(name, 40)).collect();
    grid.study.question.title(&if names.is_empty() { "nothing".to_owned() } else { listed(&names) })
}

/// When, where and with what.
fn facts(grid: &Grid<'_>, zone: &TimeZone) -> Markup {
    let study = grid.study;
    let host = &study.host;
    let clock = host.clock.as_ref().map(|clock| format!("clock {}", clock.source));
    let machine: Vec<String> = [
        study.host_name.clone(),
        host.kernel.clone(),
        host.cpus.map(|cpus| format!("{cpus} CPUs")),
        host.memory_bytes.map(|bytes| format!("{} of memory", binary_bytes(bytes))),
        clock,
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        dl.facts {
            div { dt { "Run" } dd { (crate::calendar::span(study.started_ms, study.ended_ms, zone)) } }
            div { dt { "Machine" } dd {
                @if machine.is_empty() { "not recorded" } @else { (machine.join(" · ")) }
            } }
            div { dt { "Question" } dd { (study.question.word()) } }
            div { dt { "Written by" } dd { (study.version) } }
            div { dt { "Record" } dd { code { (shortened(&study.id, 80)) } } }
        }
        @if !study.complete {
            p.alarm { strong { "Stopped early. " } "These are the results until then." }
        }
    }
}

fn how_to_read(grids: &[Grid<'_>]) -> Markup {
    let rounds = grids.iter().map(Grid::rounds).max().unwrap_or(0);
    html! {
        footer {
            h2 id="reading" { "How to read this sheet" }
            ul {
                li { "MB is 1,000,000 bytes; KiB, MiB and GiB are powers of two." }
                @if rounds > 1 {
                    li { "Rates are medians of the rounds. Percentiles are over the requests of all rounds, "
                        "never averages of percentiles. Writes count when they are durable: syncs and "
                        "closes included." }
                    li { "× baseline is the median of the rounds' own ratios: what slows a whole round cancels out, so "
                        "it can differ from the ratio of the two medians. An interval contains the true median with "
                        "the given confidence, whatever the distribution. If the interval of × baseline contains 1, no "
                        "difference is shown, and there is no winner." }
                }
                li { strong { "ok" } ": no findings against the number. " strong { "caution" }
                    ": the number needs care. " strong { "invalid" }
                    ": the number answers another question; it is shown but not compared." }
                li { "“Not visible” means that fsdyno looked for a fact and could not see it from this machine; the "
                    "reason is next to it. It never means zero or fine." }
            }
        }
    }
}
