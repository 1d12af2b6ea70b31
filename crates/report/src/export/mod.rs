//! A study for other programs and other pages: a Markdown table for a ticket, CSV for a spreadsheet, OpenMetrics text
//! for node_exporter's textfile collector, fio's JSON for what reads fio. Pure functions of [`results::Study`].

mod csv;
mod fio_json;
mod markdown;
mod openmetrics;

pub use csv::csv;
pub use fio_json::{FioDocument, fio_json};
pub use markdown::markdown;
pub use openmetrics::openmetrics;
