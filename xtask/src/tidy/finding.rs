//! The input of the checks, and their findings.

/// Something that must change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// File or crate, with the line where there is one.
    pub(super) place: String,
    /// What is wrong and what to do.
    pub(super) text: String,
}

impl Finding {
    pub(super) fn new(place: impl Into<String>, text: impl Into<String>) -> Finding {
        Finding { place: place.into(), text: text.into() }
    }

    pub(super) fn at(path: &str, line: usize, text: impl Into<String>) -> Finding {
        Finding::new(format!("{path}:{line}"), text)
    }
}

/// A text file of the project.
pub(super) struct File {
    /// Relative to the workspace, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}
