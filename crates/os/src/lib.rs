//! The interface to the operating system: files, names, locks, clocks, threads, processes, signals, the terminal,
//! memory and error numbers. Each module has one interface for all systems; the code of each system is in its folder.
//! The engines are in `engine`; the state of the machine is read in `probe`.
#![expect(unsafe_code, reason = "calls of the system are unsafe, and have their home here and in engine")]

pub mod allocation;
pub mod caches;
pub mod clock;
pub mod errno;
pub mod files;
pub mod mapper;
pub mod memory;
pub mod names;
pub mod nvme;
pub mod process;
pub mod process_tree;
pub mod signals;
pub mod terminal;
pub mod thread;
pub mod written;
pub mod zones;

#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(windows)]
pub mod windows;
#[cfg(windows)]
use windows as system;
#[cfg(windows)]
pub use windows::machine;

pub use system::fd;

// It only handles text, so that it is also tested here.
#[cfg(all(test, not(windows)))]
#[path = "windows/spelling.rs"]
mod spelling;

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("no calls for this system yet: they would be a folder beside src/linux with the same names");
