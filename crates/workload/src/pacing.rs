//! When each request is intended to start, for jobs that run slower than flat out.

use job::{Direction, Pacing, PerDirection};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::op::{BLOCK_OPS, Block};

const NS_PER_S: u64 = 1_000_000_000;

/// The pace of one direction, and how far it has come.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Bytes or requests, 1 and up.
    per_second: u64,
    counts_bytes: bool,
    /// What was issued: whole seconds of the rate, and the rest. Apart, for their time needs no more than 64 bits.
    seconds: u64,
    rest: u64,
}

impl Rate {
    fn of(pacing: &Pacing, direction: Direction) -> Option<Rate> {
        let rate = |per_second, counts_bytes| Rate { per_second, counts_bytes, seconds: 0, rest: 0 };
        let bytes = pacing.rate[direction].filter(|&bytes| bytes > 0).map(|bytes| rate(bytes, true));
        bytes.or(pacing.rate_iops[direction].filter(|&ios| ios > 0).map(|ios| rate(ios.into(), false)))
    }

    fn restart(&mut self) {
        (self.seconds, self.rest) = (0, 0);
    }

    /// What one request takes of the unit that the rate counts.
    fn cost(&self, length: u32) -> u64 {
        if self.counts_bytes { length.into() } else { 1 }
    }

    #[inline]
    fn issue(&mut self, length: u32) {
        self.rest += self.cost(length);
        if self.rest >= self.per_second {
            self.seconds += self.rest / self.per_second;
            self.rest %= self.per_second;
        }
    }

    /// When the next request is due, ns.
    #[inline]
    fn due_ns(&self) -> u64 {
        self.seconds.saturating_mul(NS_PER_S).saturating_add(self.time_ns(self.rest))
    }

    /// How long `amount` takes, ns.
    #[inline]
    fn time_ns(&self, amount: u64) -> u64 {
        match amount.checked_mul(NS_PER_S) {
            Some(scaled) => scaled / self.per_second,
            None => (u128::from(amount) * u128::from(NS_PER_S) / u128::from(self.per_second)) as u64,
        }
    }
}

/// Stamps requests with their intended start.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    rates: PerDirection<Option<Rate>>,
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
            arrivals: PerDirection::default(),
            gaps: pacing.poisson.then(|| Xoshiro256PlusPlus::seed_from_u64(seed)),
            latest_ns: 0,
        })
    }

    /// The next request starts at 0 again.
    pub(crate) fn restart(&mut self) {
        for direction in Direction::ALL {
            self.rates[direction].iter_mut().for_each(Rate::restart);
        }
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
        let Some(rate) = &mut self.rates[direction] else { return self.latest_ns };
        let Some(gaps) = &mut self.gaps else {
            let intended_ns = rate.due_ns();
            rate.issue(length);
            return intended_ns;
        };
        let intended_ns = self.arrivals[direction];
        // 53 bits from above 0 to 1, so that the logarithm is finite.
        let uniform = ((gaps.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        self.arrivals[direction] += -uniform.ln() * rate.time_ns(rate.cost(length)) as f64;
        intended_ns as u64
    }
}

/// Which of two directions with a rate each is due first, so that both keep theirs whatever the mix would be.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines([Rate; 2]);

impl Deadlines {
    /// `None` unless reads and the second direction have both a rate.
    pub(crate) fn of_both(pacing: &Pacing, second: Direction) -> Option<Self> {
        Some(Deadlines([Rate::of(pacing, Direction::Read)?, Rate::of(pacing, second)?]))
    }

    /// The direction that is due first; the drawn one when both are due at once.
    pub(crate) fn first_due(&self, drawn: usize) -> usize {
        let other = 1 - drawn;
        if self.0[other].due_ns() < self.0[drawn].due_ns() { other } else { drawn }
    }

    pub(crate) fn issue(&mut self, number: usize, length: u32) {
        self.0[number].issue(length);
    }
}
