//! Errors and remarks about what a user wrote: where it stands, what is wrong, what was probably meant, what to do
//! next.
//!
//! Messages contain fio's key phrases, because people and scripts search for them, and add to them.

use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::value::Refusal;

/// Where a text was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On the command line.
    Word {
        /// The first word after the program's name is 1.
        number: usize,
        /// The word.
        word: String,
    },
    /// In a job file.
    Line {
        /// The file as named.
        file: Arc<str>,
        /// The first line is 1.
        number: usize,
        /// The line, without its end.
        text: String,
    },
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where the error is; `None`: at no certain place.
    pub origin: Option<Origin>,
    /// What is wrong, in fio's words where fio has a message. It may have several lines.
    pub message: String,
    /// What was probably meant, and the next step. One line each.
    pub help: Vec<String>,
    /// All words that the option takes. They are printed last, so that a reader meets the next step first.
    pub words: Option<String>,
    /// A line that follows the rest, such as `fio: job a dropped`.
    pub closing: Option<String>,
}

impl Diagnostic {
    /// An error at this place.
    pub fn new(origin: Option<Origin>, message: impl Into<String>) -> Self {
        Diagnostic { origin, message: message.into(), help: Vec::new(), words: None, closing: None }
    }

    /// The same error with a line of help.
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// The same error with `did you mean NAME?`, if there is a name.
    pub fn did_you_mean(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// An option whose value was refused.
    pub fn refused(origin: &Origin, name: &str, text: Option<&str>, refusal: &Refusal) -> Self {
        let written = match text {
            Some(text) => format!("{name}={text}"),
            None => name.to_owned(),
        };
        let message = match refusal.reason.starts_with("fio: ") {
            // The reason is a sentence of its own.
            true => refusal.reason.clone(),
            false if name == "ioengine" => {
                let engine = text.unwrap_or_default().trim();
                format!("fio: engine {engine} not loadable\nfio: failed to load engine\n{}", refusal.reason)
            }
            false => format!("fio: failed parsing {written}\n{}", refusal.reason),
        };
        let mut diagnostic = Diagnostic::new(Some(origin.clone()), message.trim_end());
        diagnostic.help.extend(refusal.advice.clone());
        diagnostic.words.clone_from(&refusal.words);
        // fio lists the words of other options, but not the engines.
        if name == "ioengine" && diagnostic.words.take_if(|_| refusal.advice.is_some()).is_some() {
            diagnostic = diagnostic.help("`--enghelp` shows all engines");
        }
        diagnostic
    }

    /// The text for a terminal or a file, ended by a line end.
    pub fn render(&self, colour: bool) -> String {
        let mut text = match &self.origin {
            Some(Origin::Line { file, number, text }) => self.render_line(file, *number, text, colour),
            Some(Origin::Word { number, word }) => {
                self.in_lines(&format!("  at word {number} of the command line: {word}\n"))
            }
            None => self.in_lines(""),
        };
        if let Some(closing) = &self.closing {
            text.push_str(&format!("{closing}\n"));
        }
        text
    }

    /// The message, the place, and the next step, in the layout of the guided face.
    fn in_lines(&self, place: &str) -> String {
        let words = self.words.as_ref().map(|words| format!("{words}\n")).unwrap_or_default();
        let next = match self.help.join("; ").replace("?; ", "? ") {
            none if none.is_empty() => none,
            next => format!("  next: {next}\n"),
        };
        format!("{}\n{place}{next}{words}", self.message)
    }

    /// An excerpt of the job file with the line underlined.
    fn render_line(&self, file: &str, number: usize, line: &str, colour: bool) -> String {
        let (title, rest) = self.message.split_once('\n').unwrap_or((&self.message, ""));
        let start = line.len() - line.trim_start().len();
        let end = line.trim_end().len().max(start);
        let snippet =
            Snippet::source(line).line_start(number).path(file).annotation(AnnotationKind::Primary.span(start..end));
        let mut group = Level::ERROR.primary_title(title).element(snippet);
        if !rest.is_empty() {
            group = group.element(Level::NOTE.message(rest));
        }
        for line in &self.help {
            group = group.element(Level::HELP.message(line.as_str()));
        }
        if let Some(words) = &self.words {
            group = group.element(Level::NOTE.message(words.as_str()));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        format!("{}\n", renderer.render(&[group]))
    }
}

/// Kinds of remarks that do not stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningCode {
    /// fio's documentation explains the value, but most people expect another meaning.
    OddValue,
    /// An option is accepted and changes nothing.
    WithoutEffect,
    /// An option of an engine that the job does not use.
    OtherEngine,
    /// `time_based` without `runtime` was switched off.
    TimeBasedWithoutRuntime,
    /// `blockalign` switched the random map off.
    BlockAlignWithoutMap,
    /// A synchronous engine has one request in flight whatever `iodepth` says.
    SynchronousDepth,
    /// `directory` was written after `filename` and does not apply to it.
    DirectoryAfterFilename,
    /// Unaligned sizes may fail with direct I/O.
    UnalignedDirect,
    /// The write phase uses all of the runtime, so that no write is verified.
    NothingVerified,
    /// A job that replays a log does not record its I/O.
    Replayed,
    /// The number of files that `opendir` has found.
    FilesAdded,
    /// Under `--parse-only`: an error that would stop a run.
    OnlyParsed,
    /// A secret stands on the command line.
    VisibleSecret,
    /// A remark on the program's own options.
    Setting,
}

/// A remark that does not stop the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind.
    pub code: WarningCode,
    /// The job it is about.
    pub job: Option<String>,
    /// Where the reason was written.
    pub origin: Option<Origin>,
    /// The remark, in fio's words where fio has some.
    pub text: String,
}

/// The stream to which fio prints a remark that fio has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, before the report.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Warning {
    /// The stream to which fio prints this remark; `None`: fio has no such remark.
    pub fn fio_stream(&self) -> Option<Stream> {
        match self.code {
            WarningCode::TimeBasedWithoutRuntime
            | WarningCode::BlockAlignWithoutMap
            | WarningCode::UnalignedDirect
            | WarningCode::Replayed => Some(Stream::Stderr),
            WarningCode::SynchronousDepth | WarningCode::NothingVerified | WarningCode::FilesAdded => {
                Some(Stream::Stdout)
            }
            WarningCode::OddValue
            | WarningCode::WithoutEffect
            | WarningCode::OtherEngine
            | WarningCode::DirectoryAfterFilename
            | WarningCode::OnlyParsed
            | WarningCode::VisibleSecret
            | WarningCode::Setting => None,
        }
    }

    /// Whether `--warnings-fatal` makes this remark an error: the job would not run as it was written.
    pub fn is_fatal_when_asked(&self) -> bool {
        matches!(
            self.code,
            WarningCode::TimeBasedWithoutRuntime
                | WarningCode::BlockAlignWithoutMap
                | WarningCode::DirectoryAfterFilename
                | WarningCode::UnalignedDirect
                | WarningCode::NothingVerified
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_a_job_file_shows_the_line() {
        let origin = Origin::Line { file: "a.fio".into(), number: 4, text: "  bogus=1".to_owned() };
        let mut diagnostic = Diagnostic::new(Some(origin), "Bad option <bogus=1>").did_you_mean(Some("bs"));
        diagnostic.closing = Some("fio: job x dropped".to_owned());
        insta::assert_snapshot!(diagnostic.render(false), @r"
        error: Bad option <bogus=1>
         --> a.fio:4:3
          |
        4 |   bogus=1
          |   ^^^^^^^
          |
          = help: did you mean `bs`?
        fio: job x dropped
        ");
    }

    #[test]
    fn an_error_on_the_command_line_names_the_word() {
        let origin = Origin::Word { number: 2, word: "--iodepth=0".to_owned() };
        let refusal = Refusal::new("iodepth: min value out of range: 0 (1 min)");
        insta::assert_snapshot!(Diagnostic::refused(&origin, "iodepth", Some("0"), &refusal).render(false), @r"
        fio: failed parsing iodepth=0
        iodepth: min value out of range: 0 (1 min)
          at word 2 of the command line: --iodepth=0
        ");
    }
}
