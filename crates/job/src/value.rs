//! The grammar of values: sizes, times, lists, ranges, words.
//!
//! Every reader takes the text as written and gives back a typed value or a [`Refusal`]. Where fio drops a part
//! of the text without a word (`1.5g` is one byte to it), the text is refused with advice instead: see
//! [`crate::differences`].

use std::fmt;

mod list;
mod number;
mod pattern;
mod time;
mod word;

pub(crate) use list::refuse_range_look_alike;
pub use list::{
    cpu_list, error_lists, float_list, memory_policy, names, node_list, per_direction, range, sim_faults, zones,
};
pub use number::{amount, count, integer, share, size, switch};
pub use pattern::{buffer_pattern, verify_pattern};
pub use time::{TimeUnit, time, time_range};
pub(crate) use word::valid_values;
pub use word::{Word, word};

/// Why a text is no value of its option, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, without the name of the option.
    pub reason: String,
    /// What to write instead, if the text shows what was meant.
    pub advice: Option<String>,
    /// The words that the option takes, one a line, if none of them was written.
    pub words: Option<String>,
}

impl Refusal {
    /// A refusal without advice.
    pub fn new(reason: impl Into<String>) -> Self {
        Refusal { reason: reason.into(), advice: None, words: None }
    }

    /// The refusal of a text that fio reads differently from how it looks. What fio reads is tested against fio.
    pub(crate) fn misread(reason: &str, read: &dyn fmt::Display) -> Self {
        Refusal::new(format!("{reason}: fio would read {read}"))
    }

    /// The same refusal with the next step.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What a reader needs besides the text, and the notes that it makes.
#[derive(Debug)]
pub struct Reading {
    /// What `k` means: 1024 unless `kb_base=1000` was written earlier.
    pub kb_base: u64,
    /// Notes on values that fio's documentation explains but most people read differently.
    pub notes: Vec<String>,
}

impl Reading {
    /// A reading under this `kb_base`, without notes.
    pub fn new(kb_base: u32) -> Self {
        Reading { kb_base: u64::from(kb_base), notes: Vec::new() }
    }
}

impl Default for Reading {
    fn default() -> Self {
        Reading::new(1024)
    }
}

/// Removes what looks like a comment after a number. fio drops it with everything else that follows a number.
pub(crate) fn without_comment<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    match text.split_once("//") {
        Some((number, comment)) if !number.trim().is_empty() => {
            reading.notes.push(format!("//{comment} is taken for a comment; begin comments with # or ;"));
            number.trim_end()
        }
        _ => text,
    }
}

/// Removes the percent sign where only percent can be meant.
pub(crate) fn without_percent<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    let number = text.trim_end().trim_end_matches('%');
    if number.len() < text.trim_end().len() {
        let fio = if number.contains('.') { "" } else { "; fio misreads the %" };
        reading.notes.push(format!("{text} is read as {number}{fio}: write {number}"));
        return number;
    }
    text
}

/// Removes the percent sign and the fraction, where percent are whole numbers.
pub(crate) fn whole_share<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    let text = without_percent(text, reading);
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    if whole.is_empty() || ![whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return text;
    }
    reading.notes.push(format!("{text} is read as {whole}: percent are whole numbers"));
    whole
}
