//! Linux: reads /proc and /sys, and makes a few system calls.

mod block;
mod cgroups;
mod class;
mod counters;
mod folders;
mod identity;
mod idle;
mod layers;
mod ledger;
mod limits;
mod look;
mod machine;
pub(crate) use block::device_of;
pub(crate) use machine::{host_name, user};
mod mounts;
mod paths;
mod processes;
mod secrets;
mod usage;
mod waiting;

pub use counters::DiskWatch;
pub(crate) use folders::{configuration_folder, data_folder};
pub use ledger::{Meters, wait_of_this_thread_ns};
pub use look::Look;
use look::{read_number, read_text};

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use fsdyno_os::files::OpenFile;
use fsdyno_results::evidence::{Storage, WireCounters};

use crate::{DeviceUse, Fact, Kernel, Limits, PathFacts, ProcessorTime, Waiting};
use fsdyno_results::evidence::Mount;

impl Look {
    /// The mount that a path is on. If the path is missing, its nearest existing parent counts.
    pub fn mount_of(&self, path: &Path) -> Fact<Mount> {
        mounts::mount_of(self, path)
    }

    pub(crate) fn mount_by_name(&self, path: &Path) -> Fact<Mount> {
        mounts::mount_by_name(self, path)
    }

    pub(crate) fn pending_signal(&self, among: &[i32]) -> Option<i32> {
        waiting::pending_signal(self, among)
    }

    pub(crate) fn waiting_of(&self, thread: u32) -> Fact<Waiting> {
        waiting::waiting_of(self, thread)
    }

    /// The mount point of the blkio controller of cgroup version 1.
    pub fn blkio_mount(&self) -> Fact<std::path::PathBuf> {
        cgroups::blkio_mount(self)
    }

    /// All facts about one path.
    pub fn path_facts(&self, path: &Path) -> PathFacts {
        paths::path_facts(self, path)
    }

    /// Who uses the device or file at a path.
    pub fn device_use(&self, path: &Path) -> DeviceUse {
        usage::of_path(self, path)
    }

    pub(crate) fn has_loop_devices(&self) -> bool {
        usage::has_loop_devices(self)
    }

    /// Who uses the device or file that a job has open for writing.
    pub fn device_use_of_open(&self, file: &OpenFile) -> DeviceUse {
        usage::of_open(self, file.as_fd())
    }

    pub(crate) fn host(&self) -> fsdyno_results::Host {
        machine::host(self)
    }

    pub(crate) fn available_memory_bytes(&self) -> Option<u64> {
        ledger::available_memory_bytes(self)
    }

    pub(crate) fn limits(&self) -> Limits {
        limits::limits(self)
    }

    /// How long each processor had no work since the boot.
    pub fn processor_times(&self) -> Fact<Vec<ProcessorTime>> {
        idle::processor_times(self)
    }

    /// The storage behind a path: see [`storage_of`](crate::storage_of). `writes`: the file there will be written.
    pub fn storage_of(&self, path: &Path, writes: bool) -> Storage {
        identity::storage(self, path, writes)
    }

    pub(crate) fn nfs_mount_statistics(&self, mount_point: &Path) -> Fact<WireCounters> {
        identity::nfs_mount_statistics(self, mount_point)
    }

    pub(crate) fn kernel(&self) -> Kernel {
        processes::kernel(self)
    }

    pub(crate) fn runs(&self, pid: u32) -> Option<bool> {
        processes::runs(self, pid)
    }

    pub(crate) fn open_and_locked(&self, name: &str) -> Vec<(u32, PathBuf)> {
        processes::open_and_locked(self, name)
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }
}
