//! `scale`: what several nodes get together, with more of them at each step. Each node does the same on its own file;
//! steps are repeated in turns, so that variation between runs shows.

use fsdyno_results::{Question, Severity, Study};
use fsdyno_run::StopRule;
use fsdyno_stats::order_of_round;
use fsdyno_text::quantity::{counted, number};

use crate::Problem;
use crate::io_mode::{IoMode, RequestedIoMode};
use crate::nodes::{Nodes, SHARED_FILE};
use crate::question_file::{self, FilledTarget};
use crate::requests::{Requests, Timing, duration};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::sweep::{FILE_BYTES, FILL_S, check_blocks, groups, turns};
use crate::work_directory::{SpaceNeeds, WorkDirectory, check_path};
use segments::Segments;

mod io500;
mod knee;
mod segments;
mod steps;

pub use io500::{Io500Options, STONEWALL_S, io500};

pub use steps::Steps;

/// The options of `scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleOptions {
    /// The number of nodes of each step.
    pub nodes: Steps,
    /// Block sizes in fio's words.
    pub block_sizes: Vec<String>,
    /// `rw` in fio's words.
    pub accesses: Vec<String>,
    /// Requests in flight on each node.
    pub iodepth: u32,
    /// Whether all nodes use one file.
    pub shared: bool,
    /// Bytes of a node's block in each segment of the file that all nodes use in sequential order; `None`: as a request.
    pub block_bytes: Option<u64>,
    /// Whether each node goes on after its time until it has done as much as the one that has done most.
    pub wear_out: bool,
    /// Measuring time of a step over all its turns, s.
    pub runtime_s: u32,
    /// Bytes of each node's file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
}

/// Measures what different numbers of nodes get from one place.
///
/// # Errors
/// When there are too few nodes, the place cannot be used, or the words make no job; nothing is left there then.
pub fn scale(
    place: &Place,
    options: &ScaleOptions,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    enough((place, &options.nodes), "", nodes.count())?;
    let groups = groups(&options.accesses, &options.block_sizes)?;
    groups.iter().try_for_each(Requests::check_of_files)?;
    segments::check(options, &groups)?;
    let mut study_run = StudyRun::begin(Question::Scale, std::slice::from_ref(place), caller);
    let size_bytes = question_file::largest(&mut study_run, &place.path, options.size_bytes, FILE_BYTES);
    check_blocks(&groups, size_bytes)?;
    let need = SpaceNeeds::bytes(size_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let io_mode = crate::io_mode::of_place(&mut study_run, 0, RequestedIoMode::default())?;
    let files = match options.shared {
        true => "All nodes use one file, each in a random order of its own or its own blocks,",
        false => "Each node has a file of its own",
    };
    let at_once = counted(u64::from(options.iodepth), "request");
    let steps = groups.len() * options.nodes.list().len();
    announce(&mut study_run, options, steps, "the files are", &format!("{files} and {at_once} in flight"));
    let file = job_path(&work.file(if options.shared { SHARED_FILE } else { "scale.dat" }));
    let site = Site { io_mode: &io_mode, file: &file, work: &work };
    let filled = fill_files(&mut study_run, options, &groups, nodes, (site, size_bytes))?;
    if filled > 0 {
        check_blocks(&groups, filled)?;
        let engine = io_mode.words();
        let target =
            FilledTarget { engine: &engine, file: &file, size_bytes: filled, work: Some(&work), requests_max: 0 };
        take_steps(&mut study_run, options, &groups, nodes, target)?;
    }
    study_run.remove_work_directory(work);
    if filled > 0 {
        study_run.study.sentences = conclusions(&study_run.study, &groups);
    }
    Ok(study_run.finish())
}

/// A sentence for each kind of request: the number of nodes from which on the total does not grow.
pub(crate) fn conclusions(study: &Study, groups: &[Requests]) -> Vec<String> {
    groups.iter().map(|group| knee::sentence(study, group)).collect()
}

/// The files of the nodes.
#[derive(Clone, Copy)]
struct Site<'a> {
    io_mode: &'a IoMode,
    file: &'a str,
    work: &'a WorkDirectory,
}

/// Whether enough nodes were started; the problem has the command that starts enough. `like`: its other options.
pub(crate) fn enough((place, steps): (&Place, &Steps), like: &str, started: u32) -> Result<(), Problem> {
    let most = steps.most();
    if most <= started {
        return Ok(());
    }
    // Whoever starts more nodes needs a place that is there. Object stores are looked at by their own questions.
    if !place.is_object_store() {
        check_path(&place.path)?;
    }
    let running = counted(u64::from(started), "node");
    Err(Problem::new(format!("{most} nodes are needed, and this run has {running}")).with_next(format!(
        "start it on all of them, with a build for MPI: `mpirun -n {most} --hostfile HOSTS fsdyno scale {}{like} --nodes {steps}`",
        fsdyno_text::shell::path_as_typed(&place.path)
    ))
    .about(&place.path))
}

/// Announces how long it takes, and how the steps are repeated; `what`: that which is written before, `each_has`: what each
/// node has.
pub(crate) fn announce(study_run: &mut StudyRun<'_>, options: &ScaleOptions, steps: usize, what: &str, each_has: &str) {
    let (whole, turns) = (Timing::of_runtime(options.runtime_s), turns(options.runtime_s));
    study_run.steps.1 = steps * turns as usize + 1;
    let each = number(f64::from(whole.split(turns).runtime_ms) / 1e3);
    let all = duration(whole.seconds(steps));
    let outline = format!(
        "{}, each {turns} times for {each} s, alternating: up to {all} after {what} written",
        counted(steps as u64, "step")
    );
    study_run.watcher.outline(&outline);
    let text = format!("each step ran {turns} times for {each} s, every second round in reverse order. {each_has}");
    study_run.note("turns", Severity::Info, text);
}

/// Each node fills its own file, or its own blocks of the file of all. If all requests to that are random, the first node
/// fills it. Returns the bytes that each node may read from now on, 0 if one of them has none.
fn fill_files(
    study_run: &mut StudyRun<'_>,
    options: &ScaleOptions,
    groups: &[Requests],
    nodes: &mut dyn Nodes,
    (site, size_bytes): (Site<'_>, u64),
) -> Result<u64, Problem> {
    let limit_s = if options.size_bytes.is_some() { None } else { Some(FILL_S) };
    let mut row = question_file::row(site.io_mode, site.file, size_bytes, limit_s);
    let segments = groups.iter().find_map(|group| Segments::of(options, group));
    let fillers = if options.shared && segments.is_none() { 1 } else { options.nodes.most() };
    if let Some(segments) = segments {
        row.command.extend(segments.words(fillers, size_bytes));
        row.command.push(format!("--bs={}", segments.transfer_bytes));
    }
    let row = study_run.run_row_on(nodes, fillers, row, StopRule::AsWritten, site.work)?;
    let record = study_run.study.rows[row].run.as_ref();
    let jobs = || record.into_iter().flat_map(|run| &run.jobs);
    if jobs().any(|job| job.error.is_some()) {
        return Ok(0);
    }
    // All files get the length of the shortest one, so that every step does the same work.
    let least = jobs().map(|job| job.directions.write.bytes >> 20 << 20).min().unwrap_or(0);
    if least < size_bytes && least > 0 {
        let why = "a node wrote no more in the first seconds";
        let text = question_file::smaller("each file", [least, size_bytes], why);
        study_run.note(question_file::SIZE_ADAPTED, Severity::Info, text);
    }
    Ok(least)
}

pub(crate) fn take_steps(
    study_run: &mut StudyRun<'_>,
    options: &ScaleOptions,
    groups: &[Requests],
    nodes: &mut dyn Nodes,
    target: FilledTarget<'_>,
) -> Result<(), Problem> {
    let turns = turns(options.runtime_s);
    let timing = Timing::of_runtime(options.runtime_s).split(turns);
    let steps = options.nodes.list();
    let stop_rule = if options.wear_out { StopRule::WearOut } else { StopRule::AsWritten };
    for group in groups {
        for round in 0..turns {
            for step in order_of_round(round, steps.len()) {
                if study_run.stopped() {
                    return Ok(());
                }
                let count = steps[step];
                let pattern = format!("{}-n{count}", group.pattern());
                let title = format!("{}, {}", group.title(), counted(u64::from(count), "node"));
                let mut command = group.line(&pattern, target.among(count), timing, options.iodepth);
                if let Some(segments) = Segments::of(options, group) {
                    command.extend(segments.words(count, target.size_bytes));
                } else if options.shared {
                    // With fio's fixed seed all nodes would read the same offsets, and the server's memory would answer.
                    command.push("--randrepeat=0".to_owned());
                }
                let row = planned_row(0, &pattern, &title, round, command);
                study_run.run_row_in(nodes, count, row, stop_rule, target.work)?;
            }
        }
    }
    crate::sweep::judge_points_whole(&mut study_run.study);
    Ok(())
}

#[cfg(test)]
mod tests;
