//! Handles, under the names that this crate has for what a file is reached by once it is open.

use std::fs::File;
use std::os::windows::io::AsHandle;

pub use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};

/// What has a handle.
pub trait AsFd {
    /// Its handle.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for OwnedFd {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_handle()
    }
}
