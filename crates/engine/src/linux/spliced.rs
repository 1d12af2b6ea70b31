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
    /// Bytes of a buffer that a socket has not taken yet.
    lent: usize,
}

impl Pipe {
    pub(crate) fn new() -> Result<Pipe, Errno> {
        let (outlet, inlet) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Pipe { outlet, inlet, lent: 0 })
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

    /// Takes from a socket what has arrived; 0: its peer sends no more.
    pub(super) fn receive(&self, socket: BorrowedFd<'_>, place: &mut [u8]) -> Result<usize, Errno> {
        let length = place.len().min(PART_BYTES);
        let bytes = rustix::pipe::splice(socket, None, &self.inlet, None, length, SpliceFlags::MOVE)?;
        let mut taken = 0;
        while taken < bytes {
            taken += uninterrupted(|| rustix::io::read(&self.outlet, &mut place[taken..bytes]))?;
        }
        Ok(bytes)
    }

    /// Gives a socket some of `place`, which begins behind what it has taken before.
    pub(super) fn send(&mut self, socket: BorrowedFd<'_>, place: &[u8]) -> Result<usize, Errno> {
        if self.lent == 0 {
            self.lent = uninterrupted(|| self.lend(&place[..place.len().min(PART_BYTES)]))?;
        }
        let given = rustix::pipe::splice(&self.outlet, None, socket, None, self.lent, SpliceFlags::MOVE)?;
        self.lent -= given;
        Ok(given)
    }

    /// Lends pages of the buffer to the pipe, as many as it takes.
    fn lend(&self, part: &[u8]) -> Result<usize, Errno> {
        let slices = [IoSliceRaw::from_slice(part)];
        // SAFETY: the kernel only reads the pages and keeps them until it is done, whatever becomes of the buffer. A file
        // has them before `transfer` returns the buffer; what a socket still sends is meaningless data.
        unsafe { rustix::pipe::vmsplice(&self.inlet, &slices, SpliceFlags::empty()) }
    }
}
