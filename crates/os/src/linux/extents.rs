//! Reads the extents of a file with FIEMAP.

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::files::Extents;

/// Number of extents that one call asks for.
const BATCH: usize = 256;

/// Largest number of calls: a file with a million extents must not delay the run.
const BATCHES_MAX: usize = 256;

/// `_IOWR('f', 11, struct fiemap)`
const FS_IOC_FIEMAP: u32 = 0xC020_660B;

/// Dirty pages are written back first.
const FLAG_SYNC: u32 = 1;

const EXTENT_LAST: u32 = 0x1;
const EXTENT_DELALLOC: u32 = 0x4;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_INLINE: u32 = 0x200;
const EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENT_SHARED: u32 = 0x2000;

/// The kernel's `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The kernel's `struct fiemap` with room for its extents.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

const _: () = assert!(std::mem::size_of::<Extent>() == 56 && std::mem::offset_of!(Request, extents) == 32);

/// Adds up the extents of the first `length` bytes.
pub(crate) fn extents(fd: BorrowedFd<'_>, length: u64, flush: bool) -> Result<Extents, i32> {
    let mut sums = Extents::default();
    let mut request = Box::new(Request {
        start: 0,
        length,
        flags: if flush { FLAG_SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    for _ in 0..BATCHES_MAX {
        if sums.examined_bytes >= length {
            break;
        }
        (request.start, request.length) = (sums.examined_bytes, length - sums.examined_bytes);
        ask(fd, &mut request)?;
        let found = &request.extents[..(request.mapped_extents as usize).min(BATCH)];
        add(&mut sums, found, length);
        request.flags = 0;
    }
    Ok(sums)
}

fn ask(fd: BorrowedFd<'_>, request: &mut Request) -> Result<(), i32> {
    request.mapped_extents = 0;
    // SAFETY: the kernel reads the head of `request` and fills at most `extent_count` extents, for which there is
    // room; the layout is the kernel's, as asserted above.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), FS_IOC_FIEMAP as _, std::ptr::from_mut(request)) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
}

/// Adds one batch and returns where the next one begins. An extent may begin before the range and end after it.
fn add(sums: &mut Extents, found: &[Extent], length: u64) {
    for extent in found {
        let begin = extent.logical.max(sums.examined_bytes);
        let end = extent.logical.saturating_add(extent.length).min(length);
        let bytes = end.saturating_sub(begin);
        sums.count += 1;
        sums.examined_bytes = end.max(sums.examined_bytes);
        if extent.flags & EXTENT_UNWRITTEN != 0 {
            sums.unwritten_bytes += bytes;
            continue;
        }
        sums.written_bytes += bytes;
        if extent.flags & EXTENT_ENCODED != 0 {
            sums.encoded_bytes += bytes;
        }
        if extent.flags & EXTENT_DELALLOC != 0 {
            sums.delayed_bytes += bytes;
        }
        if extent.flags & EXTENT_INLINE != 0 {
            sums.inline_bytes += bytes;
        }
        if extent.flags & EXTENT_SHARED != 0 {
            sums.shared_bytes += bytes;
        }
    }
    // Without extents, or after the last one, the rest is a hole. A batch that is not full is also the last one.
    let last = found.last().is_none_or(|extent| extent.flags & EXTENT_LAST != 0);
    if last || found.len() < BATCH {
        sums.examined_bytes = length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn extent(logical: u64, length: u64, flags: u32) -> Extent {
        Extent { logical, length, flags, ..Extent::default() }
    }

    #[test]
    fn extents_add_up_by_what_they_are() {
        let found = [
            extent(0, MIB, 0),
            extent(MIB, MIB, EXTENT_UNWRITTEN),
            // A hole of 1 MiB is before this extent.
            extent(3 * MIB, MIB, EXTENT_ENCODED | EXTENT_SHARED),
            extent(4 * MIB, MIB, EXTENT_DELALLOC | EXTENT_INLINE),
            // This extent reaches beyond the end, as after preallocation.
            extent(5 * MIB, 9 * MIB, EXTENT_UNWRITTEN | EXTENT_LAST),
        ];
        let mut sums = Extents::default();
        add(&mut sums, &found, 6 * MIB);
        let expected = Extents {
            written_bytes: 3 * MIB,
            unwritten_bytes: 2 * MIB,
            encoded_bytes: MIB,
            delayed_bytes: MIB,
            inline_bytes: MIB,
            shared_bytes: MIB,
            count: 5,
            examined_bytes: 6 * MIB,
        };
        assert_eq!(sums, expected);
    }

    #[test]
    fn a_full_batch_is_gone_on_from_where_it_ended() {
        let found = vec![extent(0, MIB, 0); BATCH];
        let mut sums = Extents::default();
        add(&mut sums, &found, 9 * MIB);
        assert_eq!(sums.examined_bytes, MIB, "more may follow");
        add(&mut sums, &[], 9 * MIB);
        assert_eq!((sums.examined_bytes, sums.written_bytes), (9 * MIB, MIB), "the rest is a hole");
    }
}
