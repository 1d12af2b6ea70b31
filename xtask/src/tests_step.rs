//! Runs the tests, shows all they print, and counts them.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::workspace::cargo_command;

/// How the tests ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Ran to their end without a failure.
    pub(crate) passed: u64,
    /// Failed, or could not be built.
    pub(crate) failed: u64,
    /// Ended early because something that they need is missing here; each has printed `skipped: REASON`.
    pub(crate) skipped: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Runs all tests of the workspace.
pub(crate) fn run() -> Result<Counts, String> {
    // What passing tests print is shown as well: it holds the reasons of those that were skipped.
    let mut child = cargo_command()
        .args(["test", "--workspace", "--no-fail-fast", "--", "--show-output"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run cargo test: {error}"))?;
    let output = child.stdout.take().ok_or("cargo test has no output")?;
    let mut counter = Counter::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(|error| format!("cannot read the output of cargo test: {error}"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counter.line(&line);
    }
    let status = child.wait().map_err(|error| format!("cannot wait for cargo test: {error}"))?;
    Ok(counter.finish(status.success()))
}

/// Reads the output line by line.
#[derive(Default)]
struct Counter {
    counts: Counts,
    /// Tests that said so; the harness knows no skipping and takes them as passed.
    skipped_as_passed: u64,
    /// The test whose output is being shown has been counted as skipped.
    counted: bool,
}

impl Counter {
    fn line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.counts.passed += number_before(result, " passed");
            self.counts.failed += number_before(result, " failed");
            self.counts.skipped += number_before(result, " ignored");
            self.counted = false;
        } else if line.starts_with("---- ") {
            self.counted = false;
        } else if line.starts_with("skipped: ") && !self.counted {
            self.skipped_as_passed += 1;
            self.counted = true;
        }
    }

    fn finish(self, success: bool) -> Counts {
        let mut counts = self.counts;
        counts.skipped += self.skipped_as_passed;
        counts.passed = counts.passed.saturating_sub(self.skipped_as_passed);
        if !success && counts.failed == 0 {
            counts.failed = 1;
        }
        counts
    }
}

/// The number that stands right before `word`; 0 if there is none.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().filter(|before| before.len() < text.len()).unwrap_or("");
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(output: &str, success: bool) -> Counts {
        let mut counter = Counter::default();
        output.lines().for_each(|line| counter.line(line));
        counter.finish(success)
    }

    #[test]
    fn results_of_all_crates_are_added() {
        let output = "\
running 3 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        assert_eq!(counts(output, false), Counts { passed: 13, failed: 2, skipped: 1 });
    }

    #[test]
    fn a_skipped_test_counts_once_and_not_as_passed() {
        let output = "\
successes:

---- one stdout ----
skipped: fio is not installed
skipped: nor is strace

---- two stdout ----
some text
skipped: fio is not installed

successes:
    one
    two

test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        assert_eq!(counts(output, true), Counts { passed: 3, failed: 0, skipped: 2 });
    }

    #[test]
    fn what_cannot_be_built_has_failed() {
        assert_eq!(counts("", false), Counts { passed: 0, failed: 1, skipped: 0 });
    }

    #[test]
    fn the_last_line() {
        let counts = Counts { passed: 12, failed: 0, skipped: 3 };
        assert_eq!(counts.to_string(), "12 passed, 0 failed, 3 skipped");
    }
}
