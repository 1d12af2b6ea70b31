//! The file of verdicts for a CI system.

use std::path::Path;

use fsdyno_guide::Problem;
use fsdyno_os::files::{Readers, WholeFile};
use fsdyno_present::export::junit::{Case, junit};

/// Where the verdicts are to be written: seen to be writable before anything is measured.
pub(super) struct JunitFile(WholeFile);

impl JunitFile {
    /// Sees whether it can be written; nothing is left there.
    pub(super) fn claim(path: &Path) -> Result<JunitFile, Problem> {
        WholeFile::claim(path, Readers::ByUmask).map(JunitFile).map_err(|error| cannot_write(path, &error))
    }

    /// Writes it whole or not at all.
    pub(super) fn write(&self, suite: &str, cases: &[Case]) -> Result<(), Problem> {
        self.0.write(junit(suite, cases).as_bytes()).map_err(|error| cannot_write(self.0.path(), &error))
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("--junit: cannot write {}: {error}", path.display()))
        .with_next("name a file in a directory that you can write")
}
