//! Why a question cannot be answered.

use std::path::{Path, PathBuf};

/// What is wrong, and what to do about it. The guided face then exits with status 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Problem {
    /// What is wrong, with the value and the reason; one sentence without a full stop.
    pub what: String,
    /// The next step, if there is one.
    pub next: Option<String>,
    /// Whether a smaller amount would fit.
    pub is_too_large: bool,
    /// The path that caused it, as it was typed.
    pub path: Option<PathBuf>,
}

impl Problem {
    /// A problem without a next step.
    pub fn new(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), next: None, is_too_large: false, path: None }
    }

    /// This problem, marked as one that a smaller amount would avoid.
    pub fn too_large(self) -> Problem {
        Problem { is_too_large: true, ..self }
    }

    /// This problem, with the path that caused it.
    pub fn about(self, path: &Path) -> Problem {
        Problem { path: Some(path.to_path_buf()), ..self }
    }

    /// This problem with advice for an unknown word: the similar known word, else where all are listed.
    pub fn with_meant(self, meant: Option<impl std::fmt::Display>, all: &str) -> Problem {
        let next = meant.map_or_else(|| all.to_owned(), |meant| format!("did you mean `{meant}`? {all}"));
        self.with_next(next)
    }

    /// This problem with a next step.
    pub fn with_next(self, next: impl Into<String>) -> Problem {
        Problem { next: Some(next.into()), ..self }
    }
}
