//! Makes the system calls on the path itself. A dead server or daemon can block them for ever, so that a thread makes
//! them and the caller waits with a timeout.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::nfs;
use crate::linux::layers::{self, LayerQuery};
use crate::linux::{Look, block, class, mounts, paths};
use crate::{Fact, FileKind, NotVisible};
use fsdyno_results::evidence::{BlockDevice, DeviceNumber, DirectIo, Layer, Mount, NfsRoot, Space};

/// Time after which a path counts as one that does not answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Stack of the thread that makes the calls, bytes.
const STACK_BYTES: usize = 512 * 1024;

/// Number of names in a directory that are tried, to find a file that can be asked about direct I/O.
const SAMPLE_NAMES: usize = 64;

/// Answers about a path.
#[derive(Debug)]
pub(super) struct PathAnswers {
    /// Whether something exists there.
    pub(super) exists: Fact<bool>,
    /// Kind of the file at the resolved path.
    pub(super) kind: FileKind,
    /// The path, or its nearest existing parent, without links.
    pub(super) resolved: Fact<PathBuf>,
    pub(super) mount: Fact<Mount>,
    pub(super) space: Fact<Space>,
    pub(super) direct_io: Fact<DirectIo>,
    /// The mount that holds the data of an overlay.
    pub(super) data_mount: Option<Mount>,
    /// The layers that the data lie on.
    pub(super) layers: Vec<Layer>,
    /// The whole disks behind it.
    pub(super) devices: Fact<Vec<BlockDevice>>,
    /// The device's number, if the path is a device.
    pub(super) device: Option<DeviceNumber>,
    pub(super) attributes: StatxAttributes,
    /// The root of its mount, if it is an NFS mount.
    pub(super) nfs_root: Option<NfsRoot>,
    /// The filesystem's identifier.
    pub(super) filesystem_id: Option<u64>,
}

/// Asks, and gives up on a path that does not answer. If no thread can be started, it asks without a timeout, because
/// most paths answer.
pub(super) fn place(look: &Look, path: &Path, writes: bool) -> PathAnswers {
    let own = look.clone();
    let (sender, receiver) = mpsc::channel();
    let asked = path.to_path_buf();
    let asking = move || {
        // If this fails, the caller no longer waits.
        let _ = sender.send(ask(&own, LayerQuery { path: &asked, writes }));
    };
    if fsdyno_os::thread::begin("place", STACK_BYTES, asking).is_err() {
        return ask(look, LayerQuery { path, writes });
    }
    receiver.recv_timeout(ANSWER_TIMEOUT).unwrap_or_else(|_| {
        silent(look, path, &NotVisible::new("stat", format!("no response within {} s", ANSWER_TIMEOUT.as_secs())))
    })
}

fn ask(look: &Look, asked: LayerQuery<'_>) -> PathAnswers {
    let path = asked.path;
    let errno = match std::fs::metadata(path) {
        Ok(metadata) => return answering(look, asked, true, &metadata),
        // An error without a number: the name was refused before the kernel saw it.
        Err(error) => error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error),
    };
    match errno {
        _ if path.as_os_str().is_empty() => impossible(errno),
        Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG | Errno::INVAL => impossible(errno),
        Errno::NOENT => {
            let parent = mounts::nearest_existing(path);
            match std::fs::metadata(&parent) {
                Ok(metadata) => answering(look, LayerQuery { path: &parent, writes: true }, false, &metadata),
                Err(_) => silent(look, path, &silence(errno)),
            }
        }
        _ => silent(look, path, &silence(errno)),
    }
}

/// The answers for a path that cannot exist.
fn impossible(errno: Errno) -> PathAnswers {
    PathAnswers { exists: Ok(false), ..unknown(&silence(errno)) }
}

/// The answers for a path that exists and answers.
fn answering(look: &Look, asked: LayerQuery<'_>, is_asked_for: bool, metadata: &Metadata) -> PathAnswers {
    let path = asked.path;
    // Attributes may come from a cache that outlives the daemon or the server; the space does not.
    let state = rustix::fs::statvfs(path);
    if let Err(errno @ (Errno::NOTCONN | Errno::STALE)) = state {
        return silent(look, path, &silence(errno));
    }
    let kind = paths::kind_of(metadata.file_type());
    let resolved = mounts::nearest_existing(path);
    let is_device = matches!(kind, FileKind::BlockDevice | FileKind::CharacterDevice);
    let device_instead = || NotVisible::new(path.display(), "is a device, not on a filesystem");
    let mount = if is_device { Err(device_instead()) } else { mounts::mount_of(look, path) };
    let asked = LayerQuery { path: &resolved, ..asked };
    let device = block::disk_number(look, &resolved).filter(|_| is_device);
    let leads_nowhere = kind == FileKind::CharacterDevice && device.is_none();
    let layers = if leads_nowhere { Vec::new() } else { layers::of_path(look, asked) };
    PathAnswers {
        exists: Ok(is_asked_for),
        kind,
        direct_io: direct_io(&resolved, kind, mount.as_ref().ok()),
        space: if is_device { Err(device_instead()) } else { paths::space(path) },
        data_mount: mount.as_ref().ok().and_then(|mount| layers::data_mount(look, mount, asked)),
        filesystem_id: state.ok().map(|state| state.f_fsid).filter(|id| !is_device && *id != 0),
        nfs_root: mount.as_ref().ok().filter(|mount| nfs::is_nfs(&mount.fstype)).and_then(nfs_root),
        mount,
        devices: layers::devices(look, &layers),
        layers,
        device,
        attributes: attributes(&resolved),
        resolved: Ok(resolved),
    }
}

/// The answers for a path that does not answer: what the kernel's tables contain about its name.
fn silent(look: &Look, path: &Path, reason: &NotVisible) -> PathAnswers {
    let mount = mounts::mount_by_name(look, path);
    let layers = mount.as_ref().map_or_else(|_| Vec::new(), |mount| layers::of_mount(look, mount));
    PathAnswers {
        devices: mount.as_ref().map_err(NotVisible::clone).and_then(|_| layers::devices(look, &layers)),
        layers,
        mount,
        ..unknown(reason)
    }
}

/// Why a path does not answer, and the likely cause if it is known.
fn silence(errno: Errno) -> NotVisible {
    let meaning = match errno {
        Errno::NOTCONN => ": its daemon has ended",
        Errno::STALE => ": its server no longer knows the path",
        _ => "",
    };
    NotVisible::new("stat", format!("{}{meaning}", super::seen::without_number(&errno.to_string())))
}

fn unknown(reason: &NotVisible) -> PathAnswers {
    let without_path = NotVisible::new("stat", "stat failed for this path");
    PathAnswers {
        exists: Err(reason.clone()),
        kind: FileKind::Missing,
        resolved: Err(reason.clone()),
        mount: Err(without_path.clone()),
        space: Err(without_path.clone()),
        direct_io: Err(without_path.clone()),
        data_mount: None,
        layers: Vec::new(),
        devices: Err(without_path),
        device: None,
        attributes: StatxAttributes::empty(),
        filesystem_id: None,
        nfs_root: None,
    }
}

/// Direct I/O there. The kernel reports it for files; for a directory, a file in it or above it is asked. Names of
/// remote directories are not read, because there may be millions and each is a request.
fn direct_io(path: &Path, kind: FileKind, mount: Option<&Mount>) -> Fact<DirectIo> {
    let unknown = |reason: &str| NotVisible::new("statx", reason);
    let file = match kind {
        FileKind::Directory if mount.is_some_and(class::is_remote) => {
            return Err(unknown("the kernel reports it for files only, and this is a directory"));
        }
        FileKind::Directory => a_file_near(path, mount).ok_or_else(|| {
            unknown("the kernel reports it for files only, and no file is in this directory or above")
        })?,
        _ => path.to_path_buf(),
    };
    let silent = || match mount {
        Some(mount) => unknown(&format!("{} does not report it, or the kernel is older than 6.1", mount.fstype)),
        None => unknown("the driver does not report it, or the kernel is older than 6.1"),
    };
    let reported = paths::direct_io(&file);
    reported.or_else(|| is_refused(&file, mount).then_some(DirectIo::Refused)).ok_or_else(silent)
}

/// Whether direct I/O is refused by a filesystem that does not report it, such as squashfs. Opening a file of a local
/// filesystem shows it, without I/O.
fn is_refused(file: &Path, mount: Option<&Mount>) -> bool {
    let is_local = mount.is_some_and(|mount| class::by_type(mount).is_none());
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
    is_local && file.is_file() && rustix::fs::open(file, flags, Mode::empty()).is_err_and(|error| error == Errno::INVAL)
}

/// A file in the directory; if there is none, a file in a directory above on the same mount.
fn a_file_near(directory: &Path, mount: Option<&Mount>) -> Option<PathBuf> {
    let on_mount = |above: &&Path| mount.is_some_and(|mount| above.starts_with(&mount.mount_point));
    directory.ancestors().take_while(on_mount).find_map(a_file_in)
}

fn a_file_in(directory: &Path) -> Option<PathBuf> {
    let names = std::fs::read_dir(directory).ok()?.take(SAMPLE_NAMES).flatten();
    let mut files = names.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.next().map(|entry| entry.path())
}

/// Asked of the server, because other clients may have changed it.
fn nfs_root(mount: &Mount) -> Option<NfsRoot> {
    let stat = rustix::fs::statx(CWD, &*mount.mount_point, AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS).ok()?;
    let changed = Duration::new(stat.stx_ctime.tv_sec.try_into().ok()?, stat.stx_ctime.tv_nsec);
    Some(NfsRoot { inode: stat.stx_ino, changed_ns: changed.as_nanos().try_into().ok()? })
}

fn attributes(path: &Path) -> StatxAttributes {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS);
    stat.map_or(StatxAttributes::empty(), |stat| stat.stx_attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(path: &Path) -> PathAnswers {
        place(&Look::new(), path, false)
    }

    #[test]
    fn what_is_there_what_is_not_and_what_cannot_be() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        fs::write(real.join("file"), "12345").unwrap();
        let found = of(&real.join("./file"));
        assert_eq!((found.exists, found.kind, found.resolved), (Ok(true), FileKind::Regular, Ok(real.join("file"))));
        assert!(found.mount.is_ok() && found.space.is_ok());

        let missing = of(&real.join("a/b"));
        assert_eq!(
            (missing.exists, missing.kind, missing.resolved),
            (Ok(false), FileKind::Directory, Ok(real.clone()))
        );
        assert_eq!(missing.mount, found.mount);

        for nonsense in [real.join("file/below"), PathBuf::new(), "n".repeat(300).into(), "a\0b".into()] {
            let place = of(&nonsense);
            assert_eq!(place.exists, Ok(false), "{}", nonsense.display());
            assert!(place.resolved.is_err() && place.mount.is_err(), "{}", nonsense.display());
        }
    }

    #[test]
    fn a_device_is_on_no_filesystem() {
        let place = of(Path::new("/dev/null"));
        assert_eq!(place.kind, FileKind::CharacterDevice);
        assert!(place.mount.is_err() && place.space.is_err());
    }

    #[test]
    fn what_does_not_answer_is_known_by_its_name() {
        let reason = NotVisible::new("stat", "Transport endpoint is not connected");
        let place = silent(&Look::new(), Path::new("/proc/self/./nothing"), &reason);
        assert_eq!(place.exists, Err(reason));
        assert_eq!(place.mount.unwrap().fstype, "proc");
    }

    #[test]
    fn a_directory_is_asked_through_a_file_in_it() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("below")).unwrap();
        assert_eq!(a_file_in(directory.path()), None);
        fs::write(directory.path().join("file"), "").unwrap();
        assert_eq!(a_file_in(directory.path()), Some(directory.path().join("file")));
        let mount = mounts::mount_of(&Look::new(), directory.path()).ok();
        let below = directory.path().join("below");
        assert_eq!(a_file_near(&below, mount.as_ref()), Some(directory.path().join("file")));
        assert_eq!(a_file_near(&below, None), None, "not past the mount point");
    }
}
