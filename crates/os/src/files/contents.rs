//! What a file contains and where its pages are, seen through an open descriptor without reading the file.

use super::{FileError, OpenFile};
use crate::system::fd::AsFd;
use crate::system::{extents, pages};

/// Pages of a file in the page cache, in bytes of whole pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPages {
    /// Bytes in the cache.
    pub cached_bytes: u64,
    /// Of these, bytes that are dirty and not yet under write-back; `None`: not visible (kernels before 6.5).
    pub dirty_bytes: Option<u64>,
    /// Of these, bytes under write-back; `None`: not visible.
    pub writeback_bytes: Option<u64>,
    /// Bytes that were in the cache and are not now, as far as the kernel remembers; `None`: not visible.
    pub evicted_bytes: Option<u64>,
}

/// Kinds of a file's extents, in bytes up to the length that was asked for. Holes are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Bytes with data.
    pub written_bytes: u64,
    /// Bytes that are allocated but were never written: they read as zeros without I/O on the device.
    pub unwritten_bytes: u64,
    /// Of the written bytes: stored compressed or encrypted.
    pub encoded_bytes: u64,
    /// Of the written bytes: only in memory; their place on the device is not chosen yet.
    pub delayed_bytes: u64,
    /// Of the written bytes: inside the metadata of the filesystem, and cached with it.
    pub inline_bytes: u64,
    /// Of the written bytes: shared with other files or parts of this one (reflinks, snapshots, deduplication).
    pub shared_bytes: u64,
    /// Number of extents.
    pub count: u64,
    /// Offset up to which the extents were read; less than the length: there are more extents than the limit.
    pub examined_bytes: u64,
}

/// The file's pages in the page cache (cachestat, or mincore before Linux 6.5). The calls do not change them. The
/// kernel shows them only for files that this user owns or may write.
pub fn page_cache_of(file: &OpenFile) -> Result<CachedPages, FileError> {
    file.looked("count the cached pages of", pages::cached(file.as_fd(), file.kind()))
}

/// The extents of the first `length` bytes (FIEMAP). With `flush`, dirty pages are written back first: otherwise data
/// written over unwritten extents still counts as unwritten. At most 65,536 extents are read.
pub fn extents_of(file: &OpenFile, length: u64, flush: bool) -> Result<Extents, FileError> {
    file.looked("list the extents of", extents::extents(file.as_fd(), length, flush))
}
