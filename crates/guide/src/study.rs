//! The state of a running question: its caller, its watcher, and the study so far.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_os::clock::RealClock;
use fsdyno_results::evidence::Storage;
use fsdyno_results::{Host, Note, Question, Row, STUDY_SCHEMA_VERSION, Severity, Study, Target};
use fsdyno_run::Control;
use fsdyno_text::shell::{path_as_typed, word_as_typed};

use crate::nodes::{Nodes, ThisMachine};
use crate::watch::Step;
use crate::work_directory::WorkDirectory;
use crate::{Problem, Watcher, bench};

/// What the caller of a question provides.
pub struct Caller<'a> {
    /// The program's version line, for the records.
    pub version: &'a str,
    /// The words of the command line.
    pub command: Vec<String>,
    /// Stops the study (a signal).
    pub control: Arc<Control>,
    /// Receives the progress.
    pub watcher: &'a mut dyn Watcher,
}

/// A question while it runs.
pub struct StudyRun<'a> {
    /// The program's version line, for the records.
    pub version: &'a str,
    /// Stops the study (a signal).
    pub control: Arc<Control>,
    /// Receives the progress.
    pub watcher: &'a mut dyn Watcher,
    /// The study so far.
    pub study: Study,
    /// Number of steps that have begun, and of all steps.
    pub steps: (usize, usize),
    /// Planned length of a step, ms; `None`: steps differ.
    pub step_ms: Option<u64>,
    /// Number of steps that may follow until the results are decided; `None`: not known.
    pub more_steps: Option<usize>,
}

/// A storage that a question is about: a name for tables, and a directory or the address of an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name, such as `local`; without one the path.
    pub name: String,
    /// The directory's path, or the address as it was written.
    pub path: PathBuf,
}

/// Whether a place is an object store, not a directory: `s3://b`. A directory of such a name is written as `./s3:`.
pub fn is_object_store(place: &str) -> bool {
    ["s3://", "http://", "https://"].iter().any(|scheme| place.starts_with(scheme))
}

/// Refuses an object store where a question needs a directory, or cannot use it from this number of nodes; before anything
/// is made.
///
/// # Errors
/// When one of the places is an object store, and the question cannot use that one.
pub fn check_places<'p>(question: &str, nodes: u32, mut places: impl Iterator<Item = &'p str>) -> Result<(), Problem> {
    let Some(place) = places.find(|place| is_object_store(place)) else { return Ok(()) };
    if !cfg!(all(feature = "object", target_os = "linux")) {
        return Err(Problem::new(format!("{place}: this program was built without object stores"))
            .with_next("use one for Linux that was built with its feature object"));
    }
    let typed = word_as_typed(place);
    let next = match question {
        "check" if !place.starts_with("s3://") => {
            return Err(Problem::new(format!("{place}: the profiles of stores are about buckets, not about WebDAV"))
                .with_next(format!("run `fsdyno measure {typed}`")));
        }
        "measure" | "compare" | "sweep" | "curve" if nodes > 1 => {
            return Err(Problem::new(format!(
                "{question} asks an object store from one node, and this run has {nodes}"
            ))
            .with_next(format!("run `fsdyno scale {typed} --nodes 1,{nodes}`, or start one node")));
        }
        "measure" | "check" | "compare" | "sweep" | "curve" | "scale" | "attribute" | "inspect" | "clean" => {
            return Ok(());
        }
        "time" => format!("mount it, and name the mount; `fsdyno attribute {typed} MOUNT` says what the mount adds"),
        _ => format!("run `fsdyno measure {typed}`"),
    };
    Err(Problem::new(format!("{question} needs a directory: it cannot use an object store ({place})")).with_next(next))
}

impl Place {
    /// The place at a path, made absolute: `.` means nothing in a saved study.
    pub fn at(path: &Path) -> Place {
        let is_address = path.to_str().is_some_and(is_object_store);
        // A path that cannot be made absolute (an empty one) is refused when it is accessed.
        let path = std::path::absolute(path).ok().filter(|_| !is_address).unwrap_or_else(|| path.to_path_buf());
        Place { name: fsdyno_job::bytes::shown(&path), path }
    }

    /// Parses `NAME=PATH`, or a path alone.
    pub fn parse(word: &str) -> Place {
        let (name, path) = match word.split_once('=') {
            Some((name, path)) if !name.is_empty() && !name.contains('/') => (name, path),
            // In a sentence these are no names.
            _ if [".", ".."].contains(&word) => return Place::at(Path::new(word)),
            _ => (word, word),
        };
        Place { name: name.to_string(), ..Place::at(Path::new(path)) }
    }

    /// The filesystem type that `--expect NAME=TYPE` names for this place; `.` is the place that was typed so.
    pub(crate) fn expected_type<'e>(&self, expected: &'e [(String, String)]) -> Option<&'e str> {
        let of_this = |(name, _): &&(String, String)| Place::parse(name).name == self.name;
        expected.iter().find(of_this).map(|(_, fstype)| fstype.as_str())
    }

    /// Whether it is an object store, not a directory.
    pub fn is_object_store(&self) -> bool {
        self.path.to_str().is_some_and(is_object_store)
    }

    /// The words of a command line with this place's absolute path: in the position where the path was typed, or at the
    /// end where it was left out.
    pub fn in_command(&self, typed: &Path, mut command: Vec<String>) -> Vec<String> {
        let (typed, path) = (fsdyno_job::bytes::shown(typed), fsdyno_job::bytes::shown(&self.path));
        let name = |word: &String| {
            word.strip_suffix(&typed).filter(|name| name.is_empty() || name.ends_with('=')).map(str::len)
        };
        // A word that follows an option may be its value.
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
    /// Begins a study of these places, and examines their storage.
    pub fn begin(question: Question, places: &[Place], caller: Caller<'a>) -> StudyRun<'a> {
        let Caller { version, command, control, watcher } = caller;
        let started_ms = fsdyno_run::now_ms();
        // The watcher's look ends when the first step begins.
        let target = |place: &Place| {
            watcher.looks(&place.path);
            let storage = match place.is_object_store() {
                true => Storage { asked_path: fsdyno_job::bytes::shown(&place.path), ..Storage::default() },
                false => fsdyno_probe::storage_of(&place.path),
            };
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
        row: Row,
        stop_rule: fsdyno_run::StopRule,
        work: &WorkDirectory,
    ) -> Result<usize, Problem> {
        self.run_row_in(nodes, count, row, stop_rule, Some(work))
    }

    /// The same in a work directory, or with objects of a server alone.
    ///
    /// # Errors
    /// See [`StudyRun::run_row`].
    pub fn run_row_in(
        &mut self,
        nodes: &mut dyn Nodes,
        count: u32,
        mut row: Row,
        stop_rule: fsdyno_run::StopRule,
        work: Option<&WorkDirectory>,
    ) -> Result<usize, Problem> {
        let step = self.begin_step(row.target, &row.title);
        self.watcher.planned(&self.study, &row);
        let conditions = bench::Conditions { version: self.version, control: &self.control, stop_rule, work };
        let mut record = nodes.run(count, &row.command, conditions, &step, self.watcher)?;
        // The merge of the records may have compared the nodes already.
        let found = fsdyno_findings::between_nodes(&record);
        record.findings.retain(|finding| !found.contains(finding));
        record.findings.splice(0..0, found);
        crate::advice::advise(&mut record.findings, &self.study);
        row.findings.clone_from(&record.findings);
        row.run = Some(record);
        self.end_step(&step, row);
        work.map_or(Ok(()), WorkDirectory::check)?;
        Ok(self.study.rows.len() - 1)
    }

    /// Removes all content of a work directory, for the next round. Each rank removes its own.
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

    /// Removes a work directory. A failure is shown and noted; the figures stay valid.
    pub fn remove_work_directory(&mut self, work: WorkDirectory) {
        self.watcher.looked();
        let directory = work.directory().to_path_buf();
        let left = if self.control.abandoned() {
            work.abandon();
            let parent = path_as_typed(directory.parent().unwrap_or(&directory));
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

    /// The study so far, marked as complete unless it was stopped or ranks were lost.
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

/// The path as fio's `filename` and `directory` options write it: they separate paths by colons, which must be escaped.
pub fn job_path(path: &Path) -> String {
    fsdyno_job::bytes::shown(path).replace(':', "\\:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "object", target_os = "linux"))]
    #[test]
    fn a_command_on_a_store_can_be_copied() {
        for question in ["measure", "check", "smallfiles", "time"] {
            let problem = check_places(question, 2, ["http://[::1]/b"].into_iter()).unwrap_err();
            let next = problem.next.unwrap();
            assert!(next.contains(" 'http://[::1]/b'"), "{question}: {next}");
        }
    }

    #[test]
    fn a_place_has_the_name_that_was_typed_if_it_is_one() {
        let here = std::env::current_dir().expect("there is one").display().to_string();
        for (word, name) in [("a=/data", "a"), ("/data", "/data"), ("data", "data"), (".", here.as_str())] {
            assert_eq!(Place::parse(word).name, name);
        }
        let expected = [("b".to_owned(), "xfs".to_owned()), (".".to_owned(), "ext4".to_owned())];
        let of = |word: &str| Place::parse(word).expected_type(&expected).map(str::to_owned);
        assert_eq!([of("."), of("b=/data"), of("/data")], [Some("ext4".into()), Some("xfs".into()), None]);
    }
}
