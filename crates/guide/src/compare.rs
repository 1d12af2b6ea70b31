//! `compare`: which of several storages is faster? The same patterns on each, in rounds that take turns, so that what
//! slows the machine for a while slows all of them.

use std::sync::Arc;

use results::statistics::{ROUNDS_MIN, Stop, StopReason, enough_rounds_for, paired_ratio};
use results::{Figures, Question, Severity, Study};

use crate::bench::StopRule;
use crate::manner::{Manner, memory_for_files};
use crate::study::{Asking, Place, job_path, planned_row};
use crate::workplace::{Workplace, room_bytes};
use crate::{Problem, Watcher};

mod patterns;

use patterns::{PATTERNS, Pattern};

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// So many rounds; `None`: at least five, until the intervals are narrow or the cap is reached.
    pub rounds: Option<u32>,
    /// Bytes of each job's file; `None`: what the slowest target writes in one turn.
    pub size_bytes: Option<u64>,
    /// Block size of all patterns, as fio reads it; `None`: 1m in sequence, 4k at random.
    pub block_size: Option<String>,
    /// Requests in flight per job.
    pub iodepth: u32,
    /// Jobs at once, each with a file of its own.
    pub numjobs: u32,
    /// Longest turn, s.
    pub runtime_s: u32,
    /// The page's lines as they stand: one file, eight jobs, 30 s by the clock.
    pub literal: bool,
    /// The filesystem type that each target must be: `(name, type)`.
    pub expected: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            rounds: None,
            size_bytes: None,
            block_size: None,
            iodepth: 32,
            numjobs: 1,
            runtime_s: 4,
            literal: false,
            expected: Vec::new(),
        }
    }
}

/// Rounds end here, however wide the intervals are.
const ROUNDS_MAX: u32 = 7;

/// The half width that is narrow enough, and the confidence asked of it.
const WANTED_HALF_WIDTH: f64 = 0.1;
const CONFIDENCE: f64 = 0.95;

/// The largest file of a job, the smallest that says anything, and the one by which the speed is found.
const FILE_BYTES_MAX: u64 = 1 << 30;
const FILE_BYTES_MIN: u64 = 16 << 20;
const FIRST_FILE_BYTES: u64 = 32 << 20;

/// The published lines' own file, and their jobs share it.
const LITERAL_BYTES: u64 = 1 << 30;

/// A target with its work directory.
struct Site {
    work: Workplace,
    manner: Manner,
}

/// Compares the places; the first is the baseline.
///
/// # Errors
/// When a place cannot be used or the options make no job; nothing is left anywhere then.
pub fn compare(
    places: &[Place],
    options: &Options,
    version: &str,
    command: Vec<String>,
    control: Arc<run::Control>,
    watcher: &mut dyn Watcher,
) -> Result<Study, Problem> {
    check(places)?;
    let mut asking = Asking::begin(Question::Compare, places, version, command, control, watcher);
    let need = if options.literal { LITERAL_BYTES } else { options.size_bytes.unwrap_or(FIRST_FILE_BYTES) };
    let need = need.saturating_mul(if options.literal { 1 } else { u64::from(options.numjobs) });
    let mut sites = Vec::new();
    for (target, place) in places.iter().enumerate() {
        let expected = options.expected.iter().find(|(name, _)| *name == place.name).map(|(_, fstype)| fstype.as_str());
        let work = Workplace::open(&place.path, expected, need)?;
        let manner = crate::manner::of_place(&mut asking, target)?;
        sites.push(Site { work, manner });
    }
    let size_bytes = match options.size_bytes {
        _ if options.literal => LITERAL_BYTES,
        Some(size_bytes) => size_bytes,
        None => fitting_size(&mut asking, places, &sites, options)?,
    };
    let reason = run_rounds(&mut asking, &sites, options, size_bytes)?;
    asking.note("rounds", Severity::Info, reason);
    for site in sites {
        asking.leave(site.work);
    }
    asking.study.sentences = crate::limits::sentences(&asking.study);
    Ok(asking.finish())
}

fn check(places: &[Place]) -> Result<(), Problem> {
    if places.len() < 2 {
        return Err(Problem::new("a comparison needs at least two places")
            .with_next("name them as in `fsdyno compare local=/data nfs=/mnt/nfs`"));
    }
    for (index, place) in places.iter().enumerate() {
        if places[..index].iter().any(|other| other.name == place.name) {
            return Err(Problem::new(format!("two places are called {}", place.name))
                .with_next("give each a name of its own: NAME=PATH"));
        }
    }
    Ok(())
}

/// Rounds until there are enough; why they ended.
fn run_rounds(asking: &mut Asking<'_>, sites: &[Site], options: &Options, size_bytes: u64) -> Result<String, Problem> {
    let cap = options.rounds.unwrap_or(if options.literal { 1 } else { ROUNDS_MAX });
    for round in 0..cap {
        if asking.stopped() {
            return Ok(format!("stopped by a signal in round {round}"));
        }
        let turns = PATTERNS.len() * sites.len();
        asking.steps.1 = asking.steps.0 + turns * (cap.min(ROUNDS_MIN as u32).max(round + 1) - round) as usize;
        for pattern in &PATTERNS {
            for (target, site) in sites.iter().enumerate() {
                if asking.stopped() {
                    break;
                }
                take_turn(asking, site, target, pattern, round, options, size_bytes)?;
            }
        }
        if let Some(reason) = enough(&asking.study, round + 1, cap).filter(|_| options.rounds.is_none()) {
            return Ok(reason);
        }
    }
    Ok(format!("{cap} rounds, as asked for"))
}

/// One pattern on one target.
fn take_turn(
    asking: &mut Asking<'_>,
    site: &Site,
    target: usize,
    pattern: &Pattern,
    round: u32,
    options: &Options,
    size_bytes: u64,
) -> Result<(), Problem> {
    if pattern.fresh_files {
        site.work.empty()?;
    }
    let directory = site.work.directory();
    let command = if options.literal {
        patterns::literal(pattern, &job_path(&site.work.file("perf.txt"))?)
    } else {
        patterns::line(pattern, &site.manner, &job_path(directory)?, options, size_bytes)
    };
    let title = pattern.title(options);
    asking.run_row(planned_row(target, pattern.name, &title, round, command), StopRule::AsWritten)?;
    Ok(())
}

/// Why the rounds are enough; `None`: they are not.
fn enough(study: &Study, rounds: u32, cap: u32) -> Option<String> {
    let mut last = None;
    for pattern in study.patterns() {
        let baseline = headline_rates(study, 0, pattern);
        for target in 1..study.targets.len() {
            let estimate = paired_ratio(&headline_rates(study, target, pattern), &baseline, CONFIDENCE);
            match enough_rounds_for(estimate.as_ref(), rounds as usize, WANTED_HALF_WIDTH, cap as usize) {
                Stop::No => return None,
                // A pattern that ended at the cap is the one to tell of.
                Stop::Yes(reason @ StopReason::Cap { .. }) => last = Some(reason),
                Stop::Yes(reason) => last = last.or(Some(reason)),
            }
        }
    }
    last.map(|reason| reason.to_string())
}

/// Bytes per second of each round, durable where something was written.
fn headline_rates(study: &Study, target: usize, pattern: &str) -> Vec<f64> {
    let rate = |figures: Figures| figures.total.durable_bytes_per_s.unwrap_or(figures.total.bytes_per_s);
    study.repeats(target, pattern).filter_map(|row| row.figures().map(rate)).collect()
}

/// Bytes of each job's file: what the slowest target writes and makes durable in one turn, within space and memory.
fn fitting_size(asking: &mut Asking<'_>, places: &[Place], sites: &[Site], options: &Options) -> Result<u64, Problem> {
    let jobs = u64::from(options.numjobs.max(1));
    let mut limit = FILE_BYTES_MAX;
    let mut slowest = String::new();
    for (target, (place, site)) in places.iter().zip(sites).enumerate() {
        let step = asking.begin_step(target, "finding a size that fits a turn");
        let write = &PATTERNS[0];
        let command = patterns::line(write, &site.manner, &job_path(site.work.directory())?, options, FIRST_FILE_BYTES);
        let conditions = crate::bench::Conditions {
            version: asking.version,
            control: &asking.control,
            stop_rule: StopRule::AsWritten,
        };
        let record = crate::bench::run_line(&command, conditions, &step, asking.watcher)?;
        site.work.empty()?;
        let room = room_bytes(&place.path).map(|room| room / 2 / jobs);
        let memory = memory_for_files(&asking.study.targets[target].storage).map(|bytes| bytes / jobs);
        let by_speed = durable_rate(&record).map(|rate| (rate * f64::from(options.runtime_s)) as u64 / jobs);
        for bytes in [room, memory, by_speed].into_iter().flatten() {
            if bytes < limit {
                limit = bytes;
                slowest.clone_from(&place.name);
            }
        }
    }
    let size_bytes = (limit >> 20 << 20).clamp(FILE_BYTES_MIN, FILE_BYTES_MAX);
    if size_bytes < FILE_BYTES_MAX {
        let text = format!("each job's file has {} MiB: what {slowest} takes in one turn", size_bytes >> 20);
        asking.note("size-adapted", Severity::Info, text);
    }
    Ok(size_bytes)
}

/// Bytes per second that were written and durable.
fn durable_rate(record: &results::RunRecord) -> Option<f64> {
    let mut jobs = record.jobs.iter();
    let mut merged = jobs.next()?.clone();
    jobs.for_each(|job| merged.merge(job));
    let figures = results::Figures::of_job(&merged);
    figures.total.durable_bytes_per_s.or(Some(figures.total.bytes_per_s)).filter(|rate| *rate > 0.0)
}

/// Reads `--expect NAME=TYPE`.
pub fn expectation(word: &str) -> Result<(String, String), String> {
    let (name, fstype) = word.split_once('=').ok_or("write NAME=FSTYPE, such as nfs=nfs4")?;
    Ok((name.to_string(), fstype.to_string()))
}
