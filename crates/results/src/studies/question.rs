//! The questions: one row for each, with what differs between them wherever a study is asked, shown or kept. What a question
//! needs beyond its row (a table, a chart) is added where that is shown; without, it is shown as any question is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// How fast is it: latency, IOPS, throughput.
    Measure,
    /// How does it do with names and small files.
    SmallFiles,
    /// Does it meet a requirement.
    Check,
    /// Which of several is faster.
    Compare,
    /// How long does a command of the user's take there.
    Time,
    /// Which depth and block size suit it.
    Sweep,
    /// Response time against offered load.
    Curve,
    /// How much do several nodes get together.
    Scale,
    /// A fio command line.
    Fio,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; Question::Fio as usize + 1] = [
        Question::Measure,
        Question::SmallFiles,
        Question::Check,
        Question::Compare,
        Question::Time,
        Question::Sweep,
        Question::Curve,
        Question::Scale,
        Question::Fio,
    ];

    /// The one place where each question has its line.
    fn row(self) -> Row {
        let row = |word, title| Row { word, title, ..PLAIN };
        match self {
            Question::Measure => Row {
                options: &["--size", "--runtime", "--engine"],
                rounds: Some("--runs"),
                ..row("measure", "How fast is {}?")
            },
            Question::SmallFiles => {
                Row { options: &["--files", "--limit"], ..row("smallfiles", "Names and small files on {}") }
            }
            Question::Check => row("check", "Is {} good enough?"),
            Question::Compare => Row {
                options: &["--size", "--runtime", "--iodepth"],
                rounds: Some("--rounds"),
                ..row("compare", "{}, compared")
            },
            Question::Time => Row { rounds: Some("--rounds"), ..row("time", "A command on {}") },
            Question::Sweep => {
                Row { options: &["--size", "--runtime", "--engine"], ..row("sweep", "Which depth suits {}?") }
            }
            Question::Curve => {
                Row { options: &["--size", "--runtime", "--iodepth"], ..row("curve", "Response time of {} under load") }
            }
            Question::Scale => Row {
                options: &["--size", "--runtime", "--iodepth"],
                ..row("scale", "How much do several nodes get from {}?")
            },
            Question::Fio => row("fio", "{}"),
        }
    }

    /// The subcommand's name.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The question, asked of these targets.
    pub fn title(self, targets: &str) -> String {
        self.row().title.replace("{}", targets)
    }

    /// The options with which it can follow the advice of a finding.
    pub fn options(self) -> &'static [&'static str] {
        self.row().options
    }

    /// The option that asks for more rounds; `None`: it has no rounds.
    pub fn rounds_option(self) -> Option<&'static str> {
        self.row().rounds
    }
}

/// A question as the rest of the program needs to know it.
struct Row {
    /// The subcommand's name.
    word: &'static str,
    /// The question in words; `{}` stands for what it is asked of.
    title: &'static str,
    options: &'static [&'static str],
    rounds: Option<&'static str>,
}

/// A question that has nothing of its own.
const PLAIN: Row = Row { word: "", title: "", options: &[], rounds: None };

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
