//! What to do next: offsets, sizes, directions, pacing and content. Pure and seeded.
//!
//! A [`Generator`] fills blocks of 64 [`Op`]s, so that whatever a pattern costs is paid once per block, outside
//! the loop that submits them. The plain cases (one file, one block size) have loops of their own; everything else
//! goes through a general one that makes one request at a time.
//!
//! Sequences are fio 3.42's wherever its choice is not the point: the mix of reads and writes, drawn sizes, uneven
//! spreads, and all offsets under `random_generator=tausworthe` or `lfsr` or `norandommap`. Only the default random
//! order is our own: a keyed permutation in place of fio's map of used blocks.
#![forbid(unsafe_code)]

mod backlog;
mod block_map;
mod content;
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

pub use content::{Content, RepeatedBlocks, Stores, xor_with_key};
pub use file_sizes::FileSizes;
pub use generator::{Generator, Refill};
pub use newest::greatest_common_divisor;
pub use op::{BLOCK_OPS, Block, NO_INSTANT, Op, OpKind, TRIMMED, UNNUMBERED};
pub use random::random_seeds;
pub use recorded::{LogError, LogInput, MergeError, Part, ReplayedFile, Summary, merge};
pub use saved::{LastWrites, SavedState, StateError};
pub use verify::{Expected, Mismatch, Seal, crc32c};
pub use workload::{FileRange, Workload, WorkloadError};
