//! Everything `unsafe` and everything that talks to the operating system on the I/O path: buffers, files,
//! clocks, and the engines that carry requests.
//!
//! A request occupies a [`Slot`]: a token that cannot be copied. [`Engine::queue`] takes it and only a
//! [`Completion`] gives it back, so a buffer in flight cannot be touched. An engine comes with its slots, and they are of
//! its type: there is no second set, and those of another engine do not fit.
//!
//! A worker describes what it needs in an [`EngineSetup`] and passes its loop to [`with_engine`] as an
//! [`EngineVisitor`]: the loop is compiled once per engine and the engine is chosen once per worker.
#![expect(unsafe_code, reason = "this is its crate")]

mod advice;
pub mod allocation;
pub mod buffers;
pub mod caches;
pub mod checksum;
mod choice;
pub mod clock;
mod completions;
mod contract;
pub mod errno;
pub mod files;
pub mod fill;
pub mod mapper;
pub mod names;
mod null;
pub mod process;
pub mod process_tree;
mod setup;
mod shared;
pub mod signals;
mod sim;
mod slot;
pub mod terminal;
pub mod thread;
pub mod written;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;
#[cfg(windows)]
pub use windows::machine;

// Text alone, tested here too.
#[cfg(all(test, not(windows)))]
#[path = "windows/spelling.rs"]
mod spelling;

// What another Unix would begin with (CONTRIBUTING.md, "The first day on a Mac").
#[cfg(all(unix, any(feature = "posix", not(target_os = "linux"))))]
pub mod unix;

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("no engines for this system yet: they would be a folder beside src/linux with the same names");

pub use advice::explain;
pub use choice::{EngineVisitor, availability, io_uring_features, with_engine};
pub use contract::*;
pub use setup::{EngineSetup, EngineSetupError, Names};
pub use slot::{SelfContained, Slot, Slots};
