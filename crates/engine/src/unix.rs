//! The engines that POSIX allows on any Unix: a beginning of `system` for another Unix than Linux. On Linux they are
//! compiled and tested, but not used.

mod positioned;

use std::os::fd::AsRawFd;

use fsdyno_job::EngineName;

use crate::choice::{EngineVisitor, equip};
use crate::setup::{EngineSetup, EngineSetupError};
use fsdyno_os::files::OpenFile;

/// Makes an engine of any Unix and calls `visitor` with it.
///
/// # Errors
/// If the engine needs more than POSIX has.
pub fn with_engine<V: EngineVisitor>(setup: &EngineSetup<'_>, visitor: V) -> Result<V::Output, EngineSetupError> {
    match setup.name {
        EngineName::Sync | EngineName::Psync => {
            // A filesystem of Linux may refuse this; macOS takes it as a hint.
            let direct = setup.files.iter().filter(|file| file.mode().direct);
            for file in direct {
                uncached(file).map_err(|code| refused(setup.name, "fcntl", code, "use --direct=0"))?;
            }
            Ok(equip(setup, visitor, positioned::Positioned::new(setup)?))
        }
        name => Err(refused(name, "POSIX", libc::ENOSYS, "use ioengine=psync")),
    }
}

fn refused(engine: EngineName, call: &'static str, code: i32, advice: &str) -> EngineSetupError {
    EngineSetupError::Refused { engine, call, code, advice: advice.to_owned() }
}

/// Makes transfers bypass the page cache: `F_NOCACHE` on macOS, the flag `O_DIRECT` elsewhere.
fn uncached(file: &OpenFile) -> Result<(), i32> {
    let descriptor = fsdyno_os::fd::AsFd::as_fd(file).as_raw_fd();
    #[cfg(target_vendor = "apple")]
    // SAFETY: the descriptor is open, and the command takes a number.
    let answer = unsafe { libc::fcntl(descriptor, libc::F_NOCACHE, 1) };
    #[cfg(not(target_vendor = "apple"))]
    // SAFETY: the descriptor is open; both commands take and return numbers.
    let answer =
        unsafe { libc::fcntl(descriptor, libc::F_SETFL, libc::fcntl(descriptor, libc::F_GETFL) | libc::O_DIRECT) };
    if answer == -1 { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) } else { Ok(()) }
}
