//! Offsets, sizes, directions.

use crate::access::Access;
use crate::direction::PerDirection;

/// Seed of the repeatable sequences unless `randseed` says otherwise.
pub const DEFAULT_SEED: u64 = 0x89;

/// Offsets, sizes and directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// `rw=`.
    pub access: Access,
    /// The `:N` suffix of `rw`. Sequential: bytes skipped after each I/O (negative: backwards). Random: I/Os per new
    /// random offset.
    pub modifier: Option<i64>,
    /// `rw_sequencer=identical`: the I/Os of one random draw use the same offset.
    pub identical: bool,
    /// Block sizes of each direction.
    pub block_size: PerDirection<BlockSize>,
    /// `blockalign`: offsets are multiples of this. `None`: the smallest block size.
    pub block_align: Option<PerDirection<u64>>,
    /// `bs_unaligned`: drawn sizes are not rounded.
    pub unaligned_sizes: bool,
    /// `bs_is_seq_rand`: the read size serves sequential I/O, the write size random I/O.
    pub sizes_by_sequence: bool,
    /// Share of reads in a mix, percent (0 to 100).
    pub read_percent: u32,
    /// Share of random offsets in random modes, percent (0 to 100).
    pub random_percent: PerDirection<u32>,
    /// Where the sequence comes from.
    pub seed: Seed,
    /// Each block is used once per pass (off with `norandommap`).
    pub random_map: bool,
    /// Go without the random map where it would take too much memory.
    pub soft_random_map: bool,
    /// `random_generator` when written; `None`: our O(1) permutation.
    pub generator: Option<RandomGenerator>,
    /// How offsets are spread.
    pub distribution: Distribution,
    /// `zonemode=strided`: requests stay in a window that moves over the file.
    pub strided: Option<StridedZones>,
    /// `zonemode=zbd`: requests obey the zones of a zoned block device, or those that a job counts on another target.
    pub zoned: Option<ZonedRules>,
}

/// How the zones of a device are used. The plan fills in what the device decides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ZonedRules {
    /// Bytes from one zone to the next; 0: not written, and the device decides.
    pub zone_bytes: u64,
    /// Bytes of each zone that can be written, if the target has no zones of its own; 0: all.
    pub capacity: u64,
    /// The target has no zones of its own: the job counts as if there were zones, empty when it begins.
    pub are_counted: bool,
    /// Bytes that sequential requests leave out after each zone.
    pub skip: u64,
    /// The same as a number of zones, which the plan turns into bytes.
    pub skip_zones: u64,
    /// Number of zones that may be partly written at a time: as written over all workers of the device, in the plan of
    /// one worker its share; 0: no limit.
    pub open_max: u32,
    /// The limit of one worker as written; 0: no limit.
    pub job_open_max: u32,
    /// Whether the limits of the device are not asked for.
    pub ignores_limits: bool,
    /// Whether reads go beyond the write pointers.
    pub reads_beyond: bool,
    /// Share of the range (0 to 1) that must hold data before zones are reset by `reset_frequency`.
    pub reset_threshold: f64,
    /// Resets per write (0 to 1); 0: only full zones are reset.
    pub reset_frequency: f64,
}

/// `zonesize`, `zonerange`, `zoneskip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedZones {
    /// Bytes of I/O before the window moves on, 1 and up.
    pub bytes: u64,
    /// Length of the window, bytes.
    pub range: u64,
    /// Bytes that are left out between two windows.
    pub skip: u64,
}

impl Default for Pattern {
    fn default() -> Pattern {
        Pattern {
            access: Access::READ,
            modifier: None,
            identical: false,
            block_size: PerDirection::all(BlockSize::Fixed(4096)),
            block_align: None,
            unaligned_sizes: false,
            sizes_by_sequence: false,
            read_percent: 50,
            random_percent: PerDirection::all(100),
            seed: Seed::Repeated,
            random_map: true,
            soft_random_map: false,
            generator: None,
            distribution: Distribution::Uniform,
            strided: None,
            zoned: None,
        }
    }
}

impl Pattern {
    /// Which block sizes can be drawn: those of the directions that occur, or under `bs_is_seq_rand` those of
    /// sequential (read) and random (write) requests.
    pub fn sizes_drawn(&self) -> PerDirection<bool> {
        if !self.sizes_by_sequence {
            return PerDirection::from_fn(|direction| self.access.has(direction));
        }
        let partly = self.modifier.is_some() || self.random_percent.iter().any(|(_, &percent)| percent < 100);
        PerDirection { read: !self.access.random || partly, write: self.access.random, trim: false }
    }
}

/// `bs`, `bsrange`, `bssplit` of one direction. Sizes are bytes, 1 and up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// Always the same.
    Fixed(u64),
    /// Drawn between both, rounded down to a multiple of the smallest.
    Range(u64, u64),
    /// Sizes and their percentages, which sum to 100.
    Split(Vec<(u64, u32)>),
}

impl BlockSize {
    /// The smallest size that can come, in bytes.
    pub fn min(&self) -> u64 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range(min, _) => *min,
            BlockSize::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or(0),
        }
    }

    /// The largest size that can come, in bytes.
    pub fn max(&self) -> u64 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range(_, max) => *max,
            BlockSize::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or(0),
        }
    }
}

/// Where random numbers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// [`DEFAULT_SEED`], with which each pass begins again.
    Repeated,
    /// `randseed`: the run as a whole is repeatable; later passes continue the sequence.
    Fixed(u64),
    /// `randrepeat=0`: drawn from the system for each run.
    System,
}

/// `random_generator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomGenerator {
    /// fio's 32-bit sequence, block map included.
    Tausworthe,
    /// fio's shift register, full coverage.
    Lfsr,
    /// fio's 64-bit sequence.
    Tausworthe64,
}

/// `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// All blocks are equally likely.
    Uniform,
    /// Zipf with this theta, and the centre of the hot blocks (share of the range, 0 to 1) if given.
    Zipf(f64, Option<f64>),
    /// Pareto with this h, and the centre if given.
    Pareto(f64, Option<f64>),
    /// Normal with this deviation in percent, and the centre if given.
    Normal(f64, Option<f64>),
    /// `zoned:` percent of I/O to percent of the range, per direction.
    Zoned(PerDirection<Vec<(u32, u32)>>),
    /// `zoned_abs:` percent of I/O to bytes, per direction.
    ZonedAbsolute(PerDirection<Vec<(u32, u64)>>),
    /// `sequence:` uses these blocks in turn.
    Sequence {
        /// Block numbers, from 1.
        blocks: Vec<u64>,
        /// `random_sequence_stride`: after each turn all block numbers grow by the length of the list.
        strides: bool,
    },
}
