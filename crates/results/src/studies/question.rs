//! The questions: one row for each, with all that differs between them where a study is asked, shown or stored. A
//! question that needs more than its row (a table, a chart) adds it where it is shown; without it, it is shown like
//! any other question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The question that a study answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// How fast is a storage: latency, IOPS, throughput?
    Measure,
    /// How fast are operations on names and small files?
    SmallFiles,
    /// Does a storage meet a requirement?
    Check,
    /// Which of several storages is faster?
    Compare,
    /// How long does a command of the user take there?
    Time,
    /// Which depth and block size suit a storage?
    Sweep,
    /// How does the response time depend on the offered load?
    Curve,
    /// How fast are several nodes together?
    Scale,
    /// What does the mount of an object store add to the store?
    Attribute,
    /// A fio command line.
    Fio,
}

impl Question {
    /// All questions.
    pub const ALL: [Question; Question::Fio as usize + 1] = [
        Question::Measure,
        Question::SmallFiles,
        Question::Check,
        Question::Compare,
        Question::Time,
        Question::Sweep,
        Question::Curve,
        Question::Scale,
        Question::Attribute,
        Question::Fio,
    ];

    /// The row of each question; no other code lists all questions.
    fn row(self) -> QuestionRow {
        let row = |word, title| QuestionRow { word, title, ..PLAIN };
        match self {
            Question::Measure => QuestionRow {
                options: &["--size", "--runtime", "--engine"],
                rounds: Some("--runs"),
                ..row("measure", "How fast is {}?")
            },
            Question::SmallFiles => {
                QuestionRow { options: &["--files", "--limit"], ..row("smallfiles", "Names and small files on {}") }
            }
            Question::Check => row("check", "Is {} good enough?"),
            Question::Compare => QuestionRow {
                options: &["--size", "--runtime", "--iodepth"],
                rounds: Some("--rounds"),
                ..row("compare", "{}, compared")
            },
            Question::Time => QuestionRow { rounds: Some("--rounds"), ..row("time", "A command on {}") },
            Question::Sweep => {
                QuestionRow { options: &["--size", "--runtime", "--engine"], ..row("sweep", "Which depth suits {}?") }
            }
            Question::Curve => QuestionRow {
                options: &["--size", "--runtime", "--iodepth"],
                ..row("curve", "Response time of {} under load")
            },
            Question::Scale => QuestionRow {
                options: &["--size", "--runtime", "--iodepth"],
                ..row("scale", "How much do several nodes get from {}?")
            },
            Question::Attribute => row("attribute", "{}: what the mount adds"),
            Question::Fio => row("fio", "{}"),
        }
    }

    /// The subcommand's name.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The question about these targets, in words.
    pub fn title(self, targets: &str) -> String {
        self.row().title.replace("{}", targets)
    }

    /// The options that follow the advice of a finding.
    pub fn options(self) -> &'static [&'static str] {
        self.row().options
    }

    /// The option that sets the number of rounds; `None`: the question has no rounds.
    pub fn rounds_option(self) -> Option<&'static str> {
        self.row().rounds
    }
}

/// What the rest of the program needs to know about a question.
struct QuestionRow {
    /// The subcommand's name.
    word: &'static str,
    /// The question in words; `{}` stands for the targets.
    title: &'static str,
    options: &'static [&'static str],
    rounds: Option<&'static str>,
}

/// The row of a question without features of its own.
const PLAIN: QuestionRow = QuestionRow { word: "", title: "", options: &[], rounds: None };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_a_name_of_its_own() {
        for question in Question::ALL {
            let same = Question::ALL.iter().filter(|other| other.word() == question.word());
            assert_eq!(same.count(), 1, "{question:?}");
            assert!(question.title("x").contains('x'), "{question:?}");
        }
    }
}
