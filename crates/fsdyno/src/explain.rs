//! `explain`: what a finding means, how it was seen, what to do.

use std::process::ExitCode;

use clap::Args;
use findings::Story;

use crate::fio::{complain, print};
use crate::question::UNUSABLE;

/// Columns of a paragraph: readable at any width of a terminal.
const COLUMNS: usize = 96;

/// What a finding means, how it was seen and what to do; without an id: all of them.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The finding's id, as it stands behind it: page-cache. A trap's number (T2) will do.
    id: Option<String>,
}

impl Explain {
    pub(crate) fn run(&self) -> ExitCode {
        let text = match &self.id {
            None => list(),
            Some(id) => match findings::story(id) {
                Some(story) => tell(story),
                None => {
                    complain(&format!("fsdyno: no finding is called {id}"));
                    complain("  next: fsdyno explain  (lists them)");
                    return ExitCode::from(UNUSABLE);
                }
            },
        };
        if print(&text) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn list() -> String {
    let line = |story: &Story| format!("{:<20} {:<4} {}\n", story.id, story.trap, story.title);
    findings::catalogue().iter().map(line).collect()
}

fn tell(story: &Story) -> String {
    let Story { id, trap, title, happens, seen, advice, documented } = story;
    let parts =
        [("What happens", happens), ("How it is seen", seen), ("What to do", advice), ("Documented", documented)];
    let told: String = parts.iter().map(|(heading, text)| format!("\n{heading}\n{}", paragraph(text))).collect();
    format!("{id} ({trap}): {title}\n{told}")
}

/// Lines of at most [`COLUMNS`], two blanks in.
fn paragraph(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from(" ");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS && line.len() > 1 {
            lines.push_str(&line);
            lines.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    format!("{lines}{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_to_their_width_and_lose_no_word() {
        for story in findings::catalogue() {
            let told = tell(story);
            assert!(told.lines().all(|line| line.chars().count() <= COLUMNS), "{told}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&paragraph(story.happens)), words(story.happens));
        }
        assert_eq!(paragraph("one two"), "  one two\n");
        assert_eq!(list().lines().count(), findings::catalogue().len());
    }
}
