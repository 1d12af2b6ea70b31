//! Reads the fio language: what a user may write, and what it means.
//!
//! Words and job files become [`RawJob`](raw::RawJob)s (option, value, origin), and those become typed
//! [`Job`]s. Nothing here makes a system call, reads a file or knows a device: job files, variables and the
//! size of the machine come through [`Sources`].
//!
//! ```
//! struct Nothing;
//! impl fsdyno_job::Sources for Nothing {
//!     fn job_file(&mut self, _: &str) -> Result<String, String> { Err("no files here".to_owned()) }
//!     fn variable(&self, _: &str) -> Option<String> { None }
//!     fn machine(&self) -> fsdyno_job::Machine { fsdyno_job::Machine { page_bytes: 4096, memory_mib: 1024, processors: 1 } }
//! }
//! let words = ["--name=a", "--rw=randread", "--size=1g"].map(str::to_owned);
//! let fsdyno_job::Outcome::Run(plan) = fsdyno_job::parse_command_line(&words, &mut Nothing) else { panic!() };
//! assert_eq!(plan.jobs[0].pattern.access.name(), "randread");
//! ```
#![forbid(unsafe_code)]

mod access;
mod argv;
pub mod bytes;
mod clients;
pub mod compat;
pub mod debug;
pub mod diagnostic;
pub mod differences;
pub mod direction;
pub mod draft;
pub mod errno;
pub mod help;
mod jobfile;
pub mod lookup;
pub mod offered;
pub mod option;
mod profile;
pub mod raw;
mod resolve;
mod secret;
pub mod settings;
mod showcmd;
mod sources;
pub mod table;
#[cfg(test)]
mod testing;
mod typed;
pub mod value;

pub use access::Access;
pub use diagnostic::{Diagnostic, Origin, Stream, Warning, WarningCode};
pub use direction::{Direction, PerDirection, ReadWrite, Transfer};
pub use resolve::{Resolved, resolve};
pub use secret::{HIDDEN, Secret};
pub use settings::{Action, Eta, Findings, IdleProfile, Settings};
pub use sources::{Machine, Sources};
pub use table::FORMATS;
pub use typed::*;

/// The outcome of reading a command line.
#[derive(Debug)]
pub enum Outcome {
    /// Run these jobs. With `parse_only` set, only exit with status 0.
    Run(Box<Request>),
    /// Do this instead of running jobs.
    Immediate(Action),
    /// Print the errors and exit.
    Rejected(Rejection),
}

/// Jobs to run, all options read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The program's options.
    pub settings: Settings,
    /// The jobs in the order in which they start.
    pub jobs: Vec<Job>,
    /// Defaults as written, canonical names, for the reports' `global options`.
    pub global_options: Vec<(String, String)>,
    /// Remarks to print on standard error.
    pub warnings: Vec<Warning>,
    /// Lines of `--debug=parse` about each job; empty if they were not asked for.
    pub trace: Vec<Vec<String>>,
}

/// Why nothing runs.
#[derive(Debug)]
pub struct Rejection {
    /// The errors, in the order of the command line. Print each with [`Diagnostic::render`].
    pub errors: Vec<Diagnostic>,
    /// Remarks on the options that were read.
    pub warnings: Vec<Warning>,
    /// Whether [`help::usage`] should follow.
    pub usage: bool,
    /// Exit status.
    pub status: u8,
}

/// Reads the words after the program's name.
pub fn parse_command_line(words: &[String], sources: &mut dyn Sources) -> Outcome {
    let mut settings = Settings::default();
    let mut errors: Vec<Diagnostic> = settings.take_environment(sources).into_iter().collect();
    let line = argv::read(words, settings);
    errors.extend(line.errors);
    clients::advise(&mut errors, words, sources);
    let mut warnings = line.warnings;
    let settings = line.settings;
    if let (Some(action), true) = (&settings.action, errors.is_empty()) {
        return Outcome::Immediate(action.clone());
    }
    let mut raw_jobs = line.jobs;
    // After an error on the command line, a "job file" is most often the value of a misspelt option.
    if errors.is_empty() {
        for (index, (path, origin)) in line.job_files.iter().enumerate() {
            let engine = if index == 0 { command_line_engine(&raw_jobs) } else { EngineName::DEFAULT.name() };
            let (jobs, found) = jobfile::read(path, index, engine, &settings.sections, sources);
            raw_jobs.extend(jobs);
            errors.extend(found.into_iter().map(|error| {
                let origin = error.origin.clone().unwrap_or_else(|| origin.clone());
                Diagnostic { origin: Some(origin), ..error }
            }));
        }
    }
    let shown = settings.show_command.then(|| showcmd::show_command(&raw_jobs));
    let trace = if settings.debugs("parse") { debug::parse_lines(&raw_jobs) } else { Vec::new() };
    let mut resolved = resolve(raw_jobs, &settings, sources);
    warnings.extend(resolved.warnings);
    errors.extend(resolved.errors);
    if errors.is_empty() {
        for job in &mut resolved.jobs {
            match open_directories(job, sources) {
                Ok(added) => warnings.extend(added),
                Err(error) => errors.push(*error),
            }
        }
    }
    if !errors.is_empty() {
        return Outcome::Rejected(Rejection { errors, warnings, usage: false, status: 1 });
    }
    if resolved.jobs.is_empty() && !settings.parse_only {
        let error = Diagnostic::new(None, "No job(s) defined").help(no_jobs_advice(&settings, &line.job_files));
        return Outcome::Rejected(Rejection { errors: vec![error], warnings, usage: true, status: 1 });
    }
    if let Some(text) = shown {
        return Outcome::Immediate(Action::Print { text, status: 0 });
    }
    let global_options = resolved.global_options;
    Outcome::Run(Box::new(Request { settings, jobs: resolved.jobs, global_options, warnings, trace }))
}

/// `opendir`: adds the files of these directories to the files that are named.
fn open_directories(job: &mut Job, sources: &mut dyn Sources) -> Result<Vec<Warning>, Box<Diagnostic>> {
    let mut added = Vec::new();
    for directory in job.files.opened_directories.clone() {
        let files = sources.files_below(&directory).map_err(|reason| {
            let text = format!("fio: failed parsing opendir={directory}\n{reason}");
            Box::new(Diagnostic::new(None, text).help("name a directory that can be read"))
        })?;
        if files.is_empty() {
            let error = Diagnostic::new(None, format!("fio: opendir={directory} has no regular files"));
            return Err(Box::new(error.help("name a directory with files, or use directory to make some")));
        }
        let text = format!("fio: opendir added {} files", files.len());
        let code = WarningCode::FilesAdded;
        added.push(Warning { code, job: Some(job.name.clone()), origin: None, text });
        job.files.names.extend(files);
    }
    Ok(added)
}

/// The engine that the command line's defaults name for the first job file.
fn command_line_engine(jobs: &[raw::RawJob]) -> &'static str {
    let mut defaults = jobs.iter().filter(|job| job.global).flat_map(|job| &job.assignments);
    let named = defaults.rfind(|assignment| assignment.row.name == "ioengine");
    let engine = named.and_then(|assignment| table::engine_named(assignment.text.as_deref()?));
    engine.unwrap_or(EngineName::DEFAULT.name())
}

fn no_jobs_advice(settings: &Settings, job_files: &[(String, Origin)]) -> String {
    match (settings.sections.is_empty(), job_files.is_empty()) {
        (false, _) => format!("no section is called {}", settings.sections.join(" or ")),
        (true, true) => "begin a job with --name=NAME, or name a job file".to_owned(),
        (true, false) => "a job file needs a [NAME] section besides [global]".to_owned(),
    }
}

#[cfg(test)]
mod tests;
