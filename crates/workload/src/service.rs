//! Which file the next request goes to.

use job::{Distribution, FileService};

use crate::random::{Seeds, Slot, Stream};
use crate::spread::Ranks;

/// Draws of an uneven choice per file: its curve goes over so many ranges.
const RANGES_PER_FILE: u64 = 1 << 10;

/// The choice among the files that are not done.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    kind: FileService,
    stream: Stream,
    seed: u64,
    wide: bool,
    /// Of an uneven choice.
    ranks: Option<Ranks>,
    /// The file in turn, and how many more requests it gets.
    current: Option<usize>,
    left: u32,
    next: usize,
}

impl Service {
    pub(crate) fn new(kind: FileService, files: usize, seeds: &Seeds, wide: bool) -> Self {
        let curve = match kind {
            FileService::Zipf(theta, centre) => Some(Distribution::Zipf(theta, centre)),
            FileService::Pareto(h, centre) => Some(Distribution::Pareto(h, centre)),
            FileService::Normal(deviation, centre) => Some(Distribution::Normal(deviation, centre)),
            FileService::RoundRobin { .. } | FileService::Random { .. } | FileService::Sequential => None,
        };
        let seed = seeds.of(Slot::File);
        let ranks = curve.and_then(|curve| Ranks::in_order(&curve, files as u64 * RANGES_PER_FILE, seed));
        Service { kind, stream: Stream::new(seed, wide), seed, wide, ranks, current: None, left: 0, next: 0 }
    }

    /// Whether a file that is finished starts over by itself: an uneven choice would not keep its shares otherwise.
    pub(crate) fn serves_again(&self) -> bool {
        self.ranks.is_some()
    }

    /// The files start over: a new choice, from the same draws again if that `repeats` the first sequence. Turns go
    /// on where they were, and so do uneven draws.
    pub(crate) fn start_over(&mut self, repeats: bool) {
        self.current = None;
        if repeats {
            self.stream = Stream::new(self.seed, self.wide);
        }
    }

    /// The next of `count` files; `None` when `is_done` holds for all of them.
    pub(crate) fn choose(&mut self, count: usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        if let Some(file) = self.current.filter(|&file| !is_done(file)) {
            if self.kind == FileService::Sequential {
                return Some(file);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(file);
            }
        }
        let (file, per_file) = match self.kind {
            FileService::RoundRobin { per_file } => (self.in_turn(count, is_done)?, per_file),
            FileService::Sequential => (self.in_turn(count, is_done)?, 1),
            FileService::Random { per_file } => (self.at_random(count, is_done)?, per_file),
            FileService::Zipf(..) | FileService::Pareto(..) | FileService::Normal(..) => {
                (self.at_random(count, is_done)?, 1)
            }
        };
        self.current = Some(file);
        self.left = per_file.saturating_sub(1);
        Some(file)
    }

    fn in_turn(&mut self, count: usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..count {
            let file = self.next;
            self.next = (file + 1) % count;
            if !is_done(file) {
                return Some(file);
            }
        }
        None
    }

    fn at_random(&mut self, count: usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        if (0..count).all(&is_done) {
            return None;
        }
        loop {
            let file = match &mut self.ranks {
                Some(ranks) => (ranks.draw() / RANGES_PER_FILE) as usize,
                None => self.stream.below(count as u64) as usize,
            };
            if !is_done(file) {
                return Some(file);
            }
        }
    }
}
