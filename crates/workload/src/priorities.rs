//! `cmdprio_percentage` and its companions: some requests have another I/O priority than their thread.

use fsdyno_job::{Direction, PerDirection, PriorityShare};

use crate::op::Block;

/// Draws the priorities of requests, a block of them at a time.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    shares: PerDirection<Vec<PriorityShare>>,
    state: u64,
}

impl Priorities {
    /// `None`: all requests have that of their thread.
    pub(crate) fn new(shares: &PerDirection<Vec<PriorityShare>>) -> Option<Box<Priorities>> {
        let drawn = Direction::ALL.into_iter().any(|direction| !shares[direction].is_empty());
        drawn.then(|| Box::new(Priorities { shares: shares.clone(), state: 0 }))
    }

    /// Gives each request of the block its priority.
    pub(crate) fn stamp(&mut self, block: &mut Block) {
        for op in &mut block.ops[..block.len] {
            op.priority = 0;
            let Some(direction) = op.kind.direction() else { continue };
            // Knuth's generator: the upper half of its state is random enough, and costs the least.
            self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let mut drawn = (((self.state >> 32) * 100) >> 32) as u32;
            for share in &self.shares[direction] {
                if share.block_bytes.is_some_and(|bytes| bytes != op.length) {
                    continue;
                }
                if drawn < share.percent {
                    op.priority = share.priority.as_number();
                    break;
                }
                drawn -= share.percent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::IoPriority;

    use super::*;
    use crate::op::{BLOCK_OPS, Op, OpKind};

    #[test]
    fn shares_are_kept_by_size_and_direction() {
        let urgent = IoPriority { class: 1, level: 2, hint: 0 };
        let idle = IoPriority { class: 3, level: 0, hint: 0 };
        let share = |block_bytes, percent, priority| PriorityShare { block_bytes, percent, priority };
        let mut shares = PerDirection::default();
        assert!(Priorities::new(&shares).is_none());
        shares.read = vec![share(Some(4096), 30, urgent), share(Some(4096), 20, idle)];
        shares.write = vec![share(None, 100, idle)];
        let mut priorities = Priorities::new(&shares).unwrap();
        let mut count = |kind, length| {
            let mut block = Block::new();
            // What an earlier block left behind is no priority of this one.
            block.ops.fill(Op { offset: 0, length, file: 0, kind, priority: 7 });
            block.len = BLOCK_OPS;
            let mut counts = [0; 3];
            for _ in 0..150 {
                priorities.stamp(&mut block);
                for op in &block.ops {
                    counts
                        [[0, urgent.as_number(), idle.as_number()].iter().position(|n| *n == op.priority).unwrap()] +=
                        1;
                }
            }
            counts
        };
        let [rest, first, second] = count(OpKind::Read, 4096);
        assert!((2700..3060).contains(&first) && (1770..2070).contains(&second), "{rest} {first} {second} of 9,600");
        assert_eq!(count(OpKind::Read, 8192), [9600, 0, 0]);
        assert_eq!(count(OpKind::Write, 512), [0, 0, 9600]);
        assert_eq!(count(OpKind::Trim, 512), [9600, 0, 0]);
        assert_eq!(count(OpKind::Sync, 0), [9600, 0, 0]);
    }
}
