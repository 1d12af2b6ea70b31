//! Finds the daemon process of a FUSE mount.

use std::path::{Path, PathBuf};

use crate::linux::{Look, mounts, secrets};
use crate::{Fact, FuseDaemon, NotVisible, is_fuse};
use fsdyno_results::evidence::{DeviceNumber, Mount};
use fsdyno_stats::sort;

/// A process that may be the daemon.
#[derive(Debug)]
struct Candidate {
    pid: u32,
    words: Vec<String>,
    /// It has /dev/fuse open.
    holds_device: bool,
    /// It has the connection of exactly this mount (reported by the kernel since 6.16).
    holds_connection: bool,
    /// Its command line names the mount point.
    names_mount_point: bool,
    /// Its program has the name of the filesystem type.
    named_like_type: bool,
}

impl Candidate {
    /// How certain it is the daemon: greater is more certain; `None`: nothing connects it to the mount. An open
    /// /dev/fuse alone is no connection, because many daemons have it.
    fn rank(&self) -> Option<(bool, bool, bool, bool)> {
        let linked = self.holds_connection
            || self.names_mount_point && (self.holds_device || self.named_like_type)
            || self.holds_device && self.named_like_type;
        linked.then_some((self.holds_connection, self.names_mount_point, self.holds_device, self.named_like_type))
    }
}

/// The daemon of a FUSE mount.
pub(in crate::linux) fn daemon_of(look: &Look, mount: &Mount) -> Fact<FuseDaemon> {
    let place = "/proc";
    let processes = std::fs::read_dir(&look.proc).map_err(|error| NotVisible::new(look.proc.display(), error))?;
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let candidates = pids.filter_map(|pid: u32| candidate(&look.proc.join(pid.to_string()), pid, mount));
    let mut ranked: Vec<_> = candidates.filter_map(|found| Some((found.rank()?, found))).collect();
    // A watcher and the worker that it started have the same command line. The worker has the device open; otherwise
    // the process that started first is taken.
    sort::by_key(&mut ranked, |(rank, found)| (std::cmp::Reverse(*rank), found.pid));
    let Some((rank, found)) = ranked.first() else {
        return Err(NotVisible::new(place, "no process visible to this user matches the mount"));
    };
    // There are several daemons of one kind, and nothing shows which one serves the mount.
    let certain = found.holds_connection || found.names_mount_point;
    if !certain && ranked.get(1).is_some_and(|(other, _)| other == rank) {
        return Err(NotVisible::new(place, "several daemons match, and none names the mount point"));
    }
    Ok(FuseDaemon { pid: found.pid, command_line: secrets::blank_words(&found.words) })
}

fn candidate(directory: &Path, pid: u32, mount: &Mount) -> Option<Candidate> {
    let line = std::fs::read(directory.join("cmdline")).ok()?;
    let words: Vec<String> = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let program = file_name(words.first()?);
    // Some daemons have this process beside them, which unmounts after they have ended.
    if program.is_empty() || program.starts_with("fusermount") {
        return None;
    }
    let open = fuse_descriptors(directory);
    let kind = mount.fstype.strip_prefix("fuse.");
    Some(Candidate {
        pid,
        holds_device: !open.is_empty(),
        holds_connection: open.iter().any(|descriptor| connection(descriptor) == Some(mount.device)),
        names_mount_point: words.iter().skip(1).any(|word| names(word, &mount.mount_point)),
        named_like_type: kind.is_some_and(|kind| program == kind || program.strip_prefix("mount.") == Some(kind)),
        words,
    })
}

/// The fdinfo files of all descriptors of /dev/fuse; none if the process belongs to another user.
fn fuse_descriptors(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join("fd")).into_iter().flatten().flatten();
    let open = entries.filter(|entry| entry.path().read_link().is_ok_and(|target| target == Path::new("/dev/fuse")));
    open.map(|entry| directory.join("fdinfo").join(entry.file_name())).collect()
}

/// The device number of the connection that a descriptor serves.
fn connection(descriptor: &Path) -> Option<DeviceNumber> {
    let text = std::fs::read_to_string(descriptor).ok()?;
    let number: u32 = text.lines().find_map(|line| line.strip_prefix("fuse_connection:"))?.trim().parse().ok()?;
    // The kernel's layout: 12 bits of major number above 20 bits of minor number.
    Some(DeviceNumber { major: number >> 20, minor: number & 0xf_ffff })
}

/// Whether a word is the mount point, or a relative path that is the end of it.
fn names(word: &str, mount_point: &Path) -> bool {
    let path = Path::new(word.strip_prefix("./").unwrap_or(word));
    let is_path = !word.is_empty() && path.components().next().is_some();
    is_path && mount_point != Path::new("/") && mount_point.ends_with(path)
}

/// The last part of a program's path.
pub(super) fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The daemon of the FUSE mount at `mount_point`.
pub(in crate::linux) fn daemon_at(look: &Look, mount_point: &Path) -> Fact<FuseDaemon> {
    let all = mounts::mounts(look)?;
    let found = all.iter().rev().find(|mount| mount.mount_point == mount_point);
    let mount =
        found.ok_or_else(|| NotVisible::new("mountinfo", format!("{} is not a mount point", mount_point.display())))?;
    if !is_fuse(&mount.fstype) {
        return Err(NotVisible::new("mountinfo", format!("{} is {}, not FUSE", mount_point.display(), mount.fstype)));
    }
    daemon_of(look, mount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::{self, Tree, tree};
    use std::fs;
    use std::os::unix::fs::symlink;

    fn mount(fstype: &str, mount_point: &str) -> Mount {
        Mount { device: DeviceNumber { major: 0, minor: 41 }, ..fixture::mount(fstype, mount_point, "s3fs", "") }
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// Makes a process with a command line; `connection`: the content of the fdinfo of its /dev/fuse.
    fn process(tree: &Tree, pid: u32, line: &str, connection: Option<&str>) {
        let directory = tree.look.proc.join(pid.to_string());
        fs::create_dir_all(directory.join("fd")).unwrap();
        fs::create_dir_all(directory.join("fdinfo")).unwrap();
        fs::write(directory.join("cmdline"), line.replace(' ', "\0") + "\0").unwrap();
        symlink("/dev/null", directory.join("fd/0")).unwrap();
        if let Some(text) = connection {
            symlink("/dev/fuse", directory.join("fd/5")).unwrap();
            fs::write(directory.join("fdinfo/5"), text).unwrap();
        }
    }

    fn pid(tree: &Tree, mount: &Mount) -> Option<u32> {
        daemon_of(&tree.look, mount).ok().map(|daemon| daemon.pid)
    }

    #[test]
    fn the_connection_decides() {
        let tree = tree();
        process(&tree, 10, "s3fs a /mnt/s3", Some("pos:\t0\nfuse_connection:\t40\n"));
        process(&tree, 11, "renamed elsewhere", Some("pos:\t0\nfuse_connection:\t41\n"));
        assert_eq!(pid(&tree, &mount("fuse.s3fs", "/mnt/s3")), Some(11));
    }

    #[test]
    fn a_connection_names_its_device() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "pos:\t0\nfuse_connection:\t8388625\n").unwrap();
        assert_eq!(connection(file.path()), Some(DeviceNumber { major: 8, minor: 17 }));
        fs::write(file.path(), "pos:\t0\n").unwrap();
        assert_eq!(connection(file.path()), None);
    }

    #[test]
    fn the_mount_point_in_the_command_line_decides_on_older_kernels() {
        let tree = tree();
        process(&tree, 10, "s3fs a /mnt/other", Some(""));
        process(&tree, 11, "s3fs b ./s3 -o passwd=word", Some(""));
        process(&tree, 12, "fusermount3 -o rw -- /mnt/s3", Some(""));
        process(&tree, 13, "tail -f /mnt/s3", None);
        process(&tree, 9, "sudo s3fs b /mnt/s3", None);
        let daemon = daemon_of(&tree.look, &mount("fuse.s3fs", "/mnt/s3")).unwrap();
        assert_eq!(daemon, FuseDaemon { pid: 11, command_line: words("s3fs b ./s3 -o passwd=***") });
    }

    #[test]
    fn a_daemon_of_another_user_is_known_by_its_name() {
        let tree = tree();
        process(&tree, 10, "/usr/bin/s3fs b /mnt/s3", None);
        process(&tree, 11, "vim /mnt/s3", None);
        assert_eq!(pid(&tree, &mount("fuse.s3fs", "/mnt/s3")), Some(10));
    }

    #[test]
    fn several_that_fit_are_none() {
        let tree = tree();
        process(&tree, 10, "s3fs a there", Some(""));
        assert_eq!(pid(&tree, &mount("fuse.s3fs", "/mnt/s3")), Some(10), "the only one of its kind");
        assert_eq!(pid(&tree, &mount("fuse.sshfs", "/mnt/s3")), None, "the only daemon, but of another kind");
        process(&tree, 11, "s3fs b elsewhere", Some(""));
        let reason = daemon_of(&tree.look, &mount("fuse.s3fs", "/mnt/s3")).unwrap_err().reason;
        assert!(reason.contains("several"), "{reason}");
    }

    #[test]
    fn a_watcher_and_its_worker_are_told_apart() {
        let tree = tree();
        process(&tree, 10, "juicefs mount redis://h/1 /jfs", None);
        process(&tree, 11, "juicefs mount redis://h/1 /jfs", Some(""));
        assert_eq!(pid(&tree, &mount("fuse.juicefs", "/jfs")), Some(11));
    }

    #[test]
    fn only_fuse_mounts_have_daemons() {
        assert!(daemon_at(&Look::new(), Path::new("/proc")).unwrap_err().reason.contains("not FUSE"));
    }
}
