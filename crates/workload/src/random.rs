//! The random streams: combined Tausworthe generators, and the seed of each stream.
//!
//! Every stream has its own seed, so that an additional draw in one of them (a size, a direction) does not change the
//! others. Seeds and generators give fio 3.42's sequences.

mod lanes;

pub(crate) use lanes::Lanes;
pub use lanes::{LANES, LaneRegisters, LaneSums, SUMMED_DRAWS, SumDraws, Summing, sum_draws};

/// The streams of one worker, by the index of their seed in the worker's seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// Block sizes of reads; the seeds of writes and trims follow.
    Size = 0,
    /// Choice between read and write.
    Mix = 4,
    /// Choice of the file.
    File = 5,
    /// Choice of the block.
    Offset = 6,
    /// Sizes of files.
    FileSize = 7,
    /// Choice of the written blocks that are trimmed.
    Marks = 8,
    /// Choice between random and sequential: one stream per direction, all with the same seed.
    OffsetOrder = 10,
    /// Gaps between arrivals.
    Arrival = 15,
    /// Choice of the written blocks that repeat others.
    Dedupe = 14,
    /// Choice of the zone.
    Zone = 16,
}

/// The seeds of one worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeds([u64; 24]);

impl Seeds {
    /// `seed` is that of the whole run; `thread_number` counts workers from 1.
    pub(crate) fn new(seed: u64, thread_number: u32) -> Self {
        const STEP: u64 = 0x9e37_0001;
        let mut state = (0..4).fold(seed, |state, _| state.wrapping_mul(STEP));
        let mut seeds = [0; 24];
        for (slot, place) in (0..).zip(seeds.iter_mut()) {
            *place = state.wrapping_mul(u64::from(thread_number)).wrapping_add(slot);
            state = state.wrapping_mul(STEP);
        }
        Seeds(seeds)
    }

    pub(crate) fn of(&self, slot: Slot) -> u64 {
        self.0[slot as usize]
    }

    /// The seed of the sizes of this direction.
    pub(crate) fn of_sizes(&self, direction: fsdyno_job::Direction) -> u64 {
        self.0[Slot::Size as usize + direction as usize]
    }
}

/// The seeds of one worker, in fio's order. `seed` is that of the whole run; `thread_number` counts workers from 1.
pub fn random_seeds(seed: u64, thread_number: u32) -> [u64; 24] {
    Seeds::new(seed, thread_number).0
}

/// The 32-bit generator: three shift registers, period 2^88 (L'Ecuyer 1996).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tausworthe([u32; 3]);

impl Tausworthe {
    /// Only the low 32 bits of the seed are used.
    pub(crate) fn new(seed: u64) -> Self {
        let seed = seed as u32;
        let mut state = [0; 3];
        let mut last: u32 = 53;
        for (register, least) in state.iter_mut().zip([1, 7, 15]) {
            let value = last.wrapping_mul(69_069) ^ seed;
            // A register below its smallest valid value would stay zero for ever.
            *register = if value < least { value + least } else { value };
            last = *register;
        }
        let mut stream = Tausworthe(state);
        for _ in 0..6 {
            stream.draw();
        }
        stream
    }

    /// The next 32 bits.
    #[inline]
    pub(crate) fn draw(&mut self) -> u32 {
        let [a, b, c] = self.0;
        let a = ((a & !1) << 12) ^ (((a << 13) ^ a) >> 19);
        let b = ((b & !7) << 4) ^ (((b << 2) ^ b) >> 25);
        let c = ((c & !15) << 17) ^ (((c << 3) ^ c) >> 11);
        self.0 = [a, b, c];
        a ^ b ^ c
    }

    /// A uniform draw from 0..limit, rounded as a double, as in fio.
    #[inline]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        scaled(self.draw(), limit)
    }

    /// A uniform draw from 1..=100.
    pub(crate) fn percent(&mut self) -> u32 {
        1 + self.below(100) as u32
    }
}

/// A draw as a number of 0..limit.
#[inline]
pub(crate) fn scaled(draw: u32, limit: u64) -> u64 {
    let draw = u64::from(draw);
    // A double keeps 53 bits of the product, so that it rounds up to the next integer from just below it. A
    // double is computed only in that case and where the product has more than 64 bits.
    let product = limit.wrapping_mul(draw);
    if limit <= 1 << 32 && (product as u32) < u32::MAX - (1 << 11) {
        return product >> 32;
    }
    below_as_double(limit, draw)
}

/// Whether a double holds every product of 32 bits and `limit`, so that [`Tausworthe::below`] is plain integer
/// arithmetic. This is true for files of a round size, and is checked once per block of requests.
pub(crate) fn never_rounds_up(limit: u64) -> bool {
    limit > 0 && limit <= 1 << 32 && limit >> limit.trailing_zeros() <= 1 << 21
}

#[cold]
fn below_as_double(limit: u64, draw: u64) -> u64 {
    (limit as f64 * (draw as f64 / 4_294_967_296.0)) as u64
}

/// The 64-bit generator: five shift registers, period 2^258 (L'Ecuyer 1999).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tausworthe64([u64; 5]);

impl Tausworthe64 {
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = [0; 5];
        let mut last: u64 = 53;
        for (register, least) in state.iter_mut().zip([1, 7, 15, 33, 49]) {
            let value = last.wrapping_mul(6_906_969_069) ^ seed;
            *register = if value < least { value + least } else { value };
            last = *register;
        }
        let mut stream = Tausworthe64(state);
        for _ in 0..6 {
            stream.draw();
        }
        stream
    }

    /// The next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        fn step(value: u64, kept_below: u32, left: u32, mix: u32, down: u32) -> u64 {
            ((value & (u64::MAX << kept_below)) << left) ^ (((value << mix) ^ value) >> down)
        }
        let [a, b, c, d, e] = self.0;
        self.0 = [
            step(a, 1, 10, 1, 53),
            step(b, 9, 5, 24, 50),
            step(c, 12, 29, 3, 23),
            step(d, 17, 23, 5, 24),
            step(e, 23, 8, 3, 33),
        ];
        self.0.iter().fold(0, |mixed, register| mixed ^ register)
    }
}

/// One of the two generators: `random_generator=tausworthe64` makes some streams 64 bits wide.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    /// 32 bits.
    Narrow(Tausworthe),
    /// 64 bits.
    Wide(Tausworthe64),
}

impl Stream {
    pub(crate) fn new(seed: u64, wide: bool) -> Self {
        if wide { Stream::Wide(Tausworthe64::new(seed)) } else { Stream::Narrow(Tausworthe::new(seed)) }
    }

    /// A uniform draw from 0 to 1.
    #[inline]
    pub(crate) fn fraction(&mut self) -> f64 {
        match self {
            Stream::Narrow(stream) => f64::from(stream.draw()) / 4_294_967_296.0,
            Stream::Wide(stream) => stream.draw() as f64 / 18_446_744_073_709_551_616.0,
        }
    }

    /// A uniform draw from 0..limit; 0 if the limit is 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // A draw of 64 bits can round up to 1.0, which would be one beyond the end.
        ((limit as f64 * self.fraction()) as u64).min(limit.saturating_sub(1))
    }

    /// A uniform draw from 1..=100.
    pub(crate) fn percent(&mut self) -> u32 {
        1 + self.below(100) as u32
    }

    /// Whether a draw lies within this percentage of all numbers, rounded as in fio.
    pub(crate) fn within(&mut self, percent: u32) -> bool {
        match self {
            Stream::Narrow(stream) => stream.draw() <= u32::MAX / 100 * percent,
            Stream::Wide(stream) => stream.draw() <= u64::MAX / 100 * u64::from(percent),
        }
    }
}

/// A 32-bit hash of a file's name: Jenkins' lookup3 in fio's form, in which every block of twelve bytes except the
/// last contributes only every fourth byte.
pub(crate) fn name_hash(name: &[u8]) -> u32 {
    let start = 0x61c8_8647_u32.wrapping_add(name.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = name;
    while rest.len() > 12 {
        a = a.wrapping_add(rest[0].into());
        b = b.wrapping_add(rest[4].into());
        c = c.wrapping_add(rest[8].into());
        (a, b, c) = jenkins_mix(a, b, c);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    let word = |at: usize| u32::from_le_bytes([last[at], last[at + 1], last[at + 2], last[at + 3]]);
    jenkins_final(a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)))
}

fn jenkins_mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    (a, b, c)
}

fn jenkins_final(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    for (first, second, third) in [(14, 11, 25), (16, 4, 14)] {
        c = (c ^ b).wrapping_sub(b.rotate_left(first));
        a = (a ^ c).wrapping_sub(c.rotate_left(second));
        b = (b ^ a).wrapping_sub(a.rotate_left(third));
    }
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_give_what_a_double_gives_where_nothing_rounds_up() {
        for limit in [1, 2, 3, 1000, (1 << 21) - 1, 1 << 24, 3 << 20, 12_345 << 10, 1 << 32] {
            assert!(never_rounds_up(limit), "{limit}");
            let (mut double, mut integer) = (Tausworthe::new(limit), Tausworthe::new(limit));
            let same = |_| double.below(limit) == (u64::from(integer.draw()) * limit) >> 32;
            assert!((0..10_000).all(same), "{limit}");
        }
        assert!(!never_rounds_up(0) && !never_rounds_up((1 << 21) + 1) && !never_rounds_up((1 << 32) + 2));
    }

    #[test]
    fn integers_give_what_a_double_gives() {
        for limit in [0, 1, 3, 1000, 12_345_678, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 40) + 1] {
            let mut stream = Tausworthe::new(limit);
            for _ in 0..10_000 {
                let draw = u64::from(Tausworthe::draw(&mut { stream }));
                assert_eq!(stream.below(limit), below_as_double(limit, draw), "{draw} below {limit}");
            }
        }
    }

    #[test]
    fn the_first_offsets_of_fio_s_default_seed() {
        let mut stream = Tausworthe::new(Seeds::new(0x89, 1).of(Slot::Offset));
        let offsets: Vec<u64> = (0..5).map(|_| stream.below(1024) * 4096).collect();
        assert_eq!(offsets, [4_096_000, 3_629_056, 2_752_512, 2_162_688, 2_527_232]);
    }

    #[test]
    fn all_seeds_are_fio_s() {
        let first = random_seeds(0x89, 1);
        assert_eq!((first[0], first[6]), (5_942_511_153_023_025_289, 6_803_328_749_335_347_343));
        assert_eq!((first[14], first[23]), (5_650_589_975_646_699_671, 2_435_071_312_708_042_912));
        let second = random_seeds(0x89, 2);
        assert_eq!((second[0], second[23]), (11_885_022_306_046_050_578, 4_870_142_625_416_085_801));
    }

    #[test]
    fn the_first_wide_draws_of_seed_seven() {
        let mut stream = Stream::new(Seeds::new(7, 1).of(Slot::Offset), true);
        let blocks: Vec<u64> = (0..16).map(|_| stream.below(16)).collect();
        assert_eq!(blocks, [15, 5, 2, 0, 4, 0, 9, 0, 13, 14, 12, 5, 14, 14, 15, 9]);
    }

    #[test]
    fn percents_reach_both_ends() {
        let mut stream = Tausworthe::new(1);
        let draws: Vec<u32> = (0..10_000).map(|_| stream.percent()).collect();
        assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&1), Some(&100)));
    }

    #[test]
    fn hashes_of_names_found_by_search_in_fio_s_sequences() {
        assert_eq!(name_hash(b"b"), 0x946d_f31f);
        assert_eq!(name_hash(b"c"), 0x496e_bc37);
        assert_eq!(name_hash(b"bb"), 0xcdaf_3e89);
    }
}
