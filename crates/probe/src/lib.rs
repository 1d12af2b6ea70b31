//! Reads the state of the machine and its storage. Nothing here changes a file, a device or a setting.
//!
//! [`HostFacts`] is what planning needs, a plain value that tests can write by hand; the functions below fill it on a
//! real machine. A fact that is not visible is a [`NotVisible`] with its reason, or `None`, and never 0.
#![forbid(unsafe_code)]

mod device_use;
#[cfg(any(windows, test))]
mod drives;
mod facts;
mod fuse;
mod gathering;
mod interfaces;
mod reading;
mod server;
mod signature;
mod waiting;

// Each operating system has a module with the same items.
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

// A first part of a port to another Unix (CONTRIBUTING.md, "The first day on a Mac").
#[cfg(unix)]
pub mod unix;

pub use device_use::DeviceUse;
pub use facts::*;
pub use fuse::is_fuse;
pub use reading::Reading;
pub use system::{DiskWatch, Look, Meters, wait_of_this_thread_ns};
pub use waiting::Waiting;

use std::path::{Path, PathBuf};

use fsdyno_results::evidence::{Mount, Storage, WireCounters};

/// The mount that a path is on. If the path is missing, its nearest existing parent counts.
pub fn mount_of(path: &Path) -> Fact<Mount> {
    Look::new().mount_of(path)
}

/// The mount by the path's name alone, for a path that does not answer: links in it are not followed.
pub fn mount_by_name(path: &Path) -> Fact<Mount> {
    Look::new().mount_by_name(path)
}

/// What a thread of this process waits for in the kernel. If the thread is not stuck, the answer is outdated when it
/// arrives.
pub fn waiting_of(thread: u32) -> Fact<Waiting> {
    Look::new().waiting_of(thread)
}

/// The lowest of these signals that was sent to this process and that no thread has taken. The kernel gives a signal
/// to one thread, which may be stuck.
pub fn pending_signal(among: &[i32]) -> Option<i32> {
    Look::new().pending_signal(among)
}

/// Kernel, processors and memory. The caller fills in the clock.
pub fn host() -> fsdyno_results::Host {
    Look::new().host()
}

/// Memory that programs can get before the machine begins to swap; `None`: not visible.
pub fn available_memory_bytes() -> Option<u64> {
    Look::new().available_memory_bytes()
}

/// Number of the user whose rights this process has.
pub fn user() -> u32 {
    system::user()
}

/// A folder of this user: for data of programs, or for configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFolder {
    /// `None`: none of `variables` is set.
    pub path: Option<PathBuf>,
    /// The environment variables that may name the folder.
    pub variables: &'static str,
}

/// The folder for data of this user's programs.
pub fn data_folder() -> UserFolder {
    system::data_folder()
}

/// The folder for this user's configuration of programs.
pub fn configuration_folder() -> UserFolder {
    system::configuration_folder()
}

/// A folder that a variable names.
fn folder_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The machine's own name; `None`: it has none.
pub fn host_name() -> Option<String> {
    system::host_name()
}

/// The node in /dev of a block device; `None`: there is none of this number.
pub fn device_of(number: fsdyno_results::evidence::DeviceNumber) -> Option<PathBuf> {
    system::device_of(number)
}

/// The storage behind a path, whatever exists there: filesystem, server or daemon, devices, limits. It never fails:
/// unknown facts have a reason. It does no I/O on the storage, and returns within some seconds even if a server or
/// daemon does not answer.
pub fn storage_of(path: &Path) -> Storage {
    Look::new().storage_of(path, false)
}

/// Bytes that the NFS mount at `mount_point` has exchanged with its server since it was mounted, and its operations,
/// without those that never occurred. Counters only grow: the difference of two looks is what happened between them.
pub fn nfs_mount_statistics(mount_point: &Path) -> Fact<WireCounters> {
    Look::new().nfs_mount_statistics(mount_point)
}

/// The kernel that this process runs on, and its view of processes.
pub fn kernel() -> Kernel {
    Look::new().kernel()
}

/// Bytes that all network interfaces of this machine have received and sent, without traffic to itself; `None`: not
/// visible.
pub fn network_bytes() -> Option<fsdyno_results::ReadWrite<u64>> {
    Look::new().network_bytes()
}

/// Whether a process of this namespace exists and has not ended; `None`: not visible.
pub fn runs(pid: u32) -> Option<bool> {
    Look::new().runs(pid)
}

/// Files of this name that processes have opened, with the processes: this process, and those with a lock on a file,
/// as far as this user can see them.
pub fn open_and_locked(name: &str) -> Vec<(u32, PathBuf)> {
    Look::new().open_and_locked(name)
}

/// Size of a memory page, bytes.
pub fn page_bytes() -> u64 {
    Look::new().page_bytes()
}

/// Limits that the system sets for this process.
pub fn limits() -> Limits {
    Look::new().limits()
}

/// All facts about one path.
pub fn path_facts(path: &Path) -> PathFacts {
    Look::new().path_facts(path)
}
