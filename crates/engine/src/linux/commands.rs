//! What the engines share that hand commands to a device past the block layer: `sg` and `io_uring_cmd`.

use std::os::fd::RawFd;

/// A request for a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) slot: usize,
    pub(crate) fd: RawFd,
    pub(crate) what: What,
    /// The buffer of `bytes` bytes; nobody reads it for syncs and trims.
    pub(crate) address: *mut u8,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Read,
    Write,
    Trim,
    /// The device stores what is in its cache.
    Sync,
}

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) slot: usize,
    /// Bytes or the negated errno.
    pub(crate) result: i64,
}

/// How a disk is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) block_bytes: u32,
    /// Number of the NVMe namespace; 0 on other disks.
    pub(crate) namespace: u32,
    /// Its last blocks have numbers of more than 32 bits.
    pub(crate) is_large: bool,
}

impl Disk {
    /// First block and number of blocks of a request; `None`: it is not made of whole blocks.
    pub(crate) fn blocks(self, request: &Request) -> Option<(u64, u32)> {
        let block = u64::from(self.block_bytes);
        let whole = request.offset.is_multiple_of(block) && request.bytes.is_multiple_of(block);
        Some((request.offset / block, u32::try_from(request.bytes / block).ok()?)).filter(|_| whole)
    }
}
