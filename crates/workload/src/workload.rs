//! The work of one worker: plain data, made by the planner.

use std::path::Path;
use std::sync::Arc;

use fsdyno_job::{
    BlockSize, Direction, Distribution, Durability, FileService, Pacing, Pattern, PerDirection, PriorityShare,
    RandomGenerator, Shared, TrimBacklog, VerifyBacklog,
};

use crate::device_zones::KnownZones;
use crate::newest::writes_over;
use crate::permutation::BLOCKS_MAX;

/// Largest number of blocks of all files that a map remembers: 8 GiB of memory, allocated when touched.
const MAPPED_BLOCKS_MAX: u64 = 1 << 36;

/// The range of one file that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// First byte.
    pub start: u64,
    /// Length, bytes.
    pub length: u64,
    /// The file's name as the job gives it. Zipf and pareto mix it into their seed, so that files differ.
    pub name: Arc<Path>,
}

/// The directions of a workload's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectionMix {
    Only(Direction),
    /// Share of reads in percent (1 to 99); the other requests have the second direction.
    Mixed(u32, Direction),
    /// Each block is trimmed and then written.
    TrimThenWrite,
}

/// The work of one worker. All sizes are bytes, all times nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Offsets, sizes, directions.
    pub pattern: Shared<Pattern>,
    /// How the file of the next request is chosen.
    pub service: FileService,
    /// Largest number of open files; `None`: all are open.
    pub open_files: Option<u32>,
    /// The zones of the files (`zonemode=zbd`).
    pub zones: KnownZones,
    /// The files, 1 and up; [`Op::file`](crate::Op::file) numbers them from 0.
    pub files: Vec<FileRange>,
    /// Bytes of one loop: `io_size` if it is set, otherwise `size`.
    pub bytes: u64,
    /// Whether `bytes` comes from `io_size`: then the files start over until `bytes` are transferred. Otherwise bytes
    /// into which no request fits are left out.
    pub starts_over: bool,
    /// Number of bytes after which a pass ends, wherever the positions are. fio does so with engines that keep
    /// requests in flight: a mix of two sequences begins again before either has reached the end. `None`: only the
    /// end of the files ends a pass.
    pub pass_bytes: Option<u64>,
    /// Whether blocks are verified: then writes draw their sizes as reads do, so that a later job that reads has the
    /// same blocks.
    pub verified: bool,
    /// Reads among the writes that are verified.
    pub backlog: Option<VerifyBacklog>,
    /// Trims among the writes that are verified.
    pub trims: Option<TrimBacklog>,
    /// What a pass wrote is read back after it and counts with it: the files start over until `bytes` have come, as in fio.
    pub counts_read_back: bool,
    /// Repetitions, 1 and up.
    pub loops: u32,
    /// Whether the job starts over until the runtime ends it. `bytes` and `number_ios` do not end it.
    pub time_based: bool,
    /// Number of requests of each loop; 0: no limit. Syncs do not count.
    pub number_ios: u64,
    /// Syncs among the writes.
    pub durability: Durability,
    /// Intended start times.
    pub pacing: Shared<Pacing>,
    /// Which requests have another I/O priority than the worker.
    pub priority_shares: PerDirection<Vec<PriorityShare>>,
    /// The worker's number over all jobs, from 1.
    pub thread_number: u32,
    /// `randseed`, 0x89 unless it was set, or a number of the system if the pattern's seed is
    /// [`Seed::System`](fsdyno_job::Seed::System). With [`Seed::Repeated`](fsdyno_job::Seed::Repeated) each loop
    /// repeats the first; otherwise the random streams continue from loop to loop.
    pub seed: u64,
}

/// Why a workload cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence stands above it, and the fields are named in it")]
pub enum WorkloadError {
    #[error("no file to work on")]
    NoFiles,
    #[error("no direction: the job neither reads nor writes nor trims")]
    NoDirection,
    #[error("bs: a block size of 0 bytes for {}s; give at least 1", .direction.name())]
    EmptyBlock { direction: Direction },
    #[error("bsrange: the smallest block of {min} bytes exceeds the largest of {max}")]
    InvertedRange { min: u64, max: u64 },
    #[error("bssplit: no size has a share above 0 percent")]
    EmptySplit,
    #[error("size: the files have at most {longest} bytes, but one {} takes {block}; raise size or lower bs", .direction.name())]
    NothingFits { longest: u64, block: u64, direction: Direction },
    #[error("blockalign: an alignment of 0 bytes; give at least 1")]
    NoAlignment,
    #[error("{blocks} blocks in one file: at most {BLOCKS_MAX} can be drawn at random; raise bs")]
    TooManyBlocks { blocks: u64 },
    #[error("verify: over 1 GiB of memory would be needed to tell which blocks no reset of a zone took; raise bs")]
    TooManyZoneBlocks,
    #[error(
        "random map: {gibibytes} GiB of memory would be needed to remember the used blocks; \
         raise bs, give one block size without random_generator, or norandommap"
    )]
    MapTooLarge { gibibytes: u64 },
    #[error(
        "zoned_abs sizes exceed file size: the zones have {zones} bytes together, a file has {shortest}; \
         lower the sizes of random_distribution, or raise size"
    )]
    ZonesBeyond { zones: u64, shortest: u64 },
    #[error(
        "sequence access block {block} in base pattern out of bounds (max {blocks}); \
         leave it out of random_distribution, or raise size"
    )]
    SequenceBeyond { block: u64, blocks: u64 },
    #[error("zonerange: a zone has {range} bytes, but one {} takes {block}; raise zonerange or lower bs", .direction.name())]
    ZoneTooSmall { range: u64, block: u64, direction: Direction },
    #[error("random_distribution: {value} is not a usable {what}; {advice}")]
    Distribution { what: &'static str, value: f64, advice: &'static str },
}

impl Workload {
    /// The directions of the requests. A mix in which one side has no share is a single direction, so that no rule
    /// that balances directions can choose that side.
    pub(crate) fn direction_mix(&self) -> DirectionMix {
        let access = self.pattern.access;
        if access.trims && access.writes {
            return DirectionMix::TrimThenWrite;
        }
        let second = if access.writes { Direction::Write } else { Direction::Trim };
        match (access.reads, access.modifies(), self.pattern.read_percent) {
            (true, false, _) | (true, true, 100..) => DirectionMix::Only(Direction::Read),
            (false, _, _) | (true, true, 0) => DirectionMix::Only(second),
            (true, true, percent) => DirectionMix::Mixed(percent, second),
        }
    }

    /// Whether a block may be written more than once before all blocks are read back.
    pub fn writes_again(&self) -> bool {
        self.loops > 1 || self.time_based || writes_over(self)
    }

    /// Whether a block may be written more than once within a loop.
    pub(crate) fn overwrites(&self) -> bool {
        writes_over(self)
    }

    /// The directions that can occur.
    pub(crate) fn directions(&self) -> impl Iterator<Item = Direction> + '_ {
        let mix = self.direction_mix();
        Direction::ALL.into_iter().filter(move |&direction| match mix {
            DirectionMix::Only(only) => direction == only,
            DirectionMix::Mixed(_, second) => direction == Direction::Read || direction == second,
            DirectionMix::TrimThenWrite => direction != Direction::Read,
        })
    }

    /// The directions whose block sizes are drawn.
    pub(crate) fn directions_drawn(&self) -> impl Iterator<Item = Direction> + '_ {
        let drawn = self.pattern.sizes_drawn();
        let occurs = move |direction| self.pattern.sizes_by_sequence || self.directions().any(|has| has == direction);
        Direction::ALL.into_iter().filter(move |&direction| drawn[direction] && occurs(direction))
    }

    /// One direction for each map of random blocks. Directions with the same sizes share a map. With two sizes in one
    /// map, the larger would have to be cut, or the job would end before its size.
    pub(crate) fn mapped_directions(&self) -> Vec<Direction> {
        let mut mapped: Vec<Direction> = Vec::new();
        if !self.covers_each_block_once() {
            return mapped;
        }
        for direction in self.directions() {
            // A write of `randtrimwrite` goes to the place of its trim.
            let follows = direction == Direction::Write && self.pattern.access.trims;
            if !follows && !mapped.iter().any(|&other| self.shares_map(direction, other)) {
                mapped.push(direction);
            }
        }
        mapped
    }

    /// Whether the random requests of both directions have the same sizes.
    pub(crate) fn shares_map(&self, one: Direction, other: Direction) -> bool {
        let (one, other) = (self.random_sizes(one), self.random_sizes(other));
        one == other || [one.min(), one.max(), other.max()] == [other.min(); 3]
    }

    /// The sizes of random requests in this direction.
    pub(crate) fn random_sizes(&self, direction: Direction) -> &BlockSize {
        &self.pattern.block_size[sized_as(self.pattern.sizes_by_sequence, direction, true)]
    }

    /// Whether random requests of different sizes have maps of their own, so that a block may come once in each map.
    pub fn has_map_per_direction(&self) -> bool {
        self.mapped_directions().len() > 1
    }

    /// Whether finished files start over by themselves, before the others are finished.
    pub fn serves_again(&self) -> bool {
        matches!(self.service, FileService::Zipf(..) | FileService::Pareto(..) | FileService::Normal(..))
    }

    /// Whether each block comes exactly once per pass. With uneven spreads and `blockalign` this is not possible.
    pub(crate) fn covers_each_block_once(&self) -> bool {
        let pattern = &self.pattern;
        pattern.access.random
            && pattern.distribution == Distribution::Uniform
            && (pattern.generator == Some(RandomGenerator::Lfsr) || pattern.random_map && pattern.block_align.is_none())
    }

    /// Whether the free blocks of a map limit the sizes that are drawn.
    pub fn map_limits_sizes(&self) -> bool {
        self.drawn_for_maps().next().is_some()
    }

    /// The drawn sizes of directions whose used blocks are remembered.
    fn drawn_for_maps(&self) -> impl Iterator<Item = &BlockSize> {
        let maps = self.mapped_directions().into_iter().filter(|&map| self.remembers_blocks(map));
        maps.map(|map| self.random_sizes(map)).filter(|sizes| sizes.min() != sizes.max())
    }

    /// Whether some blocks of a map come again, because drawn sizes take whole blocks and do not fill them.
    pub fn fills_gaps(&self) -> bool {
        self.pattern.generator.is_none() && self.has_gaps()
    }

    /// Whether such gaps stay unused, as in fio's own order, so that a pass ends before its size.
    pub fn leaves_gaps(&self) -> bool {
        self.pattern.generator.is_some() && self.has_gaps()
    }

    fn has_gaps(&self) -> bool {
        self.drawn_for_maps().any(|sizes| match sizes {
            BlockSize::Fixed(_) => false,
            BlockSize::Range(min, max) => max % min != 0 || self.pattern.unaligned_sizes,
            BlockSize::Split(parts) => parts.iter().any(|part| part.0 % sizes.min() != 0),
        })
    }

    /// The size of all requests; `None`: there are several sizes.
    pub(crate) fn one_size(&self) -> Option<u64> {
        let pattern = &self.pattern;
        let mut sizes = self.directions().map(|direction| {
            let by_sequence = pattern.sizes_by_sequence && pattern.access.random;
            let sizes = &pattern.block_size[if by_sequence { Direction::Write } else { direction }];
            (sizes.min() == sizes.max()).then(|| sizes.min())
        });
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// Whether the used blocks of a map must be remembered one by one: with several sizes, or in fio's own order.
    pub(crate) fn remembers_blocks(&self, direction: Direction) -> bool {
        let sizes = self.random_sizes(direction);
        match self.pattern.generator {
            Some(RandomGenerator::Lfsr) => false,
            Some(_) => true,
            None => sizes.min() != sizes.max(),
        }
    }

    /// Whether offsets need 64 random bits: the job asks for them, or there are more blocks than 32 bits can number.
    pub(crate) fn wide_offsets(&self, blocks_max: u64) -> bool {
        self.pattern.generator == Some(RandomGenerator::Tausworthe64) || blocks_max > u64::from(u32::MAX)
    }

    /// Whether remembering the used blocks would take too much memory.
    pub fn map_is_too_large(&self) -> bool {
        matches!(self.check(), Err(WorkloadError::MapTooLarge { .. }))
    }

    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let longest = self.files.iter().map(|file| file.length).max().ok_or(WorkloadError::NoFiles)?;
        let mut smallest = u64::MAX;
        for direction in self.directions_drawn() {
            self.check_sizes(direction)?;
            let block = self.pattern.block_size[direction].min();
            if longest < block {
                return Err(WorkloadError::NothingFits { longest, block, direction });
            }
            if let Some(zones) = self.pattern.strided.filter(|zones| zones.range < block) {
                return Err(WorkloadError::ZoneTooSmall { range: zones.range, block, direction });
            }
            smallest = smallest.min(block);
        }
        if smallest == u64::MAX {
            return Err(WorkloadError::NoDirection);
        }
        if self.pattern.block_align.is_some_and(|align| align.iter().any(|(_, &bytes)| bytes == 0)) {
            return Err(WorkloadError::NoAlignment);
        }
        let maps = self.mapped_directions().into_iter().filter(|&direction| self.remembers_blocks(direction));
        let blocks_of = |unit: u64| self.files.iter().map(|file| file.length / unit).fold(0, u64::saturating_add);
        let mapped = maps.fold(0u64, |sum, map| sum.saturating_add(blocks_of(self.random_sizes(map).min())));
        if mapped > MAPPED_BLOCKS_MAX {
            return Err(WorkloadError::MapTooLarge { gibibytes: mapped >> 33 });
        }
        let blocks = longest / smallest;
        if self.pattern.access.random && blocks > BLOCKS_MAX {
            return Err(WorkloadError::TooManyBlocks { blocks });
        }
        check_distribution(&self.pattern.distribution)?;
        self.check_reach()
    }

    /// Checks that zones and sequences of blocks lie within each file.
    fn check_reach(&self) -> Result<(), WorkloadError> {
        let shortest = self.files.iter().map(|file| file.length).min().unwrap_or(0);
        if !self.pattern.access.random {
            return Ok(());
        }
        for direction in self.directions() {
            match &self.pattern.distribution {
                Distribution::ZonedAbsolute(zones) => {
                    let zones = zones[direction].iter().fold(0u64, |sum, zone| sum.saturating_add(zone.1));
                    if zones > shortest {
                        return Err(WorkloadError::ZonesBeyond { zones, shortest });
                    }
                }
                Distribution::Sequence { blocks, .. } => {
                    let smallest = self.pattern.block_size[direction].min().max(1);
                    let unit = self.pattern.block_align.map_or(smallest, |align| align[direction]);
                    let least = |block: &u64| block.saturating_mul(unit).saturating_add(smallest);
                    if let Some(block) = blocks.iter().find(|block| least(block) > shortest) {
                        return Err(WorkloadError::SequenceBeyond { block: *block, blocks: shortest / unit });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_sizes(&self, direction: Direction) -> Result<(), WorkloadError> {
        let sizes = &self.pattern.block_size[direction];
        match sizes {
            BlockSize::Range(min, max) if min > max => {
                return Err(WorkloadError::InvertedRange { min: *min, max: *max });
            }
            BlockSize::Split(parts) if parts.iter().all(|part| part.1 == 0) => {
                return Err(WorkloadError::EmptySplit);
            }
            _ => {}
        }
        if sizes.min() == 0 { Err(WorkloadError::EmptyBlock { direction }) } else { Ok(()) }
    }
}

/// The direction whose sizes a request has. Under `bs_is_seq_rand`, sequential requests have the sizes of reads,
/// random requests those of writes.
pub(crate) fn sized_as(by_sequence: bool, direction: Direction, random: bool) -> Direction {
    match (by_sequence, random) {
        (false, _) => direction,
        (true, false) => Direction::Read,
        (true, true) => Direction::Write,
    }
}

fn check_distribution(distribution: &Distribution) -> Result<(), WorkloadError> {
    let (what, value, usable, advice) = match *distribution {
        Distribution::Zipf(theta, _) => {
            ("zipf theta", theta, theta > 0.0 && theta != 1.0, "give a number above 0 other than 1, such as 1.1")
        }
        Distribution::Pareto(h, _) => ("pareto h", h, h > 0.0 && h < 1.0, "give a number between 0 and 1, such as 0.2"),
        Distribution::Normal(deviation, _) => {
            ("normal deviation", deviation, (0.0..=100.0).contains(&deviation), "give a percentage from 0 to 100")
        }
        _ => return Ok(()),
    };
    if usable { Ok(()) } else { Err(WorkloadError::Distribution { what, value, advice }) }
}
