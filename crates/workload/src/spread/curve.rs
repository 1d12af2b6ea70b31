//! Ranks of zipf and pareto: a power of a uniform draw. If many ranks are drawn, a table replaces the power.

/// Computes the rank of a draw.
#[derive(Clone, Copy, Debug)]
pub(super) enum Curve {
    /// The published method for zipf ranks with two precomputed sums (Gray and others, 1994). `first_two` is the sum
    /// of ranks 0 and 1, which need no power.
    Zipf { blocks: f64, sum: f64, first_two: f64, eta: f64, power: f64 },
    /// `u` to the power `power`.
    Pareto { last: f64, power: f64 },
}

impl Curve {
    pub(super) fn zipf(theta: f64, blocks: u64) -> Curve {
        let sum = generalized_harmonic(blocks.min(10_000_000), theta);
        let first_two = 1.0 + 0.5_f64.powf(theta);
        let eta = (1.0 - (2.0 / blocks as f64).powf(1.0 - theta)) / (1.0 - first_two / sum);
        Curve::Zipf { blocks: blocks as f64, sum, first_two, eta, power: 1.0 / (1.0 - theta) }
    }

    pub(super) fn pareto(h: f64, blocks: u64) -> Curve {
        Curve::Pareto { last: (blocks - 1) as f64, power: h.ln() / (1.0 - h).ln() }
    }

    /// The rank of a draw, with all roundings of fio.
    #[inline(never)]
    pub(super) fn rank(&self, draw: u32) -> u64 {
        self.rank_without_power(draw).unwrap_or_else(|| {
            let uniform = uniform(draw);
            match *self {
                Curve::Zipf { blocks, power, .. } => (blocks * self.base(uniform).powf(power)) as u64,
                Curve::Pareto { last, power } => (last * uniform.powf(power)) as u64,
            }
        })
    }

    /// The rank, if it needs no power. Ranks grow with the draw, so that these draws come first.
    fn rank_without_power(&self, draw: u32) -> Option<u64> {
        let Curve::Zipf { sum, first_two, .. } = self else { return None };
        let area = uniform(draw) * sum;
        if area < 1.0 { Some(0) } else { (area < *first_two).then_some(1) }
    }

    /// The base of the power.
    fn base(&self, uniform: f64) -> f64 {
        match self {
            Curve::Zipf { eta, .. } => eta * uniform - eta + 1.0,
            Curve::Pareto { .. } => uniform,
        }
    }
}

fn uniform(draw: u32) -> f64 {
    f64::from(draw) / f64::from(u32::MAX)
}

/// The sum of i^-theta for i from 1 to n: the first terms one by one, the rest by the Euler-Maclaurin formula.
fn generalized_harmonic(n: u64, theta: f64) -> f64 {
    const EXACT: u64 = 10_000;
    let term = |i: u64| (i as f64).powf(-theta);
    let head: f64 = (1..=n.min(EXACT)).map(term).sum();
    if n <= EXACT {
        return head;
    }
    let (from, to) = (EXACT as f64, n as f64);
    let integral = (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta);
    let slope = |x: f64| -theta * x.powf(-theta - 1.0);
    head + integral + (term(n) - term(EXACT)) / 2.0 + (slope(to) - slope(from)) / 12.0
}

/// The curve as a Taylor polynomial for each segment of draws. A rank is taken from it only if the error cannot lead
/// to another rank.
#[derive(Clone, Debug)]
pub(super) struct Table(Box<[Segment; SEGMENTS]>);

const SEGMENTS: usize = 256;

/// Half the draws of a segment.
const HALF: u32 = (1 << 31) / SEGMENTS as u32;

const TERMS: usize = 7;

/// One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Segment {
    /// Terms of the polynomial in the distance from the segment's middle. Its value is half a rank below the curve,
    /// so that the nearest integer is the rank.
    terms: [f64; TERMS],
    /// Largest distance of the value from that integer. NaN, or below 0: the segment cannot be used.
    room: f64,
}

/// Adding this number to a double and subtracting it gives the nearest integer. After the addition alone, the integer
/// is in the lowest bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

impl Table {
    pub(super) fn new(curve: &Curve) -> Table {
        Table(Box::new(std::array::from_fn(|number| Segment::of(curve, number as u32 * 2 * HALF))))
    }

    /// The rank; `None` if only the power gives it for certain.
    #[inline(always)]
    pub(super) fn rank(&self, draw: u32) -> Option<u64> {
        let segment = &self.0[(draw / (2 * HALF)) as usize];
        let distance = f64::from((draw % (2 * HALF)) as i32 - HALF as i32);
        let [a, b, c, d, e, f, g] = segment.terms;
        let value =
            (((((g * distance + f) * distance + e) * distance + d) * distance + c) * distance + b) * distance + a;
        let rounded = value + ROUNDING;
        let certain = (value - (rounded - ROUNDING)).abs() < segment.room;
        certain.then(|| rounded.to_bits() - ROUNDING.to_bits())
    }
}

impl Segment {
    const USELESS: Segment = Segment { terms: [0.0; TERMS], room: -1.0 };

    fn of(curve: &Curve, first: u32) -> Segment {
        match [first, first + (2 * HALF - 1)].map(|draw| curve.rank_without_power(draw)) {
            [None, None] => Segment::of_power(curve, first + HALF),
            [Some(rank), Some(last)] if rank == last => {
                let mut terms = [0.0; TERMS];
                terms[0] = rank as f64;
                Segment { terms, room: 0.5 }
            }
            _ => Segment::USELESS,
        }
    }

    fn of_power(curve: &Curve, middle: u32) -> Segment {
        let (scale, slope, power) = match *curve {
            Curve::Zipf { blocks, eta, power, .. } => (blocks, eta, power),
            Curve::Pareto { last, power } => (last, 1.0, power),
        };
        let base = curve.base(uniform(middle));
        let step = slope / f64::from(u32::MAX);
        let reach = step.abs() * f64::from(HALF);
        let lowest = base - reach;
        if lowest <= 0.0 {
            return Segment::USELESS;
        }
        // The binomial series. The error is at most the next term with the base of one of the two ends.
        let mut terms = [scale * base.powf(power); TERMS];
        let mut left_out = scale;
        let (mut sum, mut distance) = (terms[0], 1.0);
        for number in 1..TERMS {
            let factor = (power - (number - 1) as f64) / number as f64;
            terms[number] = terms[number - 1] * factor * step / base;
            distance *= f64::from(HALF);
            sum += terms[number].abs() * distance;
            left_out *= factor.abs() * reach;
        }
        left_out *= ((power - (TERMS - 1) as f64) / TERMS as f64).abs() * reach;
        let at_end = |end: f64| end.powf(power - TERMS as f64);
        left_out *= at_end(lowest).max(at_end(base + reach));
        // Rounding errors of the base count as often as the power, or a term, multiplies it; the others are fewer
        // than a hundred. Each is at most 2^-53 of its number, and 2^-48 leaves room.
        let roundings = (power.abs() + TERMS as f64) * (slope.abs() + 1.0) / lowest + 16.0;
        terms[0] -= 0.5;
        Segment { terms, room: 0.5 - left_out - sum * roundings * (-48.0_f64).exp2() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Tausworthe;

    const BLOCKS: [u64; 8] = [1, 2, 3, 1000, 1 << 20, 12_345_678, 1 << 24, 1 << 32];

    fn curves(blocks: u64) -> Vec<Curve> {
        let zipf = [0.2, 0.5, 0.9, 0.99, 0.9999, 1.0001, 1.01, 1.1, 1.2, 2.0, 5.0, 20.0];
        let pareto = [0.01, 0.2, 0.5, 0.9];
        let zipf = zipf.iter().map(|theta| Curve::zipf(*theta, blocks));
        zipf.chain(pareto.iter().map(|h| Curve::pareto(*h, blocks))).collect()
    }

    #[test]
    fn the_short_sum_is_the_long_sum() {
        for theta in [0.5, 0.9, 1.2, 2.0] {
            let long: f64 = (1..=300_000_u64).rev().map(|i| (i as f64).powf(-theta)).sum();
            assert!((generalized_harmonic(300_000, theta) / long - 1.0).abs() < 1e-12, "theta {theta}");
        }
    }

    #[test]
    fn the_table_has_the_ranks_of_the_power() {
        for blocks in BLOCKS {
            for curve in curves(blocks) {
                let table = Table::new(&curve);
                let mut stream = Tausworthe::new(blocks);
                for draw in (0..50_000).map(|_| stream.draw()).chain([0, 1, u32::MAX - 1, u32::MAX]) {
                    let rank = curve.rank(draw);
                    assert_eq!(table.rank(draw).unwrap_or(rank), rank, "{draw} of {blocks} blocks: {curve:?}");
                }
            }
        }
    }

    #[test]
    fn the_table_has_the_ranks_of_the_power_at_borders() {
        for blocks in BLOCKS {
            for curve in curves(blocks) {
                let table = Table::new(&curve);
                let mut stream = Tausworthe::new(blocks);
                for _ in 0..1000 {
                    let rank = curve.rank(stream.draw());
                    // The first draw of this rank, and its neighbours.
                    let (mut below, mut from) = (-1_i64, i64::from(u32::MAX));
                    while from - below > 1 {
                        let middle = i64::midpoint(below, from);
                        if curve.rank(middle as u32) < rank { below = middle } else { from = middle }
                    }
                    for draw in (from - 3..from + 3).filter_map(|draw| u32::try_from(draw).ok()) {
                        let rank = curve.rank(draw);
                        assert_eq!(table.rank(draw).unwrap_or(rank), rank, "{draw} of {blocks} blocks: {curve:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_has_nearly_all_ranks() {
        for (curve, percent) in [
            (Curve::zipf(0.9, 1 << 24), 98),
            (Curve::zipf(1.1, 1 << 24), 98),
            (Curve::zipf(1.2, 1 << 28), 95),
            (Curve::zipf(2.0, 1 << 20), 95),
            (Curve::pareto(0.2, 1 << 24), 90),
        ] {
            let table = Table::new(&curve);
            let mut stream = Tausworthe::new(1);
            let known = (0..100_000).filter(|_| table.rank(stream.draw()).is_some()).count();
            assert!(known >= percent * 1000, "{known} of 100000: {curve:?}");
        }
    }
}
