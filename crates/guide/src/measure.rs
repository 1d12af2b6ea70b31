//! `measure`: latency, IOPS and throughput of a storage, and how the three are related.

use engine::clock::{Clock, RealClock};
use results::evidence::StorageClass;
use results::{Question, Severity, Study};
use run::StopRule;

use crate::Problem;
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory};

mod lines;
mod sentences;

use lines::{FILL, FULL, TESTS, Test, Timing};

/// How thorough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Within 20 s, as far as a sync that has begun can be ended.
    Quick,
    /// About a minute.
    #[default]
    Normal,
    /// The published lines: 60 s each, files of 10 GiB.
    Full,
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How thorough.
    pub effort: Effort,
    /// Bytes of a file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that it must be.
    pub expected: Option<String>,
}

/// Measures one place.
///
/// # Errors
/// When the place cannot be used; nothing is left there then.
pub fn measure(place: &Place, options: &Options, caller: Caller<'_>) -> Result<Study, Problem> {
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::Measure, places, caller);
    let done = match options.effort {
        Effort::Full => measure_in_full(&mut study_run, place, options)?,
        Effort::Quick => measure_adapted(&mut study_run, place, options, Timing::QUICK)?,
        Effort::Normal => measure_adapted(&mut study_run, place, options, Timing::NORMAL)?,
    };
    study_run.study.sentences = sentences::of(&study_run.study);
    study_run.study.sentences.push(done);
    Ok(study_run.finish())
}

/// The published lines as they stand; how it was done.
fn measure_in_full(study_run: &mut StudyRun<'_>, place: &Place, options: &Options) -> Result<String, Problem> {
    let file_bytes = options.size_bytes.unwrap_or(lines::FULL_FILE_BYTES);
    let need_bytes = file_bytes.saturating_mul(FULL.iter().map(|test| test.files).max().unwrap_or(1));
    let need = SpaceNeeds::bytes(need_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    study_run.steps.1 = FULL.len();
    for test in &FULL {
        if study_run.stopped() {
            break;
        }
        // The page tells its readers to delete the files of one test before the next: they would not fit together.
        work.empty()?;
        work.reserve_space(need)?;
        let command = lines::full(test, &job_path(work.directory())?, options.size_bytes);
        study_run.run_row(planned_row(0, test.pattern, test.title, 0, command), StopRule::AsWritten, &work)?;
    }
    study_run.remove_work_directory(work);
    Ok(sentences::published_lines(file_bytes))
}

/// Fills a file as far as a few seconds go, then measures on it; how it was done.
fn measure_adapted(
    study_run: &mut StudyRun<'_>,
    place: &Place,
    options: &Options,
    timing: Timing,
) -> Result<String, Problem> {
    let mut budget = Budget::begin(timing);
    let by_daemon = study_run.study.targets[0].storage.class == StorageClass::Fuse;
    let wished_bytes = if by_daemon { timing.daemon_file_bytes } else { timing.file_bytes };
    let size_bytes = crate::fill::largest(study_run, &place.path, options.size_bytes, wished_bytes);
    let need = SpaceNeeds::bytes(size_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let io_mode = crate::io_mode::of_place(study_run, 0)?;
    study_run.steps.1 = TESTS.len() + 1;
    study_run.step_ms = Some(u64::from(timing.ramp_ms + timing.runtime_ms));
    let file = job_path(&work.file("measure.dat"))?;
    // Asked for by size, the file is filled whole; else as far as the time goes, and the tests use what there is.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(timing.fill_s) };
    // The first row: it measures the writing, too.
    let command = lines::fill(&FILL, &io_mode, &file, size_bytes, fill_s);
    let row = planned_row(0, FILL.pattern, FILL.title, 0, command);
    let filled = budget.spend(&FILL, || crate::fill::fill(study_run, row, size_bytes, &work))?;
    let mut left_out = Vec::new();
    for test in TESTS.iter().filter(|_| filled > 0) {
        if study_run.stopped() {
            break;
        }
        // Who names a size wants it measured, however long that takes.
        if options.size_bytes.is_none() && !budget.suffices(test) {
            left_out.push(test.title);
            continue;
        }
        let command = lines::adapted(test, &io_mode, &file, filled, timing);
        let row = planned_row(0, test.pattern, test.title, 0, command);
        budget.spend(test, || study_run.run_row(row, timing.stop_rule, &work))?;
    }
    if !left_out.is_empty() {
        study_run.note("tests-left-out", Severity::Caution, sentences::left_out(&left_out, timing.total_s));
    }
    study_run.remove_work_directory(work);
    Ok(sentences::io_mode(filled, io_mode, timing))
}

/// The time that all tests have together.
struct Budget {
    timing: Timing,
    began_ns: u64,
    /// What a test that syncs took beyond its own time, so far at most, ns.
    sync_ns: u64,
}

impl Budget {
    fn begin(timing: Timing) -> Budget {
        Budget { timing, began_ns: RealClock::shared().now_ns(), sync_ns: 0 }
    }

    /// The longest that a test runs before it syncs, ns.
    fn own_ns(&self) -> u64 {
        u64::from(self.timing.ramp_ms + self.timing.runtime_ms) * 1_000_000
    }

    /// Whether there is time for a test, if it syncs as long as another did.
    fn suffices(&self, test: &Test) -> bool {
        let spent_ns = RealClock::shared().now_ns().saturating_sub(self.began_ns);
        let sync_ns = if test.syncs() { self.sync_ns } else { 0 };
        spent_ns + self.own_ns() + sync_ns <= u64::from(self.timing.total_s) * 1_000_000_000
    }

    /// Runs it, and remembers what its sync took.
    fn spend<T>(&mut self, test: &Test, run: impl FnOnce() -> T) -> T {
        let began_ns = RealClock::shared().now_ns();
        let answer = run();
        let took_ns = RealClock::shared().now_ns().saturating_sub(began_ns);
        let own_ns =
            if test.pattern == FILL.pattern { u64::from(self.timing.fill_s) * 1_000_000_000 } else { self.own_ns() };
        if test.syncs() {
            self.sync_ns = self.sync_ns.max(took_ns.saturating_sub(own_ns));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_with_slow_syncs_is_left_out_and_a_read_is_not() {
        let [write, read] = ["latency-write", "latency-read"]
            .map(|pattern| TESTS.iter().find(|test| test.pattern == pattern).expect("it is one of them"));
        let mut budget = Budget::begin(Timing::QUICK);
        assert!(budget.suffices(write) && budget.suffices(read));
        budget.sync_ns = 60_000_000_000;
        assert!(!budget.suffices(write) && budget.suffices(read));
        // A read's time is no sync's.
        budget.sync_ns = 0;
        budget.spend(read, || ());
        assert_eq!(budget.sync_ns, 0);
        let over = Timing { total_s: 0, ..Timing::QUICK };
        assert!(!Budget::begin(over).suffices(read));
    }
}
