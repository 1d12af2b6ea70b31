//! Tests trims: as the only direction, before each write, and among writes that are verified.

use fsdyno_results::JobRecord;

use crate::ran::{US, assert_exact, conduct, jobs, simulate, simulate_one, times};

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
    // After every fourth write these four are trimmed; 1,000 reads follow.
    let words = "--rw=write --verify=crc32c --trim_percentage=100 --trim_backlog=4";
    for depth in [1, 8] {
        let job = simulate_one(&format!("{words} --iodepth={depth}"));
        let ios = job.directions.as_ref().map(|direction| direction.ios);
        assert_eq!((ios.read, ios.write, ios.trim), (1000, 1000, 1000));
    }
    let job = simulate_one(&format!("{words} --iodepth=8 --trim_verify_zero=0"));
    assert_eq!(job.directions.read.ios, 0, "a trimmed block is not read");
    // At most four writes are in flight, then they are awaited, and the trims only wait for each other.
    let job = simulate_one(&format!("{words} --iodepth=8 --do_verify=0"));
    assert_eq!(job.depth_levels.iter().sum::<u64>(), 2000);
}

/// Trims and writes of a job, in blocks.
fn blocks(job: &JobRecord) -> (u64, u64) {
    (job.directions.trim.bytes / 4096, job.directions.write.bytes / 4096)
}

/// Additional options, so that each of the drive loops comes to its end.
const LOOPS: [&str; 7] = [
    "--iodepth=1",
    "--iodepth=8",
    "--iodepth=8 --sim_queue=3",
    "--iodepth=8 --gtod_reduce=1",
    "--iodepth=8 --write_lat_log=DIR/x --log_avg_msec=1",
    "--iodepth=1 --rate_iops=5000 --thinktime=300us --thinktime_blocks=3",
    "--iodepth=4 --nrfiles=3 --fsync=5",
];

/// Runs trims with writes in each loop until `end`.
fn ended(end: &str, check: impl Fn(&crate::ran::RunResult, &str)) {
    for words in LOOPS {
        let directory = tempfile::tempdir().unwrap();
        let words = format!("--rw=randtrimwrite {words} {end}").replace("DIR", directory.path().to_str().unwrap());
        check(&simulate(&words), &words);
    }
}

#[test]
fn a_block_that_was_trimmed_is_written_whatever_ends_the_job() {
    let mut ends: Vec<String> = (10..16).map(|tenths| format!("--time_based --runtime={tenths}00us")).collect();
    ends.extend((1..5).map(|number| format!("--number_ios={number}")));
    ends.extend((4..8).map(|blocks| format!("--io_size={}k --size=20k", blocks * 4)));
    ends.extend(["--ramp_time=1500us --time_based --runtime=1700us", "--runtime=1100us"].map(str::to_owned));
    for end in ends {
        ended(&end, |ran, words| {
            let (trims, writes) = blocks(ran.job());
            assert!(ran.job().error.is_none() && trims > 0, "{words}: {:?}", ran.messages);
            // The ramp may have ended between the two.
            let before = u64::from(words.contains("ramp_time"));
            assert!(trims <= writes && writes <= trims + 4 * before, "{words}: {trims} trims, {writes} writes");
        });
    }
}

#[test]
fn a_block_that_was_trimmed_is_written_after_an_error() {
    for number in [3, 4, 9, 10] {
        for end in [format!("error:EIO@{number}"), format!("stall:1s@{number} --max_latency=500ms")] {
            ended(&format!("--sim_faults={end}"), |ran, words| {
                let (trims, writes) = blocks(ran.job());
                // Only the write that failed is missing.
                let failed = u64::from(words.contains("error:") && ran.job().directions.write.ios > writes);
                assert!(trims <= writes + failed, "{words}: {trims} trims, {writes} writes");
            });
        }
    }
}

#[test]
fn a_block_that_was_trimmed_is_written_after_a_stop() {
    // At one of two times the last request of each clone is a trim.
    for words in LOOPS {
        let directory = tempfile::tempdir().unwrap();
        let words = format!("--rw=randtrimwrite --size=100g --numjobs=12 {words}");
        let words = words.replace("DIR", directory.path().to_str().unwrap());
        let mut stop = |view: &fsdyno_run::View<'_>, control: &fsdyno_run::Control, _: &[fsdyno_results::RunRecord]| {
            if view.cells.iter().all(|cell| cell.published().ios.write > 0) {
                control.stop_by_signal(2);
            }
        };
        let ran = conduct(&jobs(&words), Some(&mut stop));
        for job in &ran.record.jobs {
            let (trims, writes) = blocks(job);
            assert!(job.error.is_none() && trims == writes, "{words}: {trims} trims, {writes} writes");
        }
    }
}
