//! When each request is intended to start, for jobs that run slower than flat out.

use job::{Direction, Pacing};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::op::{BLOCK_OPS, Block};

const NS_PER_S: u64 = 1_000_000_000;

/// The pace of one direction, and how far it has come.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Bytes or requests, 1 and up.
    per_second: u64,
    /// What one request takes of that: the bits of its length that are set here, and this much in any case.
    length_mask: u64,
    each: u64,
    /// What was issued: the time of whole seconds of the rate, ns, and the rest, whose time needs no more than 64 bits.
    whole_ns: u64,
    rest: u64,
}

impl Rate {
    fn of(pacing: &Pacing, direction: Direction) -> Option<Rate> {
        let rate = |per_second, length_mask, each| Rate { per_second, length_mask, each, whole_ns: 0, rest: 0 };
        let bytes = pacing.rate[direction].filter(|&bytes| bytes > 0).map(|bytes| rate(bytes, u64::MAX, 0));
        bytes.or(pacing.rate_iops[direction].filter(|&ios| ios > 0).map(|ios| rate(ios.into(), 0, 1)))
    }

    fn restart(&mut self) {
        (self.whole_ns, self.rest) = (0, 0);
    }

    /// What one request takes of the unit that the rate counts.
    #[inline]
    fn cost(&self, length: u32) -> u64 {
        u64::from(length) & self.length_mask | self.each
    }

    /// When the next request is due, ns; it is issued.
    #[inline]
    fn issue(&mut self, length: u32) -> u64 {
        let due_ns = self.due_ns();
        self.rest += self.cost(length);
        if self.rest >= self.per_second {
            self.finish_seconds();
        }
        due_ns
    }

    #[cold]
    fn finish_seconds(&mut self) {
        let seconds = self.rest / self.per_second;
        self.whole_ns = self.whole_ns.saturating_add(seconds.saturating_mul(NS_PER_S));
        self.rest %= self.per_second;
    }

    /// When the next request is due, ns.
    #[inline]
    fn due_ns(&self) -> u64 {
        self.whole_ns.saturating_add(self.time_ns(self.rest))
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
    /// By direction. An array: its index is one multiplication, where named fields are a choice of three.
    rates: [Option<Rate>; 3],
    /// Poisson: where the next request of each direction stands, ns.
    arrivals: [f64; 3],
    gaps: Option<Xoshiro256PlusPlus>,
    /// Latest intended start so far: what has no rate starts with what came before it.
    latest_ns: u64,
}

impl Pacer {
    /// `None` when no direction of the job has a rate.
    pub(crate) fn new(pacing: &Pacing, seed: u64) -> Option<Self> {
        let rates = Direction::ALL.map(|direction| Rate::of(pacing, direction));
        rates.iter().any(Option::is_some).then(|| Pacer {
            rates,
            arrivals: [0.0; 3],
            gaps: pacing.poisson.then(|| Xoshiro256PlusPlus::seed_from_u64(seed)),
            latest_ns: 0,
        })
    }

    /// The next request starts at 0 again.
    pub(crate) fn restart(&mut self) {
        self.rates.iter_mut().flatten().for_each(Rate::restart);
        self.arrivals = [0.0; 3];
        self.latest_ns = 0;
    }

    /// Stamps the requests of the block from `from` on.
    pub(crate) fn stamp(&mut self, block: &mut Block, from: usize) {
        let stamps = block.intended_ns.get_or_insert_with(|| Box::new([0; BLOCK_OPS]));
        let Some(stamps) = stamps.get_mut(from..block.len) else { return };
        let mut latest_ns = self.latest_ns;
        for (op, stamp) in block.ops[from..].iter().zip(stamps) {
            // Syncs have no rate either.
            let rate = self.rates.get_mut(op.kind as usize).and_then(Option::as_mut);
            let intended_ns = match (rate, &mut self.gaps) {
                (None, _) => latest_ns,
                (Some(rate), None) => rate.issue(op.length),
                (Some(rate), Some(gaps)) => {
                    let mean_ns = rate.time_ns(rate.cost(op.length));
                    arrive_ns(gaps, &mut self.arrivals[op.kind as usize], mean_ns)
                }
            };
            *stamp = intended_ns;
            latest_ns = latest_ns.max(intended_ns);
        }
        self.latest_ns = latest_ns;
    }
}

/// Where the next request stands, ns; the one after it comes an exponential gap of this mean later.
#[inline(never)]
fn arrive_ns(gaps: &mut Xoshiro256PlusPlus, arrival: &mut f64, mean_ns: u64) -> u64 {
    let intended_ns = *arrival;
    // 53 bits from above 0 to 1, so that the logarithm is finite.
    let uniform = ((gaps.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
    *arrival += -uniform.ln() * mean_ns as f64;
    intended_ns as u64
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
