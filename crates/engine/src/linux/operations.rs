//! Engines on names: one operation for each file and pass, made with the first request of the file. `filecreate`,
//! `filestat`, `filedelete`, `filerename`, `dircreate`, `dirstat`, `dirdelete`. The requests themselves move no data.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fsdyno_job::{Direction, EngineName, StatCall};
use fsdyno_workload::Op;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, StatxFlags};
use rustix::io::Errno;

use crate::contract::OPERATION;
use crate::setup::EngineSetup;
use fsdyno_os::clock::Clock;
use fsdyno_os::files::FileError;

/// Suffix of the name of a renamed file.
const RENAMED: &str = ".renamed";

/// The names of a worker, and the progress of the current pass.
#[derive(Debug)]
pub(crate) struct Operations {
    engine: EngineName,
    stat: StatCall,
    names: Box<[CString]>,
    /// The new name of each file; after the operation, its old name.
    targets: Box<[CString]>,
    /// Which files have had their operation in this pass.
    over: Box<[bool]>,
    /// The file that was created last. It is closed later, outside of every operation's time.
    created: Option<OwnedFd>,
    counted_as: Direction,
    latest_ns: Option<u64>,
}

impl Operations {
    /// Takes the names, and makes the directories that `dirstat` and `dirdelete` need.
    pub(crate) fn new(setup: &EngineSetup<'_>) -> Result<Operations, FileError> {
        let paths = &setup.names.paths;
        if matches!(setup.name, EngineName::Dirstat | EngineName::Dirdelete) {
            paths.iter().try_for_each(|path| prepare_directory(path))?;
        }
        let ending = |ending: &str| -> Result<Box<[CString]>, FileError> {
            paths.iter().map(|path| c_name(path, ending)).collect()
        };
        let renames = setup.name == EngineName::Filerename;
        Ok(Operations {
            engine: setup.name,
            stat: setup.options.stat,
            names: ending("")?,
            targets: if renames { ending(RENAMED)? } else { Box::default() },
            over: vec![false; paths.len()].into_boxed_slice(),
            created: None,
            counted_as: setup.names.counted_as,
            latest_ns: None,
        })
    }

    /// Makes the operation of the request's file, if this is its first request of the pass. Returns [`OPERATION`] or
    /// the negated errno.
    #[cold]
    pub(crate) fn request(&mut self, op: &Op, clock: &impl Clock) -> i64 {
        self.latest_ns = None;
        let index = op.file as usize;
        if self.over[index] {
            return OPERATION;
        }
        self.created = None;
        let began_ns = clock.now_ns();
        let outcome = self.perform(index);
        let ended_ns = clock.now_ns();
        match outcome {
            Ok(()) => {
                self.over[index] = true;
                self.latest_ns = Some(ended_ns.saturating_sub(began_ns));
                OPERATION
            }
            Err(error) => -i64::from(error.raw_os_error()),
        }
    }

    fn perform(&mut self, index: usize) -> Result<(), Errno> {
        let name = &self.names[index];
        match self.engine {
            EngineName::Filecreate => {
                let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
                self.created = Some(rustix::fs::open(name, flags, Mode::RUSR | Mode::WUSR)?);
                Ok(())
            }
            EngineName::Filedelete => rustix::fs::unlink(name),
            EngineName::Filerename => {
                // A file that already has the new name is not replaced.
                rustix::fs::renameat_with(CWD, name, CWD, &self.targets[index], RenameFlags::NOREPLACE)?;
                std::mem::swap(&mut self.names[index], &mut self.targets[index]);
                Ok(())
            }
            EngineName::Dircreate => rustix::fs::mkdir(name, DIRECTORY_MODE),
            EngineName::Dirdelete => rustix::fs::rmdir(name),
            _ => match self.stat {
                StatCall::Stat => rustix::fs::stat(name).map(drop),
                StatCall::Lstat => rustix::fs::lstat(name).map(drop),
                StatCall::Statx => rustix::fs::statx(CWD, name, AtFlags::empty(), StatxFlags::BASIC_STATS).map(drop),
            },
        }
    }

    /// Begins a pass: each file will have an operation again.
    pub(crate) fn begin_pass(&mut self) {
        self.over.fill(false);
    }

    /// The time of the operation of the latest request, and the direction that it counts for.
    pub(crate) fn latest(&self) -> Option<(Direction, u64)> {
        Some((self.counted_as, self.latest_ns?))
    }
}

const DIRECTORY_MODE: Mode = Mode::RWXU;

/// Makes the directory; an existing directory is used as it is.
fn prepare_directory(path: &Path) -> Result<(), FileError> {
    match rustix::fs::mkdir(path, DIRECTORY_MODE) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(FileError::of("create the directory", path, error.raw_os_error())),
    }
}

fn c_name(path: &Path, ending: &str) -> Result<CString, FileError> {
    let name = [path.as_os_str(), OsStr::new(ending)].map(OsStrExt::as_bytes).concat();
    CString::new(name).map_err(|_| FileError::of("name", path, libc::EINVAL))
}
