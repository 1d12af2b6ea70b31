//! Reads the disks behind a volume.

use std::fs::File;
use std::io::Error;
use std::path::Path;

use fsdyno_os::machine::{self, Disk};
use fsdyno_results::evidence::BlockDevice;

use crate::drives::{Raw, VolumeLocation, use_of};
use crate::signature::{Ends, signature_of};
use crate::{DeviceUse, Fact, NotVisible};

/// The numbers of the disks that a volume lies on.
pub(super) fn numbers(volume: &str) -> Fact<Vec<u32>> {
    let hidden = |reason: &dyn std::fmt::Display| NotVisible::new(format!("disks of {volume}"), reason);
    let numbers = machine::disks_of(volume).map_err(|code| hidden(&Error::from_raw_os_error(code)))?;
    if numbers.is_empty() { Err(hidden(&"Windows names none")) } else { Ok(numbers) }
}

/// The disks of these numbers. What a disk does not report is unknown.
pub(super) fn devices(numbers: &[u32]) -> Fact<Vec<BlockDevice>> {
    numbers.iter().map(|number| Ok(device(*number, disk(*number)?))).collect()
}

/// A disk by its number.
pub(super) fn disk(number: u32) -> Fact<Disk> {
    machine::disk(number).map_err(|code| NotVisible::new(name(number), Error::from_raw_os_error(code)))
}

/// The name that Windows gives the disk.
pub(super) fn name(number: u32) -> String {
    format!("PhysicalDrive{number}")
}

fn device(number: u32, disk: Disk) -> BlockDevice {
    let model = match (disk.model, disk.bus) {
        (Some(model), Some(bus)) => Some(format!("{model} ({bus})")),
        (model, bus) => model.or(bus.map(str::to_owned)),
    };
    let cache = disk.write_cache.and_then(|cache| cache.enabled);
    BlockDevice {
        name: name(number),
        model,
        size_bytes: disk.size_bytes,
        rotational: disk.rotational,
        logical_block_bytes: disk.logical_sector_bytes,
        physical_block_bytes: disk.physical_sector_bytes,
        write_cache: cache.map(|enabled| if enabled { "write back" } else { "write through" }.to_owned()),
        ..BlockDevice::default()
    }
}

/// Remarks about these disks, one sentence each.
pub(super) fn remarks(numbers: &[u32]) -> Vec<String> {
    let mut remarks = Vec::new();
    for number in numbers {
        let (name, Ok(disk)) = (name(*number), disk(*number)) else { continue };
        if disk.write_cache.is_some_and(|cache| cache.flushes_held_back) {
            remarks.push(format!(
                "{name}: write-cache buffer flushing is turned off: Windows holds flushes back, and a synced write may be \
                 lost with the power"
            ));
        }
        if disk.is_file {
            remarks.push(format!(
                "{name} is a file of another disk (VHD, VHDX): one that grows allocates on first writes, so write the \
                 test file once before it is measured"
            ));
        }
    }
    remarks
}

/// Who uses a raw disk or volume of this size in bytes, and what it contains. If it cannot be read, no reason is
/// given, because the open of the job will report it.
pub(super) fn device_use(path: &Path, raw: &Raw, size: Option<u64>) -> DeviceUse {
    let lies = |volume: machine::MountedVolume| VolumeLocation {
        disks: numbers(&volume.name),
        name: volume.name,
        mounted_at: volume.mounted_at,
    };
    let volumes = machine::volumes()
        .map(|all| all.into_iter().map(lies).collect())
        .map_err(|code| NotVisible::new("the volumes of this machine", Error::from_raw_os_error(code)));
    let ends = File::open(path).and_then(|device| Ends::read(device, size));
    let holds = ends.ok().and_then(|ends| signature_of(&ends)).map(str::to_owned);
    DeviceUse { holds, ..use_of(raw, volumes) }
}
