//! Read or write: fio's rule. A draw decides, but the direction that fell behind its share is caught up first.

use crate::op::OpKind;
use crate::random::Tausworthe;

/// The two directions of a mix; the second is writes, or trims in a mix of reads and trims.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    stream: Tausworthe,
    seed: u64,
    /// Shares in percent.
    percent: [u64; 2],
    kinds: [OpKind; 2],
    /// The direction of the last choice: 0 or 1.
    current: usize,
    issued: [u64; 2],
    /// No new draw before the current direction has issued so many.
    threshold: u64,
}

impl Mix {
    pub(crate) fn new(seed: u64, read_percent: u32, other: OpKind) -> Self {
        let read = u64::from(read_percent.min(100));
        Mix {
            stream: Tausworthe::new(seed),
            seed,
            percent: [read, 100 - read],
            kinds: [OpKind::Read, other],
            current: 0,
            issued: [0; 2],
            threshold: 0,
        }
    }

    /// Begins the same sequence again.
    pub(crate) fn restart(&mut self) {
        *self = Mix::new(self.seed, self.percent[0] as u32, self.kinds[1]);
    }

    /// Which direction is next: 0 or 1.
    #[inline]
    pub(crate) fn choose(&mut self) -> usize {
        let current = self.current;
        if self.issued[current] >= self.threshold {
            let drawn = usize::from(u64::from(self.stream.percent()) > self.percent[0]);
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
    pub(crate) fn kind(&self, direction: usize) -> OpKind {
        self.kinds[direction]
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
