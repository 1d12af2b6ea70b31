//! Draws the sizes of files that are given as a range (`filesize=4k-64k`).

use crate::random::{Seeds, Slot, Tausworthe};

/// Draws the sizes of one worker's files, in the order of the files, as fio 3.42 does.
#[derive(Clone, Debug)]
pub struct FileSizes {
    stream: Tausworthe,
}

impl FileSizes {
    /// `seed` and `thread_number` are those of the worker's [`Workload`](crate::Workload).
    pub fn new(seed: u64, thread_number: u32) -> FileSizes {
        FileSizes { stream: Tausworthe::new(Seeds::new(seed, thread_number).of(Slot::FileSize)) }
    }

    /// The next size in bytes: from `smallest` to just below `largest`, rounded down to a multiple of `block`.
    pub fn draw(&mut self, smallest: u64, largest: u64, block: u64) -> u64 {
        let size = smallest + self.stream.below(largest.saturating_sub(smallest));
        size - size % block.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_fio_draws() {
        // fio --rw=write --filesize=4k-64k --nrfiles=4; then the first job with another seed; then a second thread.
        let draws = |seed, thread_number, block| {
            let mut sizes = FileSizes::new(seed, thread_number);
            [(); 4].map(|()| sizes.draw(4096, 65_536, block))
        };
        assert_eq!(draws(0x89, 1, 4096), [12_288, 20_480, 20_480, 57_344]);
        assert_eq!(draws(0x89, 1, 512), [12_800, 23_040, 22_016, 58_880]);
        assert_eq!(draws(0x89, 2, 4096)[..2], [20_480, 57_344]);
        assert_eq!(draws(7, 1, 4096)[..2], [61_440, 8192]);
    }

    #[test]
    fn one_size_is_that_size() {
        assert_eq!(FileSizes::new(1, 1).draw(10_240, 10_240, 512), 10_240);
    }
}
