//! Draws the length of the next request.

use fsdyno_job::BlockSize;

use crate::random::Stream;

/// Draws the sizes of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    kind: Kind,
    seed: u64,
    wide: bool,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed(u64),
    Range {
        min: u64,
        max: u64,
        unaligned: bool,
    },
    /// Sizes with the upper end of their share, the smallest share first.
    Split {
        parts: Box<[Part]>,
        min: u64,
    },
}

#[derive(Clone, Copy, Debug)]
struct Part {
    /// The upper end of the share, from 0 to 1; then the first draw of 32 bits that is not below it.
    share: f64,
    draw: u64,
    size: u64,
}

impl Sizes {
    pub(crate) fn new(size: &BlockSize, unaligned: bool, seed: u64, wide: bool) -> Self {
        let kind = match size {
            BlockSize::Fixed(size) => Kind::Fixed(*size),
            BlockSize::Range(min, max) if min == max => Kind::Fixed(*min),
            BlockSize::Range(min, max) => Kind::Range { min: *min, max: *max, unaligned },
            BlockSize::Split(parts) => split(parts),
        };
        Sizes { kind, seed, wide, stream: Stream::new(seed, wide) }
    }

    /// Begins the same sequence again.
    pub(crate) fn restart(&mut self) {
        self.stream = Stream::new(self.seed, self.wide);
    }

    /// The smallest size, bytes.
    #[inline]
    pub(crate) fn min(&self) -> u64 {
        match self.kind {
            Kind::Fixed(size) => size,
            Kind::Range { min, .. } | Kind::Split { min, .. } => min,
        }
    }

    /// Draws the next size that fits into `remaining` bytes; sizes that are too large are drawn again. `None` if not
    /// even the smallest size fits.
    #[inline(always)]
    pub(crate) fn draw(&mut self, remaining: u64) -> Option<u64> {
        if self.min() > remaining {
            return None;
        }
        loop {
            let size = self.draw_once(remaining);
            if size <= remaining {
                return Some(size);
            }
        }
    }

    /// The largest size, bytes.
    pub(crate) fn max(&self) -> u64 {
        match &self.kind {
            Kind::Fixed(size) => *size,
            Kind::Range { max, .. } => *max,
            Kind::Split { parts, .. } => parts.iter().map(|part| part.size).max().unwrap_or(0),
        }
    }

    /// Draws the next size, where each of them fits.
    #[inline(always)]
    pub(crate) fn draw_any(&mut self) -> u64 {
        loop {
            let size = self.draw_once(u64::MAX);
            if size != u64::MAX {
                return size;
            }
        }
    }

    /// The largest size of at most `room` bytes. The smallest size must fit.
    pub(crate) fn at_most(&self, room: u64) -> u64 {
        match &self.kind {
            Kind::Split { parts, min } => {
                parts.iter().map(|part| part.size).filter(|size| *size <= room).max().unwrap_or(*min)
            }
            Kind::Fixed(_) | Kind::Range { .. } => room,
        }
    }

    #[inline(always)]
    fn draw_once(&mut self, remaining: u64) -> u64 {
        match &self.kind {
            Kind::Fixed(size) => *size,
            Kind::Range { min, max, unaligned } => {
                // The sum can exceed the maximum, which is therefore drawn more often than the other sizes.
                let size = min.saturating_add(self.stream.below(*max));
                let size = if *unaligned { size } else { size / min * min };
                size.min(*max)
            }
            Kind::Split { parts, .. } => {
                // If a size does not fit, the next one with a larger share is used.
                let part = match &mut self.stream {
                    Stream::Narrow(stream) => {
                        let draw = u64::from(stream.draw());
                        parts.iter().find(|part| draw < part.draw && part.size <= remaining)
                    }
                    wide => {
                        let fraction = wide.fraction();
                        parts.iter().find(|part| fraction < part.share && part.size <= remaining)
                    }
                };
                part.map_or(u64::MAX, |part| part.size)
            }
        }
    }
}

fn split(parts: &[(u64, u32)]) -> Kind {
    let mut shares: Vec<(u64, u32)> = Vec::new();
    for part in parts.iter().filter(|part| part.1 > 0) {
        shares.insert(shares.partition_point(|before| before.1 <= part.1), *part);
    }
    let min = shares.iter().map(|part| part.0).min().unwrap_or(0);
    let mut sum = 0;
    let parts = shares
        .into_iter()
        .map(|(size, percent)| {
            sum += percent;
            let share = f64::from(sum) / 100.0;
            // A power of two changes no digit of the share.
            Part { share, draw: (share * 4_294_967_296.0).ceil() as u64, size }
        })
        .collect();
    Kind::Split { parts, min }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_32_bits_are_compared_as_their_fractions_are() {
        for percent in 1..=100 {
            let Kind::Split { parts, .. } = split(&[(4096, percent), (8192, 100 - percent)]) else { unreachable!() };
            for Part { share, draw: end, .. } in parts {
                for draw in [end.saturating_sub(2), end - 1, end, end + 1].into_iter().filter(|draw| *draw < 1 << 32) {
                    assert_eq!(draw < end, draw as f64 / 4_294_967_296.0 < share, "{draw} of {percent} %");
                }
            }
        }
    }
}
