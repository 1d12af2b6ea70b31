//! Runs the phases one after the other in one directory, keeps track of the names in it, and makes a row of each.

use std::path::Path;
use std::sync::Arc;

use engine::files::Directory;
use engine::names::LINKS_REFUSED;
use results::evidence::WireCounters;
use results::quantity::count;
use results::{PhaseRecord, Row, Severity};
use run::metadata::caches::{Arranged, Cache, Caches};
use run::metadata::operations::{self, Item, OperationContext, Perform};
use run::metadata::tree::{Family, Tree};
use run::metadata::{Outcome, Task, perform};

use super::phases::{FileUse, Phase, READ, WRITE};
use super::relay::Relay;
use super::{Options, shell};
use crate::Problem;
use crate::study::{StudyRun, planned_row};
use crate::watch::Step;
use crate::work_directory::reason;

/// Phases that were cut short are named, up to so many.
const CUTS_NAMED: usize = 3;

/// Listings of a readdir phase, at least.
const LISTINGS: u32 = 100;

pub(super) struct Suite {
    target: usize,
    caches: Caches,
    options: Options,
    tree: Tree,
    context: Arc<OperationContext>,
    /// Numbers of the names that are there, by family.
    there: [Vec<u32>; Family::COUNT],
    /// Phases that were cut short: `rename after 17 of 1,001`.
    cuts: Vec<String>,
}

/// The record of a phase that cannot be run here, with the reason in the place of the state of the caches.
fn did_not_run(phase: &Phase, reason: String) -> PhaseRecord {
    PhaseRecord { name: phase.pattern.into(), cache: Some(reason), ..PhaseRecord::default() }
}

impl Suite {
    /// Makes the files' directories.
    pub(super) fn new(
        place: &Directory,
        target: usize,
        study_run: &mut StudyRun<'_>,
        options: Options,
    ) -> Result<Suite, Problem> {
        let tree = Tree::new(options.depth, options.files);
        let root = place.path().join("files");
        study_run.watcher.looks(&root);
        let directory = place.make("files").map_err(|error| Problem::new(error.to_string()))?;
        tree.make(&directory, &mut |path| study_run.watcher.looks(path))
            .map_err(|error| Problem::new(error.to_string()))?;
        let caches = Caches { mount: probe::mount_of(&root).ok(), may_drop: options.drop_caches };
        let context = Arc::new(OperationContext::new(directory, options.size_bytes));
        Ok(Suite { target, caches, options, tree, context, there: Default::default(), cuts: Vec::new() })
    }

    pub(super) fn mount(&self) -> Option<&results::evidence::Mount> {
        self.caches.mount.as_ref()
    }

    /// Runs a phase and keeps its row, and one for the part of it that is timed by itself: the index of the first.
    pub(super) fn run(&mut self, study_run: &mut StudyRun<'_>, phase: &Phase) -> Result<usize, Problem> {
        let items = self.items(phase.acts);
        let title = match phase.acts {
            // They differ, if at all, by one or two of each family.
            FileUse::Lists => {
                format!("readdir, {} names", count(items.iter().map(|item| item.expected).max().unwrap_or(0)))
            }
            _ => phase.title.to_string(),
        };
        let mut row = planned_row(self.target, phase.pattern, &title, 0, self.command(phase));
        let step = study_run.begin_step(self.target, &title);
        let mut part = None;
        if items.is_empty() && !study_run.stopped() {
            let text = format!("{} did not run: the files or directories that it needs could not be made", phase.title);
            study_run.note("phase-without-files", Severity::Caution, text);
        } else if !study_run.stopped() {
            part = self.run_on(items, study_run, phase, &step, &mut row)?;
        }
        study_run.end_step(&step, row);
        let index = study_run.study.rows.len() - 1;
        // It ran with the other: it is no step of its own.
        study_run.study.rows.extend(part);
        Ok(index)
    }

    /// Fills the row; the row of the part.
    fn run_on(
        &mut self,
        mut items: Vec<Item>,
        study_run: &mut StudyRun<'_>,
        phase: &Phase,
        step: &Step,
        row: &mut Row,
    ) -> Result<Option<Row>, Problem> {
        if let (FileUse::Makes(Family::Link), Some(reason)) = (phase.acts, LINKS_REFUSED) {
            row.phase = Some(did_not_run(phase, reason.to_owned()));
            return Ok(None);
        }
        let limit_ns = phase.limited.then_some(u64::from(self.options.limit_s) * 1_000_000_000);
        let planned = items.len();
        let (control, watcher) = (&study_run.control, &mut *study_run.watcher);
        let next = &mut |path: &Path| watcher.looks(path);
        let arranged = self.caches.arrange(phase.cache, &self.context.root, &mut items, limit_ns, control, next);
        study_run.watcher.looked();
        let cache = match arranged {
            Arranged::Ready(cache) => cache,
            Arranged::Impossible(reason) => {
                row.phase = Some(did_not_run(phase, reason));
                return Ok(None);
            }
        };
        let task = Task {
            title: phase.title.to_string(),
            context: Arc::clone(&self.context),
            perform: self.perform_of(phase),
            has_part: phase.part.is_some(),
            threads: self.options.threads,
            more_ns: self.more_ns(phase, &items),
            items,
            limit_ns,
            control: study_run.control.clone(),
        };
        let before = self.wire();
        let prepared = task.items.len();
        let outcome = perform(task, &mut Relay { step, watcher: &mut *study_run.watcher }).map_err(|error| {
            Problem::new(format!("cannot start a thread: {}", reason(&error)))
                .with_next("ask for fewer with --threads, or raise the limit of processes (ulimit -u)")
        })?;
        // There may have been no time to make all of them cold.
        if outcome.cut || (prepared < planned && !study_run.stopped()) {
            let attempted = outcome.done.len() as u64 + outcome.failures;
            self.cuts.push(format!("{} after {} of {}", phase.title, count(attempted), count(planned as u64)));
        }
        let record = self.record(phase, &outcome, cache);
        if let (Some(before), Some(after)) = (before, self.wire()) {
            row.findings = findings::of_phase(&record, &before, &after);
        }
        let part = phase.part.map(|(pattern, title)| {
            let latency = outcome.part.clone();
            let phase = PhaseRecord { name: pattern.into(), latency, bytes: None, error: None, ..record.clone() };
            Row { phase: Some(phase), ..planned_row(self.target, pattern, title, 0, Vec::new()) }
        });
        row.phase = Some(record);
        self.remember(phase.acts, outcome);
        Ok(part)
    }

    /// The operation: cold attributes are read past the kernel's cache where that is possible.
    fn perform_of(&self, phase: &Phase) -> Perform {
        let forced = phase.cache == Cache::ColdNames && self.caches.uncached_attributes_from().is_some();
        if forced { operations::stat_uncached } else { phase.perform }
    }

    /// How much longer than a small one an operation may take: a second for each MiB, a millisecond for each name.
    fn more_ns(&self, phase: &Phase, items: &[Item]) -> u64 {
        match phase.acts {
            FileUse::Lists => items.iter().map(|item| item.expected).max().unwrap_or(0).saturating_mul(1_000_000),
            _ => (self.options.size_bytes >> 20).saturating_mul(1_000_000_000),
        }
    }

    fn record(&self, phase: &Phase, outcome: &Outcome, cache: Option<String>) -> PhaseRecord {
        let operations = outcome.done.len() as u64;
        PhaseRecord {
            name: phase.pattern.to_string(),
            operations,
            failures: outcome.failures,
            error: outcome.error.clone(),
            threads: self.options.threads,
            bytes: phase.moves_data.then_some(operations * self.options.size_bytes),
            elapsed_ns: outcome.elapsed_ns(),
            cpu_ns: outcome.cpu_ns,
            latency: outcome.latency.clone(),
            cache,
        }
    }

    /// The shell loop that does the same, for the phases that have one.
    fn command(&self, phase: &Phase) -> Vec<String> {
        match phase.pattern {
            _ if !self.options.is_published() => Vec::new(),
            name if name == WRITE.pattern => shell::words(shell::WRITE_LOOP),
            name if name == READ.pattern => shell::words(shell::READ_LOOP),
            _ => Vec::new(),
        }
    }

    /// What the phase will work on.
    fn items(&self, acts: FileUse) -> Vec<Item> {
        let size_bytes = self.options.size_bytes;
        let item = |family: Family, index: u32| Item {
            index,
            name: self.tree.name(family, index),
            other: self.other(family, index),
            expected: size_bytes,
        };
        match acts {
            FileUse::Makes(family) => (0..self.options.files).map(|index| item(family, index)).collect(),
            FileUse::Uses(family) | FileUse::Removes(family) => {
                self.there[family as usize].iter().map(|index| item(family, *index)).collect()
            }
            FileUse::Turns(from, into) => {
                let renamed = |index: &u32| Item { other: Some(self.tree.name(into, *index)), ..item(from, *index) };
                self.there[from as usize].iter().map(renamed).collect()
            }
            FileUse::Lists => self.listings(),
        }
    }

    /// Each directory that holds files, again and again.
    fn listings(&self) -> Vec<Item> {
        let leaves = self.tree.leaves();
        let mut names = vec![0u64; leaves as usize];
        for index in self.there.iter().flatten() {
            names[(index % leaves) as usize] += 1;
        }
        let listing = |index: u32| Item {
            index,
            name: self.tree.directory(index),
            other: None,
            expected: names[(index % leaves) as usize],
        };
        (0..LISTINGS.max(leaves)).map(listing).collect()
    }

    /// The second name of an operation.
    fn other(&self, family: Family, index: u32) -> Option<std::ffi::CString> {
        match family {
            Family::Entered => Some(self.tree.directory(index)),
            // The file beside it.
            Family::Link => Some(Tree::new(0, 1).name(Family::Test, index)),
            _ => None,
        }
    }

    /// Which names are there after it.
    fn remember(&mut self, acts: FileUse, mut outcome: Outcome) {
        outcome.done.sort_unstable();
        let done = outcome.done;
        let gone = |there: &mut Vec<u32>| there.retain(|index| done.binary_search(index).is_err());
        match acts {
            FileUse::Makes(family) => self.there[family as usize] = done,
            FileUse::Removes(family) => gone(&mut self.there[family as usize]),
            FileUse::Turns(from, into) => {
                gone(&mut self.there[from as usize]);
                self.there[into as usize] = done;
            }
            FileUse::Uses(_) | FileUse::Lists => {}
        }
    }

    /// Counters of the NFS mount; `None`: no NFS, or not visible.
    fn wire(&self) -> Option<WireCounters> {
        let mount = self.caches.mount.as_ref().filter(|_| self.caches.is_nfs())?;
        probe::nfs_mount_statistics(&mount.mount_point).ok()
    }

    /// Notes which phases were cut short.
    pub(super) fn note_cuts(&self, study_run: &mut StudyRun<'_>) {
        if !self.cuts.is_empty() {
            // How far the others came, their rows say.
            let named = &self.cuts[..self.cuts.len().min(CUTS_NAMED)];
            let more = self.cuts.len() - named.len();
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let list = named.join("; ");
            let text = format!("stopped at the time limit of {} s each (--limit): {list}{more}", self.options.limit_s);
            study_run.note("phase-cut", Severity::Caution, text);
        }
    }
}
