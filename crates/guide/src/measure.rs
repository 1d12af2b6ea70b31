//! `measure`: how fast is it? Latency, IOPS, throughput, and what the three have to do with each other.

use std::sync::Arc;

use results::{Question, Study};

use crate::bench::StopRule;
use crate::study::{Asking, Place, job_path, planned_row};
use crate::workplace::Workplace;
use crate::{Problem, Watcher};

mod lines;
mod sentences;

use lines::{FILL, FULL, TESTS, Timing};

/// How thorough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Within 20 s.
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
pub fn measure(
    place: &Place,
    options: &Options,
    version: &str,
    command: Vec<String>,
    control: Arc<run::Control>,
    watcher: &mut dyn Watcher,
) -> Result<Study, Problem> {
    let places = std::slice::from_ref(place);
    let mut asking = Asking::begin(Question::Measure, places, version, command, control, watcher);
    match options.effort {
        Effort::Full => measure_in_full(&mut asking, place, options)?,
        Effort::Quick => measure_adapted(&mut asking, place, options, Timing::QUICK)?,
        Effort::Normal => measure_adapted(&mut asking, place, options, Timing::NORMAL)?,
    }
    asking.study.sentences = sentences::of(&asking.study);
    Ok(asking.finish())
}

/// The published lines as they stand.
fn measure_in_full(asking: &mut Asking<'_>, place: &Place, options: &Options) -> Result<(), Problem> {
    let file_bytes = options.size_bytes.unwrap_or(lines::FULL_FILE_BYTES);
    let need_bytes = file_bytes.saturating_mul(FULL.iter().map(|test| test.files).max().unwrap_or(1));
    let work = Workplace::open(&place.path, options.expected.as_deref(), need_bytes)?;
    asking.steps.1 = FULL.len();
    for test in &FULL {
        if asking.stopped() {
            break;
        }
        // The page tells its readers to delete the files of one test before the next: they would not fit together.
        work.empty()?;
        let command = lines::full(test, &job_path(work.directory())?, options.size_bytes);
        asking.run_row(planned_row(0, test.pattern, test.title, 0, command), StopRule::AsWritten)?;
    }
    asking.leave(work);
    Ok(())
}

/// Fills a file as far as a few seconds go, then measures on it.
fn measure_adapted(asking: &mut Asking<'_>, place: &Place, options: &Options, timing: Timing) -> Result<(), Problem> {
    let size_bytes = crate::fill::largest(asking, &place.path, options.size_bytes, timing.file_bytes);
    let work = Workplace::open(&place.path, options.expected.as_deref(), size_bytes)?;
    let manner = crate::manner::of_place(asking, 0)?;
    asking.steps.1 = TESTS.len() + 1;
    let file = job_path(&work.file("measure.dat"))?;
    // Asked for by size, the file is filled whole; else as far as the time goes, and the tests use what there is.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(timing.fill_s) };
    // The first row: it measures the writing, too.
    let command = lines::fill(&FILL, &manner, &file, size_bytes, fill_s);
    let filled = crate::fill::fill(asking, planned_row(0, FILL.pattern, FILL.title, 0, command), size_bytes)?;
    for test in TESTS.iter().filter(|_| filled > 0) {
        if asking.stopped() {
            break;
        }
        let command = lines::adapted(test, &manner, &file, filled, timing);
        asking.run_row(planned_row(0, test.pattern, test.title, 0, command), timing.stop_rule)?;
    }
    asking.leave(work);
    Ok(())
}
