//! A fact, or the reason why it is not visible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that somebody looked for: its value, or why it is not visible from here. Unknown is never 0 and never "ok".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Seen_{T}")]
pub enum Seen<T> {
    /// The fact.
    Value(T),
    /// Where it was looked for, and the answer.
    NotVisible(String),
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Seen::NotVisible("not inspected".to_string())
    }
}

impl<T> Seen<T> {
    /// The value, if it was seen.
    pub fn value(&self) -> Option<&T> {
        match self {
            Seen::Value(value) => Some(value),
            Seen::NotVisible(_) => None,
        }
    }

    /// Why it was not seen.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Seen::Value(_) => None,
            Seen::NotVisible(reason) => Some(reason),
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Seen<T> {
    fn from(result: Result<T, E>) -> Seen<T> {
        match result {
            Ok(value) => Seen::Value(value),
            Err(reason) => Seen::NotVisible(reason.to_string()),
        }
    }
}
