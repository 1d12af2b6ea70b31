//! Written blocks that say what they are, and the check of blocks that were read.
//!
//! On disk they look as fio 3.33 leaves them, so that either can check what the other wrote (but for SHA-512, of which
//! fio keeps only the data's end). One field is ours: where fio keeps the seed of a block's data, we keep which run
//! wrote it and as which write. A block that an earlier run left, or an earlier write of this one, is thus found even
//! when the workload repeats itself to the byte.

mod digest;
mod header;

use std::fmt::Write as _;

use header::{Header, MAGIC};
use job::{Verify, VerifyKind};

use crate::op::Op;

/// Low bits of the seed that number the writes; the run's mark stands above.
const NUMBER_BITS: u32 = 40;

const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

/// Writes and checks the blocks of one worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Seal {
    kind: VerifyKind,
    /// `None`: the whole request.
    interval: Option<usize>,
    /// Where the header stands in its interval, bytes.
    header_offset: usize,
    pattern: Vec<u8>,
    thread: u16,
    /// The run, in the upper bits of the seed.
    mark: u64,
}

/// What is known of a block that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This run wrote it, with its write of this number or a later one.
    WriteOfThisRun(u64),
    /// Whoever wrote it.
    Anybody,
    /// Nobody: it was trimmed.
    Zeroes,
}

/// What is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// First byte of the interval in its file.
    pub offset: u64,
    /// Bytes of the interval.
    pub length: u32,
    kind: VerifyKind,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Magic { found: u16 },
    Length { found: u32 },
    Seed { found: u64, wanted: u64 },
    Offset { found: u64 },
    HeaderCrc { found: u32, calculated: u32 },
    Digest { on_disk: Vec<u8>, calculated: Vec<u8>, kind_on_disk: u16 },
    Pattern { at: usize, found: u8, wanted: u8 },
    NotZero { at: usize },
}

impl Seal {
    /// `run_mark` tells runs apart: any number that other runs hardly have. `interval` is the bytes between headers
    /// when the job does not say; `None`: one header per request.
    pub fn new(verify: &Verify, interval: Option<u32>, thread_number: u32, run_mark: u64) -> Seal {
        Seal {
            kind: verify.kind,
            interval: verify.interval.or(interval).map(|bytes| bytes as usize),
            header_offset: verify.header_offset as usize,
            pattern: verify.pattern.clone().unwrap_or_default(),
            thread: thread_number as u16,
            mark: run_mark << NUMBER_BITS,
        }
    }

    /// Whether a write must be prepared at all.
    pub(crate) fn marks(&self) -> bool {
        self.kind.has_header()
    }

    /// Bytes of header and digest.
    fn header_length(&self) -> usize {
        VerifyKind::HEADER_LENGTH + self.kind.digest_length()
    }

    /// Bytes between two headers of a request: fio takes the whole request where they do not fit.
    fn interval_of(&self, length: usize) -> usize {
        self.interval.filter(|interval| *interval > 0 && length.is_multiple_of(*interval)).unwrap_or(length)
    }

    /// Whether the header of this interval is moved away from its begin.
    fn is_moved(&self, length: usize) -> bool {
        let header = self.header_length();
        self.header_offset >= header && self.header_offset + header <= length
    }

    /// Puts headers over the content of a write, which is the worker's write of this number.
    pub fn seal(&self, buffer: &mut [u8], offset: u64, number: u64) {
        if !self.marks() || buffer.is_empty() {
            return;
        }
        let (interval, header_length) = (self.interval_of(buffer.len()), self.header_length());
        let intervals = buffer.chunks_exact_mut(interval).zip((offset..).step_by(interval));
        for (chunk, offset) in intervals.filter(|(chunk, _)| chunk.len() >= header_length) {
            let header = Header {
                magic: MAGIC,
                kind: type_number(self.kind),
                length: chunk.len() as u32,
                seed: self.mark | number & NUMBERS,
                offset,
                thread: self.thread,
                number: number as u16,
                crc: 0,
            };
            let (head, data) = chunk.split_at_mut(header_length);
            head[..header::LENGTH].copy_from_slice(&header.bytes());
            digest::digest(self.kind, data, &mut head[header::LENGTH..]);
            self.move_header(chunk);
        }
    }

    /// Swaps the header with the data at `verify_offset`; twice is as before.
    fn move_header(&self, chunk: &mut [u8]) {
        if self.is_moved(chunk.len()) {
            let (before, after) = chunk.split_at_mut(self.header_offset);
            let header = self.header_length();
            before[..header].swap_with_slice(&mut after[..header]);
        }
    }

    /// The marks of the runs that wrote these blocks, as far as they are ours.
    pub fn runs<'block>(&'block self, buffer: &'block [u8]) -> impl Iterator<Item = u64> + 'block {
        let interval = if self.marks() { self.interval_of(buffer.len()).max(1) } else { usize::MAX };
        buffer.chunks_exact(interval).filter_map(|chunk| {
            let at = if self.is_moved(chunk.len()) { self.header_offset } else { 0 };
            let header = Header::read(chunk.get(at..)?.first_chunk()?);
            header.is_ours().then_some(header.seed >> NUMBER_BITS)
        })
    }

    /// Checks what was read. The buffer may come back changed.
    pub fn check(&self, buffer: &mut [u8], offset: u64, expected: Expected) -> Result<(), Mismatch> {
        match self.kind {
            _ if expected == Expected::Zeroes => self.check_zeroes(buffer, offset),
            VerifyKind::Null => Ok(()),
            VerifyKind::Pattern => self.check_pattern(buffer, offset),
            _ => {
                let interval = self.interval_of(buffer.len());
                let mut intervals = buffer.chunks_exact_mut(interval.max(1)).zip((offset..).step_by(interval.max(1)));
                intervals.try_for_each(|(chunk, offset)| self.check_interval(chunk, offset, expected))
            }
        }
    }

    fn check_zeroes(&self, buffer: &[u8], offset: u64) -> Result<(), Mismatch> {
        buffer.iter().position(|byte| *byte != 0).map_or(Ok(()), |at| {
            Err(Mismatch { offset, length: buffer.len() as u32, kind: self.kind, fault: Fault::NotZero { at } })
        })
    }

    fn check_pattern(&self, buffer: &[u8], offset: u64) -> Result<(), Mismatch> {
        let mut pairs = buffer.iter().zip(self.pattern.iter().cycle()).enumerate();
        let different = pairs.find(|(_, (found, wanted))| found != wanted);
        different.map_or(Ok(()), |(at, (found, wanted))| {
            let fault = Fault::Pattern { at, found: *found, wanted: *wanted };
            Err(Mismatch { offset, length: buffer.len() as u32, kind: self.kind, fault })
        })
    }

    fn check_interval(&self, chunk: &mut [u8], offset: u64, expected: Expected) -> Result<(), Mismatch> {
        let header_length = self.header_length();
        if chunk.len() < header_length {
            return Ok(());
        }
        self.move_header(chunk);
        let length = chunk.len() as u32;
        let (head, data) = chunk.split_at(header_length);
        let fault = self.header_fault(head, length, offset, expected).or_else(|| self.data_fault(head, data));
        fault.map_or(Ok(()), |fault| Err(Mismatch { offset, length, kind: self.kind, fault }))
    }

    /// What is wrong with the header, looked for in fio's order.
    fn header_fault(&self, head: &[u8], length: u32, offset: u64, expected: Expected) -> Option<Fault> {
        let bytes = head.first_chunk::<{ header::LENGTH }>()?;
        let header = Header::read(bytes);
        let calculated = Header::crc_of(bytes);
        if header.magic != MAGIC {
            return Some(Fault::Magic { found: header.magic });
        }
        if header.length != length {
            return Some(Fault::Length { found: header.length });
        }
        if let Expected::WriteOfThisRun(number) = expected {
            let of_this_run = header.seed & !NUMBERS == self.mark;
            // Where several workers write one file, the last of them may be another.
            let older = header.thread == self.thread && header.seed & NUMBERS < number & NUMBERS;
            if !of_this_run || older {
                return Some(Fault::Seed { found: header.seed, wanted: self.mark | number & NUMBERS });
            }
        }
        if header.offset != offset {
            return Some(Fault::Offset { found: header.offset });
        }
        (header.crc != calculated).then_some(Fault::HeaderCrc { found: header.crc, calculated })
    }

    fn data_fault(&self, head: &[u8], data: &[u8]) -> Option<Fault> {
        let (header, on_disk) = head.split_first_chunk::<{ header::LENGTH }>()?;
        let kind_on_disk = Header::read(header).kind;
        let mut calculated = [0; digest::LONGEST];
        let calculated = &mut calculated[..on_disk.len()];
        digest::digest(self.kind, data, calculated);
        let same = calculated == on_disk && kind_on_disk == type_number(self.kind);
        (!same).then(|| Fault::Digest { on_disk: on_disk.to_vec(), calculated: calculated.to_vec(), kind_on_disk })
    }
}

/// fio's number of each kind.
fn type_number(kind: VerifyKind) -> u16 {
    match kind {
        VerifyKind::Null => 0,
        VerifyKind::Meta => 1,
        VerifyKind::Md5 => 2,
        VerifyKind::Crc64 => 3,
        VerifyKind::Crc32 => 4,
        VerifyKind::Crc32c => 5,
        VerifyKind::Crc16 => 7,
        VerifyKind::Crc7 => 8,
        VerifyKind::Sha256 => 9,
        VerifyKind::Sha512 => 10,
        VerifyKind::Sha3Of224 => 11,
        VerifyKind::Sha3Of256 => 12,
        VerifyKind::Sha3Of384 => 13,
        VerifyKind::Sha3Of512 => 14,
        VerifyKind::Xxhash => 15,
        VerifyKind::Sha1 => 16,
        VerifyKind::PatternHeader => 17,
        VerifyKind::Pattern => 18,
    }
}

impl Mismatch {
    /// fio's sentences about it. `file` is its path, `request` the read, `flags` what fio prints of it.
    pub fn sentences(&self, file: &str, request: &Op, flags: u32) -> String {
        let Mismatch { offset, length, kind, fault } = self;
        let (from, bytes) = (request.offset, request.length);
        let place =
            format!("at file {file} offset {offset}, length {length} (requested block: offset={from}, length={bytes}");
        let failed = format!("{}: verify failed {place}, flags={flags})", kind.name());
        match fault {
            Fault::Magic { found } => format!("verify: bad magic header {found:x}, wanted {MAGIC:x} {place})"),
            Fault::Length { found } => format!("verify: bad header length {found}, wanted {length} {place})"),
            Fault::Seed { found, wanted } => format!(
                "verify: bad header rand_seed {found}, wanted {wanted} {place})\n       \
                 {}: the last write of this run did not get there",
                if found >> NUMBER_BITS == wanted >> NUMBER_BITS {
                    "an earlier write of this run"
                } else {
                    "a block of an earlier run"
                }
            ),
            Fault::Offset { found } => format!("verify: bad header offset {found}, wanted {offset} {place})"),
            Fault::HeaderCrc { found, calculated } => {
                format!("verify: bad header crc {found:x}, calculated {calculated:x} {place})")
            }
            Fault::Digest { on_disk, calculated, kind_on_disk } => {
                let given = type_number(*kind);
                let digests = match on_disk.is_empty() {
                    true => String::new(),
                    false => format!(
                        "\n       Expected CRC: {}\n       Received CRC: {}",
                        hexadecimal(on_disk),
                        hexadecimal(calculated)
                    ),
                };
                match *kind_on_disk == given {
                    true => failed + &digests,
                    false => {
                        format!("{failed}{digests}\nfio: verify type mismatch ({kind_on_disk} media, {given} given)")
                    }
                }
            }
            Fault::NotZero { at } => format!(
                "verify failed for zeroed data at file {file} offset {offset}, length {length}, block offset {at}\n       \
                 the device does not read zeroes from trimmed blocks: trim_verify_zero=0 leaves them out"
            ),
            Fault::Pattern { at, found, wanted } => {
                let bits = (found ^ wanted).count_ones();
                format!(
                    "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}\n\
                     fio: bad pattern block offset {at}\n{failed}"
                )
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
