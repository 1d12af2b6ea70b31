//! Reads mounts from /proc/self/mountinfo.
//!
//! The format is parsed here and not by a library, because paths need not be UTF-8, blanks in them are written as
//! `\040`, the order of the options matters, and one unknown line must not hide all others.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::Look;
use crate::{Fact, NotVisible};
use fsdyno_results::evidence::{DeviceNumber, Mount};

/// The mount that a path is on.
pub(super) fn mount_of(look: &Look, path: &Path) -> Fact<Mount> {
    let existing = nearest_existing(path);
    let mounts = mounts(look)?;
    let place = identify(&existing)?;
    find(mounts, &place).cloned().ok_or_else(|| NotVisible::new(path.display(), "no line of mountinfo matches"))
}

/// The mount that a path is on, by its name alone, for places that do not answer: links in it are not followed.
pub(super) fn mount_by_name(look: &Look, path: &Path) -> Fact<Mount> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let above = mounts(look)?.iter().filter(|mount| absolute.starts_with(&mount.mount_point));
    let found = above.max_by_key(|mount| mount.mount_point.components().count());
    found.cloned().ok_or_else(|| NotVisible::new(path.display(), "no line of mountinfo matches"))
}

/// All mounts that this process sees, in the kernel's order.
pub(super) fn mounts(look: &Look) -> Fact<&[Mount]> {
    let read = || {
        let path = look.proc.join("self/mountinfo");
        let text = std::fs::read(&path).map_err(|error| NotVisible::new(path.display(), error))?;
        Ok(parse(&text))
    };
    look.seen.mounts.get_or_init(read).as_deref().map_err(NotVisible::clone)
}

/// The path itself, or its nearest existing parent, links followed. A link that leads nowhere stands for the file
/// that opening it would create.
pub(super) fn nearest_existing(path: &Path) -> PathBuf {
    // Bounds a ring of links; the kernel also gives up after 40.
    const LINKS_MAX: usize = 40;
    let mut candidate = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut links = 0;
    loop {
        if let Ok(real) = candidate.canonicalize() {
            return real;
        }
        let target = if links < LINKS_MAX { candidate.read_link().ok() } else { None };
        let parent = candidate.parent().unwrap_or(Path::new("/")).to_path_buf();
        candidate = match target {
            Some(target) => {
                links += 1;
                parent.join(target)
            }
            None => parent,
        };
    }
}

/// What identifies the mount of an existing file.
#[derive(Debug)]
struct FileMount {
    /// The kernel's number of the mount (since Linux 5.8).
    mount_id: Option<u64>,
    /// Device number of the file.
    device: DeviceNumber,
    /// The path without links.
    path: PathBuf,
}

fn identify(existing: &Path) -> Fact<FileMount> {
    let stat = rustix::fs::statx(CWD, existing, AtFlags::empty(), StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)
        .map_err(|error| NotVisible::new(format!("statx {}", existing.display()), error))?;
    let has_id = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    Ok(FileMount {
        mount_id: has_id.then_some(stat.stx_mnt_id),
        device: DeviceNumber { major: stat.stx_dev_major, minor: stat.stx_dev_minor },
        path: existing.to_path_buf(),
    })
}

/// Finds the mount by its number. Without a number, among the mounts above the path those with the file's device
/// number come first (a later mount may hide one), then the deepest, then the latest.
fn find<'a>(mounts: &'a [Mount], place: &FileMount) -> Option<&'a Mount> {
    if let Some(mount) = mounts.iter().find(|mount| mount.id.is_some() && mount.id == place.mount_id) {
        return Some(mount);
    }
    let above = mounts.iter().filter(|mount| place.path.starts_with(&mount.mount_point));
    above.max_by_key(|mount| (mount.device == place.device, mount.mount_point.components().count()))
}

/// Parses the whole file; a line that does not fit the format is left out.
fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let id = text_of(words.next()?).parse().ok()?;
    let _parent = words.next()?;
    let device = text_of(words.next()?).parse().ok()?;
    let root = path_of(words.next()?);
    let mount_point = path_of(words.next()?);
    let options = text_of(words.next()?);
    // Optional fields, any number of them, end with a single hyphen.
    words.find(|word| *word == b"-")?;
    let fstype = text_of(words.next()?);
    let source = text_of(words.next()?);
    let all = [options, text_of(words.next().unwrap_or_default())];
    let mut options: Vec<String> = Vec::new();
    for option in all.iter().flat_map(|some| some.split(',')).filter(|option| !option.is_empty()) {
        // Most options of the filesystem repeat those of the mount.
        if !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount { id: Some(id), device, root: Some(root), mount_point, fstype, source, options })
}

fn text_of(word: &[u8]) -> String {
    unescape(word).to_string_lossy().into_owned()
}

fn path_of(word: &[u8]) -> PathBuf {
    unescape(word).into()
}

/// Replaces escapes: the kernel writes blanks, tabs, newlines, backslashes and hashes as three octal digits.
pub(super) fn unescape(word: &[u8]) -> OsString {
    if !word.contains(&b'\\') {
        return OsStr::from_bytes(word).to_os_string();
    }
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after.get(..3).and_then(octal)) {
            (b'\\', Some(value)) => {
                out.push(value);
                rest = &after[3..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    OsString::from_vec(out)
}

fn octal(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,errors=continue
36 27 98:0 /sub /mnt/with\\040blank rw,noatime master:1 shared:7 - ext3 /dev/root rw
40 27 0:44 /@srv /srv rw,relatime shared:1 - btrfs /dev/sdb2 rw,subvolid=256,subvol=/@srv
41 40 8:1 / /srv/data ro,relatime - xfs /dev/sda1 rw
42 27 0:50 / /srv rw,relatime - tmpfs none rw,size=4k
43 27 0:51 / /over rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c/d\\040e,workdir=/w
nonsense
";

    fn place(mount_id: Option<u64>, device: (u32, u32), path: &str) -> FileMount {
        FileMount { mount_id, device: DeviceNumber { major: device.0, minor: device.1 }, path: path.into() }
    }

    #[test]
    fn lines_are_parsed_and_nonsense_is_left_out() {
        let mounts = parse(SAMPLE.as_bytes());
        assert_eq!(mounts.len(), 7);
        let blank = &mounts[2];
        assert_eq!(blank.mount_point, Path::new("/mnt/with blank"));
        assert_eq!(blank.root.as_deref(), Some(Path::new("/sub")));
        assert_eq!((blank.fstype.as_str(), blank.source.as_str()), ("ext3", "/dev/root"));
        assert_eq!(blank.device, DeviceNumber { major: 98, minor: 0 });
        assert_eq!(mounts[3].option("subvol"), Some("/@srv"));
        assert!(mounts[4].read_only());
        assert_eq!(mounts[6].option("upperdir"), Some("/c/d e"));
    }

    #[test]
    fn paths_that_are_no_utf8_survive() {
        let mounts = parse(b"1 0 8:1 / /m\xff\xfe rw - ext4 /dev/sda1 rw\n");
        assert_eq!(mounts[0].mount_point.as_os_str().as_bytes(), b"/m\xff\xfe");
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br"a\040b\134c\011d"), OsString::from("a b\\c\td"));
        assert_eq!(unescape(br"end\04"), OsString::from(r"end\04"));
        assert_eq!(unescape(br"\999"), OsString::from(r"\999"));
    }

    #[test]
    fn the_mount_number_decides() {
        let mounts = parse(SAMPLE.as_bytes());
        let found = find(&mounts, &place(Some(40), (0, 44), "/srv/data/x")).unwrap();
        assert_eq!(found.id, Some(40), "not the deepest: the number is certain");
    }

    #[test]
    fn without_number_the_device_then_the_depth_then_the_latest_decide() {
        let mounts = parse(SAMPLE.as_bytes());
        // /srv/data is hidden, because another filesystem was mounted on /srv later.
        assert_eq!(find(&mounts, &place(None, (0, 50), "/srv/data/x")).unwrap().id, Some(42));
        assert_eq!(find(&mounts, &place(None, (8, 1), "/srv/data/x")).unwrap().id, Some(41));
        // A file of a btrfs subvolume shows a number that no mount has.
        assert_eq!(find(&mounts, &place(None, (0, 99), "/srv/y")).unwrap().id, Some(42));
        assert_eq!(find(&mounts, &place(None, (254, 0), "/srvs/y")).unwrap().id, Some(27), "whole names only");
    }

    #[test]
    fn the_nearest_existing_parent() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        assert_eq!(nearest_existing(&dir.path().join("a/b/c")), real);
        std::fs::create_dir(real.join("target")).unwrap();
        std::os::unix::fs::symlink("target/new", real.join("link")).unwrap();
        assert_eq!(nearest_existing(&real.join("link")), real.join("target"), "a link to a file still to be made");
        std::os::unix::fs::symlink("ring", real.join("ring")).unwrap();
        assert_eq!(nearest_existing(&real.join("ring")), real);
    }

    #[test]
    fn this_machine() {
        let look = Look::new();
        let proc = mount_of(&look, Path::new("/proc/self/status")).unwrap();
        assert_eq!((proc.fstype.as_str(), proc.mount_point.as_path()), ("proc", Path::new("/proc")));
        let here = mount_of(&look, Path::new("does/not/exist")).unwrap();
        assert!(std::env::current_dir().unwrap().starts_with(&here.mount_point));
    }
}
