//! Makes the dyno sheet: one or more studies as one HTML file that needs no other file. It opens offline, prints on
//! paper, and is complete without scripts; with them, throughput over time can be zoomed and read.
//!
//! - The page may load nothing: its policy names the only script, by its hash.
//! - What people wrote (names, paths, commands) is always text, never markup.
//! - Long series are averaged to fewer points, and the page says so.

mod answer;
mod chart;
mod charts;
mod figures;
mod findings;
mod glance;
mod identity;
mod ledger;
mod load;
mod nodes;
mod outline;
mod page;
mod rate_changes;
mod reproduce;
mod scaling;
mod series;
mod table;
mod tiles;
mod verdicts;

use fsdyno_results::{Question, Study};
use fsdyno_text::quantity::Units;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use crate::headline::Headline;
use crate::quantity::{bytes, counted, listed, shortened};
use crate::summary::Grid;
use crate::tables::filesystem;
use outline::Outline;

/// Options of a sheet that are not in the studies.
#[derive(Clone, Debug)]
pub struct SheetOptions {
    /// The page's title; `None`: made from the studies.
    pub title: Option<String>,
    /// The time zone in which times are shown.
    pub zone: TimeZone,
}

impl Default for SheetOptions {
    fn default() -> SheetOptions {
        SheetOptions { title: None, zone: TimeZone::UTC }
    }
}

/// The sheet of these studies, in their order.
pub fn html(studies: &[Study], options: &SheetOptions) -> String {
    let grids: Vec<Grid<'_>> = studies.iter().map(Grid::of).collect();
    let title = options.title.clone().unwrap_or_else(|| page_title(&grids));
    let content = html! {
        header.masthead {
            p.brand { "fsdyno " span { "dyno sheet" } }
            h1 { (shortened(&title, 160)) }
            @if let [grid] = &grids[..] { (when_and_where(grid, &options.zone)) }
        }
        @if grids.is_empty() { p.missing { "There are no runs to show." } }
        @for (index, grid) in grids.iter().enumerate() {
            @if grids.len() == 1 {
                (study(grid, &Outline::new("s", 2)))
            } @else {
                @let place = Outline::new(&format!("s{}", index + 1), 2);
                article.study {
                    (place.heading("title", html! { (shortened(&study_title(grid), 160)) }))
                    (when_and_where(grid, &options.zone))
                    (study(grid, &place.deeper()))
                }
            }
        }
        (how_to_read(&grids))
    };
    page::document(&shortened(&title, 160), content)
}

fn study(grid: &Grid<'_>, place: &Outline) -> Markup {
    let headline = Headline::of_grid(grid);
    html! {
        (answer::section(grid, &headline, place))
        (charts::section(grid, place))
        (findings::section(grid, &headline, place))
        (answer::why(grid, &headline, place))
        (nodes::section(&headline, place))
        (figures::section(grid, &headline, place))
        (verdicts::section(grid, place))
        (identity::section(grid, place))
        (ledger::section(grid, place))
        (reproduce::section(grid, place))
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
    let names: Vec<String> = match &grid.study.targets[..] {
        [only] if !only.path.is_empty() => vec![shortened(&only.path, 80)],
        _ => grid.targets.iter().map(|name| shortened(name, 40)).collect(),
    };
    grid.study.question.title(&if names.is_empty() { "nothing".to_owned() } else { listed(&names) })
}

/// A line with time and machine.
fn when_and_where(grid: &Grid<'_>, zone: &TimeZone) -> Markup {
    let study = grid.study;
    let host = &study.host;
    let mount = match &study.targets[..] {
        [only] => filesystem(only),
        _ => None,
    };
    // With several places, the path of each name.
    let places = study.targets.iter().zip(&grid.targets).filter(|_| study.targets.len() > 1);
    let places = places.map(|(target, name)| {
        let on = filesystem(target).map(|on| format!(": {on}")).unwrap_or_default();
        format!("{} = {}{on}", shortened(name, 40), shortened(&target.path, 80))
    });
    let facts: Vec<String> = [
        mount,
        Some(crate::calendar::span(study.started_ms, study.ended_ms, zone)),
        study.host_name.clone(),
        host.kernel.clone(),
        host.cpus.map(|cpus| counted(u64::from(cpus), "CPU")),
        host.memory_bytes.map(|memory| format!("{} of memory", bytes(memory))),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! {
        @for place in places { p.facts { (place) } }
        p.facts { (facts.join(" · ")) }
        @if let Some([what, figures]) = crate::tables::incomplete(study) {
            p.alarm { strong { (what) } ": " (figures) "." }
        }
    }
}

fn how_to_read(grids: &[Grid<'_>]) -> Markup {
    let is_compared = grids.iter().any(|grid| grid.targets.len() > 1 && grid.rounds() > 1);
    html! {
        footer {
            p {
                @if Units::shown() == Units::Decimal { "MB/s are 1,000,000 bytes per second; " }
                "KiB, MiB and GiB are powers of two. "
                strong { "ok" } ": nothing was found against the figure. " strong { "caution" } ": the figure needs care. "
                strong { "invalid" } ": it answers another question; it is shown but not compared. "
                "“Not visible” means that it could not be seen from this machine, never zero or fine."
                @if is_compared {
                    " Ratio is that to the baseline: the median of the rounds' own ratios, so that what slows a whole round cancels out. If its interval \
                     contains 1, no difference is shown."
                }
            }
            p { @for grid in grids { "Record " code { (shortened(&grid.study.id, 80)) } ", written by " (grid.study.version) ". " } }
        }
    }
}
