//! Tests the drive loop against calculation by hand: jobs on the virtual device, planned and run in this process, and
//! their records, to the nanosecond.
#![forbid(unsafe_code)]

#[path = "../conducted/mod.rs"]
mod conducted;

mod accuracy;
mod counts;
mod ends;
mod faults;
mod last_windows;
mod latency;
mod logs;
mod open_loop;
mod orders;
mod pace;
mod ran;
mod stop_rules;
mod trims;
mod verify;
