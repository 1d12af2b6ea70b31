//! System calls on files. Every failure is returned as errno; `crate::files` adds the text.

use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::path::Path;

use fsdyno_job::{Fallocate, SyncOpen};
use rustix::fs::{AtFlags, FallocateFlags, FileType, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;

use crate::files::{Advice, DirectAlignment, FileAccess, FileFacts, FileKind, OpenMode, Stamp};

/// How often a call is repeated after a signal interrupted it.
pub(crate) const INTERRUPTIONS_MAX: u32 = 100;

const _: () = assert!(std::mem::size_of::<libc::off_t>() == 8, "offsets beyond 2 GiB need a 64-bit off_t");

pub(crate) fn errno(error: Errno) -> i32 {
    error.raw_os_error()
}

/// The result of a libc call that returns -1 and sets errno.
fn checked(answer: libc::c_int) -> Result<(), i32> {
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
}

/// Repeats a call that a signal interrupted, a limited number of times.
#[inline]
pub fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut outcome = call();
    let mut interruptions = 0;
    while matches!(outcome, Err(Errno::INTR)) && interruptions < INTERRUPTIONS_MAX {
        interruptions += 1;
        outcome = call();
    }
    outcome
}

pub(crate) fn open(path: &Path, mode: OpenMode) -> Result<OwnedFd, i32> {
    let flags = flags(mode);
    uninterrupted(|| rustix::fs::open(path, flags, Mode::from_raw_mode(CREATED_MODE))).map_err(errno)
}

/// Opens a file below an open directory.
pub(crate) fn open_beneath(root: BorrowedFd<'_>, name: &Path, mode: OpenMode) -> Result<OwnedFd, i32> {
    super::beneath::open(root, name, flags(mode), CREATED_MODE)
}

/// Readable by all users, writable by the owner, reduced by the umask.
const CREATED_MODE: u32 = 0o644;

fn flags(mode: OpenMode) -> OFlags {
    let mut flags = OFlags::CLOEXEC;
    flags |= match mode.access {
        FileAccess::Read => OFlags::RDONLY,
        FileAccess::Write => OFlags::WRONLY,
        FileAccess::ReadWrite => OFlags::RDWR,
    };
    flags |= match mode.sync {
        SyncOpen::None => OFlags::empty(),
        SyncOpen::Sync => OFlags::SYNC,
        SyncOpen::Dsync => OFlags::DSYNC,
    };
    flags.set(OFlags::CREATE, mode.create);
    flags.set(OFlags::DIRECT, mode.direct);
    flags
}

pub(crate) fn kind(fd: BorrowedFd<'_>) -> Result<FileKind, i32> {
    let stat = rustix::fs::fstat(fd).map_err(errno)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::Regular,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::Directory => return Err(libc::EISDIR),
        _ => FileKind::Other,
    })
}

pub(crate) fn size(fd: BorrowedFd<'_>, kind: FileKind) -> Result<u64, i32> {
    match kind {
        FileKind::BlockDevice => rustix::fs::seek(fd, SeekFrom::End(0)).map_err(errno),
        _ => Ok(rustix::fs::fstat(fd).map_err(errno)?.st_size as u64),
    }
}

/// Allocated bytes. The kernel counts in units of 512 bytes, whatever the block size of the filesystem is.
pub(crate) fn allocated(fd: BorrowedFd<'_>) -> Result<u64, i32> {
    Ok((rustix::fs::fstat(fd).map_err(errno)?.st_blocks as u64).saturating_mul(512))
}

pub(crate) fn direct_alignment(fd: BorrowedFd<'_>) -> Option<DirectAlignment> {
    let statx = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let reported = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::DIOALIGN);
    reported.then_some(DirectAlignment { memory: statx.stx_dio_mem_align, offset: statx.stx_dio_offset_align })
}

/// Tells the kernel how a range will be used; length 0 means up to the end.
pub fn advise(fd: BorrowedFd<'_>, advice: Advice, offset: u64, length: u64) -> Result<(), i32> {
    use rustix::fs::Advice as Fadvise;
    let advice = match advice {
        Advice::Normal => Fadvise::Normal,
        Advice::Random => Fadvise::Random,
        Advice::Sequential => Fadvise::Sequential,
        Advice::NoReuse => Fadvise::NoReuse,
        Advice::DontNeed => Fadvise::DontNeed,
    };
    rustix::fs::fadvise(fd, offset, std::num::NonZeroU64::new(length), advice).map_err(errno)
}

pub(crate) fn hint_lifetime(fd: BorrowedFd<'_>, number: u8) -> Result<(), i32> {
    const SET_RW_HINT: libc::c_int = 1036;
    let number = u64::from(number);
    // SAFETY: the call reads the number, which outlives the call.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), SET_RW_HINT, &raw const number) })
}

pub(crate) fn allocate(fd: BorrowedFd<'_>, how: Fallocate, length: u64) -> Result<(), i32> {
    match how {
        Fallocate::None => Ok(()),
        Fallocate::Native => fallocate(fd, FallocateFlags::empty(), length),
        Fallocate::Keep => fallocate(fd, FallocateFlags::KEEP_SIZE, length),
        Fallocate::Truncate => truncate(fd, length),
        Fallocate::Posix => {
            let length = libc::off_t::try_from(length).map_err(|_| libc::EFBIG)?;
            // SAFETY: the descriptor is open for as long as it is borrowed; no memory is passed.
            match unsafe { libc::posix_fallocate(fd.as_raw_fd(), 0, length) } {
                0 => Ok(()),
                code => Err(code),
            }
        }
    }
}

fn fallocate(fd: BorrowedFd<'_>, flags: FallocateFlags, length: u64) -> Result<(), i32> {
    uninterrupted(|| rustix::fs::fallocate(fd, flags, 0, length)).map_err(errno)
}

pub(crate) fn truncate(fd: BorrowedFd<'_>, length: u64) -> Result<(), i32> {
    uninterrupted(|| rustix::fs::ftruncate(fd, length)).map_err(errno)
}

/// Makes data and metadata durable.
pub fn sync(fd: BorrowedFd<'_>) -> Result<(), i32> {
    uninterrupted(|| rustix::fs::fsync(fd)).map_err(errno)
}

/// Makes the data durable, with the metadata that reading it needs.
pub fn sync_data(fd: BorrowedFd<'_>) -> Result<(), i32> {
    uninterrupted(|| rustix::fs::fdatasync(fd)).map_err(errno)
}

/// Writes back a range of the page cache; `flags` are those of sync_file_range.
pub fn sync_range(fd: BorrowedFd<'_>, offset: u64, length: u64, flags: u32) -> Result<(), i32> {
    let offset = i64::try_from(offset).map_err(|_| libc::EINVAL)?;
    let length = i64::try_from(length).map_err(|_| libc::EINVAL)?;
    // SAFETY: the descriptor is open for as long as it is borrowed; no memory is passed.
    checked(unsafe { libc::sync_file_range(fd.as_raw_fd(), offset, length, flags) })
}

pub(crate) fn sync_filesystem(fd: BorrowedFd<'_>) -> Result<(), i32> {
    rustix::fs::syncfs(fd).map_err(errno)
}

/// Writes back and drops all cached pages of a block device (BLKFLSBUF; needs CAP_SYS_ADMIN).
pub(crate) fn flush_device_cache(fd: BorrowedFd<'_>) -> Result<(), i32> {
    const BLKFLSBUF: u32 = 0x1261;
    // SAFETY: this request takes no argument, so no memory is passed.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), BLKFLSBUF as _, 0) })
}

/// Discards a range: BLKDISCARD on a block device, a punched hole in a file.
pub fn discard(fd: BorrowedFd<'_>, kind: FileKind, offset: u64, length: u64) -> Result<(), i32> {
    const BLKDISCARD: u32 = 0x1277;
    if kind == FileKind::BlockDevice {
        let range = [offset, length];
        // SAFETY: the request reads two 64-bit numbers, which `range` holds until the call returns.
        return checked(unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) });
    }
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    uninterrupted(|| rustix::fs::fallocate(fd, flags, offset, length)).map_err(errno)
}

/// Exchanges blocks of two ext4 files (EXT4_IOC_MOVE_EXT): `count` blocks from block `first` on, in both files. Returns
/// the number of blocks that were exchanged.
pub fn exchange_extents(file: BorrowedFd<'_>, donor: RawFd, first: u64, count: u64) -> Result<u64, i32> {
    const EXT4_IOC_MOVE_EXT: u32 = 0xc028_660f;
    // The kernel's `struct move_extent`: two numbers of 32 bits (reserved, donor), then four of 64 bits.
    let donor = (donor as u32).to_ne_bytes();
    let mut head = [0; 8];
    head[4..].copy_from_slice(&donor);
    let mut request = [u64::from_ne_bytes(head), first, first, count, 0];
    // SAFETY: the request reads and writes 40 bytes, which `request` holds until the call returns.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), EXT4_IOC_MOVE_EXT as _, request.as_mut_ptr()) })?;
    Ok(request[4])
}

pub(crate) fn write_all_at(fd: BorrowedFd<'_>, mut data: &[u8], mut offset: u64) -> Result<(), i32> {
    while !data.is_empty() {
        let written = uninterrupted(|| rustix::io::pwrite(fd, data, offset)).map_err(errno)?;
        if written == 0 {
            return Err(libc::EIO);
        }
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

pub(crate) fn read_full_at(fd: BorrowedFd<'_>, data: &mut [u8], offset: u64) -> Result<usize, i32> {
    let mut done = 0;
    while done < data.len() {
        let count = uninterrupted(|| rustix::io::pread(fd, &mut data[done..], offset + done as u64)).map_err(errno)?;
        if count == 0 {
            break;
        }
        done += count;
    }
    Ok(done)
}

/// From now on the descriptor `old` leads to the file of `new`.
pub(crate) fn replace(old: BorrowedFd<'_>, new: OwnedFd) -> Result<(), i32> {
    let position = rustix::fs::tell(old).map_err(errno)?;
    rustix::fs::seek(&new, SeekFrom::Start(position)).map_err(errno)?;
    // SAFETY: both descriptors are open, and the number of the old one stays with its owner.
    match unsafe { libc::dup3(new.as_raw_fd(), old.as_raw_fd(), libc::O_CLOEXEC) } {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
        _ => Ok(()),
    }
}

/// Another descriptor of the same file.
pub(crate) fn duplicate(fd: BorrowedFd<'_>) -> Result<OwnedFd, i32> {
    rustix::io::fcntl_dupfd_cloexec(fd, 0).map_err(errno)
}

pub(crate) fn close(fd: OwnedFd) -> Result<(), i32> {
    // SAFETY: `into_raw_fd` gives the ownership up here, so nobody uses or closes this descriptor again.
    match checked(unsafe { libc::close(fd.into_raw_fd()) }) {
        // Linux has closed the descriptor even if a signal interrupted the call.
        Err(libc::EINTR) => Ok(()),
        outcome => outcome,
    }
}

pub(crate) fn remove(path: &Path) -> Result<(), i32> {
    rustix::fs::unlink(path).map_err(errno)
}

/// A builder for directories that only this user can access.
pub(crate) fn private_directories() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Values that change with the content of a file.
pub(crate) fn stamp(metadata: &std::fs::Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let ns = |seconds: i64, ns: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(ns).cast_unsigned();
    let (written, changed) = ((metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec()));
    [metadata.len(), ns(written.0, written.1), ns(changed.0, changed.1), metadata.ino()]
}

/// Kind and size of the file at a path, links followed.
pub(crate) fn look(path: &Path) -> std::io::Result<FileFacts> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let metadata = std::fs::metadata(path)?;
    let kind = metadata.file_type();
    let kind = match () {
        () if kind.is_file() => Some(FileKind::Regular),
        () if kind.is_block_device() => Some(FileKind::BlockDevice),
        () if kind.is_char_device() => Some(FileKind::CharacterDevice),
        () if kind.is_dir() => None,
        () => Some(FileKind::Other),
    };
    Ok(FileFacts { kind, size_bytes: metadata.len(), allocated_bytes: metadata.blocks().saturating_mul(512) })
}
