//! `cmdprio_percentage` and its companions: some requests have another I/O priority than their thread.

use fsdyno_job::{Direction, PerDirection, PriorityShare};

use crate::op::{Block, Op};

/// Draws the priorities of requests, a block of them at a time.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    shares: PerDirection<Vec<PriorityShare>>,
    /// The only share of each kind of request, for jobs without several shares or shares by size.
    single: Option<[SingleShare; KINDS]>,
    state: u64,
}

/// Kinds of requests ([`crate::op::OpKind`]).
const KINDS: usize = 8;

/// A number drawn below the threshold (0 to 2^31) has the priority.
#[derive(Clone, Copy, Debug, Default)]
struct SingleShare {
    threshold: u32,
    priority: u16,
}

fn single(shares: &PerDirection<Vec<PriorityShare>>) -> Option<[SingleShare; KINDS]> {
    let mut kinds = [SingleShare::default(); KINDS];
    // The first kinds are the directions.
    for (direction, list) in shares.iter() {
        match list[..] {
            [] => {}
            [PriorityShare { block_bytes: None, percent, priority }] => {
                let threshold = ((u64::from(percent) << 31) / 100) as u32;
                kinds[direction as usize] = SingleShare { threshold, priority: priority.as_number() };
            }
            _ => return None,
        }
    }
    Some(kinds)
}

impl Priorities {
    /// `None`: all requests have that of their thread.
    pub(crate) fn new(shares: &PerDirection<Vec<PriorityShare>>) -> Option<Box<Priorities>> {
        let drawn = Direction::ALL.into_iter().any(|direction| !shares[direction].is_empty());
        drawn.then(|| Box::new(Priorities { shares: shares.clone(), single: single(shares), state: 0 }))
    }

    /// Gives each request of the block its priority.
    pub(crate) fn stamp(&mut self, block: &mut Block) {
        let ops = &mut block.ops[..block.len];
        let Some(single) = self.single else { return self.stamp_by_size(ops) };
        let mut state = self.state;
        for op in ops {
            state = next(state);
            let share = single[op.kind as usize];
            op.priority = if ((state >> 33) as u32) < share.threshold { share.priority } else { 0 };
        }
        self.state = state;
    }

    fn stamp_by_size(&mut self, ops: &mut [Op]) {
        for op in ops {
            op.priority = 0;
            let Some(direction) = op.kind.direction() else { continue };
            self.state = next(self.state);
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

/// Knuth's generator: the upper half of its state is random enough, and costs the least.
fn next(state: u64) -> u64 {
    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use fsdyno_job::IoPriority;

    use super::*;
    use crate::op::{BLOCK_OPS, OpKind};

    const URGENT: IoPriority = IoPriority { class: 1, level: 2, hint: 0 };
    const IDLE: IoPriority = IoPriority { class: 3, level: 0, hint: 0 };

    fn share(block_bytes: Option<u64>, percent: u32, priority: IoPriority) -> PriorityShare {
        PriorityShare { block_bytes, percent, priority }
    }

    /// How many of 9,600 requests have no priority of their own, `URGENT`, `IDLE`.
    fn counts(priorities: &mut Priorities, kind: OpKind, length: u64) -> [u32; 3] {
        let mut block = Block::new();
        // What an earlier block left behind is no priority of this one.
        block.ops.fill(Op { offset: 0, length, file: 0, kind, priority: 7 });
        block.len = BLOCK_OPS;
        let mut counts = [0; 3];
        let numbers = [0, URGENT.as_number(), IDLE.as_number()];
        for _ in 0..9600 / BLOCK_OPS {
            priorities.stamp(&mut block);
            for op in &block.ops {
                counts[numbers.iter().position(|number| *number == op.priority).unwrap()] += 1;
            }
        }
        counts
    }

    #[test]
    fn shares_are_kept_by_size_and_direction() {
        let mut shares = PerDirection::default();
        assert!(Priorities::new(&shares).is_none());
        shares.read = vec![share(Some(4096), 30, URGENT), share(Some(4096), 20, IDLE)];
        shares.write = vec![share(None, 100, IDLE)];
        let mut priorities = Priorities::new(&shares).unwrap();
        let mut count = |kind, length| counts(&mut priorities, kind, length);
        let [rest, first, second] = count(OpKind::Read, 4096);
        assert!((2700..3060).contains(&first) && (1770..2070).contains(&second), "{rest} {first} {second} of 9,600");
        assert_eq!(count(OpKind::Read, 8192), [9600, 0, 0]);
        assert_eq!(count(OpKind::Write, 512), [0, 0, 9600]);
        assert_eq!(count(OpKind::Trim, 512), [9600, 0, 0]);
        assert_eq!(count(OpKind::Sync, 0), [9600, 0, 0]);
    }

    #[test]
    fn the_only_share_of_a_direction_is_kept_for_all_sizes() {
        let shares = PerDirection {
            read: vec![share(None, 30, URGENT)],
            write: vec![share(None, 100, IDLE)],
            ..PerDirection::default()
        };
        let mut priorities = Priorities::new(&shares).unwrap();
        let mut count = |kind, length| counts(&mut priorities, kind, length);
        for length in [512, 4096] {
            let [rest, urgent, idle] = count(OpKind::Read, length);
            assert!((2700..3060).contains(&urgent) && idle == 0, "{rest} {urgent} {idle} of 9,600");
            assert_eq!(count(OpKind::Write, length), [0, 0, 9600], "each of them");
        }
        for kind in [OpKind::Trim, OpKind::Sync, OpKind::ZoneFinish] {
            assert_eq!(count(kind, 4096), [9600, 0, 0], "{kind:?}");
        }
    }
}
