//! The severity of a finding or note.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// How something was done; shown when asked for.
    Info,
    /// Something is other than asked for, or than it looks.
    Caution,
    /// The figures do not answer the question.
    Invalid,
}
