//! Jobs as they were written: names and texts of options, each with its origin.

use std::fmt;

use crate::diagnostic::Origin;
use crate::secret::HIDDEN;
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

impl Assignment {
    /// Hides a secret in the place where it was written.
    pub fn new(row: &'static JobRow, text: Option<String>, origin: Origin) -> Assignment {
        let written = format!("{}={HIDDEN}", row.name);
        let origin = match origin {
            Origin::Word { number, .. } if row.secret => Origin::Word { number, word: format!("--{written}") },
            Origin::Line { file, number, .. } if row.secret => Origin::Line { file, number, text: written },
            origin => origin,
        };
        Assignment { row, text, origin }
    }

    /// The text as reports and messages show it.
    pub fn shown(&self) -> Option<&str> {
        self.text.as_deref().map(|text| if self.row.secret { HIDDEN } else { text })
    }
}

impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.row.name, self.shown())
    }
}

/// A section of a job file, or what stands between two `--name` on the command line.
#[derive(Clone, Debug)]
pub struct RawJob {
    /// The label; empty for the defaults before the first `--name`.
    pub name: String,
    /// Whether these are defaults for the jobs that follow, and not a job.
    pub global: bool,
    /// Whether earlier defaults end here, because a job file after the first begins.
    pub resets_defaults: bool,
    /// Whether this is the first job of a job file after the first.
    pub starts_file: bool,
    /// Whether it was written on the command line, not in a job file.
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

/// Canonical names with their texts as typed, as JSON reports show them. Where an option was written twice, the last
/// text counts; `filename` adds up.
pub fn written_options(assignments: &[Assignment]) -> Vec<(String, String)> {
    let mut options: Vec<(String, String)> = Vec::new();
    for assignment in assignments {
        let name = assignment.row.name;
        let mut text = assignment.shown().unwrap_or_default().to_owned();
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
