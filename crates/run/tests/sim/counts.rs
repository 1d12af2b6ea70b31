//! Tests batches and syncs.

use crate::ran::{US, assert_exact, simulate_one, times};

#[test]
fn batches_are_submitted_and_reaped_as_asked_for() {
    let job = simulate_one("--iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_min=8");
    assert_eq!(job.directions.read.ios, 1000);
    assert_eq!(job.submit_sizes, [0, 0, 125, 0, 0, 0, 0], "calls of 5 to 8");
    // Nothing replaces the last eight: they are reaped one by one.
    assert_eq!(job.complete_sizes, [0, 8, 124, 0, 0, 0, 0]);
    assert_eq!(job.directions.read.runtime_ms, 100);
}

#[test]
fn a_batch_of_the_whole_depth_empties_and_fills_the_queue() {
    let job =
        simulate_one("--iodepth=16 --iodepth_batch=16 --iodepth_batch_complete_min=16 --iodepth_low=0 --size=4096k");
    assert_eq!(job.submit_sizes, [0, 0, 0, 64, 0, 0, 0], "calls of 9 to 16");
    assert_eq!(job.complete_sizes, [0, 0, 0, 64, 0, 0, 0]);
    // The first of a batch is served first, but reaped with the last.
    assert_exact(&job.directions.read.clat, times(1024, 1600 * US));
}

#[test]
fn at_most_as_many_as_asked_for_are_reaped_at_once() {
    let job =
        simulate_one("--iodepth=16 --sim_channels=16 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=4");
    assert_eq!(job.complete_sizes[2..], [0; 5], "never more than four");
    assert_eq!(job.complete_sizes[1], 250);
    assert_eq!(job.directions.read.ios, 1000);
}

#[test]
fn polling_counts_its_fruitless_calls() {
    let job = simulate_one("--iodepth=4 --number_ios=10 --iodepth_batch_complete_min=0");
    assert_eq!(job.directions.read.ios, 10);
    assert!(job.complete_sizes[0] > 0, "{:?}", job.complete_sizes);
    assert_exact(&job.directions.read.clat, (1..=4).map(|place| place * 100 * US).chain(times(6, 400 * US)));
}

#[test]
fn a_queue_may_run_low_before_it_is_filled_again() {
    let job = simulate_one("--iodepth=8 --iodepth_low=4 --number_ios=12");
    // Eight first; when four are left, four more, which wait behind those four.
    let first = (1..=8).map(|place| place * 100 * US);
    let second = (5..=8).map(|place| place * 100 * US);
    assert_exact(&job.directions.read.clat, first.chain(second));
}

#[test]
fn a_sync_follows_every_so_many_writes() {
    // After the last write there is no sync: 249 syncs among 1,000 writes, as in fio.
    let job = simulate_one("--rw=randwrite --fsync=4");
    assert_eq!((job.directions.write.ios, job.sync.ios), (1000, 249));
    assert_exact(&job.sync.lat, times(249, 100 * US));
    assert_exact(&job.directions.write.clat, times(1000, 100 * US));
    assert_eq!(job.directions.write.runtime_ms, 125, "the syncs take their time, and are in no write's latency");
}

#[test]
fn fdatasync_counts_alike_and_reads_are_not_synced() {
    assert_eq!(simulate_one("--rw=randwrite --fdatasync=1").sync.ios, 999);
    assert_eq!(simulate_one("--rw=randread --fdatasync=1").sync.ios, 0);
    let job = simulate_one("--rw=randrw --fdatasync=1");
    assert_eq!(job.sync.ios, job.directions.write.ios - u64::from(job.sync.ios < job.directions.write.ios));
}

#[test]
fn a_sync_in_a_queue_is_queued_like_a_write() {
    let job = simulate_one("--rw=randwrite --fsync=4 --iodepth=4");
    assert_eq!((job.directions.write.ios, job.sync.ios), (1000, 249));
    assert_eq!(job.directions.write.runtime_ms, 125);
    assert_eq!(job.sync.lat.moments.max, 400 * US);
}
