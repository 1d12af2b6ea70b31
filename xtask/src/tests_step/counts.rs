//! Counts the results of tests.

use std::fmt;

/// The numbers of tests by result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that ended without a failure.
    pub(crate) passed: u64,
    /// Tests that failed or could not be built, and failed checks.
    pub(crate) failed: u64,
    /// Tests that ended early because something they need is missing here; each has printed `skipped: REASON`.
    pub(crate) skipped: u64,
}

impl Counts {
    /// Moves tests from failed to passed, after a second try.
    pub(super) fn correct(&mut self, passed: u64) {
        self.failed -= passed;
        self.passed += passed;
    }

    /// Moves tests from failed to skipped, as they could not be judged.
    pub(super) fn not_judged(&mut self, tests: u64) {
        self.failed -= tests;
        self.skipped += tests;
    }

    pub(super) fn add(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line() {
        let counts = Counts { passed: 12, failed: 0, skipped: 3 };
        assert_eq!(counts.to_string(), "12 passed, 0 failed, 3 skipped");
    }
}
