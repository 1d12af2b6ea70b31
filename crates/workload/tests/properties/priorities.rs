//! Properties of the priorities of requests.

use fsdyno_job::{IoPriority, PriorityShare};
use fsdyno_workload::{Block, Generator, Refill};

use crate::workload;

#[test]
fn priorities_of_another_generator_do_not_stay_in_a_block() {
    let plain = workload(0, 1 << 20);
    let mut urgent = workload(0, 1 << 20);
    let priority = IoPriority { class: 1, level: 2, hint: 0 };
    urgent.priority_shares.read = vec![PriorityShare { block_bytes: None, percent: 100, priority }];
    let mut block = Block::new();
    for (workload, priority) in [(&urgent, priority.as_number()), (&plain, 0), (&urgent, priority.as_number())] {
        assert_eq!(Generator::new(workload).unwrap().refill(&mut block), Refill::Ops);
        assert!(block.ops[..block.len].iter().all(|op| op.priority == priority), "{:?}", block.ops[0]);
    }
}
