//! Compares the files that a run leaves: names, sizes, contents.

use std::collections::BTreeMap;
use std::path::Path;

/// What is compared of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only names, for runs whose clock decides how far a file grew.
    Names,
    /// Names and sizes.
    Sizes,
    /// Names, sizes and every byte.
    Contents,
}

/// Compares two directories.
pub(crate) fn compare(depth: Depth, fio: &Path, ours: &Path, found: &mut Vec<String>) {
    let (fio, ours) = (files_below(fio), files_below(ours));
    for name in fio.keys().filter(|name| !ours.contains_key(*name)) {
        found.push(format!("files: {name} is left by fio, not by ours"));
    }
    for (name, our_bytes) in &ours {
        let Some(fio_bytes) = fio.get(name) else {
            found.push(format!("files: {name} is left by ours, not by fio"));
            continue;
        };
        if depth != Depth::Names && fio_bytes.len() != our_bytes.len() {
            found.push(format!("files: {name} has {} bytes in fio, {} in ours", fio_bytes.len(), our_bytes.len()));
        } else if depth == Depth::Contents && fio_bytes != our_bytes {
            let at = fio_bytes.iter().zip(our_bytes).position(|(fio, ours)| fio != ours);
            found.push(format!("files: the content of {name} differs from byte {at:?} on"));
        }
    }
}

fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(directory, "", &mut files);
    files
}

fn collect(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("the directory of a run is readable") {
        let entry = entry.expect("the directory of a run is readable");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("an entry has a type").is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read(entry.path()).expect("a file left behind is readable"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_contents_are_told_apart() {
        let (fio, ours) = (testkit::directory(), testkit::directory());
        let differences = |depth| {
            let mut found = Vec::new();
            compare(depth, fio.path(), ours.path(), &mut found);
            found.len()
        };
        std::fs::write(fio.path().join("a"), "xx").unwrap();
        assert_eq!(differences(Depth::Names), 1);
        std::fs::write(ours.path().join("a"), "yyy").unwrap();
        assert_eq!((differences(Depth::Names), differences(Depth::Sizes)), (0, 1));
        std::fs::write(ours.path().join("a"), "xy").unwrap();
        assert_eq!((differences(Depth::Sizes), differences(Depth::Contents)), (0, 1));
    }
}
