//! Noise of known kinds: how the logarithm of a rate varies from moment to moment.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A uniform draw from (0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A normal draw with mean 0 and deviation 1 (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A kind of noise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Each moment is independent.
    Independent,
    /// Each moment keeps this share of the moment before.
    Autocorrelated(f64),
    /// Sometimes several moments in a row are a third slower.
    Bursts,
    /// Each moment is faster than the one before by this share.
    Drift(f64),
}

impl Noise {
    /// Logarithms of `count` moments in a row, around 0; `deviation` is that of the noise without bursts.
    pub(crate) fn series(self, random: &mut Random, deviation: f64, count: usize) -> Vec<f64> {
        match self {
            Noise::Independent => (0..count).map(|_| deviation * random.normal()).collect(),
            Noise::Autocorrelated(kept) => {
                let fresh = (1.0 - kept * kept).sqrt();
                let mut state = random.normal();
                let mut next = || {
                    state = kept * state + fresh * random.normal();
                    deviation * state
                };
                (0..count).map(|_| next()).collect()
            }
            Noise::Bursts => {
                let mut slow = false;
                let mut next = || {
                    slow = random.unit() < if slow { 0.67 } else { 0.04 };
                    0.4 * deviation * random.normal() - if slow { 0.4 } else { 0.0 }
                };
                (0..count).map(|_| next()).collect()
            }
            Noise::Drift(step) => {
                (0..count).map(|moment| 0.4 * deviation * random.normal() + step * moment as f64).collect()
            }
        }
    }
}
