//! Converts facts to evidence.

use std::borrow::Borrow;

use fsdyno_results::evidence::RecordedFact;

use crate::NotVisible;

/// A fact as evidence: its value, or where it was looked for and the answer, in short.
pub(super) fn seen<T>(fact: Result<T, impl Borrow<NotVisible>>) -> RecordedFact<T> {
    match fact {
        Ok(value) => RecordedFact::Value(value),
        Err(unseen) => {
            let NotVisible { place, reason } = unseen.borrow();
            RecordedFact::NotVisible(format!("{place}: {}", without_number(reason)))
        }
    }
}

/// The system's text of an error without the number after it.
pub(super) fn without_number(text: &str) -> &str {
    text.split(" (os error").next().unwrap_or(text)
}
