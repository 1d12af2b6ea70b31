//! The only module that knows runs on many nodes. A program built with MPI is one of several ranks if a launcher has
//! started it, and calls the launcher if hosts are named; one built without MPI runs on this machine alone. The rest of
//! the program does not know which.

mod launcher;

#[cfg(feature = "mpi")]
mod accompanied;
#[cfg(feature = "mpi")]
mod hosts;
#[cfg(feature = "mpi")]
mod link;
#[cfg(feature = "mpi")]
mod ranks;
#[cfg(feature = "mpi")]
pub(crate) use link::{Ranks as Nodes, leave, other_ranks, with_names};
#[cfg(feature = "mpi")]
use ranks as built;

#[cfg(not(feature = "mpi"))]
mod without_mpi;
#[cfg(not(feature = "mpi"))]
use without_mpi as built;
#[cfg(not(feature = "mpi"))]
pub(crate) use {
    fsdyno_guide::nodes::ThisMachine as Nodes,
    without_mpi::{leave, other_ranks, with_names},
};

pub(crate) use launcher::gives_terminals;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the words of a command line on all nodes that are asked for. `face`: what one process does with them.
pub(crate) fn run(words: &[OsString], face: impl FnOnce(&[OsString]) -> ExitCode) -> ExitCode {
    built::run(launcher::launched(), words, face)
}
