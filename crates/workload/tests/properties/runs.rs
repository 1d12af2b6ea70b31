//! Usual requests of one file are made several at a time.

use fsdyno_job::{BlockSize, Direction, Durability, PerDirection, RandomGenerator, Seed};
use fsdyno_workload::{OpKind, Workload};

use super::{access, passes, workload};

/// An fsync after more writes than there are: requests are made one by one.
fn one_by_one(workload: &Workload) -> Workload {
    Workload { durability: Durability { fsync_every: u32::MAX, ..Durability::default() }, ..workload.clone() }
}

#[test]
fn requests_made_several_at_a_time_are_those_one_by_one() {
    let sizes = [
        BlockSize::Split(vec![(4096, 50), (8192, 50)]),
        BlockSize::Split(vec![(512, 10), (1536, 60), (65_536, 30)]),
        BlockSize::Range(4096, 20_000),
    ];
    let mut compared = 0;
    for (size, writes) in sizes.into_iter().flat_map(|size| [(size.clone(), false), (size, true)]) {
        let mut base = workload(0, 3_000_000);
        base.pattern.access = access(true, !writes, writes);
        base.pattern.block_size = PerDirection::all(size);
        let with = |change: &dyn Fn(&mut Workload)| {
            let mut changed = base.clone();
            change(&mut changed);
            changed
        };
        let cases = [
            with(&|_| {}),
            with(&|case| case.pattern.random_map = false),
            with(&|case| (case.files[0].start, case.files[0].length) = (12_288, 1_234_567)),
            with(&|case| case.pattern.generator = Some(RandomGenerator::Tausworthe)),
            with(&|case| case.pattern.unaligned_sizes = true),
            with(&|case| (case.bytes, case.starts_over) = (10_000_000, true)),
            with(&|case| (case.loops, case.pattern.seed) = (3, Seed::Fixed(7))),
            with(&|case| case.number_ios = 333),
            with(&|case| case.pass_bytes = Some(700_000)),
            with(&|case| case.time_based = true),
            with(&|case| case.pattern.random_percent = PerDirection::all(60)),
            with(&|case| case.pattern.block_align = Some(PerDirection::all(1024))),
        ];
        for case in cases {
            let direction = if writes { Direction::Write } else { Direction::Read };
            let at_once = passes(&case, 3);
            assert_eq!(at_once, passes(&one_by_one(&case), 3), "{direction:?} of {case:?}");
            assert!(at_once.iter().flatten().all(|op| op.kind == if writes { OpKind::Write } else { OpKind::Read }));
            compared += at_once.iter().map(Vec::len).sum::<usize>();
        }
    }
    assert!(compared > 20_000, "{compared} requests");
}
