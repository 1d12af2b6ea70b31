//! Bodies in chunks, read as they come.

use crate::Fault;

/// Where the reader of a chunked body stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// In the digits of a size.
    #[default]
    Size,
    /// Behind them, up to the end of the line.
    Extension,
    /// In the bytes of a chunk, with this number left.
    Data,
    /// Behind them: the line end.
    DataEnd,
    /// In the lines behind the last chunk.
    Trailer,
    /// Behind all of it.
    End,
}

/// Bytes that are no data, at most in a row: of a size with its extension, or of all trailers.
const LINE_BYTES_MAX: u32 = 4096;

/// Takes the data out of a body in chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunks {
    at: At,
    left: u64,
    digits: u8,
    /// Bytes of the line so far.
    line: u32,
    /// The line has nothing but its end.
    blank: bool,
}

impl Chunks {
    /// The body is over.
    pub fn ended(&self) -> bool {
        self.at == At::End
    }

    /// Reads what has come, gives data to `sink` and returns how many bytes were part of the body.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() && self.at != At::End {
            if self.at == At::Data {
                let part = self.left.min((bytes.len() - at) as u64) as usize;
                sink(&bytes[at..at + part]);
                at += part;
                self.left -= part as u64;
                if self.left == 0 {
                    self.turn_to(At::DataEnd);
                }
                continue;
            }
            self.step(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn turn_to(&mut self, at: At) {
        (self.at, self.line, self.blank) = (at, 0, true);
    }

    fn step(&mut self, byte: u8) -> Result<(), Fault> {
        self.line += 1;
        if self.line > LINE_BYTES_MAX {
            return Err(Fault::Chunks);
        }
        match (self.at, byte) {
            (At::Size, _) if byte.is_ascii_hexdigit() && self.digits < 15 => {
                self.left = self.left << 4 | u64::from((byte as char).to_digit(16).unwrap_or(0));
                self.digits += 1;
            }
            (At::Size, b';' | b' ' | b'\t' | b'\r') if self.digits > 0 => self.at = At::Extension,
            (At::Size | At::Extension, b'\n') if self.digits > 0 => {
                self.digits = 0;
                self.turn_to(if self.left > 0 { At::Data } else { At::Trailer });
            }
            (At::Extension, _) => {}
            (At::DataEnd, b'\r') if self.line == 1 => {}
            (At::DataEnd, b'\n') => self.turn_to(At::Size),
            (At::Trailer, b'\n') if self.blank => self.turn_to(At::End),
            (At::Trailer, b'\n') => self.blank = true,
            (At::Trailer, b'\r') => {}
            (At::Trailer, _) => self.blank = false,
            _ => return Err(Fault::Chunks),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fed in parts of this size: the data, the bytes used, whether it has ended.
    fn fed(text: &[u8], part: usize) -> Result<(Vec<u8>, usize, bool), Fault> {
        let (mut chunks, mut data, mut used) = (Chunks::default(), Vec::new(), 0);
        for part in text.chunks(part) {
            used += chunks.feed(part, |bytes| data.extend_from_slice(bytes))?;
        }
        Ok((data, used, chunks.ended()))
    }

    #[test]
    fn data_come_out_however_they_are_cut() {
        let text = b"4\r\nWiki\r\n6;name=\"v\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nX-Sum: 1\r\n\r\nNEXT";
        for part in 1..text.len() {
            let (data, used, ended) = fed(text, part).unwrap();
            assert_eq!((data.as_slice(), used, ended), (&b"Wikipedia in \r\n\r\nchunks."[..], text.len() - 4, true));
        }
        assert_eq!(fed(b"4\r\nWi", 3), Ok((b"Wi".to_vec(), 5, false)));
    }

    #[test]
    fn what_is_no_chunk_is_a_fault() {
        let endless = [b"0\r\n".as_slice(), &b"X: y\r\n".repeat(1000)].concat();
        for text in [&b"x\r\n"[..], b"\r\n", b"4\r\nWikiX", b"fffffffffffffffff\r\n", &endless, &b"1;".repeat(9000)] {
            assert_eq!(fed(text, 7), Err(Fault::Chunks));
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_comes_is_read_beyond(bytes: Vec<u8>, part in 1usize..40) {
            if let Ok((data, used, _)) = fed(&bytes, part) {
                assert!(data.len() <= used && used <= bytes.len());
            }
        }
    }
}
