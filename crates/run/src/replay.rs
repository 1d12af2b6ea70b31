//! `read_iolog`: examines logs before the plan is made, so that their files are planned, guarded and reported like
//! files that a job names itself.

mod merged;

use std::collections::HashMap;
use std::fmt::Display;
use std::io;
use std::sync::Arc;

use fsdyno_job::{Amount, BlockSize, Extent, Job, PerDirection, ReplayOptions};
use fsdyno_os::files::{RecordedInput, RecordedLog};
use fsdyno_workload::{LogInput, Summary};

pub use merged::merge_traces;

/// A log that a worker replays.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The log's name as the job gives it.
    pub name: String,
    /// Reads the log, from any position.
    pub log: Arc<dyn LogInput>,
    /// The totals of the log: files, sizes, directions.
    pub summary: Summary,
}

#[derive(Debug)]
struct Stored(RecordedLog);

impl LogInput for Stored {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

/// The jobs of a line, and for each the log that it replays.
pub(crate) type Replaying = (Vec<Job>, Vec<Option<Arc<Replay>>>);

/// Examines the logs; `None`: no job replays one. A job whose clones replay different logs becomes a job per clone.
///
/// # Errors
/// A sentence about a log that cannot be replayed.
pub(crate) fn examine(jobs: &[Job]) -> Result<Option<Replaying>, String> {
    if jobs.iter().all(|job| job.traces.replay.is_empty()) {
        return Ok(None);
    }
    let mut examined = Examined::default();
    let (mut all, mut replays) = (Vec::new(), Vec::new());
    for job in jobs {
        let merge = job.traces.merge.as_ref();
        if let Some(merge) = merge {
            merged::merged(job, merge)?;
        }
        let logs = merge.map_or_else(|| job.traces.replay.clone(), |merge| vec![merge.file.clone()]);
        let parts = if logs.len() > 1 { job.clones } else { 1 };
        for part in 0..parts {
            let replay = match logs.get(part as usize % logs.len().max(1)) {
                Some(name) => Some(examined.log(job, name)?),
                None => None,
            };
            let mut job = replay.as_ref().map_or_else(|| job.clone(), |replay| replaying(job, &replay.summary));
            if parts > 1 {
                job.clones = 1;
            }
            if part > 0 {
                (job.stonewall, job.new_group, job.starts_file, job.display_name) = (false, false, false, None);
            }
            all.push(job);
            replays.push(replay);
        }
    }
    Ok(Some((all, replays)))
}

/// Logs that were examined, by name: a stream can be read only once.
#[derive(Default)]
struct Examined(HashMap<String, Vec<(ReplayOptions, Arc<Replay>)>>);

impl Examined {
    fn log(&mut self, job: &Job, name: &str) -> Result<Arc<Replay>, String> {
        let options = &job.traces.options;
        let known = self.0.entry(name.to_owned()).or_default();
        if let Some((_, replay)) = known.iter().find(|(other, _)| other == options) {
            return Ok(Arc::clone(replay));
        }
        let failed = |reason: &dyn Display, next: &str| failed(job, name, reason, next);
        let mut input = RecordedInput::open(&fsdyno_os::written::path(name)).map_err(|error| {
            let next = "name a log that is there; one that a job writes must be written by an earlier run";
            failed(&fsdyno_os::errno::reason(&error), next)
        })?;
        let mut summary = Summary::of(&mut input, options)
            .map_err(|error| failed(&error, "mend the log at this line, or record it anew with write_iolog"))?;
        if summary.depth.is_some() && options.redirect.is_none() {
            for file in &mut summary.files {
                let number = file.name.parse().ok();
                let device = number.and_then(fsdyno_probe::device_of).ok_or_else(|| {
                    let reason = format!("did not find replay device(s): there is no device {}", file.name);
                    failed(&reason, "replay_redirect=DEVICE")
                })?;
                file.name = fsdyno_job::bytes::shown(&device);
            }
        }
        let modifies = |kinds: &[bool; 4]| kinds[1] || kinds[2];
        if let Some(file) = summary.files.iter().find(|file| job.files.read_only && modifies(&file.kinds)) {
            let reason = format!("writes or trims {}, but fio is in read-only mode", file.name);
            return Err(failed(&reason, "replay_skip=write,trim, or leave --readonly out"));
        }
        let log = Arc::new(Stored(input.into_log()));
        let replay = Arc::new(Replay { name: name.to_owned(), log, summary });
        known.push((options.clone(), Arc::clone(&replay)));
        Ok(replay)
    }
}

fn failed(job: &Job, log: &str, reason: &dyn Display, next: &str) -> String {
    format!("fio: {}: read_iolog={log}: {reason}\nNext step: {next}", job.name)
}

/// The job as if it had named the files, directions and sizes of its log.
fn replaying(job: &Job, summary: &Summary) -> Job {
    let mut job = job.clone();
    let files = &mut job.files;
    files.names = summary.files.iter().map(|file| file.name.clone()).collect();
    files.directories.clear();
    (files.size, files.file_size, files.fill_device, files.append) = (None, None, false, false);
    (files.offset, files.offset_increment) = (Amount::Bytes(0), Amount::Bytes(0));
    // As in fio, a missing file is made when it is opened; nothing is laid out.
    files.create_on_open = true;
    job.pattern.access = summary.access();
    let (min, max) = summary.lengths;
    job.pattern.block_size =
        PerDirection::all(if min == max { BlockSize::Fixed(max) } else { BlockSize::Range(min, max) });
    job.extent = Extent { io_size: None, number_ios: 0, loops: 1, time_based: false, ..job.extent };
    if let (Some(depth), false) = (summary.depth, job.traces.depth_given) {
        job.submission.depth = depth;
    }
    if summary.syncs() {
        // A log does not say how ranges were synced: only their write-back is started.
        job.durability.sync_file_range.get_or_insert((2, 0));
    }
    job
}

/// A sentence if the log and the existing file contradict each other.
pub(crate) fn contradiction(
    replay: &Replay,
    index: usize,
    size: Option<u64>,
    is_fixed: bool,
    made: bool,
) -> Option<String> {
    let file = replay.summary.files.get(index)?;
    let what = if replay.summary.depth.is_some() { "record" } else { "line" };
    let place = |number: u64| format!("{}: {what} {number}", replay.name);
    let [reads, writes, trims, _] = file.kinds;
    let modifies = replay.summary.access().modifies();
    match size {
        None if !modifies && !made => Some(format!("{} needs {}, which is not there", place(file.first_at), file.name)),
        Some(size) if size < file.end && (is_fixed || reads && !writes && !trims && !made) => {
            Some(format!("{} goes up to byte {} of {}, which has {size}", place(file.end_at), file.end, file.name))
        }
        _ => None,
    }
}
