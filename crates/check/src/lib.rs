//! `check`: judges whether a storage meets a published requirement. A profile contains the tests, the limits and their
//! sources.
//!
//! It uses `guide` like any other question: it runs jobs and phases in a work directory and returns a
//! [`fsdyno_results::Study`]. Nothing here prints.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_guide::Problem;
use fsdyno_guide::study::{Caller, Place, StudyRun};
use fsdyno_guide::work_directory::{SpaceNeeds, WorkDirectory};
use fsdyno_results::evidence::Space;
use fsdyno_results::{Question, Severity, Study};
use fsdyno_stats::sort;

mod estimate;
mod gate;
mod ground;
mod judge;
mod library;
mod line;
mod metric;
mod profile;
mod reach;
mod session;
mod trial;

pub use ground::StoreUse;
pub use library::{Library, LibraryProfile};
pub use line::Shortening;
pub use profile::{Profile, Source};

use ground::Ground;
use judge::Factors;
use profile::Work;
use session::Session;

/// The options of `check`.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Names of profiles, in the order in which they are checked.
    pub profiles: Vec<String>,
    /// What is made shorter than the vendor's test.
    pub shortening: Shortening,
    /// Measuring time after which an undecided test is not repeated any more, s; `None`: six times its first run, and at
    /// least 30 s.
    pub cap_s: Option<u64>,
    /// The tier that was bought, or the planned size: its figures are judged, others are references.
    pub tier: Option<String>,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
    /// How an object store is used; `None`: this build has none.
    pub store: Option<StoreUse>,
}

/// Checks one place.
///
/// # Errors
/// When a profile is not known, or the place cannot be used; nothing is left there then.
pub fn check(place: &Place, options: &CheckOptions, library: &Library, caller: Caller<'_>) -> Result<Study, Problem> {
    let profiles: Vec<&Profile> =
        options.profiles.iter().map(|name| Ok(&library.find(name)?.profile)).collect::<Result<_, Problem>>()?;
    check_tier(&profiles, options.tier.as_deref())?;
    let is_store = ground::is_store(&place.path);
    ground::check_kind(&profiles, &place.name, is_store)?;
    if let Some(store) = options.store.filter(|_| is_store) {
        return check_store(place, &profiles, options, store, caller);
    }
    if let Some(expected) = &options.expected {
        // Checked here as well: gates are judged before the work directory, which would check it, is made.
        caller.watcher.looks(&place.path);
        fsdyno_guide::work_directory::expect_type(&place.path, expected)?;
    }
    let places = std::slice::from_ref(place);
    let mut study_run = StudyRun::begin(Question::Check, places, caller);
    let (factors, control) = (factors(&study_run.study), Arc::clone(&study_run.control));
    let mut session = Session::new(&mut study_run, options, factors);
    let open = session.look(&profiles, &place.path);
    let need = space_needs(&open, &place.path, options)?;
    let mut shortened = false;
    // If all profiles have their verdicts already, nothing is written; a place that cannot be used is still an error.
    if !open.is_empty() || !place.path.is_dir() {
        let smaller = "free some space, or make the files smaller with --size-cap (then it is not the vendor's test)";
        let work = WorkDirectory::open(&place.path, options.expected.as_deref(), need, &control)
            .map_err(|problem| if problem.is_too_large { problem.with_next(smaller) } else { problem })?;
        session.run(&open, Ground::Directory(&work))?;
        shortened = session.shortened;
        study_run.remove_work_directory(work);
    }
    Ok(finished(study_run, options, shortened))
}

/// The study with its verdicts in the order in which profiles were named.
fn finished(mut study_run: StudyRun<'_>, options: &CheckOptions, shortened: bool) -> Study {
    fsdyno_guide::smallfiles::judge_passes(&mut study_run.study);
    let place_of = |name: &str| options.profiles.iter().position(|asked| asked == name);
    sort::by_key(&mut study_run.study.verdicts, |answer| place_of(&answer.requirement.profile));
    note_conditions(&mut study_run, shortened);
    study_run.finish()
}

/// Checks one bucket.
fn check_store(
    place: &Place,
    profiles: &[&Profile],
    options: &CheckOptions,
    store: StoreUse,
    caller: Caller<'_>,
) -> Result<Study, Problem> {
    let tier = options.tier.as_deref();
    let (asked, requests_max) = ground::asked_of_store(profiles, tier, options.shortening, store)?;
    let mut study_run = StudyRun::begin(Question::Check, std::slice::from_ref(place), caller);
    let factors = factors(&study_run.study);
    let mut shortened = false;
    (store.with_objects)(&mut study_run, place, &asked, &mut |study_run, objects, ask| {
        let mut session = Session::new(study_run, options, factors);
        session.run(profiles, Ground::Objects(objects, ask, requests_max))?;
        shortened = session.shortened;
        Ok(())
    })?;
    Ok(finished(study_run, options, shortened))
}

/// Notes conditions that concern every figure, such as a shortening. A shortening may have had no effect on a test
/// (small files are never fewer); each figure that is concerned says so.
fn note_conditions(study_run: &mut StudyRun<'_>, shortened: bool) {
    if shortened && !study_run.study.rows.is_empty() {
        let text = "runs or files were made shorter than the profiles say: these are not the vendors' tests";
        study_run.note("shortened", Severity::Info, text);
    }
}

/// Time that a profile's tests take in their original form, s, and whether some end by bytes instead.
pub fn nominal_seconds(profile: &Profile) -> (u64, bool) {
    let seconds = |test: &profile::Test| match &test.work {
        Work::Line(words) => line::seconds(words),
        Work::SmallFiles | Work::Requests(_) => None,
    };
    let times: Vec<Option<u64>> = profile.tests.iter().map(seconds).collect();
    (times.iter().flatten().sum(), times.contains(&None))
}

/// Refuses a tier that no profile has.
fn check_tier(profiles: &[&Profile], tier: Option<&str>) -> Result<(), Problem> {
    let Some(tier) = tier else { return Ok(()) };
    let known: Vec<&str> = profiles.iter().flat_map(|profile| profile.tiers()).collect();
    if known.contains(&tier) {
        return Ok(());
    }
    let next = match &known[..] {
        [] => "none of these profiles has tiers: leave --tier out".to_string(),
        known => format!("these profiles have {}", known.join(", ")),
    };
    Err(Problem::new(format!("there is no tier `{tier}`")).with_next(next))
}

fn factors(study: &Study) -> Factors {
    let space = study.targets.first().and_then(|target| target.storage.space.value());
    let in_memory = study.targets.first().is_some_and(|target| target.storage.in_memory().is_some());
    Factors {
        in_memory,
        vcpus: study.host.cpus,
        filesystem_bytes: space.map(|Space { total_bytes, .. }| *total_bytes).filter(|bytes| *bytes > 0),
    }
}

/// The largest space that the tests of a single profile need: files are removed before the next profile begins.
fn space_needs(profiles: &[&Profile], path: &Path, options: &CheckOptions) -> Result<SpaceNeeds, Problem> {
    let mut most = SpaceNeeds::default();
    for profile in profiles {
        let mut files: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for test in profile.tests_of(options.tier.as_deref()) {
            let Work::Line(words) = &test.work else {
                let small = fsdyno_guide::smallfiles::SmallFilesOptions::default().space_needs();
                files.insert(path.join("files"), small.bytes);
                most.inodes = most.inodes.max(small.inodes);
                continue;
            };
            for (file, bytes) in line::prepare(words, path, &ground::shared_file(path), options.shortening)?.files {
                let largest = files.entry(file).or_default();
                *largest = bytes.max(*largest);
            }
        }
        most.bytes = most.bytes.max(files.values().sum());
        most.inodes = most.inodes.max(files.len() as u64);
    }
    Ok(most)
}
