//! Tests of intended starts.

use fsdyno_job::{BlockSize, PerDirection};
use fsdyno_workload::{Block, Generator, OpKind, Refill, Workload};

use crate::{access, workload};

fn paced(read: Option<u64>, write: Option<u64>) -> Workload {
    let mut workload = workload(0, 64 << 20);
    workload.pattern.access = access(true, true, write.is_some());
    workload.pacing.rate = PerDirection { read, write, trim: None };
    workload
}

fn stamps(workload: &Workload, most: usize) -> Vec<(OpKind, u64)> {
    let mut generator = Generator::new(workload).unwrap();
    let mut block = Block::new();
    let mut stamps = Vec::new();
    while stamps.len() < most && generator.refill(&mut block) == Refill::Ops {
        let ns = block.intended_ns.as_ref().expect("a paced job has intended times");
        stamps.extend(block.ops[..block.len].iter().zip(ns.iter()).map(|(op, &ns)| (op.kind, ns)));
    }
    stamps
}

#[test]
fn even_pace_by_bytes() {
    let stamps = stamps(&paced(Some(4096 * 1000), None), 200);
    for (number, (_, ns)) in (0..).zip(&stamps) {
        assert_eq!(*ns, number * 1_000_000);
    }
}

#[test]
fn an_unpaced_job_has_no_intended_times() {
    let mut block = Block::new();
    assert_eq!(Generator::new(&workload(0, 4096)).unwrap().refill(&mut block), Refill::Ops);
    assert!(block.intended_ns.is_none());
}

#[test]
fn even_pace_by_requests_whatever_their_size() {
    let mut workload = paced(None, None);
    workload.pattern.block_size.read = BlockSize::Range(4096, 65536);
    workload.pacing.rate_iops.read = Some(250);
    assert!((0..).zip(stamps(&workload, 200)).all(|(number, (_, ns))| ns == number * 4_000_000));
}

#[test]
fn two_rates_are_both_kept_whatever_the_mix() {
    let stamps = stamps(&paced(Some(4096 * 1000), Some(4096 * 100)), 5500);
    let reads = stamps.iter().filter(|stamp| stamp.0 == OpKind::Read).count();
    assert!((stamps.len() * 10 / 11).abs_diff(reads) < 50, "{reads} reads of {}", stamps.len());
    let latest = stamps.iter().map(|stamp| stamp.1).max().unwrap();
    assert!((4_900_000_000..5_200_000_000).contains(&latest), "5500 requests at 1100 a second: {latest} ns");
}

#[test]
fn one_rate_leaves_the_other_direction_beside_it() {
    let mut workload = paced(None, Some(4096 * 100));
    workload.pattern.read_percent = 50;
    let stamps = stamps(&workload, 640);
    assert!(stamps.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert!(stamps.iter().any(|stamp| stamp.0 == OpKind::Read && stamp.1 > 0));
}

#[test]
fn poisson_arrivals_keep_the_mean_and_vary() {
    let mut workload = paced(Some(4096 * 1000), None);
    workload.pacing.poisson = true;
    let stamps = stamps(&workload, 10_000);
    let gaps: Vec<f64> = stamps.windows(2).map(|pair| (pair[1].1 - pair[0].1) as f64 / 1e6).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let above = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / gaps.len() as f64;
    assert!((0.95..1.05).contains(&mean), "mean gap {mean} ms, 1 expected");
    assert!((0.34..0.40).contains(&above), "{above} of the gaps above the mean, 1/e expected");
}

/// Many jobs of a low rate are together what one job of a high rate is: none of them adds a request at its start.
#[test]
fn many_poisson_jobs_begin_at_random() {
    let mut workload = paced(None, None);
    workload.pacing.rate_iops.read = Some(1);
    workload.pacing.poisson = true;
    let mut in_time = 0;
    for seed in 0..2000 {
        workload.seed = seed;
        in_time += stamps(&workload, 64).iter().filter(|stamp| stamp.1 < 1_000_000_000).count();
    }
    // 2,000 arrivals are expected: five deviations are 224. One more for each job would make 4,000.
    assert!((1_776..2_224).contains(&in_time), "{in_time} requests");
}

/// No request waits behind a later one of the other direction: each direction keeps the rate of its own arrivals,
/// whatever the mix is, also after a restart.
#[test]
fn two_poisson_rates_are_both_kept_whatever_the_mix() {
    let mut workload = paced(None, None);
    workload.pattern.access = access(true, true, true);
    workload.pacing.rate_iops = PerDirection { read: Some(900), write: Some(100), trim: None };
    workload.pacing.poisson = true;
    let (mut reads, mut writes) = (0, 0);
    for seed in 0..20 {
        workload.seed = seed;
        let stamps = stamps(&workload, 10_000);
        assert!(stamps.windows(2).all(|pair| pair[0].1 <= pair[1].1), "seed {seed}");
        let in_time = stamps.iter().filter(|stamp| stamp.1 < 5_000_000_000);
        let read = in_time.clone().filter(|stamp| stamp.0 == OpKind::Read).count();
        (reads, writes) = (reads + read, writes + in_time.count() - read);
    }
    // 90,000 and 10,000 arrivals are expected: four deviations are 1.3 and 4 percent.
    assert!((88_800..91_200).contains(&reads) && (9_600..10_400).contains(&writes), "{reads} reads, {writes} writes");
    let mut generator = Generator::new(&workload).unwrap();
    let (mut block, mut latest) = (Block::new(), 0);
    generator.refill(&mut block);
    generator.restart_pacing(&mut block, 30);
    for from in [30].into_iter().chain([0; 20]) {
        let stamps = block.intended_ns.as_ref().unwrap();
        assert!(from == 0 || stamps[from] == 0, "the first one starts at once");
        for stamp in &stamps[from..block.len] {
            assert!(*stamp >= latest, "{stamp} after {latest}");
            latest = *stamp;
        }
        generator.refill(&mut block);
    }
}

#[test]
fn the_origin_of_the_pace_can_be_restarted() {
    let mut generator = Generator::new(&paced(Some(4096 * 1000), None)).unwrap();
    let mut block = Block::new();
    generator.refill(&mut block);
    generator.restart_pacing(&mut block, 10);
    let ns = block.intended_ns.clone().unwrap();
    assert_eq!((ns[9], ns[10], ns[63]), (9_000_000, 0, 53_000_000));
    generator.refill(&mut block);
    assert_eq!(block.intended_ns.unwrap()[0], 54_000_000);
}
