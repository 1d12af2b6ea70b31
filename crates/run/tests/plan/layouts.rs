//! What is made before the run, and how.

use run::plan::LayoutMethod::{Fill, Reserve};

use crate::world::{World, layouts, plan};

fn made(
    worker: usize,
    path: &str,
    bytes: u64,
    make: run::plan::LayoutMethod,
) -> (usize, String, u64, run::plan::LayoutMethod) {
    (worker, path.to_owned(), bytes, make)
}

#[test]
fn a_writer_gets_room_and_a_reader_gets_data() {
    assert_eq!(layouts(&plan("--name=a --rw=write --size=64k")), [made(0, "a.0.0", 65_536, Reserve)]);
    assert_eq!(layouts(&plan("--name=a --rw=randread --size=64k")), [made(0, "a.0.0", 65_536, Fill)]);
    assert_eq!(layouts(&plan("--name=a --rw=randrw --size=64k")), [made(0, "a.0.0", 65_536, Fill)]);
}

#[test]
fn overwriting_and_mapping_need_data_too() {
    assert_eq!(layouts(&plan("--name=a --rw=write --size=64k --overwrite=1"))[0].3, Fill);
    assert_eq!(layouts(&plan("--name=a --rw=write --size=64k --ioengine=mmap"))[0].3, Fill);
}

#[test]
fn the_offset_is_part_of_what_is_made() {
    assert_eq!(layouts(&plan("--name=a --rw=write --size=8k --offset=4k")), [made(0, "a.0.0", 12_288, Reserve)]);
}

#[test]
fn a_file_that_is_long_enough_is_left_alone() {
    let mut world = World::new().file("f", 400_000);
    assert!(world.plan("--name=a --rw=write --filename=f --size=8k").layouts.is_empty());
    assert!(world.plan("--name=a --rw=read --filename=f --size=400000").layouts.is_empty());
    assert!(world.plan("--name=a --rw=read --filename=f").layouts.is_empty());
}

#[test]
fn a_file_that_is_too_short_is_made_anew() {
    let plan = World::new().file("f", 4096).plan("--name=a --rw=write --filename=f --size=8k");
    assert_eq!(layouts(&plan), [made(0, "f", 8192, Reserve)]);
}

#[test]
fn clones_that_share_a_file_make_it_once() {
    assert_eq!(layouts(&plan("--name=a --filename=f --size=64k --numjobs=3")), [made(0, "f", 65_536, Fill)]);
}

#[test]
fn clones_with_files_of_their_own_make_one_each() {
    let plan = plan("--name=a --size=4k --numjobs=2");
    assert_eq!(layouts(&plan), [made(0, "a.0.0", 4096, Fill), made(1, "a.1.0", 4096, Fill)]);
}

#[test]
fn a_later_job_that_needs_more_makes_the_file_again() {
    let plan = plan("--name=a --filename=f --size=64k --name=b --filename=f --size=128k");
    assert_eq!(layouts(&plan), [made(0, "f", 65_536, Fill), made(1, "f", 131_072, Fill)]);
}

#[test]
fn a_reader_behind_a_writer_reads_what_was_written() {
    let plan = plan("--name=a --filename=f --rw=write --size=64k --name=b --stonewall --filename=f --size=64k");
    assert_eq!(layouts(&plan), [made(0, "f", 65_536, Reserve)]);
}

#[test]
fn a_reservation_that_sets_no_size_does_not_serve_the_next_job() {
    for fallocate in ["none", "keep"] {
        let plan = plan(&format!(
            "--fallocate={fallocate} --name=a --filename=f --rw=write --size=64k --name=b --filename=f --size=64k"
        ));
        assert_eq!(layouts(&plan), [made(0, "f", 65_536, Reserve), made(1, "f", 65_536, Fill)], "{fallocate}");
    }
}

#[test]
fn a_job_that_cannot_run_makes_nothing_and_serves_nobody() {
    let mut world = World::new().other("d", probe::FileKind::Directory);
    let plan = world.plan("--name=a --filename=f:d --size=64k --name=b --filename=f --size=64k");
    assert!(plan.workers[0].refused.is_some());
    assert_eq!(layouts(&plan), [made(1, "f", 65_536, Fill)]);
}

#[test]
fn filling_the_device_makes_nothing_first() {
    let plan = plan("--name=a --rw=write --filename=f --fill_device=1");
    assert!(plan.layouts.is_empty());
    assert_eq!(plan.workers[0].files[0].length, i64::MAX as u64);
}

#[test]
fn devices_are_never_made() {
    let plan = World::new().device("/dev/x", 1 << 20, None).plan("--name=a --rw=randwrite --filename=/dev/x");
    assert!(plan.layouts.is_empty());
    assert_eq!(plan.workers[0].files[0].length, 1 << 20);
}
