//! Seals written blocks with headers that identify them, and checks blocks that were read.
//!
//! On disk the blocks look as fio 3.33 writes them, so that each program can check what the other wrote (except
//! SHA-512, of which fio keeps only the end of the data); blocks of fio 3.42 can be checked, too. One field is our
//! own: fio stores the seed of the block's data in it; we store the run and the number of the write. Thus a block of
//! an earlier run, or of an earlier write of this run, is found even if the workload writes the same bytes again.

mod digest;
mod fill;
mod header;
mod pattern;

use std::fmt::Write as _;

pub use digest::crc32c;
use fill::Fill;
use fsdyno_job::{Content, Verify, VerifyKind};
use header::{Header, MAGIC};
use pattern::Repeated;

use crate::op::Op;
use crate::pool::Stores;

/// Number of low bits of the seed that hold the number of the write; the run's mark is above.
const NUMBER_BITS: u32 = 40;

/// An odd number that is unrelated to the one with which the data are drawn.
const OFFSET_FACTOR: u64 = 0xA24B_AED4_963E_E407;

const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

/// Writes and checks the headers of one worker's blocks.
#[derive(Clone, Debug)]
pub struct Seal {
    kind: VerifyKind,
    /// fio's number of the kind.
    type_number: u16,
    /// Length of header and digest, bytes.
    header_length: usize,
    crc32c: digest::Crc32c,
    fill: Fill,
    /// Bytes between headers; `None`: one header for the whole request.
    interval: Option<usize>,
    /// Offset of the header in its interval, bytes.
    header_offset: usize,
    data: Data,
    thread: u16,
    /// The mark of the run, in the upper bits of the seed.
    mark: u64,
}

/// What follows the headers.
#[derive(Clone, Debug, PartialEq)]
enum Data {
    /// The content of the job.
    Content,
    /// Random bytes that are computed from the header.
    Random,
    Pattern(Repeated),
}

/// What is known about a block that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This run wrote the block, with the write of this number or a later one.
    WriteOfThisRun(u64),
    /// Any run may have written it.
    Anybody,
    /// The block was trimmed and reads as zeroes.
    Zeroes,
}

/// An error in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// First byte of the interval in its file.
    pub offset: u64,
    /// Length of the interval, bytes.
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
    /// `run_mark` distinguishes runs: any number that other runs are unlikely to have. `interval` is the number of
    /// bytes between headers if the job does not set it; `None`: one header per request.
    pub fn new(verify: &Verify, content: &Content, interval: Option<u32>, thread_number: u32, run_mark: u64) -> Seal {
        let random = !content.zero
            && content.pattern.is_none()
            && content.compress.is_none()
            && content.dedupe.is_none()
            && verify.kind.has_header();
        let data = match &verify.pattern {
            Some(pattern) => Data::Pattern(Repeated::new(pattern.clone(), verify.pattern_interval)),
            None if random => Data::Random,
            None => Data::Content,
        };
        Seal {
            kind: verify.kind,
            type_number: type_number(verify.kind),
            header_length: VerifyKind::HEADER_LENGTH + verify.kind.digest_length(),
            crc32c,
            fill: Fill::new(),
            interval: verify.interval.or(interval).map(|bytes| bytes as usize),
            header_offset: verify.header_offset as usize,
            data,
            thread: thread_number as u16,
            mark: run_mark << NUMBER_BITS,
        }
    }

    /// Uses other implementations of [`crc32c`] and of [`Stores`].
    pub fn with_instructions(mut self, crc32c: fn(&[u8]) -> u32, stores: Stores) -> Seal {
        self.crc32c = crc32c;
        self.fill.stores = stores;
        self
    }

    /// Whether [`seal`](Seal::seal) overwrites every byte of a buffer.
    pub(crate) fn fills(&self) -> bool {
        match &self.data {
            Data::Content => false,
            Data::Random => true,
            Data::Pattern(pattern) => !pattern.stays(),
        }
    }

    /// Length of the header and digest at the beginning of `bytes`, of either version of fio.
    fn header_length_of(&self, bytes: &[u8]) -> usize {
        header::length_of(bytes) + self.kind.digest_length()
    }

    /// Bytes between two headers of a request; if they do not divide the request, fio uses one header for all of it.
    fn interval_of(&self, length: usize) -> usize {
        self.interval.filter(|interval| *interval > 0 && length.is_multiple_of(*interval)).unwrap_or(length)
    }

    /// Whether the header of an interval of this length is moved away from its beginning.
    fn is_moved(&self, length: usize, header: usize) -> bool {
        self.header_offset >= header && self.header_offset + header <= length
    }

    /// Writes headers over the content of a write; `number` is the number of the worker's write.
    pub fn seal(&self, buffer: &mut [u8], offset: u64, number: u64) {
        if buffer.is_empty() {
            return;
        }
        if let (Data::Pattern(pattern), true) = (&self.data, self.fills()) {
            pattern.fill(buffer, offset);
        }
        if !self.kind.has_header() {
            return;
        }
        let interval = self.interval_of(buffer.len());
        let mut offset = offset;
        for chunk in buffer.chunks_exact_mut(interval) {
            self.seal_interval(chunk, offset, number);
            offset += interval as u64;
        }
    }

    fn seal_interval(&self, chunk: &mut [u8], offset: u64, number: u64) {
        let seed = self.mark | number & NUMBERS;
        // The header is put over the first of these bytes: whole words are filled faster.
        self.fill(chunk, seed, offset);
        if chunk.len() < self.header_length {
            return;
        }
        let header = Header {
            magic: MAGIC,
            kind: self.type_number,
            length: chunk.len() as u32,
            seed,
            offset,
            thread: self.thread,
            number: number as u16,
            crc: 0,
        };
        self.put_header(chunk, &header);
    }

    /// Computes the data of an interval at this offset, if they follow from the header.
    fn fill(&self, data: &mut [u8], seed: u64, offset: u64) {
        if matches!(self.data, Data::Random) {
            self.fill.fill(data, seed.wrapping_add(offset.wrapping_mul(OFFSET_FACTOR)));
        }
    }

    /// Writes header and digest at the beginning of an interval.
    fn put_header(&self, chunk: &mut [u8], header: &Header) {
        let (head, data) = chunk.split_at_mut(self.header_length);
        head[..header::LENGTH].copy_from_slice(&header.bytes(self.crc32c));
        let digest = &mut head[header::LENGTH..];
        // The usual kind is found without the choice of all others.
        if let (VerifyKind::Crc32c, Some(digest)) = (self.kind, digest.first_chunk_mut()) {
            *digest = (self.crc32c)(data).to_le_bytes();
        } else {
            digest::digest(self.kind, self.crc32c, data, digest);
        }
        if self.header_offset > 0 {
            self.move_header(chunk, self.header_length);
        }
    }

    /// Swaps the header with the data at `verify_offset`; the second call restores the first state.
    fn move_header(&self, chunk: &mut [u8], header: usize) {
        if self.is_moved(chunk.len(), header) {
            let (before, after) = chunk.split_at_mut(self.header_offset);
            before[..header].swap_with_slice(&mut after[..header]);
        }
    }

    /// The header of an interval as it lies on disk.
    fn header_of<'chunk>(&self, chunk: &'chunk [u8]) -> &'chunk [u8] {
        if self.is_moved(chunk.len(), self.header_length) { &chunk[self.header_offset..] } else { chunk }
    }

    /// The marks of the runs that wrote these blocks, for headers of this program.
    pub fn runs<'block>(&'block self, buffer: &'block [u8]) -> impl Iterator<Item = u64> + 'block {
        let interval = if self.kind.has_header() { self.interval_of(buffer.len()).max(1) } else { usize::MAX };
        buffer.chunks_exact(interval).filter_map(|chunk| {
            let header = Header::read(self.header_of(chunk))?;
            header.is_ours().then_some(header.seed >> NUMBER_BITS)
        })
    }

    /// Checks a block that was read. The buffer may be changed by this.
    pub fn check(&mut self, buffer: &mut [u8], offset: u64, expected: Expected) -> Result<(), Mismatch> {
        match self.kind {
            _ if expected == Expected::Zeroes => self.check_zeroes(buffer, offset),
            VerifyKind::Null => Ok(()),
            VerifyKind::Pattern => self.check_pattern(buffer, offset, buffer.len(), 0),
            kind => {
                let interval = self.interval_of(buffer.len()).max(1);
                let mut intervals = buffer.chunks_exact_mut(interval).zip((offset..).step_by(interval));
                intervals.try_for_each(|(chunk, offset)| self.check_interval(chunk, offset, expected))?;
                match kind {
                    VerifyKind::PatternHeader => {
                        self.check_pattern(buffer, offset, interval, self.header_length_of(buffer))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn check_zeroes(&self, buffer: &[u8], offset: u64) -> Result<(), Mismatch> {
        buffer.iter().position(|byte| *byte != 0).map_or(Ok(()), |at| {
            Err(Mismatch { offset, length: buffer.len() as u32, kind: self.kind, fault: Fault::NotZero { at } })
        })
    }

    /// Compares a request with the pattern, except the first `header` bytes of each interval.
    fn check_pattern(&mut self, buffer: &[u8], offset: u64, interval: usize, header: usize) -> Result<(), Mismatch> {
        let Data::Pattern(pattern) = &mut self.data else { return Ok(()) };
        let Some((at, wanted)) = pattern.difference(buffer, offset, |at| at % interval >= header) else {
            return Ok(());
        };
        let within = at % interval;
        let fault = Fault::Pattern { at: within, found: buffer[at], wanted };
        Err(Mismatch { offset: offset + (at - within) as u64, length: interval as u32, kind: self.kind, fault })
    }

    /// The expected content of an interval that [`check`](Seal::check) has found wrong and returned. It is computed
    /// from the header or from the pattern. `None`: the data cannot be computed. `request` is the read.
    pub fn expected(&self, received: &[u8], mismatch: &Mismatch, request: &Op) -> Option<Vec<u8>> {
        if matches!(mismatch.fault, Fault::NotZero { .. }) {
            return Some(vec![0; received.len()]);
        }
        let mut block = vec![0; request.length as usize];
        let from = (mismatch.offset - request.offset) as usize;
        if let Data::Pattern(pattern) = &self.data {
            pattern.fill(&mut block, request.offset);
        }
        let mut chunk = block.get(from..from + received.len())?.to_vec();
        if !self.kind.has_header() {
            return matches!(self.data, Data::Pattern(_)).then_some(chunk);
        }
        let header = Header::read(received).filter(|_| self.header_length_of(received) == self.header_length)?;
        match &self.data {
            Data::Random if header.is_ours() => {
                self.fill(&mut chunk, header.seed, mismatch.offset);
            }
            Data::Pattern(_) => {}
            Data::Random | Data::Content => return None,
        }
        let kind = self.type_number;
        self.put_header(&mut chunk, &Header { magic: MAGIC, kind, length: mismatch.length, ..header });
        Some(chunk)
    }

    /// An interval that [`check`](Seal::check) has returned, as it lies on disk.
    pub fn as_read(&self, received: &[u8], mismatch: &Mismatch) -> Vec<u8> {
        let mut chunk = received.to_vec();
        if self.kind.has_header() && !matches!(mismatch.fault, Fault::NotZero { .. }) {
            self.move_header(&mut chunk, self.header_length_of(received));
        }
        chunk
    }

    fn check_interval(&self, chunk: &mut [u8], offset: u64, expected: Expected) -> Result<(), Mismatch> {
        let header_length = self.header_length_of(self.header_of(chunk));
        if chunk.len() < self.header_length {
            return Ok(());
        }
        let header_length = header_length.min(chunk.len());
        self.move_header(chunk, header_length);
        let length = chunk.len() as u32;
        let (head, data) = chunk.split_at(header_length);
        let fault = self.header_fault(head, length, offset, expected).or_else(|| self.data_fault(head, data));
        fault.map_or(Ok(()), |fault| Err(Mismatch { offset, length, kind: self.kind, fault }))
    }

    /// The error of the header, checked in fio's order.
    fn header_fault(&self, head: &[u8], length: u32, offset: u64, expected: Expected) -> Option<Fault> {
        let header = Header::read(head)?;
        let calculated = Header::crc_of(head, self.crc32c);
        if header.magic != MAGIC {
            return Some(Fault::Magic { found: header.magic });
        }
        if header.length != length {
            return Some(Fault::Length { found: header.length });
        }
        if let Expected::WriteOfThisRun(number) = expected {
            let of_this_run = header.seed & !NUMBERS == self.mark;
            // If several workers write one file, the last write may be another worker's.
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
        let on_disk = head.get(header::length_of(head)..)?;
        let kind_on_disk = Header::read(head)?.kind;
        let mut calculated = [0; digest::LONGEST];
        let calculated = &mut calculated[..on_disk.len()];
        digest::digest(self.kind, self.crc32c, data, calculated);
        let same = calculated == on_disk && kind_on_disk == self.type_number;
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
    /// Whether the header is wrong; then the data after it were not checked.
    pub fn is_of_header(&self) -> bool {
        use Fault::{HeaderCrc, Length, Magic, Offset, Seed};
        matches!(self.fault, Magic { .. } | Length { .. } | Seed { .. } | Offset { .. } | HeaderCrc { .. })
    }

    /// fio's messages about the mismatch. `file` is the path, `request` the read, `flags` the flags that fio prints
    /// for it.
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
