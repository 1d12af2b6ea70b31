//! Reads the command line by the rules of getopt_long_only: one or two dashes, `=` or the next word, unique prefixes,
//! options and job files in any order.
//!
//! One accident of getopt is refused: it takes an unknown `-word` for a short option with a value.

use crate::diagnostic::{Diagnostic, Origin, Warning, WarningCode};
use crate::lookup::{self, Match};
use crate::option::{Arity, Kind};
use crate::profile;
use crate::raw::{Assignment, RawJob};
use crate::settings::Settings;
use crate::table::{self, JobRow, ProgramRow};
use crate::typed::EngineName;
use crate::value::Reading;

/// What the command line says, before job files are read.
#[derive(Debug)]
pub(crate) struct CommandLine {
    /// The program's options.
    pub settings: Settings,
    /// Defaults and jobs in the order written.
    pub jobs: Vec<RawJob>,
    /// Job files in the order written; `-` is standard input.
    pub job_files: Vec<(String, Origin)>,
    /// Remarks on the program's options.
    pub warnings: Vec<Warning>,
    /// What is wrong.
    pub errors: Vec<Diagnostic>,
}

/// Reads the words after the program's name over `settings`. Stops at the first request for help unless an error came before.
pub(crate) fn read(words: &[String], settings: Settings) -> CommandLine {
    let (expanded, refused) = match profile::expand(words) {
        Some(Ok(expanded)) => (Some(expanded), None),
        Some(Err(error)) => (Some(Vec::new()), Some(*error)),
        None => (None, None),
    };
    let words = expanded.as_deref().unwrap_or(words);
    let mut reader = Reader {
        words,
        next: 0,
        engine: EngineName::DEFAULT.name(),
        global_engine: EngineName::DEFAULT.name(),
        line: CommandLine {
            settings,
            jobs: vec![RawJob::new("global", true)],
            job_files: Vec::new(),
            warnings: Vec::new(),
            errors: refused.into_iter().collect(),
        },
    };
    reader.run();
    let remarks = std::mem::take(&mut reader.line.settings.remarks);
    reader.line.warnings.extend(remarks.into_iter().map(|text| Warning {
        code: WarningCode::Setting,
        job: None,
        origin: None,
        text,
    }));
    reader.line
}

struct Reader<'w> {
    words: &'w [String],
    next: usize,
    /// Engine of the job being written, whose options are known.
    engine: &'static str,
    /// Engine that new jobs begin with.
    global_engine: &'static str,
    line: CommandLine,
}

/// An entry of the flat table that names are looked up in.
#[derive(Clone, Copy)]
enum NamedOption {
    Program(&'static ProgramRow),
    Job(&'static JobRow),
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(word) = self.words.get(self.next) {
            let number = self.next + 1;
            self.next += 1;
            let origin = Origin::Word { number, word: word.clone() };
            if word == "--" {
                for (index, file) in self.words.iter().enumerate().skip(self.next) {
                    let origin = Origin::Word { number: index + 1, word: file.clone() };
                    self.line.job_files.push((file.clone(), origin));
                }
                return;
            }
            match word.strip_prefix('-') {
                None | Some("") => self.line.job_files.push((word.clone(), origin)),
                Some(rest) => self.option(word, rest, origin),
            }
            if self.line.settings.action.is_some() && self.line.errors.is_empty() {
                return;
            }
        }
    }

    /// Reads one option; `rest` is the word without its first dash.
    fn option(&mut self, word: &str, rest: &str, origin: Origin) {
        let (dashes, body) = match rest.strip_prefix('-') {
            Some(body) => ("--", body),
            None => ("-", rest),
        };
        let (name, text) = match body.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (body, None),
        };
        let entry = match short_option(dashes, body) {
            Some(row) => NamedOption::Program(row),
            None => match lookup::find(name, self.entries(name)) {
                Match::One(entry) => entry,
                Match::Ambiguous(names) => {
                    let list: Vec<String> = names.iter().map(|name| format!("'{dashes}{name}'")).collect();
                    let message = format!("fio: option '{word}' is ambiguous; possibilities: {}", list.join(" "));
                    self.line.errors.push(Diagnostic::new(Some(origin), message).help("write more of the name"));
                    return;
                }
                Match::Unknown => {
                    let error = self.unknown(word, dashes, name, origin);
                    self.line.errors.push(error);
                    return;
                }
            },
        };
        if let Some((text, origin)) = self.value(word, entry, text, origin) {
            self.assign(entry, text, origin);
        }
    }

    /// All names that may be written here. Options that fio does not have must be written in full, so that they
    /// make no abbreviation ambiguous.
    fn entries(&self, word: &str) -> impl Iterator<Item = (&'static str, NamedOption)> + use<> {
        let whole = word.to_owned();
        let program = table::PROGRAM
            .iter()
            .filter(move |row| row.name == whole || !table::OWN_OPTIONS.contains(&row.name))
            .map(|row| (row.name, NamedOption::Program(row)));
        let job =
            table::rows_for(self.engine).flat_map(|row| row.names().map(move |name| (name, NamedOption::Job(row))));
        program.chain(job)
    }

    /// Finds the value: after `=`, or the next word for options that need one.
    fn value(
        &mut self,
        word: &str,
        entry: NamedOption,
        text: Option<&str>,
        origin: Origin,
    ) -> Option<(Option<String>, Origin)> {
        let (name, arity) = match entry {
            NamedOption::Program(row) => (row.name, row.kind.arity()),
            // In job files these options may stand without a value; on the command line they may not.
            NamedOption::Job(row) if matches!(row.kind, Kind::OptionalText(_)) => (row.name, Arity::Required),
            NamedOption::Job(row) => (row.name, row.kind.arity()),
        };
        let error = match (arity, text) {
            (Arity::None, Some(_)) => {
                Diagnostic::new(Some(origin), format!("fio: option '--{name}' doesn't allow an argument"))
                    .help(format!("write --{name} alone"))
            }
            (Arity::Required, Some("")) => {
                Diagnostic::new(Some(origin), format!("fio: option {name} requires an argument"))
            }
            (Arity::None | Arity::Optional, text) => return Some((text.map(str::to_owned), origin)),
            (Arity::Required, Some(text)) => return Some((Some(text.to_owned()), origin)),
            (Arity::Required, None) => match self.words.get(self.next) {
                Some(next) if !self.looks_like_an_option(next) => {
                    self.next += 1;
                    let origin = match origin {
                        Origin::Word { number, word } => Origin::Word { number, word: format!("{word} {next}") },
                        line => line,
                    };
                    return Some((Some(next.clone()), origin));
                }
                Some(next) => Diagnostic::new(Some(origin), format!("fio: option '{word}' requires an argument"))
                    .help(format!("{next} looks like the next option; write {word}=VALUE")),
                None => Diagnostic::new(Some(origin), format!("fio: option '{word}' requires an argument"))
                    .help(format!("write {word}=VALUE")),
            },
        };
        self.line.errors.push(error);
        None
    }

    /// Whether a word is `--name` or `--name=...` of a known option, spelled in full.
    fn looks_like_an_option(&self, word: &str) -> bool {
        word.strip_prefix("--").is_some_and(|body| {
            let name = body.split('=').next().unwrap_or_default();
            self.entries(name).any(|(known, _)| known == name)
        })
    }

    fn assign(&mut self, entry: NamedOption, text: Option<String>, origin: Origin) {
        match entry {
            NamedOption::Program(row) => self.assign_setting(row, text.as_deref(), &origin),
            NamedOption::Job(row) => self.assign_job(row, text, origin),
        }
    }

    fn assign_setting(&mut self, row: &'static ProgramRow, text: Option<&str>, origin: &Origin) {
        let result = row.interpret(text, &mut Reading::default()).and_then(|interpreted| {
            row.kind.apply(&mut self.line.settings, &interpreted.value)?;
            Ok(interpreted.remark)
        });
        match result {
            Ok(None) => {}
            Ok(Some(remark)) => self.line.warnings.push(Warning {
                code: WarningCode::WithoutEffect,
                job: None,
                origin: Some(origin.clone()),
                text: remark,
            }),
            Err(refusal) => self.line.errors.push(Diagnostic::refused(origin, row.name, text, &refusal)),
        }
    }

    fn assign_job(&mut self, row: &'static JobRow, text: Option<String>, origin: Origin) {
        if row.name == "name" {
            self.begin_job(text.as_deref().unwrap_or_default());
        }
        if let ("ioengine", Some(engine)) = (row.name, text.as_deref().and_then(table::engine_named)) {
            self.engine = engine;
        }
        if let Some(job) = self.line.jobs.last_mut() {
            if job.global {
                self.global_engine = self.engine;
                if row.name == "name" {
                    return;
                }
            }
            if !table::ends_with_its_engine(row, self.engine) {
                job.assignments.push(Assignment::new(row, text, origin));
            }
        }
    }

    fn begin_job(&mut self, name: &str) {
        self.engine = self.global_engine;
        self.line.jobs.push(RawJob::new(name, true));
    }

    fn unknown(&self, word: &str, dashes: &str, name: &str, origin: Origin) -> Diagnostic {
        let error = Diagnostic::new(Some(origin), format!("fio: unrecognized option '{word}'"));
        if let Some(row) = table::job_rows().find(|row| row.names().any(|known| known == name)) {
            return error
                .help(format!("{name} is an option of {}: write --ioengine before it", row.engines.join(", ")));
        }
        let error = error.did_you_mean(lookup::nearest(name, self.entries(name).map(|(known, _)| known)));
        let letter = name.chars().next().unwrap_or_default();
        if dashes == "-" && name.len() > 1 && table::SHORT_OPTIONS.iter().any(|(short, _)| *short == letter) {
            return error.help(format!("fio would take it for -{letter} with something behind it; fsdyno does not"));
        }
        match name.contains('-') {
            true => error.help("option names have underscores, not dashes"),
            false => error.help("`--cmdhelp=all` shows all options"),
        }
    }
}

/// `-o`, `-v`, ...: one dash and one letter.
fn short_option(dashes: &str, body: &str) -> Option<&'static ProgramRow> {
    let mut letters = body.chars();
    let (letter, rest) = (letters.next()?, letters.next());
    if dashes != "-" || rest.is_some() {
        return None;
    }
    let (_, name) = table::SHORT_OPTIONS.iter().find(|(short, _)| *short == letter)?;
    table::PROGRAM.iter().find(|row| row.name == *name)
}

#[cfg(test)]
#[path = "argv_tests.rs"]
mod tests;
