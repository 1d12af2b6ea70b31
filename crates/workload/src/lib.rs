//! Decides what each worker does next: offsets, sizes, directions, pacing and content. It makes no system call, and
//! its sequences follow from seeds.
//!
//! A [`Generator`] fills blocks of 64 [`Op`]s, so that the cost of a pattern is paid once per block, outside of the
//! loop that submits the requests. The plain cases (one file, one block size) have loops of their own; everything
//! else is made by a general one, request by request.
//!
//! Sequences are those of fio 3.42: the mix of reads and writes, drawn sizes, uneven spreads, and all offsets under
//! `random_generator=tausworthe` or `lfsr` or `norandommap`. Only the default random order is our own: a keyed
//! permutation instead of fio's map of used blocks.
#![forbid(unsafe_code)]

mod backlog;
mod block_map;
mod content;
mod device_zones;
mod durability;
mod extent;
mod file_sizes;
mod general;
mod generator;
mod lfsr;
mod mix;
mod newest;
mod op;
mod pacing;
mod permutation;
mod place;
mod plain;
mod pool;
mod priorities;
mod random;
mod random_map;
mod recorded;
mod replay;
mod saved;
mod service;
mod sizes;
mod spread;
mod strided;
mod trims;
mod verify;
mod workload;

pub use content::{Content, RepeatedBlocks};
pub use device_zones::{KnownZones, Zone, ZoneKind, ZoneTurn};
pub use file_sizes::FileSizes;
pub use generator::{Generator, Refill};
pub use newest::greatest_common_divisor;
pub use op::{BLOCK_OPS, Block, NO_INSTANT, Op, OpKind, TRIMMED, UNNUMBERED};
pub use pool::{Stores, xor_with_key};
pub use random::{LANES, LaneRegisters, LaneSums, SUMMED_DRAWS, SumDraws, Summing, random_seeds, sum_draws};
pub use recorded::{LogError, LogInput, MergeError, ReplayedFile, Summary, TraceToMerge, merge};
pub use saved::{LastWrites, SavedState, StateError};
pub use verify::{Expected, Mismatch, Seal, crc32c};
pub use workload::{FileRange, Workload, WorkloadError};
