//! Reads the state of the machine and its storage. Nothing here changes a file, a device or a setting.
//!
//! [`HostFacts`] is what planning needs, a plain value that tests can write by hand; the functions below fill it
//! on a real machine. What cannot be seen is a [`NotVisible`] with its reason, or `None`, and never 0.
#![forbid(unsafe_code)]

mod device_use;
#[cfg(any(windows, test))]
mod drives;
mod facts;
mod fuse;
mod interfaces;
mod reading;
mod server;
mod signature;
mod waiting;

// Another operating system adds a module of its own with the same items.
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

// What another Unix would begin with (CONTRIBUTING.md, "The first day on a Mac").
#[cfg(unix)]
pub mod unix;

pub use device_use::DeviceUse;
pub use facts::*;
pub use fuse::is_fuse;
pub use reading::Reading;
pub use system::{DiskWatch, Look, Meters, wait_of_this_thread_ns};
pub use waiting::Waiting;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fsdyno_results::evidence::{Mount, Storage, WireCounters};

/// The mount that a path is on. The path may be missing: its nearest existing parent counts.
pub fn mount_of(path: &Path) -> Fact<Mount> {
    Look::new().mount_of(path)
}

/// The same by the path's name alone, for one that does not answer: links in it are not followed.
pub fn mount_by_name(path: &Path) -> Fact<Mount> {
    Look::new().mount_by_name(path)
}

/// What a thread of this process waits for in the kernel. Asked of a thread that is not stuck, the answer is old when
/// it comes.
pub fn waiting_of(thread: u32) -> Fact<Waiting> {
    Look::new().waiting_of(thread)
}

/// The lowest of these signals that this process was sent and that none of its threads has taken: the kernel gives it
/// to one thread, and that may be stuck.
pub fn pending_signal(among: &[i32]) -> Option<i32> {
    Look::new().pending_signal(among)
}

/// Kernel, processors and memory. The clock is for the caller to fill in.
pub fn host() -> fsdyno_results::Host {
    Look::new().host()
}

/// Memory that programs can have without the machine beginning to swap; `None`: the kernel does not say.
pub fn available_memory_bytes() -> Option<u64> {
    Look::new().available_memory_bytes()
}

/// Number of the user whose rights this process has.
pub fn user() -> u32 {
    system::user()
}

/// Where programs keep what belongs to this user, and where they look for this user's wishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFolder {
    /// `None`: none of `variables` says.
    pub path: Option<PathBuf>,
    /// The variables that say where it is.
    pub variables: &'static str,
}

/// The folder for data of this user's programs.
pub fn data_folder() -> UserFolder {
    system::data_folder()
}

/// The folder for this user's wishes to programs.
pub fn configuration_folder() -> UserFolder {
    system::configuration_folder()
}

/// A folder that a variable names.
fn folder_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// What the machine calls itself; `None`: it has no name.
pub fn host_name() -> Option<String> {
    system::host_name()
}

/// The node in /dev of a block device; `None`: there is none of this number.
pub fn device_of(number: fsdyno_results::evidence::DeviceNumber) -> Option<PathBuf> {
    system::device_of(number)
}

/// The storage behind a path, whatever stands there: filesystem, server or daemon, devices, limits. It never fails:
/// what is unknown says why. It does no I/O on the storage, and comes back within some seconds even if a server or
/// daemon does not.
pub fn storage_of(path: &Path) -> Storage {
    Look::new().storage_of(path, false)
}

/// What the NFS mount at `mount_point` has exchanged with its server since it was mounted, and per operation; the
/// operations never asked for are left out. The counters only grow: a difference of two looks is what happened.
pub fn nfs_mount_statistics(mount_point: &Path) -> Fact<WireCounters> {
    Look::new().nfs_mount_statistics(mount_point)
}

/// The kernel that this process runs on, and its view of processes.
pub fn kernel() -> Kernel {
    Look::new().kernel()
}

/// Bytes that all network interfaces of this machine have received and sent, without what it sent to itself; `None`: not
/// visible.
pub fn network_bytes() -> Option<fsdyno_results::ReadWrite<u64>> {
    Look::new().network_bytes()
}

/// Whether a process of this namespace exists and can still do anything; `None`: not visible.
pub fn runs(pid: u32) -> Option<bool> {
    Look::new().runs(pid)
}

/// Files of this name that processes hold open, with the processes: this one, and those with a lock on a file, as far
/// as they are visible to this user.
pub fn open_and_locked(name: &str) -> Vec<(u32, PathBuf)> {
    Look::new().open_and_locked(name)
}

/// Bytes of a memory page.
pub fn page_bytes() -> u64 {
    Look::new().page_bytes()
}

/// What the system allows this process.
pub fn limits() -> Limits {
    Look::new().limits()
}

/// Everything about one path.
pub fn path_facts(path: &Path) -> PathFacts {
    Look::new().path_facts(path)
}

impl HostFacts {
    /// What a look at the machine and at each of `paths` tells; those may depend on the machine.
    pub fn gather<Paths: IntoIterator<Item = PathBuf>>(
        look: &Look,
        paths: impl FnOnce(&fsdyno_results::Host) -> Paths,
    ) -> HostFacts {
        let host = look.host();
        let facts_of = |path: PathBuf| {
            let facts = look.path_facts(&path);
            (path, facts)
        };
        let mut facts =
            HostFacts { paths: BTreeMap::new(), host, page_bytes: look.page_bytes(), limits: look.limits() };
        facts.paths.extend(paths(&facts.host).into_iter().map(facts_of));
        facts
    }

    /// Asks who uses what stands at these paths, which must be among those of the facts: a job is to change it.
    pub fn ask_use(&mut self, look: &Look, paths: impl IntoIterator<Item = PathBuf>) {
        // Files are in use through loop devices alone: most machines have none, and nothing is asked.
        let asked = |facts: &PathFacts| match facts.kind {
            FileKind::Regular => look.has_loop_devices(),
            _ => facts.exists(),
        };
        for path in paths {
            if let Some(facts) = self.paths.get_mut(&path).filter(|facts| asked(facts)) {
                facts.device_use = Some(look.device_use(&path));
            }
        }
    }
}
