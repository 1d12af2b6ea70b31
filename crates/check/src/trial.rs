//! Runs a test on its storage, and repeats it.

use fsdyno_guide::Problem;
use fsdyno_guide::nodes::ThisMachine;
use fsdyno_guide::object_check::PlainRequests;
use fsdyno_guide::smallfiles::{self, PhaseCounters};
use fsdyno_guide::study::{StudyRun, planned_row};
use fsdyno_guide::work_directory::{WorkDirectory, reason};
use fsdyno_os::files::FileCause;
use fsdyno_results::Row;
use fsdyno_run::StopRule;

use crate::estimate::measured_s;
use crate::ground::{Ground, OBJECT_ROUNDS_MAX, set_of};
use crate::judge::TestRun;
use crate::line::{self, ProfileLine, Shortening};
use crate::profile::{Profile, Test, Work};
use crate::reach;

/// An undecided test is repeated until its measured time is this multiple of its first run's ...
const CAP_TIMES: f64 = 6.0;

/// ... and at least this time, s.
const CAP_S_MIN: f64 = 30.0;

/// Most runs of a test, however short it is.
const ROUNDS_MAX: u32 = 200;

/// A test and its runs.
pub(crate) struct Trial<'p> {
    profile: &'p Profile,
    pub(crate) test: &'p Test,
    ground: Ground<'p>,
    /// The words that were run, for people.
    words: Vec<String>,
    /// The line of the fio language; `None`: small files, or requests that no job makes.
    line: Option<ProfileLine>,
    /// Number of runs so far.
    pub(crate) rounds: u32,
    indices: Vec<usize>,
    problem: Option<String>,
    reach: String,
    cap_s: f64,
    /// For small files: watches what happens beside their phases.
    counters: Option<PhaseCounters>,
}

impl<'p> Trial<'p> {
    /// The trial before its first run.
    ///
    /// # Errors
    /// When its line cannot be planned.
    pub(crate) fn planned(
        study_run: &StudyRun<'_>,
        profile: &'p Profile,
        test: &'p Test,
        ground: Ground<'p>,
        shortening: Shortening,
    ) -> Result<Trial<'p>, Problem> {
        let (words, line, reach) = match &test.work {
            Work::Line(words) => {
                let line = ground.line(words, shortening)?;
                let reach = reach::of(&line.job, &study_run.study.targets[0].storage);
                (line.words.clone(), Some(line), reach)
            }
            Work::SmallFiles => (test.work.words(), None, "as a program does it, caches included".to_string()),
            Work::Requests(_) => (test.work.words(), None, reach::STORE.to_string()),
        };
        let (indices, problem) = (Vec::new(), None);
        let (rounds, cap_s, counters) = (0, 0.0, None);
        Ok(Trial { profile, test, ground, words, line, rounds, indices, problem, reach, cap_s, counters })
    }

    /// The bytes and the number of the objects that it reads; `None`: it reads none.
    pub(crate) fn objects_read(&self) -> Option<(u64, u64)> {
        self.line.as_ref().filter(|line| !line.only_writes).map(set_of)
    }

    /// Does not run it, for this reason.
    pub(crate) fn give_up(&mut self, reason: String) {
        (self.problem, self.line) = (Some(reason), None);
    }

    /// Runs the test once more.
    ///
    /// # Errors
    /// When the files of the previous run cannot be removed.
    pub(crate) fn run_once(&mut self, study_run: &mut StudyRun<'_>) -> Result<(), Problem> {
        match (self.line.clone(), &self.test.work) {
            _ if study_run.stopped() || self.problem.is_some() => {}
            (Some(line), _) => self.run_line(study_run, &line)?,
            (None, Work::Requests(requests)) => self.make_requests(study_run, requests)?,
            (None, _) => self.run_small_files(study_run)?,
        }
        self.rounds += 1;
        if study_run.stopped() && self.problem.is_none() {
            self.problem = Some("it was stopped before the test had ended".to_string());
        }
        Ok(())
    }

    fn run_line(&mut self, study_run: &mut StudyRun<'_>, line: &ProfileLine) -> Result<(), Problem> {
        if let (Some(work), true) = (self.ground.directory(), line.only_writes) {
            // Extending a file is different work from overwriting it: each run begins without one.
            let reach = work.reach();
            for file in line.files.keys() {
                study_run.watcher.looks(file);
                match reach.remove(file) {
                    Err(error) if error.cause != FileCause::Missing => {
                        let reason = reason(&std::io::Error::from_raw_os_error(error.code));
                        let file = file.display();
                        return Err(Problem::new(format!(
                            "cannot remove {file}, which the test before made: {reason}"
                        )));
                    }
                    _ => {}
                }
            }
        }
        let pattern = format!("{}/{}", self.profile.name, self.test.id);
        let title = format!("{}: {}", self.profile.name, line::title(&self.test.title, &line.shortened));
        let row = planned_row(0, &pattern, &title, self.rounds, line.words.clone());
        match study_run.run_row_in(&mut ThisMachine, 1, row, StopRule::AsWritten, self.ground.directory()) {
            Ok(index) => {
                let run = study_run.study.rows[index].run.as_ref();
                let error = run.and_then(|run| run.jobs.iter().find_map(|job| job.error.as_ref()));
                self.problem = error.map(|error| format!("the test failed: {}: {}", error.function, error.text));
                self.indices.push(index);
            }
            Err(problem) => {
                self.ground.directory().map_or(Ok(()), WorkDirectory::check)?;
                self.problem = Some(format!("the test cannot run here: {problem}"));
            }
        }
        Ok(())
    }

    fn run_small_files(&mut self, study_run: &mut StudyRun<'_>) -> Result<(), Problem> {
        let Some(work) = self.ground.directory() else { return Ok(()) };
        work.empty()?;
        for index in smallfiles::write_and_read(study_run, work, self.rounds, &mut self.counters)? {
            let row = &mut study_run.study.rows[index];
            row.title = format!("{}: {}", self.profile.name, row.title);
            row.pattern = format!("{}/{}", self.profile.name, row.pattern);
            self.indices.push(index);
            let error = row.phase.as_ref().and_then(|phase| phase.error.as_ref());
            let failed = error.map(|error| format!("the test failed: {}: {}", error.function, error.text));
            self.problem = self.problem.take().or(failed);
        }
        Ok(())
    }

    fn make_requests(&mut self, study_run: &mut StudyRun<'_>, requests: &PlainRequests) -> Result<(), Problem> {
        let Ground::Objects(_, ask, _) = self.ground else { return Ok(()) };
        let pattern = format!("{}/{}", self.profile.name, self.test.id);
        let title = format!("{}: {}", self.profile.name, self.test.title);
        let index = ask(study_run, requests, planned_row(0, &pattern, &title, self.rounds, Vec::new()))?;
        self.indices.push(index);
        let error = study_run.study.rows[index].first_error();
        self.problem = error.map(|(_, error)| format!("the test failed: {}: {}", error.function, error.text));
        Ok(())
    }

    /// Number of runs that it makes in any case.
    pub(crate) fn rounds_planned(&self) -> u32 {
        if self.test.work == Work::SmallFiles { smallfiles::PASSES } else { 1 }
    }

    /// Whether one more run would stay below the cap.
    pub(crate) fn may_repeat(&mut self, rows: &[Row], cap_s: Option<u64>) -> bool {
        let spent_s: f64 = self.indices.iter().map(|index| measured_s(&rows[*index])).sum();
        let one_s = spent_s / f64::from(self.rounds);
        self.cap_s = cap_s.map_or((one_s * CAP_TIMES).max(CAP_S_MIN), |cap_s| cap_s as f64);
        let most = if self.ground.directory().is_some() { ROUNDS_MAX } else { OBJECT_ROUNDS_MAX };
        self.problem.is_none() && self.rounds < most && spent_s + one_s <= self.cap_s
    }

    /// Whether small files need one more pass to show the variation between passes, even if the verdict is decided.
    pub(crate) fn wants_pass(&self, rows: &[Row]) -> bool {
        let spent_s: f64 = self.indices.iter().map(|index| measured_s(&rows[*index])).sum();
        self.test.work == Work::SmallFiles && self.problem.is_none() && smallfiles::may_repeat(spent_s, self.rounds)
    }

    /// The runs to judge.
    pub(crate) fn ran<'r>(&'r self, rows: &'r [Row]) -> TestRun<'r> {
        TestRun {
            test: self.test,
            words: &self.words,
            rows,
            indices: &self.indices,
            problem: self.problem.as_deref(),
            reach: &self.reach,
            shortened: self.line.as_ref().map_or(&[], |line| &line.shortened),
            cap_s: self.cap_s,
        }
    }
}
