//! Holds the connection of this process to the other ranks of a run on many nodes.

use std::sync::{Arc, OnceLock};

use fsdyno_cluster::Link;
use fsdyno_guide::bench::{Conditions, run_line};
use fsdyno_guide::nodes::{Nodes, PhaseContext};
use fsdyno_guide::smallfiles::{NodeRole, PhaseResult, SmallFilesPhase, Suite};
use fsdyno_guide::watch::Step;
use fsdyno_guide::{Problem, Watcher};
use fsdyno_job::Request;
use fsdyno_results::RunRecord;
use fsdyno_run::{OtherRanks, StopRule};

static LINK: OnceLock<Arc<Link>> = OnceLock::new();

/// Sets the connection of this process.
pub(super) fn connect(link: Link) -> &'static Arc<Link> {
    LINK.get_or_init(|| Arc::new(link))
}

/// The other ranks; `None`: this process runs alone.
pub(crate) fn other_ranks() -> Option<Arc<dyn OtherRanks>> {
    LINK.get().map(|link| Arc::clone(link) as _)
}

/// Adds the node to generated file names.
pub(crate) fn with_names(mut request: Request) -> Request {
    LINK.get().inspect(|link| link.name_files(&mut request.jobs));
    request
}

/// Tells the other ranks that the work is over.
pub(crate) fn leave() {
    LINK.get().filter(|link| link.rank() == 0).inspect(|link| link.close());
}

/// All ranks, each of which is a node, or this machine alone.
#[derive(Debug)]
pub(crate) struct Ranks;

impl Nodes for Ranks {
    fn shift(&mut self) {
        LINK.get().inspect(|link| link.shift());
    }

    fn limit(&mut self, nodes: u32) {
        LINK.get().map(|link| link.limit(nodes));
    }

    fn role(&self) -> NodeRole {
        LINK.get().map_or(NodeRole::ALONE, |link| link.role())
    }

    fn phase(
        &mut self,
        suite: &mut Suite,
        phase: &SmallFilesPhase,
        asking: PhaseContext<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<PhaseResult, Problem> {
        match LINK.get() {
            Some(link) => link.phase(suite, phase, asking, step, watcher),
            None => suite.perform(phase, asking.control, step, watcher),
        }
    }

    fn count(&self) -> u32 {
        LINK.get().map_or(1, |link| link.ranks())
    }

    fn run(
        &mut self,
        nodes: u32,
        words: &[String],
        conditions: Conditions<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<RunRecord, Problem> {
        let before = LINK.get().map(|link| {
            link.wear_out(conditions.stop_rule == StopRule::WearOut);
            link.own_objects(conditions.work.is_none());
            (link, link.limit(nodes))
        });
        let record = run_line(words, conditions, step, watcher);
        if let Some((link, before)) = before {
            link.limit(before);
        }
        record
    }
}
