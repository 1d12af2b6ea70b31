//! The worker of a rank other than the first: it runs what the first rank is asked.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fsdyno_guide::Problem;
use fsdyno_guide::smallfiles::{NodeRole, PhaseOrder, Suite};
use fsdyno_guide::watch::{SilentWatcher, Step};
use fsdyno_job::Outcome;
use fsdyno_os::errno::reason;
use fsdyno_os::files::Directory;
use fsdyno_os::written;
use fsdyno_run::{Bounds, CommandLine, Conditions, Control, Observer, OtherRanks, SignalWatch, StopRule};

use crate::agreement;
use crate::link::{Link, directory_of, name_objects, place, shares_files};
use crate::messages::{RankOrder, Round, Task};

/// Runs the lines of the first rank until there are no more. `version`: for the records.
pub fn follow(link: &Arc<Link>, version: &str, bounds: Bounds) {
    let study = Arc::new(Control::with_bounds(bounds).with_other_ranks(Some(Arc::clone(link) as _)));
    // Without the watch, a signal ends this process at once, which its agent reports.
    let _signals = SignalWatch::begin(Arc::clone(&study));
    let mut directories: Vec<String> = Vec::new();
    let mut files = Files::new();
    while let Some(mut order) = link.next_order() {
        directories.extend(order.directory.clone().filter(|directory| !directories.contains(directory)));
        let done = match (order.task.take(), &order.directory) {
            (Some(Task::Phase(phase)), Some(base)) => take_phase(phase, base, link, version, &study, &mut files),
            (Some(Task::Clear), Some(base)) => {
                files.clear();
                remove_own(&written::path(base), link.rank(), &study);
                link.meet(link.at(Round::Recorded));
                Ok(())
            }
            _ => carry_out(order, link, version, &study),
        };
        if let Err(reason) = done {
            link.refuse(reason);
        }
    }
    drop(files);
    // Directories that the first rank has not removed would be left.
    for directory in directories {
        remove_own(&written::path(&directory), link.rank(), &study);
    }
}

/// Removes the directory of this rank. What is left is named by the first rank, or by `fsdyno clean`.
fn remove_own(base: &Path, rank: u32, study: &Control) {
    let Ok(parent) = Directory::open(base) else { return };
    let own = directory_of(base, rank);
    let Ok(name) = own.strip_prefix(base) else { return };
    let Ok(own) = parent.enter(name) else { return };
    let (own, gone) = (Arc::new(own), Arc::new(AtomicU64::new(0)));
    let (over, is_over) = channel::<()>();
    let (held, counter) = (Arc::clone(&own), Arc::clone(&gone));
    let begun = fsdyno_os::thread::begin("removal", STACK_BYTES, move || {
        let _over = over;
        let _ = fsdyno_os::files::tree::empty(&held, &[], &counter);
    });
    if begun.is_err() {
        let _ = fsdyno_os::files::tree::empty(&own, &[], &gone);
    }
    let mut seen = 0;
    while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        // While files are being removed, this rank reports that it is alive.
        let now = gone.load(Ordering::Relaxed);
        if std::mem::replace(&mut seen, now) != now {
            study.follow();
        }
    }
    let Some(last) = name.file_name().map(Path::new) else { return };
    match name.parent().filter(|group| *group != Path::new("")) {
        Some(group) => {
            let _ = parent.enter(group).and_then(|group| group.remove_directory(last));
            // The last rank of the group removes its directory.
            let _ = parent.remove_directory(group);
        }
        None => drop(parent.remove_directory(last)),
    }
}

/// Stack of the removing thread, bytes: each level of a tree takes a frame.
const STACK_BYTES: usize = 512 * 1024;

/// Interval at which the progress of a removal is checked.
const LOOK: Duration = Duration::from_millis(100);

/// The directory of a question, and small files in it: several if it asks with different options.
type Files = Vec<(String, Suite)>;

/// Takes part in a phase of operations on small files.
///
/// # Errors
/// A sentence, if this rank cannot run it. Failed operations are in its record.
fn take_phase(
    order: PhaseOrder,
    base: &str,
    link: &Arc<Link>,
    version: &str,
    study: &Arc<Control>,
    files: &mut Files,
) -> Result<(), String> {
    let phase = order.phase().ok_or("it knows no such phase")?;
    let sentence = |problem: Problem| problem.what;
    files.retain(|(known, _)| known == base);
    let known = files.iter().position(|(_, suite)| order.is_for(suite));
    let at = known.unwrap_or(files.len());
    if known.is_none() {
        let place = make_own(&written::path(base), link.rank())?;
        let suite = Suite::new(&place, order.options, link.role(), &mut |_| ()).map_err(sentence)?;
        files.push((base.to_owned(), suite));
    }
    let (_, suite) = &mut files[at];
    let node = suite.node();
    // The first rank reports the reason.
    link.agree_on(Ok(node.clone())).map_err(|_| String::new())?;
    let done = suite.perform(phase, study, &Step::default(), &mut SilentWatcher).map_err(sentence)?;
    link.gather(suite.as_run(phase, &done, node, version));
    Ok(())
}

/// An observer that shows nothing: the first rank shows what the record contains.
struct Silent;

impl Observer for Silent {}

/// Carries out an order.
///
/// # Errors
/// A sentence, if this rank cannot run it. Errors of its jobs are in its record.
fn carry_out(order: RankOrder, link: &Arc<Link>, version: &str, study: &Arc<Control>) -> Result<(), String> {
    let RankOrder { words, mut answers, seed, directory, wears_out, own_objects, .. } = order;
    let Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut answers) else {
        return Err("it reads the command line in another way".to_owned());
    };
    let mut line = CommandLine { words, request: *request };
    link.name_files(&mut line.request.jobs);
    if own_objects {
        name_objects(&mut line.request.jobs, link.rank());
    }
    let base = directory.as_deref().map(|base| make_own(&written::path(base), link.rank())).transpose()?;
    if let Some(base) = &base {
        place(&mut line.request.jobs, base.path(), &directory_of(base.path(), link.rank()));
    }
    let shared = directory.is_none() && shares_files(&line.request.jobs);
    link.shares(shared);
    let seed = seed.wrapping_add(link.rank().into());
    let plan = || {
        let mut planned = line.look(|_| {}).plan(seed).map_err(|sentences| sentences.join("; "))?;
        if let Some(base) = &base {
            let outside = |path: std::path::PathBuf| format!("{} lies outside of its directory", path.display());
            planned.plan.confine_to(base).map_err(outside)?;
        }
        Ok::<_, String>(planned)
    };
    let control = Arc::new(Control::within(study));
    let mut planned = plan()?;
    if shared {
        // All ranks make the shared files together; until then the plan contains them as if this rank made them alone.
        let ready = planned.identify_storages();
        // The result does not matter here: the run asks again.
        let _ = ready.agree(link.as_ref());
        link.lay_out_part(&ready, &control);
        planned = plan()?;
    }
    let stop_rule = if wears_out { StopRule::WearOut } else { StopRule::AsWritten };
    let conditions = Conditions { version, control, stop_rule };
    planned.identify_storages().run(conditions, &mut Silent);
    Ok(())
}

/// Makes the directory of this rank below the question's, which the first rank has made; returns the question's.
fn make_own(base: &Path, rank: u32) -> Result<Arc<Directory>, String> {
    let missing = |error: fsdyno_os::files::FileError| {
        let reason = reason(&std::io::Error::from_raw_os_error(error.code));
        let here = agreement::place(&fsdyno_probe::storage_of(base));
        format!(
            "it cannot open {}, which rank 0 has made: {reason}; this rank has {here}: mount the storage that is asked \
             about on all nodes",
            base.display()
        )
    };
    let parent = Directory::open(base).map_err(missing)?;
    parent.make_all(&NodeRole::directory_of(rank)).map_err(|error| error.to_string())?;
    Ok(Arc::new(parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_group_make_and_remove_its_directory() {
        let place = tempfile::tempdir().unwrap();
        let ranks = [1, 499, 500, 612, 999, 1000];
        ranks.iter().for_each(|rank| drop(make_own(place.path(), *rank).unwrap()));
        make_own(place.path(), 612).expect("it is there already");
        std::fs::write(place.path().join("ranks-500/rank-612/scale.dat"), "data").unwrap();
        let names = || {
            let mut names: Vec<_> = std::fs::read_dir(place.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["rank-1", "rank-499", "ranks-1000", "ranks-500"]);
        let study = Control::with_bounds(Bounds::default());
        remove_own(place.path(), 612, &study);
        assert!(names().contains(&"ranks-500".to_owned()), "two other ranks have theirs in it");
        ranks.iter().for_each(|rank| remove_own(place.path(), *rank, &study));
        assert_eq!(names(), [""; 0]);
    }
}
