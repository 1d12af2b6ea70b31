//! Makes the section on nodes: for each test a strip with a bar per node, and the least, the median and the most.

use fsdyno_text::quantity::{rate_number, rate_unit};
use maud::{Markup, html};

use super::chart::{Frame, px, svg};
use super::outline::{Outline, test};
use super::table::{Table, TableRow};
use crate::headline::{Headline, NodesOfTest, Spread};
use crate::quantity::{duration, number, shortened};

/// Most bars of a strip: with more nodes, a bar stands for several.
const BARS_MAX: usize = 160;

/// Size of a strip, px.
const SIZE: (f64, f64) = (640.0, 48.0);

/// Formats a figure for a cell.
type FigureFormat = fn(f64) -> String;

pub(super) fn section(headline: &Headline, place: &Outline) -> Markup {
    if headline.nodes.is_empty() {
        return html! {};
    }
    let mut table = Table::new().words("Test").words("Figure").numbers("Least").words("On").numbers("Median");
    table = table.numbers("Most").words("On").numbers("Most/least");
    for of_test in &headline.nodes {
        let lines: [(&str, Option<&Spread>, FigureFormat); 3] = [
            (rate_unit(), Some(&of_test.mb_per_s), |rate| rate_number(rate * 1e6)),
            ("IOPS", Some(&of_test.iops), number),
            ("p99", of_test.p99_us.as_ref(), |us| duration(us * 1e3)),
        ];
        for (index, (figure, spread, words)) in lines.into_iter().enumerate() {
            let Some(spread) = spread else { continue };
            table.row(TableRow {
                begins: index == 0,
                is_void: false,
                cells: vec![
                    Some(html! { (test(&of_test.test)) }),
                    Some(html! { (figure) }),
                    Some(html! { (words(spread.least)) }),
                    Some(html! { (shortened(&spread.least_node, 24)) }),
                    Some(html! { (words(spread.median)) }),
                    Some(html! { (words(spread.most)) }),
                    Some(html! { (shortened(&spread.most_node, 24)) }),
                    spread.imbalance.map(|imbalance| html! { (number(imbalance)) }),
                ],
            });
        }
    }
    place.section(
        "nodes",
        "Nodes",
        html! {
            @for (index, of_test) in headline.nodes.iter().enumerate() { (strip(index, of_test, place)) }
            (table.shown("wide", ""))
        },
    )
}

fn strip(index: usize, of_test: &NodesOfTest, place: &Outline) -> Markup {
    let NodesOfTest { nodes, iops, .. } = of_test;
    let of_bar = nodes.len().div_ceil(BARS_MAX).max(1);
    let bars: Vec<_> = nodes.chunks(of_bar).collect();
    let width = SIZE.0 / bars.len() as f64;
    let title = format!("IOPS of the {} nodes of {}", nodes.len(), of_test.test);
    let description = format!(
        "From {} on {} to {} on {}, median {}.",
        number(iops.least),
        iops.least_node,
        number(iops.most),
        iops.most_node,
        number(iops.median)
    );
    let frame =
        Frame { id: &place.id(&format!("nodes-{index}")), title: &title, description: &description, size: SIZE };
    let chart = svg(
        &frame,
        html! {
            @for (at, chunk) in bars.iter().enumerate() {
                // The slowest of the bar's nodes: an average would hide it.
                @let least = chunk.iter().map(|node| node.iops).fold(f64::INFINITY, f64::min);
                @let height = if iops.most > 0.0 { least / iops.most * SIZE.1 } else { 0.0 };
                rect class="bar c0" x=(px(at as f64 * width)) y=(px(SIZE.1 - height)) width=(px((width - 1.0).max(0.5)))
                    height=(px(height)) { title { (shortened(&chunk[0].node, 40)) ": " (number(least)) " IOPS" } }
            }
        },
    );
    html! {
        figure.nodes {
            (chart)
            figcaption {
                (title) ", by name"
                @if of_bar > 1 { "; each bar is the slowest of " (of_bar) " nodes" }
                ". " @if let Some(overlap) = of_test.overlap() { (overlap) }
            }
        }
    }
}
