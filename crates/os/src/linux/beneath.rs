//! System calls on names below an open directory: links are never followed and mounts never crossed.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Gid, Mode, OFlags, ResolveFlags, StatxFlags, Uid};
use rustix::io::Errno;

use super::files::{INTERRUPTIONS_MAX, errno, uninterrupted};
use crate::files::{DirectoryEntry, EntryKind, Identity};

/// Whether the kernel lacks openat2(2) or a filter forbids it: then names are walked step by step.
static BY_STEPS: AtomicBool = AtomicBool::new(false);

/// Opens a name below a directory.
pub(crate) fn open(root: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: u32) -> Result<OwnedFd, i32> {
    check_name(name)?;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    // openat2 refuses a mode if the flags do not use it.
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(mode) } else { Mode::empty() };
    if !BY_STEPS.load(Ordering::Relaxed) {
        match open_at_once(root, name, flags, mode) {
            // Filters of containers answer EPERM to unknown calls; the walk shows which case it was.
            Err(Errno::NOSYS | Errno::PERM) => {}
            outcome => return outcome.map_err(errno),
        }
        let outcome = open_by_steps(root, name, flags, mode);
        if outcome.is_ok() {
            BY_STEPS.store(true, Ordering::Relaxed);
        }
        return outcome.map_err(errno);
    }
    open_by_steps(root, name, flags, mode).map_err(errno)
}

/// Opens a directory below a directory.
pub(crate) fn enter(root: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, i32> {
    open(root, name, OFlags::RDONLY | OFlags::DIRECTORY, 0)
}

/// Makes a new file for reading and writing.
pub(crate) fn create_new(root: BorrowedFd<'_>, name: &Path, mode: u32) -> Result<OwnedFd, i32> {
    open(root, name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode)
}

/// Opens an existing file for reading and writing, without waiting for a pipe.
pub(crate) fn open_old(root: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, i32> {
    open(root, name, OFlags::RDWR | OFlags::NONBLOCK, 0)
}

/// The present path of an open directory; `None`: it was removed, or the path is not visible.
pub(crate) fn current_path(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = Path::new("/proc/self/fd").join(fd.as_raw_fd().to_string()).read_link().ok()?;
    let found = std::fs::symlink_metadata(&path).ok()?;
    let ours = identity(fd).ok()?;
    ((found.dev(), found.ino()) == (ours.device, ours.inode)).then_some(path)
}

/// Whether this user owns the file.
pub(crate) fn is_ours(entry: &DirectoryEntry) -> bool {
    entry.owner == rustix::process::geteuid().as_raw()
}

/// Names of this program are plain: they do not lead to a parent or to the root.
fn check_name(name: &Path) -> Result<(), i32> {
    let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && name.components().next().is_some() { Ok(()) } else { Err(libc::EXDEV) }
}

fn open_at_once(root: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let mut outcome = Err(Errno::AGAIN);
    // EAGAIN: something was renamed or mounted during the call.
    for _ in 0..INTERRUPTIONS_MAX {
        outcome = uninterrupted(|| rustix::fs::openat2(root, name, flags, mode, resolve));
        if !matches!(outcome, Err(Errno::AGAIN)) {
            break;
        }
    }
    outcome
}

fn open_by_steps(root: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let home = mount_of(root)?;
    let within = |found: OwnedFd| if mount_of(found.as_fd())? == home { Ok(found) } else { Err(Errno::XDEV) };
    let mut parts: Vec<_> = name.components().collect();
    let Some(last) = parts.pop() else { return Err(Errno::INVAL) };
    let mut at: Option<OwnedFd> = None;
    for part in parts {
        let from = at.as_ref().map_or(root, AsFd::as_fd);
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        at = Some(within(uninterrupted(|| rustix::fs::openat(from, part.as_os_str(), step, Mode::empty()))?)?);
    }
    let from = at.as_ref().map_or(root, AsFd::as_fd);
    within(uninterrupted(|| rustix::fs::openat(from, last.as_os_str(), flags | OFlags::NOFOLLOW, mode))?)
}

/// The mount, if the kernel reports it; and the device.
fn mount_of(fd: BorrowedFd<'_>) -> Result<(Option<u64>, u64), Errno> {
    let device = rustix::fs::fstat(fd)?.st_dev;
    let statx = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
    let reported = statx.ok().filter(|statx| statx.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    Ok((reported.map(|statx| statx.stx_mnt_id), device))
}

/// The identity of an open file.
pub(crate) fn identity(fd: BorrowedFd<'_>) -> Result<Identity, i32> {
    let stat = rustix::fs::fstat(fd).map_err(errno)?;
    Ok(Identity { device: stat.st_dev, inode: stat.st_ino })
}

/// The entry of an open file: identity, owner and size.
pub(crate) fn look_at(fd: BorrowedFd<'_>) -> Result<DirectoryEntry, i32> {
    rustix::fs::fstat(fd).map(|stat| entry(&stat)).map_err(errno)
}

/// The entry of a name in a directory; for a link, the link itself.
pub(crate) fn look(root: BorrowedFd<'_>, name: &Path) -> Result<DirectoryEntry, i32> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statat(root, name, flags).map(|stat| entry(&stat)).map_err(errno)
}

fn entry(stat: &rustix::fs::Stat) -> DirectoryEntry {
    DirectoryEntry {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::Regular,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        },
        identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        owner: stat.st_uid,
        names: stat.st_nlink as _,
        size_bytes: stat.st_size as u64,
        allocated_bytes: (stat.st_blocks as u64).saturating_mul(512),
    }
}

/// The names in a directory, without `.` and `..`.
pub(crate) fn names(directory: BorrowedFd<'_>) -> Result<Vec<std::ffi::OsString>, i32> {
    use std::os::unix::ffi::OsStrExt;
    // A new file description: the position of the open directory belongs to its owner.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = uninterrupted(|| rustix::fs::openat(directory, c".", flags, Mode::empty())).map_err(errno)?;
    let mut names = Vec::new();
    for entry in Dir::new(own).map_err(errno)? {
        let entry = entry.map_err(errno)?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(std::ffi::OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// Opens a directory that the user named; links on the way are followed.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd, i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    uninterrupted(|| rustix::fs::open(path, flags, Mode::empty())).map_err(errno)
}

/// Opens the directory in which a file is made whole. Root follows no link of another user in its last name: that user
/// would choose where root writes.
pub(crate) fn open_directory_of_file(path: &Path) -> Result<OwnedFd, i32> {
    if !rustix::process::geteuid().is_root() {
        return open_directory(path);
    }
    let open = |flags| uninterrupted(|| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())).map_err(errno);
    match open(OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW) {
        Err(crate::errno::ELOOP | crate::errno::ENOTDIR) => {
            let found = look_at(open(OFlags::PATH | OFlags::NOFOLLOW)?.as_fd())?;
            let is_foreign = found.kind == EntryKind::Link && found.owner != 0;
            if is_foreign { Err(crate::errno::ELOOP) } else { open_directory(path) }
        }
        opened => opened,
    }
}

pub(crate) fn make_directory(root: BorrowedFd<'_>, name: &Path, mode: u32) -> Result<(), i32> {
    rustix::fs::mkdirat(root, name, Mode::from_raw_mode(mode)).map_err(errno)
}

/// Removes a name that is not a directory.
pub(crate) fn unlink(root: BorrowedFd<'_>, name: &Path) -> Result<(), i32> {
    rustix::fs::unlinkat(root, name, AtFlags::empty()).map_err(errno)
}

/// Removes an empty directory.
pub(crate) fn remove_directory(root: BorrowedFd<'_>, name: &Path) -> Result<(), i32> {
    rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR).map_err(errno)
}

/// Gives a file the mode of the file that it will replace, and its owner and group if permitted. With `private`, only
/// the owner may read and write it, whatever the old mode allows.
pub(crate) fn take_after(file: BorrowedFd<'_>, root: BorrowedFd<'_>, name: &Path, private: bool) {
    let old = rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW);
    let (Ok(old), Ok(new)) = (old, rustix::fs::fstat(file)) else { return };
    if FileType::from_raw_mode(old.st_mode) != FileType::RegularFile {
        return;
    }
    let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
    let mut mode = old.st_mode & if private { 0o600 } else { 0o777 };
    if new.st_gid != old.st_gid && rustix::fs::fchown(file, None, Some(group)).is_err() {
        // The new group may have more members than the old one.
        mode &= !0o070;
    }
    // The filesystem has no modes, or this user may not give files away: the file stays this user's.
    let _ = rustix::fs::fchmod(file, Mode::from_raw_mode(mode));
    if new.st_uid != old.st_uid {
        let _ = rustix::fs::fchown(file, Some(owner), None);
    }
}

pub(crate) fn rename(root: BorrowedFd<'_>, from: &Path, to: &Path) -> Result<(), i32> {
    rustix::fs::renameat(root, from, root, to).map_err(errno)
}

/// Tries to lock a file. The lock belongs to the open file description: it ends with its last descriptor, also after
/// a kill.
pub(crate) fn flock(fd: BorrowedFd<'_>) -> Result<(), i32> {
    rustix::fs::flock(fd, FlockOperation::NonBlockingLockExclusive).map_err(errno)
}

/// Tries to lock a file for this process.
pub(crate) fn fcntl_lock(fd: BorrowedFd<'_>) -> Result<(), i32> {
    rustix::fs::fcntl_lock(fd, FlockOperation::NonBlockingLockExclusive).map_err(errno)
}

/// Bytes and inodes of the filesystem of an open directory: `(total, available)` of each.
pub(crate) fn space(fd: BorrowedFd<'_>) -> Result<[(u64, u64); 2], i32> {
    let stat = rustix::fs::fstatvfs(fd).map_err(errno)?;
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    Ok([(bytes(stat.f_blocks), bytes(stat.f_bavail)), (stat.f_files, stat.f_favail)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Both ways refuse names that lead out of the directory.
    #[test]
    fn no_way_leads_out() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "theirs").unwrap();
        std::fs::write(inside.join("sub/file"), "ours").unwrap();
        symlink(outside.join("file"), inside.join("link")).unwrap();
        symlink(&outside, inside.join("way")).unwrap();
        let root = open_directory(&inside).unwrap();
        type OpenCall = fn(BorrowedFd<'_>, &Path, OFlags, Mode) -> Result<OwnedFd, Errno>;
        for (name, way) in [("openat2", open_at_once as OpenCall), ("steps", open_by_steps as OpenCall)] {
            let open = |path: &str| way(root.as_fd(), Path::new(path), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
            match open("sub/file") {
                Err(Errno::NOSYS | Errno::PERM) if name == "openat2" => continue,
                outcome => drop(outcome.unwrap()),
            }
            assert!(matches!(open("link"), Err(Errno::LOOP)), "{name}");
            assert!(open("way/file").is_err(), "{name}");
            assert!(matches!(open("missing"), Err(Errno::NOENT)), "{name}");
        }
        for astray in ["../outside/file", "/etc/passwd", "sub/../../outside/file", ".", ""] {
            assert_eq!(open_below(&root, astray), Err(libc::EXDEV), "{astray}");
        }
    }

    fn open_below(root: &OwnedFd, name: &str) -> Result<(), i32> {
        open(root.as_fd(), Path::new(name), OFlags::RDONLY, 0).map(drop)
    }

    #[test]
    fn a_mount_is_not_entered() {
        // The test may not mount anything, but the kernel has mounts of its own.
        let root = open_directory(Path::new("/")).unwrap();
        for (name, outcome) in [
            ("openat2", open_at_once(root.as_fd(), Path::new("proc/version"), OFlags::RDONLY, Mode::empty())),
            ("steps", open_by_steps(root.as_fd(), Path::new("proc/version"), OFlags::RDONLY, Mode::empty())),
        ] {
            assert!(matches!(outcome, Err(Errno::XDEV | Errno::NOSYS | Errno::PERM)), "{name}: {outcome:?}");
        }
    }
}
