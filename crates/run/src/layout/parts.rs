//! A layout that several ranks share: the first makes the file, each fills a part, and the first fills the last chunk when
//! all else is there. So a file has its full length only when it is complete, as with one rank.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use fsdyno_os::files::{FileAccess, OpenMode};

use super::{
    LayoutError, LayoutRequest, Meter, begin, chunk_bytes, discard, fill, in_call, reserve_for_filling, serves,
};

/// The part of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Counted from 0.
    pub number: u32,
    /// All ranks that fill one.
    pub of: u32,
}

impl Part {
    /// Whole chunks; the last one belongs to no part.
    pub(crate) fn range(self, request: &LayoutRequest<'_>) -> Range<u64> {
        let chunk = chunk_bytes(request);
        let chunks = request.bytes_needed.div_ceil(chunk).saturating_sub(1);
        let until = |number: u32| chunks * u64::from(number) / u64::from(self.of.max(1)) * chunk;
        until(self.number)..until(self.number + 1)
    }

    /// What belongs to nobody.
    pub(crate) fn rest(self, request: &LayoutRequest<'_>) -> Range<u64> {
        Part { number: self.of - 1, of: self.of }.range(request).end..request.bytes_needed
    }
}

/// Makes the file, with nothing in it; false if it serves as it is.
pub(crate) fn make_empty(request: &LayoutRequest<'_>) -> Result<bool, LayoutError> {
    if serves(request) {
        return Ok(false);
    }
    request.reach.make_parents(request.path).map_err(in_call("mkdir"))?;
    let file = begin(request)?;
    if let Err(error) = reserve_for_filling(&file, request) {
        discard(request.reach, file);
        return Err(error);
    }
    file.close().map_err(in_call("close")).map(|()| true)
}

/// Fills a range of a file that was made, with data of its own.
pub(crate) fn fill_range(
    request: &LayoutRequest<'_>,
    range: Range<u64>,
    meter: &mut Meter<'_>,
    stop: &AtomicBool,
) -> Result<(), LayoutError> {
    let mode = OpenMode::buffered(FileAccess::Write);
    let file = request.reach.open_regular(request.path, mode).map_err(in_call("open"))?;
    let own = LayoutRequest { seed: request.seed ^ range.start.rotate_left(17), ..request.clone() };
    fill(&file, &own, range.clone(), meter, stop)?;
    // Advice; a file system that does not take it is no failure.
    let _ = file.drop_cache(range.start, range.end - range.start);
    file.close().map_err(in_call("close"))
}

/// Whether the parts of all ranks are in this file: others may have one of the same name on a disk of their own.
pub(crate) fn has_all_parts(request: &LayoutRequest<'_>, end: u64) -> bool {
    // A server is asked anew for the size when a file is opened.
    let open = request.reach.open_regular(request.path, OpenMode::buffered(FileAccess::Write));
    open.is_ok() && request.reach.look(request.path).is_ok_and(|facts| facts.size_bytes == end)
}

/// Takes back what was made of a file that will not be complete.
pub(crate) fn take_back(request: &LayoutRequest<'_>) {
    if let Ok(file) = request.reach.open_regular(request.path, OpenMode::buffered(FileAccess::Write)) {
        discard(request.reach, file);
    }
}
