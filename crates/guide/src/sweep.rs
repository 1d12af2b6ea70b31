//! `sweep`: throughput and latency by depth and block size. Points are repeated in turns, so that variation between
//! runs shows; the knee is the depth after which only latency grows.

use fsdyno_results::{Figures, Question, Row, Severity, Study};
use fsdyno_run::StopRule;
use fsdyno_stats::order_of_round;
use fsdyno_text::quantity::{counted, number};

use crate::io_mode::RequestedIoMode;
use crate::question_file::FilledTarget;
use crate::requests::{Requests, Timing, duration};
use crate::study::{Caller, Place, StudyRun, job_path, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory};
use crate::{Problem, question_file};

mod depths;
mod knee;

pub use depths::Depths;
pub(crate) use knee::loads_of;

/// The options of `sweep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepOptions {
    /// The iodepth of each point.
    pub depths: Depths,
    /// Block sizes in fio's words.
    pub block_sizes: Vec<String>,
    /// `rw` in fio's words.
    pub accesses: Vec<String>,
    /// Measuring time of a point over all its turns, s.
    pub runtime_s: u32,
    /// Bytes of the file; `None`: fitted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
    /// The engine and direct I/O that were asked for.
    pub wanted: RequestedIoMode,
}

/// The largest file unless another size is asked for, bytes, and the time limit of its fill, s.
pub(crate) const FILE_BYTES: u64 = 1 << 30;
pub(crate) const FILL_S: u32 = 8;

/// Sweeps one place.
///
/// # Errors
/// When the place cannot be used or the words make no job; nothing is left there then.
pub fn sweep(place: &Place, options: &SweepOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    let groups = groups(&options.accesses, &options.block_sizes)?;
    groups.iter().try_for_each(Requests::check_of_files)?;
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::Sweep, places, caller);
    let size_bytes = question_file::largest(&mut study_run, &place.path, options.size_bytes, FILE_BYTES);
    check_blocks(&groups, size_bytes)?;
    let need = SpaceNeeds::bytes(size_bytes);
    let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &study_run.control)?;
    let io_mode = crate::io_mode::of_place(&mut study_run, 0, options.wanted)?;
    let points = groups.len() * options.depths.list().len();
    announce(&mut study_run, options, points, "the file is");
    let (file, engine) = (job_path(&work.file("sweep.dat")), io_mode.words());
    // A file whose size was asked for is filled completely; else filling ends after FILL_S, and the points use what is
    // there.
    let fill_s = if options.size_bytes.is_some() { None } else { Some(FILL_S) };
    let filled = question_file::fill(
        &mut study_run,
        question_file::row(&io_mode, &file, size_bytes, fill_s),
        size_bytes,
        &work,
    )?;
    if filled > 0 {
        check_blocks(&groups, filled)?;
        let site =
            FilledTarget { engine: &engine, file: &file, size_bytes: filled, work: Some(&work), requests_max: 0 };
        take_points(&mut study_run, options, &groups, site)?;
        judge_points_whole(&mut study_run.study);
    }
    study_run.remove_work_directory(work);
    // Without a file nothing was measured.
    if filled > 0 {
        study_run.study.sentences = conclusions(&study_run.study, &groups);
    }
    Ok(study_run.finish())
}

/// A sentence for each kind of request: which depth to use.
pub(crate) fn conclusions(study: &Study, groups: &[Requests]) -> Vec<String> {
    groups.iter().map(|group| knee::sentence(study, group)).collect()
}

/// The requests of every `rw` with every block size, without duplicates.
pub(crate) fn groups(accesses: &[String], block_sizes: &[String]) -> Result<Vec<Requests>, Problem> {
    let mut groups: Vec<Requests> = Vec::new();
    for access in accesses {
        for block_size in block_sizes {
            let group = Requests::parse(access, block_size).map_err(Problem::new)?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    Ok(groups)
}

/// A file of fewer blocks has no offsets to choose from.
const LEAST_BLOCKS: u64 = 4;

/// Refuses block sizes that do not fit into the file.
pub(crate) fn check_blocks(groups: &[Requests], size_bytes: u64) -> Result<(), Problem> {
    match groups.iter().find(|group| group.largest_bytes.saturating_mul(LEAST_BLOCKS) > size_bytes) {
        None => Ok(()),
        Some(group) => Err(Problem::new(format!(
            "a file of {} MiB has fewer than {LEAST_BLOCKS} blocks of {}",
            size_bytes >> 20,
            group.block_size
        ))
        .with_next("use a larger --size, or a smaller --bs")),
    }
}

/// Least number of turns of a point: fewer do not show the variation.
const TURNS_MIN: u32 = 4;

/// Largest number of turns: more add little.
const TURNS_MAX: u32 = 12;

/// Measuring time of a turn where the runtime allows it: several windows of 100 ms, ms.
const TURN_MS: u32 = 600;

/// Number of turns of all points: even, so that the forward and the reverse order run equally often.
pub(crate) fn turns(runtime_s: u32) -> u32 {
    (runtime_s.saturating_mul(1000) / TURN_MS).clamp(TURNS_MIN, TURNS_MAX) / 2 * 2
}

/// Announces how long it takes, and how the points are repeated; `what`: that which is written before.
pub(crate) fn announce(study_run: &mut StudyRun<'_>, options: &SweepOptions, points: usize, what: &str) {
    let (whole, turns) = (Timing::of_runtime(options.runtime_s), turns(options.runtime_s));
    study_run.steps.1 = points * turns as usize + 1;
    let each = f64::from(whole.split(turns).runtime_ms) / 1e3;
    let all = duration(whole.seconds(points));
    let outline = format!(
        "{}, each {turns} times for {} s, alternating: up to {all} after {what} written",
        counted(points as u64, "point"),
        number(each)
    );
    study_run.watcher.outline(&outline);
    let text = format!(
        "each point ran {turns} times for {} s, every second round in reverse order. IOPS and MB/s are medians \
         of these runs, with the interval of the median",
        number(each)
    );
    study_run.note("turns", Severity::Info, text);
}

pub(crate) fn take_points(
    study_run: &mut StudyRun<'_>,
    options: &SweepOptions,
    groups: &[Requests],
    site: FilledTarget<'_>,
) -> Result<(), Problem> {
    let turns = turns(options.runtime_s);
    let timing = Timing::of_runtime(options.runtime_s).split(turns);
    let depths = options.depths.list();
    for group in groups {
        for round in 0..turns {
            for depth in order_of_round(round, depths.len()) {
                if study_run.stopped() {
                    return Ok(());
                }
                let row = closed_loop_row(group, depths[depth], site, timing, round);
                site.run(study_run, row, StopRule::AsWritten)?;
            }
        }
    }
    Ok(())
}

/// Judges whether a point was measured for long enough by all of its turns on a place together: each turn is short on
/// purpose.
pub(crate) fn judge_points_whole(study: &mut Study) {
    let patterns: Vec<String> = study.tests().into_iter().map(str::to_owned).collect();
    let points = patterns.iter().flat_map(|pattern| (0..study.targets.len()).map(move |target| (target, pattern)));
    for (target, pattern) in points.collect::<Vec<_>>() {
        let figures: Vec<Figures> = study.repeats(target, pattern).filter_map(Row::figures).collect();
        let runtime_ms = figures.iter().map(|figures| (figures.elapsed_s * 1e3).round() as u64).sum();
        if fsdyno_findings::is_too_short(runtime_ms, figures.iter().map(|figures| figures.total.operations).sum()) {
            continue;
        }
        for row in study.rows.iter_mut().filter(|row| row.target == target && row.pattern == *pattern) {
            row.findings.retain(|finding| finding.id != fsdyno_findings::TOO_SHORT);
            row.run.iter_mut().for_each(|run| run.findings.retain(|finding| finding.id != fsdyno_findings::TOO_SHORT));
        }
    }
}

/// The row of one turn with `depth` requests in flight.
fn closed_loop_row(requests: &Requests, depth: u32, site: FilledTarget<'_>, timing: Timing, round: u32) -> Row {
    let pattern = format!("{}-qd{depth}", requests.pattern());
    let title = format!("{}, {}", requests.title(), requests.at_once(depth));
    let command = requests.line(&pattern, site, timing, depth);
    planned_row(0, &pattern, &title, round, command)
}

/// Runs `depth` requests in flight until the rate has settled; returns the index of the row.
pub(crate) fn closed_loop(
    study_run: &mut StudyRun<'_>,
    requests: &Requests,
    depth: u32,
    site: FilledTarget<'_>,
    timing: Timing,
) -> Result<usize, Problem> {
    let rule = StopRule::Settled { least_s: 2.0, windows: 4, tolerance: 0.05 };
    site.run(study_run, closed_loop_row(requests, depth, site, timing, 0), rule)
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{Finding, JobRecord, JobSetup, RunRecord};

    use super::*;

    #[test]
    fn turns_are_judged_together() {
        let turn = |runtime_ms| {
            let mut job = JobRecord::new("randread-4k-qd1", 1, JobSetup::default());
            (job.directions.read.ios, job.directions.read.runtime_ms) = (100, runtime_ms);
            let mut run = RunRecord::new("test", 0);
            run.jobs = vec![job];
            run.findings = vec![Finding::new(fsdyno_findings::TOO_SHORT, Severity::Caution, "short", "longer")];
            let row = Study::of_run(run.clone()).rows.remove(0);
            Row { pattern: "randread-4k-qd1".into(), findings: run.findings.clone(), ..row }
        };
        let trust = |turns: &[u64]| {
            let mut study = Study::of_run(RunRecord::new("test", 0));
            // A second place, all of whose turns are too short.
            study.targets.push(study.targets[0].clone());
            study.rows = turns.iter().map(|runtime_ms| turn(*runtime_ms)).collect();
            study.rows.push(Row { target: 1, ..turn(90) });
            judge_points_whole(&mut study);
            study.rows.iter().map(|row| row.findings.len() + row.run.as_ref().unwrap().findings.len()).sum::<usize>()
        };
        assert_eq!([trust(&[625; 8]), trust(&[250, 250])], [2, 6]);
    }

    #[test]
    fn the_time_decides_on_the_turns() {
        assert_eq!([1, 2, 3, 5, 60].map(turns), [4, 4, 4, 8, 12]);
    }
}
