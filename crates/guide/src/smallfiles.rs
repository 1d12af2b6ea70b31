//! `smallfiles`: metadata operations and small files. First the published 10 s rule (1,001 files of 5 bytes, written
//! and read), then the operations that decide how fast a git server, a mail store or a build is.

use fsdyno_os::caches::{SWITCH, may_be_dropped};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{Question, Severity, Study};
use fsdyno_text::quantity::count;

use crate::Problem;
use crate::nodes::{Nodes, ThisMachine};
use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::work_directory::{WorkDirectory, reason};

mod node_role;
mod options;
mod passes;
mod phase_on_nodes;
mod phases;
pub(crate) mod relay;
mod rows;
mod rule;
mod sentences;
mod shell;
mod suite;

pub use fsdyno_run::metadata::phase_counters::PhaseCounters;
pub use node_role::NodeRole;
pub use options::{BRANCH_MAX, DEPTH_MAX, FILES_MAX, SIZE_BYTES_MAX, SmallFilesOptions, THREADS_MAX};
pub use phase_on_nodes::PhaseOrder;
pub(crate) use phases::named;
pub use phases::{SmallFilesPhase, WholeFile, of_whole_files};
pub(crate) use rows::Rows;
pub use rows::judge_passes;
pub use suite::{PhaseResult, Suite};

/// Number of passes over all phases, each on new files, if they stay within [`PASSES_S`]. Only repetition shows how
/// reliable a figure of a few milliseconds is. The figures are medians.
pub const PASSES: u32 = 3;

/// Another pass begins only if all passes will then have taken at most this time, s.
pub const PASSES_S: f64 = 60.0;

/// Runs the phases on one place, on all nodes at once.
///
/// # Errors
/// When the place cannot be used, or an option needs what this machine does not allow; nothing is left there then.
pub fn smallfiles(
    place: &Place,
    options: &SmallFilesOptions,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    if options.drop_caches {
        check_drop()?;
    }
    if options.files > FILES_MAX {
        let text = format!("{} files are more than {}", count(options.files.into()), count(FILES_MAX.into()));
        return Err(Problem::new(text).with_next("use a smaller --files-per-dir, --branch or --depth"));
    }
    let role = nodes.role();
    if options.literal && role.ranks > 1 {
        return Err(Problem::new("--literal runs the loops of one shell, and several nodes are asked")
            .with_next("leave out --literal, or ask one node without a launcher"));
    }
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::SmallFiles, places, caller);
    let work =
        WorkDirectory::open(&place.path, options.expected.as_deref(), options.space_needs(), &study_run.control)?;
    let mut rows = Rows::new(0, nodes);
    run_passes(&mut study_run, &work, &mut rows, options, role)?;
    rows.note_cuts(&mut study_run, options.limit_s);
    judge_passes(&mut study_run.study);
    // The published rule is for one client.
    let published = options.is_published() && role.ranks == 1;
    rule::judge(&mut study_run.study, published);
    let shell_ns = if published { shell_cost(&mut study_run) } else { None };
    let mount = fsdyno_probe::mount_of(work.directory()).ok();
    study_run.study.sentences = sentences::of(&study_run.study, mount.as_ref(), shell_ns);
    let is_shared = options.shared && role.ranks > 1;
    let of_nodes = sentences::of_nodes(&study_run.study, role.ranks, is_shared);
    study_run.study.sentences.splice(0..0, of_nodes);
    study_run.remove_work_directory(work);
    Ok(study_run.finish())
}

/// Runs all phases as often as [`PASSES`] says.
fn run_passes(
    study_run: &mut StudyRun<'_>,
    work: &WorkDirectory,
    rows: &mut Rows<'_>,
    options: &SmallFilesOptions,
    role: NodeRole,
) -> Result<(), Problem> {
    let steps = 2 + if options.literal { 2 } else { 0 } + phases::METADATA.len();
    study_run.steps.1 = steps * PASSES as usize;
    let (clock, mut counters) = (RealClock::shared(), None);
    let began_ns = clock.now_ns();
    for round in 0..PASSES {
        let spent_s = clock.now_ns().saturating_sub(began_ns) as f64 / 1e9;
        if round > 0 && (study_run.stopped() || !may_repeat(spent_s, round)) {
            break;
        }
        if round > 0 {
            study_run.empty(work)?;
        }
        rows.round = round;
        let mut suite = make_suite(work, options, role, study_run)?.with_counters(counters);
        if round == 0 {
            suite.watch_others(&study_run.control);
        }
        run_pass(study_run, work, rows, &mut suite)?;
        // The suite holds its directory open; Windows could not remove it.
        counters = Some(suite.into_counters());
    }
    study_run.steps.1 = study_run.steps.0;
    Ok(())
}

/// Whether one more pass would stay within [`PASSES_S`], if it takes the mean time of the `passes` before.
pub fn may_repeat(spent_s: f64, passes: u32) -> bool {
    passes < PASSES && spent_s + spent_s / f64::from(passes.max(1)) <= PASSES_S
}

/// Runs all phases once.
fn run_pass(
    study_run: &mut StudyRun<'_>,
    work: &WorkDirectory,
    rows: &mut Rows<'_>,
    suite: &mut Suite,
) -> Result<(), Problem> {
    rows.run(study_run, suite, &phases::WRITE)?;
    rows.run(study_run, suite, &phases::READ)?;
    if suite.options.literal {
        run_loops(study_run, work, rows.round)?;
    }
    for phase in &phases::METADATA {
        if study_run.stopped() {
            break;
        }
        work.check()?;
        rows.run(study_run, suite, phase)?;
    }
    work.check()
}

/// Checks that the caches may be dropped.
///
/// # Errors
/// When they may not, with the reason.
fn check_drop() -> Result<(), Problem> {
    may_be_dropped().map_err(|error| {
        Problem::new(format!("--drop-caches cannot write {SWITCH}: {}", reason(&error)))
            .with_next("run as root of the machine (not of a container), or leave out --drop-caches")
    })
}

/// One native pass of the published rule's write and read, for the check of the rule; returns both rows. `counters`: the
/// one of the previous pass; `None`: this is the first.
///
/// # Errors
/// When the files' directory cannot be made.
pub fn write_and_read(
    study_run: &mut StudyRun<'_>,
    work: &WorkDirectory,
    round: u32,
    counters: &mut Option<PhaseCounters>,
) -> Result<[usize; 2], Problem> {
    let is_first = counters.is_none();
    let suite = make_suite(work, &SmallFilesOptions::default(), NodeRole::ALONE, study_run)?;
    let mut suite = suite.with_counters(counters.take());
    if is_first {
        suite.watch_others(&study_run.control);
    }
    let mut nodes = ThisMachine;
    let mut rows = Rows::new(0, &mut nodes);
    rows.round = round;
    let both = [&phases::WRITE, &phases::READ].map(|phase| rows.run(study_run, &mut suite, phase));
    *counters = Some(suite.into_counters());
    let [write, read] = both;
    work.check()?;
    Ok([write?, read?])
}

fn make_suite(
    work: &WorkDirectory,
    options: &SmallFilesOptions,
    role: NodeRole,
    study_run: &mut StudyRun<'_>,
) -> Result<Suite, Problem> {
    Suite::new(work.open_directory(), options.clone(), role, &mut |path| study_run.watcher.looks(path))
}

/// Runs the published shell loops unchanged, in a directory of their own.
fn run_loops(study_run: &mut StudyRun<'_>, work: &WorkDirectory, round: u32) -> Result<(), Problem> {
    study_run.watcher.looks(&work.file("shell"));
    let directory = work.open_directory().make("shell").map_err(|error| Problem::new(error.to_string()))?;
    let loops =
        [("shell-write", "write, shell loop", shell::WRITE_LOOP), ("shell-read", "read, shell loop", shell::READ_LOOP)];
    for (index, (pattern, title, script)) in loops.into_iter().enumerate() {
        if study_run.stopped() {
            break;
        }
        let mut row = planned_row(0, pattern, title, round, shell::words(script));
        let step = study_run.begin_step(0, title);
        match shell::run(script, Some(&directory), &study_run.control) {
            Ok(looped) => {
                study_run.watcher.looks(directory.path());
                let (missing, cache) = if index == 0 { (shell::missing(&directory), None) } else { (0, Some("hot")) };
                study_run.watcher.looked();
                row.phase = Some(shell::record(pattern, looped, missing, cache));
            }
            // A signal ended the loop: there is no time to show.
            Err(_) if study_run.stopped() => {}
            Err(problem) => return Err(problem),
        }
        study_run.end_step(&step, row);
    }
    Ok(())
}

/// The time of the published loops without any storage, ns; without bash a note says so.
fn shell_cost(study_run: &mut StudyRun<'_>) -> Option<[u64; 2]> {
    if study_run.stopped() {
        return None;
    }
    match shell::cost_ns(&study_run.control) {
        Ok(cost_ns) => Some(cost_ns),
        Err(_) if study_run.stopped() => None,
        Err(problem) => {
            let text = format!("the cost of the published shell loops could not be measured: {}", problem.what);
            study_run.note("shell-cost", Severity::Caution, text);
            None
        }
    }
}

#[cfg(test)]
mod tests;
