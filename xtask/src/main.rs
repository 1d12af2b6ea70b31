//! The project's chores: `cargo xtask` lists them.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]
#![expect(clippy::disallowed_methods, reason = "it times other programs, from outside")]

mod agreement;
mod bench;
mod book;
mod ci;
mod dist;
mod docs;
mod sanitize;
mod soak;
mod tests_step;
mod tidy;
mod windows;
mod winners;
mod words;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask CHORE

  ci             fmt, tidy, deny, docs, and all tests but those of timing and nightly; the last line counts the tests. Each
                 push has to pass it, and clippy, gate, windows and timing, each group on a machine of its own
  timing         the tests that need a quiet machine: traps, the stacks of the lab, and many ranks, with the program
                 built for MPI; the last line counts the tests
  nightly        what takes long: tests under Wine, of releases, of judgements, of memory and on long stacks, again those
                 that judge timing, then windows, sentences, sanitize, soak, gate and bench --quick, each alone; the
                 last line counts the tests
  fmt            formatting. This check and the following can be named together
  tidy           structure: imports, unsafe, calls of the system, names, lengths, banned words
  deny           licences, sources, versions and advisories of the dependencies
  docs           generated documents are fresh; --write makes them anew
  clippy         lints
  gate           what the program of a release costs at most: instructions, memory, system calls, bytes
  windows        all crates compile for Windows, where its target can be installed; `test wine` runs them under Wine
  test [TIER]... the tests, of some tiers or of all, with the reasons of those that were skipped; test --no-run only builds
                 them
  quick          tidy, clippy and the tests that need nothing but the compiler
  dist           a release: static programs, archives, packages, image, licences, checksums; --help tells more
  bench          what fsdyno costs, beside fio; --help tells more
  agreement      what fsdyno and fio measure on storage of known speed; --help tells more
  book           the documents as a site, where mdBook is installed
  sentences      the sentences and quoted figures of 5,000 drawn studies of each question
  sanitize       the tests of os, engine, drive and run under AddressSanitizer and ThreadSanitizer (nightly)
  soak           what fsdyno says against honest runs on all kinds of storage; --help tells more
  winners        how often a comparison of equal places names a winner; --help tells more";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (chore, rest) = match words.split_first() {
        Some((chore, rest)) => (chore.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    let outcome = match chore {
        "ci" => ci::run(rest),
        "timing" => ci::timing(rest),
        "nightly" => ci::nightly(rest),
        "quick" => ci::quick(),
        "test" => ci::test(rest),
        "bench" => bench::run(rest),
        "book" => book::run(),
        "dist" => dist::run(rest),
        "agreement" => agreement::run(rest),
        "sanitize" => sanitize::run(rest),
        "soak" => soak::run(rest),
        "winners" => winners::run(rest),
        "docs" if !rest.is_empty() => docs::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => ci::checks(&words.iter().map(String::as_str).collect::<Vec<_>>()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
