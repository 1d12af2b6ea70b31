//! Random numbers of a specified generator, so that the same seed gives the same interval in every version.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of `0..bound`. The length of a series is so far below 2^64 that no value is measurably more likely.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Puts the values into a random order; all orders are equally likely (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
pub(super) mod noise {
    //! Noise of known shape for simulations.

    use super::Random;

    impl Random {
        /// A uniform draw from (0, 1).
        pub(crate) fn unit(&mut self) -> f64 {
            (self.below(1 << 53) as f64 + 0.5) / (1u64 << 53) as f64
        }

        /// A normal draw with mean 0 and deviation 1 (Box and Muller).
        pub(crate) fn normal(&mut self) -> f64 {
            (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
        }

        /// Draws from a distribution of this shape with median 100: shapes that repeats of a benchmark have.
        pub(crate) fn sample(&mut self, shape: Shape) -> f64 {
            match shape {
                Shape::Normal => 100.0 + 10.0 * self.normal(),
                Shape::Skewed => 100.0 * (0.6 * self.normal()).exp(),
                // The first of two waits: a rate that is mostly near its best and sometimes far below.
                Shape::LongTail => 100.0 * (self.unit().ln() / 0.5f64.ln()),
                Shape::Uniform => 50.0 + 100.0 * self.unit(),
            }
        }

        /// A series with deviation 1 in which each value keeps the share `memory` (below 1) of the one before.
        pub(crate) fn series(&mut self, memory: f64, count: usize) -> Vec<f64> {
            let fresh = (1.0 - memory * memory).sqrt();
            let mut state = self.normal();
            let mut next = || {
                state = memory * state + fresh * self.normal();
                state
            };
            (0..count).map(|_| next()).collect()
        }

        /// Draws `count` samples.
        pub(crate) fn samples(&mut self, shape: Shape, count: usize) -> Vec<f64> {
            (0..count).map(|_| self.sample(shape)).collect()
        }
    }

    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Shape {
        Normal,
        Skewed,
        LongTail,
        Uniform,
    }

    pub(crate) const SHAPES: [Shape; 4] = [Shape::Normal, Shape::Skewed, Shape::LongTail, Shape::Uniform];

    /// The share of `trials` for which `covers` is true; each trial has a random stream of its own.
    pub(crate) fn share(trials: u64, mut covers: impl FnMut(&mut Random) -> bool) -> f64 {
        let hits = (0..trials).filter(|trial| covers(&mut Random::new(0x5eed ^ (trial << 20)))).count();
        hits as f64 / trials as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_all_and_favours_no_place() {
        let mut places = [[0u32; 4]; 4];
        let mut random = Random::new(1);
        for _ in 0..24_000 {
            let mut values = [0, 1, 2, 3];
            random.shuffle(&mut values);
            for (place, value) in values.into_iter().enumerate() {
                places[value][place] += 1;
            }
        }
        // 6,000 are expected, with a deviation of 67.
        assert!(places.iter().flatten().all(|count| count.abs_diff(6000) < 400), "{places:?}");
    }
}
