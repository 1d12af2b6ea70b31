//! Where a request of the general case goes within its file.

use job::{Direction, PerDirection, RandomGenerator};

use crate::block_map::BlockMap;
use crate::lfsr::Lfsr;
use crate::permutation::Permutation;
use crate::random::{Seeds, Slot, Stream};
use crate::sizes::Sizes;
use crate::spread::{Ranks, Sequence, Zones};
use crate::strided::{Strided, Window};
use crate::workload::{DirectionMix, FileRange, Workload};

/// One file and how far its requests are.
#[derive(Clone, Debug)]
pub(crate) struct File {
    start: u64,
    length: u64,
    /// Where requests go within the range.
    window: Window,
    /// Where the last request of each direction ended, and where it began; relative to the range.
    position: PerDirection<u64>,
    last_start: PerDirection<u64>,
    cover: Cover,
    ranks: Option<Ranks>,
    /// `trimwrite`: the last request was a trim, whose write comes next.
    pub(crate) trimmed: bool,
    /// No further request fits, until the files start over.
    pub(crate) done: bool,
}

/// How random blocks are kept from repeating.
#[derive(Clone, Debug)]
enum Cover {
    /// Not at all.
    None,
    /// One size: the permutation.
    Permutation(Permutation),
    /// Several sizes, or fio's own order.
    Map(BlockMap),
    Lfsr(Lfsr),
}

impl Cover {
    fn restart(&mut self, repeats: bool) {
        match self {
            Cover::None => {}
            Cover::Permutation(permutation) if repeats => permutation.first_pass(),
            Cover::Permutation(permutation) => permutation.next_pass(),
            Cover::Map(map) => map.clear(),
            Cover::Lfsr(register) => register.reset(),
        }
    }

    /// A block of the first `blocks`, of which this may cover more. It begins again when all have come; `None`: there is
    /// none.
    fn draw_below(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        if blocks == 0 {
            return None;
        }
        loop {
            match self.draw(stream, blocks) {
                Some(block) if block < blocks => return Some(block),
                Some(_) => {
                    // A map says which is the next free one: from there to the end of the window there is none.
                    let Cover::Map(map) = self else { continue };
                    match map.free_from(0).filter(|block| *block < blocks) {
                        Some(block) => return Some(block),
                        None => map.clear(),
                    }
                }
                None => self.restart(false),
            }
        }
    }

    /// A block that has not come yet; `None` when all have.
    fn draw(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        match self {
            Cover::None => Some(stream.below(blocks)),
            Cover::Permutation(permutation) => permutation.draw(),
            Cover::Map(map) => map.free_from(stream.below(blocks)),
            Cover::Lfsr(register) => register.draw(),
        }
    }
}

impl File {
    fn new(range: &FileRange) -> Self {
        File {
            start: range.start,
            length: range.length,
            window: Window::whole(range.length),
            position: PerDirection::default(),
            last_start: PerDirection::default(),
            cover: Cover::None,
            ranks: None,
            trimmed: false,
            done: false,
        }
    }

    fn rewind(&mut self) {
        self.position = PerDirection::all(self.window.start);
        self.last_start = self.position;
        self.trimmed = false;
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u32,
    /// A range was used up on the way and starts over.
    pub(crate) wrapped: bool,
}

/// Chooses offsets and sizes in all the ways the language has.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) files: Vec<File>,
    random: bool,
    /// `randtrimwrite`: a write goes where the trim before it went.
    writes_follow: bool,
    time_based: bool,
    /// Random blocks of a file begin again when all have come.
    repeats_blocks: bool,
    sizes_by_sequence: bool,
    identical: bool,
    /// Bytes skipped after each sequential request; negative: backwards.
    skip: i64,
    /// Requests per random draw, and how many until the next.
    per_draw: u64,
    until_draw: u64,
    random_percent: PerDirection<u32>,
    sizes: PerDirection<Sizes>,
    /// Random offsets are multiples of this.
    units: PerDirection<u64>,
    offsets: Stream,
    order: PerDirection<Stream>,
    zones: Option<Zones>,
    sequence: Option<Sequence>,
    strided: Option<Strided>,
    seeds: Seeds,
    wide_offsets: bool,
    wide: bool,
}

/// An offset within the range, and how it was found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    offset: u64,
    random: bool,
    wrapped: bool,
}

impl Placement {
    pub(crate) fn new(workload: &Workload, seeds: Seeds) -> Self {
        let pattern = &workload.pattern;
        let wide = pattern.generator == Some(RandomGenerator::Tausworthe64);
        let sizes = per_direction(|direction| {
            let pairs = workload.direction_mix() == DirectionMix::TrimThenWrite;
            let drawn_as = match direction {
                Direction::Write if workload.verified => Direction::Read,
                Direction::Trim if pairs => Direction::Write,
                direction => direction,
            };
            let seed = seeds.of_sizes(drawn_as);
            Sizes::new(&pattern.block_size[direction], pattern.unaligned_sizes, seed, wide)
        });
        let modifier = pattern.modifier;
        let random = pattern.access.random;
        let mut placement = Placement {
            files: workload.files.iter().map(File::new).collect(),
            random,
            writes_follow: random && workload.direction_mix() == DirectionMix::TrimThenWrite,
            time_based: workload.time_based,
            repeats_blocks: workload.time_based || workload.serves_again(),
            sizes_by_sequence: pattern.sizes_by_sequence,
            identical: pattern.identical,
            skip: if random { 0 } else { modifier.unwrap_or(0) },
            per_draw: if random { modifier.map_or(1, |number| number.max(1) as u64) } else { 1 },
            until_draw: 1,
            random_percent: pattern.random_percent,
            units: PerDirection::default(),
            sizes,
            offsets: Stream::new(0, false),
            order: PerDirection::all(Stream::new(0, false)),
            zones: Zones::new(&pattern.distribution, &seeds),
            sequence: Sequence::new(&pattern.distribution),
            strided: pattern.strided.map(Strided::new),
            seeds,
            wide_offsets: false,
            wide,
        };
        placement.first_windows();
        placement.units = placement.units(workload);
        placement.cover(workload);
        placement.restart_streams();
        placement
    }

    fn first_windows(&mut self) {
        let Some(strided) = &mut self.strided else { return };
        strided.restart();
        for file in &mut self.files {
            file.window = strided.first(file.length);
        }
    }

    /// Random offsets are multiples of `blockalign` or the smallest size; with a map all directions share one unit.
    fn units(&self, workload: &Workload) -> PerDirection<u64> {
        let smallest = |direction| u64::from(self.sizes[self.sized_as(direction, true)].min());
        if workload.covers_each_block_once() {
            let drawn = workload.directions().filter(|direction| !self.writes_follow || *direction == Direction::Trim);
            return PerDirection::all(drawn.map(smallest).min().unwrap_or(1));
        }
        // Under bs_is_seq_rand too, as in fio.
        let own = |direction| u64::from(self.sizes[direction].min());
        per_direction(|direction| workload.pattern.block_align.map_or(own(direction), |align| align[direction]))
    }

    /// Gives each file what keeps its random blocks apart.
    fn cover(&mut self, workload: &Workload) {
        let pattern = &workload.pattern;
        let unit = *self.units.iter().map(|(_, unit)| unit).min().unwrap_or(&1);
        let blocks_max = workload.files.iter().map(|file| file.length / unit).max().unwrap_or(0);
        self.wide_offsets = workload.wide_offsets(blocks_max);
        if !pattern.access.random {
            return;
        }
        let seed = self.seeds.of(Slot::Offset);
        for (number, (file, range)) in (0_u64..).zip(self.files.iter_mut().zip(&workload.files)) {
            let blocks = file.window.length() / unit;
            if blocks == 0 {
                continue;
            }
            file.ranks = Ranks::new(&pattern.distribution, blocks, &range.name, &self.seeds);
            if workload.covers_each_block_once() {
                file.cover = match pattern.generator {
                    Some(RandomGenerator::Lfsr) => Cover::Lfsr(Lfsr::new(blocks, seed)),
                    _ if workload.needs_map() => Cover::Map(BlockMap::new(blocks)),
                    _ => Cover::Permutation(Permutation::new(blocks, permutation_seed(seed, number))),
                };
            }
        }
    }

    fn restart_streams(&mut self) {
        self.offsets = Stream::new(self.seeds.of(Slot::Offset), self.wide_offsets);
        self.order = PerDirection::all(Stream::new(self.seeds.of(Slot::Order), self.wide));
    }

    /// All files start over; `repeats`: with the random sequence of the first time.
    pub(crate) fn start_over(&mut self, repeats: bool) {
        if let Some(sequence) = self.sequence.as_mut().filter(|_| self.files.iter().any(|file| file.done)) {
            // It came to the end of a file; where bytes end a pass, it goes on.
            sequence.restart();
        }
        self.first_windows();
        for file in &mut self.files {
            file.rewind();
            file.done = false;
            file.cover.restart(repeats);
            if let Some(ranks) = file.ranks.as_mut().filter(|_| repeats) {
                ranks.restart();
            }
        }
        if repeats {
            self.restart_streams();
            Direction::ALL.iter().for_each(|&direction| self.sizes[direction].restart());
            if let Some(zones) = &mut self.zones {
                zones.restart();
            }
        }
    }

    /// One file starts over by itself, as often as it is finished; false: nothing of it was used, and nothing will be.
    pub(crate) fn serve_again(&mut self, file: usize) -> bool {
        let file = &mut self.files[file];
        let used = file.position.iter().any(|(_, &position)| position > 0);
        file.rewind();
        file.cover.restart(false);
        used
    }

    /// `trimwrite`: a write follows each trim, and a trim comes next when both have begun at the same place.
    pub(crate) fn next_of_pair(&self, file: usize) -> Direction {
        let file = &self.files[file];
        let even = !file.trimmed && file.last_start.trim == file.last_start.write;
        if even { Direction::Trim } else { Direction::Write }
    }

    /// Where the next request of this direction goes in this file; `None` when nothing fits any more.
    pub(crate) fn place(&mut self, file: usize, direction: Direction) -> Option<Spot> {
        if self.writes_follow && direction == Direction::Write {
            return Some(self.follow(file));
        }
        self.move_window(file, direction);
        let found = self.find(file, direction)?;
        let sizes = &mut self.sizes[sized_as(self.sizes_by_sequence, direction, found.random)];
        let file = &mut self.files[file];
        let remaining = file.length.checked_sub(found.offset)?;
        // In a window the map ends with it.
        let remaining = if found.random { remaining.min(file.window.end - found.offset) } else { remaining };
        let mut length = match (&mut file.cover, sizes.draw(remaining)) {
            (Cover::Map(map), drawn) if found.random => {
                // The free run may be shorter than the size, and so may be the rest of the range.
                let length = drawn.map_or(remaining, u64::from);
                let unit = self.units[direction];
                let block = (found.offset - file.window.start) / unit;
                let end = block + map.mark(block, length.div_ceil(unit));
                // Past the last whole block the rest of the range is free for the last request.
                let run = if end == file.window.length() / unit { remaining } else { (end - block) * unit };
                length.min(run) as u32
            }
            (_, drawn) => drawn?,
        };
        length = length.min(remaining.min(u64::from(u32::MAX)) as u32);
        file.last_start[direction] = found.offset;
        file.position[direction] = found.offset + u64::from(length);
        file.trimmed = direction == Direction::Trim;
        if let Some(strided) = &mut self.strided {
            strided.count(length);
        }
        Some(Spot { offset: file.start + found.offset, length, wrapped: found.wrapped })
    }

    /// `zonemode=strided`: the window moves on or begins anew when that is due.
    fn move_window(&mut self, file: usize, direction: Direction) {
        let smallest = u64::from(self.sizes[self.sized_as(direction, self.random)].min());
        let Some(strided) = &mut self.strided else { return };
        let file = &mut self.files[file];
        if let Some(window) = strided.due(file.window, file.length, smallest) {
            file.window = window;
            file.rewind();
            file.cover.restart(false);
        } else if file.position[direction] >= file.window.end {
            file.position[direction] = file.window.start;
        }
    }

    /// The place of the last trim, for its write.
    fn follow(&mut self, file: usize) -> Spot {
        let file = &mut self.files[file];
        (file.last_start.write, file.position.write) = (file.last_start.trim, file.position.trim);
        file.trimmed = false;
        let length = (file.position.write - file.last_start.write) as u32;
        if let Some(strided) = &mut self.strided {
            strided.count(length);
        }
        Spot { offset: file.start + file.last_start.write, length, wrapped: false }
    }

    fn find(&mut self, file: usize, direction: Direction) -> Option<Found> {
        self.until_draw -= 1;
        let draws = self.until_draw == 0;
        if draws {
            self.until_draw = self.per_draw;
        }
        if !self.random {
            return self.sequential(file, direction);
        }
        if draws && self.is_random(direction) {
            return self.at_random(file, direction);
        }
        if !draws && self.identical {
            let offset = self.files[file].last_start[direction];
            return Some(Found { offset, ..Found::default() });
        }
        // At the end of the range a random offset serves, which does not count as used.
        let instead = |found| Found { random: false, ..found };
        self.sequential(file, direction).or_else(|| self.at_random(file, direction).map(instead))
    }

    fn is_random(&mut self, direction: Direction) -> bool {
        let percent = self.random_percent[direction];
        percent >= 100 || self.order[direction].percent() <= percent
    }

    fn sequential(&mut self, file: usize, direction: Direction) -> Option<Found> {
        let alone = self.files.len() == 1;
        let file = &mut self.files[file];
        let mut offset = file.position[direction];
        let wrapped = self.time_based && alone && offset == file.length;
        if wrapped {
            offset = 0;
        }
        if offset >= file.length {
            return None;
        }
        if offset > file.window.start && self.skip != 0 {
            offset = match offset.checked_add_signed(self.skip) {
                Some(ahead) if ahead < file.length => ahead,
                Some(_) => 0,
                // Backwards past the start: on from the end.
                None => file.length.checked_add_signed(self.skip)?,
            };
        }
        Some(Found { offset, random: false, wrapped })
    }

    fn at_random(&mut self, file: usize, direction: Direction) -> Option<Found> {
        let found = self.draw_place(file, direction)?;
        if !self.sizes_by_sequence {
            return Some(found);
        }
        // Blocks are drawn in the direction's own size, and the size of random requests may not fit behind the last.
        let (unit, window) = (self.units[direction], self.files[file].window);
        let smallest = u64::from(self.sizes[self.sized_as(direction, true)].min());
        let last = window.start + window.length().checked_sub(smallest)? / unit * unit;
        Some(Found { offset: found.offset.min(last), ..found })
    }

    fn draw_place(&mut self, file: usize, direction: Direction) -> Option<Found> {
        let unit = self.units[direction];
        let smallest = u64::from(self.sizes[direction].min());
        let file = &mut self.files[file];
        let window = file.window;
        let blocks = match file.cover {
            Cover::None => window.length().checked_sub(smallest)? / unit + 1,
            _ => window.length() / unit,
        };
        if let Some(ranks) = &mut file.ranks {
            let offset = window.start + ranks.draw().min(blocks - 1) * unit;
            return Some(Found { offset, random: true, wrapped: false });
        }
        if let Some(sequence) = &mut self.sequence {
            let offset = sequence.draw(direction).checked_mul(unit)?.checked_add(window.start)?;
            if offset >= window.end {
                return None;
            }
            return Some(Found { offset, random: true, wrapped: false });
        }
        if let Some(zones) = &mut self.zones {
            let (start, size) = zones.draw(direction, blocks, unit);
            let offset = window.start + (start + self.offsets.below(size)) * unit;
            return Some(Found { offset, random: true, wrapped: false });
        }
        let mut wrapped = false;
        if self.strided.is_some() {
            let block = file.cover.draw_below(&mut self.offsets, blocks)?;
            return Some(Found { offset: window.start + block * unit, random: true, wrapped });
        }
        let block = match file.cover.draw(&mut self.offsets, blocks) {
            None if self.repeats_blocks => {
                wrapped = true;
                file.rewind();
                file.cover.restart(false);
                file.cover.draw(&mut self.offsets, blocks)
            }
            block => block,
        };
        Some(Found { offset: block? * unit, random: true, wrapped })
    }

    fn sized_as(&self, direction: Direction, random: bool) -> Direction {
        sized_as(self.sizes_by_sequence, direction, random)
    }
}

/// `bs_is_seq_rand`: the sizes of reads serve sequential requests, those of writes random ones.
fn sized_as(by_sequence: bool, direction: Direction, random: bool) -> Direction {
    match (by_sequence, random) {
        (false, _) => direction,
        (true, false) => Direction::Read,
        (true, true) => Direction::Write,
    }
}

/// The key of one file's permutation.
pub(crate) fn permutation_seed(seed: u64, file: u64) -> u64 {
    seed ^ file.wrapping_mul(0xd134_2543_de82_ef95)
}

fn per_direction<T>(value: impl Fn(Direction) -> T) -> PerDirection<T> {
    PerDirection { read: value(Direction::Read), write: value(Direction::Write), trim: value(Direction::Trim) }
}
