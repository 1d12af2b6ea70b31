//! The option tables of COMPAT.md, as Markdown.

use std::fmt::Write;

use crate::differences::differences;
use crate::option::{Choice, OptionRow, Status};
use crate::table::{CATEGORIES, PROGRAM};

/// Every option with its status and the reason, by category, then the chosen differences.
pub fn markdown() -> String {
    let mut text = String::new();
    section(&mut text, "Options of the program", PROGRAM);
    for category in CATEGORIES {
        section(&mut text, category.title, category.rows);
    }
    text.push_str("## Chosen differences\n\n| written | fio 3.42 | here | why |\n|---|---|---|---|\n");
    for difference in differences() {
        let cells = [difference.written, difference.fio, difference.here, difference.reason].map(cell);
        line(&mut text, &format!("| {} |", cells.join(" | ")));
    }
    text
}

/// How many options have each status, for the head of COMPAT.md.
pub fn summary() -> String {
    let statuses: Vec<Status> = CATEGORIES
        .iter()
        .flat_map(|category| category.rows.iter().map(|row| row.status))
        .chain(PROGRAM.iter().map(|row| row.status))
        .collect();
    let kinds =
        [Status::Full, Status::Partial(""), Status::WithoutEffect(""), Status::NotYet(""), Status::Rejected("")];
    let counts: Vec<String> = kinds
        .iter()
        .map(|kind| {
            let count = statuses.iter().filter(|status| status.label() == kind.label()).count();
            format!("{count} {}", kind.label())
        })
        .collect();
    format!("{} options: {}.\n", statuses.len(), counts.join(", "))
}

fn section<T>(text: &mut String, title: &str, rows: &[OptionRow<T>]) {
    line(text, &format!("## {title}\n\n| option | status | why |\n|---|---|---|"));
    for row in rows {
        let mut names: Vec<String> = row.names().map(|name| format!("`{name}`")).collect();
        if !row.engines.is_empty() {
            names.push(format!("({})", row.engines.join(", ")));
        }
        let reason = reasons(row.status, row.kind.choices());
        line(text, &format!("| {} | {} | {} |", names.join(" "), row.status.label(), cell(&reason)));
    }
    text.push('\n');
}

/// The reason of the row and the reasons of its words; words with the same reason stand together.
fn reasons(status: Status, choices: &[Choice]) -> String {
    let mut reasons: Vec<(Status, Vec<&str>)> = Vec::new();
    for choice in choices.iter().filter(|choice| choice.status != Status::Full && !choice.hidden) {
        match reasons.iter_mut().find(|(known, _)| *known == choice.status) {
            Some((_, words)) => words.push(choice.word),
            None => reasons.push((choice.status, vec![choice.word])),
        }
    }
    let mut sentences: Vec<String> = Vec::new();
    if !status.reason().is_empty() {
        sentences.push(status.reason().to_owned());
    }
    for (status, words) in reasons {
        sentences.push(format!("{} {}: {}", words.join(", "), status.label(), status.reason()));
    }
    sentences.join("; ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn line(text: &mut String, content: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{content}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_line() {
        let text = markdown();
        for row in crate::table::job_rows() {
            assert!(text.contains(&format!("| `{}`", row.name)), "{}", row.name);
        }
        assert!(text.contains("| `bs` `blocksize` | full |  |"));
        assert!(text.contains("zbd partial: "), "{text}");
        assert!(summary().contains(" full, "));
    }
}
