//! The severity of a finding or note.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Says how something was done; shown on request.
    Info,
    /// Something is different from what was asked for, or from what it looks like.
    Caution,
    /// The figures do not answer the question.
    Invalid,
}
