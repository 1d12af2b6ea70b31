//! Determines the storages that the files are on, and the share of the files on each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fsdyno_probe::{DataPlace, FileKind, HostFacts};
use fsdyno_results::FilesPart;
use fsdyno_stats::sort;

/// A storage of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoragePlace {
    /// The path of a file on it: its facts hold for all files there.
    pub path: PathBuf,
    /// Whether it will be written.
    pub writes: bool,
}

/// The key of a storage: files with the same key are on the same storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Where the data of the files is; true: an overlay copies the file up when it is opened for writing.
    Data(DataPlace, bool),
    /// The mount point, where the system shows no more.
    Mount(PathBuf),
    /// The file itself: a character device of the kernel, or nothing is known.
    Alone(PathBuf),
}

/// The storages found so far.
#[derive(Default)]
pub(super) struct Places {
    known: HashMap<Key, usize>,
    pub(super) found: Vec<StoragePlace>,
}

impl Places {
    /// The share of a worker's files on each storage, most bytes first. `files`: each with its bytes.
    pub(super) fn parts<'f>(
        &mut self,
        facts: &HostFacts,
        files: impl Iterator<Item = (&'f Path, u64)>,
        writes: bool,
    ) -> Vec<FilesPart> {
        let mut parts: Vec<FilesPart> = Vec::new();
        for (path, bytes) in files {
            let storage = self.storage(facts, path, writes);
            let index = parts.iter().position(|part| part.storage == storage).unwrap_or_else(|| {
                parts.push(FilesPart { storage, ..FilesPart::default() });
                parts.len() - 1
            });
            parts[index].files += 1;
            parts[index].bytes = parts[index].bytes.saturating_add(bytes);
        }
        sort::by_key(&mut parts, |part| std::cmp::Reverse(part.bytes));
        parts
    }

    fn storage(&mut self, facts: &HostFacts, path: &Path, writes: bool) -> usize {
        let found = &mut self.found;
        *self.known.entry(key(facts, path, writes)).or_insert_with(|| {
            found.push(StoragePlace { path: path.to_owned(), writes });
            found.len() - 1
        })
    }
}

fn key(facts: &HostFacts, path: &Path, writes: bool) -> Key {
    let alone = || Key::Alone(path.to_owned());
    let Some(facts) = facts.path(path) else { return alone() };
    // The disk behind a character device has a size.
    if facts.kind == FileKind::CharacterDevice && facts.size_bytes.is_none() {
        return alone();
    }
    let copied = writes && facts.kind == FileKind::Regular && facts.fstype() == Some("overlay");
    match (&facts.place, &facts.mount) {
        (Some(place), _) => Key::Data(place.clone(), copied),
        (None, Ok(mount)) => Key::Mount(mount.mount_point.clone()),
        (None, Err(_)) => alone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_probe::PathFacts;
    use fsdyno_results::evidence::{DeviceNumber, Mount};

    fn facts(fstype: &str, mount: u64, minor: u32) -> PathFacts {
        let device = DeviceNumber { major: 0, minor };
        PathFacts {
            kind: FileKind::Regular,
            place: Some(DataPlace { mount: Some(mount), device, branch: None }),
            mount: Ok(Mount { fstype: fstype.into(), ..Mount::default() }),
            ..PathFacts::default()
        }
    }

    #[test]
    fn files_are_counted_where_they_lie() {
        let mut host = HostFacts::default();
        for (path, mount) in [("/a/1", 1), ("/a/link", 2), ("/a/2", 1), ("/b", 2)] {
            host.paths.insert(Path::new(path).into(), facts("ext4", mount, 7).into());
        }
        let mut places = Places::default();
        let files =
            [("/a/1", 10), ("/a/link", 50), ("/a/2", 30), ("/b", 5)].map(|(path, bytes)| (Path::new(path), bytes));
        let parts = places.parts(&host, files.into_iter(), false);
        let part = |storage, files, bytes| FilesPart { storage, files, bytes };
        assert_eq!(parts, [part(1, 2, 55), part(0, 2, 40)]);
        let paths: Vec<&Path> = places.found.iter().map(|place| place.path.as_path()).collect();
        assert_eq!(paths, [Path::new("/a/1"), Path::new("/a/link")]);
        assert_eq!(places.parts(&host, files.into_iter().take(1), true), [part(0, 1, 10)], "for another worker");
        assert_eq!(places.parts(&host, std::iter::once((Path::new("/unknown"), 1)), false), [part(2, 1, 1)]);
    }

    #[test]
    fn an_overlay_copies_what_is_written() {
        let mut host = HostFacts::default();
        host.paths.insert(Path::new("/m/file").into(), facts("overlay", 1, 40).into());
        let missing = PathFacts { kind: FileKind::Missing, ..facts("overlay", 1, 40) };
        host.paths.insert(Path::new("/m/missing").into(), missing.into());
        let storages = |path: &str| {
            let mut places = Places::default();
            [false, true].map(|writes| places.parts(&host, std::iter::once((Path::new(path), 1)), writes)[0].storage)
        };
        assert_eq!(storages("/m/file"), [0, 1]);
        assert_eq!(storages("/m/missing"), [0, 0]);
    }
}
