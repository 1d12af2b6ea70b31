//! Makes the tiles: the few figures that an answer rests on, in large type.

use fsdyno_results::{Question, Trust};
use maud::{Markup, html};

use super::chart::time;
use super::outline::badge;
use super::series::Series;
use crate::headline::{Headline, StorageTests, TestFigures, figures, pairs};
use crate::quantity::{counted, shortened};
use crate::summary::Grid;

/// A fio command line with more jobs than this has no tiles.
const JOBS_MAX: usize = 8;

type Figure = fn(&TestFigures) -> Option<String>;

/// One tile for each figure by which a storage is described, or for each job of a fio command line; none for other
/// questions.
pub(super) fn of(grid: &Grid<'_>, headline: &Headline) -> Markup {
    let six = StorageTests::of(&headline.tests);
    let known: [(&str, Option<&TestFigures>, Figure); 7] = [
        ("sequential read", six.seq_read, figures::throughput),
        ("sequential write", six.seq_write, figures::throughput),
        ("random 4k read", six.rand_read, figures::rate),
        ("random 4k write", six.rand_write, figures::rate),
        ("a 4k read: median", six.read_latency, figures::typical),
        ("a 4k write: median", six.write_latency, figures::typical),
        ("a durable 4k write: median", six.sync_latency, figures::typical),
    ];
    let tiles: Vec<Markup> = if grid.study.question == Question::Fio && headline.tests.len() <= JOBS_MAX {
        headline.tests.iter().map(|test| tile(&shortened(&test.title, 40), test, figures::compared, grid)).collect()
    } else {
        let familiar = pairs(&headline.tests).into_iter().flat_map(|pair| [pair.read, pair.write]).flatten();
        let familiar = familiar.map(|test| tile(&test.name, test, figures::throughput, grid));
        known
            .into_iter()
            .filter_map(|(name, test, figure)| Some(tile(name, test?, figure, grid)))
            .chain(familiar)
            .collect()
    };
    html! {
        @if !tiles.is_empty() { ul.tiles { @for tile in tiles { (tile) } } }
    }
}

fn tile(name: &str, test: &TestFigures, figure: Figure, grid: &Grid<'_>) -> Markup {
    let words = figure(test).filter(|_| test.counts()).unwrap_or_else(|| "–".to_owned());
    let (value, unit) = words.split_once(' ').unwrap_or((&words, ""));
    let line = grid.lines.iter().find(|line| line.pattern == test.name);
    let series = line.and_then(Series::of).filter(|_| test.counts());
    let spark = series.and_then(|series| time::spark(series.main_lines().next()?));
    html! {
        li.tile {
            span.tile-name { (name) " " (badge(test.trust)) }
            span.tile-value { (value) @if !unit.is_empty() { "\u{a0}" small { (unit) } } }
            span.tile-more {
                @if name != test.name { (test.name) } @else { (figures::compared(test).unwrap_or_default()) }
                @if test.trust < Trust::Invalid { @if let Some(p99) = figures::p99(test) { " · p99\u{a0}" (p99.replace(' ', "\u{a0}")) } }
                @if let Some(mean) = figures::mean_apart(test) { " · mean\u{a0}" (mean.replace(' ', "\u{a0}")) }
                @if test.runs > 1 { " · " (counted(test.runs as u64, "run")) }
            }
            @if let Some(spark) = spark { (spark) }
        }
    }
}
