//! What a file is reached by once it is open.

pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
