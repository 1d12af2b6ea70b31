//! What a file holds and where its pages are: looked at through an open descriptor, without reading it.

use super::{FileError, OpenFile};
use crate::system::fd::AsFd;
use crate::system::{extents, pages};

/// Pages of a file in the page cache, in bytes of whole pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPages {
    /// In the cache.
    pub cached_bytes: u64,
    /// Of these, dirty and not yet under write-back; `None`: not visible (kernels before 6.5).
    pub dirty_bytes: Option<u64>,
    /// Of these, on their way; `None` likewise.
    pub writeback_bytes: Option<u64>,
    /// Were in the cache and are not now, as far as the kernel remembers; `None` likewise.
    pub evicted_bytes: Option<u64>,
}

/// What a file's extents are, in bytes up to the length that was asked about. Holes count nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Hold data.
    pub written_bytes: u64,
    /// Allocated, but never written: they read as zeros without the device.
    pub unwritten_bytes: u64,
    /// Of the written: stored in another form, compressed or encrypted.
    pub encoded_bytes: u64,
    /// Of the written: still in memory only, their place on the device not chosen.
    pub delayed_bytes: u64,
    /// Of the written: within the metadata of the filesystem, cached as that is.
    pub inline_bytes: u64,
    /// Of the written: other files, or this one, have them too (reflinks, snapshots, deduplication).
    pub shared_bytes: u64,
    /// How many there are.
    pub count: u64,
    /// The list was read up to this offset; less than the length: there are more extents than were looked at.
    pub examined_bytes: u64,
}

/// Pages of a file in the page cache (cachestat, before Linux 6.5 mincore). Neither changes them. The kernel shows
/// them only for files that this user owns or may write.
pub fn page_cache_of(file: &OpenFile) -> Result<CachedPages, FileError> {
    file.looked("count the cached pages of", pages::cached(file.as_fd(), file.kind()))
}

/// The extents of the first `length` bytes (FIEMAP). With `flush` dirty pages are written back first: without it
/// what was written over unwritten extents still counts as unwritten. Bounded: at most 65,536 extents are looked at.
pub fn extents_of(file: &OpenFile, length: u64, flush: bool) -> Result<Extents, FileError> {
    file.looked("list the extents of", extents::extents(file.as_fd(), length, flush))
}
