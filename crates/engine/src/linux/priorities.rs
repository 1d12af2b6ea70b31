//! `cmdprio_percentage` and its companions: draws an I/O priority for some requests.

use fsdyno_job::{EngineOptions, PerDirection, PriorityShare};
use fsdyno_workload::Op;

/// Draws the priorities of requests.
#[derive(Debug)]
pub(crate) struct Priorities {
    shares: PerDirection<Vec<PriorityShare>>,
    drawn: u64,
    /// Priority of the latest request of each slot.
    by_slot: Box<[u16]>,
}

impl Priorities {
    /// `None`: all requests have the priority of their thread.
    pub(crate) fn new(options: &EngineOptions, depth: usize) -> Option<Box<Priorities>> {
        let by_slot = vec![0; depth].into_boxed_slice();
        let shares = options.priority_shares.clone();
        options.has_priorities().then(|| Box::new(Priorities { shares, drawn: 0, by_slot }))
    }

    /// The priority of a request that is queued, as the kernel encodes it; 0: that of the thread. The rest of a short
    /// transfer keeps the priority of its first part.
    #[cold]
    pub(crate) fn of(&mut self, slot: usize, op: &Op, done: u64) -> u16 {
        if done == 0 {
            self.by_slot[slot] = self.draw(op);
        }
        self.by_slot[slot]
    }

    /// The priority of the latest request of a slot.
    pub(crate) fn of_slot(&self, slot: usize) -> u16 {
        self.by_slot[slot]
    }

    fn draw(&mut self, op: &Op) -> u16 {
        let Some(direction) = op.kind.direction() else { return 0 };
        let mut drawn = self.percent();
        for share in &self.shares[direction] {
            if share.block_bytes.is_some_and(|bytes| bytes != op.length) {
                continue;
            }
            if drawn < share.percent {
                return share.priority.as_number();
            }
            drawn -= share.percent;
        }
        0
    }

    /// A number from 0 to 99. Steps of the golden ratio are spread evenly, and their period fits no pattern of
    /// requests.
    fn percent(&mut self) -> u32 {
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.drawn ^ (self.drawn >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        ((u128::from(mixed ^ (mixed >> 32)) * 100) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::IoPriority;
    use fsdyno_workload::OpKind;

    use super::*;

    #[test]
    fn shares_are_kept_by_size_and_direction() {
        let urgent = IoPriority { class: 1, level: 2, hint: 0 };
        let idle = IoPriority { class: 3, level: 0, hint: 0 };
        let share = |block_bytes, percent, priority| PriorityShare { block_bytes, percent, priority };
        let mut options = EngineOptions::default();
        assert!(Priorities::new(&options, 1).is_none());
        options.priority_shares.read = vec![share(Some(4096), 30, urgent), share(Some(4096), 20, idle)];
        options.priority_shares.write = vec![share(None, 100, idle)];
        let mut priorities = Priorities::new(&options, 1).unwrap();
        let mut count = |kind, length| {
            let op = Op { offset: 0, length, file: 0, kind };
            let drawn: Vec<u16> = (0..10_000).map(|_| priorities.of(0, &op, 0)).collect();
            [urgent, idle].map(|priority| drawn.iter().filter(|number| **number == priority.as_number()).count())
        };
        let [first, second] = count(OpKind::Read, 4096);
        assert!((2800..3200).contains(&first) && (1800..2200).contains(&second), "{first} {second}");
        assert_eq!(count(OpKind::Read, 8192), [0, 0]);
        assert_eq!(count(OpKind::Write, 512), [0, 10_000]);
        assert_eq!(count(OpKind::Trim, 512), [0, 0]);
        let op = Op { offset: 0, length: 4096, file: 0, kind: OpKind::Read };
        for _ in 0..100 {
            let first = priorities.of(0, &op, 0);
            assert_eq!(
                (priorities.of(0, &op, 512), priorities.of_slot(0)),
                (first, first),
                "the rest of a short request"
            );
        }
    }
}
