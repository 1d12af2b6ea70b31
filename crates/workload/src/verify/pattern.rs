//! `verify_pattern`: bytes that repeat, with the offset in the file among them.

use fsdyno_job::BytePattern;

/// The pattern of a job and how it repeats.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeated {
    pattern: BytePattern,
    /// Number of bytes after which the pattern begins again; `None`: it begins with each request.
    interval: Option<usize>,
    /// The pattern that was expected last; grows to the longest request.
    expected: Vec<u8>,
}

impl Repeated {
    pub(super) fn new(pattern: BytePattern, interval: u32) -> Repeated {
        let interval = (interval > 0).then_some(interval as usize);
        Repeated { pattern, interval, expected: Vec::new() }
    }

    /// Whether a buffer that was filled once need not be filled again for the next write.
    pub(super) fn stays(&self) -> bool {
        self.pattern.offsets.is_empty() && self.interval.is_none()
    }

    /// Fills the buffer of a request at this offset.
    pub(super) fn fill(&self, buffer: &mut [u8], offset: u64) {
        let interval = self.interval.unwrap_or(buffer.len()).max(1);
        for (segment, offset) in buffer.chunks_mut(interval).zip((offset..).step_by(interval)) {
            self.fill_segment(segment, offset);
        }
    }

    fn fill_segment(&self, segment: &mut [u8], offset: u64) {
        let BytePattern { bytes, offsets, .. } = &self.pattern;
        let once = bytes.len().min(segment.len());
        segment[..once].copy_from_slice(&bytes[..once]);
        for at in offsets.iter().filter(|at| **at < once) {
            let place = &mut segment[*at..once.min(at + size_of::<u64>())];
            place.copy_from_slice(&offset.to_le_bytes()[..place.len()]);
        }
        let mut done = once.max(1);
        while done < segment.len() {
            let more = done.min(segment.len() - done);
            segment.copy_within(..more, done);
            done += more;
        }
    }

    /// The first byte of a request at this offset that differs from the pattern, with the expected byte. Bytes for
    /// which `is_checked` is false may have any value.
    pub(super) fn difference(
        &mut self,
        buffer: &[u8],
        offset: u64,
        is_checked: impl Fn(usize) -> bool,
    ) -> Option<(usize, u8)> {
        let mut expected = std::mem::take(&mut self.expected);
        expected.resize(buffer.len(), 0);
        self.fill(&mut expected, offset);
        let differs = |at: &usize| buffer[*at] != expected[*at] && is_checked(*at);
        let first = if expected == buffer { None } else { (0..buffer.len()).find(differs) };
        let found = first.map(|at| (at, expected[at]));
        self.expected = expected;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, interval: u32, length: usize, offset: u64) -> String {
        let pattern = fsdyno_job::value::verify_pattern(text).unwrap();
        let mut buffer = vec![0; length];
        Repeated::new(pattern, interval).fill(&mut buffer, offset);
        buffer.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The second blocks of 64 bytes that fio 3.42 wrote.
    #[test]
    fn patterns_repeat_as_with_fio() {
        assert_eq!(filled("%o", 0, 64, 64), "4000000000000000".repeat(8));
        let once = "61624000000000000000ff";
        assert_eq!(filled("\"ab\"%o0xff", 0, 64, 64), once.repeat(6)[..128]);
        let segments = ["40", "50", "60", "70"].map(|at| format!("{at}00000000000000").repeat(2));
        assert_eq!(filled("%o", 16, 64, 64), segments.concat());
        let segments = ["40", "58", "70"].map(|at| format!("{at}0000000000000078797a").repeat(3)[..48].to_owned());
        assert_eq!(filled("%o\"xyz\"", 24, 64, 64), segments.concat()[..128]);
        assert_eq!(filled("%o", 0, 4, 0x0102_0304_0506), "06050403", "an offset that does not fit is cut");
    }

    #[test]
    fn the_first_difference_is_found() {
        let mut pattern = Repeated::new(fsdyno_job::value::verify_pattern("0xab%o").unwrap(), 0);
        let mut block = vec![0; 100];
        pattern.fill(&mut block, 300);
        assert_eq!(pattern.difference(&block, 300, |_| true), None);
        block[20] ^= 1;
        block[30] ^= 1;
        assert_eq!(pattern.difference(&block, 300, |_| true).map(|found| found.0), Some(20));
        assert_eq!(pattern.difference(&block, 300, |at| at > 20).map(|found| found.0), Some(30));
        assert_eq!(pattern.difference(&block, 301, |_| true), Some((1, 0x2d)), "the offset counts");
    }
}
