//! Finds the offset and the length of a request of the general case within its file.

mod turns;

use fsdyno_job::{Direction, PerDirection, RandomGenerator};

use crate::block_map::BlockMap;
use crate::device_zones::DeviceZones;
use crate::op::{Op, OpKind};
use crate::random::{Seeds, Slot, Stream};
use crate::random_map::RepeatGuard;
use crate::sizes::Sizes;
use crate::spread::{Ranks, Sequence, Zones};
use crate::strided::{Strided, StridedWindow};
use crate::workload::{DirectionMix, FileRange, Workload, sized_as};

/// One file, and how far its requests have come.
#[derive(Clone, Debug)]
pub(crate) struct File {
    start: u64,
    length: u64,
    /// The part of the range that requests go to.
    window: StridedWindow,
    /// Where the last request of each direction ended, then where it began; relative to the range.
    position: PerDirection<u64>,
    last_start: PerDirection<u64>,
    /// Bytes of the requests since the file started over.
    passed: u64,
    /// One cover for each map; or a single one that allows repetitions. Empty for files that are read in sequence.
    covers: Box<[RepeatGuard]>,
    ranks: Option<Ranks>,
    /// `trimwrite`: whether the last request was a trim, so that its write comes next.
    pub(crate) trimmed: bool,
    /// Whether no further request fits until the files start over.
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
            covers: Box::default(),
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

/// The place of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
    /// Length, bytes.
    pub(crate) length: u64,
    /// Whether a range was used up before this request and starts over.
    pub(crate) wrapped: bool,
}

/// Chooses offsets and sizes, with every feature of the language.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) files: Vec<File>,
    random: bool,
    /// `randtrimwrite`: a write goes to the place of the trim before it.
    writes_follow: bool,
    time_based: bool,
    /// Whether the random blocks of a file begin again when all have come.
    repeats_blocks: bool,
    sizes_by_sequence: bool,
    identical: bool,
    /// Bytes skipped after each sequential request; negative: backwards.
    skip: i64,
    /// Number of requests per random draw; then the number until the next draw.
    per_draw: u64,
    until_draw: u64,
    random_percent: PerDirection<u32>,
    sizes: PerDirection<Sizes>,
    /// The smallest room for a request: the largest of the smallest sizes.
    room_min: u64,
    /// Random offsets are multiples of these units.
    units: PerDirection<u64>,
    /// Index of the cover that each direction uses.
    cover_of: PerDirection<usize>,
    /// Whether the number of bytes decides that all of a file has come, because its maps are not full at that time,
    /// or were full earlier.
    ends_by_bytes: bool,
    fills_gaps: bool,
    /// The unit of uneven spreads, which is the same for all directions.
    unit_min: u64,
    /// Whether random blocks follow fio's order, with fio's sizes.
    follows_fio: bool,
    offsets: Stream,
    order: PerDirection<Stream>,
    zones: Option<Zones>,
    sequence: Option<Sequence>,
    strided: Option<Strided>,
    /// `zonemode=zbd`: the zones of each file; otherwise none.
    pub(crate) device_zones: Box<[DeviceZones]>,
    seeds: Seeds,
    wide_offsets: bool,
}

/// An offset within the range, and how it was chosen.
#[derive(Clone, Copy, Debug, Default)]
struct ChosenOffset {
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
            device_zones: turns::device_zones(workload),
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
        // The rule is the same under bs_is_seq_rand, as in fio.
        let own = |direction| self.sizes[direction].min();
        per_direction(|direction| workload.pattern.block_align.map_or(own(direction), |align| align[direction]))
    }

    /// Gives each file the covers of its random blocks.
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
            let cover = |&map: &Direction| RepeatGuard::of(workload, map, window / self.units[map], number, seed);
            file.covers = match maps.is_empty() {
                true => Box::new([RepeatGuard::None]),
                false => maps.iter().map(cover).collect(),
            };
        }
    }

    fn restart_streams(&mut self) {
        self.offsets = Stream::new(self.seeds.of(Slot::Offset), self.wide_offsets);
        // fio draws these with 32 bits whatever the generator is.
        self.order = PerDirection::all(Stream::new(self.seeds.of(Slot::OffsetOrder), false));
    }

    /// Starts all files over; with `repeats` the random sequence is the same as the first time.
    pub(crate) fn start_over(&mut self, repeats: bool) {
        if let Some(sequence) = self.sequence.as_mut().filter(|_| self.files.iter().any(|file| file.done)) {
            // The sequence has reached the end of a file. If bytes end a pass, it continues instead.
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

    /// Starts one finished file over. Returns false if none of it was used, so that no request fits.
    pub(crate) fn serve_again(&mut self, file: usize) -> bool {
        let file = &mut self.files[file];
        let used = file.position.iter().any(|(_, &position)| position > 0);
        file.rewind();
        file.restart_covers(false);
        used
    }

    /// `trimwrite`: a write follows each trim; a trim comes next if the last trim and the last write began at the
    /// same place.
    pub(crate) fn next_of_pair(&self, file: usize) -> Direction {
        let file = &self.files[file];
        let even = !file.trimmed && file.last_start.trim == file.last_start.write;
        if even { Direction::Trim } else { Direction::Write }
    }

    /// Whether zones of a device hold nothing that a request of this direction could read.
    pub(crate) fn lacks_data(&mut self, file: usize, direction: Direction) -> bool {
        let least = self.sizes[direction].min();
        let zones = self.device_zones.get_mut(file).filter(|_| direction == Direction::Read);
        zones.is_some_and(|zones| !zones.with_shared(|zones| zones.can_be_read(least)))
    }

    /// The place of the next request of this direction in this file; `None` if no request fits any more.
    pub(crate) fn place(&mut self, file: usize, direction: Direction) -> Option<Spot> {
        if self.writes_follow && direction == Direction::Write {
            return Some(self.follow(file));
        }
        self.move_window(file, direction);
        let found = self.find(file, direction)?;
        let zones = self.device_zones.get_mut(file);
        let sizes = &mut self.sizes[sized_as(self.sizes_by_sequence, direction, found.random)];
        let file = &mut self.files[file];
        let remaining = file.length.checked_sub(found.offset)?;
        // In a window the map ends at the end of the window.
        let remaining = if found.random { remaining.min(file.window.end - found.offset) } else { remaining };
        let mut length = sizes.draw(remaining)?;
        if let Some(zones) = zones {
            let least = sizes.min();
            if zones.are_shared() && direction != Direction::Read {
                return Some(Spot { offset: file.start + found.offset, length, wrapped: found.wrapped });
            }
            let placed = match direction {
                Direction::Read => zones.with_shared(|zones| zones.read(found.offset, length, least, found.random)),
                Direction::Write => zones.write(found.offset, length, least),
                Direction::Trim => zones.trim(found.offset, found.random),
            }?;
            (file.last_start[direction], file.position[direction]) = (placed.offset, placed.next);
            return Some(Spot { offset: file.start + placed.offset, length: placed.length, wrapped: found.wrapped });
        }
        if found.random
            && let RepeatGuard::Map(map) = &mut file.covers[self.cover_of[direction]]
        {
            let unit = self.units[direction];
            let block = (found.offset - file.window.start) / unit;
            let cut = if self.follows_fio { None } else { Some(&*sizes) };
            length = mark(map, block, length, unit, remaining, file.window.length(), cut);
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

    /// Whether [`Placement::run`] can place requests of this direction.
    pub(crate) fn runs(&self, direction: Direction) -> bool {
        let [file] = self.files.as_slice() else { return false };
        let whole = file.ranks.is_none() && self.sequence.is_none() && self.zones.is_none() && self.strided.is_none();
        let one_way = !self.sizes_by_sequence && !self.writes_follow && self.skip == 0 && self.per_draw == 1;
        let narrow = matches!(self.offsets, Stream::Narrow(_));
        let known = matches!(file.covers.get(self.cover_of[direction]), Some(RepeatGuard::Map(_) | RepeatGuard::None));
        whole && one_way && narrow && known && self.random && self.random_percent[direction] >= 100
    }

    /// Places the next requests of this kind in the only file, as [`Placement::place`] does one of them, until they have
    /// `bytes` bytes. Ends before a request for which other rules count: nothing of it is drawn. Returns the number of
    /// requests and their bytes.
    pub(crate) fn run(&mut self, direction: Direction, kind: OpKind, ops: &mut [Op], bytes: u64) -> (usize, u64) {
        let unit = self.units[direction];
        let Placement { files, sizes, cover_of, offsets, device_zones, .. } = self;
        if !device_zones.is_empty() {
            return (0, 0);
        }
        let ([file], Stream::Narrow(stream)) = (files.as_mut_slice(), offsets) else { return (0, 0) };
        let File { start, length: mapped, done: false, .. } = *file else { return (0, 0) };
        let (sizes, cover) = (&mut sizes[direction], &mut file.covers[cover_of[direction]]);
        // Without a map, the last request may begin where only the smallest size fits.
        let blocks = match cover {
            RepeatGuard::None if mapped >= sizes.min() => (mapped - sizes.min()) / unit + 1,
            _ => mapped / unit,
        };
        let bytes = if self.ends_by_bytes { bytes.min(mapped.saturating_sub(file.passed)) } else { bytes };
        // Every size fits behind blocks below this one.
        let roomy = mapped.checked_sub(sizes.max()).map_or(0, |last| last / unit + 1);
        let (mut count, mut moved, mut last) = (0, 0, 0..0);
        for op in ops {
            if moved >= bytes {
                break;
            }
            let before = *stream;
            let drawn = stream.below(blocks);
            let is_free = match cover {
                RepeatGuard::Map(map) => map.is_free(drawn),
                _ => true,
            };
            let cuts = !self.follows_fio;
            let placed = if drawn < roomy && is_free {
                let length = sizes.draw_any();
                let length = match cover {
                    RepeatGuard::Map(map) => {
                        let cut = if cuts { Some(&*sizes) } else { None };
                        mark(map, drawn, length, unit, mapped - drawn * unit, mapped, cut)
                    }
                    _ => length,
                };
                Some((drawn, length))
            } else {
                place_elsewhere(cover, sizes, drawn, unit, mapped, cuts)
            };
            let Some((block, length)) = placed else {
                *stream = before;
                break;
            };
            last = block * unit..block * unit + length;
            op.aim(start + last.start, length, kind);
            op.priority = 0;
            (count, moved) = (count + 1, moved + length);
        }
        if count > 0 {
            (file.last_start[direction], file.position[direction]) = (last.start, last.end);
            file.passed += moved;
            file.trimmed = direction == Direction::Trim;
        }
        (count, moved)
    }

    /// `zonemode=strided`: moves or restarts the window when that is due.
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

    fn find(&mut self, file: usize, direction: Direction) -> Option<ChosenOffset> {
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
        // A request without a draw has a sequential size, which may be larger than the size of the drawn request.
        let fitting = |offset: u64, unit: u64| if offset <= last { offset } else { last - last % unit };
        if !draws && self.identical {
            let offset = fitting(self.files[file].last_start[direction], self.units[direction]);
            return Some(ChosenOffset { offset, ..ChosenOffset::default() });
        }
        let next = self.sequential(file, direction).filter(|found| found.offset <= last);
        next.or_else(|| {
            // If no request fits before the end of the range, a random offset is used; its block does not count as
            // used.
            let found = self.at_random(file, direction)?;
            Some(ChosenOffset { offset: fitting(found.offset, self.units[direction]), random: false, ..found })
        })
    }

    fn is_random(&mut self, direction: Direction) -> bool {
        let percent = self.random_percent[direction];
        percent >= 100 || self.order[direction].percent() <= percent
    }

    fn sequential(&mut self, file: usize, direction: Direction) -> Option<ChosenOffset> {
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
                // Backwards beyond the start: continue from the end.
                None => file.length.checked_add_signed(self.skip)?,
            };
        }
        Some(ChosenOffset { offset, random: false, wrapped })
    }

    fn at_random(&mut self, file: usize, direction: Direction) -> Option<ChosenOffset> {
        let found = self.draw_place(file, direction)?;
        if !self.sizes_by_sequence {
            return Some(found);
        }
        // Blocks are counted in the direction's own size; a random request of another size may not fit after the last
        // block.
        let (unit, window) = (self.units[direction], self.files[file].window);
        let smallest = self.sizes[self.sized_as(direction, true)].min();
        let last = window.start + window.length().checked_sub(smallest)? / unit * unit;
        Some(ChosenOffset { offset: found.offset.min(last), ..found })
    }

    fn draw_place(&mut self, file: usize, direction: Direction) -> Option<ChosenOffset> {
        let unit = self.units[direction];
        let smallest = self.sizes[direction].min();
        let file = &mut self.files[file];
        let (window, cover) = (file.window, &mut file.covers[self.cover_of[direction]]);
        let blocks = match cover {
            RepeatGuard::None => window.length().checked_sub(smallest)? / unit + 1,
            _ => window.length() / unit,
        };
        if let Some(ranks) = &mut file.ranks {
            let block = ranks.draw() * self.unit_min / unit;
            let offset = window.start + block.min(blocks - 1) * unit;
            return Some(ChosenOffset { offset, random: true, wrapped: false });
        }
        if let Some(sequence) = &mut self.sequence {
            let offset = sequence.draw(direction).checked_mul(unit)?.checked_add(window.start)?;
            if offset >= window.end {
                return None;
            }
            return Some(ChosenOffset { offset, random: true, wrapped: false });
        }
        if let Some(zones) = &mut self.zones {
            let (start, size) = zones.draw(direction, blocks, unit);
            let offset = window.start + (start + self.offsets.below(size)) * unit;
            return Some(ChosenOffset { offset, random: true, wrapped: false });
        }
        let mut wrapped = false;
        if self.strided.is_some() {
            let block = cover.draw_below(&mut self.offsets, blocks)?;
            return Some(ChosenOffset { offset: window.start + block * unit, random: true, wrapped });
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
        Some(ChosenOffset { offset: block? * unit, random: true, wrapped })
    }

    fn sized_as(&self, direction: Direction, random: bool) -> Direction {
        sized_as(self.sizes_by_sequence, direction, random)
    }
}

/// Places a request where the drawn block is used, or where not every size fits; `None`: none fits.
#[inline(never)]
fn place_elsewhere(
    cover: &mut RepeatGuard,
    sizes: &mut Sizes,
    drawn: u64,
    unit: u64,
    mapped: u64,
    cuts: bool,
) -> Option<(u64, u64)> {
    let block = if let RepeatGuard::Map(map) = cover { map.free_from(drawn)? } else { drawn };
    let remaining = mapped - block * unit;
    let length = sizes.draw(remaining)?;
    let RepeatGuard::Map(map) = cover else { return Some((block, length)) };
    let cut = if cuts { Some(&*sizes) } else { None };
    Some((block, mark_some(map, block, length, unit, remaining, mapped, cut)))
}

/// Marks the blocks of a request as used. Returns its length: if its blocks are not all free, the largest of `sizes` that
/// fits, or all that is free. `remaining`: bytes up to the end of the mapped range, which has `mapped` bytes.
#[inline(always)]
fn mark(
    map: &mut BlockMap,
    block: u64,
    length: u64,
    unit: u64,
    remaining: u64,
    mapped: u64,
    sizes: Option<&Sizes>,
) -> u64 {
    // Divisions are slow, and most requests have the smallest size.
    let wanted = if length <= unit { 1 } else { length.div_ceil(unit) };
    if map.take(block, wanted) { length } else { mark_some(map, block, length, unit, remaining, mapped, sizes) }
}

/// The same, where blocks are not all free or lie in several words of the map.
#[inline(never)]
fn mark_some(
    map: &mut BlockMap,
    block: u64,
    length: u64,
    unit: u64,
    remaining: u64,
    mapped: u64,
    sizes: Option<&Sizes>,
) -> u64 {
    let free = map.free_run(block, length.div_ceil(unit));
    // After the last whole block, the rest of the range is free for the last request.
    let room = if block + free == mapped / unit { remaining } else { free * unit };
    let length = if length > room { sizes.map_or(room, |sizes| sizes.at_most(room)) } else { length };
    map.mark(block, length.div_ceil(unit));
    length
}

fn per_direction<T>(value: impl Fn(Direction) -> T) -> PerDirection<T> {
    PerDirection { read: value(Direction::Read), write: value(Direction::Write), trim: value(Direction::Trim) }
}
