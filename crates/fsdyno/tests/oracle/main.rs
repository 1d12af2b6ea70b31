//! Compares the oracle: the same command line goes to Debian's fio and to this binary, each in its own directory, and
//! what must agree is compared. Without fio each test prints that it was skipped, and passes.
//!
//! Every row of `cases!` is one test with a command of its own. The rows of `shared_commands!` run as jobs of a few
//! commands, because the start of fio costs more than a small job; a failure names the row. `FSDYNO_BIN` is the path of
//! another binary to compare; with fio's own path fio is compared with itself, which tests the comparison.
#![forbid(unsafe_code)]

mod case;
mod differences;
mod document;
mod drawn_texts;
mod left_behind;
mod parsers;
#[path = "../differential/random.rs"]
mod random;
mod report;
mod terse;
mod tools;

// The tables of command lines and job files.
mod amounts;
mod broken;
mod chosen;
mod claims;
mod contract;
mod control_groups;
mod durability;
mod engines;
mod files;
mod formats;
mod interruption;
mod job_files;
mod logs;
mod machine;
mod measuring;
mod newer;
mod operations;
mod orders;
mod readings;
mod recorded;
mod refusals;
mod trims;
mod verify;
mod words;
mod written;
