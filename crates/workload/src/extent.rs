//! Decides when a worker's requests end, and when its files start over.

use crate::workload::{DirectionMix, Workload};

/// What was issued so far, and how much still has to come.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// Bytes of all loops, then bytes of all requests that move them.
    asked: u64,
    bytes: u64,
    /// Number of requests of all loops.
    ios: u64,
    loops_left: u32,
    starts_over: bool,
    time_based: bool,
    smallest_block: u64,
    /// Where a pass is read back after it: bytes of one loop, with the largest block.
    read_back: Option<(u64, u64)>,
    /// Bytes that were written and are read back.
    written_bytes: u64,
    /// Bytes of one pass, if something other than the end of the files ends it.
    pass_bytes: u64,
    issued_bytes: u64,
    issued_ios: u64,
    /// Bytes and requests issued before this pass: a pass that issues nothing is the last.
    bytes_before: u64,
    ios_before: u64,
}

impl Extent {
    pub(crate) fn new(workload: &Workload) -> Self {
        let loops = workload.loops.max(1);
        // A block that is trimmed and written counts once, but both requests are issued.
        let sides = if workload.direction_mix() == DirectionMix::TrimThenWrite { 2 } else { 1 };
        let ios = match workload.number_ios {
            0 => u64::MAX,
            number => number.saturating_mul(loops.into()).saturating_mul(sides),
        };
        let smallest_block = workload.directions_drawn().map(|direction| workload.pattern.block_size[direction].min());
        let largest_block = workload.directions_drawn().map(|direction| workload.pattern.block_size[direction].max());
        let reads_back = workload.counts_read_back && !workload.starts_over;
        let pass_bytes = workload.pass_bytes.filter(|_| !workload.time_based);
        Extent {
            pass_bytes: pass_bytes.map_or(u64::MAX, |bytes| bytes.saturating_mul(sides)),
            asked: workload.bytes.saturating_mul(loops.into()),
            bytes: workload.bytes.saturating_mul(loops.into()).saturating_mul(sides),
            ios,
            loops_left: loops - 1,
            starts_over: workload.starts_over,
            time_based: workload.time_based,
            smallest_block: smallest_block.min().unwrap_or(0),
            read_back: reads_back.then(|| (workload.bytes, largest_block.max().unwrap_or(0))),
            written_bytes: 0,
            issued_bytes: 0,
            issued_ios: 0,
            bytes_before: 0,
            ios_before: 0,
        }
    }

    pub(crate) fn time_based(&self) -> bool {
        self.time_based
    }

    /// Whether no further request follows.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        !self.time_based && (self.issued_bytes >= self.bytes || self.issued_ios >= self.ios)
    }

    /// Allows no further request.
    pub(crate) fn end(&mut self) {
        (self.time_based, self.ios) = (false, 0);
    }

    /// Allows this number of further requests, however many bytes were issued: at their ends the files start over.
    pub(crate) fn allow(&mut self, requests: u64) {
        (self.time_based, self.starts_over) = (false, true);
        (self.asked, self.bytes) = (u64::MAX, u64::MAX);
        self.ios = self.issued_ios.saturating_add(requests);
    }

    /// Whether no further request follows before the files start over.
    pub(crate) fn pass_is_over(&self) -> bool {
        self.issued_bytes - self.bytes_before >= self.pass_bytes
    }

    /// Number of requests of `size` bytes that are left in this pass.
    pub(crate) fn requests_left(&self, size: u64) -> u64 {
        let (ios, bytes) = self.left();
        bytes.div_ceil(size).min(ios)
    }

    /// Number of requests and of bytes until nothing follows in this pass. The last request may have more bytes.
    pub(crate) fn left(&self) -> (u64, u64) {
        if self.time_based {
            return (u64::MAX, u64::MAX);
        }
        let bytes = self.bytes.saturating_sub(self.issued_bytes);
        let of_pass = self.pass_bytes.saturating_sub(self.issued_bytes - self.bytes_before);
        (self.ios.saturating_sub(self.issued_ios), bytes.min(of_pass))
    }

    #[inline]
    pub(crate) fn issue(&mut self, ios: u64, bytes: u64) {
        self.issued_ios += ios;
        self.issued_bytes += bytes;
    }

    /// These bytes of an issued request are left to other requests.
    pub(crate) fn take_back(&mut self, bytes: u64) {
        self.issued_bytes -= bytes;
    }

    /// A write that is read back after its pass.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.written_bytes += bytes;
    }

    /// Whether the files start over, after all of them are done. With `io_size` they start over until only a rest
    /// smaller than any block is left. Without it, the rest of each loop is left out.
    pub(crate) fn starts_over(&mut self) -> bool {
        if self.issued_ios == self.ios_before || self.is_over() {
            return false;
        }
        (self.bytes_before, self.ios_before) = (self.issued_bytes, self.issued_ios);
        if self.time_based {
            return true;
        }
        if self.starts_over {
            return self.asked.saturating_sub(self.issued_bytes) >= self.smallest_block;
        }
        let more = self.loops_left > 0;
        self.loops_left -= u32::from(more);
        let done = self.issued_bytes + self.written_bytes;
        more || self.read_back.is_some_and(|(bytes, block)| bytes.saturating_sub(done) >= block.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(bytes: u64, loops: u32, starts_over: bool) -> Extent {
        let bytes = bytes * u64::from(loops);
        Extent {
            asked: bytes,
            bytes,
            ios: u64::MAX,
            loops_left: loops - 1,
            starts_over,
            time_based: false,
            smallest_block: 4096,
            read_back: None,
            written_bytes: 0,
            pass_bytes: u64::MAX,
            issued_bytes: 0,
            issued_ios: 0,
            bytes_before: 0,
            ios_before: 0,
        }
    }

    #[test]
    fn a_rest_of_the_size_is_left_out() {
        let mut extent = extent(22 << 10, 1, false);
        extent.issue(5, 20 << 10);
        assert!(!extent.is_over() && !extent.starts_over());
    }

    #[test]
    fn what_is_read_back_counts_where_the_files_end_early() {
        // 16 KiB of 66,000 bytes fit in each pass: with what is read back, two passes leave less than a block.
        let mut extent = Extent { read_back: Some((66_000, 4096)), ..extent(66_000, 1, false) };
        let passes = 1 + std::iter::from_fn(|| {
            extent.issue(4, 16 << 10);
            extent.write(16 << 10);
            extent.starts_over().then_some(())
        })
        .count();
        assert_eq!(passes, 2);
    }

    #[test]
    fn io_size_starts_over_for_a_rest_of_a_block() {
        for (bytes, expected) in [(24 << 10, true), (23 << 10, false)] {
            let mut extent = extent(bytes, 1, true);
            extent.issue(5, 20 << 10);
            assert_eq!(extent.starts_over(), expected, "{bytes} bytes");
        }
    }

    #[test]
    fn each_loop_transfers_io_size() {
        // A pass has 16 KiB: twice 40 KiB are five passes.
        let mut extent = extent(40 << 10, 2, true);
        let passes = 1 + std::iter::from_fn(|| {
            extent.issue(4, 16 << 10);
            extent.starts_over().then_some(())
        })
        .count();
        assert_eq!((passes, extent.is_over()), (5, true));
    }

    #[test]
    fn a_pass_without_a_request_is_the_last() {
        let mut extent = extent(1 << 20, 3, true);
        assert!(!extent.starts_over());
        extent.issue(1, 4096);
        assert!(extent.starts_over());
        assert!(!extent.starts_over());
    }

    #[test]
    fn the_last_request_may_exceed_the_bytes() {
        let mut extent = extent(10 << 10, 1, false);
        assert_eq!(extent.requests_left(4096), 3);
        extent.issue(3, 12 << 10);
        assert!(extent.is_over());
    }
}
