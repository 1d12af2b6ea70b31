//! Which file the next request goes to.

use job::FileService;

use crate::random::Stream;

/// The choice among the files that are not done.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    kind: FileService,
    stream: Stream,
    seed: u64,
    wide: bool,
    /// The file in turn, and how many more requests it gets.
    current: Option<usize>,
    left: u32,
    next: usize,
}

impl Service {
    pub(crate) fn new(kind: FileService, seed: u64, wide: bool) -> Self {
        Service { kind, stream: Stream::new(seed, wide), seed, wide, current: None, left: 0, next: 0 }
    }

    /// The files start over: a new choice, from the same draws again if that `repeats` the first sequence. Turns go
    /// on where they were.
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
            let file = self.stream.below(count as u64) as usize;
            if !is_done(file) {
                return Some(file);
            }
        }
    }
}
