//! Tests the plan in the form of the record.

use fsdyno_results::JobPlan;

use crate::world::{World, plan};

fn first(words: &str) -> JobPlan {
    plan(words).workers[0].for_record()
}

#[test]
fn bytes_files_and_ends() {
    let recorded = first("--name=a --directory=/d --nrfiles=20 --size=40k --bs=2k --offset=4k --loops=3 --stonewall");
    assert_eq!((recorded.files.len(), recorded.file_count), (16, 20));
    assert_eq!(recorded.files[3], "/d/a.0.3");
    assert_eq!(
        (recorded.offset_bytes, recorded.span_bytes, recorded.io_bytes),
        (4096, Some(40 << 10), Some(120 << 10))
    );
    assert_eq!((recorded.runtime_ms, recorded.ramp_ms, recorded.time_based), (None, 0, false));
    let recorded = first("--name=a --filename=/f --size=1m --runtime=3 --time_based --ramp_time=2");
    assert_eq!(
        (recorded.runtime_ms, recorded.ramp_ms, recorded.time_based, recorded.io_bytes),
        (Some(3000), 2000, true, None)
    );
    assert_eq!(first("--name=a --filename=/f --size=1m --bs=4k --number_ios=5").io_bytes, Some(20 << 10));
    let filling = first("--name=a --filename=/f --rw=write --fill_device=1");
    assert_eq!((filling.span_bytes, filling.io_bytes), (None, None));
}

#[test]
fn stages_and_what_a_layout_makes() {
    let mut world = World::new().file("/old", 1 << 20);
    let plan =
        world.plan("--size=1m --name=a --filename=/new --name=b --filename=/new --name=c --filename=/old --stonewall");
    let recorded: Vec<_> = plan
        .workers
        .iter()
        .map(|worker| worker.for_record())
        .map(|recorded| (recorded.stage, recorded.laid_out))
        .collect();
    assert_eq!(recorded, [(0, true), (0, true), (1, false)], "a file that two use is made once, for both");
}

#[test]
fn how_it_is_done() {
    let recorded = first("--name=a --filename=/f --size=1m --rw=randwrite --direct=1 --fsync=8 --fdatasync=3 --sync=1");
    assert_eq!((recorded.direct, recorded.synchronous), (Some(true), true));
    assert_eq!((recorded.sync_every_writes, recorded.end_sync, recorded.invalidated), (3, false, Some(true)));
    assert!(recorded.synchronous_engine && !recorded.paced && !recorded.uniform_data);
    let recorded =
        first("--name=a --filename=/f --size=1m --ioengine=libaio --end_fsync=1 --rate_iops=10 --pre_read=1");
    assert!(recorded.end_sync && recorded.paced && !recorded.synchronous_engine);
    assert_eq!(
        (recorded.direct, recorded.invalidated),
        (Some(false), Some(false)),
        "what is read first stays in the cache"
    );
    let mapped = first("--name=a --filename=/f --size=1m --ioengine=mmap --direct=1");
    assert_eq!(mapped.direct, Some(false), "no mapping goes past the page cache");
}

#[test]
fn what_is_written() {
    let of = |words: &str| {
        let recorded = first(&format!("--name=a --filename=/f --size=1m --rw=write {words}"));
        (recorded.compressible_percent, recorded.uniform_data)
    };
    assert_eq!(of(""), (None, false));
    assert_eq!(of("--zero_buffers"), (Some(100), true));
    assert_eq!(of("--buffer_pattern=0xab"), (None, true));
}

#[test]
fn an_engine_without_files_has_none() {
    let recorded = first("--name=a --ioengine=null --size=1m");
    assert_eq!((recorded.files.len(), recorded.file_count, recorded.direct, recorded.invalidated), (0, 0, None, None));
    assert_eq!(recorded.span_bytes, Some(1 << 20));
}
