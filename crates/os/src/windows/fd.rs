//! Handles, under the names that this crate uses for the descriptors of open files.

use std::fs::File;
use std::os::windows::io::AsHandle;

pub use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};

/// Types that have a handle.
pub trait AsFd {
    /// The handle.
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
