//! Tests reads of what was written, between the writes: when they come, and what waits for them.

use crate::ran::{US, assert_exact, simulate_one, times};

const BACKLOG: &str = "--rw=write --verify=crc32c --verify_backlog=4";

#[test]
fn one_at_a_time_each_request_takes_its_service_time() {
    let job = simulate_one(BACKLOG);
    assert_exact(&job.directions.write.clat, times(1000, 100 * US));
    assert_exact(&job.directions.read.clat, times(1000, 100 * US));
    assert_eq!(job.directions.write.runtime_ms, 200, "996 reads come among the writes: 199.6 ms");
}

#[test]
fn writes_are_awaited_before_they_are_read_back() {
    // The first four writes are in flight together, then they are awaited; after four reads the next four writes follow
    // at once, as no block comes twice.
    let job = simulate_one(&format!("{BACKLOG} --iodepth=8"));
    let first = (1..=4).map(|place| place * 100 * US);
    let behind_reads = (0..996).map(|number| (5 + number % 4) * 100 * US);
    assert_exact(&job.directions.write.clat, first.chain(behind_reads));
    assert_exact(&job.directions.read.clat, (0..1000).map(|number| (1 + number % 4) * 100 * US));
}

#[test]
fn where_blocks_come_twice_reads_are_awaited_too() {
    let job = simulate_one(&format!("{BACKLOG} --iodepth=8 --io_size=8000k"));
    let alone = |count: u64| (0..count).map(|number| (1 + number % 4) * 100 * US);
    assert_exact(&job.directions.write.clat, alone(2000));
    assert_exact(&job.directions.read.clat, alone(2000));
}

#[test]
fn reads_of_the_backlog_are_not_paced_and_have_no_response_time() {
    let job = simulate_one(&format!("{BACKLOG} --rate_iops=1000 --number_ios=80"));
    assert_eq!((job.directions.write.ios, job.directions.read.ios), (40, 40));
    assert_exact(job.directions.write.response.as_ref().expect("writes are paced"), times(40, 100 * US));
    assert_eq!(job.directions.read.response.as_ref().map(|response| response.moments.count), Some(0));
}
