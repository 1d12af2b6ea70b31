//! A fact, or the reason why it is not visible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that somebody looked for: its value, or why it is not visible from here. Unknown is never 0 and never "ok".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RecordedFact_{T}")]
pub enum RecordedFact<T> {
    /// The fact.
    Value(T),
    /// Where it was looked for, and the answer.
    NotVisible(String),
}

impl<T> Default for RecordedFact<T> {
    fn default() -> Self {
        RecordedFact::NotVisible("not inspected".to_string())
    }
}

impl<T> RecordedFact<T> {
    /// The value, if it was seen.
    pub fn value(&self) -> Option<&T> {
        match self {
            RecordedFact::Value(value) => Some(value),
            RecordedFact::NotVisible(_) => None,
        }
    }

    /// Why it was not seen.
    pub fn reason(&self) -> Option<&str> {
        match self {
            RecordedFact::Value(_) => None,
            RecordedFact::NotVisible(reason) => Some(reason),
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for RecordedFact<T> {
    fn from(result: Result<T, E>) -> RecordedFact<T> {
        match result {
            Ok(value) => RecordedFact::Value(value),
            Err(reason) => RecordedFact::NotVisible(reason.to_string()),
        }
    }
}
