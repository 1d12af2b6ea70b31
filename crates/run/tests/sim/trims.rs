//! Trims: the third direction, by itself, before each write, and among writes that are verified.

use crate::ran::{US, assert_exact, simulate_one, times};

#[test]
fn a_trim_takes_its_service_time() {
    let job = simulate_one("--rw=randtrim --iodepth=1");
    let trims = &job.directions.trim;
    assert_exact(&trims.clat, times(1000, 100 * US));
    assert_exact(&trims.lat, times(1000, 100 * US));
    assert_eq!((trims.ios, trims.bytes, trims.runtime_ms), (1000, 4_096_000, 100));
    assert_eq!((&job.directions.read, &job.directions.write), (&Default::default(), &Default::default()));
    assert_eq!(job.latency_us_counts.iter().sum::<u64>(), 1000, "trims count in the classes too");
}

#[test]
fn a_queue_of_trims_waits_like_one_of_reads() {
    let job = simulate_one("--rw=trim --iodepth=8");
    assert_exact(&job.directions.trim.clat, (1..=8).map(|place| place * 100 * US).chain(times(992, 800 * US)));
    assert_exact(&job.directions.trim.slat, times(1000, 0));
    assert_eq!(job.depth_levels, [1, 2, 4, 993, 0, 0, 0]);
}

#[test]
fn each_block_is_trimmed_then_written() {
    for access in ["trimwrite", "randtrimwrite"] {
        let job = simulate_one(&format!("--rw={access} --iodepth=1"));
        for direction in [&job.directions.trim, &job.directions.write] {
            assert_exact(&direction.clat, times(1000, 100 * US));
            assert_eq!((direction.bytes, direction.runtime_ms), (4_096_000, 200), "{access}");
        }
    }
}

#[test]
fn trims_have_a_rate_of_their_own() {
    let job = simulate_one("--rw=trim --rate_iops=,,1000 --number_ios=100");
    assert_exact(job.directions.trim.response.as_ref().unwrap(), times(100, 100 * US));
    assert_eq!(job.directions.trim.runtime_ms, 100);
}

#[test]
fn written_blocks_are_trimmed_in_batches() {
    // After every fourth write the four of them are trimmed; 1,000 reads follow.
    let words = "--rw=write --verify=crc32c --trim_percentage=100 --trim_backlog=4";
    for depth in [1, 8] {
        let job = simulate_one(&format!("{words} --iodepth={depth}"));
        let ios = job.directions.as_ref().map(|direction| direction.ios);
        assert_eq!((ios.read, ios.write, ios.trim), (1000, 1000, 1000));
    }
    let job = simulate_one(&format!("{words} --iodepth=8 --trim_verify_zero=0"));
    assert_eq!(job.directions.read.ios, 0, "a trimmed block is not read");
    // Four writes are in flight at most, then they are awaited, and the trims wait for each other alone.
    let job = simulate_one(&format!("{words} --iodepth=8 --do_verify=0"));
    assert_eq!(job.depth_levels.iter().sum::<u64>(), 2000);
}
