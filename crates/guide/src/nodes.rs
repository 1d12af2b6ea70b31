//! The nodes on which a question runs a line at the same time. This crate knows this machine; who starts processes on
//! others implements [`Nodes`].

use std::sync::Arc;

use fsdyno_results::{Note, RunRecord};
use fsdyno_run::Control;

use crate::bench::{Conditions, run_line};
use crate::smallfiles::{Done, NodeRole, Phase, Suite};
use crate::watch::Step;
use crate::{Problem, Watcher};

/// Nodes that do the same at the same time.
pub trait Nodes {
    /// How many there are.
    fn count(&self) -> u32;

    /// Runs a line of jobs on the nodes below this number and merges their records. What the line names in the work directory
    /// each node has in a directory of its own below it, the same one each time.
    ///
    /// # Errors
    /// When the line cannot be run on a node; what happens to its jobs is in the record.
    fn run(
        &mut self,
        nodes: u32,
        words: &[String],
        conditions: Conditions<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<RunRecord, Problem>;

    /// Which of them this machine is.
    fn role(&self) -> NodeRole {
        NodeRole::ALONE
    }

    /// Runs a phase of operations on small files on all of them, each on its own, and adds up what they did.
    ///
    /// # Errors
    /// When it cannot be run on a node; operations that fail are in what was done.
    fn phase(
        &mut self,
        suite: &mut Suite,
        phase: &Phase,
        asking: Asking<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<Done, Problem> {
        suite.perform(phase, asking.control, step, watcher)
    }
}

/// Who asks for a phase.
pub struct Asking<'a> {
    /// Version line for the records.
    pub version: &'a str,
    /// Stops the study, this phase included.
    pub control: &'a Arc<Control>,
    /// What differs between the nodes.
    pub notes: &'a mut Vec<Note>,
}

/// This machine alone.
#[derive(Debug)]
pub struct ThisMachine;

impl Nodes for ThisMachine {
    fn count(&self) -> u32 {
        1
    }

    fn run(
        &mut self,
        _: u32,
        words: &[String],
        conditions: Conditions<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<RunRecord, Problem> {
        run_line(words, conditions, step, watcher)
    }
}
