//! fsdyno measures how fast a filesystem really is. This binary has two faces over one engine: fio's command line, and
//! subcommands of its own.
#![forbid(unsafe_code)]

mod doctor;
mod explain;
mod fio;
mod guided;
mod inspect;
mod installed;
mod nodes;
mod process;
mod report_command;
mod schema;
mod settings;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Keeps a memory reserve with which a run can still write its report when memory is exhausted.
#[global_allocator]
static ALLOCATOR: fsdyno_os::allocation::Allocator = fsdyno_os::allocation::Allocator;

/// Stack that the deepest calls of this thread need, with some reserve, bytes.
const STACK_BYTES: u64 = 1 << 20;

fn main() -> ExitCode {
    // The following words are for the caller's command, which would inherit them.
    if std::env::args_os().nth(1).is_some_and(|word| word == fsdyno_os::process_tree::WORD) {
        return ExitCode::from(fsdyno_os::process_tree::meter(&std::env::args_os().skip(2).collect::<Vec<_>>()));
    }
    if let Err(lack) = fsdyno_os::process::check_needs(STACK_BYTES) {
        process::streams::print_stderr(&format!("fsdyno: {lack}"));
        return ExitCode::from(process::status::REJECTED);
    }
    fsdyno_os::allocation::reserve();
    // The pages of the dynamic linker are not needed any more.
    fsdyno_os::process::release_program_pages();
    if let Err(error) = fsdyno_os::signals::turn_limits_into_errors() {
        process::streams::print_stderr(&format!(
            "note: cannot handle signals: {error}; a limit of this process may end it"
        ));
    }
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    nodes::run(&words, |words| run(&program, words))
}

/// Answers the words of a command line.
fn run(program: &OsStr, words: &[OsString]) -> ExitCode {
    let called_fio = Path::new(program).file_stem().is_some_and(|stem| stem == "fio");
    match words.first().map(|word| word.to_string_lossy()).as_deref() {
        // Tools that call fio parse its output.
        _ if called_fio => fio::run(words),
        None => guided::welcome(),
        Some("fio") => fio::run(&words[1..]),
        // Without other options it is not clear which face is meant.
        Some("--help" | "-h") if words.len() == 1 => guided::help(),
        Some("--version" | "-V") if words.len() == 1 => guided::version(),
        Some(word) if guided::knows(word) => guided::run(words),
        Some(word) if guided::is_mistyped(word, &words[1..]) => guided::mistyped(word, &words[1..]),
        Some(word) if words.len() == 1 && Path::new(&words[0]).is_dir() => guided::is_directory(word),
        _ => fio::run(words),
    }
}
