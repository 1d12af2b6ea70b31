//! Shows the nodes of each test: the least, the median and the most of them.

use fsdyno_text::quantity::{latency, number, rate_number, rate_unit};

use super::table::{Form, Table};
use crate::headline::{Headline, Spread, overlap_of_phases};

/// Formats a figure for a cell.
type FigureFormat = fn(f64) -> String;

/// The table; empty where nothing ran on several nodes.
pub(super) fn table(headline: &Headline, form: Form) -> String {
    if headline.nodes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["test", "nodes", "<figure", "least", "<on", "median", "most", "<on ", "most/least"])
        .sparing(&["on "]);
    for of_test in &headline.nodes {
        let operations = if of_test.is_phase { "ops/s" } else { "IOPS" };
        // Operations on names move no bytes.
        let moved = Some(&of_test.mb_per_s).filter(|rate| !of_test.is_phase || rate.most > 0.0);
        let lines: [(&str, Option<&Spread>, FigureFormat); 3] = [
            (rate_unit(), moved, |rate| rate_number(rate * 1e6)),
            (operations, Some(&of_test.iops), number),
            ("p99", of_test.p99_us.as_ref(), |us| latency(us * 1e3)),
        ];
        for (figure, spread, words) in lines {
            let Some(spread) = spread else { continue };
            table.row(vec![
                of_test.test.clone(),
                of_test.nodes.len().to_string(),
                figure.to_owned(),
                words(spread.least),
                spread.least_node.clone(),
                words(spread.median),
                words(spread.most),
                spread.most_node.clone(),
                spread.imbalance.map_or("-".to_owned(), |imbalance| format!("{imbalance:.2}")),
            ]);
        }
    }
    let overlaps: String =
        headline.nodes.iter().filter_map(|of_test| Some(form.paragraph(&of_test.overlap()?))).collect();
    let of_phases = overlap_of_phases(&headline.nodes).map(|text| form.paragraph(&text)).unwrap_or_default();
    format!("{}{overlaps}{of_phases}", table.shown(form))
}
