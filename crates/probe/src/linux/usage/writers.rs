//! Programs that have a block device open for writing without claiming it: virtual machines, databases, servers.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use super::super::{Look, read_text};
use super::claim;
use super::found::Writer;
use fsdyno_results::evidence::DeviceNumber;

/// The other programs that keep one of these devices open for writing, as far as this user can see them.
pub(super) fn of_device(look: &Look, family: &[DeviceNumber]) -> Vec<String> {
    let of_family = |all: &[Writer]| {
        let names = all.iter().filter(|(number, _)| family.contains(number)).map(|(_, name)| name.clone());
        let mut names: Vec<String> = names.collect();
        names.dedup();
        (!names.is_empty()).then_some(names)
    };
    if of_family(look.seen.writers.get_or_init(|| all(look))).is_none() {
        return Vec::new();
    }
    claim::lasting(|| of_family(&all(look))).unwrap_or_default()
}

/// Processes of this program do not count: they are parts of one run, or runs that were started side by side.
fn all(look: &Look) -> Vec<Writer> {
    let identity = |process: &Path| {
        let program = std::fs::metadata(process.join("exe")).ok()?;
        Some((program.dev(), program.ino()))
    };
    let own = identity(&look.proc.join("self"));
    let mut found = Vec::new();
    for process in std::fs::read_dir(&look.proc).into_iter().flatten().flatten() {
        let name = process.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let devices = written_by(&process.path());
        if !devices.is_empty() && (own.is_none() || identity(&process.path()) != own) {
            let program = read_text(&process.path().join("comm")).unwrap_or_default();
            found.extend(devices.into_iter().map(|device| (device, format!("{program} (process {number})"))));
        }
    }
    found
}

fn written_by(process: &Path) -> Vec<DeviceNumber> {
    let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    // The mode of the link in /proc shows whether the file is open for writing.
    let writable = |link: &Path| link.symlink_metadata().is_ok_and(|metadata| metadata.mode() & 0o200 != 0);
    let links = descriptors.map(|entry| entry.path()).filter(|link| writable(link));
    links.filter_map(|link| device_behind(&link)).collect()
}

/// Does not ask a server, which may not answer: the cached facts of the file are enough.
fn device_behind(link: &Path) -> Option<DeviceNumber> {
    let found = statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let kind = FileType::from_raw_mode(found.stx_mode.into());
    let number = DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
    (kind == FileType::BlockDevice).then_some(number)
}
