//! What a terminal says of itself.

pub use crate::system::terminal::columns;
