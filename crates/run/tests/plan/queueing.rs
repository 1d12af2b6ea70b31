//! Tests the effective iodepth and batches.

use crate::world::plan;

/// Depth, batch, least and most that are reaped, and the level below which it is refilled.
fn queueing(words: &str) -> (usize, usize, usize, usize, usize) {
    let plan = plan(&format!("--name=a --size=64k {words}"));
    let queueing = &plan.workers[0].queueing;
    (queueing.depth, queueing.batch, queueing.reap_min, queueing.reap_max, queueing.depth_low)
}

#[test]
fn requests_are_submitted_one_by_one_and_all_that_came_is_reaped() {
    assert_eq!(queueing("--ioengine=libaio --iodepth=32"), (32, 1, 1, 32, 32));
}

#[test]
fn batches_are_as_asked_for_but_not_above_the_depth() {
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_batch=8").1, 8);
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_batch=99").1, 32);
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_batch=0").1, 32, "0 is the depth");
}

#[test]
fn the_number_of_completions_has_its_bounds() {
    let complete = |words: &str| {
        let (_, _, min, max, _) = queueing(&format!("--ioengine=io_uring --iodepth=32 {words}"));
        (min, max)
    };
    assert_eq!(complete("--iodepth_batch_complete=8"), (8, 32));
    assert_eq!(complete("--iodepth_batch_complete_min=4 --iodepth_batch_complete_max=16"), (4, 16));
    assert_eq!(complete("--iodepth_batch_complete_min=99"), (32, 32));
    assert_eq!(complete("--iodepth_batch_complete_min=0"), (0, 32), "0 polls");
    assert_eq!(complete("--iodepth_batch_complete_min=8 --iodepth_batch_complete_max=4").0, 8);
}

#[test]
fn refilling_may_wait_for_a_lower_depth() {
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_low=8").4, 8);
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_low=99").4, 32);
    assert_eq!(queueing("--ioengine=libaio --iodepth=32 --iodepth_low=0").4, 32, "0 is the depth");
}

#[test]
fn synchronous_engines_have_one_request_at_a_time() {
    for engine in ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"] {
        assert_eq!(
            queueing(&format!("--ioengine={engine} --iodepth=32 --iodepth_batch=8")),
            (1, 1, 1, 1, 1),
            "{engine}"
        );
    }
    assert_eq!(queueing("--ioengine=null --iodepth=32").0, 32, "null keeps as many as asked for");
}

#[test]
fn the_report_shows_the_depth_that_was_asked_for() {
    let plan = plan("--name=a --size=64k --ioengine=psync --iodepth=32");
    assert_eq!(plan.workers[0].setup.depth, 32);
    let kept = plan.workers[0].for_record().queueing.unwrap();
    assert_eq!((kept.depth, kept.batch, kept.reap_max), (1, 1, 1), "the record has beside it what there was");
}

#[test]
fn the_buffers_hold_the_largest_block_that_can_come() {
    let largest = |words: &str| plan(&format!("--name=a --size=1m {words}")).workers[0].block_bytes_max;
    assert_eq!(largest("--rw=read --bs=4k,64k"), 4096, "no writes, no buffers for them");
    assert_eq!(largest("--rw=rw --bs=4k,64k"), 65_536);
    assert_eq!(largest("--rw=write --bsrange=1k-16k"), 16_384);
    assert_eq!(largest("--rw=read --bssplit=4k/50:32k/50"), 32_768);
}
