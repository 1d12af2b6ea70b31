//! Counters of all layers below the application, for the byte ledger. They are read from small files of the kernel;
//! no file that is measured is touched, and nothing can wait for a server.

mod daemon_family;
mod devices;
mod group;
mod growth;
mod machine;
mod process;
mod reclaim;
mod sockets;
mod system;
mod throttle;
mod wire;

use std::path::{Path, PathBuf};

use fsdyno_results::evidence::{DevicePlace, MachineEvidence, RecordedFact};

use super::{Look, identity, mounts};
use crate::{Fact, NotVisible, Reading};
use devices::DeviceMeter;
use group::GroupMeter;
use process::ProcessMeter;
pub use process::wait_of_this_thread_ns;
use system::SystemMeter;
pub(crate) use system::available_memory_bytes;
use wire::WireMeter;

/// Counts the traffic of the layers behind a set of files, from its first reading on.
#[derive(Debug)]
pub struct Meters {
    look: Look,
    may_block: bool,
    process: ProcessMeter,
    devices: Fact<DeviceMeter>,
    group: Fact<GroupMeter>,
    wire: Fact<WireMeter>,
    system: SystemMeter,
}

impl Meters {
    /// Finds the layers behind the files, which need not exist yet. `interfaces`: the network interfaces towards the
    /// servers of the files; empty: not known.
    pub fn begin(look: Look, paths: &[PathBuf], interfaces: &[String]) -> Meters {
        let devices = DeviceMeter::begin(&look, paths);
        let numbers = devices.as_ref().map(DeviceMeter::leaf_numbers).unwrap_or_default();
        Meters {
            group: GroupMeter::begin(&look, numbers),
            process: ProcessMeter::default(),
            devices,
            wire: WireMeter::begin(&look, paths, interfaces),
            may_block: paths.iter().any(|path| !answers_at_once(&look, path)),
            system: SystemMeter::begin(&look),
            look,
        }
    }

    /// Reads everything once.
    pub fn read(&mut self) -> Reading {
        let devices = self.devices.as_mut().map_err(|reason| reason.clone()).and_then(|meter| meter.read(&self.look));
        let wire = self.wire.as_mut().map_err(|reason| reason.clone()).and_then(|meter| meter.read(&self.look));
        let (leaves, stacked) = match devices {
            Ok(all) => {
                let (leaves, stacked) = all.into_iter().partition(|device| device.place == DevicePlace::Leaf);
                (RecordedFact::Value(leaves), stacked)
            }
            Err(reason) => (RecordedFact::NotVisible(reason.to_string()), Vec::new()),
        };
        Reading {
            process: self.process.read(&self.look).into(),
            devices: leaves,
            stacked_devices: stacked,
            group: self.group.as_mut().ok().and_then(|group| group.read().ok()),
            wire: wire.into(),
            system: self.system.read(&self.look),
        }
    }

    /// Adds the cached pages of the files behind loop devices to a reading. Counting them takes some time.
    pub fn count_images(&self, reading: &mut Reading) {
        let images = self.devices.as_ref().map(DeviceMeter::images).unwrap_or_default();
        let leaves = match &mut reading.devices {
            RecordedFact::Value(leaves) => &mut leaves[..],
            RecordedFact::NotVisible(_) => &mut [],
        };
        for device in leaves.iter_mut().chain(&mut reading.stacked_devices) {
            device.image = images.iter().find(|(name, _)| *name == device.name).map(|(_, pages)| *pages);
        }
    }

    /// Current limits of the control groups on the devices behind the files.
    pub fn io_limits(&self) -> RecordedFact<Vec<String>> {
        let layers = self.devices.as_ref().map_err(NotVisible::clone);
        layers.and_then(|devices| identity::io_limits(&self.look, devices.layers())).into()
    }

    /// Whether a look at one of the files may wait for something that does not answer: a server, a daemon, or a
    /// filesystem of an unknown kind.
    pub fn may_block(&self) -> bool {
        self.may_block
    }

    /// The type of the filesystem that a path is on.
    pub fn fstype_of(&self, path: &Path) -> Option<String> {
        mounts::mount_of(&self.look, path).ok().map(|mount| mount.fstype)
    }

    /// Facts about the machine: clock, processors, memory.
    pub fn machine(&self) -> MachineEvidence {
        machine::evidence(&self.look)
    }
}

/// Whether the path is on a filesystem of this machine's memory or devices.
fn answers_at_once(look: &Look, path: &Path) -> bool {
    const LOCAL: [&str; 18] = [
        "ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "f2fs", "zfs", "overlay", "tmpfs", "ramfs", "devtmpfs",
        "vfat", "exfat", "ntfs3", "squashfs", "erofs", "iso9660",
    ];
    mounts::mount_of(look, path).is_ok_and(|mount| LOCAL.contains(&mount.fstype.as_str()))
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::SystemCounters;

    use super::*;

    /// A look that sees nothing.
    pub(super) struct Empty {
        pub(super) look: Look,
        _root: tempfile::TempDir,
    }

    pub(super) fn empty() -> Empty {
        let root = tempfile::tempdir().unwrap();
        Empty { look: Look::at(root.path().join("proc"), root.path().join("sys")), _root: root }
    }

    #[test]
    fn what_cannot_be_read_is_not_visible_and_not_zero() {
        let mut meters = Meters::begin(empty().look, &["/file".into()], &[]);
        let reading = meters.read();
        assert!(reading.process.value().is_none() && reading.devices.value().is_none());
        assert!(reading.wire.reason().is_some_and(|reason| !reason.is_empty()));
        assert_eq!(reading.system, SystemCounters::default());
    }

    #[test]
    fn this_process_grows() {
        let mut meters = Meters::begin(Look::new(), &[], &[]);
        let first = meters.read();
        let text = std::fs::read("/proc/self/stat").unwrap();
        let second = meters.read();
        let bytes = |reading: &Reading| reading.process.value().map(|process| process.call_bytes.read);
        match (bytes(&first), bytes(&second)) {
            (Some(before), Some(after)) => assert!(before == 0 && after >= text.len() as u64, "{before} {after}"),
            _ => eprintln!("skipped: {:?}", first.process.reason()),
        }
        assert!(second.devices.reason().is_some(), "there is no file");
    }
}
