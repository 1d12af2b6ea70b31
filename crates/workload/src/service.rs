//! Chooses the file of the next request.

use std::collections::VecDeque;

use fsdyno_job::{Distribution, FileService};

use crate::random::{Seeds, Slot, Stream};
use crate::spread::Ranks;
use crate::workload::Workload;

/// Number of ranges of an uneven choice's curve, per file.
const RANGES_PER_FILE: u64 = 1 << 10;

/// Largest number of finished files that are remembered.
const FINISHED_MAX: usize = 1 << 12;

/// Chooses among the files that are not done.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    kind: FileService,
    stream: Stream,
    seed: u64,
    wide: bool,
    /// The curve of an uneven choice.
    ranks: Option<Ranks>,
    /// The current file, then the number of further requests that it gets.
    current: Option<usize>,
    left: u32,
    next: usize,
    /// `openfiles`; `None`: all files are open.
    window: Option<OpenFilesWindow>,
}

/// The files that are open, at most `openfiles`. A finished file makes room for another one, as in fio.
#[derive(Clone, Debug)]
struct OpenFilesWindow {
    /// In ascending order.
    open: Vec<usize>,
    max: usize,
    /// Finished files that were not returned yet.
    finished: VecDeque<u32>,
}

impl OpenFilesWindow {
    fn is_full(&self) -> bool {
        self.open.len() >= self.max
    }

    fn holds(&self, file: usize) -> bool {
        self.open.binary_search(&file).is_ok()
    }

    fn admits(&self, file: usize) -> bool {
        !self.is_full() || self.holds(file)
    }

    fn open(&mut self, file: usize) {
        if let Err(at) = self.open.binary_search(&file) {
            self.open.insert(at, file);
        }
    }

    fn close(&mut self, file: usize) {
        self.open.retain(|open| *open != file);
        self.finish(file);
    }

    fn finish(&mut self, file: usize) {
        if self.finished.len() >= FINISHED_MAX {
            // The caller does not ask for finished files.
            self.finished.pop_front();
        }
        self.finished.push_back(file as u32);
    }

    fn close_all(&mut self) {
        for file in std::mem::take(&mut self.open) {
            self.finish(file);
        }
    }

    /// The first open file from `next` on, then from the first file on.
    fn in_turn(&self, next: usize) -> Option<usize> {
        self.open.get(self.open.partition_point(|open| *open < next)).or(self.open.first()).copied()
    }
}

impl Service {
    pub(crate) fn new(workload: &Workload, seeds: &Seeds, wide: bool) -> Self {
        let (kind, files) = (workload.service, workload.files.len());
        let curve = match kind {
            FileService::Zipf(theta, centre) => Some(Distribution::Zipf(theta, centre)),
            FileService::Pareto(h, centre) => Some(Distribution::Pareto(h, centre)),
            FileService::Normal(deviation, centre) => Some(Distribution::Normal(deviation, centre)),
            FileService::RoundRobin { .. } | FileService::Random { .. } | FileService::Sequential => None,
        };
        let seed = seeds.of(Slot::File);
        let ranks = curve.and_then(|curve| Ranks::in_order(&curve, files as u64 * RANGES_PER_FILE, seed));
        let max = workload.open_files.map_or(files, |max| max as usize);
        let window = (max < files).then(|| OpenFilesWindow { open: Vec::new(), max, finished: VecDeque::new() });
        Service { kind, stream: Stream::new(seed, wide), seed, wide, ranks, current: None, left: 0, next: 0, window }
    }

    /// Whether a finished file starts over by itself, because an uneven choice would otherwise not keep its shares.
    pub(crate) fn serves_again(&self) -> bool {
        self.ranks.is_some()
    }

    /// The files start over: chooses again, with the same draws if `repeats`. Turns and uneven draws continue where
    /// they were.
    pub(crate) fn start_over(&mut self, repeats: bool) {
        self.current = None;
        if repeats {
            self.stream = Stream::new(self.seed, self.wide);
        }
        if let Some(window) = &mut self.window {
            window.close_all();
        }
    }

    /// Notes that this file has come to its end.
    pub(crate) fn finish(&mut self, file: usize) {
        if let Some(window) = &mut self.window {
            window.close(file);
        }
    }

    /// The file that was finished first and was not returned yet. Requests made so far and later passes may still
    /// name it.
    pub(crate) fn next_finished(&mut self) -> Option<u32> {
        self.window.as_mut()?.finished.pop_front()
    }

    /// Whether requests may go to this file before another one is finished.
    pub(crate) fn holds(&self, file: usize) -> bool {
        self.window.as_ref().is_none_or(|window| window.holds(file))
    }

    /// Chooses the next of `count` files; `None` if `is_done` is true for all of them.
    pub(crate) fn choose(&mut self, count: usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        let Some(mut window) = self.window.take() else { return self.choose_among(count, is_done) };
        let chosen = match self.kind {
            // Only the open files are searched, not all closed ones.
            FileService::RoundRobin { .. } if window.is_full() && self.left == 0 => {
                self.next = window.in_turn(self.next).unwrap_or(self.next);
                self.choose_among(count, is_done)
            }
            _ => self.choose_among(count, |file| is_done(file) || !window.admits(file)),
        };
        if let Some(file) = chosen {
            window.open(file);
        }
        self.window = Some(window);
        chosen
    }

    fn choose_among(&mut self, count: usize, is_done: impl Fn(usize) -> bool) -> Option<usize> {
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
