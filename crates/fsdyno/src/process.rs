//! What the program does for both of its faces. Nothing here knows a face.

pub(crate) mod colour;
pub(crate) mod first_look;
#[cfg(feature = "mpi")]
pub(crate) mod hosts;
pub(crate) mod launcher;
mod left_behind;
#[cfg(feature = "mpi")]
pub(crate) mod link;
pub(crate) mod patience;
#[cfg(feature = "mpi")]
pub(crate) mod ranks;
pub(crate) mod saver;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod supervisor;

/// Version line; tools look for its beginning.
pub(crate) const VERSION: &str = concat!("fio-3.42-fsdyno-", env!("CARGO_PKG_VERSION"));
