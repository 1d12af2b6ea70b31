//! What the program itself is asked to do, apart from the jobs.

use std::path::PathBuf;

/// The program's options, typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where reports go; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Which reports are written: words of [`FORMATS`](crate::FORMATS), each once.
    pub formats: Vec<&'static str>,
    /// Version of the terse report (2 to 5).
    pub terse_version: u8,
    /// When the progress line is shown.
    pub eta: Eta,
    /// Between two progress lines, ms (250 and up).
    pub eta_interval_ms: u64,
    /// Begin a new line after so long, ms; `None`: never.
    pub eta_newline_ms: Option<u64>,
    /// Print a report of what was done so far after so long, ms; `None`: only at the end.
    pub status_interval_ms: Option<u64>,
    /// Stem of the aggregate bandwidth logs; `None`: not written.
    pub bandwidth_log: Option<String>,
    /// Sections of job files to run; empty: all.
    pub sections: Vec<String>,
    /// Print the jobs as a command line and stop.
    pub show_command: bool,
    /// Read and check everything and stop.
    pub parse_only: bool,
    /// Jobs that write are errors.
    pub read_only: bool,
    /// Warnings about jobs are errors.
    pub warnings_fatal: bool,
    /// Subjects of `--debug`.
    pub debug: Vec<String>,
    /// Where the run's record is saved (ours).
    pub record: Option<PathBuf>,
    /// Between two savings of the record while the run goes on, ms; 0: only at the end (ours).
    pub record_interval_ms: u64,
    /// The JSON report has an object of its own with findings and evidence (ours).
    pub fsdyno_json: bool,
    /// Findings are said on stderr (ours).
    pub findings: bool,
    /// What to do instead of running jobs.
    pub(crate) action: Option<Action>,
    /// Remarks on the settings themselves.
    pub(crate) remarks: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            output: None,
            formats: vec!["normal"],
            terse_version: 3,
            eta: Eta::Auto,
            eta_interval_ms: 1000,
            eta_newline_ms: None,
            status_interval_ms: None,
            bandwidth_log: None,
            sections: Vec::new(),
            show_command: false,
            parse_only: false,
            read_only: false,
            warnings_fatal: false,
            debug: Vec::new(),
            record: None,
            record_interval_ms: 10_000,
            fsdyno_json: false,
            findings: true,
            action: None,
            remarks: Vec::new(),
        }
    }
}

/// `--eta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// If standard output is a terminal.
    Auto,
    /// In any case.
    Always,
    /// Never.
    Never,
}

/// Something to print instead of running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `--version`: print the program's version line, exit status 0.
    Version,
    /// `--help`: print the version line and [`usage`](crate::help::usage), exit status 0.
    Help,
    /// Print this text, then exit with this status (`--cmdhelp`, `--enghelp`, `--showcmd`).
    Print {
        /// The text, lines ended.
        text: String,
        /// Exit status.
        status: u8,
    },
}
