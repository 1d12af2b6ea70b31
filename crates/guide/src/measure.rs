//! `measure`: latency, IOPS and throughput of a storage, and how the three are related.

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Question, Row, Severity, Study, test_name};
use fsdyno_run::StopRule;
use fsdyno_text::quantity::count;

use crate::Problem;
use crate::io_mode::{IoMode, RequestedIoMode};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory};

mod like;
mod lines;
mod sentences;

use lines::{FULL, TESTS, Test, Timing};

pub use like::{Like, familiar_names};
pub use lines::names;

/// How much time the tests take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// 15 s in all, unless a sync that has begun takes longer.
    Quick,
    /// About a minute.
    #[default]
    Normal,
    /// The published lines: 60 s each, files of 10 GiB.
    Full,
}

/// The options of `measure`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasureOptions {
    /// How much time the tests take.
    pub effort: Effort,
    /// Runs the tests of another tool instead of the usual ones.
    pub like: Option<Like>,
    /// Bytes of a file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// Bytes of the file in the last run of the same plan. They are used again where they still fit, so that the runs
    /// are comparable.
    pub size_before: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
    /// Number of rounds, each on a new file (the tests of another tool: on the same file). 0: one, or that tool's
    /// number.
    pub runs: u32,
    /// The names of the tests to run; empty: all.
    pub only: Vec<String>,
    /// Length of each test, s; `None`: as the effort says.
    pub runtime_s: Option<u32>,
    /// The engine and direct I/O that were asked for.
    pub wanted: RequestedIoMode,
}

impl MeasureOptions {
    /// Bytes of the file in an earlier run of the same plan on the same place. `None`: plan or place differ, or the
    /// size was asked for.
    pub fn size_in(&self, place: &Place, earlier: &Study) -> Option<u64> {
        let same_place = earlier.targets.first()?.path == fsdyno_job::bytes::shown(&place.path);
        let fill = earlier.rows.iter().find(|row| row.pattern == test_name::FILL)?;
        let test = earlier.rows.iter().find(|row| row.pattern != test_name::FILL)?;
        let same_tests = self.tests().iter().any(|own| own.pattern == test.pattern);
        let same_plan =
            same_tests && fill.option("runtime").is_some() && test.option("runtime")? == self.timing().runtime();
        test.option("size").filter(|_| same_place && same_plan)?.parse().ok()
    }

    fn timing(&self) -> Timing {
        let timing = match (self.effort, self.like) {
            (Effort::Quick, _) => Timing::QUICK,
            (_, Some(like)) => like.timing(),
            (_, None) => Timing::NORMAL,
        };
        self.runtime_s.map_or(timing, |runtime_s| timing.lasting(runtime_s))
    }

    /// The tests, in the order in which they run.
    fn tests(&self) -> &'static [Test] {
        self.like.map_or(&TESTS, Like::tests)
    }

    /// The number of runs, each on a new file, and of loops of each test on one file.
    fn runs_and_loops(&self) -> (u32, u32) {
        match (self.like, self.runs) {
            (None, runs) => (runs.max(1), 1),
            (Some(like), 0) if self.effort != Effort::Quick => (1, like.loops()),
            (Some(_), loops) => (1, loops.max(1)),
        }
    }

    fn wants(&self, test: &Test) -> bool {
        // A test of another tool has one name for its read and its write.
        let both = test.pattern.strip_suffix(" read").or_else(|| test.pattern.strip_suffix(" write"));
        self.only.is_empty() || self.only.iter().any(|name| name == test.pattern || Some(name.as_str()) == both)
    }

    /// Refuses a test that would not run.
    ///
    /// # Errors
    /// When a test belongs to another tool.
    fn check_names(&self) -> Result<(), Problem> {
        let known: Vec<&str> = self.like.map_or_else(|| names().collect(), |like| like.names().collect());
        let Some(other) = self.only.iter().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
        let tool = Like::NAMED.into_iter().find(|(_, like)| Some(*like) == self.like).map(|(name, _)| name);
        let tests = tool.map_or("the usual tests".to_string(), |name| format!("the tests of --like {name}"));
        Err(Problem::new(format!("--only: `{other}` is not one of {tests}"))
            .with_next(format!("use one or more of {}", known.join(", "))))
    }

    /// Refuses a file that has no offsets to choose from.
    ///
    /// # Errors
    /// When a size was asked for and is too small.
    fn check_size(&self) -> Result<(), Problem> {
        match self.size_bytes {
            Some(bytes) if bytes < LEAST_FILE_BYTES => {
                Err(Problem::new(format!("a file of {} bytes has fewer than 4 blocks of 1 MiB", count(bytes)))
                    .with_next("use a larger --size, such as 256m"))
            }
            _ => Ok(()),
        }
    }
}

/// The smallest file: four of the largest blocks, bytes.
const LEAST_FILE_BYTES: u64 = 4 << 20;

/// Measures one place.
///
/// # Errors
/// When the place cannot be used; nothing is left there then.
pub fn measure(place: &Place, options: &MeasureOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    options.check_names()?;
    options.check_size()?;
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::Measure, places, caller);
    let done = match options.effort {
        Effort::Full => measure_in_full(&mut study_run, place, options)?,
        Effort::Quick | Effort::Normal => measure_adapted(&mut study_run, place, options)?,
    };
    study_run.study.sentences = sentences::of(&study_run.study);
    study_run.study.sentences.extend(done);
    Ok(study_run.finish())
}

/// Runs the published lines unchanged; returns a sentence on the conditions.
fn measure_in_full(
    study_run: &mut StudyRun<'_>,
    place: &Place,
    options: &MeasureOptions,
) -> Result<Option<String>, Problem> {
    let file_bytes = options.size_bytes.unwrap_or(lines::FULL_FILE_BYTES);
    let need_bytes = file_bytes.saturating_mul(FULL.iter().map(|test| test.files).max().unwrap_or(1));
    let need = SpaceNeeds::bytes(need_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    study_run.steps.1 = FULL.len();
    for test in &FULL {
        if study_run.stopped() {
            break;
        }
        // The files of two tests do not fit together: the published page also deletes those of one test before the
        // next.
        work.empty()?;
        work.reserve_space(need)?;
        let command = lines::full(test, &job_path(work.directory()), options.size_bytes);
        study_run.run_row(planned_row(0, test.pattern, test.title, 0, command), StopRule::AsWritten, &work)?;
    }
    study_run.remove_work_directory(work);
    Ok(Some(sentences::published_lines(file_bytes)))
}

/// Fills a file for a few seconds, then runs the tests on it, in each round; returns a sentence on the conditions, if
/// anything ran.
fn measure_adapted(
    study_run: &mut StudyRun<'_>,
    place: &Place,
    options: &MeasureOptions,
) -> Result<Option<String>, Problem> {
    let timing = options.timing();
    let by_daemon = study_run.study.targets[0].storage.class == StorageClass::Fuse;
    let wished_bytes = if by_daemon { timing.daemon_file_bytes } else { timing.file_bytes };
    let size_bytes = crate::question_file::largest(study_run, &place.path, options.size_bytes, wished_bytes);
    let before = options.size_before.filter(|before| options.size_bytes.is_none() && *before <= size_bytes);
    let size_bytes = before.unwrap_or(size_bytes);
    // Writing the same bytes again may take longer than it took before.
    let fill_s = if before.is_some() { timing.fill_s.saturating_add(timing.fill_s / 2) } else { timing.fill_s };
    let need = SpaceNeeds::bytes(size_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let io_mode = crate::io_mode::of_place(study_run, 0, options.wanted)?;
    let in_memory = study_run.study.targets[0].storage.in_memory().is_some();
    let tests: Vec<&Test> = options
        .tests()
        .iter()
        .filter(|test| options.wants(test))
        // A storage in memory is never durable.
        .filter(|test| !(in_memory && test.pattern == test_name::SYNC_LATENCY))
        .collect();
    if in_memory && options.like.is_none() {
        let text = "sync-latency is left out: nothing is durable in memory";
        study_run.note("tests-left-out", Severity::Info, text);
    }
    let (runs, loops) = options.runs_and_loops();
    study_run.steps.1 = (tests.len() * loops as usize + 1) * runs as usize;
    study_run.step_ms = Some(timing.step_ms(loops));
    let mut session = Session { study_run, options, timing, loops, io_mode, work, tests, left_out: Vec::new() };
    let mut file_bytes = None;
    for run in 0..runs {
        if run > 0 {
            // Each round begins with a new file, as a study of its own would.
            session.work.empty()?;
            session.work.reserve_space(need)?;
        }
        // A file whose size was asked for is filled completely; else the first round fills it until its time is over,
        // and the tests use what is there. Later rounds fill as much as the first.
        let limit_s = (options.size_bytes.is_none() && run == 0 && fill_s < u32::MAX).then_some(fill_s);
        let filled = session.run(run, file_bytes.unwrap_or(size_bytes), limit_s)?;
        if filled == 0 {
            break;
        }
        file_bytes = Some(filled);
        if session.study_run.stopped() {
            break;
        }
    }
    let Session { study_run, work, mut left_out, .. } = session;
    // A test that ran in another round has a row, which says how many rounds it has.
    left_out.retain(|pattern| study_run.study.rows.iter().all(|row| row.pattern != *pattern));
    if !left_out.is_empty() {
        study_run.note("tests-left-out", Severity::Caution, sentences::left_out(&left_out, timing.total_s));
    }
    study_run.remove_work_directory(work);
    let how = |file_bytes| {
        let mut how = sentences::io_mode(file_bytes, io_mode, timing);
        if let Some(like) = options.like {
            how = format!("{how} {}", like.sentence(loops));
        }
        if before == Some(file_bytes) { format!("{how} {}", sentences::SAME_SIZE) } else { how }
    };
    Ok(file_bytes.map(how))
}

/// The rounds of a study, which share their tests and their time.
struct Session<'s, 'w> {
    study_run: &'s mut StudyRun<'w>,
    options: &'s MeasureOptions,
    timing: Timing,
    /// Number of loops of each test.
    loops: u32,
    io_mode: IoMode,
    work: WorkDirectory,
    tests: Vec<&'static Test>,
    /// The tests that there was no time for.
    left_out: Vec<&'static str>,
}

impl Session<'_, '_> {
    /// Fills the file, then runs the tests on it; returns the bytes that were filled.
    fn run(&mut self, round: u32, size_bytes: u64, limit_s: Option<u32>) -> Result<u64, Problem> {
        let mut budget = Budget::begin(self.timing);
        let file = job_path(&self.work.file("measure.dat"));
        let row = Row { round, ..crate::question_file::row(&self.io_mode, &file, size_bytes, limit_s) };
        let fill_ms = u64::from(self.timing.fill_s) * 1000;
        let filled =
            budget.spend(fill_ms, true, || crate::question_file::fill(self.study_run, row, size_bytes, &self.work))?;
        for (test, turn) in self.turns() {
            if filled == 0 || self.study_run.stopped() {
                break;
            }
            // A size that was asked for is measured, however long that takes.
            if self.options.size_bytes.is_none() && !budget.suffices(test) {
                if !self.left_out.contains(&test.pattern) {
                    self.left_out.push(test.pattern);
                }
                continue;
            }
            let mut command = lines::adapted(test, &self.io_mode, &file, filled, self.timing);
            if turn == 0 && self.timing.interval_s > 0 {
                command.push(format!("--startdelay={}", self.timing.interval_s));
            }
            let row = planned_row(0, test.pattern, test.title, round + turn, command);
            let own_ms = self.timing.own_ms();
            budget.spend(own_ms, test.syncs(), || self.study_run.run_row(row, self.timing.stop_rule, &self.work))?;
        }
        Ok(filled)
    }

    /// The tests in the order in which they run, each with its loops on one file.
    fn turns(&self) -> Vec<(&'static Test, u32)> {
        self.tests.iter().flat_map(|test| (0..self.loops).map(|turn| (*test, turn))).collect()
    }
}

/// The time limit of all tests together.
struct Budget {
    timing: Timing,
    began_ns: u64,
    /// The longest time so far by which a test that syncs exceeded its own time, ns.
    sync_ns: u64,
}

impl Budget {
    fn begin(timing: Timing) -> Budget {
        Budget { timing, began_ns: RealClock::shared().now_ns(), sync_ns: 0 }
    }

    /// Whether there is time for a test, if its sync takes as long as the longest so far.
    fn suffices(&self, test: &Test) -> bool {
        let spent_ns = RealClock::shared().now_ns().saturating_sub(self.began_ns);
        let sync_ns = if test.syncs() { self.sync_ns } else { 0 };
        spent_ns + self.timing.own_ms() * 1_000_000 + sync_ns <= u64::from(self.timing.total_s) * 1_000_000_000
    }

    /// Runs a test that takes `own_ms` without its sync, and remembers what the sync took beyond that.
    fn spend<T>(&mut self, own_ms: u64, syncs: bool, run: impl FnOnce() -> T) -> T {
        let began_ns = RealClock::shared().now_ns();
        let answer = run();
        let took_ns = RealClock::shared().now_ns().saturating_sub(began_ns);
        if syncs {
            self.sync_ns = self.sync_ns.max(took_ns.saturating_sub(own_ms * 1_000_000));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::SilentWatcher;

    fn on(place: &Place, options: &MeasureOptions) -> Study {
        let control = std::sync::Arc::default();
        let caller = Caller { version: "test", command: Vec::new(), control, watcher: &mut SilentWatcher };
        measure(place, options, caller).unwrap()
    }

    #[test]
    fn a_file_without_offsets_to_choose_from_is_refused_with_an_option_that_there_is() {
        let sized = |bytes| MeasureOptions { size_bytes: Some(bytes), ..MeasureOptions::default() }.check_size();
        let refused = sized(1024).unwrap_err();
        assert_eq!(refused.what, "a file of 1,024 bytes has fewer than 4 blocks of 1 MiB");
        assert!(refused.next.unwrap().contains("--size") && sized(4 << 20).is_ok());
        assert!(MeasureOptions::default().check_size().is_ok());
    }

    #[test]
    fn a_later_run_of_the_same_plan_takes_the_same_file() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::at(directory.path());
        let only = vec![test_name::READ_LATENCY.to_string()];
        let options = MeasureOptions { effort: Effort::Quick, runtime_s: Some(1), only, ..MeasureOptions::default() };
        let earlier = on(&place, &options);
        let before = options.size_in(&place, &earlier);
        assert!(before.is_some());
        assert_eq!(
            MeasureOptions { runtime_s: Some(2), ..options.clone() }.size_in(&place, &earlier),
            None,
            "another plan"
        );
        assert_eq!(options.size_in(&Place::at(std::path::Path::new("/")), &earlier), None, "another place");
        // Half of what can be written in the time: the storage may have become slower.
        let options = MeasureOptions { size_before: Some(16 << 20), ..options };
        let later = on(&place, &options);
        assert_eq!(options.size_in(&place, &later), options.size_before);
        assert!(later.sentences.iter().any(|text| text.ends_with(sentences::SAME_SIZE)), "{:?}", later.sentences);
        let asked = MeasureOptions { size_bytes: Some(32 << 20), ..options };
        assert_eq!(asked.size_in(&place, &on(&place, &asked)), None, "somebody asked for it");
    }

    #[test]
    fn a_test_with_slow_syncs_is_left_out_and_a_read_is_not() {
        let [write, read] = [test_name::WRITE_LATENCY, test_name::READ_LATENCY]
            .map(|pattern| TESTS.iter().find(|test| test.pattern == pattern).expect("it is one of them"));
        let mut budget = Budget::begin(Timing::QUICK);
        assert!(budget.suffices(write) && budget.suffices(read));
        budget.sync_ns = 60_000_000_000;
        assert!(!budget.suffices(write) && budget.suffices(read));
        // Only tests that sync count, not reads.
        budget.sync_ns = 0;
        budget.spend(0, read.syncs(), || ());
        assert_eq!(budget.sync_ns, 0);
        let over = Timing { total_s: 0, ..Timing::QUICK };
        assert!(!Budget::begin(over).suffices(read));
    }
}
