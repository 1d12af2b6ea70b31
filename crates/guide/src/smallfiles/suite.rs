//! Runs the phases one after the other in one directory, and keeps track of the names in it.

use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

use fsdyno_os::files::Directory;
use fsdyno_os::names::LINKS_REFUSED;
use fsdyno_results::evidence::WireCounters;
use fsdyno_results::{Finding, Latency, PhaseRecord, RunRecord};
use fsdyno_run::Control;
use fsdyno_run::metadata::caches::{Arranged, Cache, Caches};
use fsdyno_run::metadata::operations::{self, Item, OperationContext, Perform};
use fsdyno_run::metadata::phase_counters::PhaseCounters;
use fsdyno_run::metadata::tree::{Family, Tree};
use fsdyno_run::metadata::{Outcome, Task, perform};
use fsdyno_stats::sort;

use super::node_role::NodeRole;
use super::options::SmallFilesOptions;
use super::phases::{FileUse, SmallFilesPhase};
use super::relay::Relay;
use crate::watch::Step;
use crate::work_directory::reason;
use crate::{Problem, Watcher};

/// Least number of listings of a readdir phase.
const LISTINGS: u32 = 100;

/// The directory of the files, relative to that of the question or of a rank.
fn root_of(options: &SmallFilesOptions) -> &'static str {
    if options.shared { "shared" } else { "files" }
}

/// The small files of one node.
pub struct Suite {
    /// The directory of the question.
    place: Arc<Directory>,
    caches: Caches,
    pub(super) options: SmallFilesOptions,
    pub(super) role: NodeRole,
    tree: Tree,
    pub(super) context: Arc<OperationContext>,
    /// Indices of the names that exist, by family.
    there: [Vec<u32>; Family::COUNT],
    /// Counts the I/O of others during the phases.
    counters: PhaseCounters,
}

/// The result of a phase.
#[derive(Debug, Default)]
pub struct PhaseResult {
    pub(crate) record: PhaseRecord,
    /// Latency of the call that is timed by itself.
    pub(super) part: Option<Latency>,
    pub(crate) findings: Vec<Finding>,
    /// System CPU time, ns.
    pub(super) system_ns: u64,
    /// Number of operations that the phase was to do.
    pub(super) planned: u64,
    /// Whether the phase reached its time limit first.
    pub(super) cut: bool,
    /// The merged record, where several nodes ran the phase.
    pub(super) run: Option<RunRecord>,
}

/// The result of a phase that cannot be run here; the reason takes the place of the cache state.
fn did_not_run(phase: &SmallFilesPhase, reason: String) -> PhaseResult {
    let record = PhaseRecord { name: phase.pattern.into(), cache: Some(reason), ..PhaseRecord::default() };
    PhaseResult { record, ..PhaseResult::default() }
}

fn unusable(error: fsdyno_os::files::FileError) -> Problem {
    Problem::new(error.to_string())
}

impl Suite {
    /// Makes the files' directories below that of a question; where ranks share them, the first rank makes them. `next`
    /// is called with each path that is about to be accessed.
    ///
    /// # Errors
    /// When a directory cannot be made.
    pub fn new(
        place: &Arc<Directory>,
        options: SmallFilesOptions,
        role: NodeRole,
        next: &mut dyn FnMut(&Path),
    ) -> Result<Suite, Problem> {
        let tree = Tree::new(options.depth, options.branch, options.files);
        let shares = options.shared && role.ranks > 1;
        let root = root_of(&options);
        let own = NodeRole::directory_of(if shares { 0 } else { role.rank });
        next(&place.path().join(&own).join(root));
        let root = if shares && role.rank > 0 {
            place.enter(root.as_ref()).map_err(unusable)?
        } else {
            let of_rank = if own.as_os_str().is_empty() { None } else { Some(place.enter(&own).map_err(unusable)?) };
            let root = of_rank.as_ref().unwrap_or(place).make(root).map_err(unusable)?;
            tree.make(&root, next).map_err(unusable)?;
            root
        };
        let caches = Caches { mount: fsdyno_probe::mount_of(root.path()).ok(), may_drop: options.drop_caches };
        let part = if shares { (role.rank.into(), role.ranks.into()) } else { (0, 1) };
        let mut context = OperationContext::new(root, options.size_bytes);
        context.part = part;
        let context = Arc::new(context);
        let there = Default::default();
        let counters = PhaseCounters::begin(Some(context.root.path()));
        let tree = if shares { tree.of_rank(role.rank) } else { tree };
        Ok(Suite { place: Arc::clone(place), caches, options, role, tree, context, there, counters })
    }

    /// Uses the counters of an earlier suite, if there are some.
    pub(crate) fn with_counters(self, counters: Option<PhaseCounters>) -> Suite {
        Suite { counters: counters.unwrap_or(self.counters), ..self }
    }

    /// Gives up the files' directory and returns the counters.
    pub(crate) fn into_counters(self) -> PhaseCounters {
        self.counters
    }

    /// Starts to watch what others do on the devices; nothing may have been written before.
    pub(crate) fn watch_others(&mut self, control: &Control) {
        self.counters.watch_others(control);
    }

    /// The directory of the question.
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    pub(super) fn root(&self) -> &'static str {
        root_of(&self.options)
    }

    pub(super) fn is_shared(&self) -> bool {
        self.options.shared && self.role.ranks > 1
    }

    #[cfg(all(feature = "object", target_os = "linux"))]
    /// Whether attributes can be asked of the server or daemon, past the kernel's cache.
    pub(crate) fn asks_anew(&self) -> bool {
        self.caches.uncached_attributes_from().is_some()
    }

    /// Whether the names that the phase needs exist.
    pub(crate) fn has_work(&self, phase: &SmallFilesPhase) -> bool {
        !self.items(phase).is_empty()
    }

    /// Number of names in the largest directory, as far as this node knows.
    pub(super) fn names_listed(&self, phase: &SmallFilesPhase) -> u64 {
        let most = self.items(phase).iter().map(|item| item.expected).max().unwrap_or(0);
        if self.is_shared() { most * u64::from(self.role.ranks) } else { most }
    }

    /// Runs a phase on this node.
    ///
    /// # Errors
    /// When another rank's files are missing, or no more threads can be started.
    pub fn perform(
        &mut self,
        phase: &SmallFilesPhase,
        control: &Arc<Control>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<PhaseResult, Problem> {
        if let (FileUse::Makes(Family::Link), Some(reason)) = (phase.acts, LINKS_REFUSED) {
            return Ok(did_not_run(phase, reason.to_owned()));
        }
        let mut items = self.items(phase);
        let planned = items.len();
        let context = self.context_of(self.role.owner(phase))?;
        let limit_ns = phase.limited.then_some(u64::from(self.options.limit_s) * 1_000_000_000);
        let next = &mut |path: &Path| {
            // Tells the other ranks that this one is alive.
            control.follow();
            watcher.looks(path);
        };
        let arranged = match phase.cache {
            Cache::ColdNames if self.role.is_fresh() && !self.options.drop_caches => {
                Arranged::Ready(Some("another node's".to_owned()))
            }
            wanted => self.caches.arrange(wanted, &context.root, &mut items, limit_ns, control, next),
        };
        watcher.looked();
        let cache = match arranged {
            Arranged::Ready(cache) => cache,
            Arranged::Impossible(reason) => return Ok(did_not_run(phase, reason)),
        };
        let prepared = items.len();
        let task = Task {
            title: phase.title.to_string(),
            prepare: operations::on_files(context, self.perform_of(phase)),
            has_part: phase.part.is_some(),
            threads: self.options.threads,
            more_ns: self.more_ns(phase, &items),
            items,
            limit_ns,
            wears_out: self.options.wear_out && phase.limited,
            control: Arc::clone(control),
        };
        let (before, glance) = (self.wire(), self.counters.look());
        let outcome = perform(task, &mut Relay { step, watcher }).map_err(|error| {
            Problem::new(format!("cannot start a thread: {}", reason(&error)))
                .with_next("ask for fewer with --threads, or raise the limit of processes (ulimit -u)")
        })?;
        let conditions = self.counters.since(&glance, outcome.waited_ns);
        let item_bytes = phase.moves_data.then_some(self.options.size_bytes);
        let record = outcome.record(phase.pattern, self.options.threads, item_bytes);
        let record = PhaseRecord { conditions: Some(conditions), cache, ..record };
        let findings = match (before, self.wire()) {
            (Some(before), Some(after)) => fsdyno_findings::of_phase(&record, &before, &after),
            _ => Vec::new(),
        };
        // The time may not have sufficed to make all of them cold.
        let cut = outcome.cut || (prepared < planned && !control.stopped());
        let part = phase.part.map(|_| outcome.part.clone());
        let system_ns = outcome.system_ns;
        self.remember(phase.acts, outcome);
        Ok(PhaseResult { record, part, findings, system_ns, planned: planned as u64, cut, run: None })
    }

    /// The directories of a rank's files.
    fn context_of(&self, owner: u32) -> Result<Arc<OperationContext>, Problem> {
        if self.is_shared() || owner == self.role.rank {
            return Ok(Arc::clone(&self.context));
        }
        let own = NodeRole::directory_of(owner);
        let of_rank = if own.as_os_str().is_empty() { None } else { Some(self.place.enter(&own).map_err(unusable)?) };
        let root = of_rank.as_ref().unwrap_or(&self.place).enter(self.root().as_ref()).map_err(unusable)?;
        Ok(Arc::new(OperationContext::new(root, self.options.size_bytes)))
    }

    /// The operation of a phase. Cold attributes are read past the kernel's cache where that is possible.
    fn perform_of(&self, phase: &SmallFilesPhase) -> Perform {
        let forced = phase.cache == Cache::ColdNames && self.caches.uncached_attributes_from().is_some();
        if forced { operations::stat_uncached } else { phase.perform }
    }

    /// The extra time that an operation may take: a second per MiB, a millisecond per name, ns.
    fn more_ns(&self, phase: &SmallFilesPhase, items: &[Item]) -> u64 {
        let ranks = if self.is_shared() { u64::from(self.role.ranks) } else { 1 };
        match phase.acts {
            FileUse::Lists | FileUse::Searches => {
                items.iter().map(|item| item.expected).max().unwrap_or(0).saturating_mul(1_000_000 * ranks)
            }
            _ => (self.options.size_bytes >> 20).saturating_mul(1_000_000_000),
        }
    }

    /// The names that the phase will work on.
    fn items(&self, phase: &SmallFilesPhase) -> Vec<Item> {
        let owner = self.role.owner(phase);
        if owner != self.role.rank {
            return self.items_of_another(owner);
        }
        match phase.acts {
            FileUse::Makes(family) => (0..self.options.files).map(|index| self.item(family, index)).collect(),
            FileUse::Uses(family) | FileUse::Removes(family) => {
                self.there[family as usize].iter().map(|index| self.item(family, *index)).collect()
            }
            FileUse::Turns(from, into) => {
                let renamed =
                    |index: &u32| Item { other: Some(self.tree.name(into, *index)), ..self.item(from, *index) };
                self.there[from as usize].iter().map(renamed).collect()
            }
            FileUse::Lists => self.listings(LISTINGS),
            FileUse::Searches => self.listings(1),
        }
    }

    fn item(&self, family: Family, index: u32) -> Item {
        let expected = self.options.size_bytes;
        Item { index, name: self.tree.name(family, index), other: self.other(family, index), expected }
    }

    /// The files of the rule that another rank was to write; a file that it could not write is a failure here, too.
    fn items_of_another(&self, owner: u32) -> Vec<Item> {
        let tree = if self.is_shared() { self.tree.of_rank(owner) } else { self.tree };
        let item = |index| Item {
            index,
            name: tree.name(Family::Test, index),
            other: None,
            expected: self.options.size_bytes,
        };
        // After a phase that wears out all ranks have the same number of files.
        let worn = self.there[Family::Test as usize].last().map_or(0, |last| last + 1);
        (0..if self.options.wear_out { worn } else { self.options.files }).map(item).collect()
    }

    /// Each directory that holds files, again and again until there is this number of listings.
    fn listings(&self, least: u32) -> Vec<Item> {
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
        (0..least.max(leaves)).map(listing).collect()
    }

    /// The second name of an operation (rename, link).
    fn other(&self, family: Family, index: u32) -> Option<CString> {
        match family {
            Family::Entered => Some(self.tree.directory(index)),
            // The link lies beside the file.
            Family::Link => Some(self.tree.without_directories().name(Family::Test, index)),
            _ => None,
        }
    }

    /// Updates which names exist after a phase.
    fn remember(&mut self, acts: FileUse, mut outcome: Outcome) {
        sort::by(&mut outcome.done, Ord::cmp);
        let done = outcome.done;
        let gone = |there: &mut Vec<u32>| there.retain(|index| done.binary_search(index).is_err());
        match acts {
            FileUse::Makes(family) => self.there[family as usize] = done,
            FileUse::Removes(family) => gone(&mut self.there[family as usize]),
            FileUse::Turns(from, into) => {
                gone(&mut self.there[from as usize]);
                self.there[into as usize] = done;
            }
            FileUse::Uses(_) | FileUse::Lists | FileUse::Searches => {}
        }
    }

    /// Counters of the NFS mount; `None`: no NFS, or not visible.
    fn wire(&self) -> Option<WireCounters> {
        let mount = self.caches.mount.as_ref().filter(|_| self.caches.is_nfs())?;
        fsdyno_probe::nfs_mount_statistics(&mount.mount_point).ok()
    }
}
