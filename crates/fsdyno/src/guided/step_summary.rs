//! Appends the answer to the summary of a CI step: a Markdown file that GitHub and Gitea name in a variable.

use std::fs::{File, OpenOptions};
use std::io::Write;

use fsdyno_guide::Problem;

/// The variable with the file's path.
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// The file, opened before the measurement.
pub(super) struct StepSummary(File);

impl StepSummary {
    /// Opens the file for appending: other commands of the step may have written to it.
    pub(super) fn open() -> Result<StepSummary, Problem> {
        let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
            return Err(Problem::new(format!("--github: {VARIABLE} is not set"))
                .with_next("use it in a step of a CI run, or set the variable to a file; --markdown prints the same"));
        };
        let opened = OpenOptions::new().append(true).create(true).open(&path);
        opened.map(StepSummary).map_err(|error| {
            Problem::new(format!("--github: cannot write {}, which {VARIABLE} names: {error}", path.display()))
        })
    }

    /// Adds to it.
    pub(super) fn append(mut self, markdown: &str) -> Result<(), Problem> {
        self.0
            .write_all(format!("{}\n\n", markdown.trim_end()).as_bytes())
            .map_err(|error| Problem::new(format!("--github: cannot write to the file that {VARIABLE} names: {error}")))
    }
}
