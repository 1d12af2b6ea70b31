//! `measure`: how fast is it? Latency, IOPS, throughput, and what the three have to do with each other.

use std::path::Path;
use std::sync::Arc;

use results::{Question, Severity, Study};

use crate::bench::StopRule;
use crate::study::{Asking, Place, job_path, planned_row};
use crate::workplace::{Workplace, room_bytes};
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
    work.close()
}

/// Fills a file as far as a few seconds go, then measures on it.
fn measure_adapted(asking: &mut Asking<'_>, place: &Place, options: &Options, timing: Timing) -> Result<(), Problem> {
    let size_bytes = largest_file(asking, &place.path, options, timing);
    let work = Workplace::open(&place.path, options.expected.as_deref(), size_bytes)?;
    let manner = crate::manner::of_place(asking, 0)?;
    asking.steps.1 = TESTS.len() + 1;
    let file = job_path(&work.file("measure.dat"))?;
    // Asked for by size, the file is filled whole; else as far as the time goes, and the tests use what there is.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(timing.fill_s) };
    let filled = fill(asking, &manner, &file, size_bytes, fill_s)?;
    for test in TESTS.iter().filter(|_| filled > 0) {
        if asking.stopped() {
            break;
        }
        let command = lines::adapted(test, &manner, &file, filled, timing);
        asking.run_row(planned_row(0, test.pattern, test.title, 0, command), timing.stop_rule)?;
    }
    work.close()
}

/// The first row: writes the file and measures that. Bytes that may be read from now on, 0 if none.
fn fill(
    asking: &mut Asking<'_>,
    manner: &crate::manner::Manner,
    file: &str,
    size_bytes: u64,
    limit_s: Option<u32>,
) -> Result<u64, Problem> {
    let command = lines::fill(&FILL, manner, file, size_bytes, limit_s);
    let row = asking.run_row(planned_row(0, FILL.pattern, FILL.title, 0, command), StopRule::AsWritten)?;
    let record = asking.study.rows[row].run.as_ref();
    let failed = record.is_none_or(|run| run.jobs.iter().any(|job| job.error.is_some()));
    let written: u64 = record.into_iter().flat_map(|run| &run.jobs).map(|job| job.write.bytes).sum();
    let whole = written >> 20 << 20;
    if !failed && whole < size_bytes && whole > 0 {
        let (done, wanted) = (whole >> 20, size_bytes >> 20);
        let text =
            format!("the file has {done} MiB instead of {wanted} MiB: that is what the first seconds could write");
        asking.note("size-adapted", Severity::Info, text);
    }
    Ok(if failed { 0 } else { whole })
}

/// Bytes of the file at most: as asked, or what fits the effort, half of the space that may be used, and for a
/// filesystem in memory a quarter of what is free there.
fn largest_file(asking: &mut Asking<'_>, path: &Path, options: &Options, timing: Timing) -> u64 {
    if let Some(size_bytes) = options.size_bytes {
        return size_bytes;
    }
    let room = room_bytes(path).map(|room| room / 2);
    let memory = crate::manner::memory_for_files(&asking.study.targets[0].storage);
    let limits = [Some(timing.file_bytes), room, memory];
    let size_bytes = limits.into_iter().flatten().min().unwrap_or(timing.file_bytes);
    // Less than this measures nothing; if even this does not fit, opening the work directory says so.
    let size_bytes = (size_bytes >> 20 << 20).max(lines::LEAST_FILE_BYTES);
    if size_bytes < timing.file_bytes {
        let (done, wanted) = (size_bytes >> 20, timing.file_bytes >> 20);
        let text = format!("the file has {done} MiB instead of {wanted} MiB, for want of space");
        asking.note("size-adapted", Severity::Caution, text);
    }
    size_bytes
}
