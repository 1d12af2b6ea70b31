//! Chooses between read and write by fio's rule: a draw decides, but a direction that is behind its share comes
//! first.

use crate::op::OpKind;
use crate::random::Tausworthe;

/// The state of a mix of two directions; the second is writes, or trims in a mix of reads and trims.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    stream: Tausworthe,
    seed: u64,
    /// Shares in percent.
    percent: [u64; 2],
    /// Draws from this number on (in units of 2^-32) choose the second direction.
    second_from: u64,
    kinds: [OpKind; 2],
    /// The direction of the last choice: 0 or 1.
    current: usize,
    issued: [u64; 2],
    /// No new draw before the current direction has issued this number of requests.
    threshold: u64,
}

impl Mix {
    pub(crate) fn new(seed: u64, read_percent: u32, other: OpKind) -> Self {
        let read = u64::from(read_percent.min(100));
        Mix {
            stream: Tausworthe::new(seed),
            seed,
            percent: [read, 100 - read],
            second_from: (read << 32).div_ceil(100),
            kinds: [OpKind::Read, other],
            current: 0,
            issued: [0; 2],
            threshold: 0,
        }
    }

    /// Begins another pass; with `repeats` it uses the draws of the first pass again. The counts of issued requests
    /// continue, as in fio: if a direction is behind, a pass may differ from the one before.
    pub(crate) fn next_pass(&mut self, repeats: bool) {
        self.threshold = 0;
        if repeats {
            self.stream = Tausworthe::new(self.seed);
        }
    }

    /// Chooses the next direction: 0 or 1.
    #[inline]
    pub(crate) fn choose(&mut self) -> usize {
        let current = self.current;
        if self.issued[current] >= self.threshold {
            let drawn = self.draw();
            if drawn != current {
                self.threshold = self.issued[current] * self.percent[drawn] / 100;
                self.current = drawn;
            }
        }
        self.current
    }

    /// Counts an I/O of the chosen direction.
    #[inline]
    pub(crate) fn issue(&mut self, direction: usize) {
        self.issued[direction] += 1;
    }

    #[inline]
    fn draw(&mut self) -> usize {
        usize::from(u64::from(self.stream.draw()) >= self.second_from)
    }

    /// Chooses and counts the next `count` directions (up to 64): bit n of the result is the direction of request n.
    pub(crate) fn choose_many(&mut self, count: usize) -> u64 {
        if count == 0 || !self.none_falls_behind(count) {
            let mut choices = 0;
            for number in 0..count {
                let direction = self.choose();
                self.issue(direction);
                choices |= (direction as u64) << number;
            }
            return choices;
        }
        // The latest draw is the lowest bit until the bits are reversed: this takes two instructions for each.
        let mut drawn = 0_u64;
        for _ in 0..count {
            drawn = drawn + drawn + self.draw() as u64;
        }
        let second = drawn.count_ones() as usize;
        self.issued[0] += (count - second) as u64;
        self.issued[1] += second as u64;
        self.current = (drawn & 1) as usize;
        // The exact value is not needed, because the current direction has passed it.
        self.threshold = 0;
        drawn.reverse_bits() >> (64 - count)
    }

    /// Whether neither direction can fall so far behind within the next `count` requests that draws are left out.
    fn none_falls_behind(&self, count: usize) -> bool {
        let far_enough =
            |this: usize| self.issued[this] * 100 >= self.percent[this] * (self.issued[1 - this] + count as u64);
        self.issued[self.current] >= self.threshold && far_enough(0) && far_enough(1)
    }

    /// The kinds of the two directions, by the number that [`choose`](Mix::choose) returns.
    #[inline]
    pub(crate) fn kinds(&self) -> [OpKind; 2] {
        self.kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Seeds, Slot};

    fn counts(read_percent: u32, ios: usize) -> [u64; 2] {
        let mut mix = Mix::new(Seeds::new(0x89, 1).of(Slot::Mix), read_percent, OpKind::Write);
        for _ in 0..ios {
            let direction = mix.choose();
            mix.issue(direction);
        }
        mix.issued
    }

    #[test]
    fn three_quarters_of_64_mib_as_fio_counts_them() {
        assert_eq!(counts(75, 16_384), [12_276, 4_108]);
    }

    #[test]
    fn many_at_once_are_those_one_by_one() {
        for percent in 0..=100 {
            let mut one_by_one = Mix::new(u64::from(percent), percent, OpKind::Write);
            let mut at_once = one_by_one.clone();
            for count in (1..=64).cycle().take(640) {
                let choices = at_once.choose_many(count);
                for number in 0..count {
                    let direction = one_by_one.choose();
                    one_by_one.issue(direction);
                    assert_eq!(choices >> number & 1, direction as u64, "{percent} percent");
                }
                assert_eq!(at_once.issued, one_by_one.issued);
            }
        }
    }

    #[test]
    fn shares_are_kept_for_every_percentage() {
        assert_eq!(counts(100, 1000), [1000, 0]);
        assert_eq!(counts(0, 1000), [0, 1000]);
        for percent in 1..100 {
            let [reads, _] = counts(percent, 50_000);
            let share = reads as f64 / 500.0;
            assert!((share - f64::from(percent)).abs() < 1.0, "{percent} percent gave {share}");
        }
    }
}
