//! fsdyno: how fast a filesystem really is. This binary has two faces over one engine: fio's command line, and
//! subcommands of its own.
#![forbid(unsafe_code)]

mod doctor;
mod explain;
mod fio;
mod guided;
mod inspect;
mod installed;
mod process;
mod report_command;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// What is put by lets a run without memory end with its report.
#[global_allocator]
static ALLOCATOR: engine::allocation::Allocator = engine::allocation::Allocator;

fn main() -> ExitCode {
    engine::allocation::reserve();
    if let Err(error) = engine::signals::turn_limits_into_errors() {
        process::streams::print_stderr(&format!(
            "note: cannot handle signals: {error}; a limit of this process may end it"
        ));
    }
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let called_fio = Path::new(&program).file_stem().is_some_and(|stem| stem == "fio");
    match words.first().and_then(|word| word.to_str()) {
        Some("fio") if !called_fio => fio::run(&words[1..]),
        Some(word) if !called_fio && (guided::knows(word) || guided::resembles(word)) => guided::run(&words),
        // Whoever asks for help has not said yet which face is meant.
        Some("--help" | "-h") if !called_fio && words.len() == 1 => guided::help(),
        _ => fio::run(&words),
    }
}
