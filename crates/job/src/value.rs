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
    /// What is wrong, without the option's name.
    pub reason: String,
    /// What to write instead, when that can be told.
    pub advice: Option<String>,
    /// The words that the option has, one a line, where none of them was written.
    pub words: Option<String>,
}

impl Refusal {
    /// A refusal without advice.
    pub fn new(reason: impl Into<String>) -> Self {
        Refusal { reason: reason.into(), advice: None, words: None }
    }

    /// A text that fio reads as something else than it looks. What fio reads is tested against fio.
    pub(crate) fn misread(reason: &str, read: &dyn fmt::Display) -> Self {
        Refusal::new(format!("{reason}: fio would read {read}"))
    }

    /// The same refusal with the next step.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What a reader needs to know besides the text, and what it found remarkable.
#[derive(Debug)]
pub struct Reading {
    /// What `k` means: 1024 unless `kb_base=1000` was written earlier.
    pub kb_base: u64,
    /// Readings that are as documented and yet not what most people expect.
    pub notes: Vec<String>,
}

impl Reading {
    /// A reading under this `kb_base`, with nothing noted.
    pub fn new(kb_base: u32) -> Self {
        Reading { kb_base: u64::from(kb_base), notes: Vec::new() }
    }
}

impl Default for Reading {
    fn default() -> Self {
        Reading::new(1024)
    }
}

/// Takes off what looks like a comment after a number, which fio drops with everything else that follows one.
pub(crate) fn without_comment<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    match text.split_once("//") {
        Some((number, comment)) if !number.trim().is_empty() => {
            reading.notes.push(format!("//{comment} is taken for a comment; begin comments with # or ;"));
            number.trim_end()
        }
        _ => text,
    }
}

/// Takes off the sign of a percentage where nothing but percent is counted.
pub(crate) fn without_percent<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    let number = text.trim_end().trim_end_matches('%');
    if number.len() < text.trim_end().len() {
        let fio = if number.contains('.') { "" } else { "; fio misreads the %" };
        reading.notes.push(format!("{text} is read as {number}{fio}: write {number}"));
        return number;
    }
    text
}

/// The same where percent are whole numbers: takes off the fraction, too.
pub(crate) fn whole_share<'t>(text: &'t str, reading: &mut Reading) -> &'t str {
    let text = without_percent(text, reading);
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    if whole.is_empty() || ![whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return text;
    }
    reading.notes.push(format!("{text} is read as {whole}: percent are whole numbers"));
    whole
}
