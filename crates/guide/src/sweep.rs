//! `sweep`: which depth and block size suit a storage? One point per depth, and the knee after which only latency grows.

use std::sync::Arc;

use results::{Question, Study};

use crate::bench::StopRule;
use crate::fill::Filled;
use crate::requests::{Requests, Timing, duration};
use crate::study::{Asking, Place, job_path, planned_row};
use crate::workplace::{Needs, Workplace};
use crate::{Problem, Watcher, fill};

mod depths;
mod knee;

pub use depths::Depths;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Requests in flight, a point for each.
    pub depths: Depths,
    /// Block sizes in fio's words.
    pub block_sizes: Vec<String>,
    /// `rw` in fio's words.
    pub accesses: Vec<String>,
    /// Longest measuring of a point, s.
    pub runtime_s: u32,
    /// Bytes of the file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that it must be.
    pub expected: Option<String>,
}

/// The file is not made larger than this unless asked for, and is filled for so many seconds at most.
pub(crate) const FILE_BYTES: u64 = 1 << 30;
pub(crate) const FILL_S: u32 = 8;

/// Sweeps one place.
///
/// # Errors
/// When the place cannot be used or the words make no job; nothing is left there then.
pub fn sweep(
    place: &Place,
    options: &Options,
    version: &str,
    command: Vec<String>,
    control: Arc<run::Control>,
    watcher: &mut dyn Watcher,
) -> Result<Study, Problem> {
    let groups = groups(options)?;
    let places = std::slice::from_ref(place);
    let mut asking = Asking::begin(Question::Sweep, places, version, command, control, watcher);
    let size_bytes = fill::largest(&mut asking, &place.path, options.size_bytes, FILE_BYTES);
    check_blocks(&groups, size_bytes)?;
    let need = Needs::bytes(size_bytes);
    let work = Workplace::open(&place.path, options.expected.as_deref(), need, &asking.control)?;
    let manner = crate::manner::of_place(&mut asking, 0)?;
    let timing = Timing::of_runtime(options.runtime_s);
    let points = groups.len() * options.depths.list().len();
    asking.steps.1 = points + 1;
    let (each, all) = (duration(timing.seconds(1)), duration(timing.seconds(points)));
    let outline = format!("{points} points of {each} at most: they take up to {all} once the file is filled");
    asking.watcher.outline(&outline);
    let file = job_path(&work.file("sweep.dat"))?;
    // Asked for by size, the file is filled whole; else as far as the time goes, and the points use what there is.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(FILL_S) };
    let filled = fill::fill(&mut asking, fill::row(&manner, &file, size_bytes, fill_s), size_bytes, &work)?;
    if filled > 0 {
        check_blocks(&groups, filled)?;
        let site = Filled { manner: &manner, file: &file, size_bytes: filled, work: &work };
        take_points(&mut asking, options, &groups, site)?;
    }
    asking.leave(work);
    asking.study.sentences = groups.iter().map(|group| knee::sentence(&asking.study, group)).collect();
    Ok(asking.finish())
}

/// Every `rw` with every block size, each once.
fn groups(options: &Options) -> Result<Vec<Requests>, Problem> {
    let mut groups: Vec<Requests> = Vec::new();
    for access in &options.accesses {
        for block_size in &options.block_sizes {
            let group = Requests::parse(access, block_size).map_err(Problem::new)?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    Ok(groups)
}

/// A file of few blocks is read over and over: no offsets to choose from.
const LEAST_BLOCKS: u64 = 4;

/// Blocks must fit into the file.
pub(crate) fn check_blocks(groups: &[Requests], size_bytes: u64) -> Result<(), Problem> {
    match groups.iter().find(|group| group.largest_bytes.saturating_mul(LEAST_BLOCKS) > size_bytes) {
        None => Ok(()),
        Some(group) => Err(Problem::new(format!(
            "a file of {} MiB has fewer than {LEAST_BLOCKS} blocks of {}",
            size_bytes >> 20,
            group.block_size
        ))
        .with_next("ask for a larger file with --size, or for smaller blocks with --bs")),
    }
}

fn take_points(
    asking: &mut Asking<'_>,
    options: &Options,
    groups: &[Requests],
    site: Filled<'_>,
) -> Result<(), Problem> {
    let timing = Timing::of_runtime(options.runtime_s);
    for group in groups {
        for depth in options.depths.list() {
            if asking.stopped() {
                return Ok(());
            }
            closed_loop(asking, group, *depth, site, timing)?;
        }
    }
    Ok(())
}

/// Keeps so many requests in flight until the rate has settled; the index of its row.
pub(crate) fn closed_loop(
    asking: &mut Asking<'_>,
    requests: &Requests,
    depth: u32,
    site: Filled<'_>,
    timing: Timing,
) -> Result<usize, Problem> {
    let pattern = format!("{}-qd{depth}", requests.pattern());
    let title = format!("{}, depth {depth}", requests.title());
    let mut command = requests.line(&pattern, site.manner, site.file, site.size_bytes, timing);
    command.push(format!("--iodepth={depth}"));
    let rule = StopRule::Settled { least_s: 2.0, windows: 4, tolerance: 0.05 };
    asking.run_row(planned_row(0, &pattern, &title, 0, command), rule, site.work)
}
