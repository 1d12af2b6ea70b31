//! Properties of a terminal.

pub use crate::system::terminal::columns;
