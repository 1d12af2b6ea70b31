//! The code for Windows, with the same names as `linux`.

pub(crate) mod beneath;
pub(crate) mod caches;
pub(crate) mod clock;
pub(crate) mod errno;
pub(crate) mod errors;
pub(crate) mod extents;
pub mod fd;
pub mod files;
pub(crate) mod held_signals;
pub mod machine;
pub(crate) mod mapper;
pub(crate) mod memory;
pub(crate) mod names;
mod native;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod process_tree;
pub(crate) mod signals;
mod spelling;
pub(crate) mod streams;
pub(crate) mod terminal;
pub(crate) mod thread;
pub(crate) mod zones;

pub use native::SHARED;
