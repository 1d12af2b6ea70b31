//! The draws of the normal distribution: sums of twelve numbers below a limit and one further draw each, made ahead.

use crate::random::{LANES, LaneSums, Lanes, SUMMED_DRAWS, SumDraws, Summing, Tausworthe};

/// Sums that each lane makes at a time.
const PART: usize = 16;

/// Sums of draws modulo a number, with the further draw after each.
#[derive(Clone, Debug)]
pub(super) struct DrawSums {
    lanes: Lanes,
    modulus: u64,
    summing: Summing,
    made: [LaneSums; PART],
    /// Number of sums that were taken.
    taken: usize,
}

impl DrawSums {
    pub(super) fn new(stream: Tausworthe, modulus: u64, further: bool) -> DrawSums {
        let lanes = Lanes::new(stream, PART * (SUMMED_DRAWS + usize::from(further)));
        DrawSums { lanes, modulus, summing: summing(modulus, further), made: Default::default(), taken: PART * LANES }
    }

    /// Sets the instructions that make the sums.
    pub(super) fn made_by(&mut self, sum_draws: SumDraws) {
        self.lanes.sum_draws = sum_draws;
    }

    /// The instructions that make the sums.
    pub(super) fn instructions(&self) -> SumDraws {
        self.lanes.sum_draws
    }

    /// The next sum, and the draw after it; 0 if none follows.
    #[inline]
    pub(super) fn take(&mut self) -> (u64, u32) {
        if self.taken == PART * LANES {
            self.make();
        }
        let (lane, number) = (self.taken / PART, self.taken % PART);
        self.taken += 1;
        let LaneSums { draws, quotients, further } = &self.made[number];
        (draws[lane] - quotients[lane] * self.modulus, further[lane])
    }

    #[inline(never)]
    fn make(&mut self) {
        for sums in &mut self.made {
            self.lanes.sum(self.summing, sums);
        }
        self.lanes.next_part();
        self.taken = 0;
    }
}

/// Division of 32 bits by a multiplication and a shift (Robison, "N-bit unsigned division via N-bit multiply-add",
/// 2005).
fn summing(modulus: u64, further: bool) -> Summing {
    if modulus > u64::from(u32::MAX) {
        // Every quotient is 0.
        return Summing { factor: 0, summand: 0, shift: 0, further };
    }
    let log = modulus.ilog2();
    let shift = 32 + log;
    let (quotient, rest) = ((1 << shift) / modulus, (1 << shift) % modulus);
    let (factor, summand) = match quotient {
        // A power of two.
        0x1_0000_0000 => (u32::MAX, u32::MAX),
        quotient if modulus - rest <= 1 << log => (quotient as u32 + 1, 0),
        quotient => (quotient as u32, quotient as u32),
    };
    Summing { factor, summand, shift, further }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        let powers = (1..32).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1]);
        let others = [3, 7, 641, 1000, 12_345, 16_777_217, 262_145, u64::from(u32::MAX) - 1, u64::from(u32::MAX)];
        for modulus in powers.chain(others).chain([1 << 32, 1 << 40]).filter(|modulus| *modulus > 1) {
            let Summing { factor, summand, shift, .. } = summing(modulus, true);
            let mut stream = Tausworthe::new(modulus);
            let most = u64::from(u32::MAX) / modulus;
            let times = [0, 1, 2, most / 2, most.saturating_sub(1), most];
            let borders = times.into_iter().map(|times| times * modulus);
            let borders =
                borders.flat_map(|border| [border.saturating_sub(1), border, border + 1, border + modulus - 1]);
            let draws = borders.filter_map(|border| u32::try_from(border).ok()).chain([0, 1, u32::MAX - 1, u32::MAX]);
            for draw in draws.chain((0..2000).map(|_| stream.draw())).map(u64::from) {
                let quotient = (draw * u64::from(factor) + u64::from(summand)) >> shift;
                assert_eq!(quotient, draw / modulus, "{draw} / {modulus}");
            }
        }
    }

    #[test]
    fn sums_made_ahead_are_those_one_by_one() {
        for (modulus, further) in [(2, true), (1001, false), (16_777_217, true), (1 << 33, true)] {
            let mut stream = Tausworthe::new(7);
            let mut sums = DrawSums::new(stream, modulus, further);
            for _ in 0..1000 {
                let sum = (0..SUMMED_DRAWS).map(|_| u64::from(stream.draw()) % modulus).sum();
                let draw = if further { stream.draw() } else { 0 };
                assert_eq!(sums.take(), (sum, draw));
            }
        }
    }
}
