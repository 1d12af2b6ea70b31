//! The typed options of the program itself, apart from the jobs.

use crate::Sources;
use crate::diagnostic::Diagnostic;

/// The program's options, typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where reports go; `None`: standard output.
    pub output: Option<String>,
    /// Which reports are written: words of [`FORMATS`](crate::FORMATS), each once.
    pub formats: Vec<&'static str>,
    /// Version of the terse report (2 to 5).
    pub terse_version: u8,
    /// When the progress line is shown.
    pub eta: Eta,
    /// Between two progress lines, ms (250 and up).
    pub eta_interval_ms: u64,
    /// Time after which a new line begins, ms; `None`: never.
    pub eta_newline_ms: Option<u64>,
    /// Time between interim reports, ms; `None`: there is only the report at the end.
    pub status_interval_ms: Option<u64>,
    /// Stem of the aggregate bandwidth logs; `None`: not written.
    pub bandwidth_log: Option<String>,
    /// Sections of job files to run; empty: all.
    pub sections: Vec<String>,
    /// Print the jobs as a command line and stop.
    pub show_command: bool,
    /// Read and check everything and stop.
    pub parse_only: bool,
    /// Merge traces and stop.
    pub merge_only: bool,
    /// Jobs that write are errors.
    pub read_only: bool,
    /// Warnings about jobs are treated as errors.
    pub warnings_fatal: bool,
    /// Where saved states and dumps of verification go; `None`: the working directory.
    pub aux_path: Option<String>,
    /// Subjects of `--debug`.
    pub debug: Vec<String>,
    /// Measure how idle the processors are; `None`: not asked for.
    pub idle_profile: Option<IdleProfile>,
    /// The file in which the run's record is saved (ours).
    pub record: Option<String>,
    /// Between two savings of the record while the run goes on, ms; 0: only at the end (ours).
    pub record_interval_ms: u64,
    /// The JSON report has an object of its own with findings and evidence (ours).
    pub fsdyno_json: bool,
    /// Where findings and notes go (ours).
    pub findings: Findings,
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
            merge_only: false,
            read_only: false,
            warnings_fatal: false,
            aux_path: None,
            debug: Vec::new(),
            idle_profile: None,
            record: None,
            record_interval_ms: 10_000,
            fsdyno_json: false,
            findings: Findings::Auto,
            action: None,
            remarks: Vec::new(),
        }
    }
}

impl Settings {
    /// Whether lines of this channel of `--debug` are printed.
    pub fn debugs(&self, channel: &str) -> bool {
        self.debug.iter().any(|asked| asked == channel || asked == "all")
    }

    /// Reads the environment variables that give defaults of options. Returns an error if one of them is wrong.
    pub(crate) fn take_environment(&mut self, sources: &dyn Sources) -> Option<Diagnostic> {
        const VARIABLE: &str = "FSDYNO_FINDINGS";
        let word = sources.variable(VARIABLE).filter(|word| !word.is_empty())?;
        match Findings::named(&word) {
            Some(findings) => {
                self.findings = findings;
                None
            }
            None => {
                Some(Diagnostic::new(None, Findings::refusal(&word)).help(format!("change the variable {VARIABLE}")))
            }
        }
    }
}

/// `--eta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// Shown if standard output is a terminal.
    Auto,
    /// Always shown.
    Always,
    /// Never shown.
    Never,
}

/// `--findings`: where findings and notes of fsdyno go beside fio's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Findings {
    /// At the end of the normal report and in an object of the JSON document; on standard error only if that is a
    /// terminal.
    #[default]
    Auto,
    /// On standard error; reports contain only what fio prints.
    All,
    /// Only in the record.
    Off,
}

impl Findings {
    /// The words of the option.
    pub const WORDS: &'static [&'static str] = &["auto", "all", "off"];

    /// The value that a word names; `None` if there is no such word. Words of a switch are accepted, because the
    /// option once was a switch.
    pub fn named(word: &str) -> Option<Findings> {
        match word {
            "auto" => Some(Findings::Auto),
            "all" | "on" | "1" | "yes" => Some(Findings::All),
            "off" | "0" | "no" => Some(Findings::Off),
            _ => None,
        }
    }

    /// The message that there is no such word.
    pub(crate) fn refusal(word: &str) -> String {
        format!("fio: {word} is none of {}", Self::WORDS.join(", "))
    }
}

/// `--idle-prof` of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProfile {
    /// All processors together.
    System,
    /// All together, and each by itself.
    EachProcessor,
}

/// Something to do instead of running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `--version`: print the program's version line, exit status 0.
    Version,
    /// `--help`: print the version line and [`usage`](crate::help::usage), exit status 0.
    Help,
    /// `--idle-prof=calibrate`: time the unit work and print that, exit status 0.
    CalibrateIdle,
    /// `--inflate-log`: print the lines of this compressed log.
    InflateLog(String),
    /// Print this text, then exit with this status (`--cmdhelp`, `--enghelp`, `--showcmd`).
    Print {
        /// The text, lines ended.
        text: String,
        /// Exit status.
        status: u8,
    },
}
