//! Loop devices do not claim what they lie on: a program that mounts one uses a file, or a part of another device.

use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::super::block::number_of;
use super::super::{Look, block, read_text};
use super::found::LoopDevice;
use super::{LOOPS_MAX, claim, node, of_number};
use crate::DeviceUse;
use fsdyno_os::mapper::LoopBacking;
use fsdyno_results::evidence::DeviceNumber;

/// Who uses a file through the loop devices that lie on it.
pub(super) fn over_file(look: &Look, (device, inode): (u64, u64)) -> DeviceUse {
    let through = used(look, LOOPS_MAX, |backing| *backing == LoopBacking::File { device, inode });
    DeviceUse { through, ..DeviceUse::default() }
}

/// The use of a loop device that lies on one of these devices, as the end of a sentence.
pub(super) fn over_device(look: &Look, family: &[DeviceNumber], loops: u32) -> Option<String> {
    used(look, loops, |backing| match backing {
        LoopBacking::Device(device) => family.contains(&number_of(*device)),
        LoopBacking::File { .. } => false,
    })
}

fn used(look: &Look, loops: u32, lies_there: impl Fn(&LoopBacking) -> bool) -> Option<String> {
    let loops = loops.checked_sub(1)?;
    all(look).iter().filter(|device| lies_there(&device.backing)).find_map(|device| {
        let reason = of_number(look, device.number, loops).reason()?;
        Some(format!("backs {}, which {reason}", device.name))
    })
}

/// All loop devices that lie on something.
pub(super) fn all(look: &Look) -> &[LoopDevice] {
    look.seen.loops.get_or_init(|| {
        let devices = std::fs::read_dir(look.sys.join("block")).into_iter().flatten().flatten();
        devices.filter_map(|entry| loop_device(look, &entry.path())).collect()
    })
}

/// `None`: it is not a loop device, or it lies on nothing.
fn loop_device(look: &Look, directory: &Path) -> Option<LoopDevice> {
    let backing_file = read_text(&directory.join("loop/backing_file")).ok()?;
    let number = block::number_in(directory)?;
    // The kernel knows the file itself. If the device cannot be opened, the file's name is used.
    let asked = node(look, number)
        .and_then(|node| fsdyno_os::mapper::loop_backing(&claim::once_more(node.as_fd(), OFlags::empty()).ok()?).ok());
    let backing = asked.or_else(|| named(Path::new(&backing_file)))?;
    Some(LoopDevice { name: block::name_of(directory)?, number, backing })
}

fn named(path: &Path) -> Option<LoopBacking> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(if metadata.file_type().is_block_device() {
        LoopBacking::Device(metadata.rdev())
    } else {
        LoopBacking::File { device: metadata.dev(), inode: metadata.ino() }
    })
}
