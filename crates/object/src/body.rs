//! Reads bodies that servers send in chunks (RFC 9112, 7.1), part by part as they arrive.

use crate::Fault;

/// The part of a chunked body that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BodyPart {
    /// The digits of a chunk's size.
    #[default]
    Size,
    /// What follows the size on the same line.
    Extension,
    /// The data of a chunk.
    Data,
    /// The end of the line after the data.
    DataEnd,
    /// The lines after the last chunk.
    Trailer,
    /// Nothing: the body has ended.
    End,
}

/// The longest line of a size with its extension, and the largest number of bytes in all trailers.
const LINE_BYTES_MAX: u32 = 4096;

/// Takes the data out of a chunked body.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunks {
    part: BodyPart,
    /// Bytes of the chunk that have not arrived yet.
    data_left: u64,
    size_digits: u8,
    /// Bytes of the current line until now.
    line_bytes: u32,
    /// Whether the current line has had no byte but those of a line end.
    line_is_empty: bool,
}

impl Chunks {
    /// Whether the whole body has been read.
    pub fn ended(&self) -> bool {
        self.part == BodyPart::End
    }

    /// Reads the next bytes of the connection and passes the data among them to `sink`. Returns how many of the bytes
    /// belong to the body.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, Fault> {
        let mut at = 0;
        while at < bytes.len() && self.part != BodyPart::End {
            if self.part == BodyPart::Data {
                let length = self.data_left.min((bytes.len() - at) as u64) as usize;
                sink(&bytes[at..at + length]);
                at += length;
                self.data_left -= length as u64;
                if self.data_left == 0 {
                    self.begin(BodyPart::DataEnd);
                }
                continue;
            }
            self.read_byte(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn begin(&mut self, part: BodyPart) {
        (self.part, self.line_bytes, self.line_is_empty) = (part, 0, true);
    }

    /// Reads a byte that is not data.
    fn read_byte(&mut self, byte: u8) -> Result<(), Fault> {
        self.line_bytes += 1;
        if self.line_bytes > LINE_BYTES_MAX {
            return Err(Fault::Chunks);
        }
        match (self.part, byte) {
            (BodyPart::Size, _) if byte.is_ascii_hexdigit() && self.size_digits < 15 => {
                self.data_left = self.data_left << 4 | u64::from((byte as char).to_digit(16).unwrap_or(0));
                self.size_digits += 1;
            }
            (BodyPart::Size, b';' | b' ' | b'\t' | b'\r') if self.size_digits > 0 => self.part = BodyPart::Extension,
            (BodyPart::Size | BodyPart::Extension, b'\n') if self.size_digits > 0 => {
                self.size_digits = 0;
                self.begin(if self.data_left > 0 { BodyPart::Data } else { BodyPart::Trailer });
            }
            (BodyPart::Extension, _) => {}
            (BodyPart::DataEnd, b'\r') if self.line_bytes == 1 => {}
            (BodyPart::DataEnd, b'\n') => self.begin(BodyPart::Size),
            (BodyPart::Trailer, b'\n') if self.line_is_empty => self.begin(BodyPart::End),
            (BodyPart::Trailer, b'\n') => self.line_is_empty = true,
            (BodyPart::Trailer, b'\r') => {}
            (BodyPart::Trailer, _) => self.line_is_empty = false,
            _ => return Err(Fault::Chunks),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the text in parts of this size. Returns the data, how many bytes the body had, and whether it has ended.
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
