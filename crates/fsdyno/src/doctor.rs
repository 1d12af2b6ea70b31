//! `fsdyno doctor`: what this machine lets a run do, and when the generator itself would be the limit.
//!
//! Looking fills a [`Findings`](findings::Findings); the text, the JSON document and the judgement are functions of it.

mod findings;
mod floor;
mod json;
mod judgement;
mod look;
mod text;

use std::process::ExitCode;

use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print};

/// Looks, and prints what was found.
pub(crate) fn answer(as_json: bool) -> ExitCode {
    let findings = look::look();
    let text = if as_json { json::document(&findings) } else { text::page(&findings, columns()) };
    if print(&text) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
}

#[cfg(test)]
mod tests;
