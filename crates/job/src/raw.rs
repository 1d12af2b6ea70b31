//! Jobs as written: names of options and texts, each with its origin.

use std::fmt;

use crate::diagnostic::Origin;
use crate::table::JobRow;

/// One option as written.
#[derive(Clone)]
pub struct Assignment {
    /// Its row, found by exact name, alias or unique prefix.
    pub row: &'static JobRow,
    /// The text; `None`: written without a value.
    pub text: Option<String>,
    /// Where.
    pub origin: Origin,
}

impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.row.name, self.text)
    }
}

/// A section of a job file, or what stands between two `--name` on the command line.
#[derive(Clone, Debug)]
pub struct RawJob {
    /// The label; empty for the defaults before the first `--name`.
    pub name: String,
    /// These are defaults for the jobs that follow, not a job.
    pub global: bool,
    /// Earlier defaults end here: a job file after the first begins.
    pub resets_defaults: bool,
    /// The first job of a job file after the first.
    pub starts_file: bool,
    /// Written as words, not in a job file.
    pub on_command_line: bool,
    /// The options, in the order in which they apply.
    pub assignments: Vec<Assignment>,
}

impl RawJob {
    /// An empty job, or empty defaults for names beginning with `global`.
    pub fn new(name: &str, on_command_line: bool) -> Self {
        RawJob {
            name: name.to_owned(),
            global: name.starts_with("global"),
            resets_defaults: false,
            starts_file: false,
            on_command_line,
            assignments: Vec::new(),
        }
    }
}

/// Canonical names with texts as typed, as JSON reports show them: of an option written again the last text
/// counts, but `filename` adds up.
pub fn written_options(assignments: &[Assignment]) -> Vec<(String, String)> {
    let mut options: Vec<(String, String)> = Vec::new();
    for assignment in assignments {
        let name = assignment.row.name;
        let mut text = assignment.text.clone().unwrap_or_default();
        if let Some(at) = options.iter().position(|(known, _)| known == name) {
            let (_, earlier) = options.remove(at);
            if name == "filename" {
                text = format!("{earlier}:{text}");
            }
        }
        options.push((name.to_owned(), text));
    }
    options
}
