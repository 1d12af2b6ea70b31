//! Windows: answers of `fsdyno_os::machine`. Layers that are not read yet are not visible, with that reason.

mod disks;
mod folders;
mod layers;
mod network;
mod route;
mod volumes;

use std::io::Error;
use std::path::{Path, PathBuf};

use fsdyno_os::files::OpenFile;
use fsdyno_os::machine;
use fsdyno_results::evidence::{Mount, Storage, WireCounters};

use crate::{DeviceUse, Fact, Kernel, Limits, NotVisible, PathFacts, ProcessorTime, Waiting};

pub(crate) use folders::{configuration_folder, data_folder};
pub use layers::{DiskWatch, Meters, wait_of_this_thread_ns};

/// One look at the machine. Windows answers each question separately, so that nothing is cached.
#[derive(Clone, Debug, Default)]
pub struct Look(());

/// For a fact that Windows has and that is not read yet.
fn not_read(place: &str) -> NotVisible {
    NotVisible::new(place, "not read on Windows yet")
}

/// For a fact that Windows does not have.
fn not_there(place: &str) -> NotVisible {
    NotVisible::new(place, "Windows has none")
}

/// Devices of Windows have no such numbers.
pub(crate) fn device_of(_: fsdyno_results::evidence::DeviceNumber) -> Option<PathBuf> {
    None
}

pub(crate) fn host_name() -> Option<String> {
    machine::name()
}

pub(crate) fn user() -> u32 {
    machine::user()
}

impl Look {
    /// A new look at this machine.
    pub fn new() -> Look {
        Look(())
    }

    /// There are no control groups.
    pub fn blkio_mount(&self) -> Fact<PathBuf> {
        Err(NotVisible::new("control groups", "Windows has none"))
    }

    /// This is not read yet.
    pub fn network_bytes(&self) -> Option<fsdyno_results::ReadWrite<u64>> {
        None
    }

    /// The volume that a path is on; the path need not exist.
    pub fn mount_of(&self, path: &Path) -> Fact<Mount> {
        volumes::mount_of(path)
    }

    /// Times of each processor of this process's group, ordered by number.
    pub fn processor_times(&self) -> Fact<Vec<ProcessorTime>> {
        let times = machine::processor_times()
            .map_err(|code| NotVisible::new("the times of the processors", Error::from_raw_os_error(code)))?;
        let numbered = (0..).zip(times);
        Ok(numbered.map(|(number, [idle, all])| ProcessorTime { number, idle, all }).collect())
    }

    pub(crate) fn mount_by_name(&self, path: &Path) -> Fact<Mount> {
        volumes::mount_of(path)
    }

    pub(crate) fn pending_signal(&self, _among: &[i32]) -> Option<i32> {
        // On Windows, orders to end arrive on threads of the system's own and never wait.
        None
    }

    pub(crate) fn waiting_of(&self, _thread: u32) -> Fact<Waiting> {
        Err(not_there("a view of what a thread waits for"))
    }

    /// All facts about one path.
    pub fn path_facts(&self, path: &Path) -> PathFacts {
        volumes::path_facts(path)
    }

    /// Who uses the device or file at a path.
    pub fn device_use(&self, path: &Path) -> DeviceUse {
        volumes::device_use(path)
    }

    /// Always false: the system itself opens a mounted image, which then cannot be opened for writing.
    pub(crate) fn has_loop_devices(&self) -> bool {
        false
    }

    /// Who uses the device or file that a job has open for writing. Disks and volumes have fixed names here, which do
    /// not change.
    pub fn device_use_of_open(&self, file: &OpenFile) -> DeviceUse {
        volumes::device_use(&file.path())
    }

    pub(crate) fn host(&self) -> fsdyno_results::Host {
        fsdyno_results::Host {
            kernel: machine::version(),
            cpus: machine::processors(),
            memory_bytes: machine::memory().map(|(total, _)| total),
            clock: None,
        }
    }

    pub(crate) fn available_memory_bytes(&self) -> Option<u64> {
        machine::memory().map(|(_, available)| available)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            // A process may have about sixteen million handles.
            open_files: Ok(None),
            open_files_hard: Ok(None),
            descriptors: Err(not_there("descriptors")),
            locked_memory_bytes: Err(not_read("limits of the working set")),
            aio_max_requests: Err(not_there("fs.aio-max-nr")),
            aio_reserved_requests: Err(not_there("fs.aio-nr")),
            io_uring_disabled: Err(not_there("kernel.io_uring_disabled")),
            other_identities: Err(not_there("a user of a thread")),
            nodes: Err(not_read("NUMA nodes")),
            cgroup_memory_bytes: Err(not_read("the memory limit of the job object")),
        }
    }

    /// The storage behind a path: see [`storage_of`](crate::storage_of).
    pub fn storage_of(&self, path: &Path, _writes: bool) -> Storage {
        volumes::storage_of(path)
    }

    pub(crate) fn nfs_mount_statistics(&self, _mount_point: &Path) -> Fact<WireCounters> {
        Err(not_read("counters of the NFS client"))
    }

    pub(crate) fn kernel(&self) -> Kernel {
        Kernel {
            machine: machine::installation(),
            boot: machine::boot().map(|time| time.to_string()),
            ..Kernel::default()
        }
    }

    pub(crate) fn runs(&self, pid: u32) -> Option<bool> {
        machine::runs(pid)
    }

    /// Always empty: files that other processes have open are not visible here.
    pub(crate) fn open_and_locked(&self, _name: &str) -> Vec<(u32, PathBuf)> {
        Vec::new()
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        machine::page_bytes() as u64
    }
}
