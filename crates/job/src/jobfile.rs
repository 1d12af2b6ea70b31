//! Reads job files: sections of options, one option a line.
//!
//! The texts of files and the values of variables come from [`Sources`]; this module reads nothing itself.

mod substitute;

use std::path::Path;
use std::sync::Arc;

use crate::Sources;
use crate::diagnostic::{Diagnostic, Origin};
use crate::lookup;
use crate::raw::{Assignment, RawJob};
use crate::table::{self, JobRow};

/// Longest line, bytes.
const LINE_MAX: usize = 8192;
/// Deepest nesting of `include`.
const INCLUDE_DEPTH_MAX: usize = 16;

/// One option line before its row is known.
struct OptionLine {
    name: String,
    text: Option<String>,
    origin: Origin,
}

/// A section before its rows are known.
struct Section {
    name: String,
    lines: Vec<OptionLine>,
}

/// Reads one job file. `index` counts the job files from 0; `engine` is the engine that the defaults of the command
/// line name, if this is the first file. With a list in `only`, all other sections are left out; an empty list means
/// all sections. Jobs with errors are returned as well, without the faulty options, so that the rest of each job can
/// be checked.
pub(crate) fn read(
    path: &str,
    index: usize,
    engine: &'static str,
    only: &[String],
    sources: &mut dyn Sources,
) -> (Vec<RawJob>, Vec<Diagnostic>) {
    let rows = Rows { index, engine, only, jobs: Vec::new(), unnamed: Vec::new() };
    let mut reader = Reader { sources, section: None, rows, errors: Vec::new() };
    match reader.sources.job_file(path) {
        Ok(text) => reader.read_lines(path, &text, 0),
        Err(reason) => {
            let message = format!("fio: unable to open '{path}' job file\n  {path}: {reason}");
            let help = "name a job file that can be read; `fsdyno measure .` needs none";
            reader.errors.push(Diagnostic::new(None, message).help(help));
        }
    }
    reader.end_section();
    let Reader { rows, mut errors, .. } = reader;
    // As if all sections were read before the first row is looked for.
    errors.extend(rows.unnamed);
    (rows.jobs, errors)
}

struct Reader<'s> {
    sources: &'s mut dyn Sources,
    /// The section whose lines are read.
    section: Option<Section>,
    rows: Rows<'s>,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read_lines(&mut self, path: &str, text: &str, depth: usize) {
        let file: Arc<str> = path.into();
        for (index, whole) in text.lines().enumerate() {
            let origin = Origin::Line { file: Arc::clone(&file), number: index + 1, text: whole.to_owned() };
            if whole.len() > LINE_MAX {
                let message = format!("fio: line longer than {LINE_MAX} bytes");
                self.errors.push(Diagnostic::new(Some(origin), message));
                continue;
            }
            let line = whole.split(['#', ';']).next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(header) = line.strip_prefix('[') {
                self.begin_section(header, origin, depth);
            } else if let Some(file) = included_file(line) {
                self.include(path, file, origin, depth);
            } else {
                self.option(line, origin);
            }
        }
    }

    fn begin_section(&mut self, header: &str, origin: Origin, depth: usize) {
        if depth > 0 {
            self.errors.push(Diagnostic::new(Some(origin), "fio: No new sections in included files"));
            return;
        }
        let (name, problem) = match header.rsplit_once(']') {
            Some((name, "")) => (name, None),
            Some((name, rest)) => (name, Some((format!("fio: {rest} follows the name of a section"), rest))),
            None => (header, Some((format!("fio: section [{header} has no closing bracket"), ""))),
        };
        if let Some((message, rest)) = problem {
            let help = match rest {
                "" => format!("write [{name}]"),
                rest => format!("write {rest} on its own line"),
            };
            self.errors.push(Diagnostic::new(Some(origin), message).help(help));
        }
        // The options below belong to this section even if its header is broken.
        self.end_section();
        self.section = Some(Section { name: name.to_owned(), lines: Vec::new() });
    }

    /// A job as written is made of each section at once: many sections would take twice the memory.
    fn end_section(&mut self) {
        if let Some(section) = self.section.take() {
            self.rows.add(section);
        }
    }

    fn include(&mut self, path: &str, file: &str, origin: Origin, depth: usize) {
        if self.section.is_none() {
            self.errors.push(outside(&format!("include {file}"), origin));
            return;
        }
        if depth >= INCLUDE_DEPTH_MAX {
            let message = format!("fio: includes are nested deeper than {INCLUDE_DEPTH_MAX}");
            self.errors.push(Diagnostic::new(Some(origin), message).help("does a file include itself?"));
            return;
        }
        // First the path as written, which may be relative to the current directory; then beside the including file.
        let directory = Path::new(path).parent().unwrap_or(Path::new(""));
        // Both are texts of the fio language, not yet paths of the system.
        let beside = directory.join(file).to_string_lossy().into_owned();
        let mut found = [file, &beside].into_iter().map(|target| (target, self.sources.job_file(target)));
        match found.find_map(|(target, text)| Some((target, text.ok()?))) {
            Some((target, text)) => self.read_lines(target, &text, depth + 1),
            None => {
                let message = format!("fio: unable to open '{file}' job file");
                let help = format!("there is no {file}, and no {beside} that can be read");
                self.errors.push(Diagnostic::new(Some(origin), message).help(help));
            }
        }
    }

    fn option(&mut self, line: &str, origin: Origin) {
        let (name, text) = match line.split_once('=') {
            Some((name, text)) => (name.trim_end(), Some(text)),
            None => (line, None),
        };
        if self.section.is_none() {
            self.errors.push(outside(line, origin));
            return;
        }
        let text = match text.map(|text| substitute::substitute(text, self.sources)).transpose() {
            Ok(text) => text,
            Err(reason) => {
                let message = format!("fio: failed parsing {line}\n{reason}");
                self.errors.push(Diagnostic::new(Some(origin), message));
                return;
            }
        };
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let mut error = Diagnostic::new(Some(origin), format!("fio: failed parsing {line}\nthe value is empty"));
            if line.contains("${") {
                error = error.help("set the environment variable");
            }
            self.errors.push(error);
            return;
        }
        if let Some(section) = &mut self.section {
            section.lines.push(OptionLine { name: name.to_owned(), text, origin });
        }
    }
}

fn outside(line: &str, origin: Origin) -> Diagnostic {
    Diagnostic::new(Some(origin), format!("fio: option <{line}> outside of [] job section"))
        .help("start with [global] for defaults, or with [NAME] for a job")
}

/// `include FILE` or `include=FILE`.
fn included_file(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("include")?;
    let file = rest.trim_start().trim_start_matches('=').trim_start();
    (file.len() < rest.len() && !file.is_empty()).then_some(file)
}

/// Finds the rows of each section's options: rows of every job, and rows of the section's engine, wherever in the
/// section the engine is named.
struct Rows<'s> {
    index: usize,
    /// The engine that the defaults name.
    engine: &'static str,
    only: &'s [String],
    jobs: Vec<RawJob>,
    /// Errors of options without a row.
    unnamed: Vec<Diagnostic>,
}

impl Rows<'_> {
    fn add(&mut self, section: Section) {
        let mut job = RawJob::new(&section.name, false);
        if !job.global && !self.only.is_empty() && !self.only.contains(&section.name) {
            return;
        }
        let engine = section_engine(&section).unwrap_or(self.engine);
        if job.global {
            self.engine = engine;
        }
        let before = self.unnamed.len();
        job.assignments.reserve_exact(section.lines.len());
        for line in section.lines {
            match table::job_row(&line.name, engine) {
                Some(row) if table::ends_with_its_engine(row, engine) => {}
                Some(row) => {
                    // Options of the same rank keep the order in which they were written.
                    let at = job.assignments.partition_point(|before| rank(before.row) <= rank(row));
                    job.assignments.insert(at, Assignment::new(row, line.text, line.origin));
                }
                None => self.unnamed.push(bad_option(&line, engine)),
            }
        }
        if let (true, Some(last)) = (self.unnamed.len() > before, self.unnamed.last_mut()) {
            last.closing = Some(format!("fio: job {} dropped", section.name));
        }
        job.resets_defaults = self.index > 0 && self.jobs.is_empty();
        job.starts_file = self.index > 0 && !job.global && self.jobs.iter().all(|earlier| earlier.global);
        self.jobs.push(job);
    }
}

fn section_engine(section: &Section) -> Option<&'static str> {
    let named = section.lines.iter().rev().find(|line| line.name == "ioengine")?;
    table::engine_named(named.text.as_deref()?.trim())
}

/// The rank of an option: in a section, options that others depend on are applied first, file names last.
fn rank(row: &JobRow) -> u8 {
    match row.name {
        "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => 0,
        "filename" | "filename_format" => 2,
        _ => 1,
    }
}

fn bad_option(line: &OptionLine, engine: &str) -> Diagnostic {
    let written = match &line.text {
        Some(text) => format!("{}={text}", line.name),
        None => line.name.clone(),
    };
    let error = Diagnostic::new(Some(line.origin.clone()), format!("Bad option <{written}>"));
    if let Some(row) = table::job_rows().find(|row| row.names().any(|known| known == line.name)) {
        return error.help(format!("{} is an option of {}, not of {engine}", row.name, row.engines.join(", ")));
    }
    if table::PROGRAM.iter().any(|row| row.name == line.name) {
        return error.help(format!("--{} belongs on the command line, not in a job file", line.name));
    }
    let names = table::rows_for(engine).flat_map(|row| row.names());
    error.did_you_mean(lookup::nearest(&line.name, names))
}

#[cfg(test)]
#[path = "jobfile_tests.rs"]
mod tests;
