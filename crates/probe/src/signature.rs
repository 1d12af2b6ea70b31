//! Recognises the content of a device by the signatures in its first and last bytes: a filesystem, a volume, a
//! partition table.

mod checks;
mod marks;

use std::io::{Read, Result, Seek, SeekFrom};

use checks::CHECKS;
use marks::{MARKS, Mark};

/// Number of first bytes that are read; the last signature in them is that of VMFS, at 2 MiB.
const HEAD_BYTES: u64 = (2 << 20) + 4096;
/// Number of last bytes that are read; the first signature in them is that of ZFS, which uses units of 256 KiB.
const TAIL_BYTES: u64 = 768 << 10;

/// The first and the last bytes of a device.
#[derive(Default)]
pub(crate) struct Ends {
    /// Size of the device, bytes; 0: not known, and there is no tail.
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Offset of the tail.
    tail_offset: u64,
}

impl Ends {
    /// Reads them; if the size is not known, only the head.
    pub(crate) fn read(mut device: impl Read + Seek, size: Option<u64>) -> Result<Ends> {
        let size = size.unwrap_or(0);
        let mut ends = Ends { size, head: read_up_to(&mut device, HEAD_BYTES)?, ..Ends::default() };
        if size > HEAD_BYTES {
            ends.tail_offset = size.saturating_sub(TAIL_BYTES).max(HEAD_BYTES);
            device.seek(SeekFrom::Start(ends.tail_offset))?;
            ends.tail = read_up_to(&mut device, size - ends.tail_offset)?;
        }
        Ok(ends)
    }

    /// The `length` bytes at an offset, if they were read.
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let (bytes, start) = if offset < self.tail_offset || self.tail.is_empty() {
            (&self.head, offset)
        } else {
            (&self.tail, offset - self.tail_offset)
        };
        let start = usize::try_from(start).ok()?;
        bytes.get(start..start.checked_add(length)?)
    }

    fn has(&self, offset: u64, mark: &[u8]) -> bool {
        self.at(offset, mark.len()) == Some(mark)
    }

    fn holds(&self, mark: &Mark) -> bool {
        let offset = if mark.from_end { self.size.checked_sub(mark.offset.into()) } else { Some(mark.offset.into()) };
        offset.is_some_and(|offset| self.has(offset, mark.bytes))
    }
}

/// The next `length` bytes, fewer at the end of the device.
fn read_up_to(device: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    // One buffer of whole sectors, because raw disks of Windows can only be read in this way.
    let mut bytes = vec![0; length as usize];
    let mut done = 0;
    while done < bytes.len() {
        match device.read(&mut bytes[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

/// The content that these bytes indicate; `None`: nothing that is known here.
pub(crate) fn signature_of(ends: &Ends) -> Option<&'static str> {
    let marked = || MARKS.iter().find(|mark| ends.holds(mark)).map(|mark| mark.name);
    let checked = || CHECKS.iter().find(|(is_held, _)| is_held(ends)).map(|(_, name)| *name);
    marked().or_else(checked)
}

#[cfg(test)]
mod tests;
