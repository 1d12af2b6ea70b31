//! The interface to the nodes on which a question runs. This crate implements it for one machine; a crate that starts
//! processes on other machines implements [`Nodes`].

use std::sync::Arc;

use fsdyno_results::{Note, RunRecord};
use fsdyno_run::Control;

use crate::bench::{Conditions, run_line};
use crate::smallfiles::{NodeRole, PhaseResult, SmallFilesPhase, Suite};
use crate::watch::Step;
use crate::{Problem, Watcher};

/// The file of a question's directory that all nodes use together. Of all other names each node has its own.
pub const SHARED_FILE: &str = "shared.dat";

/// What a node adds to the names of a question's objects, so that each has its own; the first one adds nothing.
pub fn object_suffix(rank: u32) -> String {
    if rank == 0 { String::new() } else { format!("-r{rank}") }
}

/// Nodes that run the same line at the same time.
pub trait Nodes {
    /// The number of nodes.
    fn count(&self) -> u32;

    /// Runs a line of jobs on the first `nodes` nodes and merges their records. For paths in the work directory each
    /// node has its own subdirectory, the same one each time, but for [`SHARED_FILE`]. Without a work directory the names of
    /// objects end with [`object_suffix`].
    ///
    /// # Errors
    /// When the line cannot be run on a node; errors of its jobs are in the record.
    fn run(
        &mut self,
        nodes: u32,
        words: &[String],
        conditions: Conditions<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<RunRecord, Problem>;

    /// From now on, jobs that only read use the data of another node.
    fn shift(&mut self) {}

    /// From now on, only the first `nodes` nodes take part in phases.
    fn limit(&mut self, _nodes: u32) {}

    /// The role of this machine among those that take part in phases.
    fn role(&self) -> NodeRole {
        NodeRole::ALONE
    }

    /// Runs a phase of operations on small files on all nodes that take part, each on its own files, and adds up the results.
    ///
    /// # Errors
    /// When it cannot be run on a node; failed operations are in the result.
    fn phase(
        &mut self,
        suite: &mut Suite,
        phase: &SmallFilesPhase,
        asking: PhaseContext<'_>,
        step: &Step,
        watcher: &mut dyn Watcher,
    ) -> Result<PhaseResult, Problem> {
        suite.perform(phase, asking.control, step, watcher)
    }
}

/// The caller's context for a phase.
pub struct PhaseContext<'a> {
    /// The program's version line, for the records.
    pub version: &'a str,
    /// Stops the study, this phase included.
    pub control: &'a Arc<Control>,
    /// Receives notes on how the nodes differ.
    pub notes: &'a mut Vec<Note>,
}

/// The only node: this machine.
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
