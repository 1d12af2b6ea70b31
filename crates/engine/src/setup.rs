//! What an engine is made from, and the errors of making it.

use std::path::Path;

use fsdyno_job::{Direction, EngineName, EngineOptions, Memory};

use crate::buffers::{Arena, ArenaError, ArenaShape};
use fsdyno_os::clock::RealClock;
use fsdyno_os::errno;
use fsdyno_os::files::{Advice, FileError, OpenFile};

/// What an engine is made from. The engine borrows the files: they outlive it and are closed by their owner.
#[derive(Clone, Debug)]
pub struct EngineSetup<'a> {
    /// The engine to make.
    pub name: EngineName,
    /// The files that [`fsdyno_workload::Op::file`] numbers, or the first of them ([`crate::Engine::reassign`]). It
    /// may be empty for `null` and `sim`.
    pub files: &'a [OpenFile],
    /// The names of files or directories, for an engine that works on names.
    pub names: Names<'a>,
    /// Slots (1 and up). Synchronous engines use one at a time.
    pub depth: u32,
    /// Bytes of the largest transfer; a request beyond it is a bug and panics.
    pub block_bytes_max: u64,
    /// Alignment of the buffers in bytes, a power of two; 0: the page.
    pub memory_align: u32,
    /// What the buffers are made of.
    pub memory: Memory,
    /// Whether the pages of the buffers are touched before the first request.
    pub populated: bool,
    /// Flags of sync_file_range for [`fsdyno_workload::OpKind::SyncRange`]: bit 0 wait before, 1 write, 2 wait after.
    pub sync_range_flags: u32,
    /// `io_submit_mode=offload`: threads make the calls of this engine, one thread per slot.
    pub offload: bool,
    /// Whether the job writes no data: then discards may be in flight like other requests. Otherwise each discard is
    /// done before the next request.
    pub discards_alone: bool,
    /// The madvise(2) of mappings (`mmap`); files are advised by [`OpenFile::advise`].
    pub advice: Advice,
    /// Options of the engine; those of other engines are ignored.
    pub options: EngineOptions,
    /// The clock of all engines but `sim`.
    pub clock: RealClock,
}

/// Names of files or directories, numbered by [`fsdyno_workload::Op::file`], and the direction that operations on
/// them count for.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    /// The paths.
    pub paths: Vec<&'a Path>,
    /// The direction.
    pub counted_as: Direction,
}

impl Names<'_> {
    /// For an engine that works on open files, or on nothing.
    pub const NONE: Names<'static> = Names { paths: Vec::new(), counted_as: Direction::Read };
}

impl EngineSetup<'_> {
    /// Makes the buffers for this setup.
    pub(crate) fn arena(&self) -> Result<Arena, ArenaError> {
        let arena = Arena::new(&ArenaShape {
            depth: self.depth,
            block_bytes_max: self.block_bytes_max,
            align: self.memory_align,
            memory: self.memory.clone(),
        })?;
        if self.populated {
            arena.populate();
        }
        Ok(arena)
    }
}

impl EngineSetupError {
    /// errno.
    pub fn code(&self) -> i32 {
        match self {
            EngineSetupError::Buffers(_) => errno::ENOMEM,
            EngineSetupError::File(error) => error.code,
            EngineSetupError::Refused { code, .. } => *code,
            EngineSetupError::Option { .. } => errno::EINVAL,
        }
    }
}

/// Why an engine could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineSetupError {
    /// There is no memory for the buffers.
    #[error(transparent)]
    Buffers(#[from] ArenaError),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refuses the engine as a whole.
    #[error(
        "ioengine={engine}: {call}: {text}; {advice}",
        engine = engine.name(),
        text = std::io::Error::from_raw_os_error(*code)
    )]
    Refused {
        /// The engine.
        engine: EngineName,
        /// The system call.
        call: &'static str,
        /// errno.
        code: i32,
        /// The likely cause and the next step.
        advice: String,
    },
    /// An option of the engine cannot be honoured.
    #[error("ioengine={engine}: {option}: {reason}", engine = engine.name())]
    Option {
        /// The engine.
        engine: EngineName,
        /// The option.
        option: &'static str,
        /// Why, and the next step.
        reason: String,
    },
}
