//! Reads words of a fixed set; some take a text after a colon.

use super::Refusal;
use crate::option::Choice;

/// A word of an option's set, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The row of the set.
    pub choice: &'static Choice,
    /// What follows the first colon.
    pub tail: Option<String>,
}

/// Reads `word` or `word:tail`. Words are compared whole and with their case.
pub fn word(text: &str, choices: &'static [Choice]) -> Result<Word, Refusal> {
    let (head, tail) = match text.split_once(':') {
        Some((head, tail)) => (head, Some(tail)),
        None => (text, None),
    };
    let Some(choice) = choices.iter().find(|choice| choice.word == head) else {
        return Err(unknown(text, head, choices));
    };
    match (tail, choice.tail) {
        (None, _) | (Some(""), None) => Ok(Word { choice, tail: None }),
        (Some(tail), Some(_)) => Ok(Word { choice, tail: Some(tail.to_owned()) }),
        (Some(tail), None) => {
            Err(Refusal::new(format!("nothing may follow {head}: fio would drop :{tail}"))
                .advise(format!("write {head}")))
        }
    }
}

fn unknown(text: &str, head: &str, choices: &'static [Choice]) -> Refusal {
    let words = || choices.iter().map(|choice| choice.word);
    let refusal = Refusal { words: Some(valid_values(choices)), ..Refusal::new("") };
    if text != text.trim_start() {
        return refusal.advise(format!("no blank may stand before {}", text.trim_start()));
    }
    if let Some((first, _)) = head.split_once(',')
        && words().any(|word| word == first)
    {
        return refusal.advise(format!("one word only: write {first}"));
    }
    match crate::lookup::nearest(head, words()) {
        Some(near) => refusal.advise(format!("did you mean `{near}`?")),
        None => refusal,
    }
}

/// The table of words in fio's layout, one a line.
pub(crate) fn valid_values(choices: &[Choice]) -> String {
    let mut lines = Vec::new();
    for (index, choice) in choices.iter().filter(|choice| !choice.hidden).enumerate() {
        let label = if index == 0 { "valid values" } else { "" };
        lines.push(format!("{label:>20}: {:<10} {}", choice.word, choice.help).trim_end().to_owned());
    }
    lines.join("\n")
}
