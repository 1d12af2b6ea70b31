//! `explain`: what a finding means, how it was seen, what to do.

use std::process::ExitCode;

use clap::Args;
use fsdyno_findings::Explanation;
use fsdyno_guide::Problem;
use fsdyno_job::lookup::{distance, nearest};
use fsdyno_text::quantity::counted;
use serde_json::{Value, json};

use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, print_first_page, refused};

/// Longest line, columns.
const COLUMNS_MAX: usize = 100;

/// What a finding means, how it is detected and what to do; without an id: list all.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The finding's id, such as page-cache, or its trap number, such as T2.
    id: Option<String>,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(&self) -> ExitCode {
        let columns = columns().min(COLUMNS_MAX);
        let text = match &self.id {
            None if self.json => {
                let all: Vec<Value> = fsdyno_findings::catalogue().map(as_json).collect();
                fsdyno_present::document(counted(all.len() as u64, "finding"), json!({"findings": all}))
            }
            None => list(columns),
            Some(id) => match fsdyno_findings::explanation(id) {
                Some(explanation) if self.json => fsdyno_present::document(explanation.title, as_json(explanation)),
                Some(explanation) => document(explanation, columns),
                None => {
                    let problem = Problem::new(format!("there is no finding `{id}`"));
                    let meant = nearest(id, fsdyno_findings::catalogue().map(|explanation| explanation.id))
                        .filter(|meant| distance(id, meant) < 4);
                    let meant = meant.map(|id| format!("fsdyno explain {id}"));
                    return ExitCode::from(refused(&problem.with_meant(meant, "`fsdyno explain` shows all")));
                }
            },
        };
        let words = ["fsdyno", "explain"].into_iter().chain(self.id.as_deref());
        let is_printed = if self.json { print(&text) } else { print_first_page(&text, &words.collect::<Vec<_>>()) };
        if is_printed { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
    }
}

fn as_json(explanation: &Explanation) -> Value {
    let Explanation { id, trap, title, happens, seen, advice, documented } = explanation;
    json!({
        "id": id,
        "trap": trap,
        "title": title,
        "happens": happens,
        "detected": seen,
        "advice": advice,
        "documented": documented,
    })
}

fn list(columns: usize) -> String {
    let line = |explanation: &Explanation| {
        let head = format!("{:<20} {:<4} ", explanation.id, explanation.trap);
        let indent = format!("\n{:width$}", "", width = head.len());
        format!("{head}{}\n", wrapped(explanation.title, columns.saturating_sub(head.len())).join(&indent))
    };
    fsdyno_findings::catalogue().map(line).collect()
}

fn document(explanation: &Explanation, columns: usize) -> String {
    let Explanation { id, trap, title, happens, seen, advice, documented } = explanation;
    let parts =
        [("What happens", happens), ("How it is detected", seen), ("What to do", advice), ("Documented", documented)];
    let body: String = parts
        .iter()
        .map(|(heading, text)| format!("\n{heading}\n  {}\n", wrapped(text, columns - 2).join("\n  ")))
        .collect();
    format!("{}\n{body}", wrapped(&format!("{id} ({trap}): {title}"), columns).join("\n  "))
}

/// Wraps the words into lines of at most this number of columns; a longer word gets a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in unbroken(text) {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(&word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// The words of a text. A command between backticks, which people copy, is one word.
fn unbroken(text: &str) -> Vec<String> {
    let (mut words, mut is_command): (Vec<String>, bool) = (Vec::new(), false);
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(command) if is_command => {
                command.push(' ');
                command.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        is_command ^= word.matches('`').count() % 2 == 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_keep_to_the_width_and_lose_no_word() {
        for explanation in fsdyno_findings::catalogue() {
            let body = document(explanation, 80);
            // Addresses are not broken.
            assert!(body.lines().all(|line| line.chars().count() <= 80 || line.contains("http")), "{body}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&wrapped(explanation.happens, 78).join(" ")), words(explanation.happens));
        }
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        let command = "see `fsdyno help`, or ask";
        assert_eq!(wrapped(command, 17), ["see", "`fsdyno help`, or", "ask"], "a command is not broken");
        assert_eq!(wrapped(command, 10), ["see", "`fsdyno help`,", "or ask"], "the terminal breaks a longer line");
        let listed = list(80);
        assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
        assert_eq!(listed.lines().filter(|line| !line.starts_with(' ')).count(), fsdyno_findings::catalogue().count());
    }
}
