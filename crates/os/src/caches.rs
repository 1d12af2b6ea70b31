//! The caches of the whole machine, which only root may drop.

pub use crate::system::caches::{SWITCH, drop_all, may_be_dropped};
