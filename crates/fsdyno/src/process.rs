//! The functions that both faces use. Nothing here depends on a face.

pub(crate) mod colour;
pub(crate) mod first_look;
pub(crate) mod left_behind;
pub(crate) mod patience;
pub(crate) mod saver;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod supervisor;

/// The version line; tools look for its beginning.
pub(crate) const VERSION: &str = concat!("fio-3.42-fsdyno-", env!("CARGO_PKG_VERSION"));
