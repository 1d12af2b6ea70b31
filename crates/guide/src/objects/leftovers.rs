//! Finds the objects of killed runs, and deletes those that are certainly fsdyno's and of no run that goes on.

use std::path::PathBuf;

use super::server::Store;
use super::work::{Bucket, ObjectMarker, Removed};
use crate::study::Place;
use crate::work_directory::{CleanOptions, Cleaned, LeftoverDirectory, Outcome, PREFIX};
use crate::{Problem, Watcher};

/// Finds what killed runs left directly below the prefix of an object store, and deletes it unless only listing was asked
/// for.
///
/// # Errors
/// When the store cannot be used or listed.
pub fn clean(place: &Place, options: CleanOptions, watcher: &mut dyn Watcher) -> Result<Cleaned, Problem> {
    watcher.looks(&place.path);
    let mut bucket = Bucket::connect(Store::of(place, options.bounds)?)?;
    let before = format!("{}{PREFIX}", bucket.store.key_before());
    let mut cleaned = Cleaned::default();
    for folder in bucket.list(&before, true, watcher)? {
        let (weight, outcome) = clean_one(&mut bucket, &folder, options, watcher);
        let directory = PathBuf::from(bucket.store.url_of(&folder));
        cleaned.left.push(LeftoverDirectory { directory, weight, outcome });
    }
    watcher.looked();
    Ok(cleaned)
}

fn clean_one(
    bucket: &mut Bucket,
    folder: &str,
    options: CleanOptions,
    watcher: &mut dyn Watcher,
) -> (Option<(u64, u64)>, Outcome) {
    bucket.looks(watcher);
    let marker = match bucket.marker(folder) {
        Ok(Some(marker)) => marker,
        Ok(None) => return (None, Outcome::NotOurs),
        Err(problem) => return (None, Outcome::Failed(problem.what)),
    };
    if let Err(outcome) = judge(&marker, options.others) {
        return (None, outcome);
    }
    if options.only_look {
        return (None, Outcome::Found);
    }
    let removed =
        bucket.list(folder, false, watcher).and_then(|found| bucket.remove(folder, &marker.keys, found, watcher));
    match removed {
        Ok(Removed { objects, bytes, others, uploads_left }) => {
            let some: Vec<&str> = others.iter().take(3).map(String::as_str).collect();
            let left = format!("{} keys of others were left there, such as {}", others.len(), some.join(", "));
            let failed = uploads_left.or(Some(left).filter(|_| !others.is_empty()));
            (Some((objects, bytes)), failed.map_or(Outcome::Removed, Outcome::Failed))
        }
        Err(problem) => (None, Outcome::Failed(problem.what)),
    }
}

/// Whether the run has certainly ended.
fn judge(marker: &ObjectMarker, others: bool) -> Result<(), Outcome> {
    let (maker, here) = (&marker.maker, fsdyno_probe::kernel());
    let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    if is_same(&maker.boot, &here.boot) && maker.pid_namespace.is_some() && maker.pid_namespace == here.pid_namespace {
        return match fsdyno_probe::runs(maker.pid) {
            Some(false) => Ok(()),
            _ => Err(Outcome::InUse(maker.pid)),
        };
    }
    // The same machine before its last boot.
    let was_here = is_same(&maker.machine, &here.machine) && maker.boot.is_some() && !is_same(&maker.boot, &here.boot);
    if others || was_here { Ok(()) } else { Err(Outcome::OtherHost(maker.host.clone())) }
}
