//! Tests `fsdyno report` with the real binary, and the dyno sheet in a real browser. The pictures are in
//! `target/tmp/sheet`, for inspection.
#![forbid(unsafe_code)]

mod browser;
mod crowded;
mod devtools;
#[path = "../../../present/tests/sheet/fixture.rs"]
mod fixture;
#[path = "../../../present/tests/sheet/odd.rs"]
mod odd;

mod command;
mod seen;
