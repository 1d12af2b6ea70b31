//! Compares the clocks of all ranks with the first rank's: each with its parent's, down the tree.

use super::{Agent, Transport};
use crate::clocks::{Offset, ROUND_TRIPS};
use crate::messages::Message;

/// The known clocks of a branch.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    clocks: Vec<(u32, Offset)>,
    /// Number of children that have reported their branches.
    told: usize,
}

impl<T: Transport> Agent<T> {
    /// This clock is known: the children follow, one after the other.
    pub(super) fn compare_clocks(&mut self) {
        let own = (self.transport.rank() as u32, self.offset);
        self.comparison = Comparison { clocks: vec![own], told: 0 };
        for child in self.children() {
            self.send(child, &Message::Tick(self.offset));
            self.answer(child);
        }
        self.add_clocks(Vec::new());
    }

    /// Answers a child until it has asked enough.
    fn answer(&mut self, child: usize) {
        loop {
            match self.wait() {
                (from, Message::Ping) if from == child => {
                    let now_ns = self.now_ns();
                    self.send(child, &Message::Pong(now_ns));
                }
                (from, Message::Ticked) if from == child => return,
                other => self.queue.push_back(other),
            }
        }
    }

    /// The parent answers now.
    pub(super) fn tick(&mut self, parent: usize, parents: Offset) {
        let mut least: Option<Offset> = None;
        for _ in 0..ROUND_TRIPS {
            let asked_ns = self.now_ns();
            self.send(parent, &Message::Ping);
            let other_ns = loop {
                match self.wait() {
                    (from, Message::Pong(ns)) if from == parent => break ns,
                    other => self.queue.push_back(other),
                }
            };
            let offset = Offset::of_round_trip(asked_ns, other_ns, self.now_ns());
            least = least.into_iter().chain([offset]).min_by_key(|offset| offset.error_ns);
        }
        self.send(parent, &Message::Ticked);
        self.offset = least.unwrap_or_default().and(parents);
        self.compare_clocks();
    }

    /// A child has reported the clocks of its branch.
    pub(super) fn add_clocks(&mut self, clocks: Vec<(u32, Offset)>) {
        self.comparison.told += usize::from(!clocks.is_empty());
        self.comparison.clocks.extend(clocks);
        if self.comparison.told < self.children().len() {
            return;
        }
        let clocks = std::mem::take(&mut self.comparison.clocks);
        if self.is_first() { self.clocks_are_known(clocks) } else { self.send_up(&Message::Clocks(clocks)) }
    }

    fn now_ns(&self) -> u64 {
        use fsdyno_os::clock::Clock;
        self.clock.now_ns()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicI32;
    use std::time::Duration;

    use fsdyno_run::Bounds;

    use super::*;
    use crate::agent::WorkerProcess;
    use crate::frames;

    thread_local! {
        static NAMED: Cell<bool> = const { Cell::new(false) };
    }

    /// A child that says nothing until it has been named, or was asked very often.
    struct SilentChild {
        looks: u32,
    }

    impl Transport for SilentChild {
        fn rank(&self) -> usize {
            0
        }

        fn ranks(&self) -> usize {
            2
        }

        fn send(&mut self, _: usize, _: &[u8]) {}

        fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
            self.looks += 1;
            (NAMED.get() || self.looks > 1_000_000).then(|| (1, frames::encoded(&Message::Ticked)))
        }
    }

    #[test]
    fn a_rank_that_falls_silent_while_clocks_are_compared_is_named() {
        let (orders, reports) = (std::io::pipe().unwrap().1, std::io::pipe().unwrap().0);
        let worker = WorkerProcess { process: std::process::id(), orders, reports };
        let signal = Arc::new(AtomicI32::new(0));
        let say = |sentence: &str| NAMED.set(sentence.starts_with("rank 1 has said nothing for "));
        let limit = Duration::from_millis(1);
        let transport = SilentChild { looks: 0 };
        let mut agent = Agent::begin(transport, "1", worker, Bounds::default(), limit, signal, say).unwrap();
        agent.compare_clocks();
        assert!(agent.transport.looks < 1_000_000, "it went on without a word");
    }
}
