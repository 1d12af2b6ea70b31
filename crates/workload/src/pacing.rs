//! When each request is intended to start, for jobs that run slower than flat out.

use job::{Direction, Pacing, PerDirection};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::op::{BLOCK_OPS, Block};

const NS_PER_S: u128 = 1_000_000_000;

/// The pace of one direction.
#[derive(Clone, Copy, Debug)]
enum Rate {
    Bytes(u64),
    Ios(u32),
}

impl Rate {
    fn of(pacing: &Pacing, direction: Direction) -> Option<Rate> {
        let bytes = pacing.rate[direction].filter(|&rate| rate > 0).map(Rate::Bytes);
        bytes.or(pacing.rate_iops[direction].filter(|&rate| rate > 0).map(Rate::Ios))
    }

    /// What one request takes of the unit that the rate counts.
    fn cost(self, length: u32) -> u64 {
        match self {
            Rate::Bytes(_) => length.into(),
            Rate::Ios(_) => 1,
        }
    }

    /// How long `amount` takes, ns.
    fn time_ns(self, amount: u64) -> u64 {
        let per_second = match self {
            Rate::Bytes(bytes) => u128::from(bytes),
            Rate::Ios(ios) => u128::from(ios),
        };
        (u128::from(amount) * NS_PER_S / per_second) as u64
    }
}

/// Stamps requests with their intended start.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    rates: PerDirection<Option<Rate>>,
    /// Bytes or requests since the origin.
    issued: PerDirection<u64>,
    /// Poisson: where the next request of each direction stands, ns.
    arrivals: PerDirection<f64>,
    gaps: Option<Xoshiro256PlusPlus>,
    /// Latest intended start so far: what has no rate starts with what came before it.
    latest_ns: u64,
}

impl Pacer {
    /// `None` when no direction of the job has a rate.
    pub(crate) fn new(pacing: &Pacing, seed: u64) -> Option<Self> {
        let rates = PerDirection {
            read: Rate::of(pacing, Direction::Read),
            write: Rate::of(pacing, Direction::Write),
            trim: Rate::of(pacing, Direction::Trim),
        };
        rates.iter().any(|(_, rate)| rate.is_some()).then(|| Pacer {
            rates,
            issued: PerDirection::default(),
            arrivals: PerDirection::default(),
            gaps: pacing.poisson.then(|| Xoshiro256PlusPlus::seed_from_u64(seed)),
            latest_ns: 0,
        })
    }

    /// The next request starts at 0 again.
    pub(crate) fn restart(&mut self) {
        self.issued = PerDirection::default();
        self.arrivals = PerDirection::default();
        self.latest_ns = 0;
    }

    /// Stamps the requests of the block from `from` on.
    pub(crate) fn stamp(&mut self, block: &mut Block, from: usize) {
        let stamps = block.intended_ns.get_or_insert_with(|| Box::new([0; BLOCK_OPS]));
        for (op, stamp) in block.ops[..block.len].iter().zip(stamps.iter_mut()).skip(from) {
            *stamp = op.kind.direction().map_or(self.latest_ns, |direction| self.intended_ns(direction, op.length));
            self.latest_ns = self.latest_ns.max(*stamp);
        }
    }

    fn intended_ns(&mut self, direction: Direction, length: u32) -> u64 {
        let Some(rate) = self.rates[direction] else { return self.latest_ns };
        let cost = rate.cost(length);
        let Some(gaps) = &mut self.gaps else {
            let intended_ns = rate.time_ns(self.issued[direction]);
            self.issued[direction] += cost;
            return intended_ns;
        };
        let intended_ns = self.arrivals[direction];
        // 53 bits from above 0 to 1, so that the logarithm is finite.
        let uniform = ((gaps.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        self.arrivals[direction] += -uniform.ln() * rate.time_ns(cost) as f64;
        intended_ns as u64
    }
}

/// Which of two directions with a rate each is due first, so that both keep theirs whatever the mix would be.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    rates: [Rate; 2],
    issued: [u64; 2],
}

impl Deadlines {
    /// `None` unless reads and the second direction have both a rate.
    pub(crate) fn of_both(pacing: &Pacing, second: Direction) -> Option<Self> {
        let rates = [Rate::of(pacing, Direction::Read)?, Rate::of(pacing, second)?];
        Some(Deadlines { rates, issued: [0; 2] })
    }

    /// The direction that is due first; the drawn one when both are due at once.
    pub(crate) fn first_due(&self, drawn: usize) -> usize {
        let due_ns = |number: usize| self.rates[number].time_ns(self.issued[number]);
        let other = 1 - drawn;
        if due_ns(other) < due_ns(drawn) { other } else { drawn }
    }

    pub(crate) fn issue(&mut self, number: usize, length: u32) {
        self.issued[number] += self.rates[number].cost(length);
    }
}
