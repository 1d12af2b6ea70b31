//! A file that an option names for a part of the answer: verdicts for a CI system, metrics for a collector.

use std::path::Path;

use fsdyno_guide::Problem;
use fsdyno_os::files::{Readers, WholeFile};

/// The file; whether it is writable was checked before the measurement.
pub(super) struct AnswerFile {
    option: &'static str,
    file: WholeFile,
}

impl AnswerFile {
    /// Checks that the file of this option can be written; nothing is left there.
    pub(super) fn claim(option: &'static str, path: &Path) -> Result<AnswerFile, Problem> {
        let file = WholeFile::claim(path, Readers::ByUmask).map_err(|error| cannot_write(option, path, &error))?;
        Ok(AnswerFile { option, file })
    }

    /// Writes the file whole or not at all.
    pub(super) fn write(&self, text: &str) -> Result<(), Problem> {
        let written = self.file.write(text.as_bytes());
        written.map_err(|error| cannot_write(self.option, self.file.path(), &error))
    }
}

fn cannot_write(option: &str, path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("{option}: cannot write {}: {error}", path.display()))
        .about(path)
        .with_next("name a file in a directory that you can write")
}
