//! Properties that hold for every workload, whatever the options.

mod pacing;
mod priorities;
mod runs;
mod shared_zones;

use std::collections::HashMap;
use std::path::Path;

use fsdyno_job::{
    Access, BlockSize, Direction, Distribution, Durability, FileService, Pacing, Pattern, PerDirection,
    RandomGenerator, Seed, StridedZones, TrimBacklog,
};
use fsdyno_workload::{Block, FileRange, Generator, Op, OpKind, Refill, TRIMMED, Workload, WorkloadError};
use proptest::prelude::*;

fn access(random: bool, reads: bool, writes: bool) -> Access {
    Access { random, reads, writes, trims: false }
}

/// One file of `length` bytes from `start` on; 4 KiB reads in random order.
fn workload(start: u64, length: u64) -> Workload {
    Workload {
        pattern: Pattern {
            access: access(true, true, false),
            ..(*fsdyno_job::draft::Draft::default().job.pattern).clone()
        }
        .into(),
        service: FileService::RoundRobin { per_file: 1 },
        open_files: None,
        files: vec![FileRange { start, length, name: Path::new("file").into() }],
        bytes: length,
        starts_over: false,
        pass_bytes: None,
        verified: false,
        loops: 1,
        time_based: false,
        number_ios: 0,
        backlog: None,
        trims: None,
        durability: Durability::default(),
        pacing: Pacing::default().into(),
        priority_shares: Default::default(),
        zones: Default::default(),
        counts_read_back: false,
        thread_number: 1,
        seed: 0x89,
    }
}

/// The requests of the first `most` passes.
fn passes(workload: &Workload, most: usize) -> Vec<Vec<Op>> {
    let mut generator = Generator::new(workload).unwrap();
    let mut block = Block::new();
    let mut passes = vec![Vec::new()];
    loop {
        match generator.refill(&mut block) {
            Refill::Ops => {
                assert!((1..=64).contains(&block.len));
                passes.last_mut().unwrap().extend_from_slice(&block.ops[..block.len]);
            }
            Refill::Pass => {
                assert_eq!(block.len, 0);
                if passes.len() == most {
                    return passes;
                }
                passes.push(Vec::new());
            }
            Refill::Done => {
                assert_eq!(generator.refill(&mut block), Refill::Done, "after the end no request follows");
                return passes;
            }
        }
    }
}

/// The first requests of a job that may have no end.
fn first(workload: &Workload, most: usize) -> Vec<Op> {
    let mut generator = Generator::new(workload).unwrap();
    let (mut block, mut ops) = (Block::new(), Vec::new());
    while ops.len() < most && generator.refill(&mut block) != Refill::Done {
        ops.extend_from_slice(&block.ops[..block.len]);
    }
    ops
}

fn all(workload: &Workload) -> Vec<Op> {
    passes(workload, usize::MAX).concat()
}

/// Number of requests that touch each unit of a file's range.
fn touches(ops: &[Op], workload: &Workload, unit: u64) -> Vec<Vec<u32>> {
    let mut touches: Vec<Vec<u32>> = workload.files.iter().map(|file| vec![0; (file.length / unit) as usize]).collect();
    for op in ops {
        let range = &workload.files[op.file as usize];
        assert!(op.length > 0 && op.offset >= range.start, "{op:?} before the range");
        assert!(op.offset + op.length <= range.start + range.length, "{op:?} past the range");
        let first = (op.offset - range.start) / unit;
        for unit in first..first + op.length.div_ceil(unit) {
            if let Some(count) = touches[op.file as usize].get_mut(unit as usize) {
                *count += 1;
            }
        }
    }
    touches
}

fn assert_each_once(ops: &[Op], workload: &Workload, unit: u64) {
    for (file, counts) in touches(ops, workload, unit).iter().enumerate() {
        let wrong = counts.iter().position(|&count| count != 1);
        assert_eq!(wrong, None, "file {file}: unit {wrong:?} touched {:?} times", wrong.map(|unit| counts[unit]));
    }
}

fn any_sizes() -> impl Strategy<Value = BlockSize> {
    prop_oneof![
        (1..9_u64).prop_map(|k| BlockSize::Fixed(k * 512)),
        (1..4_u64, 0..9_u64).prop_map(|(min, more)| BlockSize::Range(min * 512, (min + more) * 512)),
        (1..9_u64, 1..9_u64, 1..100_u32)
            .prop_map(|(a, b, share)| { BlockSize::Split(vec![(a * 512, share), (b * 512, 100 - share)]) }),
    ]
}

fn any_generator() -> impl Strategy<Value = Option<RandomGenerator>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(RandomGenerator::Tausworthe)),
        1 => Just(Some(RandomGenerator::Tausworthe64)),
        1 => Just(Some(RandomGenerator::Lfsr)),
    ]
}

fn any_service() -> impl Strategy<Value = FileService> {
    prop_oneof![
        (1..4_u32).prop_map(|per_file| FileService::RoundRobin { per_file }),
        (1..4_u32).prop_map(|per_file| FileService::Random { per_file }),
        Just(FileService::Sequential),
    ]
}

/// If fewer files can be open than there are, they take turns, and no request is lost.
fn any_open_files() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![Just(None), (1..4_u32).prop_map(Some)]
}

prop_compose! {
    fn any_files()(lengths in prop::collection::vec(0..200_000_u64, 1..4), start in 0..100_u64) -> Vec<FileRange> {
        let file = |(number, length)| FileRange { start: start * 4096, length, name: Path::new(&format!("file.{number}")).into() };
        lengths.into_iter().enumerate().map(file).collect()
    }
}

prop_compose! {
    fn any_workload()(
        (random, reads, writes, read_percent) in (any::<bool>(), any::<bool>(), any::<bool>(), 0..=100_u32),
        (read, write) in (any_sizes(), any_sizes()),
        (random_map, generator, random_percent) in (any::<bool>(), any_generator(), prop_oneof![Just(100), 0..=100_u32]),
        (modifier, identical) in (prop::option::of(-20_000..20_000_i64), any::<bool>()),
        (service, open_files, files) in (any_service(), any_open_files(), any_files()),
        (loops, starts_over, bytes, number_ios) in (1..4_u32, any::<bool>(), 0..400_000_u64, prop_oneof![Just(0), 1..60_u64]),
        (seed, fsync_every) in (any::<u64>(), prop_oneof![Just(0), 1..5_u32]),
        (sizes_by_sequence, unaligned_sizes) in (any::<bool>(), any::<bool>()),
    ) -> Workload {
        let mut workload = workload(0, 0);
        workload.pattern.access = access(random, reads || !writes, writes);
        (workload.pattern.modifier, workload.pattern.identical) = (modifier, identical);
        workload.pattern.read_percent = read_percent;
        workload.pattern.block_size = PerDirection { read: read.clone(), write, trim: read };
        workload.pattern.random_map = random_map;
        workload.pattern.generator = generator;
        workload.pattern.random_percent = PerDirection::all(random_percent);
        workload.pattern.sizes_by_sequence = sizes_by_sequence;
        workload.pattern.unaligned_sizes = unaligned_sizes;
        Workload {
            service, open_files, loops, starts_over, number_ios, seed,
            bytes: if starts_over { bytes } else { files.iter().map(|file| file.length).sum() },
            files,
            durability: Durability { fsync_every, ..Durability::default() },
            ..workload
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every workload ends, stays within its files and sizes, and does not exceed what was asked for.
    #[test]
    fn any_workload_keeps_its_bounds(workload in any_workload()) {
        let Ok(_) = Generator::new(&workload) else { return Ok(()) };
        let ops = all(&workload);
        let transfers: Vec<Op> = ops.iter().copied().filter(|op| op.kind.direction().is_some()).collect();
        touches(&transfers, &workload, 512);
        let loops = u64::from(workload.loops);
        let bytes: u64 = transfers.iter().map(|op| op.length).sum();
        let last = transfers.last().map_or(0, |op| op.length);
        prop_assert!(bytes <= workload.bytes * loops + last);
        if workload.number_ios > 0 {
            prop_assert!(transfers.len() as u64 <= workload.number_ios * loops);
        }
        for op in &transfers {
            prop_assert!(workload.pattern.access.has(op.kind.direction().unwrap()));
        }
    }

    /// Requests have the sizes that were given: no map, window or file cuts them. Only a range is cut, and in fio's
    /// own order the sizes of a split, which stay between the smallest and the largest.
    #[test]
    fn requests_have_the_sizes_that_were_given(
        workload in any_workload(),
        time_based in any::<bool>(),
        strided in prop::option::of((1..80_000_u64, 4096..80_000_u64, 0..5000_u64)),
        distribution in prop_oneof![4 => Just(Distribution::Uniform), 1 => Just(Distribution::Zipf(1.2, None))],
    ) {
        let mut workload = Workload { time_based, ..workload };
        workload.pattern.strided = strided.map(|(bytes, range, skip)| StridedZones { bytes, range, skip });
        workload.pattern.distribution = distribution;
        let Ok(_) = Generator::new(&workload) else { return Ok(()) };
        let own_order = workload.pattern.generator.is_none();
        let is_of = |length: u64, sizes: &BlockSize| match sizes {
            BlockSize::Fixed(size) => length == *size,
            BlockSize::Split(parts) if own_order => parts.iter().any(|part| part.0 == length),
            sizes => (sizes.min()..=sizes.max()).contains(&length),
        };
        let sizes = &workload.pattern.block_size;
        for op in first(&workload, 2000) {
            let Some(direction) = op.kind.direction() else { continue };
            let given = match workload.pattern.sizes_by_sequence {
                true => is_of(op.length, &sizes.read) || is_of(op.length, &sizes.write),
                false => is_of(op.length, &sizes[direction]),
            };
            prop_assert!(given, "{:?}", op);
        }
    }

    /// A random job transfers all of its size: less than one block is left, whatever the sizes are, except where a
    /// map leaves gaps.
    #[test]
    fn random_jobs_do_all_of_their_size(workload in any_workload(), length in 40_000..400_000_u64) {
        let mut workload = workload;
        workload.files = vec![FileRange { start: 4096, length, name: Path::new("file").into() }];
        (workload.pattern.access.random, workload.number_ios) = (true, 0);
        workload.bytes = if workload.starts_over { workload.bytes } else { length };
        let Ok(_) = Generator::new(&workload) else { return Ok(()) };
        prop_assume!(!workload.leaves_gaps());
        let done: u64 = all(&workload).iter().map(|op| op.length).sum();
        let asked = workload.bytes * u64::from(workload.loops);
        let sizes = [&workload.pattern.block_size.read, &workload.pattern.block_size.write];
        let block = sizes.map(BlockSize::max).into_iter().max().unwrap();
        let left_out = block * if workload.starts_over { 1 } else { u64::from(workload.loops) };
        prop_assert!(done + left_out > asked, "{} of {} in {} and less", done, asked, block);
    }

    /// A sync comes after each N writes, for the file that was written last, and never two in a row.
    #[test]
    fn syncs_follow_their_writes(workload in any_workload()) {
        let every = u64::from(workload.durability.fsync_every);
        let Ok(_) = Generator::new(&workload) else { return Ok(()) };
        let (mut writes, mut synced_at, mut written) = (0, 0, 0);
        for op in all(&workload) {
            match op.kind {
                OpKind::Write => {
                    prop_assert!(every == 0 || writes < synced_at + every, "a sync is missing after {writes} writes");
                    writes += 1;
                    written = op.file;
                }
                OpKind::Sync => {
                    prop_assert!(every > 0 && writes == synced_at + every && op.file == written);
                    synced_at = writes;
                }
                _ => {}
            }
        }
    }

    /// With several sizes, or fio's own order, each unit comes once per pass. If reads and writes have different
    /// sizes, neither direction repeats a block of its own.
    #[test]
    fn mixed_sizes_cover_each_unit_once(
        (read, write) in (any_sizes(), any_sizes()),
        mixed in any::<bool>(),
        generator in prop_oneof![Just(None), Just(Some(RandomGenerator::Tausworthe)), Just(Some(RandomGenerator::Tausworthe64))],
        files in any_files(),
        (service, open_files) in (any_service(), any_open_files()),
        seed in any::<u64>(),
    ) {
        let mut workload = workload(0, 0);
        workload.pattern.access = access(true, true, mixed);
        workload.pattern.generator = generator;
        workload.pattern.block_size = PerDirection { read: read.clone(), write: write.clone(), trim: read.clone() };
        let workload = Workload {
            files, service, open_files, seed, bytes: u64::MAX, loops: 2, starts_over: true, ..workload
        };
        let Ok(_) = Generator::new(&workload) else { return Ok(()) };
        let passes = passes(&workload, 3);
        prop_assert_eq!(passes.len(), 3);
        for ops in &passes {
            if workload.fills_gaps() {
                continue;
            }
            if !workload.has_map_per_direction() {
                assert_each_once(ops, &workload, read.min());
            }
            for (kind, sizes) in [(OpKind::Read, &read), (OpKind::Write, &write)] {
                let ops: Vec<Op> = ops.iter().copied().filter(|op| op.kind == kind).collect();
                let unit = sizes.min();
                for op in &ops {
                    prop_assert_eq!((op.offset - workload.files[op.file as usize].start) % unit, 0, "{:?}", op);
                }
                let touched = touches(&ops, &workload, unit).concat();
                prop_assert!(touched.iter().all(|&count| count <= 1), "{:?}", touched);
            }
        }
        // Turns among files and directions continue from pass to pass; everything else repeats.
        if workload.files.len() == 1 && !mixed {
            prop_assert_eq!(&passes[0], &passes[1]);
        }
    }

    /// With one size, each block comes once per pass, and the passes of a time-based job differ.
    #[test]
    fn one_size_covers_each_block_once(
        blocks in prop::collection::vec(1..3000_u64, 1..4),
        rest in 0..4096_u64,
        mixed in any::<bool>(),
        generator in any_generator(),
        thread_number in 1..20_u32,
    ) {
        let mut workload = workload(0, 0);
        workload.pattern.access = access(true, true, mixed);
        workload.pattern.generator = generator;
        let file = |(number, blocks)| FileRange { start: 8192, length: blocks * 4096 + rest, name: Path::new(&format!("{number}")).into() };
        workload.files = blocks.iter().copied().enumerate().map(file).collect();
        workload.thread_number = thread_number;
        workload.bytes = workload.files.iter().map(|file| file.length).sum();
        assert_each_once(&all(&workload), &workload, 4096);

        workload.files.truncate(1);
        workload.time_based = true;
        let passes = passes(&workload, 3);
        for ops in &passes {
            assert_each_once(ops, &workload, 4096);
        }
        if blocks[0] > 20 && generator != Some(RandomGenerator::Lfsr) {
            prop_assert!(passes[0] != passes[1] && passes[1] != passes[2] && passes[0] != passes[2]);
        }
    }

    /// The plain cases make the same requests as the general one. A modifier that changes nothing selects the general
    /// one.
    #[test]
    fn quick_paths_agree_with_the_general_one(
        (random, writes, read_percent) in (any::<bool>(), any::<bool>(), 0..=100_u32),
        length in 4096..400_000_u64,
        (loops, starts_over, bytes) in (1..4_u32, any::<bool>(), 1..900_000_u64),
        system in any::<bool>(),
        number_ios in prop_oneof![Just(0), 1..60_u64],
    ) {
        let mut quick = workload(4096, length);
        quick.pattern.access = access(random, true, writes);
        quick.pattern.read_percent = read_percent;
        quick.pattern.random_map = false;
        quick.pattern.seed = if system { Seed::System } else { Seed::Repeated };
        quick = Workload { loops, starts_over, number_ios, bytes: if starts_over { bytes } else { length }, ..quick };
        let mut general = quick.clone();
        general.pattern.modifier = Some(i64::from(random));
        prop_assert_eq!(passes(&quick, 6), passes(&general, 6));
        if !random {
            quick.time_based = true;
            general.time_based = true;
            prop_assert_eq!(passes(&quick, 6), passes(&general, 6));
        }
    }
}

#[test]
fn the_mix_of_the_main_case() {
    let mut mixed = workload(0, 64 << 20);
    mixed.pattern.access = access(true, true, true);
    mixed.pattern.read_percent = 75;
    let ops = all(&mixed);
    let reads = ops.iter().filter(|op| op.kind == OpKind::Read).count();
    assert_eq!((reads, ops.len() - reads), (12_276, 4_108));
}

#[test]
fn zipf_files_differ_by_name() {
    let mut zipf = workload(0, 4 << 20);
    zipf.pattern.distribution = Distribution::Zipf(1.2, None);
    let hottest = |name: &str| {
        let mut workload = zipf.clone();
        workload.files[0].name = Path::new(name).into();
        let mut counts = HashMap::new();
        all(&workload).iter().for_each(|op| *counts.entry(op.offset / 4096).or_insert(0) += 1);
        counts.into_iter().max_by_key(|&(_, count)| count).unwrap().0
    };
    assert_eq!(hottest("a.0.0"), 559);
    assert_ne!(hottest("a.0.1"), 559);
}

/// With a given seed, each loop repeats the first one, in the plain case and in the general one: a modifier of 1
/// changes nothing and selects the general one.
#[test]
fn loops_of_skewed_offsets_repeat() {
    for distribution in
        [Distribution::Zipf(1.2, None), Distribution::Pareto(0.3, None), Distribution::Normal(20.0, None)]
    {
        let mut skewed = workload(64 << 10, 4 << 20);
        skewed.pattern.distribution = distribution;
        skewed.pattern.seed = Seed::Repeated;
        (skewed.loops, skewed.pass_bytes) = (2, Some(4 << 20));
        let plain = passes(&skewed, usize::MAX);
        assert_eq!(plain.len(), 2, "{:?}", skewed.pattern.distribution);
        assert_eq!(plain[0].len(), 1024);
        assert!(plain[0] == plain[1], "{:?}: the second loop differs", skewed.pattern.distribution);
        skewed.pattern.modifier = Some(1);
        assert!(plain == passes(&skewed, usize::MAX), "{:?}: the general way differs", skewed.pattern.distribution);
    }
}

#[test]
fn a_direction_needs_no_sizes_that_it_does_not_use() {
    let mut reads = workload(0, 8192);
    reads.pattern.block_size.write = BlockSize::Fixed(0);
    assert_eq!(all(&reads).len(), 2);
}

#[test]
fn what_cannot_work_is_refused() {
    let refused = |change: fn(&mut Workload)| {
        let mut workload = workload(0, 4096);
        change(&mut workload);
        Generator::new(&workload).err()
    };
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|w| w.files.clear()), Some(WorkloadError::NoFiles));
    assert_eq!(refused(|w| w.pattern.access.reads = false), Some(WorkloadError::NoDirection));
    assert_eq!(
        refused(|w| w.pattern.block_size.read = BlockSize::Fixed(0)),
        Some(WorkloadError::EmptyBlock { direction: Direction::Read })
    );
    assert_eq!(
        refused(|w| w.pattern.block_size.read = BlockSize::Range(8192, 4096)),
        Some(WorkloadError::InvertedRange { min: 8192, max: 4096 })
    );
    assert_eq!(
        refused(|w| w.pattern.block_size.read = BlockSize::Fixed(8192)),
        Some(WorkloadError::NothingFits { longest: 4096, block: 8192, direction: Direction::Read })
    );
    assert!(refused(|w| w.pattern.distribution = Distribution::Zipf(1.0, None)).is_some());
    assert_eq!(refused(|w| w.files[0].length = 1 << 50), None, "a permutation needs no memory");
    assert_eq!(
        refused(|w| {
            w.files[0].length = 1 << 50;
            w.pattern.generator = Some(RandomGenerator::Tausworthe);
        }),
        Some(WorkloadError::MapTooLarge { gibibytes: 32 })
    );
    assert!(refused(|w| w.pattern.block_align = Some(PerDirection::all(0))).is_some());
}

/// All requests of a replay, with the numbers of the writes.
fn replayed(workload: &Workload, writes: u64, failed: Vec<(u32, u64)>) -> Vec<(u64, Op)> {
    let mut generator = Generator::replay(workload, writes, failed).unwrap();
    let mut block = Block::new();
    let mut reads = Vec::new();
    while generator.refill(&mut block) == Refill::Ops {
        let numbers = block.numbers.as_ref().expect("a replay numbers its reads");
        reads.extend(numbers.iter().copied().zip(block.ops[..block.len].iter().copied()));
    }
    reads
}

#[test]
fn a_replay_reads_each_write_once_in_its_order() {
    let rated = PerDirection { read: Some(1 << 20), write: Some(3 << 20), trim: None };
    let changes: [fn(&mut Workload); 4] = [
        |_| {},
        |w| w.pattern.access = access(false, true, true),
        |w| w.loops = 3,
        |w| {
            w.pattern.block_size = PerDirection::all(BlockSize::Split(vec![(4096, 50), (8192, 50)]));
            w.durability.fsync_every = 3;
        },
    ];
    for (case, change) in changes.into_iter().enumerate() {
        for pacing in [PerDirection::default(), rated] {
            let mut workload = workload(1 << 20, 2 << 20);
            workload.pattern.access = access(true, true, true);
            workload.pacing.rate = pacing;
            change(&mut workload);
            let made = passes(&workload, usize::MAX).concat();
            let writes = made.into_iter().filter(|op| op.kind == OpKind::Write);
            let expected: Vec<(u64, Op)> = (0..).zip(writes.map(|write| Op { kind: OpKind::Read, ..write })).collect();
            assert!(expected.len() > 100, "case {case}");
            assert_eq!(replayed(&workload, u64::MAX, Vec::new()), expected, "case {case}");
            assert_eq!(replayed(&workload, 77, Vec::new()), expected[..77], "case {case}");
            let failed = expected[5].1.offset;
            let rest: Vec<_> = expected.into_iter().filter(|(_, op)| op.offset != failed).collect();
            assert_eq!(replayed(&workload, u64::MAX, vec![(7, 0), (0, failed)]), rest, "case {case}");
        }
    }
}

#[test]
fn a_replay_knows_which_blocks_were_trimmed() {
    for (reads, percent, backlog, batch) in [(false, 50, 4, 0), (false, 100, 2, 1), (true, 30, 7, 20)] {
        for read_as_zeroes in [true, false] {
            let mut workload = workload(1 << 20, 2 << 20);
            workload.pattern.access = access(true, reads, true);
            workload.trims = Some(TrimBacklog { percent, backlog, batch, read_as_zeroes });
            let made = passes(&workload, usize::MAX).concat();
            let trimmed = |write: &Op| made.contains(&Op { kind: OpKind::Trim, ..*write });
            let writes = made.iter().filter(|op| op.kind == OpKind::Write);
            let numbered = (0..).zip(writes).filter(|(_, write)| read_as_zeroes || !trimmed(write));
            let expected: Vec<(u64, Op)> = numbered
                .map(|(number, write)| {
                    (if trimmed(write) { TRIMMED } else { number }, Op { kind: OpKind::Read, ..*write })
                })
                .collect();
            let trims = made.iter().filter(|op| op.kind == OpKind::Trim).count();
            assert!(trims > 50, "{trims} trims");
            assert_eq!(replayed(&workload, u64::MAX, Vec::new()), expected);
        }
    }
}

#[test]
fn a_replay_reads_of_each_place_the_newest_write() {
    let split = |parts: &[(u64, u32)]| PerDirection::all(BlockSize::Split(parts.to_vec()));
    let changes: [fn(&mut Workload); 8] = [
        |w| w.pattern.random_map = false,
        |w| (w.loops, w.pattern.random_map) = (2, false),
        |w| w.pattern.random_percent = PerDirection::all(50),
        |w| w.pattern.distribution = fsdyno_job::Distribution::Zipf(1.2, None),
        |w| (w.bytes, w.starts_over) = (5 << 20, true),
        |w| w.pattern.modifier = Some(3),
        |w| (w.pattern.access, w.pattern.modifier) = (access(false, false, true), Some(-12_288)),
        |w| (w.pattern.random_map, w.pattern.unaligned_sizes) = (false, true),
    ];
    for (case, change) in changes.into_iter().enumerate() {
        for size in [None, Some(split(&[(4096, 50), (12_288, 50)]))] {
            let mut workload = workload(1 << 20, 2 << 20);
            workload.pattern.access = access(true, true, true);
            size.into_iter().for_each(|size| workload.pattern.block_size = size);
            change(&mut workload);
            let mut number = 0;
            let mut passes: Vec<Vec<(u64, Op)>> = Vec::new();
            for pass in self::passes(&workload, 100_000) {
                let writes = pass.into_iter().filter(|op| op.kind == OpKind::Write);
                let numbered: Vec<(u64, Op)> = (number..).zip(writes).collect();
                number += numbered.len() as u64;
                passes.push(numbered);
            }
            if workload.starts_over {
                passes = vec![passes.concat()];
            }
            let overlap = |a: &Op, b: &Op| a.offset < b.offset + b.length && b.offset < a.offset + a.length;
            let newest = |pass: &Vec<(u64, Op)>| -> Vec<(u64, Op)> {
                let is_newest =
                    |(at, (_, op)): &(usize, &(u64, Op))| !pass[at + 1..].iter().any(|(_, later)| overlap(op, later));
                pass.iter().enumerate().filter(is_newest).map(|(_, write)| *write).collect()
            };
            let expected: Vec<(u64, Op)> = passes.iter().flat_map(newest).collect();
            let expected: Vec<(u64, Op)> =
                expected.into_iter().map(|(number, op)| (number, Op { kind: OpKind::Read, ..op })).collect();
            assert!(
                !expected.is_empty() && (expected.len() as u64) < number,
                "case {case}: {} of {number}",
                expected.len()
            );
            assert!(replayed(&workload, u64::MAX, Vec::new()) == expected, "case {case}");
        }
    }
}

/// A request that repeats the place of a smaller one at the end of the range goes to the last place where it fits.
#[test]
fn larger_repeats_of_random_requests_do_all_of_their_size() {
    let mut workload = workload(4096, 40_000);
    let pattern = &mut workload.pattern;
    (pattern.modifier, pattern.identical, pattern.sizes_by_sequence) = (Some(2), true, true);
    pattern.block_size = PerDirection { write: BlockSize::Fixed(512), ..PerDirection::all(BlockSize::Fixed(1536)) };
    for seed in 0..100 {
        workload.seed = seed;
        let ops = all(&workload);
        touches(&ops, &workload, 512);
        assert_eq!(ops.iter().map(|op| op.length).sum::<u64>(), 40_960, "seed {seed}: {ops:?}");
    }
}
