//! The worker of a rank that runs what the first one is asked.

use std::path::Path;
use std::sync::Arc;

use engine::files::Directory;
use job::Outcome;
use run::{Bounds, Conditions, Control, Line, Observer, SignalWatch, StopRule};

use crate::link::{Link, directory_of, place, shares_files};
use crate::messages::Order;

/// Runs the lines of the first rank until there are no more. `version`: of the records.
pub fn follow(link: &Arc<Link>, version: &str, bounds: Bounds) {
    let study = Arc::new(Control::with_bounds(bounds).in_company(Some(Arc::clone(link) as _)));
    // Without it, a signal ends this process at once, and its agent says so.
    let _signals = SignalWatch::begin(Arc::clone(&study));
    let mut last_directory = None;
    while let Some(order) = link.next_order() {
        last_directory.clone_from(&order.directory);
        if let Err(reason) = carry_out(order, link, version, &study) {
            link.refuse(reason);
        }
    }
    // What the first rank has not removed, nobody else would.
    if let Some(directory) = last_directory {
        remove_own(Path::new(&directory), link.rank());
    }
}

fn remove_own(base: &Path, rank: u32) {
    let Ok(parent) = Directory::open(base) else { return };
    let own = directory_of(base, rank);
    let Some(name) = own.file_name().map(Path::new) else { return };
    if let Ok(own) = parent.enter(name) {
        // What is left is named by the first rank, or by `fsdyno clean`.
        let _ = engine::files::tree::empty(&own, &[], &Default::default());
        let _ = parent.remove_directory(name);
    }
}

/// Nothing is shown: the first rank shows what the record says.
struct Silent;

impl Observer for Silent {}

/// # Errors
/// A sentence, if this rank cannot run it. What happens to its jobs is in its record.
fn carry_out(order: Order, link: &Arc<Link>, version: &str, study: &Arc<Control>) -> Result<(), String> {
    let Order { words, mut answers, seed, directory, .. } = order;
    let Outcome::Run(request) = job::parse_command_line(&words, &mut answers) else {
        return Err("it reads the command line in another way".to_owned());
    };
    let mut line = Line { words, request: *request };
    link.name_files(&mut line.request.jobs);
    let base = directory.as_deref().map(|base| make_own(Path::new(base), link.rank())).transpose()?;
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
        // All make the files; until then they look as if this one had to alone.
        let ready = planned.identify_storages();
        // Whatever comes of it: the run asks again.
        let _ = ready.agree(link.as_ref());
        link.lay_out_part(&ready, &control);
        planned = plan()?;
    }
    let conditions = Conditions { version, control, stop_rule: StopRule::AsWritten };
    planned.identify_storages().run(conditions, &mut Silent);
    Ok(())
}

/// Makes the directory of this rank below that of the question, which the first rank has made; gives the latter.
fn make_own(base: &Path, rank: u32) -> Result<Arc<Directory>, String> {
    let missing = |error: engine::files::FileError| {
        format!("{error}; the directory of a question must be on storage that all ranks share")
    };
    let parent = Directory::open(base).map_err(missing)?;
    let own = directory_of(base, rank);
    if let Some(name) = own.file_name().and_then(|name| name.to_str()) {
        parent.enter(name.as_ref()).or_else(|_| parent.make(name)).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(parent))
}
