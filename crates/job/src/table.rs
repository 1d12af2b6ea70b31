//! The one table of options: everything fio 3.42 knows, and how far it is honoured.
//!
//! Lookup, help texts, `--showcmd`, COMPAT.md and the tests all read this table. A new option is one row here, one
//! field of [`Job`](crate::Job), and the code that uses the field. Rows stand in one file per category.

mod build;
mod content;
mod durability;
mod engine;
mod engine_options;
mod files;
mod job;
mod pacing;
mod pattern;
mod process;
mod profiles;
mod program;
mod reporting;
mod skew;
mod traces;
mod verify;

use crate::draft::Draft;
use crate::option::OptionRow;
use crate::settings::Settings;
use crate::typed::EngineName;

pub use program::{FORMATS, OWN_OPTIONS, ROWS as PROGRAM, SHORT_OPTIONS};

/// A row of a job option.
pub type JobRow = OptionRow<Draft>;
/// A row of an option of the program itself.
pub type ProgramRow = OptionRow<Settings>;

/// Rows of one subject.
pub struct Category {
    /// What `COMPAT.md` calls it.
    pub title: &'static str,
    /// Its rows.
    pub rows: &'static [JobRow],
}

/// The job options, in the order of help texts.
pub const CATEGORIES: &[Category] = &[
    Category { title: "Job and time", rows: job::ROWS },
    Category { title: "Files and layout", rows: files::ROWS },
    Category { title: "I/O pattern", rows: pattern::ROWS },
    Category { title: "Engine, depth, device mode", rows: engine::ROWS },
    Category { title: "Sync", rows: durability::ROWS },
    Category { title: "Rate and latency control", rows: pacing::ROWS },
    Category { title: "Data", rows: content::ROWS },
    Category { title: "Verify", rows: verify::ROWS },
    Category { title: "Process and identity", rows: process::ROWS },
    Category { title: "Reporting", rows: reporting::ROWS },
    Category { title: "Traces and zones", rows: traces::ROWS },
    Category { title: "Engine options", rows: engine_options::ROWS },
    Category { title: "Options of profiles", rows: profiles::ROWS },
];

/// All job options, engine options included.
pub fn job_rows() -> impl Iterator<Item = &'static JobRow> {
    CATEGORIES.iter().flat_map(|category| category.rows.iter())
}

/// The job options that a job with this engine may write.
pub fn rows_for(engine: &str) -> impl Iterator<Item = &'static JobRow> {
    job_rows().filter(move |row| row.engines.is_empty() || row.engines.contains(&engine))
}

/// The row of this name or alias for a job with this engine.
pub fn job_row(name: &str, engine: &str) -> Option<&'static JobRow> {
    rows_for(engine).find(|row| row.names().any(|known| known == name))
}

/// The engine that a value of `ioengine` names, also one that is not built; `None`: there is no such engine.
pub fn engine_named(text: &str) -> Option<&'static str> {
    let missing = || engine::MISSING_ENGINES.iter().map(|choice| choice.word);
    EngineName::named(text)
        .map(EngineName::name)
        .or_else(|| missing().find(|word| text.split(':').next() == Some(word)))
}

/// Whether a row needs no error of its own, because the engine that it belongs to is refused already.
pub fn ends_with_its_engine(row: &JobRow, engine: &str) -> bool {
    !row.engines.is_empty() && EngineName::named(engine).is_none()
}

#[cfg(test)]
mod tests;
