//! Brings the caches of this machine into the state that a phase needs, where that is possible.

use std::path::{Path, PathBuf};

use crate::control::Control;
use fsdyno_os::caches::drop_all;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::reason;
use fsdyno_os::files::{Directory, FileAccess, FileError, OpenFile, OpenMode, extents_of, page_cache_of};
use fsdyno_os::names;
use fsdyno_results::evidence::Mount;

use super::operations::Item;

/// An NFS client caches new attributes for 3 s by default (acregmin): those read within this time are still hot, ns.
const WARM_NS_MAX: u64 = 2_000_000_000;

/// The state of small files whose data is in their metadata: btrfs, and ext4 with `inline_data`, keep files of up to
/// about 2 kB there. Such data stays cached when the pages of a file are dropped.
pub const HOT_INLINE: &str = "data inline, hot";

/// The mount whose caches are prepared, and the means that are allowed.
#[derive(Clone, Debug)]
pub struct Caches {
    /// The mount; `None`: not visible.
    pub mount: Option<Mount>,
    /// Whether dropping the caches of the whole machine is allowed.
    pub may_drop: bool,
}

/// Whether the cache has the wanted state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arranged {
    /// It has; with a remark, where one is needed.
    Ready(Option<String>),
    /// It cannot be reached, for this reason.
    Impossible(String),
}

/// The cache state that a phase needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Nothing that the phase uses could be cached.
    Unconcerned,
    /// Everything that it uses was used just before.
    Hot,
    /// The attributes that it reads were read just before.
    HotNames,
    /// Names and attributes are not cached.
    ColdNames,
    /// Data is not cached.
    ColdData,
}

impl Caches {
    fn fstype(&self) -> &str {
        self.mount.as_ref().map_or("", |mount| mount.fstype.as_str())
    }

    fn is_memory(&self) -> bool {
        matches!(self.fstype(), "tmpfs" | "ramfs")
    }

    /// Whether it is an NFS mount.
    pub fn is_nfs(&self) -> bool {
        matches!(self.fstype(), "nfs" | "nfs4")
    }

    /// Whether nothing is dirty after a file is closed.
    fn stores_at_close(&self) -> bool {
        self.is_nfs() || fsdyno_probe::is_fuse(self.fstype())
    }

    /// Brings the caches into the state that a phase needs. Items for which the time did not suffice are removed from
    /// the list. `next` is called with each path before a call that may block.
    pub fn arrange(
        &self,
        wanted: Cache,
        root: &Directory,
        items: &mut Vec<Item>,
        limit_ns: Option<u64>,
        control: &Control,
        next: &mut dyn FnMut(&Path),
    ) -> Arranged {
        match wanted {
            Cache::Unconcerned => Arranged::Ready(None),
            Cache::Hot | Cache::HotNames if self.is_memory() => Arranged::Ready(Some("memory".to_string())),
            Cache::HotNames => self.warmed(root, items, limit_ns, control, next),
            Cache::Hot => Arranged::Ready(Some("hot".to_string())),
            Cache::ColdNames | Cache::ColdData if self.is_memory() => {
                Arranged::Impossible("memory: never cold".to_string())
            }
            Cache::ColdNames | Cache::ColdData if self.may_drop => dropped(root),
            Cache::ColdNames => match self.uncached_attributes_from() {
                Some(who) => Arranged::Ready(Some(format!("asked of the {who}"))),
                None => Arranged::Impossible("needs --drop-caches".to_string()),
            },
            Cache::ColdData => self.without_data(root, items, limit_ns, control, next),
        }
    }

    /// Who answers a stat that bypasses the kernel's caches; `None`: they cannot be bypassed.
    pub fn uncached_attributes_from(&self) -> Option<&'static str> {
        match self.fstype() {
            "nfs" | "nfs4" => Some("server"),
            fstype if fsdyno_probe::is_fuse(fstype) => Some("daemon"),
            _ => None,
        }
    }

    /// Reads the attributes just before they are measured. On a slow mount the first ones would have expired when the
    /// last ones are read: the list is cut to those that can be read in time.
    fn warmed(
        &self,
        root: &Directory,
        items: &mut Vec<Item>,
        limit_ns: Option<u64>,
        control: &Control,
        next: &mut dyn FnMut(&Path),
    ) -> Arranged {
        let clock = RealClock::shared();
        let end_ns = clock.now_ns() + limit_ns.unwrap_or(WARM_NS_MAX).min(WARM_NS_MAX);
        let mut done = 0;
        for item in items.iter() {
            if control.stopped() || clock.now_ns() >= end_ns {
                break;
            }
            next(&path_of(root, item));
            // Errors are ignored here: they show in the measurement.
            let _ = names::size(root, &item.name);
            done += 1;
        }
        items.truncate(done);
        Arranged::Ready(Some("hot".to_string()))
    }

    /// Drops the cached data of the files; names and attributes stay cached.
    fn without_data(
        &self,
        root: &Directory,
        items: &mut Vec<Item>,
        limit_ns: Option<u64>,
        control: &Control,
        next: &mut dyn FnMut(&Path),
    ) -> Arranged {
        let clock = RealClock::shared();
        let end_ns = limit_ns.map(|limit_ns| clock.now_ns().saturating_add(limit_ns));
        let over = || control.stopped() || end_ns.is_some_and(|end_ns| clock.now_ns() >= end_ns);
        let mut path = |item: &Item| {
            let path = path_of(root, item);
            next(&path);
            path
        };
        if !self.stores_at_close() {
            // The write-back of all files is started before the first is waited for.
            for item in items.iter().take_while(|_| !over()) {
                // What cannot be written back stays cached, and is counted below.
                let _ = with_file(root, &path(item), |file| file.sync_range(0, 0, START));
            }
        }
        let (mut done, mut kept, mut unseen, mut inline) = (0, 0, 0, 0);
        for item in items.iter().take_while(|_| !over()) {
            match with_file(root, &path(item), drop_pages) {
                Ok(CachedRemainder { cached_bytes: 1.., .. }) => kept += 1,
                Ok(CachedRemainder { is_inline: true, .. }) => inline += 1,
                Ok(_) => {}
                Err(_) => unseen += 1,
            }
            done += 1;
        }
        items.truncate(done);
        if done == 0 {
            return Arranged::Impossible("no time to drop it".to_string());
        }
        Arranged::Ready(Some(match (kept, unseen) {
            // On an overlay the pages belong to files below that are not visible here.
            (0, _) if self.fstype() == "overlay" => "not visible".to_string(),
            (0, 0) if self.is_nfs() => "client data cold".to_string(),
            (0, 0) if fsdyno_probe::is_fuse(self.fstype()) => "kernel data cold".to_string(),
            (0, 0) if inline > 0 => HOT_INLINE.to_string(),
            (0, 0) => "data cold, names hot".to_string(),
            (0, _) => "not visible".to_string(),
            (kept, _) => format!("{kept} files still cached"),
        }))
    }
}

fn path_of(root: &Directory, item: &Item) -> PathBuf {
    names::path_of(root, &item.name)
}

/// sync_file_range(2): start the writes; wait for earlier ones, start, and wait.
const START: u32 = 2;
const FINISH: u32 = 7;

fn with_file<T>(
    root: &Directory,
    path: &Path,
    act: impl FnOnce(&OpenFile) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let file = root.open_file(path, OpenMode::buffered(FileAccess::Read))?;
    let outcome = act(&file)?;
    file.close()?;
    Ok(outcome)
}

/// What is still in memory of a file whose pages were dropped.
struct CachedRemainder {
    cached_bytes: u64,
    /// Whether its data is in the metadata.
    is_inline: bool,
}

/// Writes the pages of a file back and drops them.
fn drop_pages(file: &OpenFile) -> Result<CachedRemainder, FileError> {
    // Not every filesystem supports it; whether the pages are gone is checked below.
    let _ = file.sync_range(0, 0, FINISH);
    file.drop_cache(0, 0)?;
    // In so small a file all bytes are where the first one is. If extents are not visible, only the pages count.
    let is_inline = extents_of(file, 1, false).is_ok_and(|extents| extents.inline_bytes > 0);
    Ok(CachedRemainder { cached_bytes: page_cache_of(file)?.cached_bytes, is_inline })
}

/// Drops page cache, names and attributes of the whole machine.
fn dropped(root: &Directory) -> Arranged {
    match drop_all(root) {
        Ok(()) => Arranged::Ready(Some("cold".to_string())),
        Err(error) => Arranged::Impossible(format!("not dropped: {}", reason(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::Cache::{ColdData, ColdNames, Hot, HotNames, Unconcerned};
    use super::*;

    fn caches(fstype: &str) -> Caches {
        Caches { mount: Some(Mount { fstype: fstype.to_string(), ..Mount::default() }), may_drop: false }
    }

    fn arrange(caches: &Caches, wanted: Cache, place: &Path, items: &mut Vec<Item>, control: &Control) -> Arranged {
        let root = Directory::open(place).unwrap();
        caches.arrange(wanted, &root, items, None, control, &mut |_| ())
    }

    fn words(caches: &Caches, wanted: Cache) -> Arranged {
        // A stop ends the arrangement at once.
        let control = Control::default();
        control.stop();
        arrange(caches, wanted, Path::new("/"), &mut Vec::new(), &control)
    }

    fn ready(text: &str) -> Arranged {
        Arranged::Ready(Some(text.to_string()))
    }

    fn impossible(text: &str) -> Arranged {
        Arranged::Impossible(text.to_string())
    }

    #[test]
    fn what_cannot_be_cold_says_why() {
        assert_eq!(words(&caches("ext4"), Unconcerned), Arranged::Ready(None));
        assert_eq!(words(&caches("ext4"), Hot), ready("hot"));
        assert_eq!(words(&caches("ext4"), ColdNames), impossible("needs --drop-caches"));
        assert_eq!(words(&caches("tmpfs"), Hot), ready("memory"));
        assert_eq!(words(&caches("tmpfs"), ColdData), impossible("memory: never cold"));
    }

    #[test]
    fn attributes_are_asked_of_whoever_has_them() {
        assert_eq!(words(&caches("nfs4"), ColdNames), ready("asked of the server"));
        assert_eq!(words(&caches("fuse.sshfs"), ColdNames), ready("asked of the daemon"));
    }

    #[test]
    fn no_more_is_hot_than_was_asked_for() {
        let named = |index: u32| Item { index, name: c"nothing".into(), other: None, expected: 0 };
        let mut items: Vec<Item> = (0..3).map(named).collect();
        assert_eq!(arrange(&caches("ext4"), HotNames, Path::new("/"), &mut items, &Control::default()), ready("hot"));
        assert_eq!(items.len(), 3);
        let stopped = Control::default();
        stopped.stop();
        arrange(&caches("ext4"), HotNames, Path::new("/"), &mut items, &stopped);
        assert_eq!(items.len(), 0);
    }

    #[test]
    fn the_pages_of_the_files_are_really_gone() {
        // Beside the build: the temporary directory is often in memory.
        let build = std::env::current_exe().unwrap();
        let place = tempfile::tempdir_in(build.parent().unwrap()).unwrap();
        let caches = Caches { mount: fsdyno_probe::mount_of(place.path()).ok(), may_drop: false };
        if caches.is_memory() || caches.fstype() == "overlay" {
            eprintln!("skipped: {} has no pages that could be seen to go", caches.fstype());
            return;
        }
        let item = |index: u32| {
            let name = format!("file{index}");
            std::fs::write(place.path().join(&name), b"test\n").unwrap();
            Item { index, name: std::ffi::CString::new(name).unwrap(), other: None, expected: 5 }
        };
        let mut items: Vec<Item> = (0..20).map(item).collect();
        let root = Directory::open(place.path()).unwrap();
        let cached = || -> u64 {
            let bytes = |index: u32| {
                let path = place.path().join(format!("file{index}"));
                with_file(&root, &path, |file| Ok(page_cache_of(file)?.cached_bytes)).unwrap()
            };
            (0..20).map(bytes).sum()
        };
        assert!(cached() > 0);
        let arranged = arrange(&caches, ColdData, place.path(), &mut items, &Control::default());
        let root = Directory::open(place.path()).unwrap();
        let inline = with_file(&root, &place.path().join("file0"), |file| extents_of(file, 1, false))
            .is_ok_and(|extents| extents.inline_bytes > 0);
        let expected = if inline { HOT_INLINE } else { "cold" };
        assert!(matches!(&arranged, Arranged::Ready(Some(text)) if text.contains(expected)), "{arranged:?}");
        assert_eq!((cached(), items.len()), (0, 20));
    }
}
