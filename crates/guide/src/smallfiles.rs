//! `smallfiles`: metadata operations and small files. The published 10 s rule first (1,001 files of 5 bytes
//! written and read), then the operations that decide how a git server, a mail store or a build feels.

use engine::caches::{SWITCH, may_be_dropped};
use results::{PhaseRecord, Question, Row, Severity, Study};

use crate::Problem;
use crate::nodes::{Nodes, ThisMachine};
use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::work_directory::{WorkDirectory, reason};

mod joint;
mod options;
mod phases;
mod relay;
mod rows;
mod rule;
mod sentences;
mod shell;
mod standing;
mod suite;

pub use joint::PhaseOrder;
pub use options::{DEPTH_MAX, FILES_MAX, Options, SIZE_BYTES_MAX, THREADS_MAX};
pub use phases::Phase;
use rows::Rows;
pub use standing::Standing;
pub use suite::{Done, Suite};

/// Asks one place, all nodes at once.
///
/// # Errors
/// When the place cannot be used, or an option asks for what this machine does not allow; nothing is left there then.
pub fn smallfiles(
    place: &Place,
    options: &Options,
    nodes: &mut dyn Nodes,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    if options.drop_caches {
        check_drop()?;
    }
    let standing = nodes.standing();
    if options.literal && standing.ranks > 1 {
        return Err(Problem::new("--literal runs the loops of one shell, and several nodes are asked")
            .with_next("leave out --literal, or ask one node without a launcher"));
    }
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::SmallFiles, places, caller);
    let work =
        WorkDirectory::open(&place.path, options.expected.as_deref(), options.space_needs(), &study_run.control)?;
    let suite = make_suite(&work, options, standing, &mut study_run)?;
    let mut phases = Rows::new(0, suite, nodes);
    let loops = if options.literal { 2 } else { 0 };
    study_run.steps.1 = 2 + loops + phases::METADATA.len();
    let mut rows = vec![phases.run(&mut study_run, &phases::WRITE)?, phases.run(&mut study_run, &phases::READ)?];
    if options.literal {
        rows.extend(run_loops(&mut study_run, &work)?);
    }
    for phase in &phases::METADATA {
        if study_run.stopped() {
            break;
        }
        work.check()?;
        phases.run(&mut study_run, phase)?;
    }
    work.check()?;
    phases.note_cuts(&mut study_run);
    // The rule is about one client.
    let published = options.is_published() && standing.ranks == 1;
    rule::judge(&mut study_run.study, &rows, published);
    let shell_ns = if published { shell_cost(&mut study_run) } else { None };
    let suite = &phases.suite;
    study_run.study.sentences = sentences::of(&study_run.study, suite.mount(), shell_ns);
    let of_nodes = sentences::of_nodes(&study_run.study, standing.ranks, suite.is_shared());
    study_run.study.sentences.splice(0..0, of_nodes);
    // It holds its directory open, which Windows does not remove then.
    drop(phases);
    study_run.remove_work_directory(work);
    Ok(study_run.finish())
}

/// Whether the caches may be dropped at all.
///
/// # Errors
/// When they may not, with the reason.
fn check_drop() -> Result<(), Problem> {
    may_be_dropped().map_err(|error| {
        Problem::new(format!("--drop-caches cannot write {SWITCH}: {}", reason(&error)))
            .with_next("run as root of the machine (not of a container), or leave out --drop-caches")
    })
}

/// The native write and read of the published rule, for a check of it: the rows of both.
///
/// # Errors
/// When the files' directory cannot be made.
pub fn write_and_read(
    study_run: &mut StudyRun<'_>,
    target: usize,
    work: &WorkDirectory,
) -> Result<[usize; 2], Problem> {
    let suite = make_suite(work, &Options::default(), Standing::ALONE, study_run)?;
    let mut nodes = ThisMachine;
    let mut phases = Rows::new(target, suite, &mut nodes);
    let rows = [phases.run(study_run, &phases::WRITE)?, phases.run(study_run, &phases::READ)?];
    work.check()?;
    Ok(rows)
}

fn make_suite(
    work: &WorkDirectory,
    options: &Options,
    standing: Standing,
    study_run: &mut StudyRun<'_>,
) -> Result<Suite, Problem> {
    Suite::new(work.held(), options.clone(), standing, &mut |path| study_run.watcher.looks(path))
}

/// The page's shell loops as they stand, in a directory of their own: their rows.
fn run_loops(study_run: &mut StudyRun<'_>, work: &WorkDirectory) -> Result<Vec<usize>, Problem> {
    study_run.watcher.looks(&work.file("shell"));
    let directory = work.held().make("shell").map_err(|error| Problem::new(error.to_string()))?;
    let mut rows = Vec::new();
    let loops =
        [("shell-write", "write, shell loop", shell::WRITE_LOOP), ("shell-read", "read, shell loop", shell::READ_LOOP)];
    for (index, (pattern, title, script)) in loops.into_iter().enumerate() {
        if study_run.stopped() {
            break;
        }
        let mut row = planned_row(0, pattern, title, 0, shell::words(script));
        let step = study_run.begin_step(0, title);
        match shell::run(script, Some(&directory), &study_run.control) {
            Ok(looped) => {
                study_run.watcher.looks(directory.path());
                let (missing, cache) = if index == 0 { (shell::missing(&directory), None) } else { (0, Some("hot")) };
                study_run.watcher.looked();
                row.phase = Some(shell::record(pattern, looped, missing, cache));
            }
            // Ended by a signal: there is no time to show.
            Err(_) if study_run.stopped() => {}
            Err(problem) => return Err(problem),
        }
        study_run.end_step(&step, row);
        rows.push(study_run.study.rows.len() - 1);
    }
    Ok(rows)
}

/// What the page's loops cost without any storage, ns; without bash the study says so.
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

/// The phase of a row that ran.
fn phase_of<'a>(study: &'a Study, pattern: &str) -> Option<&'a PhaseRecord> {
    let row: &Row = study.rows.iter().find(|row| row.pattern == pattern)?;
    row.phase.as_ref().filter(|phase| phase.operations > 0)
}

#[cfg(test)]
mod tests;
