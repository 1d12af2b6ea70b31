//! The nodes of each test: the least, the middle and the most that one of them did.

use results::quantity::{latency, number, rate_number, rate_unit};

use super::table::{Form, Table};
use crate::headline::{Headline, Spread};

/// A figure as it stands in a cell.
type Words = fn(f64) -> String;

/// Empty where nothing ran on several nodes.
pub(super) fn table(headline: &Headline, form: Form) -> String {
    if headline.nodes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["test", "nodes", "<figure", "least", "<on", "median", "most", "<on ", "most/least"])
        .sparing(&["on "]);
    for of_test in &headline.nodes {
        let lines: [(&str, Option<&Spread>, Words); 3] = [
            (rate_unit(), Some(&of_test.mb_per_s), |rate| rate_number(rate * 1e6)),
            ("IOPS", Some(&of_test.iops), number),
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
    format!("{}{overlaps}", table.shown(form))
}
