//! Gives each request of a paced job its intended start.

use fsdyno_job::{Direction, Pacing};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::op::{BLOCK_OPS, Block, Op};

const NS_PER_S: u64 = 1_000_000_000;

/// The rate of one direction, and how far it has come.
#[derive(Clone, Debug)]
struct Rate {
    /// The rate in bytes or requests per second, 1 and up.
    per_second: u64,
    /// The cost of a request: its length combined with this mask, plus a fixed number.
    length_mask: u64,
    each: u64,
    /// Issued amount: the time of whole seconds of the rate, ns; then the rest, whose time fits into 64 bits.
    whole_ns: u64,
    rest: u64,
    arrivals: Option<Arrivals>,
}

/// For Poisson arrivals: the time of the next request, ns, and the source of the gaps after it. Each direction has
/// gaps of its own, so that its requests come at the same times whatever the other directions do.
#[derive(Clone, Debug)]
struct Arrivals {
    next_ns: f64,
    gaps: Xoshiro256PlusPlus,
}

impl Rate {
    fn of(pacing: &Pacing, direction: Direction, seed: u64) -> Option<Rate> {
        let rate = |per_second, length_mask, each| {
            let gaps = || Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(direction as u64));
            let arrivals = pacing.poisson.then(|| Arrivals { next_ns: 0.0, gaps: gaps() });
            Rate { per_second, length_mask, each, whole_ns: 0, rest: 0, arrivals }
        };
        let bytes = pacing.rate[direction].filter(|&bytes| bytes > 0).map(|bytes| rate(bytes, u64::MAX, 0));
        let ios = || {
            let mut ios = rate(pacing.rate_iops[direction].filter(|&ios| ios > 0)?.into(), 0, 1);
            // The first request arrives at random, too: many jobs of low rates would otherwise begin all at once. The
            // first gap of a rate of bytes has no length yet.
            ios.arrive(1);
            Some(ios)
        };
        bytes.or_else(ios)
    }

    /// The cost of a request in the unit of the rate.
    #[inline]
    fn cost(&self, length: u64) -> u64 {
        length & self.length_mask | self.each
    }

    /// Issues a request and returns its intended start, ns.
    #[inline]
    fn issue(&mut self, length: u64) -> u64 {
        if self.arrivals.is_some() {
            let due_ns = self.due_ns();
            self.arrive(self.cost(length));
            return due_ns;
        }
        let due_ns = self.whole_ns.saturating_add(self.time_ns(self.rest));
        self.rest += self.cost(length);
        if self.rest >= self.per_second {
            self.finish_seconds();
        }
        due_ns
    }

    /// Issues requests of one length, as [`Rate::issue`] does one of them, and stamps them with the time from the origin
    /// to their intended starts. Returns the last of these; `None`: they must be issued one by one, and none is.
    fn issue_alike(&mut self, length: u64, origin_ns: u64, stamps: &mut [u64]) -> Option<u64> {
        let (cost, per_second) = (self.cost(length), self.per_second);
        let rest = self.rest.checked_add(cost.checked_mul(stamps.len() as u64)?)?;
        self.whole_ns.checked_add(rest.checked_mul(NS_PER_S)?)?;
        if self.arrivals.is_some() || per_second > u64::MAX / 2 {
            return None;
        }
        // Two divisions for all: a start and its part of a nanosecond follow from those before.
        let (issued, each) = (self.rest * NS_PER_S, cost * NS_PER_S);
        let (mut due_ns, mut part) = (self.whole_ns + issued / per_second, issued % per_second);
        let (step_ns, step_part) = (each / per_second, each % per_second);
        let mut last_ns = due_ns;
        for stamp in stamps {
            *stamp = due_ns.saturating_sub(origin_ns);
            last_ns = due_ns;
            (due_ns, part) = (due_ns + step_ns, part + step_part);
            if part >= per_second {
                (due_ns, part) = (due_ns + 1, part - per_second);
            }
        }
        self.rest = rest;
        if rest >= per_second {
            self.finish_seconds();
        }
        Some(last_ns)
    }

    /// Adds an exponential gap before the next request.
    #[inline(never)]
    fn arrive(&mut self, cost: u64) {
        let mean_ns = self.time_ns(cost) as f64;
        if let Some(Arrivals { next_ns, gaps }) = &mut self.arrivals {
            // 53 bits, from above 0 to 1, so that the logarithm is finite.
            let uniform = ((gaps.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
            *next_ns += -uniform.ln() * mean_ns;
        }
    }

    #[cold]
    fn finish_seconds(&mut self) {
        let seconds = self.rest / self.per_second;
        self.whole_ns = self.whole_ns.saturating_add(seconds.saturating_mul(NS_PER_S));
        self.rest %= self.per_second;
    }

    /// The intended start of the next request, ns.
    #[inline]
    fn due_ns(&self) -> u64 {
        match &self.arrivals {
            Some(arrivals) => arrivals.next_ns as u64,
            None => self.whole_ns.saturating_add(self.time_ns(self.rest)),
        }
    }

    /// The time that `amount` takes at this rate, ns.
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
    /// By direction. An array, because an index costs one multiplication, where named fields cost a choice of three.
    rates: [Option<Rate>; 3],
    /// Latest intended start so far. A request without a rate starts with the request before it.
    latest_ns: u64,
    /// Stamps count from here; `None`: from the next request.
    origin_ns: Option<u64>,
}

impl Pacer {
    /// `None` if no direction of the job has a rate.
    pub(crate) fn new(pacing: &Pacing, seed: u64) -> Option<Self> {
        let rates = Direction::ALL.map(|direction| Rate::of(pacing, direction, seed));
        rates.iter().any(Option::is_some).then_some(Pacer { rates, latest_ns: 0, origin_ns: Some(0) })
    }

    /// Restarts the schedule: request `next` of the block starts at 0, and later requests keep their distance from
    /// it. If the block has no such request, the first request of the next block starts at 0.
    pub(crate) fn restart(&mut self, block: &mut Block, next: usize) {
        let stamps = block.intended_ns.as_mut().and_then(|stamps| stamps.get_mut(next..block.len));
        let first_ns = stamps.as_ref().and_then(|stamps| stamps.first().copied());
        self.origin_ns = self.origin_ns.zip(first_ns).map(|(origin_ns, first_ns)| origin_ns + first_ns);
        let from = first_ns.unwrap_or(0);
        stamps.into_iter().flatten().for_each(|stamp| *stamp = stamp.saturating_sub(from));
    }

    /// Stamps the requests of the block. `alike`: all are known to have one kind and one length.
    pub(crate) fn stamp(&mut self, block: &mut Block, alike: bool) {
        let stamps = block.intended_ns.get_or_insert_with(|| Box::new([0; BLOCK_OPS]));
        let ops = &block.ops[..block.len];
        let Some(first) = ops.first().copied() else { return };
        let differ = |op: &Op| op.length ^ first.length | u64::from(op.kind as u8 ^ first.kind as u8);
        // Syncs have no rate.
        if let (Some(Some(rate)), Some(origin_ns)) = (self.rates.get_mut(first.kind as usize), self.origin_ns)
            && (alike || ops.iter().fold(0, |others, op| others | differ(op)) == 0)
            && let Some(intended_ns) = rate.issue_alike(first.length, origin_ns, &mut stamps[..ops.len()])
        {
            // Starts of one direction do not go back.
            self.latest_ns = self.latest_ns.max(intended_ns);
            return;
        }
        let stamps = ops.iter().zip(&mut stamps[..]);
        let mut latest_ns = self.latest_ns;
        for (op, stamp) in stamps {
            let rate = self.rates.get_mut(op.kind as usize).and_then(Option::as_mut);
            let intended_ns = rate.map_or(latest_ns, |rate| rate.issue(op.length));
            *stamp = intended_ns.saturating_sub(*self.origin_ns.get_or_insert(intended_ns));
            latest_ns = latest_ns.max(intended_ns);
        }
        self.latest_ns = latest_ns;
    }
}

/// Chooses the one of two directions that is due first, so that both keep their rates whatever the mix is.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines([Rate; 2]);

impl Deadlines {
    /// `None` unless both reads and the second direction have a rate. With the seed of the [`Pacer`], both compute
    /// the same intended starts.
    pub(crate) fn of_both(pacing: &Pacing, second: Direction, seed: u64) -> Option<Self> {
        Some(Deadlines([Rate::of(pacing, Direction::Read, seed)?, Rate::of(pacing, second, seed)?]))
    }

    /// The direction that is due first; if both are due at the same time, the drawn one.
    pub(crate) fn first_due(&self, drawn: usize) -> usize {
        let other = 1 - drawn;
        if self.0[other].due_ns() < self.0[drawn].due_ns() { other } else { drawn }
    }

    pub(crate) fn issue(&mut self, number: usize, length: u64) {
        self.0[number].issue(length);
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::PerDirection;

    use super::*;

    /// Requests of one length are stamped several at a time, others one by one: both are as exact.
    #[test]
    fn starts_of_many_alike_are_those_of_one_by_one() {
        for (per_second, length) in
            [(1, 1), (3, 7), (7_777_777, 4096), (1 << 40, 512), (1 << 62, 1 << 20), (5, 1 << 40)]
        {
            let pacing = Pacing { rate: PerDirection::all(Some(per_second)), ..Pacing::default() };
            let rate = || Rate::of(&pacing, Direction::Read, 0).expect("there is a rate");
            let (mut single, mut many) = (rate(), rate());
            let mut ended = false;
            for round in 0..50 {
                let count = 1 + round * 7 % BLOCK_OPS;
                let origin_ns = round as u64;
                let mut stamps = [0; BLOCK_OPS];
                ended |= many.issue_alike(length, origin_ns, &mut stamps[..count]).is_none();
                if ended {
                    break;
                }
                for stamp in &stamps[..count] {
                    assert_eq!(*stamp, single.issue(length).saturating_sub(origin_ns), "{per_second} {length}");
                }
                assert_eq!((many.whole_ns, many.rest), (single.whole_ns, single.rest));
            }
            assert_eq!(ended, length == 1 << 40, "{per_second} {length}: only products of more than 64 bits");
        }
    }
}
