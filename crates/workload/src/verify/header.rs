//! The header at the beginning of each checked interval: fio 3.33's 40 bytes, then the digest. The 48 bytes of fio
//! 3.42 can be read, too.

use super::digest::Crc32c;

/// Length of the header before the digest, bytes.
pub(super) const LENGTH: usize = 40;

/// Length of fio 3.42's header, bytes.
const LENGTH_OF_342: usize = 48;

/// Third byte of fio 3.42's header, where 3.33 stores the kind.
const VERSION_OF_342: u8 = 0x81;

/// Number of bytes that the header's own checksum covers; the checksum follows them.
const COVERED: usize = 36;

/// fio's magic number.
pub(super) const MAGIC: u16 = 0xacca;

/// A header; on disk, numbers have their lowest byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) magic: u16,
    /// fio's number of the checksum.
    pub(super) kind: u16,
    /// Length of the interval, bytes.
    pub(super) length: u32,
    /// In fio the seed of the block's data; here the run and the number of the write.
    pub(super) seed: u64,
    /// Offset of the interval in its file, bytes.
    pub(super) offset: u64,
    /// Number of the worker, from 1.
    pub(super) thread: u16,
    /// The lowest 16 bits of the number of the write.
    pub(super) number: u16,
    /// Checksum of the bytes before it.
    pub(super) crc: u32,
}

/// Whether these bytes begin with a header of fio 3.42.
fn is_of_342(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) && bytes.get(2) == Some(&VERSION_OF_342) && bytes.len() >= LENGTH_OF_342
}

/// Length of the header at the beginning of these bytes.
pub(super) fn length_of(bytes: &[u8]) -> usize {
    if is_of_342(bytes) { LENGTH_OF_342 } else { LENGTH }
}

impl Header {
    /// The bytes on disk, with their checksum. The time, which is never checked, stays 0.
    pub(super) fn bytes(&self, crc32c: Crc32c) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..2].copy_from_slice(&self.magic.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[32..34].copy_from_slice(&self.thread.to_le_bytes());
        bytes[34..COVERED].copy_from_slice(&self.number.to_le_bytes());
        let crc = crc32c(&bytes[..COVERED]);
        bytes[COVERED..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header; `None`: there are too few bytes.
    pub(super) fn read(bytes: &[u8]) -> Option<Header> {
        if bytes.len() < LENGTH {
            return None;
        }
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let double = |at: usize| u32::from(word(at)) | u32::from(word(at + 2)) << 16;
        let quad = |at: usize| u64::from(double(at)) | u64::from(double(at + 4)) << 32;
        let (magic, length, seed, offset) = (word(0), double(4), quad(8), quad(16));
        let [kind, thread, number] = match is_of_342(bytes) {
            true => [u16::from(bytes[3]), word(40), word(32)],
            false => [word(2), word(32), word(34)],
        };
        let crc = double(length_of(bytes) - (LENGTH - COVERED));
        Some(Header { magic, kind, length, seed, offset, thread, number, crc })
    }

    /// Whether the seed contains run and write. fio draws the seed, so that it does not match the number.
    pub(super) fn is_ours(&self) -> bool {
        self.magic == MAGIC && self.seed as u16 == self.number
    }

    /// The checksum that the bytes should have.
    pub(super) fn crc_of(bytes: &[u8], crc32c: Crc32c) -> u32 {
        crc32c(&bytes[..length_of(bytes) - (LENGTH - COVERED)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::crc32c;
    use super::*;

    /// A header that fio 3.33 wrote for `verify=crc32c` at offset 4096.
    #[test]
    fn fio_s_header_is_read() {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&[0xca, 0xac, 5, 0, 0, 0x10, 0, 0]);
        bytes[17] = 0x10;
        bytes[28..].copy_from_slice(&[0xd3, 0xbb, 0x9c, 0x08, 1, 0, 1, 0, 0x09, 0xcd, 0xd5, 0xc9]);
        let header = Header::read(&bytes).unwrap();
        assert_eq!((header.magic, header.kind, header.length), (MAGIC, 5, 4096));
        assert_eq!((header.offset, header.thread, header.number), (4096, 1, 1));
        assert_eq!(header.crc, Header::crc_of(&bytes, crc32c));
    }

    #[test]
    fn what_is_written_is_read() {
        let header = Header {
            magic: MAGIC,
            kind: 16,
            length: 1 << 20,
            seed: 0x0123_4567_89ab_cdef,
            offset: 3 << 40,
            thread: 9,
            number: 0xfedc,
            crc: 0,
        };
        let bytes = header.bytes(crc32c);
        assert_eq!(Header::read(&bytes).unwrap(), Header { crc: Header::crc_of(&bytes, crc32c), ..header });
    }
}
