//! Finds the folders and files of this machine that a daemon or a stacked filesystem serves: the source of its mount,
//! or the branches of mergerfs and unionfs.

use std::path::{Path, PathBuf};

use super::{ContentPart, LayerQuery};
use crate::is_fuse;
use crate::linux::{Look, identity, processes};
use fsdyno_results::evidence::Mount;
use fsdyno_stats::sort;

/// Filesystems of the kernel whose source is a folder or a file.
const STACKED: [&str; 3] = ["ecryptfs", "wrapfs", "erofs"];

/// Daemons that list their folders in the command line, separated by colons, each followed by `=RW`.
const UNIONS: [&str; 4] = [MERGERFS, "unionfs", "unionfs-fuse", "mhddfs"];

/// This daemon reports its branches itself.
const MERGERFS: &str = "mergerfs";

/// Daemons whose folder is the first word of the command line that is a folder.
const SINGLE: [&str; 5] = ["encfs", "gocryptfs", "cryfs", "securefs", "bindfs"];

/// Longest answer of mergerfs that is read, bytes.
const ANSWER_BYTES: usize = 16 << 10;

/// The parts that a mount serves, as far as they are on this machine. `asked`: an existing path below it.
pub(super) fn parts(look: &Look, mount: &Mount, asked: Option<LayerQuery<'_>>) -> Vec<ContentPart> {
    let source = Path::new(&mount.source);
    // Some daemons have the source `/dev/fuse`, which holds no data.
    let holds_data = |path: &Path| path.is_dir() || path.is_file();
    let folder = || named(source, "source").filter(|part| holds_data(&part.path));
    if STACKED.contains(&mount.fstype.as_str()) {
        return folder().into_iter().collect();
    }
    let kind = mount.fstype.strip_prefix("fuse.").unwrap_or_default();
    let known = UNIONS.contains(&kind) || SINGLE.contains(&kind) || kind == "fuse-overlayfs" || holds_data(source);
    if !is_fuse(&mount.fstype) || !known {
        return Vec::new();
    }
    if UNIONS.contains(&kind) {
        let list = branches(look, mount);
        let own = asked.and_then(|asked| {
            branch_of(look, mount, asked.path).filter(|own| {
                // A file that is written may first be copied to a branch above.
                kind == MERGERFS || !asked.writes || list.first() == Some(own)
            })
        });
        return branches_of(list, own.as_deref());
    }
    let Some(words) = words_of_daemon(look, mount) else { return Vec::new() };
    if kind == "fuse-overlayfs" {
        let upper = identity::fuse_option(&words, "upperdir").unwrap_or_default();
        return named(Path::new(&upper), "upper directory").into_iter().collect();
    }
    folder().or_else(|| named(of_words(&words, mount).first()?, "source")).into_iter().collect()
}

/// The command line of the daemon. Its names are those of the daemon's namespace, which must also be this process's.
fn words_of_daemon(look: &Look, mount: &Mount) -> Option<Vec<String>> {
    let daemon = identity::fuse_daemon_at(look, &mount.mount_point).ok()?;
    let same = processes::shares_namespace(look, daemon.pid, "mnt") == Ok(true);
    same.then_some(daemon.command_line)
}

/// The branches of a union, the topmost first; empty if they are not visible. They are read once per look.
fn branches(look: &Look, mount: &Mount) -> Vec<PathBuf> {
    let mut seen = look.branches();
    let list = seen.entry(mount.mount_point.clone()).or_insert_with(|| {
        let Some(words) = words_of_daemon(look, mount) else { return Vec::new() };
        let reported = attribute(&mount.mount_point.join(".mergerfs"), "user.mergerfs.branches");
        reported.map_or_else(|| of_words(&words, mount), |branches| of_list(&branches))
    });
    list.clone()
}

/// The branch of a union that has a file. mergerfs reports it; the other daemons use the first branch that has it.
pub(in crate::linux) fn branch_of(look: &Look, mount: &Mount, file: &Path) -> Option<PathBuf> {
    let kind = mount.fstype.strip_prefix("fuse.").filter(|kind| UNIONS.contains(kind) && file.is_file())?;
    if kind == MERGERFS {
        return attribute(file, "user.mergerfs.basepath").map(PathBuf::from);
    }
    let file = file.canonicalize().ok()?;
    let inner = file.strip_prefix(&mount.mount_point).ok()?;
    branches(look, mount).into_iter().find(|branch| branch.join(inner).is_file())
}

fn named(path: &Path, role: &str) -> Option<ContentPart> {
    let part =
        || ContentPart { role: format!("{role} {}", path.display()), path: path.to_owned(), holds_other_data: false };
    path.is_absolute().then(part)
}

/// All branches; those without the file lie aside.
fn branches_of(list: Vec<PathBuf>, own: Option<&Path>) -> Vec<ContentPart> {
    let aside = |path: &Path| own.is_some_and(|own| own != path);
    let parts =
        list.iter().filter_map(|path| Some(ContentPart { holds_other_data: aside(path), ..named(path, "branch")? }));
    let mut parts: Vec<ContentPart> = parts.collect();
    sort::by_key(&mut parts, |part| part.holds_other_data);
    parts
}

/// Reads a list such as `/a=RW:/b=NC,1G`.
fn of_list(text: &str) -> Vec<PathBuf> {
    let names = text.split([':', ';']).map(|one| one.split('=').next().unwrap_or_default());
    names.filter(|name| name.starts_with('/')).map(PathBuf::from).collect()
}

/// The folders in the first word of a command line that lists folders and is not the mount point.
fn of_words(words: &[String], mount: &Mount) -> Vec<PathBuf> {
    let lists = words.iter().skip(1).map(|word| of_list(word));
    let is_list = |list: &Vec<PathBuf>| list.iter().any(|path| *path != mount.mount_point && path.exists());
    lists.into_iter().find(is_list).unwrap_or_default()
}

/// An extended attribute as text.
fn attribute(path: &Path, name: &str) -> Option<String> {
    let mut buffer = vec![0u8; ANSWER_BYTES];
    let length = rustix::fs::getxattr(path, name, &mut buffer[..]).ok()?;
    buffer.truncate(length);
    String::from_utf8(buffer).ok().map(|text| text.trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    #[test]
    fn branches_and_the_one_that_has_the_file() {
        let list = of_list("/disk1=RW:/disk2=NC,1G");
        assert_eq!(list, [PathBuf::from("/disk1"), PathBuf::from("/disk2")]);
        let parts = branches_of(list.clone(), Some(Path::new("/disk2")));
        let found: Vec<_> = parts.iter().map(|part| (part.role.as_str(), part.holds_other_data)).collect();
        assert_eq!(found, [("branch /disk2", false), ("branch /disk1", true)]);
        assert!(branches_of(list, None).iter().all(|part| !part.holds_other_data), "a new file may go to any of them");
    }

    #[test]
    fn folders_in_a_command_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let mount = fixture::mount("fuse.unionfs", "/m", "unionfs", "");
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = words(&format!("unionfs -o cow {path}=RW:/lower=RO /m"));
        assert_eq!(of_words(&line, &mount), [folder.path().to_owned(), PathBuf::from("/lower")]);
        assert_eq!(of_words(&words("encfs /m"), &mount), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_another_filesystem_serves_is_its_own_matter() {
        let of = |fstype: &str, source: &str| parts(&Look::new(), &fixture::mount(fstype, "/m", source, ""), None);
        assert_eq!(of("ecryptfs", "/proc")[0].role, "source /proc");
        assert_eq!(of("ecryptfs", "/no/such/place"), []);
        assert_eq!(of("fuse.s3fs", "s3fs"), []);
        assert_eq!(of("btrfs", "/proc"), []);
    }
}
