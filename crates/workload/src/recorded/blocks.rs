//! Reads the records of blktrace: requests to a device.

use std::io::Read;

use super::chunk::Chunk;
use crate::op::OpKind;

/// The upper 24 bits of each record's first number; the lower 8 bits are the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Length of a record without the data that may follow it, bytes.
pub(super) const RECORD_BYTES: usize = 48;

const SECTOR_BYTES: u64 = 512;

/// Categories of a record: the upper half of its action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;

/// Events: the lower half of the action.
const QUEUED: u32 = 1;
const MERGED: [u32; 2] = [2, 3];
const COMPLETED: u32 = 8;

/// A record of blktrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRecord {
    pub(super) time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    /// Major and minor number.
    pub(super) device: (u32, u32),
    /// The record as it lies in the file, in the byte order of this machine.
    numbers: [u8; RECORD_BYTES],
}

/// Whether numbers have the opposite byte order of x86; `None`: this is not a trace of blktrace.
pub(super) fn is_swapped(begin: &[u8]) -> Option<bool> {
    let number: [u8; 4] = begin.get(..4)?.try_into().ok()?;
    let is_magic = |number: u32| number & !0xff == MAGIC;
    match (is_magic(u32::from_le_bytes(number)), is_magic(u32::from_be_bytes(number))) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

/// Reads the next record; `None`: there is none.
///
/// # Errors
/// A sentence about what is wrong.
pub(super) fn next(chunk: &mut Chunk, input: &mut dyn Read, swapped: bool) -> Result<Option<BlockRecord>, String> {
    let failed = |error: std::io::Error| format!("reading on failed: {error}");
    if !chunk.has(RECORD_BYTES, input).map_err(failed)? {
        return if chunk.rest().is_empty() { Ok(None) } else { Err(CUT.to_owned()) };
    }
    let mut numbers = [0; RECORD_BYTES];
    numbers.copy_from_slice(&chunk.rest()[..RECORD_BYTES]);
    if swapped {
        // Lengths of the fields, bytes.
        let mut rest = &mut numbers[..];
        for length in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            let (field, behind) = rest.split_at_mut(length);
            field.reverse();
            rest = behind;
        }
    }
    let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| numbers[at + byte]));
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| numbers[at + byte]));
    if word(0) & !0xff != MAGIC {
        return Err("this is no record of blktrace: the trace is damaged".to_owned());
    }
    if word(0) & 0xff != VERSION {
        return Err(format!("bad blktrace version {}", word(0) & 0xff));
    }
    let device = word(36);
    let record = BlockRecord {
        time_ns: long(8),
        sector: long(16),
        bytes: word(24),
        action: word(28),
        device: (device >> 20, device & 0xf_ffff),
        numbers,
    };
    chunk.skip(RECORD_BYTES);
    let behind = usize::from(u16::from_le_bytes([numbers[46], numbers[47]]));
    let mut left = behind;
    while left > 0 {
        if chunk.rest().is_empty() && !chunk.read_on(input).map_err(failed)? {
            return Err(CUT.to_owned());
        }
        let part = left.min(chunk.rest().len());
        chunk.skip(part);
        left -= part;
    }
    Ok(Some(record))
}

const CUT: &str = "the trace ends within a record: a part is missing";

impl BlockRecord {
    fn has(&self, category: u32) -> bool {
        self.action >> 16 & category != 0
    }

    fn event(&self) -> u32 {
        if self.has(NOTIFY) { 0 } else { self.action & 0xffff }
    }

    /// The request that was queued by this record, with offset and length; `None`: the record queues none, or one of
    /// no bytes.
    pub(super) fn request(&self) -> Option<(OpKind, u64, u64)> {
        if self.event() != QUEUED {
            return None;
        }
        let kind = match () {
            () if self.has(FLUSH) => return Some((OpKind::Sync, 0, 0)),
            () if self.has(DISCARD) => OpKind::Trim,
            () if self.has(WRITE) => OpKind::Write,
            () => OpKind::Read,
        };
        (self.bytes > 0).then_some((kind, self.sector.saturating_mul(SECTOR_BYTES), u64::from(self.bytes)))
    }

    /// The change of the number of requests in flight by this record.
    pub(super) fn under_way(&self) -> i64 {
        match self.event() {
            QUEUED if self.bytes > 0 => 1,
            event if MERGED.contains(&event) => -1,
            COMPLETED if self.bytes > 0 => -1,
            _ => 0,
        }
    }

    /// The record with another time, and without data after it.
    pub(super) fn at(&self, time_ns: u64) -> [u8; RECORD_BYTES] {
        let mut numbers = self.numbers;
        numbers[8..16].copy_from_slice(&time_ns.to_le_bytes());
        numbers[46..48].copy_from_slice(&[0, 0]);
        numbers
    }

    pub(super) fn completes(&self) -> bool {
        self.event() == COMPLETED
    }
}
