//! Parses the output of a test program: how many tests ended how, and which failed or were skipped.

use std::time::Duration;

use super::counts::Counts;

/// How a test program, or a check, ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) counts: Counts,
    /// The names of the failed tests; empty for checks.
    pub(super) failed: Vec<String>,
    /// Each skipped test with its reason.
    pub(super) skipped: Vec<String>,
    /// The text to show: all output of failed tests, nothing of passed ones.
    pub(super) shown: String,
    pub(super) took: Duration,
    pub(super) cpu_time: Duration,
}

impl Ending {
    /// From the output, and whether the status was 0.
    pub(super) fn read(stderr: &str, stdout: &str, success: bool) -> Ending {
        let mut reader = Reader::default();
        stdout.lines().for_each(|line| reader.line(line));
        let mut ending = reader.ending;
        ending.counts.skipped += ending.skipped.len() as u64;
        ending.counts.passed = ending.counts.passed.saturating_sub(ending.skipped.len() as u64);
        if !success && ending.counts.failed == 0 {
            ending.counts.failed = 1;
        }
        if ending.counts.failed > 0 {
            // The harness prints passed tests first.
            let failures = stdout.find("\nfailures:\n").map_or(stdout, |at| &stdout[at..]);
            ending.shown = stderr.to_owned() + failures;
        }
        ending
    }

    /// The program was ended after this time. The harness has named each test that ended, and those that took long.
    pub(super) fn of_hang(stderr: &str, stdout: &str, limit: Duration) -> Ending {
        let results = || {
            let lines = stdout.lines().filter_map(|line| line.strip_prefix("test ")?.rsplit_once(" ... "));
            lines.filter(|(_, result)| ["ok", "FAILED"].contains(result))
        };
        let ended = |name: &str| results().any(|(ended, _)| ended == name);
        let long = stdout.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("test ")?.split_once(" has been running for ")?;
            // If one test runs at a time, its name precedes its output on the line.
            Some(name.rsplit_once(" ... test ").map_or(name, |(_, name)| name))
        });
        let went_on: Vec<&str> = long.filter(|name| !ended(name)).collect();
        let failed = results().filter(|(_, result)| *result == "FAILED").map(|(name, _)| name);
        let failed: Vec<String> = failed.chain(went_on.iter().copied()).map(str::to_owned).collect();
        let minutes = limit.as_secs() / 60;
        let shown = format!("{stderr}it hung, and was ended after {minutes} min; still ran: {}\n", went_on.join(", "));
        let counts = Counts {
            passed: results().filter(|(_, result)| *result == "ok").count() as u64,
            failed: (failed.len() as u64).max(1),
            skipped: 0,
        };
        Ending { counts, failed, shown, ..Ending::default() }
    }

    /// The program could not be started.
    pub(super) fn not_run(reason: &std::io::Error) -> Ending {
        let shown = format!("it cannot be run: {reason}\n");
        Ending { counts: Counts { failed: 1, ..Counts::default() }, shown, ..Ending::default() }
    }
}

/// Reads the output line by line.
#[derive(Default)]
struct Reader {
    ending: Ending,
    /// The test whose output follows.
    test: String,
    /// Whether that test was counted as skipped already: the harness does not know skipping and counts it as passed.
    counted: bool,
    /// Whether the following lines name the failed tests.
    names: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let counts = &mut self.ending.counts;
        if let Some(result) = line.strip_prefix("test result: ") {
            counts.passed += number_before(result, " passed");
            counts.failed += number_before(result, " failed");
            counts.skipped += number_before(result, " ignored");
            self.counted = false;
            self.names = false;
        } else if line.starts_with("== ") && line.contains(": FAILED") {
            counts.failed += 1;
        } else if let Some(section) = line.strip_prefix("---- ") {
            section.split_whitespace().next().unwrap_or(section).clone_into(&mut self.test);
            self.counted = false;
            self.names = false;
        } else if let Some(reason) = line.strip_prefix("skipped: ")
            && !self.counted
        {
            // A check has no tests.
            let whose = if self.test.is_empty() { String::new() } else { format!("{}: ", self.test) };
            self.ending.skipped.push(whose + reason);
            self.counted = true;
        } else if line == "failures:" {
            self.names = true;
        } else if let Some(name) = line.strip_prefix("    ")
            && self.names
        {
            self.ending.failed.push(name.to_owned());
        }
    }
}

/// The number right before `word`; 0 if there is none.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().filter(|before| before.len() < text.len()).unwrap_or("");
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(1200);

    fn counts(output: &str, success: bool) -> Counts {
        Ending::read("", output, success).counts
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
        let ending = Ending::read("", output, true);
        assert_eq!(ending.counts, Counts { passed: 3, failed: 0, skipped: 2 });
        assert_eq!(ending.skipped, ["one: fio is not installed", "two: fio is not installed"]);
        assert_eq!((ending.failed.len(), ending.shown.as_str()), (0, ""));
    }

    /// Passed tests are not shown; failed ones are shown completely and named.
    #[test]
    fn failures_are_named_and_shown() {
        let output = "\
running 3 tests
test a ... ok

successes:

---- a stdout ----
nothing of interest

successes:
    a

failures:

---- m::b stdout ----
    left: 1
---- c stdout ----
right: 2

failures:
    c
    m::b

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let ending = Ending::read("a warning\n", output, false);
        assert_eq!(ending.failed, ["c", "m::b"]);
        assert!(ending.shown.starts_with("a warning\n\nfailures:"), "{}", ending.shown);
        assert!(ending.shown.contains("left: 1") && !ending.shown.contains("nothing of interest"));
    }

    #[test]
    fn what_cannot_be_built_has_failed() {
        assert_eq!(counts("", false), Counts { passed: 0, failed: 1, skipped: 0 });
    }

    /// Tests that had not ended have failed, so that they are run again.
    #[test]
    fn a_hang_is_a_failure_of_what_still_ran() {
        let output = "\
running 5 tests
test a ... ok
test b has been running for over 60 seconds
test m::c has been running for over 60 seconds
test d ... FAILED
test b ... ok
";
        let ending = Ending::of_hang("a warning\n", output, LIMIT);
        assert_eq!(ending.counts, Counts { passed: 2, failed: 2, skipped: 0 });
        assert_eq!(ending.failed, ["d", "m::c"]);
        assert_eq!(ending.shown, "a warning\nit hung, and was ended after 20 min; still ran: m::c\n");
        let alone = "running 1 test\ntest m::c ... test m::c has been running for over 60 seconds\n";
        assert_eq!(Ending::of_hang("", alone, LIMIT).failed, ["m::c"]);
        // A program that is no harness, or hung before it named a test.
        assert_eq!(Ending::of_hang("", "", LIMIT).counts.failed, 1);
    }

    #[test]
    fn each_failed_check_counts_as_one() {
        let output = "== clippy\n== clippy: FAILED\n== windows\n== windows: ok\n== gate\n== gate: FAILED: no binary\n";
        let ending = Ending::read("", output, false);
        assert_eq!(ending.counts, Counts { passed: 0, failed: 2, skipped: 0 });
        assert!(ending.failed.is_empty(), "a check has no second try");
        assert_eq!(ending.shown, output);
    }
}
