//! `cargo xtask`: the chores of this workspace.
#![forbid(unsafe_code)]

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.split_first() {
        Some((chore, rest)) if chore == "bench" => bench::run(rest),
        _ => Err("usage: cargo xtask bench".to_owned()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "it talks to a person at a terminal")]
fn say(message: &str) {
    eprintln!("{message}");
}
