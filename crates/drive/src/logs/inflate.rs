//! `--inflate-log`: prints the lines of a compressed log.

use std::io::{self, Read, Write};

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::lines::{LINE_BYTES, LogLine};
use super::samples::Layout;

/// Number of bytes that are read and inflated at once: a power of two, at least twice the largest distance of a
/// reference.
const PART_BYTES: usize = 64 * 1024;

/// Why not all lines were printed.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// Reading failed.
    #[error("{0}")]
    Read(io::Error),
    /// Writing failed.
    #[error("{0}")]
    Write(io::Error),
    /// The file is not a compressed log, or it is damaged.
    #[error("-3: this is not a log that log_store_compressed=1 has written, or not all of it")]
    Damaged,
}

/// Writes the lines of a compressed log: zlib streams, one after the other, of samples in any of fio's layouts.
pub fn inflate_log(log: &mut impl Read, out: &mut impl Write) -> Result<(), InflateError> {
    let mut samples = Samples { bytes: Vec::new(), layout: None, line: LogLine::new() };
    let mut state = DecompressorOxide::new();
    let (mut input, mut window) = (vec![0; PART_BYTES], vec![0; PART_BYTES]);
    let (mut at, mut ended) = (0, true);
    loop {
        let length = log.read(&mut input).map_err(InflateError::Read)?;
        if length == 0 {
            return if ended { samples.print(true, out) } else { Err(InflateError::Damaged) };
        }
        let mut unread = &input[..length];
        loop {
            const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_HAS_MORE_INPUT;
            let (status, read, inflated) = decompress(&mut state, unread, &mut window, at, FLAGS);
            unread = &unread[read..];
            samples.bytes.extend_from_slice(&window[at..at + inflated]);
            samples.print(false, out)?;
            at = (at + inflated) % PART_BYTES;
            ended = status == TINFLStatus::Done;
            match status {
                TINFLStatus::Done => state.init(),
                TINFLStatus::NeedsMoreInput | TINFLStatus::HasMoreOutput => {}
                _ => return Err(InflateError::Damaged),
            }
            if unread.is_empty() && status != TINFLStatus::HasMoreOutput {
                break;
            }
        }
    }
}

/// Samples that were inflated and not printed yet.
struct Samples {
    bytes: Vec<u8>,
    /// `None` before the first part.
    layout: Option<Layout>,
    line: LogLine,
}

impl Samples {
    /// Prints the complete samples. `last`: nothing follows them.
    fn print(&mut self, last: bool, out: &mut impl Write) -> Result<(), InflateError> {
        if self.bytes.is_empty() || self.bytes.len() < PART_BYTES && !last {
            return Ok(());
        }
        let layout = self.layout.or_else(|| Layout::find(&self.bytes, last)).ok_or(InflateError::Damaged)?;
        self.layout = Some(layout);
        let mut lines = Vec::new();
        let whole = self.bytes.chunks_exact(layout.bytes());
        let rest = whole.remainder().len();
        let mut text = [0; LINE_BYTES];
        for sample in whole {
            let len = self.line.write(&layout.entry(sample), layout.columns, &mut text);
            lines.extend_from_slice(&text[..len]);
        }
        self.bytes.drain(..self.bytes.len() - rest);
        out.write_all(&lines).map_err(InflateError::Write)?;
        if last && rest > 0 { Err(InflateError::Damaged) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compressed log of these parts; each part is a stream.
    fn log(parts: &[&[u64]]) -> Vec<u8> {
        let bytes = |part: &&[u64]| part.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        parts.iter().flat_map(|part| crate::logs::deflate::zlib(&bytes(part))).collect()
    }

    #[track_caller]
    fn lines(parts: &[&[u64]]) -> String {
        let mut lines = Vec::new();
        inflate_log(&mut log(parts).as_slice(), &mut lines).expect("it is a log");
        String::from_utf8(lines).expect("lines are text")
    }

    const OFFSET: u64 = 1 << 31;
    const WHOLE_PRIORITY: u64 = 1 << 30;
    const BOTH: u64 = 1 << 29;
    const ISSUE_TIME: u64 = 1 << 28;

    #[test]
    fn both_layouts_of_fio_are_told_apart() {
        // fio 3.33: time, value, direction, bytes.
        assert_eq!(lines(&[&[7, 900, 1, 4096]]), "7, 900, 1, 4096, 0\n");
        let five: Vec<u64> = (1..=5).flat_map(|at| [at * 100, 500 + at, 0, 0]).collect();
        assert!(lines(&[&five]).ends_with("400, 504, 0, 0, 0\n500, 505, 0, 0, 0\n"));
        assert_eq!(lines(&[&[7, 900, OFFSET, 4096, 8192]]), "7, 900, 0, 4096, 8192, 0\n");
        // Newer versions of fio have a second value.
        assert_eq!(lines(&[&[7, 900, 0, 2, 4096]]), "7, 900, 2, 4096, 0\n");
        let four: Vec<u64> = (1..=4).flat_map(|at| [at, 1, 0, 0, 4096]).collect();
        assert!(lines(&[&four]).ends_with("3, 1, 0, 4096, 0\n4, 1, 0, 4096, 0\n"));
        let both = WHOLE_PRIORITY | BOTH | 1 | 0x4004 << 32;
        assert_eq!(lines(&[&[7, 900, 950, both, 0]]), "7, 900, 950, 1, 0, 0x4004\n");
        let all = OFFSET | ISSUE_TIME | 0x2000 << 32;
        assert_eq!(lines(&[&[7, 900, 0, all, 4096, 512, 77]]), "7, 900, 0, 4096, 512, 1, 77\n");
    }

    #[test]
    fn streams_may_be_empty_or_cut_a_sample() {
        assert_eq!(lines(&[]), "");
        assert_eq!(lines(&[&[], &[7, 900], &[], &[1, 4096], &[]]), "7, 900, 1, 4096, 0\n");
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let refused = |bytes: &[u8]| {
            let ended = inflate_log(&mut &bytes[..], &mut Vec::new());
            assert!(matches!(ended, Err(InflateError::Damaged)), "{ended:?}");
        };
        refused(b"0, 900, 1, 4096, 0\n");
        refused(&log(&[&[7, 900, 9, 4096]]));
        refused(&log(&[&[7, 900, 1]]));
        let whole = log(&[&[7, 900, 1, 4096]]);
        refused(&whole[..whole.len() - 1]);
        refused(&[whole.as_slice(), b"more"].concat());
    }
}
