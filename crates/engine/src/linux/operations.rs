//! One operation on a name for each file and pass, with the first of its requests: `filecreate`, `filestat`,
//! `filedelete`, `filerename`, `dircreate`, `dirstat`, `dirdelete`. The requests themselves move nothing.

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

/// What a renamed file's name ends in.
const RENAMED: &str = ".renamed";

/// The names of a worker, and how far the pass is.
#[derive(Debug)]
pub(crate) struct Operations {
    engine: EngineName,
    stat: StatCall,
    names: Box<[CString]>,
    /// Where each file is renamed to: its old name, once it has been.
    targets: Box<[CString]>,
    /// Those whose operation is over in this pass.
    over: Box<[bool]>,
    /// The file that was created last: it is closed outside of everybody's time.
    created: Option<OwnedFd>,
    counted_as: Direction,
    latest_ns: Option<u64>,
}

impl Operations {
    /// Makes the directories that are looked at or removed.
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

    /// The operation of the request's file, if it is the first of the pass. Answers [`OPERATION`] or the negated errno.
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
                // Whatever stands at the new name stays.
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

    /// Each file has an operation once more.
    pub(crate) fn begin_pass(&mut self) {
        self.over.fill(false);
    }

    /// The time of the operation that the latest request made, and where it is counted.
    pub(crate) fn latest(&self) -> Option<(Direction, u64)> {
        Some((self.counted_as, self.latest_ns?))
    }
}

const DIRECTORY_MODE: Mode = Mode::RWXU;

/// One that is there already serves.
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
