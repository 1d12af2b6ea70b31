//! What is particular to Linux. Another system is another folder with the same names.

pub(crate) mod aio;
pub(crate) mod beneath;
mod bus;
pub(crate) mod caches;
pub(crate) mod clock;
pub(crate) mod control;
pub(crate) mod extents;
pub(crate) mod files;
pub(crate) mod mapper;
pub(crate) mod memory;
pub(crate) mod mmap;
pub(crate) mod names;
pub(crate) mod pages;
pub(crate) mod positioned;
pub(crate) mod process;
mod shared;
pub(crate) mod signals;
pub(crate) mod terminal;
pub(crate) mod thread;
pub(crate) mod uring;
