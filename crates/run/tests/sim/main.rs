//! The drive loop against hand arithmetic: jobs on the virtual device, planned and conducted in this process, and
//! the record that comes of them, to the nanosecond.
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
