//! Exports a study to other programs: a Markdown table for a ticket, CSV for a spreadsheet, OpenMetrics text for
//! node_exporter's textfile collector. Pure functions of [`fsdyno_results::Study`].

mod csv;
pub mod junit;
mod markdown;
mod openmetrics;

pub use csv::csv;
pub use markdown::markdown;
pub use openmetrics::{openmetrics, openmetrics_of_failure};
