//! `splice`: transfers through a pipe. A read splices the pages of the file into the pipe and reads them from it; a
//! write lends the pages of the buffer to the pipe and splices them into the file.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};

use fsdyno_os::linux::files::uninterrupted;

/// Bytes per pass through the pipe: its default capacity.
const PART_BYTES: usize = 64 << 10;

/// The pipe, which is empty between two transfers.
#[derive(Debug)]
pub(crate) struct Pipe {
    outlet: OwnedFd,
    inlet: OwnedFd,
}

impl Pipe {
    pub(crate) fn new() -> Result<Pipe, Errno> {
        let (outlet, inlet) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Pipe { outlet, inlet })
    }

    /// Reads or writes. Transfers fewer bytes at the end of the file, or if a part failed after earlier parts
    /// succeeded.
    #[cold]
    pub(crate) fn transfer(
        &mut self,
        fd: BorrowedFd<'_>,
        place: &mut [u8],
        offset: u64,
        read: bool,
    ) -> Result<usize, Errno> {
        let mut done = 0;
        while done < place.len() {
            let end = place.len().min(done + PART_BYTES);
            let part = &mut place[done..end];
            let at = offset + done as u64;
            match if read { self.read(fd, part, at) } else { self.write(fd, part, at) } {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) => {
                    // The rest in the pipe belongs to no other transfer, and may be pages of the buffer: a new pipe
                    // replaces it.
                    *self = Pipe::new()?;
                    return if done > 0 { Ok(done) } else { Err(error) };
                }
            }
        }
        Ok(done)
    }

    fn read(&self, fd: BorrowedFd<'_>, part: &mut [u8], mut offset: u64) -> Result<usize, Errno> {
        let flags = SpliceFlags::MOVE;
        let bytes =
            uninterrupted(|| rustix::pipe::splice(fd, Some(&mut offset), &self.inlet, None, part.len(), flags))?;
        let mut taken = 0;
        while taken < bytes {
            taken += uninterrupted(|| rustix::io::read(&self.outlet, &mut part[taken..bytes]))?;
        }
        Ok(bytes)
    }

    fn write(&self, fd: BorrowedFd<'_>, part: &[u8], mut offset: u64) -> Result<usize, Errno> {
        let lent = uninterrupted(|| self.lend(part))?;
        let mut given = 0;
        while given < lent {
            let left = lent - given;
            let flags = SpliceFlags::MOVE;
            match uninterrupted(|| rustix::pipe::splice(&self.outlet, None, fd, Some(&mut offset), left, flags))? {
                0 => return Err(Errno::IO),
                bytes => given += bytes,
            }
        }
        Ok(given)
    }

    /// Lends pages of the buffer to the pipe, as many as it takes.
    fn lend(&self, part: &[u8]) -> Result<usize, Errno> {
        let slices = [IoSliceRaw::from_slice(part)];
        // SAFETY: the pages are only read, and are not changed before the pipe is empty or closed: `transfer` has the
        // buffer until then.
        unsafe { rustix::pipe::vmsplice(&self.inlet, &slices, SpliceFlags::empty()) }
    }
}
