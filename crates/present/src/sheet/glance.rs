//! Makes the comparison at a glance: the figure of each test on each storage with a bar, and the ranking.

use fsdyno_results::{Question, Trust};
use maud::{Markup, html};

use super::chart::{colour, px};
use super::outline::{mark, named, test};
use super::table::{Table, TableRow};
use crate::headline::{Headline, PatternRanking, TestFigures, figures, ratio_legend};
use crate::quantity::shortened;
use crate::summary::{Grid, PatternLine};

/// The table; empty where the question compares nothing.
pub(super) fn table(grid: &Grid<'_>, headline: &Headline) -> Markup {
    let is_compared = matches!(grid.study.question, Question::Compare | Question::Time | Question::SmallFiles);
    if !is_compared || grid.targets.len() < 2 || grid.lines.is_empty() {
        return html! {};
    }
    let mut table = Table::new().words("Test");
    for name in &grid.targets {
        table = table.numbers(&shortened(name, 16));
    }
    // A place and its reference are not ranked.
    let is_judged = !headline.standings.is_empty();
    table = table.words("Who is ahead");
    for line in &grid.lines {
        let figures: Vec<Option<&TestFigures>> =
            grid.targets.iter().map(|target| find(headline, line, target)).collect();
        // The bar's length is that of the figure above it.
        let value = |test: &TestFigures| test.wall_s.or(if test.by_requests { test.iops } else { test.mb_per_s });
        let most = figures.iter().flatten().filter_map(|test| value(test)).fold(0.0, f64::max);
        let cell = |(target, found): (usize, &Option<&TestFigures>)| {
            let found = (*found)?;
            let share = value(found).filter(|_| most > 0.0).map_or(0.0, |value| value / most);
            Some(html! {
                span.invalid-figure[!found.counts()] { (words(found)) } " "
                // Cells without a mark keep its width, so that figures align.
                @if found.trust == Trust::Ok { span.badge.unmarked aria-hidden="true" { "!" } } @else { (mark(found.trust)) }
                (bar(share, target))
            })
        };
        let mut cells = vec![Some(html! { (test(&line.pattern)) small.what { (shortened(&line.title, 80)) } })];
        cells.extend(figures.iter().enumerate().map(cell));
        cells.push(is_judged.then(|| html! { (PatternRanking::of(grid, line).conclusion) }));
        table.row(TableRow { begins: true, is_void: false, cells });
    }
    html! {
        p.key { @for target in 0..grid.targets.len() { span { (named(grid, target)) } } }
        (table.shown("small glance", ""))
        @let is_used = |trust| headline.tests.iter().any(|test| test.trust == trust);
        @let is_marked = is_used(Trust::Caution) || is_used(Trust::Invalid);
        @let ratio = ratio_legend(&headline.standings, grid.rounds());
        @if is_marked || ratio.is_some() {
            p.legend {
                @if is_used(Trust::Caution) { (mark(Trust::Caution)) " caution  " }
                @if is_used(Trust::Invalid) { (mark(Trust::Invalid)) " invalid: cannot win  " }
                @if is_marked { "The findings say why.  " }
                @if let Some(ratio) = ratio { (ratio) }
            }
        }
    }
}

fn find<'a>(headline: &'a Headline, line: &PatternLine<'_>, target: &str) -> Option<&'a TestFigures> {
    headline.tests.iter().find(|test| test.name == line.pattern && test.target == target)
}

fn words(test: &TestFigures) -> String {
    figures::compared(test).unwrap_or_else(|| "–".to_owned()).replace(' ', "\u{a0}")
}

/// A bar for a share of the largest figure of any storage.
fn bar(share: f64, target: usize) -> Markup {
    html! {
        svg.share aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" {
            rect.track width="100" height="4" {}
            rect class=(format!("bar {}", colour(target))) width=(px(share * 100.0)) height="4" {}
        }
    }
}
