//! Runs tests inside a stack of the lab, and the lab's programs.

use std::path::PathBuf;
use std::process::Command;

use testkit::stack;

use crate::document::{self, Row};

/// The prefix of a row that is passed out of the stack.
const ROW: &str = "\x01row ";

/// Runs `body` inside the stack and compares its rows with the document's table of the test's name. `test` is the full
/// name of the calling test.
#[track_caller]
pub(crate) fn inside(test: &str, stack: &str, body: impl FnOnce() -> Vec<Row>) {
    let message = stack::reports_inside(test, stack, || {
        body().iter().for_each(|row| stack::show(&format!("{ROW}{}", row.to_line())));
    });
    if let Some(message) = message {
        document::compare(test, message.iter().filter_map(|line| line.strip_prefix(ROW)).map(Row::from_line).collect());
    }
}

/// The place of the stack.
pub(crate) fn target() -> PathBuf {
    stack::place("LAB_TARGET")
}

/// Runs one of the lab's programs for the stack.
#[track_caller]
pub(crate) fn run(program: &str, words: &str) {
    let status = Command::new(program).args(words.split_whitespace()).status().expect("the program is there");
    assert!(status.success(), "{program} {words}");
}
