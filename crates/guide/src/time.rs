//! `time`: how long does a command of the user's take on each storage? It runs in a fresh directory on each place,
//! always from the same start, in rounds that take turns like those of a comparison. One more run in memory shows how
//! much of the time is not due to the storage.

use std::path::Path;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::evidence::{InMemory, StorageClass};
use fsdyno_results::{Question, Severity, Study, TreeRecord};
use fsdyno_stats::{WINNER_ROUNDS, order_of_round};

use crate::Problem;
use crate::rounds::{enough, even};
use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::work_directory::{SpaceNeeds, WorkDirectory, is_nearly_full};

mod layers;
mod notes;
mod options;
mod recipe;
mod run;
mod start;

use layers::Layers;
pub use options::{Cache, Memory, Start, TimeOptions, TimedCommand};
pub use recipe::Recipe;
use run::TimedRun;

/// The usual directory in memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// The name of the run in memory.
const REFERENCE: &str = "(memory)";

/// A target with its work directory and the counters of its storage.
struct Site {
    work: WorkDirectory,
    layers: Layers,
    class: StorageClass,
}

/// Times the commands on the places; the first is the baseline.
///
/// # Errors
/// When a place cannot be used, or the files that a run begins with cannot be made; nothing is left on any place then.
pub fn time(places: &[Place], options: &TimeOptions, caller: Caller<'_>) -> Result<Study, Problem> {
    if let Some(why) = fsdyno_os::process_tree::missing() {
        return Err(Problem::new(why).with_next("use `fsdyno compare` for the storages themselves"));
    }
    crate::compare::check_names(places)?;
    let mut places = places.to_vec();
    let wanted = places.len();
    places.extend(reference(&options.memory));
    let mut study_run = StudyRun::begin(Question::Time, &places, caller);
    let need = SpaceNeeds::bytes(options.start.need_bytes()?);
    let mut sites = Vec::new();
    for (target, place) in places.iter().enumerate() {
        let expected = place.expected_type(&options.expected);
        study_run.watcher.looks(&place.path);
        let storage = &mut study_run.study.targets[target];
        storage.reference = target >= wanted;
        let refused = match (storage.reference, storage.storage.class) {
            (true, class) if class != StorageClass::Memory => {
                Some(format!("{} is not in memory", place.path.display()))
            }
            _ => None,
        };
        let made = match refused {
            Some(refused) => Err(Problem::new(refused)),
            None => work_directory(&place.path, expected, need, &study_run),
        };
        match made {
            Ok(work) => {
                let target = &study_run.study.targets[target];
                sites.push(Site { work, layers: Layers::begin(target), class: target.storage.class });
            }
            Err(problem) if target >= wanted => without_reference(&mut study_run, &problem.what),
            Err(problem) => return Err(problem),
        }
    }
    if wanted < places.len() && all_in_memory(&study_run.study) && options.memory == Memory::Usual {
        sites.truncate(wanted);
        study_run.study.targets.truncate(wanted);
    }
    notes::environment(&mut study_run, options);
    notes::free_space_in_pieces(&mut study_run, &sites);
    if let Some(about) = &options.about {
        study_run.note("recipe", Severity::Info, about);
    }
    let outcome = run_rounds(&mut study_run, &mut sites, options);
    for site in sites {
        study_run.remove_work_directory(site.work);
    }
    if let Some(reason) = outcome? {
        study_run.note("rounds", Severity::Info, reason);
    }
    for (row, finding) in fsdyno_findings::between_commands(&study_run.study) {
        study_run.study.rows[row].findings.push(finding);
    }
    notes::first_runs(&mut study_run);
    notes::what_it_printed(&mut study_run);
    Ok(study_run.finish())
}

/// Makes the work directory on a place. How much a command will write is unknown: on a nearly full filesystem it would
/// be slower, or fail.
fn work_directory(
    path: &Path,
    expected: Option<&str>,
    need: SpaceNeeds,
    study_run: &StudyRun<'_>,
) -> Result<WorkDirectory, Problem> {
    let next = "free some space there, or name a directory on another filesystem";
    if is_nearly_full(path) {
        let what = format!("the filesystem of {} is nearly full, and gets slower as it fills up", path.display());
        return Err(Problem::new(what).with_next(next));
    }
    let made = WorkDirectory::open(path, expected, need, &study_run.control);
    made.map_err(|problem| if problem.is_too_large { problem.with_next(next) } else { problem })
}

/// The directory in memory as a place; `None`: there is none.
fn reference(memory: &Memory) -> Option<Place> {
    let path = match memory {
        Memory::Nowhere => return None,
        Memory::At(path) => path,
        Memory::Usual => Path::new(SHARED_MEMORY),
    };
    Some(Place { name: REFERENCE.to_owned(), ..Place::at(path) })
}

fn without_reference(study_run: &mut StudyRun<'_>, why: &str) {
    study_run.study.targets.pop();
    let text = format!("there is no run in memory to compare with, so that the share of the storage is unknown: {why}");
    study_run.note("no-reference", Severity::Info, text);
}

/// Whether all places are in memory already: then no reference is needed.
fn all_in_memory(study: &Study) -> bool {
    study.targets.iter().all(|target| target.storage.in_memory() == Some(InMemory::All))
}

/// Runs rounds until there are enough; returns why they ended, where that differs from what was asked for.
fn run_rounds(
    study_run: &mut StudyRun<'_>,
    sites: &mut Vec<Site>,
    options: &TimeOptions,
) -> Result<Option<String>, Problem> {
    let is_compared = study_run.study.targets.iter().filter(|target| !target.reference).count() > 1;
    let most = if is_compared { WINNER_ROUNDS.1 } else { WINNER_ROUNDS.0 };
    let cap = options.rounds.map_or(most, even);
    for round in 0..cap {
        let planned = cap.min(WINNER_ROUNDS.0).max(even(round + 1)) - round;
        study_run.steps.1 = study_run.steps.0 + sites.len() * planned as usize;
        for target in order_of_round(round, sites.len()) {
            if study_run.stopped() {
                return Ok(Some(format!("stopped by a signal in round {round}")));
            }
            // The reference, which is the last site, may have been given up meanwhile.
            let Some(site) = sites.get_mut(target) else { continue };
            let began_ns = RealClock::shared().now_ns();
            let failed = take_turn(study_run, site, target, round, options)?;
            if study_run.stopped() {
                // Stopped by the guard of a filesystem that fills up, or by a signal.
                sites.iter().try_for_each(|site| site.work.check())?;
            }
            study_run.step_ms = Some((RealClock::shared().now_ns() - began_ns) / 1_000_000);
            match failed {
                Some(why) if study_run.study.targets[target].reference => {
                    study_run.study.rows.retain(|row| row.target != target);
                    sites.pop().into_iter().for_each(|site| study_run.remove_work_directory(site.work));
                    without_reference(study_run, &format!("the command failed there: {why}"));
                }
                // A failed command may have done less work: its time cannot be compared.
                Some(why) => {
                    let name = &study_run.study.targets[target].name;
                    return Ok(Some(format!("ended in round {round}, as the command failed on {name}: {why}")));
                }
                None => {}
            }
        }
        if options.rounds.is_none()
            && is_compared
            && let Some(reason) = enough(&study_run.study, round + 1, cap, |rounds| rounds.rates().1)
        {
            return Ok(Some(reason));
        }
    }
    let one_more = options.rounds.is_some_and(|asked| asked < cap);
    Ok(one_more.then(|| format!("{cap} rounds, one more than requested, so that each path goes first equally often")))
}

/// Runs all phases on one target, from a fresh start; returns why one failed.
fn take_turn(
    study_run: &mut StudyRun<'_>,
    site: &mut Site,
    target: usize,
    round: u32,
    options: &TimeOptions,
) -> Result<Option<String>, Problem> {
    let title = options.phases.iter().map(|phase| phase.title.as_str()).collect::<Vec<_>>().join(", ");
    let step = study_run.begin_step(target, &title);
    let ground = start::begin(study_run, site, options, &step)?;
    let mut idle_bytes_per_s = None;
    for (index, phase) in options.phases.iter().enumerate() {
        let Some(cache) = start::arrange(study_run, &ground, options, &step)? else { return Ok(None) };
        if index == 0 {
            idle_bytes_per_s = site.layers.idle_bytes_per_s();
        }
        let mut row = planned_row(target, &phase.name, &phase.title, round, phase.words.clone());
        let Some(TimedRun { phase: record, tree }) =
            run::measured(study_run, &ground, &mut site.layers, phase, options, &step)?
        else {
            return Ok(None);
        };
        site.work.check()?;
        let tree = TreeRecord { foreign_bytes_per_s: idle_bytes_per_s, ..tree };
        let failed = record.error.as_ref().map(|error| error.text.clone());
        row.phase = Some(fsdyno_results::PhaseRecord { cache: Some(cache), ..record });
        row.tree = Some(tree);
        row.findings = fsdyno_findings::of_command(&study_run.study.targets[target], &row);
        if failed.is_some() && study_run.study.targets[target].reference {
            return Ok(failed);
        }
        study_run.end_step(&step, row);
        if failed.is_some() {
            return Ok(failed);
        }
    }
    start::conclude(study_run, &ground, options, &step)?;
    Ok(None)
}
