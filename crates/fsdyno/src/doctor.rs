//! `fsdyno doctor`: shows what this machine lets a run do, and when the generator itself would be the limit.
//!
//! Examining fills a [`Findings`](findings::Findings); the text, the JSON document and the judgement are functions of
//! it.

mod findings;
mod floor;
mod json;
mod judgement;
mod look;
mod text;

use std::process::ExitCode;

use crate::process::status::{FAILED, GOOD, UNUSABLE};
use crate::process::streams::{columns, print, print_first_page};

/// Examines the machine and prints the result.
pub(crate) fn answer(as_json: bool) -> ExitCode {
    let findings = look::look();
    let written = if as_json {
        print(&json::document(&findings))
    } else {
        print_first_page(&text::page(&findings, columns()), &["fsdyno", "doctor"])
    };
    ExitCode::from(match judgement::Fitness::of(&findings) {
        _ if !written => UNUSABLE,
        judgement::Fitness::Failed => FAILED,
        judgement::Fitness::Ok | judgement::Fitness::Caution => GOOD,
    })
}

#[cfg(test)]
mod tests;
