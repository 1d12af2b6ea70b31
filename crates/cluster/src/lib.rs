//! Runs many nodes that ask a storage the same question at once: the ranks of a run, started by MPI's launcher.
//!
//! Each rank is two processes. The launcher starts the [`Agent`], which communicates with the agents of the other ranks
//! and accesses no storage, so that it can report on the second process, the worker, whatever happens to that. The
//! worker runs the program and has a [`Link`] to its agent: the first rank's worker runs what the user has asked for,
//! and those of the others [`follow`] it, line after line.
//!
//! The ranks cooperate in rounds: a rank reaches a round, its agent tells its parent in the tree when the whole branch
//! has reached it, and the first rank's agent releases all of them. A worker that is lost counts as having reached all
//! rounds, and its name is in the record.
#![forbid(unsafe_code)]

mod agent;
mod agreement;
mod clocks;
mod follower;
mod frames;
mod joined;
mod link;
mod members;
mod messages;
#[cfg(feature = "mpi")]
mod over_mpi;
mod partners;
mod same_storage;
mod sources;
mod tree;

pub use agent::{Agent, Ending, Transport, WorkerProcess};
pub use follower::follow;
pub use link::Link;
pub use members::Member;
#[cfg(feature = "mpi")]
pub use over_mpi::{OverMpi, library};
