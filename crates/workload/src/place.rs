//! Where a request of the general case goes within its file.

use fsdyno_job::{Direction, PerDirection, RandomGenerator};

use crate::random::{Seeds, Slot, Stream};
use crate::random_map::Cover;
use crate::sizes::Sizes;
use crate::spread::{Ranks, Sequence, Zones};
use crate::strided::{Strided, StridedWindow};
use crate::workload::{DirectionMix, FileRange, Workload, sized_as};

/// One file and how far its requests are.
#[derive(Clone, Debug)]
pub(crate) struct File {
    start: u64,
    length: u64,
    /// Where requests go within the range.
    window: StridedWindow,
    /// Where the last request of each direction ended, and where it began; relative to the range.
    position: PerDirection<u64>,
    last_start: PerDirection<u64>,
    /// Bytes of the requests since it started over.
    passed: u64,
    /// One for each map, or one that keeps nothing apart.
    covers: Box<[Cover]>,
    ranks: Option<Ranks>,
    /// `trimwrite`: the last request was a trim, whose write comes next.
    pub(crate) trimmed: bool,
    /// No further request fits, until the files start over.
    pub(crate) done: bool,
}

impl File {
    fn new(range: &FileRange) -> Self {
        File {
            start: range.start,
            length: range.length,
            window: StridedWindow::whole(range.length),
            position: PerDirection::default(),
            last_start: PerDirection::default(),
            passed: 0,
            covers: Box::new([Cover::None]),
            ranks: None,
            trimmed: false,
            done: false,
        }
    }

    fn rewind(&mut self) {
        self.position = PerDirection::all(self.window.start);
        self.last_start = self.position;
        self.passed = 0;
        self.trimmed = false;
    }

    fn restart_covers(&mut self, repeats: bool) {
        self.covers.iter_mut().for_each(|cover| cover.restart(repeats));
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u64,
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
    /// No request is shorter than the largest of the smallest sizes.
    room_min: u64,
    /// Random offsets are multiples of this.
    units: PerDirection<u64>,
    /// Which of a file's covers keeps random blocks apart.
    cover_of: PerDirection<usize>,
    /// Bytes tell that all of a file has come: the maps are not full then, or were full before.
    ends_by_bytes: bool,
    fills_gaps: bool,
    /// Uneven spreads have one unit for all directions.
    unit_min: u64,
    /// fio's order of random blocks, with its sizes.
    follows_fio: bool,
    offsets: Stream,
    order: PerDirection<Stream>,
    zones: Option<Zones>,
    sequence: Option<Sequence>,
    strided: Option<Strided>,
    seeds: Seeds,
    wide_offsets: bool,
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
            room_min: workload.directions_drawn().map(|direction| sizes[direction].min()).max().unwrap_or(1),
            units: PerDirection::default(),
            cover_of: PerDirection::default(),
            ends_by_bytes: workload.has_map_per_direction() || workload.fills_gaps(),
            fills_gaps: workload.fills_gaps(),
            unit_min: 1,
            follows_fio: pattern.generator.is_some(),
            sizes,
            offsets: Stream::new(0, false),
            order: PerDirection::all(Stream::new(0, false)),
            zones: Zones::new(&pattern.distribution, &seeds),
            sequence: Sequence::new(&pattern.distribution),
            strided: pattern.strided.map(Strided::new),
            seeds,
            wide_offsets: false,
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

    /// Random offsets are multiples of `blockalign` or the smallest size.
    fn units(&self, workload: &Workload) -> PerDirection<u64> {
        if workload.covers_each_block_once() {
            return per_direction(|direction| workload.random_sizes(direction).min());
        }
        // Under bs_is_seq_rand too, as in fio.
        let own = |direction| self.sizes[direction].min();
        per_direction(|direction| workload.pattern.block_align.map_or(own(direction), |align| align[direction]))
    }

    /// Gives each file what keeps its random blocks apart.
    fn cover(&mut self, workload: &Workload) {
        let pattern = &workload.pattern;
        self.unit_min = workload.directions().map(|direction| self.units[direction]).min().unwrap_or(1);
        let blocks_max = workload.files.iter().map(|file| file.length / self.unit_min).max().unwrap_or(0);
        self.wide_offsets = workload.wide_offsets(blocks_max);
        if !pattern.access.random {
            return;
        }
        let maps = workload.mapped_directions();
        let map_of = |direction| maps.iter().position(|&map| workload.shares_map(map, direction)).unwrap_or(0);
        self.cover_of = per_direction(map_of);
        let seed = self.seeds.of(Slot::Offset);
        for (number, (file, range)) in (0_u64..).zip(self.files.iter_mut().zip(&workload.files)) {
            let window = file.window.length();
            if window >= self.unit_min {
                file.ranks = Ranks::new(&pattern.distribution, window / self.unit_min, &range.name, &self.seeds);
            }
            if !maps.is_empty() {
                let cover = |&map: &Direction| Cover::of(workload, map, window / self.units[map], number, seed);
                file.covers = maps.iter().map(cover).collect();
            }
        }
    }

    fn restart_streams(&mut self) {
        self.offsets = Stream::new(self.seeds.of(Slot::Offset), self.wide_offsets);
        // fio draws these from 32 bits whatever the generator.
        self.order = PerDirection::all(Stream::new(self.seeds.of(Slot::OffsetOrder), false));
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
            file.restart_covers(repeats);
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
        file.restart_covers(false);
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
        let mut length = sizes.draw(remaining)?;
        if found.random
            && let Cover::Map(map) = &mut file.covers[self.cover_of[direction]]
        {
            let unit = self.units[direction];
            let block = (found.offset - file.window.start) / unit;
            let run = map.free_run(block, length.div_ceil(unit));
            // Past the last whole block the rest of the range is free for the last request.
            let room = if block + run == file.window.length() / unit { remaining } else { run * unit };
            if length > room {
                length = if self.follows_fio { room } else { sizes.at_most(room) };
            }
            map.mark(block, length.div_ceil(unit));
        }
        file.last_start[direction] = found.offset;
        file.position[direction] = found.offset + length;
        file.passed += length;
        file.trimmed = direction == Direction::Trim;
        if let Some(strided) = &mut self.strided {
            strided.count(length);
        }
        Some(Spot { offset: file.start + found.offset, length, wrapped: found.wrapped })
    }

    /// `zonemode=strided`: the window moves on or begins anew when that is due.
    fn move_window(&mut self, file: usize, direction: Direction) {
        let Some(strided) = &mut self.strided else { return };
        let file = &mut self.files[file];
        if let Some(window) = strided.due(file.window, file.length, self.room_min) {
            file.window = window;
            file.rewind();
            file.restart_covers(false);
        } else if file.position[direction] >= file.window.end {
            file.position[direction] = file.window.start;
        }
    }

    /// The place of the last trim, for its write.
    fn follow(&mut self, file: usize) -> Spot {
        let file = &mut self.files[file];
        (file.last_start.write, file.position.write) = (file.last_start.trim, file.position.trim);
        file.trimmed = false;
        let length = file.position.write - file.last_start.write;
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
        let last = self.files[file].length.checked_sub(self.sizes[self.sized_as(direction, false)].min())?;
        // A request that does not draw has the size of a sequential one, which may be larger than that of the drawn one.
        let fitting = |offset: u64, unit: u64| if offset <= last { offset } else { last - last % unit };
        if !draws && self.identical {
            let offset = fitting(self.files[file].last_start[direction], self.units[direction]);
            return Some(Found { offset, ..Found::default() });
        }
        let next = self.sequential(file, direction).filter(|found| found.offset <= last);
        next.or_else(|| {
            // Where no request fits any more before the end of the range a random offset serves, which does not count as
            // used.
            let found = self.at_random(file, direction)?;
            Some(Found { offset: fitting(found.offset, self.units[direction]), random: false, ..found })
        })
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
        let smallest = self.sizes[self.sized_as(direction, true)].min();
        let last = window.start + window.length().checked_sub(smallest)? / unit * unit;
        Some(Found { offset: found.offset.min(last), ..found })
    }

    fn draw_place(&mut self, file: usize, direction: Direction) -> Option<Found> {
        let unit = self.units[direction];
        let smallest = self.sizes[direction].min();
        let file = &mut self.files[file];
        let (window, cover) = (file.window, &mut file.covers[self.cover_of[direction]]);
        let blocks = match cover {
            Cover::None => window.length().checked_sub(smallest)? / unit + 1,
            _ => window.length() / unit,
        };
        if let Some(ranks) = &mut file.ranks {
            let block = ranks.draw() * self.unit_min / unit;
            let offset = window.start + block.min(blocks - 1) * unit;
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
            let block = cover.draw_below(&mut self.offsets, blocks)?;
            return Some(Found { offset: window.start + block * unit, random: true, wrapped });
        }
        let is_over = self.ends_by_bytes && file.passed >= file.length;
        let mut block = if is_over { None } else { cover.draw(&mut self.offsets, blocks) };
        if block.is_none() && !is_over && self.fills_gaps {
            cover.restart(false);
            block = cover.draw(&mut self.offsets, blocks);
        }
        if block.is_none() && self.repeats_blocks {
            wrapped = true;
            file.rewind();
            file.restart_covers(false);
            block = file.covers[self.cover_of[direction]].draw(&mut self.offsets, blocks);
        }
        Some(Found { offset: block? * unit, random: true, wrapped })
    }

    fn sized_as(&self, direction: Direction, random: bool) -> Direction {
        sized_as(self.sizes_by_sequence, direction, random)
    }
}

fn per_direction<T>(value: impl Fn(Direction) -> T) -> PerDirection<T> {
    PerDirection { read: value(Direction::Read), write: value(Direction::Write), trim: value(Direction::Trim) }
}
