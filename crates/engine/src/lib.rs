//! The engines that carry out the requests of a job, their buffers, and the contract between an engine and a worker's
//! loop. Files and clock are those of `os`.
//!
//! A request occupies a [`Slot`]: a token that cannot be copied. [`Engine::queue`] takes it, and only a
//! [`Completion`] returns it, so that nobody can touch a buffer in flight. An engine is made together with its slots,
//! which have its type: there is no second set, and slots of another engine do not fit.
//!
//! A worker describes what it needs in an [`EngineSetup`] and passes its loop to [`with_engine`] as an
//! [`EngineVisitor`]. The loop is compiled once per engine, and each worker chooses its engine once.
#![expect(unsafe_code, reason = "engines hand memory to the kernel; the other calls of the system are in os")]

mod advice;
pub mod buffers;
pub mod checksum;
mod choice;
mod completions;
mod contract;
pub mod draws;
pub mod fill;
mod null;
mod object_tally;
mod setup;
mod shared;
mod sim;
mod slot;

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

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!("no engines for this system yet: they would be a folder beside src/linux with the same names");

pub use advice::explain;
pub use choice::{EngineVisitor, availability, io_uring_features, with_engine};
pub use contract::*;
#[cfg(all(feature = "object", target_os = "linux"))]
pub use linux::objects::client::{ObjectClient, ObjectReply, ObjectServerFacts};
#[cfg(all(feature = "object", target_os = "linux"))]
pub use linux::objects::setup::config_text;
pub use object_tally::ObjectTally;
pub use setup::{EngineSetup, EngineSetupError, Names};
pub use slot::{SelfContained, Slot, Slots};
