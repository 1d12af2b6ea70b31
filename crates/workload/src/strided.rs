//! `zonemode=strided`: requests stay in a window of the file, which moves after `zonesize` bytes.

use fsdyno_job::StridedZones;

/// Bytes that all files of a worker have transferred in the current window.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    zones: StridedZones,
    bytes: u64,
}

/// The part of a file that requests go to, relative to the range that the worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StridedWindow {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl StridedWindow {
    /// The window of a whole file of this length.
    pub(crate) fn whole(length: u64) -> Self {
        StridedWindow { start: 0, end: length }
    }

    /// Length, bytes.
    pub(crate) fn length(self) -> u64 {
        self.end - self.start
    }
}

impl Strided {
    pub(crate) fn new(zones: StridedZones) -> Self {
        Strided { zones, bytes: 0 }
    }

    /// The first window of a file of this length.
    pub(crate) fn first(&self, length: u64) -> StridedWindow {
        StridedWindow { start: 0, end: self.zones.range.min(length) }
    }

    /// Begins with the first windows again.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
    }

    /// Counts the bytes of a request.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// The window of the next request, if it changes: the same window starts over, or the next one begins when enough
    /// was transferred. `None`: the request continues in the current window. A window with room for less than
    /// `smallest` bytes is replaced by the first one.
    pub(crate) fn due(&mut self, window: StridedWindow, length: u64, smallest: u64) -> Option<StridedWindow> {
        if self.bytes >= self.zones.bytes {
            self.bytes = 0;
            let start = window.start.saturating_add(self.zones.range).saturating_add(self.zones.skip);
            if start.saturating_add(smallest) > length {
                return Some(self.first(length));
            }
            return Some(StridedWindow { start, end: start.saturating_add(self.zones.range).min(length) });
        }
        self.bytes.is_multiple_of(self.zones.range).then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_move_by_range_and_skip_and_begin_again_at_the_end() {
        let mut strided = Strided::new(StridedZones { bytes: 8, range: 16, skip: 4 });
        let mut window = strided.first(50);
        let mut starts = Vec::new();
        for _ in 0..5 {
            strided.count(8);
            window = strided.due(window, 50, 4).unwrap();
            starts.push((window.start, window.end));
        }
        assert_eq!(starts, [(20, 36), (40, 50), (0, 16), (20, 36), (40, 50)]);
    }

    #[test]
    fn a_window_smaller_than_the_bytes_begins_anew() {
        let mut strided = Strided::new(StridedZones { bytes: 16, range: 8, skip: 0 });
        let window = strided.first(100);
        strided.count(4);
        assert_eq!(strided.due(window, 100, 4), None);
        strided.count(4);
        assert_eq!(strided.due(window, 100, 4), Some(window));
        strided.count(8);
        assert_eq!(strided.due(window, 100, 4), Some(StridedWindow { start: 8, end: 16 }));
    }
}
