//! What a run does together with the other ranks, where several nodes ask the same question at once. Who they are and
//! how they are reached is known above: a run alone has no company.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use fsdyno_results::{Note, RunRecord};

/// The ranks of a run on several nodes, as one of them sees them. Each call waits for the others, except where they are
/// lost; then it goes on without them.
pub trait OtherRanks: Debug + Send + Sync {
    /// How many ranks there are, this one among them.
    fn ranks(&self) -> u32;
    /// Before the first byte: all ranks have planned this run. Notes of what differs between them.
    ///
    /// # Errors
    /// A sentence, where they cannot run together.
    fn agree(&self, run: &JointRun<'_>) -> Result<Vec<Note>, String>;
    /// How many ranks lay out the files that this one makes for all, each a part; 1: this rank lays its files out alone.
    fn layers(&self) -> u32;
    /// The first rank has made these files, of this many bytes; now each rank fills its part of them.
    fn made(&self, files: &[(PathBuf, u64)]);
    /// The first rank has filled its parts; bytes that all others have filled.
    fn filled(&self) -> u64;
    /// The layout of this rank is over.
    fn laid_out(&self);
    /// The workers of this rank are ready for a stage; when all ranks begin, ns by [`RealClock::shared`].
    ///
    /// [`RealClock::shared`]: os::clock::RealClock::shared
    fn ready(&self, stage: u32) -> u64;
    /// The workers of this rank have ended a stage; when they began and ended, by the same clock.
    fn ended(&self, stage: u32, began_ns: u64, ended_ns: u64);
    /// Where a job that only reads finds the data of this file; `None`: there.
    fn read_from(&self, path: &Path) -> Option<PathBuf>;
    /// One record of all ranks that have one; a rank other than the first gets back its own.
    fn gather(&self, own: RunRecord) -> RunRecord;
    /// Each of the other ranks removes what it has made in the directory of a question, all at once.
    fn clear(&self, directory: &Path);
    /// This rank is alive; called several times a second.
    fn alive(&self);
    /// This signal has come to this rank, and ends what all do.
    fn signalled(&self, signal: i32);
}

/// A run as the others need to know it.
#[derive(Clone, Copy, Debug)]
pub struct JointRun<'a> {
    /// The words of its command line.
    pub words: &'a [String],
    /// Seed of what differs from run to run.
    pub seed: u64,
    /// The directory that all of its files are confined to.
    pub directory: Option<&'a Path>,
    /// The record before the first I/O.
    pub preflight: &'a RunRecord,
}
