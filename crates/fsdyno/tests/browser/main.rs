//! `fsdyno report` through the real binary, and the dyno sheet in a real browser. The pictures stay in
//! `target/tmp/sheet`: look at them.
#![forbid(unsafe_code)]

mod browser;
mod crowded;
#[path = "../../../present/tests/sheet/fixture.rs"]
mod fixture;
#[path = "../../../present/tests/sheet/odd.rs"]
mod odd;

mod command;
mod seen;
