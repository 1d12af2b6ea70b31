//! Tests the dyno sheet and the exports with artificial studies.
#![forbid(unsafe_code)]

mod any_text;
mod deployed;
mod document;
mod drawn;
mod every_number;
mod exports;
mod faces;
mod fixture;
mod nodes;
mod odd;
mod one_figure;
mod page;
mod quoted;
mod quoted_phases;
mod texts;
mod winners;
