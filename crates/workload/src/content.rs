//! The content of written blocks.

mod pieces;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::op::Op;
use crate::pool::Stores;
use crate::random::Slot;
use crate::verify::Seal;
use pieces::BlockMaker;

pub use pieces::RepeatedBlocks;

/// The content of a worker's write buffers.
#[derive(Clone, Debug)]
pub struct Content {
    mode: Mode,
    initial: Initial,
    stream: Xoshiro256PlusPlus,
    seal: Option<Box<Sealing>>,
    restore: Option<Box<Restoring>>,
    pieces: Option<Box<BlockMaker>>,
}

/// For buffers that reads also use: the content is restored before each write.
#[derive(Clone, Debug)]
struct Restoring {
    /// Random content, repeated in longer buffers. Empty if the content is zeroes or a pattern.
    random: Vec<u8>,
    /// Whether restored content is scrambled.
    scramble: bool,
}

/// Headers are written over the content.
#[derive(Clone, Debug)]
struct Sealing {
    seal: Seal,
    /// What happens to the buffer before the headers are written.
    beneath: Mode,
    recent: RecentWrites,
}

/// The latest writes that were prepared, in a ring.
#[derive(Clone, Debug)]
struct RecentWrites {
    /// File and offset of each write.
    places: Vec<(u32, u64)>,
    /// Index of the next write in the ring.
    next: usize,
    /// Number of writes so far.
    written: u64,
}

impl RecentWrites {
    fn add(&mut self, write: &Op) {
        self.places[self.next] = (write.file, write.offset);
        self.next = if self.next + 1 == self.places.len() { 0 } else { self.next + 1 };
        self.written += 1;
    }

    /// File and offset of each write, the latest first.
    fn places(&self) -> impl Iterator<Item = (u32, u64)> {
        let (latest, older) = self.places.split_at(self.next);
        latest.iter().rev().chain(older.iter().rev()).copied().take(usize::try_from(self.written).unwrap_or(usize::MAX))
    }
}

/// What happens to a buffer before each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Keep,
    Scramble,
    /// Kept apart, so that the loop only checks the two modes above.
    Other(Other),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Refill,
    /// Some content compresses, or repeats earlier blocks.
    Pieces,
    Restore,
    Seal,
}

/// The first content of a buffer.
#[derive(Clone, Debug)]
enum Initial {
    Zero,
    Repeat(Vec<u8>),
    Random,
}

/// Distance of the scrambled marks, bytes. A device that looks for equal blocks compares at least this number of
/// bytes.
const SECTOR: usize = 512;

/// Length of a mark, bytes.
const MARK: usize = 16;

/// Number of random bytes that buffers are restored from: more than a compressor looks at together.
const KEPT_BYTES_MAX: usize = 1 << 20;

impl Content {
    /// `seed` is the seed of the worker.
    pub fn new(content: &fsdyno_job::Content, seed: u64) -> Content {
        let initial = match &content.pattern {
            _ if content.zero => Initial::Zero,
            Some(bytes) if !bytes.is_empty() => Initial::Repeat(bytes.clone()),
            _ => Initial::Random,
        };
        let pieces = BlockMaker::new(content, seed).map(Box::new);
        let mode = match initial {
            _ if pieces.is_some() => Mode::Other(Other::Pieces),
            Initial::Random if content.refill => Mode::Other(Other::Refill),
            Initial::Random if content.scramble => Mode::Scramble,
            _ => Mode::Keep,
        };
        Content { mode, initial, stream: Xoshiro256PlusPlus::seed_from_u64(seed), seal: None, restore: None, pieces }
    }

    /// Sets the blocks that `dedupe_mode=working_set` repeats, for the worker with these seeds. Without blocks, each
    /// block repeats the one before it.
    pub fn repeating(mut self, blocks: &[RepeatedBlocks], seeds: &[u64; 24]) -> Content {
        if let Some(pieces) = &mut self.pieces {
            pieces.repeat(blocks, seeds[Slot::Dedupe as usize]);
        }
        self
    }

    /// Sets the instructions that store blocks which compress or repeat.
    pub fn made_by(mut self, stores: Stores) -> Content {
        if let Some(pieces) = &mut self.pieces {
            pieces.stores = stores;
        }
        self
    }

    /// For buffers of up to `length_max` bytes that the job also reads into: data of a read must not be written as if
    /// it were the job's own content.
    pub fn restored(mut self, length_max: u64) -> Content {
        let beneath = self.seal.as_ref().map_or(self.mode, |sealing| sealing.beneath);
        if self.makes_anew() {
            return self;
        }
        let mut random = Vec::new();
        if matches!(self.initial, Initial::Random) {
            random = vec![0; KEPT_BYTES_MAX.min(length_max as usize)];
            self.refill(&mut random);
        }
        self.restore = Some(Box::new(Restoring { random, scramble: beneath == Mode::Scramble }));
        match &mut self.seal {
            Some(sealing) => sealing.beneath = Mode::Other(Other::Restore),
            None => self.mode = Mode::Other(Other::Restore),
        }
        self
    }

    /// For a job that verifies: `pattern`, if there is one, replaces the content, which then neither compresses nor
    /// repeats as was asked, and headers are written over it. The places of the last `depth` writes (1 and up) are kept.
    pub fn sealed(
        content: &fsdyno_job::Content,
        pattern: Option<&[u8]>,
        seed: u64,
        seal: Seal,
        depth: usize,
    ) -> Content {
        let mut sealed = match pattern {
            Some(bytes) => {
                let pattern = Some(bytes.to_vec());
                let repeated = fsdyno_job::Content { zero: false, pattern, compress: None, dedupe: None, ..*content };
                Content::new(&repeated, seed)
            }
            None => Content::new(content, seed),
        };
        let beneath = if seal.fills() { Mode::Keep } else { sealed.mode };
        let recent = RecentWrites { places: vec![(0, 0); depth.max(1)], next: 0, written: 0 };
        sealed.seal = Some(Box::new(Sealing { seal, beneath, recent }));
        sealed.mode = Mode::Other(Other::Seal);
        sealed
    }

    /// Number of writes that were prepared, if they are verified.
    pub fn writes_prepared(&self) -> Option<u64> {
        self.seal.as_ref().map(|sealing| sealing.recent.written)
    }

    /// File and offset of the last writes, the latest first.
    pub fn last_writes(&self) -> impl Iterator<Item = (u32, u64)> {
        self.seal.iter().flat_map(|sealing| sealing.recent.places())
    }

    /// Gives a buffer its first content.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        match &self.initial {
            _ if self.pieces.is_some() => self.make_pieces(buffer),
            Initial::Zero => buffer.fill(0),
            Initial::Repeat(bytes) => repeat(bytes, buffer),
            Initial::Random => self.refill(buffer),
        }
    }

    /// Whether [`prepare`](Content::prepare) overwrites every byte of a buffer.
    pub fn makes_anew(&self) -> bool {
        let filled = self.seal.as_ref().is_some_and(|sealing| sealing.seal.fills());
        let beneath = self.seal.as_ref().map_or(self.mode, |sealing| sealing.beneath);
        filled || matches!(beneath, Mode::Other(Other::Refill | Other::Pieces))
    }

    /// Whether [`prepare`](Content::prepare) leaves buffers as they are.
    pub fn keeps(&self) -> bool {
        self.mode == Mode::Keep
    }

    /// Prepares the buffer for this write. The buffer is as long as the request.
    #[inline]
    pub fn prepare(&mut self, buffer: &mut [u8], op: &Op) {
        match self.mode {
            Mode::Keep => {}
            Mode::Scramble => self.scramble(buffer, op.offset),
            Mode::Other(Other::Seal) => self.seal(buffer, op),
            Mode::Other(other) => self.prepare_otherwise(other, buffer, op),
        }
    }

    #[inline(never)]
    fn prepare_otherwise(&mut self, other: Other, buffer: &mut [u8], op: &Op) {
        match other {
            Other::Refill => self.refill(buffer),
            Other::Pieces => self.make_pieces(buffer),
            Other::Restore => self.restore(buffer, op),
            Other::Seal => self.seal(buffer, op),
        }
    }

    fn restore(&mut self, buffer: &mut [u8], op: &Op) {
        let Some(restoring) = &self.restore else { return };
        match &self.initial {
            Initial::Zero => buffer.fill(0),
            Initial::Repeat(bytes) => repeat(bytes, buffer),
            Initial::Random => repeat(&restoring.random, buffer),
        }
        if restoring.scramble {
            self.scramble(buffer, op.offset);
        }
    }

    #[inline(never)]
    fn seal(&mut self, buffer: &mut [u8], op: &Op) {
        match self.seal.as_ref().map(|sealing| sealing.beneath) {
            None | Some(Mode::Keep | Mode::Other(Other::Seal)) => {}
            Some(Mode::Scramble) => self.scramble(buffer, op.offset),
            Some(Mode::Other(other)) => self.prepare_otherwise(other, buffer, op),
        }
        if let Some(Sealing { seal, recent, .. }) = self.seal.as_deref_mut() {
            seal.seal(buffer, op.offset, recent.written);
            recent.add(op);
        }
    }

    fn make_pieces(&mut self, buffer: &mut [u8]) {
        if let Some(pieces) = &mut self.pieces {
            pieces.make(buffer);
        }
    }

    /// Changes 16 of every 512 bytes: they contain the offset in the file, and a number that no other write has.
    fn scramble(&mut self, buffer: &mut [u8], offset: u64) {
        let mut number = self.stream.next_u64();
        let mut offset = offset;
        let mut mark = || {
            let mut mark = [0; MARK];
            mark[..8].copy_from_slice(&offset.to_le_bytes());
            mark[8..].copy_from_slice(&number.to_le_bytes());
            offset += SECTOR as u64;
            number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mark
        };
        // Whole sectors come first: with a known length, a mark takes two stores.
        let mut sectors = buffer.chunks_exact_mut(SECTOR);
        for sector in &mut sectors {
            sector[..MARK].copy_from_slice(&mark());
        }
        let rest = sectors.into_remainder();
        if rest.is_empty() {
            return;
        }
        let len = rest.len().min(MARK);
        rest[..len].copy_from_slice(&mark()[MARK - len..]);
    }

    fn refill(&mut self, buffer: &mut [u8]) {
        let (words, rest) = buffer.as_chunks_mut();
        for word in words {
            *word = self.stream.next_u64().to_le_bytes();
        }
        let last = self.stream.next_u64().to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Fills the buffer with repetitions of these bytes.
fn repeat(bytes: &[u8], buffer: &mut [u8]) {
    for chunk in buffer.chunks_mut(bytes.len().max(1)) {
        chunk.copy_from_slice(&bytes[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpKind;

    const PLAIN: fsdyno_job::Content =
        fsdyno_job::Content { zero: false, refill: false, scramble: true, pattern: None, compress: None, dedupe: None };
    const OP: Op = Op { offset: 8192, length: 4096, file: 0, kind: OpKind::Write, priority: 0 };

    fn filled(content: &fsdyno_job::Content) -> (Content, Vec<u8>) {
        let mut content = Content::new(content, 1);
        let mut buffer = vec![0xaa; 4096];
        content.fill(&mut buffer);
        (content, buffer)
    }

    #[test]
    fn scrambling_changes_sixteen_bytes_of_each_sector_and_nothing_else() {
        let (mut content, before) = filled(&PLAIN);
        let mut first = before.clone();
        content.prepare(&mut first, &OP);
        let mut second = first.clone();
        content.prepare(&mut second, &OP);
        for ((old, first), second) in before.chunks(512).zip(first.chunks(512)).zip(second.chunks(512)) {
            assert_eq!(old[16..], first[16..]);
            assert_ne!(old[..16], first[..16]);
            assert_ne!(first[..16], second[..16], "two writes to one place differ");
        }
        let sectors: std::collections::HashSet<&[u8]> = first.chunks(512).collect();
        assert_eq!(sectors.len(), 8, "no two sectors alike");
    }

    #[test]
    fn the_last_writes_are_known_the_latest_first() {
        let verify = fsdyno_job::Verify { kind: fsdyno_job::VerifyKind::Crc32c, ..fsdyno_job::Verify::default() };
        let seal = Seal::new(&verify, &PLAIN, None, 1, 7);
        let mut content = Content::sealed(&PLAIN, None, 1, seal, 4);
        for number in 0..10 {
            let expected: Vec<(u32, u64)> = (0..number).rev().take(4).map(|number| (0, number * 512)).collect();
            assert_eq!(content.last_writes().collect::<Vec<_>>(), expected);
            assert_eq!(content.writes_prepared(), Some(number));
            content.prepare(&mut [0; 512], &Op { offset: number * 512, length: 512, ..OP });
        }
    }

    #[test]
    fn a_pattern_to_verify_stays_whole_where_content_would_compress() {
        let pattern = b"\xde\xad\xbe\xef";
        let verify = fsdyno_job::Verify {
            kind: fsdyno_job::VerifyKind::Pattern,
            pattern: Some(fsdyno_job::BytePattern { bytes: pattern.to_vec(), ..fsdyno_job::BytePattern::default() }),
            ..fsdyno_job::Verify::default()
        };
        let compressed = fsdyno_job::Content { compress: Some((50, 0)), ..PLAIN };
        let seal = Seal::new(&verify, &compressed, None, 1, 7);
        let mut content = Content::sealed(&compressed, Some(pattern), 1, seal, 4);
        let mut buffer = vec![0xaa; 4096];
        content.fill(&mut buffer);
        content.prepare(&mut buffer, &OP);
        assert!(buffer.chunks(4).all(|bytes| bytes == pattern));
    }

    #[test]
    fn zero_and_pattern_are_kept() {
        let (mut content, mut buffer) = filled(&fsdyno_job::Content { zero: true, ..PLAIN });
        content.prepare(&mut buffer, &OP);
        assert!(content.keeps() && buffer.iter().all(|&byte| byte == 0));

        let (mut content, mut buffer) = filled(&fsdyno_job::Content { pattern: Some(b"abc".to_vec()), ..PLAIN });
        content.prepare(&mut buffer, &OP);
        assert!(content.keeps() && buffer.starts_with(b"abcabc") && buffer.ends_with(b"a"));

        let (mut content, mut buffer) = filled(&fsdyno_job::Content { scramble: false, ..PLAIN });
        let before = buffer.clone();
        content.prepare(&mut buffer, &OP);
        assert_eq!(before, buffer);
    }

    #[test]
    fn what_a_read_left_is_not_written() {
        let pattern = fsdyno_job::Content { pattern: Some(b"abc".to_vec()), ..PLAIN };
        for content in
            [pattern, fsdyno_job::Content { zero: true, ..PLAIN }, fsdyno_job::Content { scramble: false, ..PLAIN }]
        {
            let mut content = Content::new(&content, 1).restored(8192);
            let mut wanted = vec![0; 4096];
            content.prepare(&mut wanted, &OP);
            let mut read_into = vec![0xee; 4096];
            content.prepare(&mut read_into, &OP);
            assert!(read_into == wanted && read_into.iter().filter(|&&byte| byte == 0xee).count() < 60);
        }
        let mut content = Content::new(&PLAIN, 1).restored(4096);
        let mut buffers = [vec![0xee; 4096], vec![0xee; 4096]];
        buffers.iter_mut().for_each(|buffer| content.prepare(buffer, &OP));
        assert_ne!(buffers[0][..16], buffers[1][..16], "scrambled too");
        assert_eq!(buffers[0][16..512], buffers[1][16..512]);
    }

    #[test]
    fn refilling_leaves_nothing_as_it_was() {
        let (mut content, mut buffer) = filled(&fsdyno_job::Content { refill: true, ..PLAIN });
        let before = buffer.clone();
        content.prepare(&mut buffer, &OP);
        let same = before.iter().zip(&buffer).filter(|pair| pair.0 == pair.1).count();
        assert!(same < 60, "{same} of 4096 bytes are the same; 16 are to be expected by chance");
    }

    #[test]
    fn random_content_is_random_to_the_last_byte() {
        let mut content = Content::new(&PLAIN, 1);
        for len in [0, 1, 7, 9, 4097] {
            let mut buffer = vec![0; len];
            content.fill(&mut buffer);
            content.prepare(&mut buffer, &OP);
        }
        let mut buffer = vec![0; 1 << 20];
        content.fill(&mut buffer);
        let mut counts = [0_u32; 256];
        buffer.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        assert!(counts.iter().all(|&count| (3700..4500).contains(&count)), "each value about 4096 times");
    }
}
