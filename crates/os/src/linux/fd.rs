//! The types by which an open file is reached.

pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
