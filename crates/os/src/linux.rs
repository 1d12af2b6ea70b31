//! The code for Linux. Another system has a folder with the same names.

pub(crate) mod beneath;
pub(crate) mod caches;
pub(crate) mod clock;
pub(crate) mod errno;
pub(crate) mod errors;
pub(crate) mod extents;
pub mod fd;
pub mod files;
pub(crate) mod held_signals;
pub(crate) mod loops;
pub(crate) mod mapper;
pub(crate) mod memory;
pub(crate) mod names;
pub mod nvme;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod process_tree;
mod program;
pub(crate) mod signals;
pub mod sockets;
pub(crate) mod streams;
pub(crate) mod terminal;
pub(crate) mod thread;
pub mod zones;
