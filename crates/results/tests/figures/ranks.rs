//! Merging many ranks: exact, in any order, and ten thousand of them in one process.

use std::time::{Duration, Instant};

use fsdyno_results::{
    ActiveSpan, ActiveWindow, ClockOffset, JobRecord, JobSetup, Latency, MissingRank, RankRecord, RanksRecord,
    RunRecord, Samples, Study,
};
use proptest::prelude::*;

/// A rank that was active from `start_ms` to `end_ms` in the first stage.
fn rank(rank: u32, start_ms: i64, end_ms: i64, ranks: u32) -> RunRecord {
    let mut run = RunRecord::new("fio-3.42", 0);
    run.nodes[0].name = format!("n{rank:05}");
    let span = ActiveSpan { stage: 0, start_ns: start_ms * 1_000_000, end_ns: end_ms * 1_000_000 };
    run.take_part(RankRecord { rank, spans: vec![span], ..RankRecord::default() }, ranks);
    run
}

fn window(runs: Vec<RunRecord>) -> ActiveWindow {
    let mut runs = runs.into_iter();
    let merged = runs.next().unwrap().merge_all(runs.collect()).unwrap();
    merged.ranks_record.unwrap().windows[0]
}

#[test]
fn what_was_outside_the_common_time_is_told() {
    let window = window(vec![rank(0, 0, 1000, 3), rank(1, 100, 1100, 3), rank(2, 0, 900, 3)]);
    let ms = |ns: u64| ns / 1_000_000;
    assert_eq!((window.ranks, ms(window.all_active_ns()), ms(window.whole_ns())), (3, 800, 1100));
    assert_eq!((ms(window.start_skew_ns()), ms(window.end_skew_ns())), (100, 200));
    // The ranks were active for 2900 ms, of which 3 x 800 ms lie within the common time.
    assert!((window.outside().unwrap() - 500.0 / 2900.0).abs() < 1e-12);
}

#[test]
fn ranks_that_never_met_have_no_common_time() {
    let window = window(vec![rank(0, 0, 500, 2), rank(1, 700, 900, 2)]);
    assert_eq!((window.all_active_ns(), window.outside()), (0, Some(1.0)));
    assert_eq!(ActiveWindow::default().outside(), None);
}

#[test]
fn a_missing_rank_is_named_once() {
    let missing = || MissingRank { rank: 1, node: Some("n1".into()), reason: "it ended by signal 9".into() };
    let (mut one, mut other) = (rank(0, 0, 1000, 3), rank(2, 0, 1000, 3));
    one.lacks(vec![missing()]);
    other.lacks(vec![missing()]);
    let merged = one.merge(other).unwrap();
    assert!(!merged.complete && merged.missing_ranks() == [missing()]);
    assert_eq!(merged.ranks_record.unwrap().ranks, 3);
}

#[test]
fn a_saved_run_that_lacks_a_rank_is_not_complete_whatever_its_file_says() {
    let mut run = rank(0, 0, 1000, 2);
    run.complete = true;
    let read = |run: &RunRecord, complete: bool| {
        let study = Study { complete, ..Study::of_run(run.clone()) };
        let study = Study::from_json(&study.to_json()).unwrap();
        (study.complete, study.rows[0].run.as_ref().unwrap().complete)
    };
    assert_eq!((read(&run, true), read(&run, false)), ((true, true), (false, true)));
    run.lacks(vec![MissingRank { rank: 1, node: None, reason: "it ended by signal 9".into() }]);
    assert!(!run.complete && !Study::of_run(run.clone()).complete);
    // Older versions wrote this.
    run.complete = true;
    assert_eq!(read(&run, true), (false, false));
}

#[test]
fn ranks_of_one_machine_are_counted_as_one() {
    let named = |name: &str| {
        let mut run = rank(0, 0, 1, 2);
        run.nodes[0].name = name.into();
        run
    };
    let mut alone = RunRecord::new("fio-3.42", 0);
    alone.nodes[0].name = "b:7".into();
    let run = named("a:0").merge_all(vec![named("a:1"), alone]).unwrap();
    assert_eq!(
        run.machines(),
        ["a", "b:7"],
        "a name that ends like a rank is a machine's own where nobody numbered it"
    );
}

#[test]
fn clocks_that_were_compared_once_did_not_move_as_far_as_is_known() {
    let clock = ClockOffset { before_ns: -5, after_ns: Some(7), error_ns: 1 };
    assert_eq!((clock.moved_ns(), ClockOffset { after_ns: None, ..clock }.moved_ns()), (Some(12), None));
}

prop_compose! {
    fn drawn()(spans in proptest::collection::vec((0u32..3, -50i64..50, 0i64..100), 0..4)) -> Vec<ActiveSpan> {
        let mut spans: Vec<ActiveSpan> =
            spans.into_iter().map(|(stage, start_ns, length)| ActiveSpan { stage, start_ns, end_ns: start_ns + length }).collect();
        spans.sort_by_key(|span| span.stage);
        spans.dedup_by_key(|span| span.stage);
        spans
    }
}

proptest! {
    #[test]
    fn no_order_of_ranks_makes_a_difference(spans in [drawn(), drawn(), drawn()], lost in 0u32..4) {
        let [a, b, c] = [0, 1, 2].map(|number: u32| {
            let mut run = rank(number, 0, 0, 4);
            run.take_part(RankRecord { rank: number, spans: spans[number as usize].clone(), ..RankRecord::default() }, 4);
            if number == lost {
                run.lacks(vec![MissingRank { rank: 3, node: None, reason: "it did not answer".into() }]);
            }
            run
        });
        let merge = |one: &RunRecord, other: &RunRecord| one.clone().merge(other.clone()).unwrap();
        let all = a.clone().merge_all(vec![b.clone(), c.clone()]).unwrap();
        prop_assert_eq!(&merge(&merge(&a, &b), &c), &all);
        prop_assert_eq!(&merge(&c, &merge(&b, &a)), &all);
        prop_assert_eq!(RunRecord::from_json(&all.to_json()).unwrap(), all);
    }
}

/// One minute of reads and writes by one worker, with latencies from 60 us to 30 ms.
fn worker(rank: u32) -> JobRecord {
    let mut job = JobRecord::new("mix", 1, JobSetup::default());
    job.setup.percentiles.shrink_to_fit();
    job.options = vec![("rw".into(), "randrw".into()), ("bs".into(), "4k".into())];
    job.group_reporting = true;
    for direction in [&mut job.directions.read, &mut job.directions.write] {
        (direction.clat, direction.lat) = (Latency::with_histogram(), Latency::with_histogram());
        let mut latency_ns = 60_000 + u64::from(rank) % 977;
        while latency_ns < 30_000_000 {
            direction.clat.record(latency_ns);
            direction.lat.record(latency_ns + 300);
            direction.ios += 1;
            direction.bytes += 4096;
            latency_ns += latency_ns / 40;
        }
        direction.runtime_ms = 60_000;
        let mut samples = Samples::default();
        (1..=120).for_each(|window| samples.record(direction.ios, window * 500));
        direction.iops_samples = samples;
    }
    job
}

fn record_of(number: u32, ranks: u32) -> RunRecord {
    let mut run = rank(number, i64::from(number % 7), 60_000 + i64::from(number % 11), ranks);
    run.command = vec!["--name=mix".into()];
    run.jobs = vec![worker(number)];
    run
}

/// Memory of this process now, and its largest memory so far, bytes; `None`: not visible.
fn memory_bytes() -> Option<[u64; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? * 1024)
    };
    Some([of("VmRSS:")?, of("VmHWM:")?])
}

/// Prints the cost. `cargo test --release -p fsdyno-results --test figures ten_thousand -- --nocapture` prints the
/// figures of docs/scale.md.
#[test]
#[expect(clippy::disallowed_methods, reason = "this crate has no clock; the times are printed alone")]
fn ten_thousand_ranks_add_up_exactly() {
    const RANKS: u32 = 10_000;
    const ARITY: usize = 8;
    let before = memory_bytes();
    println!("a record of one rank: {} bytes of JSON", record_of(0, RANKS).to_json().len());
    // The counts of all ranks, value by value.
    let mut reads = Latency::with_histogram();
    let mut sums = (0, 0);
    let (mut level, mut merging) = (Vec::new(), Duration::ZERO);
    // The first level of the tree, merged as the records arrive.
    for begin in (0..RANKS).step_by(ARITY) {
        let mut records: Vec<RunRecord> =
            (begin..RANKS.min(begin + ARITY as u32)).map(|number| record_of(number, RANKS)).collect();
        for run in &records {
            let read = &run.jobs[0].directions.read;
            reads.merge(&read.clat);
            sums = (sums.0 + read.bytes, sums.1 + read.ios);
        }
        let begin = Instant::now();
        level.push(records.remove(0).merge_all(records).unwrap());
        merging += begin.elapsed();
    }
    println!("{RANKS} records become {}: {:.3} s", level.len(), merging.as_secs_f64());
    let start = Instant::now();
    while level.len() > 1 {
        let (begin, records) = (Instant::now(), level.len());
        let mut next = Vec::new();
        let mut rest = level.into_iter();
        while let Some(first) = rest.next() {
            next.push(first.merge_all(rest.by_ref().take(ARITY - 1).collect()).unwrap());
        }
        level = next;
        println!("{records} records become {}: {:.3} s", level.len(), begin.elapsed().as_secs_f64());
    }
    let all = level.remove(0);
    let begin = Instant::now();
    let rows = all.report_rows();
    println!("one row of them: {:.3} s", begin.elapsed().as_secs_f64());
    println!("all together: {:.3} s", (start.elapsed() + merging).as_secs_f64());
    if let (Some([before, _]), Some([_, most])) = (before, memory_bytes()) {
        println!("most memory: {} MiB, of which {} MiB before", most >> 20, before >> 20);
    }
    let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
    let read = &row.directions.read;
    assert_eq!((read.bytes, read.ios, &read.clat), (sums.0, sums.1, &reads));
    assert_eq!((row.members, all.nodes.len(), all.jobs.len()), (RANKS, RANKS as usize, RANKS as usize));
    assert!(all.nodes.iter().zip(0..).all(|(node, number)| node.part.as_ref().unwrap().rank == number));
    let RanksRecord { ranks, missing, windows } = all.ranks_record.unwrap();
    assert_eq!((ranks, missing.len(), windows[0].ranks, windows[0].start_skew_ns()), (RANKS, 0, RANKS, 6_000_000));
}
