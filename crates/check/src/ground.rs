//! Where the tests of a check do their work: in a directory, or with the objects of a store.

use std::path::{Path, PathBuf};

use fsdyno_guide::Problem;
use fsdyno_guide::object_check::{AskPlain, AskedObjects, CheckedObjects, ObjectFunction, WithObjects};
use fsdyno_guide::work_directory::WorkDirectory;
use fsdyno_stats::sort;
use fsdyno_text::quantity::count as number;

use crate::gate::{Condition, Outcome};
use crate::line::{self, ProfileLine, Shortening};
use crate::profile::{Profile, Work};

/// Most runs of a test on objects: each of them has a part of the budget.
pub(crate) const OBJECT_ROUNDS_MAX: u32 = 6;

/// Runs with fewer requests on each connection show nothing.
const LEAST_REQUESTS: u64 = 8;

/// How a check may use an object store.
#[derive(Clone, Copy, Debug)]
pub struct StoreUse {
    /// Opens the bucket.
    pub with_objects: WithObjects,
    /// The most requests of all tests together.
    pub requests_max: u64,
    /// Whether a bucket that keeps versions, or locks objects, is used too.
    pub keeps: bool,
}

/// Where the tests of a check do their work.
#[derive(Clone, Copy)]
pub(crate) enum Ground<'g> {
    Directory(&'g WorkDirectory),
    /// The objects, what makes requests about them that no job makes, and the most requests of one run.
    Objects(&'g CheckedObjects, AskPlain<'g>, u64),
}

impl<'g> Ground<'g> {
    /// The work directory; `None`: there is none.
    pub(crate) fn directory(self) -> Option<&'g WorkDirectory> {
        match self {
            Ground::Directory(work) => Some(work),
            Ground::Objects(..) => None,
        }
    }

    /// The line of a test on this ground.
    pub(crate) fn line(self, words: &[String], shortening: Shortening) -> Result<ProfileLine, Problem> {
        match self {
            Ground::Directory(work) => {
                line::prepare(words, work.directory(), &shared_file(work.directory()), shortening)
            }
            Ground::Objects(objects, _, requests_max) => {
                line::prepare_objects(words, objects, shortening, requests_max)
            }
        }
    }

    /// What was found of a function.
    pub(crate) fn answer(self, function: ObjectFunction) -> Outcome {
        let answers = if let Ground::Objects(objects, ..) = self { &objects.answers[..] } else { &[] };
        let found = answers.iter().find(|(known, _)| *known == function).map(|(_, examined)| examined.clone().into());
        found.unwrap_or_else(|| Outcome::Unknown("not examined".to_owned()))
    }
}

/// The file that the tests of a profile share, so that a test can read what an earlier one has written.
pub(crate) fn shared_file(directory: &Path) -> PathBuf {
    directory.join("check.dat")
}

/// Refuses profiles about directories for a store, and those about stores for a directory.
pub(crate) fn check_kind(profiles: &[&Profile], place: &str, is_store: bool) -> Result<(), Problem> {
    let Some(profile) = profiles.iter().find(|profile| profile.is_of_objects() != is_store) else { return Ok(()) };
    let (about, this, next) = match is_store {
        true => {
            ("directories", "an object store", "use s3-functional, s3-standard or juicefs-object, or name a directory")
        }
        false => ("object stores", "a directory", "name a bucket: s3://BUCKET or s3://BUCKET/PREFIX"),
    };
    Err(Problem::new(format!("{} is about {about}, and {place} is {this}", profile.name)).with_next(next))
}

/// What the profiles need of a store, and the most requests of one run.
///
/// # Errors
/// When the budget is too small, or a line cannot be planned.
pub(crate) fn asked_of_store(
    profiles: &[&Profile],
    tier: Option<&str>,
    shortening: Shortening,
    store: StoreUse,
) -> Result<(AskedObjects, u64), Problem> {
    let mut asked = AskedObjects { keeps: store.keeps, ..AskedObjects::default() };
    let (mut runs, mut connections, mut written) = (0, 0, 0);
    for profile in profiles {
        let functions = profile.gates.iter().filter_map(|gate| match gate.condition {
            Condition::Function(function) => Some(function),
            _ => None,
        });
        asked.functions.extend(functions);
        for test in profile.tests_of(tier) {
            let words = match &test.work {
                Work::Line(words) => words,
                Work::Requests(plain) => {
                    written += plain.requests_max(OBJECT_ROUNDS_MAX);
                    asked.plain.push(*plain);
                    continue;
                }
                Work::SmallFiles => continue,
            };
            let line = line::prepare_objects(words, &nowhere(), shortening, 1)?;
            let (size, count) = set_of(&line);
            match asked.sets.iter_mut().find(|(known, _)| *known == size) {
                Some((_, most)) => *most = count.max(*most),
                None => asked.sets.push((size, count)),
            }
            written += if line.only_writes { 0 } else { count };
            runs += u64::from(OBJECT_ROUNDS_MAX);
            connections = connections.max(line.job.clones);
        }
    }
    sort::by(&mut asked.sets, Ord::cmp);
    let needed = written + runs * u64::from(connections) * LEAST_REQUESTS;
    if store.requests_max < needed {
        let budget = number(store.requests_max);
        let text = format!("a budget of {budget} requests is too small: the tests need {}", number(needed));
        return Err(Problem::new(text).with_next(format!("use --budget {needed}, or fewer profiles")));
    }
    asked.requests = if runs > 0 || !asked.plain.is_empty() { store.requests_max } else { 0 };
    Ok((asked, (store.requests_max - written) / runs.max(1)))
}

/// Objects that no server has: lines are planned with them before the first request.
fn nowhere() -> CheckedObjects {
    CheckedObjects { engine: vec!["--ioengine=http".to_owned()], file: "/b/o".to_owned(), answers: Vec::new() }
}

/// The bytes of the objects that a line uses, and their number.
pub(crate) fn set_of(line: &ProfileLine) -> (u64, u64) {
    let size = line::block_bytes(&line.job).max(1);
    (size, line.files.values().max().map_or(0, |end| end.div_ceil(size)))
}

/// Whether a place is an object store.
pub(crate) fn is_store(path: &Path) -> bool {
    path.to_str().is_some_and(fsdyno_guide::study::is_object_store)
}
