//! Uneven offsets: zipf, pareto, normal and zones, drawn as fio draws them.

mod curve;
mod means;

use std::path::Path;

use fsdyno_job::{Direction, Distribution, PerDirection};

use crate::random::{Seeds, Slot, SumDraws, Tausworthe, name_hash, scaled};
use curve::{Curve, Table};
use means::DrawSums;

/// Draws the ranks of one file and scatters them over its blocks.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    kind: Kind,
    /// A table of the curve, if it is worth its memory.
    table: Option<Table>,
    /// The draws of a normal distribution, if they are made ahead.
    sums: Option<Box<DrawSums>>,
    blocks: u64,
    seed: u64,
    stream: Tausworthe,
    /// Ranks are multiplied by this number: [`SCATTER`], or 1 to keep neighbours together.
    scatter: u64,
    /// Is added to every block, so that the hottest block is not always the first.
    rotation: u64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Zipf and pareto.
    Curve(Curve),
    /// The mean of twelve uniform draws, shifted by a further draw from this width, in blocks.
    Normal { width: u64 },
}

/// Multiplication by the golden ratio of 64 bits puts neighbouring ranks far apart.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;

impl Ranks {
    /// The ranks of `distribution` over `blocks` blocks of the file of this name; `None` if the distribution has no
    /// ranks.
    pub(crate) fn new(distribution: &Distribution, blocks: u64, name: &Path, seeds: &Seeds) -> Option<Self> {
        if !matches!(distribution, Distribution::Zipf(..) | Distribution::Pareto(..) | Distribution::Normal(..)) {
            return None;
        }
        let seed = u64::from(name_hash(fsdyno_job::bytes::shown(name).as_bytes())).wrapping_mul(seeds.of(Slot::Offset));
        Ranks::seeded(distribution, blocks, seed)
    }

    /// Ranks of which neighbours stay together.
    pub(crate) fn in_order(distribution: &Distribution, blocks: u64, seed: u64) -> Option<Self> {
        Ranks::seeded(distribution, blocks, seed).map(|ranks| Ranks { scatter: 1, ..ranks })
    }

    /// Adds a table of the curve, or draws that are made ahead, for a worker that draws from one file.
    pub(crate) fn with_table(mut self) -> Self {
        match &self.kind {
            Kind::Curve(curve) => self.table = Some(Table::new(curve)),
            Kind::Normal { width } => self.sums = Some(Box::new(self.sums_from_first(*width))),
        }
        self
    }

    /// Sets the instructions that make draws ahead.
    pub(crate) fn made_by(&mut self, sum_draws: SumDraws) {
        if let Some(sums) = &mut self.sums {
            sums.made_by(sum_draws);
        }
    }

    fn sums_from_first(&self, width: u64) -> DrawSums {
        DrawSums::new(Tausworthe::new(self.seed), self.blocks + 1, width > 0)
    }

    fn seeded(distribution: &Distribution, blocks: u64, seed: u64) -> Option<Self> {
        let mut stream = Tausworthe::new(seed);
        let (kind, centre) = match *distribution {
            Distribution::Zipf(theta, centre) => (Kind::Curve(Curve::zipf(theta, blocks)), centre),
            Distribution::Pareto(h, centre) => (Kind::Curve(Curve::pareto(h, blocks)), centre),
            Distribution::Normal(deviation, centre) => {
                let width = (blocks as f64 * deviation / 100.0).ceil() as u64;
                (Kind::Normal { width }, centre)
            }
            _ => return None,
        };
        let rotation = match (kind, centre) {
            (Kind::Normal { .. }, None) => 0,
            (Kind::Normal { .. }, Some(centre)) => {
                let moved = (blocks as f64 * (centre - 0.5)) as i64;
                moved.rem_euclid(blocks as i64) as u64
            }
            (_, None) => stream.draw().into(),
            (_, Some(centre)) => {
                stream.draw();
                (blocks as f64 * centre) as u64
            }
        };
        Some(Ranks { kind, table: None, sums: None, blocks, seed, stream, scatter: SCATTER, rotation })
    }

    /// Begins the same sequence again.
    pub(crate) fn restart(&mut self) {
        self.stream = Tausworthe::new(self.seed);
        match self.kind {
            Kind::Curve(_) => {
                self.stream.draw();
            }
            Kind::Normal { width } => {
                let mut first = self.sums_from_first(width);
                if let Some(sums) = &mut self.sums {
                    first.made_by(sums.instructions());
                    **sums = first;
                }
            }
        }
    }

    /// The next block.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let rank = match (&self.table, &self.kind) {
            (Some(table), Kind::Curve(curve)) => {
                let draw = self.stream.draw();
                table.rank(draw).unwrap_or_else(|| curve.rank(draw))
            }
            (None, Kind::Curve(curve)) => curve.rank(self.stream.draw()),
            (_, Kind::Normal { width }) => self.normal(*width),
        };
        (rank.wrapping_mul(self.scatter).wrapping_add(self.rotation)) % self.blocks
    }

    #[inline]
    fn normal(&mut self, width: u64) -> u64 {
        let (sum, draw) = match &mut self.sums {
            Some(sums) => sums.take(),
            None => self.sum_draws(width > 0),
        };
        let mean = sum.div_ceil(12) as i64;
        if width == 0 {
            return mean as u64;
        }
        let mut shift = scaled(draw, width) as i64 - (width / 2) as i64;
        while mean + shift >= self.blocks as i64 {
            if shift == 0 {
                return self.blocks - 1;
            }
            shift /= 2;
        }
        (mean + shift).max(0) as u64
    }

    /// The sum of twelve draws, and the draw after it; 0 if none follows.
    #[inline(never)]
    fn sum_draws(&mut self, further: bool) -> (u64, u32) {
        let sum = (0..12).map(|_| u64::from(self.stream.draw()) % (self.blocks + 1)).sum();
        (sum, if further { self.stream.draw() } else { 0 })
    }
}

/// Zones of one direction; each zone gets a share of the I/O.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    stream: Tausworthe,
    seed: u64,
    parts: PerDirection<Vec<Zone>>,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    /// Draws (1 to 100) up to this number and above that of the zone before choose this zone.
    draws_to: u32,
    start: Edge,
    size: Edge,
}

#[derive(Clone, Copy, Debug)]
enum Edge {
    Percent(u64),
    Bytes(u64),
}

impl Edge {
    fn blocks(self, blocks: u64, block_bytes: u64) -> u64 {
        match self {
            Edge::Percent(percent) => match blocks.checked_mul(percent) {
                Some(hundredfold) => hundredfold / 100,
                None => (u128::from(blocks) * u128::from(percent) / 100) as u64,
            },
            Edge::Bytes(bytes) => bytes / block_bytes,
        }
    }
}

impl Zones {
    /// The zones of `distribution`; `None` if it has none.
    pub(crate) fn new(distribution: &Distribution, seeds: &Seeds) -> Option<Self> {
        let parts = match distribution {
            Distribution::Zoned(parts) => each(parts, u64::from, Edge::Percent),
            Distribution::ZonedAbsolute(parts) => each(parts, |size| size, Edge::Bytes),
            _ => return None,
        };
        let seed = seeds.of(Slot::Zone);
        Some(Zones { stream: Tausworthe::new(seed), seed, parts })
    }

    /// Begins the same sequence again.
    pub(crate) fn restart(&mut self) {
        self.stream = Tausworthe::new(self.seed);
    }

    /// The first block and the number of blocks of the zone that the next I/O goes to.
    pub(crate) fn draw(&mut self, direction: Direction, blocks: u64, block_bytes: u64) -> (u64, u64) {
        let percent = self.stream.percent();
        let zones = &self.parts[direction];
        let Some(zone) = zones.iter().find(|zone| percent <= zone.draws_to).or(zones.last()) else {
            return (0, blocks);
        };
        // A zone beyond the end of the file has its last block.
        let start = zone.start.blocks(blocks, block_bytes).min(blocks - 1);
        let size = zone.size.blocks(blocks, block_bytes).clamp(1, blocks - start);
        (start, size)
    }
}

/// A list of block numbers that are used in turn.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    blocks: Vec<u64>,
    strides: bool,
    /// Number of requests of each direction so far.
    drawn: PerDirection<u64>,
}

impl Sequence {
    /// The blocks of `distribution`; `None` if it does not list blocks.
    pub(crate) fn new(distribution: &Distribution) -> Option<Self> {
        let Distribution::Sequence { blocks, strides } = distribution else { return None };
        Some(Sequence { blocks: blocks.clone(), strides: *strides, drawn: PerDirection::default() })
    }

    /// Begins with the first block again.
    pub(crate) fn restart(&mut self) {
        self.drawn = PerDirection::default();
    }

    /// The block of the next request.
    pub(crate) fn draw(&mut self, direction: Direction) -> u64 {
        let count = self.blocks.len() as u64;
        let drawn = self.drawn[direction];
        self.drawn[direction] += 1;
        let moved = if self.strides { drawn / count * count } else { 0 };
        self.blocks[(drawn % count) as usize].saturating_add(moved)
    }
}

fn each<T: Copy>(
    parts: &PerDirection<Vec<(u32, T)>>,
    number: impl Fn(T) -> u64,
    edge: impl Fn(u64) -> Edge,
) -> PerDirection<Vec<Zone>> {
    let zones = |list: &Vec<(u32, T)>| {
        let (mut draws_to, mut start) = (0, 0);
        list.iter()
            .map(|&(share, size)| {
                draws_to += share;
                let zone = Zone { draws_to, start: edge(start), size: edge(number(size)) };
                start += number(size);
                zone
            })
            .collect()
    };
    PerDirection { read: zones(&parts.read), write: zones(&parts.write), trim: zones(&parts.trim) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from fio with its offset seed of `randseed=7`, 1024 blocks.
    #[test]
    #[rustfmt::skip]
    fn fio_s_sequences() {
        let seed = Seeds::new(7, 1).of(Slot::Offset);
        for (distribution, expected) in [
            (Distribution::Zipf(1.2, None), [1004, 663, 489, 106, 22, 106, 831, 276, 773, 899, 374, 408]),
            (Distribution::Zipf(1.2, Some(0.3)), [181, 864, 690, 307, 223, 307, 8, 477, 974, 76, 575, 609]),
            (Distribution::Pareto(0.2, None), [899, 501, 694, 106, 22, 106, 963, 582, 80, 521, 637, 362]),
            (Distribution::Pareto(0.2, Some(0.5)), [281, 907, 76, 512, 428, 512, 345, 988, 486, 927, 19, 768]),
            (Distribution::Normal(10.0, None), [155, 901, 391, 512, 439, 759, 680, 775, 66, 313, 433, 459]),
            (Distribution::Normal(2.0, None), [953, 444, 916, 927, 66, 29, 638, 45, 171, 82, 706, 664]),
            (Distribution::Normal(10.0, Some(0.3)), [975, 697, 187, 308, 235, 555, 476, 571, 886, 109, 229, 255]),
            (Distribution::Normal(10.0, Some(0.7)), [359, 81, 595, 716, 643, 963, 884, 979, 270, 517, 637, 663]),
        ] {
            let mut ranks = Ranks::seeded(&distribution, 1024, seed).unwrap();
            assert_eq!(std::array::from_fn(|_| ranks.draw()), expected, "{distribution:?}");
            ranks.restart();
            let mut ranks = ranks.with_table();
            assert_eq!(std::array::from_fn(|_| ranks.draw()), expected, "{distribution:?}, again and with a table");
        }
    }

    #[test]
    fn zones_get_their_share_and_stay_inside() {
        let zones = PerDirection::all(vec![(60, 10), (30, 20), (8, 30), (2, 40)]);
        let mut zones = Zones::new(&Distribution::Zoned(zones), &Seeds::new(7, 1)).unwrap();
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            let zone = zones.draw(Direction::Read, 1000, 4096);
            counts[[(0, 100), (100, 200), (300, 300), (600, 400)].iter().position(|&z| z == zone).unwrap()] += 1;
        }
        for (count, percent) in counts.iter().zip([60, 30, 8, 2]) {
            assert!((count - percent * 100_i32).abs() < 300, "{counts:?}");
        }
        let absolute = PerDirection::all(vec![(100, 1 << 40)]);
        let mut zones = Zones::new(&Distribution::ZonedAbsolute(absolute), &Seeds::new(7, 1)).unwrap();
        assert_eq!(zones.draw(Direction::Write, 10, 4096), (0, 10));
    }

    #[test]
    fn one_block_is_enough() {
        for distribution in
            [Distribution::Zipf(1.2, None), Distribution::Pareto(0.2, None), Distribution::Normal(5.0, None)]
        {
            let mut ranks = Ranks::seeded(&distribution, 1, 1).unwrap();
            assert!((0..1000).all(|_| ranks.draw() == 0));
        }
    }
}
