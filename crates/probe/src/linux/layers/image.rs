//! Finds the file behind a loop device.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fsdyno_os::files::{Reach, extents_of, page_cache_of};
use fsdyno_os::mapper::LoopBacking;

use crate::linux::{Look, block, class, mounts, read_text};
use fsdyno_results::evidence::{Image, Mount};

/// The file of a loop device, and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LocatedImage {
    pub(super) image: Image,
    pub(super) place: ImagePlace,
}

/// Where the file lies.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ImagePlace {
    /// At a path of this process.
    Path(PathBuf),
    /// On a mount, without a visible path: it was removed, or is below another root.
    Mount(Mount),
    /// On a device that is not mounted here: the device's directory in /sys.
    Device(PathBuf),
    Unseen(String),
}

/// What the kernel appends to the path of a file that was removed.
const REMOVED: &str = " (deleted)";

/// Finds the file of the loop device in this directory of /sys.
pub(super) fn of(look: &Look, disk: &Path) -> LocatedImage {
    let path = read_text(&disk.join("loop/backing_file")).unwrap_or_default();
    let direct = read_text(&disk.join("loop/dio")).ok().map(|flag| flag == "1");
    let node = look.dev.join(block::name_of(disk).unwrap_or_default());
    // A container's nodes may have other numbers.
    let is_it = block::block_number(&node).is_some_and(|number| block::number_in(disk) == Some(number));
    let node = is_it.then(|| std::fs::File::open(node).ok()).flatten();
    let known = node.and_then(|node| fsdyno_os::mapper::loop_backing(&node).ok());
    let place = place(look, &path, known);
    let image = Image { path, direct, ..Image::default() };
    match &place {
        ImagePlace::Path(path) => LocatedImage { image: content(look, path, image), place },
        _ => LocatedImage { image, place },
    }
}

/// Where the file lies. `known`: what the kernel reports of the file, which is more certain than its path.
fn place(look: &Look, path: &str, known: Option<LoopBacking>) -> ImagePlace {
    let metadata = std::fs::metadata(path).ok();
    let is_it = |device, inode| metadata.as_ref().is_some_and(|found| (found.dev(), found.ino()) == (device, inode));
    match known {
        Some(LoopBacking::File { device, inode }) if is_it(device, inode) => ImagePlace::Path(path.into()),
        None if metadata.is_some() => ImagePlace::Path(path.into()),
        Some(LoopBacking::Device(device)) => {
            let directory = block::directory(look, block::number_of(device));
            directory.map_or_else(|| ImagePlace::Unseen("its device is not visible".to_owned()), ImagePlace::Device)
        }
        Some(LoopBacking::File { device, .. }) => {
            let number = block::number_of(device);
            let mount = mounts::mounts(look).unwrap_or_default().iter().find(|mount| mount.device == number);
            let device = || block::directory(look, number).map(ImagePlace::Device);
            let nowhere = || ImagePlace::Unseen(format!("the filesystem of its file ({number}) is not mounted here"));
            mount.cloned().map(ImagePlace::Mount).or_else(device).unwrap_or_else(nowhere)
        }
        // The filesystem of the removed file is still there.
        None => match path.strip_suffix(REMOVED).map(|path| mounts::mount_by_name(look, Path::new(path))) {
            Some(Ok(mount)) => ImagePlace::Mount(mount),
            _ => ImagePlace::Unseen("its file is not visible to this process".to_owned()),
        },
    }
}

/// Length, allocated bytes and written bytes. Written bytes are asked only of local filesystems, which answer at
/// once, and not while pages are dirty, because the extents are not decided yet.
fn content(look: &Look, path: &Path, image: Image) -> Image {
    let Some(stat) = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file) else { return image };
    let (size, allocated) = (stat.len(), stat.blocks().saturating_mul(512));
    let is_local = mounts::mount_of(look, path).is_ok_and(|mount| class::by_type(&mount).is_none());
    let written = is_local.then(|| written_bytes(path, size)).flatten();
    Image { size_bytes: Some(size), allocated_bytes: Some(allocated), written_bytes: written, ..image }
}

fn written_bytes(path: &Path, size: u64) -> Option<u64> {
    let file = Reach::ByPath.open_to_look(path).ok()?;
    let pages = page_cache_of(&file).ok()?;
    let clean = pages.dirty_bytes? == 0 && pages.writeback_bytes? == 0;
    let extents = clean.then(|| extents_of(&file, size, false).ok()).flatten()?;
    (extents.examined_bytes >= size).then_some(extents.written_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;

    #[test]
    fn a_path_of_another_namespace_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        std::fs::write(&path, "x").unwrap();
        let stat = std::fs::metadata(&path).unwrap();
        let (text, here) = (path.to_str().unwrap(), ImagePlace::Path(path.clone()));
        let look = Look::new();
        let file = |device, inode| Some(LoopBacking::File { device, inode });
        assert_eq!(place(&look, text, file(stat.dev(), stat.ino())), here);
        assert_eq!(place(&look, text, None), here, "no other fact contradicts");
        let other = place(&look, text, file(stat.dev(), stat.ino() + 1));
        assert!(!matches!(other, ImagePlace::Path(_)), "another file of that name: {other:?}");
        let unmounted = place(&tree().look, text, file(0xf_ffff, 1));
        assert!(matches!(unmounted, ImagePlace::Unseen(_)), "{unmounted:?}");
    }

    #[test]
    fn a_removed_image_is_on_the_filesystem_that_it_was_on() {
        let gone = place(&Look::new(), "/proc/self/no/such/image (deleted)", None);
        assert!(matches!(gone, ImagePlace::Mount(mount) if mount.fstype == "proc"));
        assert!(matches!(place(&Look::new(), "/no/such/image", None), ImagePlace::Unseen(_)));
    }

    #[test]
    fn what_was_written_of_an_image() {
        let folder = tempfile::tempdir_in(".").unwrap();
        let path = folder.path().join("image");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        let found = content(&Look::new(), &path, Image::default());
        assert_eq!((found.size_bytes, found.gap()), (Some(1 << 20), Some(fsdyno_results::evidence::Gap::Holes)));
    }
}
