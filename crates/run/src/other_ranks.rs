//! The interface through which a run cooperates with other ranks, where several nodes ask the same question at once. A
//! crate above implements it; a run on one node has none.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use fsdyno_results::{Note, RunRecord};

use crate::plan::StoragePlace;

/// The other ranks of a run on several nodes, seen from one of them. Each call waits for the other ranks; ranks that
/// are lost are no longer waited for.
pub trait OtherRanks: Debug + Send + Sync {
    /// Number of ranks, including this one.
    fn ranks(&self) -> u32;
    /// Called before the first byte: all ranks have planned this run. Returns notes on differences between them.
    ///
    /// # Errors
    /// A sentence, where they cannot run together.
    fn agree(&self, run: &JointRun<'_>) -> Result<Vec<Note>, String>;
    /// Number of ranks that take part in the layout of files that this rank makes for all; 1: it lays its files out
    /// alone.
    fn layers(&self) -> u32;
    /// The first rank has made these files, with their final sizes; now each rank fills its part.
    fn made(&self, files: &[(PathBuf, u64)]);
    /// The first rank has filled its parts; returns the bytes that all others have filled.
    fn filled(&self) -> u64;
    /// The layout of this rank is complete.
    fn laid_out(&self);
    /// The workers of this rank are ready for a stage; returns when all ranks begin, ns of [`RealClock::shared`].
    ///
    /// [`RealClock::shared`]: os::clock::RealClock::shared
    fn ready(&self, stage: u32) -> u64;
    /// The workers of this rank have ended a stage; their first beginning and last end, ns of the same clock.
    fn ended(&self, stage: u32, began_ns: u64, ended_ns: u64);
    /// The path at which a job that only reads finds the data of this file; `None`: at its own.
    fn read_from(&self, path: &Path) -> Option<PathBuf>;
    /// The rank whose part of a file that all ranks use this one uses (`offset_increment`); `reads`: the job only reads.
    fn part(&self, reads: bool) -> u32;
    /// The time of a phase that wears out is over, and this rank has done this number of requests or operations;
    /// returns the largest number of a rank.
    fn wear_out(&self, done: u64) -> u64;
    /// Merges the records of all ranks that have one; a rank other than the first gets its own back.
    fn gather(&self, own: RunRecord) -> RunRecord;
    /// All other ranks remove what they have made in the directory of a question, at the same time.
    fn clear(&self, directory: &Path);
    /// Tells the others that this rank is alive; called several times per second.
    fn alive(&self);
    /// This rank got this signal, which ends the run on all ranks.
    fn signalled(&self, signal: i32);
}

/// A run as it is described to the other ranks.
#[derive(Clone, Copy, Debug)]
pub struct JointRun<'a> {
    /// The words of its command line.
    pub words: &'a [String],
    /// Seed of everything that must differ from run to run.
    pub seed: u64,
    /// The directory that all of its files are confined to.
    pub directory: Option<&'a Path>,
    /// The record before the first I/O.
    pub preflight: &'a RunRecord,
    /// The storages that its files are on.
    pub places: &'a [StoragePlace],
}
