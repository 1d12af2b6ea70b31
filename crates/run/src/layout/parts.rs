//! Divides a layout between ranks: the first rank makes the file, each rank fills a part, and the first fills the last
//! chunk when everything else is written. So the file has its full length only when it is complete, as with one rank.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use fsdyno_os::files::{FileAccess, OpenMode};

use super::{
    LayoutError, LayoutRequest, Meter, begin, chunk_bytes, discard, fill, in_call, reserve_for_filling, serves,
};

/// The part of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutPart {
    /// The rank's number, counted from 0.
    pub number: u32,
    /// Number of ranks.
    pub of: u32,
}

impl LayoutPart {
    /// The bytes of this part: whole chunks, without the last one of the file.
    pub(crate) fn range(self, request: &LayoutRequest<'_>) -> Range<u64> {
        let chunk = chunk_bytes(request);
        let chunks = request.bytes_needed.div_ceil(chunk).saturating_sub(1);
        let until = |number: u32| chunks * u64::from(number) / u64::from(self.of.max(1)) * chunk;
        until(self.number)..until(self.number + 1)
    }

    /// The last chunk, which belongs to no part.
    pub(crate) fn rest(self, request: &LayoutRequest<'_>) -> Range<u64> {
        LayoutPart { number: self.of - 1, of: self.of }.range(request).end..request.bytes_needed
    }
}

/// Makes the empty file; false if the existing one is long enough.
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

/// Fills a range of a file that another rank has made, with this rank's data.
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
    // This is only advice: a filesystem that refuses it is no failure.
    let _ = file.drop_cache(range.start, range.end - range.start);
    file.close().map_err(in_call("close"))
}

/// Whether this file has the parts of all ranks: others may have written a file of the same name on their own disks.
pub(crate) fn has_all_parts(request: &LayoutRequest<'_>, end: u64) -> bool {
    // Opening asks a server for the current size.
    let open = request.reach.open_regular(request.path, OpenMode::buffered(FileAccess::Write));
    open.is_ok() && request.reach.look(request.path).is_ok_and(|facts| facts.size_bytes == end)
}

/// Removes a file that will not be completed.
pub(crate) fn take_back(request: &LayoutRequest<'_>) {
    if let Ok(file) = request.reach.open_regular(request.path, OpenMode::buffered(FileAccess::Write)) {
        discard(request.reach, file);
    }
}
