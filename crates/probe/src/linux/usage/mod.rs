//! Finds the users of a device. The kernel is asked first, then the content of the device is read.

mod characters;
mod claim;
mod contents;
mod exports;
mod found;
mod known;
mod loops;
mod writers;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::block::number_of;
use super::{Look, block};
use crate::{DeviceUse, NotVisible};
use fsdyno_results::evidence::DeviceNumber;

pub(super) use found::{LoopDevice, Writer};
pub(super) use known::known_use;

/// Largest number of loop devices over loop devices that are followed; it only bounds the walk.
const LOOPS_MAX: u32 = 8;

/// Whether files can be in use, which only loop devices do.
pub(super) fn has_loop_devices(look: &Look) -> bool {
    !loops::all(look).is_empty()
}

/// Who uses the device or file at a path. Only a block device is opened for this. If it cannot be opened, no reason
/// is given, because the open of the job will report it.
pub(super) fn of_path(look: &Look, path: &Path) -> DeviceUse {
    let Ok(found) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return DeviceUse::default();
    };
    look_at(look, found.as_fd()).unwrap_or_default()
}

/// Who uses a file or device that is already open for writing, wherever its name leads now.
pub(super) fn of_open(look: &Look, file: BorrowedFd<'_>) -> DeviceUse {
    look_at(look, file).unwrap_or_else(|error| {
        let unseen = NotVisible::new("opening it once more", std::io::Error::from(error));
        DeviceUse { unseen: Some(unseen), ..DeviceUse::default() }
    })
}

fn look_at(look: &Look, file: BorrowedFd<'_>) -> Result<DeviceUse, Errno> {
    let stat = rustix::fs::fstat(file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => {
            let number = number_of(stat.st_rdev);
            // The lock is held, because two claims of one process also refuse each other.
            let mut known = look.uses();
            if let Some(found) = known.get(&number) {
                return Ok(found.clone());
            }
            let found = of_block_device(look, file, number, LOOPS_MAX)?;
            known.insert(number, found.clone());
            Ok(found)
        }
        FileType::CharacterDevice => Ok(characters::device_use(look, number_of(stat.st_rdev))),
        FileType::RegularFile => Ok(loops::over_file(look, (stat.st_dev, stat.st_ino))),
        _ => Ok(DeviceUse::default()),
    }
}

/// An error is that of opening the device again.
fn of_block_device(look: &Look, device: BorrowedFd<'_>, number: DeviceNumber, loops: u32) -> Result<DeviceUse, Errno> {
    let mut found = known_use(look, number);
    let family = known::family(look, number);
    if found.reason().is_none() {
        found.through = loops::over_device(look, &family, loops).or_else(|| exports::of_device(look, &family));
    }
    if found.reason().is_some() {
        return Ok(found);
    }
    if claim::is_taken(device)? {
        return Ok(DeviceUse { claimed: true, ..found });
    }
    found.writers = writers::of_device(look, &family);
    match contents::held(look, &claim::once_more(device, OFlags::empty())?, number) {
        Ok(name) => found.holds = name,
        Err(error) => found.unseen = Some(NotVisible::new("its first and last bytes", error)),
    }
    Ok(found)
}

/// The users of another device, by its number, if its node in /dev can be opened.
fn of_number(look: &Look, number: DeviceNumber, loops: u32) -> DeviceUse {
    let opened = node(look, number).map(|node| of_block_device(look, node.as_fd(), number, loops));
    match opened {
        Some(Ok(found)) => found,
        _ => known_use(look, number),
    }
}

/// The node of a device, opened without I/O.
fn node(look: &Look, number: DeviceNumber) -> Option<OwnedFd> {
    let name = block::name_of(&block::directory(look, number)?)?;
    let node = rustix::fs::open(look.dev.join(name), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&node).ok()?;
    let same = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice && number_of(stat.st_rdev) == number;
    same.then_some(node)
}
