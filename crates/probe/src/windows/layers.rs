//! Counters of the layers below the application. None of them is read yet.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::machine;
use results::DiskRecord;
use results::evidence::{MachineEvidence, Seen, StorageClass, SystemCounters};

use super::{Look, not_read, not_there, volumes};
use crate::Reading;

/// How long the calling thread has waited for a processor: Windows does not say.
pub fn wait_of_this_thread_ns() -> Option<u64> {
    None
}

/// Watches the disks behind a set of files.
#[derive(Debug)]
pub struct DiskWatch(());

impl DiskWatch {
    /// Finds none: disks are not read yet.
    pub fn begin(_look: &Look, _paths: impl IntoIterator<Item = PathBuf>) -> DiskWatch {
        DiskWatch(())
    }

    /// What the disks did.
    pub fn finish(&self, _elapsed: Duration) -> Vec<DiskRecord> {
        Vec::new()
    }
}

/// Counts what happens in the layers behind a set of files.
#[derive(Debug)]
pub struct Meters {
    may_block: bool,
}

impl Meters {
    /// Finds what stands behind the files, which need not exist yet.
    pub fn begin(_look: Look, paths: &[PathBuf], _interfaces: &[String]) -> Meters {
        let local = |path: &PathBuf| matches!(volumes::class_of(path), StorageClass::Block | StorageClass::Memory);
        Meters { may_block: !paths.iter().all(local) }
    }

    /// Reads everything once.
    pub fn read(&mut self) -> Reading {
        Reading {
            process: Seen::NotVisible(not_read("I/O counters of the process").to_string()),
            devices: Seen::NotVisible(not_read("performance counters of the disks").to_string()),
            stacked_devices: Vec::new(),
            wire: Seen::NotVisible(not_read("counters of the network interfaces and of SMB").to_string()),
            system: SystemCounters {
                available_bytes: machine::memory().map(|(_, available)| available),
                ..SystemCounters::default()
            },
        }
    }

    /// Control groups belong to Linux.
    pub fn io_limits(&self) -> Seen<Vec<String>> {
        Seen::NotVisible(not_read("I/O limits of the job object").to_string())
    }

    /// Whether a look at one of the files may wait for somebody who does not answer: a server, or a drive that is not
    /// known.
    pub fn may_block(&self) -> bool {
        self.may_block
    }

    /// The type of the filesystem that a path is on.
    pub fn fstype_of(&self, path: &Path) -> Option<String> {
        volumes::mount_of(path).ok().map(|mount| mount.fstype)
    }

    /// What the machine is like: clock, processors, memory.
    pub fn machine(&self) -> MachineEvidence {
        MachineEvidence {
            clock_source: None,
            governor: None,
            generator_floor_ns: None,
            foreign_bytes_per_s: Seen::default(),
            memory_bytes: machine::memory().map(|(total, _)| total),
            cgroup_memory_bytes: Seen::NotVisible(not_there("control groups").to_string()),
        }
    }
}
