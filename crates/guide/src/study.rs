//! The state of a guided command: its caller, its watcher, and the study so far.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_os::clock::RealClock;
use fsdyno_results::{Host, Note, Question, Row, STUDY_SCHEMA_VERSION, Severity, Study, Target};
use fsdyno_run::Control;

use crate::nodes::{Nodes, ThisMachine};
use crate::watch::Step;
use crate::work_directory::WorkDirectory;
use crate::{Problem, Watcher, bench};

/// Who asks, and what a question gets from there.
pub struct Caller<'a> {
    /// Version line for the records.
    pub version: &'a str,
    /// The words of the command line.
    pub command: Vec<String>,
    /// Stops everything (a signal).
    pub control: Arc<Control>,
    /// Follows the progress.
    pub watcher: &'a mut dyn Watcher,
}

/// One guided command while it runs.
pub struct StudyRun<'a> {
    /// Version line for the records.
    pub version: &'a str,
    /// Stops everything (a signal).
    pub control: Arc<Control>,
    /// Follows the progress.
    pub watcher: &'a mut dyn Watcher,
    /// The study so far.
    pub study: Study,
    /// Steps begun, and how many there will be.
    pub steps: (usize, usize),
    /// What a step is planned to take, ms; `None`: they differ.
    pub step_ms: Option<u64>,
    /// How many steps may come on top, until the results are decided; `None`: nobody can tell.
    pub more_steps: Option<usize>,
}

/// A storage to ask about: a name for tables, and a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `local`; the path itself when none was given.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
}

impl Place {
    /// The place at a path, by its absolute path: `.` means nothing in a saved study.
    pub fn at(path: &Path) -> Place {
        // What cannot be made absolute (an empty path) is refused where it is looked at.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Place { name: fsdyno_job::bytes::shown(&path), path }
    }

    /// Reads `NAME=PATH`, or a path alone.
    pub fn parse(word: &str) -> Place {
        let (name, path) = match word.split_once('=') {
            Some((name, path)) if !name.is_empty() && !name.contains('/') => (name, path),
            _ => (word, word),
        };
        Place { name: name.to_string(), ..Place::at(Path::new(path)) }
    }

    /// The words of a command line with this place as it is from everywhere: where it stands as it was typed, or at the
    /// end where it was left out.
    pub fn in_command(&self, typed: &Path, mut command: Vec<String>) -> Vec<String> {
        let (typed, path) = (fsdyno_job::bytes::shown(typed), fsdyno_job::bytes::shown(&self.path));
        let name = |word: &String| {
            word.strip_suffix(&typed).filter(|name| name.is_empty() || name.ends_with('=')).map(str::len)
        };
        // A word behind an option may be its value.
        let is_value = |index: usize| command[index - 1].starts_with("--") && !command[index - 1].contains('=');
        let places = || (1..command.len()).filter(|index| name(&command[*index]).is_some());
        match places().find(|index| !is_value(*index)).or_else(|| places().next()) {
            Some(index) => {
                let name = name(&command[index]).unwrap_or_default();
                command[index].replace_range(name.., &path);
            }
            None => command.push(path),
        }
        command
    }
}

impl<'a> StudyRun<'a> {
    /// Begins a study of these places; looks at what they are.
    pub fn begin(question: Question, places: &[Place], caller: Caller<'a>) -> StudyRun<'a> {
        let Caller { version, command, control, watcher } = caller;
        let started_ms = fsdyno_run::now_ms();
        // The look ends when the first step begins.
        let target = |place: &Place| {
            watcher.looks(&place.path);
            let storage = fsdyno_probe::storage_of(&place.path);
            Target { name: place.name.clone(), path: fsdyno_job::bytes::shown(&place.path), storage, reference: false }
        };
        let targets = places.iter().map(target).collect();
        let study = Study {
            study_schema: STUDY_SCHEMA_VERSION,
            id: crate::store::new_id(question, started_ms),
            question,
            version: version.to_string(),
            command,
            started_ms,
            ended_ms: started_ms,
            complete: false,
            host: Host { clock: Some(fsdyno_run::clock_facts(&RealClock::shared())), ..fsdyno_probe::host() },
            host_name: fsdyno_probe::host_name(),
            targets,
            rows: Vec::new(),
            verdicts: Vec::new(),
            sentences: Vec::new(),
            notes: Vec::new(),
        };
        StudyRun { version, control, watcher, study, steps: (0, 0), more_steps: Some(0), step_ms: None }
    }

    /// Whether a signal ended the study.
    pub fn stopped(&self) -> bool {
        self.control.stopped()
    }

    /// Counts the step that begins now, and informs the watcher.
    pub fn begin_step(&mut self, target: usize, title: &str) -> Step {
        self.steps.0 += 1;
        self.steps.1 = self.steps.1.max(self.steps.0);
        let targets = &self.study.targets;
        let is_one_of_several = targets.len() > 1;
        let target = targets.get(target).map(|target| target.name.clone()).unwrap_or_default();
        let (number, of) = self.steps;
        let following_s = self.step_ms.map(|ms| (ms * (of - number) as u64).div_ceil(1000));
        let (title, more) = (title.to_string(), self.more_steps);
        let step = Step { target, title, number, of, more, following_s, is_one_of_several };
        self.watcher.looked();
        self.watcher.begin(&step);
        step
    }

    /// Adds a finished row.
    pub fn end_step(&mut self, step: &Step, row: Row) {
        self.watcher.end(step, &row);
        self.study.rows.push(row);
        self.study.ended_ms = fsdyno_run::now_ms();
        self.watcher.grown(&self.study);
    }

    /// Runs one fio command line and adds its row to the study.
    ///
    /// # Errors
    /// When the line is refused before its first byte, or the work directory cannot be used any more; an error of a job
    /// is in the row instead.
    pub fn run_row(
        &mut self,
        row: Row,
        stop_rule: fsdyno_run::StopRule,
        work: &WorkDirectory,
    ) -> Result<usize, Problem> {
        self.run_row_on(&mut ThisMachine, 1, row, stop_rule, work)
    }

    /// The same on this number of nodes at once.
    ///
    /// # Errors
    /// See [`StudyRun::run_row`].
    pub fn run_row_on(
        &mut self,
        nodes: &mut dyn Nodes,
        count: u32,
        mut row: Row,
        stop_rule: fsdyno_run::StopRule,
        work: &WorkDirectory,
    ) -> Result<usize, Problem> {
        let step = self.begin_step(row.target, &row.title);
        self.watcher.planned(&self.study, &row);
        let conditions = bench::Conditions { version: self.version, control: &self.control, stop_rule, work };
        let mut record = nodes.run(count, &row.command, conditions, &step, self.watcher)?;
        // Whoever merged the records may have looked already.
        let found = fsdyno_findings::between_nodes(&record);
        record.findings.retain(|finding| !found.contains(finding));
        record.findings.splice(0..0, found);
        crate::advice::advise(&mut record.findings, self.study.question);
        row.findings.clone_from(&record.findings);
        row.run = Some(record);
        self.end_step(&step, row);
        work.check()?;
        Ok(self.study.rows.len() - 1)
    }

    /// Removes everything in a work directory: a fresh start for the next round. Each rank removes its own.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn empty(&self, work: &WorkDirectory) -> Result<(), Problem> {
        self.clear_others(work);
        work.empty()
    }

    fn clear_others(&self, work: &WorkDirectory) {
        self.control.other_ranks().inspect(|other_ranks| other_ranks.clear(work.directory()));
    }

    /// Adds a note about how the study was done.
    pub fn note(&mut self, id: &str, severity: Severity, text: impl Into<String>) {
        self.study.notes.push(Note::new(id, severity, text));
    }

    /// Removes a work directory. What cannot be removed is reported and noted; the figures stay valid.
    pub fn remove_work_directory(&mut self, work: WorkDirectory) {
        self.watcher.looked();
        let directory = work.directory().to_path_buf();
        let left = if self.control.abandoned() {
            work.abandon();
            let parent = directory.parent().unwrap_or(&directory).display().to_string();
            Err(Problem::new(format!("{} was not removed, because its storage does not respond", directory.display()))
                .with_next(format!("run `fsdyno clean {parent}` when the storage responds again")))
        } else {
            self.clear_others(&work);
            let signalled = self.control.signal().is_some();
            work.close(signalled, &mut |text| self.watcher.message(text))
        };
        if let Err(problem) = left {
            let next = problem.next.as_deref().map(|next| format!("; {next}")).unwrap_or_default();
            let text = format!("{problem}{next}");
            self.watcher.message(&format!("fsdyno: {text}"));
            self.note("left-behind", Severity::Caution, text);
        }
    }

    /// The study as it stands, complete unless it was stopped or ranks were lost.
    pub fn finish(mut self) -> Study {
        self.watcher.looked();
        self.study.complete = !self.stopped() && !self.study.lacks_ranks();
        self.study.ended_ms = fsdyno_run::now_ms();
        self.study
    }
}

/// A row that has not run yet.
pub fn planned_row(target: usize, pattern: &str, title: &str, round: u32, command: Vec<String>) -> Row {
    Row { target, pattern: pattern.to_string(), title: title.to_string(), round, command, ..Row::default() }
}

/// The path as fio's language wants it in `filename` and `directory`, where a colon separates.
pub fn job_path(path: &Path) -> String {
    fsdyno_job::bytes::shown(path).replace(':', "\\:")
}
