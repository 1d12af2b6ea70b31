//! The file of `verify_state_save`, which says how far the writes of a job came. It is written in fio 3.33's format,
//! which fio 3.33 reads; fio 3.42's format is also read.

use crate::generator::{Generator, Refill};
use crate::op::{Block, Op, OpKind};
use crate::verify::crc32c;
use crate::workload::{Workload, WorkloadError};

/// The format that is written: the places of the last completed writes.
const OF_PLACES: u64 = 3;

/// The format of fio 3.42: the numbers of the writes in flight.
const OF_NUMBERS: u64 = 7;

/// Version, length of the rest, checksum of the rest.
const HEADER_LENGTH: usize = 24;

/// Length of the state of fio's random generator, which is not read, bytes.
const RANDOM_LENGTH: usize = 48;

/// Length of the job's name, bytes.
const NAME_LENGTH: usize = 64;

/// Length of a file number and an offset, bytes.
const PLACE_LENGTH: usize = 2 * size_of::<u64>();

/// The value of an entry without a write.
const NOTHING: u64 = u64::MAX;

/// How far the writes of a job came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedState {
    /// Number of the next write.
    pub writes: u64,
    /// What is known of the writes that may have been in flight at the end.
    pub last: LastWrites,
}

/// The writes that may have been in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastWrites {
    /// Of the last `depth` writes, those to these files and offsets have completed.
    Completed {
        /// Largest number of writes in flight.
        depth: u64,
        /// File and offset.
        places: Vec<(u64, u64)>,
    },
    /// The writes of these numbers were in flight or failed.
    Missing(Vec<u64>),
}

/// Why a file cannot be read as a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The version is not known.
    #[error("fio: unsupported ({0}) version in verify state header")]
    Version(u32),
    /// The file is cut off, or its checksum is wrong.
    #[error("fio: verify state is corrupt")]
    Corrupt,
}

impl SavedState {
    /// The content of the file for this job. `files`: the number of the job's files.
    pub fn to_bytes(&self, job: &str, files: u32) -> Vec<u8> {
        let LastWrites::Completed { depth, places } = &self.last else { return Vec::new() };
        let mut payload = Vec::new();
        let mut put = |number: u64| payload.extend_from_slice(&number.to_le_bytes());
        put(places.len() as u64);
        put(depth & u64::from(u32::MAX) | u64::from(files) << 32);
        put(self.writes);
        put(0);
        put(0);
        payload.extend_from_slice(&[0; RANDOM_LENGTH]);
        // The last byte stays zero, because it ends the name.
        let mut name = [0; NAME_LENGTH];
        let length = job.len().min(NAME_LENGTH - 1);
        name[..length].copy_from_slice(&job.as_bytes()[..length]);
        payload.extend_from_slice(&name);
        for (file, offset) in places {
            payload.extend_from_slice(&file.to_le_bytes());
            payload.extend_from_slice(&offset.to_le_bytes());
        }
        let unused = (*depth as usize).saturating_sub(places.len());
        payload.resize(payload.len() + unused * PLACE_LENGTH, 0);
        let header = [OF_PLACES, payload.len() as u64, crc32c(&payload).into()];
        [header.map(u64::to_le_bytes).as_flattened(), &payload].concat()
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// If it is not a valid state.
    pub fn of_bytes(bytes: &[u8]) -> Result<SavedState, StateError> {
        let (header, payload) = bytes.split_at_checked(HEADER_LENGTH).ok_or(StateError::Corrupt)?;
        let [version, length, crc] = [0, 1, 2].map(|at| number_at(header, at * 8).unwrap_or(0));
        if ![OF_PLACES, OF_NUMBERS].contains(&version) {
            return Err(StateError::Version(version as u32));
        }
        if payload.len() as u64 != length || u64::from(crc32c(payload)) != crc {
            return Err(StateError::Corrupt);
        }
        let state = if version == OF_PLACES { of_places(payload) } else { of_numbers(payload) };
        state.ok_or(StateError::Corrupt)
    }

    /// Number of requests of this workload that can be verified: those before the first one whose write was in flight
    /// or failed. A job that writes counts its writes, any other job its reads.
    ///
    /// # Errors
    /// If the workload cannot be generated.
    pub fn verifiable(&self, workload: &Workload) -> Result<u64, WorkloadError> {
        let direction = if workload.pattern.access.writes { OpKind::Write } else { OpKind::Read };
        let mut generator =
            Generator::new(&Workload { backlog: None, pacing: Default::default(), ..workload.clone() })?;
        let mut block = Block::new();
        let mut number = 0;
        loop {
            match generator.refill(&mut block) {
                Refill::Ops => {}
                Refill::Pass => continue,
                Refill::Done => return Ok(number),
            }
            for op in block.ops[..block.len].iter().filter(|op| op.kind == direction) {
                if !self.completed(number, op) {
                    return Ok(number);
                }
                number += 1;
            }
        }
    }

    /// Whether the write of this number and place is known to have completed.
    fn completed(&self, number: u64, op: &Op) -> bool {
        number < self.writes
            && match &self.last {
                LastWrites::Completed { depth, places } => {
                    let may_be_in_flight = number.saturating_add(*depth) >= self.writes;
                    !may_be_in_flight || places.contains(&(op.file.into(), op.offset))
                }
                LastWrites::Missing(numbers) => !numbers.contains(&number),
            }
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// All numbers from byte `at` on.
fn numbers_from(bytes: &[u8], at: usize) -> Option<Vec<u64>> {
    Some(bytes.get(at..)?.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
}

fn of_places(payload: &[u8]) -> Option<SavedState> {
    const PLACES_AT: usize = 40 + RANDOM_LENGTH + NAME_LENGTH;
    let depth = number_at(payload, 8)? & u64::from(u32::MAX);
    let numbers = numbers_from(payload, PLACES_AT)?;
    // There is room for the largest number of writes in flight.
    let used = usize::try_from(number_at(payload, 0)?).ok()?.checked_mul(2)?;
    let places = numbers.get(..used)?.as_chunks().0.iter().map(|[file, offset]| (*file, *offset)).collect();
    Some(SavedState { writes: number_at(payload, 16)?, last: LastWrites::Completed { depth, places } })
}

fn of_numbers(payload: &[u8]) -> Option<SavedState> {
    const NUMBERS_AT: usize = 32 + RANDOM_LENGTH + NAME_LENGTH;
    let numbers = numbers_from(payload, NUMBERS_AT)?;
    if numbers.len() as u64 != number_at(payload, 0)? & u64::from(u32::MAX) {
        return None;
    }
    let missing = numbers.into_iter().filter(|number| *number != NOTHING).collect();
    Some(SavedState { writes: number_at(payload, 8)?, last: LastWrites::Missing(missing) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits: Vec<char> = hexadecimal.chars().filter(|digit| !digit.is_whitespace()).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect()
    }

    /// The file that fio 3.33 saved after 5 writes at iodepth 4, whose order is its own.
    #[test]
    fn fio_3_33_s_state_is_read_and_written() {
        let header = "0300000000000000 d800000000000000 5884430100000000";
        let head = "0400000000000000 0400000001000000 0500000000000000 0000000000000000 0000000000000000";
        let random = format!("6957dc4edc97897f7e75b657{}", "00".repeat(36));
        let name = format!("77722f61{}", "00".repeat(60));
        let places = [0x4000, 0x3000, 0x6000, 0x5000_u64];
        let listed: String = places.iter().map(|at| format!("{}{:016x}", "00".repeat(8), at.swap_bytes())).collect();
        let fio = bytes(&[header, head, &random, &name, &listed].concat());
        let state = SavedState::of_bytes(&fio).unwrap();
        let completed = places.map(|offset| (0, offset)).to_vec();
        assert_eq!(state, SavedState { writes: 5, last: LastWrites::Completed { depth: 4, places: completed } });

        // All bytes are equal, except the state of the random generator and therefore the checksum.
        let ours = state.to_bytes("wr/a", 1);
        let without_random = |bytes: &[u8]| [&bytes[..16], &bytes[24..64], &bytes[112..]].concat();
        assert_eq!(without_random(&ours), without_random(&fio));
        assert_eq!(SavedState::of_bytes(&ours), Ok(state));
        let mut damaged = ours.clone();
        damaged[30] ^= 1;
        assert_eq!(SavedState::of_bytes(&damaged), Err(StateError::Corrupt));
        assert_eq!(SavedState::of_bytes(&ours[..ours.len() - 1]), Err(StateError::Corrupt));
        damaged[0] = 2;
        assert_eq!(SavedState::of_bytes(&damaged), Err(StateError::Version(2)));
    }

    /// The file that fio 3.42 saved after 5 writes at iodepth 4.
    #[test]
    fn fio_3_42_s_state_is_read() {
        let header = "0700000000000000 b000000000000000 f70d5c0600000000";
        let head = "0400000000000000 0500000000000000 0000000000000000 0000000000000000";
        let random = format!("9eb5517200cfa3a9943daa41{}", "00".repeat(36));
        let name = format!("77722f61{}", "00".repeat(60));
        let state = SavedState::of_bytes(&bytes(&[header, head, &random, &name, &"ff".repeat(32)].concat()));
        assert_eq!(state, Ok(SavedState { writes: 5, last: LastWrites::Missing(Vec::new()) }));
    }
}
