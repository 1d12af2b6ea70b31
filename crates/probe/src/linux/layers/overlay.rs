//! Finds the directories of an overlay, and which of them has the data of a path.

use std::path::{Path, PathBuf};

use super::{ContentPart, LayerQuery};
use crate::linux::{Look, class, mounts};
use fsdyno_results::evidence::{Mount, StorageClass};

/// How often the spaces of two filesystems are compared, because other programs may change one of them meanwhile.
const COMPARISONS: usize = 3;

/// The directories, the one with the data first. A relative name belongs to the working directory of the process that
/// mounted it, and cannot be found.
pub(super) fn parts(mount: &Mount, asked: LayerQuery<'_>) -> Vec<ContentPart> {
    let upper = mount.option("upperdir").map(PathBuf::from);
    let lower = lower(mount);
    let inner = inner(mount, asked.path);
    let is_file = asked.path.is_file();
    let has = |directory: &&PathBuf| is_file && directory.join(&inner).symlink_metadata().is_ok();
    let holding = match &upper {
        Some(upper) if asked.writes || !is_file || has(&upper) => Some(upper),
        _ => lower.iter().find(has).or(upper.as_ref()),
    };
    // For a directory that cannot be written, it is not known which file will be read.
    let part = |word: &str, directory: &PathBuf| ContentPart {
        role: format!("{word} directory {}", directory.display()),
        path: if Some(directory) == holding && has(&directory) { directory.join(&inner) } else { directory.clone() },
        holds_other_data: holding.is_some_and(|holding| holding != directory),
    };
    let all = upper.iter().map(|upper| part("upper", upper)).chain(lower.iter().map(|lower| part("lower", lower)));
    let (holding, mut aside): (Vec<ContentPart>, Vec<ContentPart>) = all.partition(|part| !part.holds_other_data);
    let mut parts = holding;
    parts.append(&mut aside);
    parts
}

/// A mount of the filesystem that holds the upper directory, found by its space: an overlay reports the blocks and
/// inodes of that filesystem, total and free. `None`: there is none, or several are equal.
pub(super) fn upper_by_space(look: &Look, overlay: &Mount) -> Option<Mount> {
    // Only filesystems on disks and memory of this machine are asked, because they answer at once.
    let answers = |mount: &&Mount| matches!(class::by_type(mount), None | Some(StorageClass::Memory));
    let others = mounts::mounts(look).ok()?.iter().filter(answers).filter(|mount| mount.fstype != "overlay");
    // Another filesystem may be mounted over its mount point.
    let stands_there = |mount: &&Mount| mounts::mount_of(look, &mount.mount_point).is_ok_and(|on| on.id == mount.id);
    let mut alike = others.filter(|mount| same_space(mount, overlay)).filter(stands_there);
    let first = alike.next()?;
    alike.all(|other| other.device == first.device).then(|| first.clone())
}

fn same_space(one: &Mount, other: &Mount) -> bool {
    let space = |mount: &Mount| {
        let stat = rustix::fs::statfs(&mount.mount_point).ok().filter(|stat| stat.f_blocks > 0)?;
        Some((stat.f_bsize, stat.f_blocks, stat.f_bfree, stat.f_files, stat.f_ffree))
    };
    let whole = |mount: &Mount| space(mount).map(|(size, blocks, _, _, _)| (size, blocks));
    whole(one).is_some_and(|size| whole(other) == Some(size)) && (0..COMPARISONS).any(|_| space(one) == space(other))
}

/// The lower directories, the topmost first.
fn lower(mount: &Mount) -> Vec<PathBuf> {
    let options = mount.options.iter().filter_map(|option| option.split_once('='));
    let named = options.filter(|(name, _)| matches!(*name, "lowerdir" | "lowerdir+"));
    let all = named.flat_map(|(name, value)| if name == "lowerdir" { split(value) } else { vec![value.to_owned()] });
    all.map(PathBuf::from).collect()
}

/// Splits names at colons. A colon inside a name has a backslash before it. Two colons begin directories that only
/// hold data.
fn split(value: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match (letter, names.last_mut()) {
            ('\\', Some(name)) => name.extend(letters.next()),
            (':', _) => names.push(String::new()),
            (letter, Some(name)) => name.push(letter),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The path relative to the overlay's root.
fn inner(mount: &Mount, path: &Path) -> PathBuf {
    let root = mount.root.as_deref().unwrap_or(Path::new("/"));
    let whole = root.join(path.strip_prefix(&mount.mount_point).unwrap_or(Path::new("")));
    whole.strip_prefix("/").map_or(whole.clone(), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    #[test]
    fn names_of_lower_directories() {
        let of = |options: &str| lower(&fixture::mount("overlay", "/m", "overlay", options));
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(of("lowerdir=/a:/b\\:c::/d"), paths(&["/a", "/b:c", "/d"]));
        assert_eq!(of("lowerdir+=/a:b,lowerdir+=/c,upperdir=/u"), paths(&["/a:b", "/c"]));
    }

    #[test]
    fn the_directory_that_has_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["mount/sub", "upper/sub", "one/sub", "two/sub"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["mount/sub/low", "two/sub/low", "mount/sub/up", "upper/sub/up", "one/sub/up"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let root = folder.path().display();
        let options = format!("lowerdir={root}/one:{root}/two,upperdir={root}/upper");
        let mount = fixture::mount("overlay", &format!("{root}/mount"), "overlay", &options);
        let holding = |name: &str, writes: bool| {
            let parts = parts(&mount, LayerQuery { path: &at(name), writes });
            assert_eq!((parts.len(), parts.iter().filter(|part| part.holds_other_data).count()), (3, 2), "{parts:?}");
            parts[0].path.clone()
        };
        assert_eq!(holding("mount/sub/low", false), at("two/sub/low"));
        assert_eq!(holding("mount/sub/low", true), at("upper"), "it is copied up");
        assert_eq!(holding("mount/sub/up", false), at("upper/sub/up"));
        assert_eq!(holding("mount/sub", false), at("upper"), "new files go there");
        let only_read =
            fixture::mount("overlay", &format!("{root}/mount"), "overlay", &format!("lowerdir={root}/one:/b"));
        let of_directory = parts(&only_read, LayerQuery { path: &at("mount/sub"), writes: false });
        assert!(of_directory.iter().all(|part| !part.holds_other_data), "{of_directory:?}");
    }
}
