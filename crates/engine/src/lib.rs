//! Everything `unsafe` and everything that talks to the operating system on the I/O path: buffers, files,
//! clocks, and the engines that carry requests.
//!
//! A request occupies a [`Slot`]: a token that cannot be copied. [`Engine::queue`] takes it and only a
//! [`Completion`] gives it back, so a buffer in flight cannot be touched.

pub mod clock;
mod contract;
mod slot;

pub use contract::*;
pub use slot::{Slot, Slots};
