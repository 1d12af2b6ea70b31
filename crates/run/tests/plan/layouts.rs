//! Tests which files are made before the run, and how.

use fsdyno_run::plan::LayoutMethod::{self, Fill, Reserve};

use crate::world::{World, layouts, plan};

/// Bytes of `f` before (0: it does not exist), the words, and what is made: worker, path, bytes, method.
type Made = (u64, &'static str, &'static [(usize, &'static str, u64, LayoutMethod)]);

#[rustfmt::skip]
const MADE: &[Made] = &[
    // A writer needs space and a reader data; overwriting and mapping need data, too.
    (0, "--rw=write --size=64k", &[(0, "a.0.0", 65_536, Reserve)]),
    (0, "--rw=randread --size=64k", &[(0, "a.0.0", 65_536, Fill)]),
    (0, "--rw=randrw --size=64k", &[(0, "a.0.0", 65_536, Fill)]),
    (0, "--rw=write --size=64k --overwrite=1", &[(0, "a.0.0", 65_536, Fill)]),
    (0, "--rw=write --size=64k --ioengine=mmap", &[(0, "a.0.0", 65_536, Fill)]),
    // The offset is part of what is made.
    (0, "--rw=write --size=8k --offset=4k", &[(0, "a.0.0", 12_288, Reserve)]),
    // A file that is long enough is not touched; one that is too short is made anew.
    (400_000, "--rw=write --filename=f --size=8k", &[]),
    (400_000, "--rw=read --filename=f --size=400000", &[]),
    (400_000, "--rw=read --filename=f", &[]),
    (4096, "--rw=write --filename=f --size=8k", &[(0, "f", 8192, Reserve)]),
    // Clones that share a file make it once, others one each.
    (0, "--filename=f --size=64k --numjobs=3", &[(0, "f", 65_536, Fill)]),
    (0, "--size=4k --numjobs=2", &[(0, "a.0.0", 4096, Fill), (1, "a.1.0", 4096, Fill)]),
    // A later job that needs more makes the file again; a reader after a writer reads what was written.
    (0, "--filename=f --size=64k --name=b --filename=f --size=128k",
        &[(0, "f", 65_536, Fill), (1, "f", 131_072, Fill)]),
    (0, "--filename=f --rw=write --size=64k --name=b --stonewall --filename=f --size=64k", &[(0, "f", 65_536, Reserve)]),
    // A file that an earlier job removes is made again, for a job whose files are made when its stage begins.
    (0, "--filename=f --rw=write --size=64k --unlink=1 --name=b --stonewall --filename=f --size=64k --create_serialize=0",
        &[(0, "f", 65_536, Reserve), (1, "f", 65_536, Fill)]),
    (400_000, "--filename=f --rw=write --size=8k --unlink=1 --name=b --stonewall --filename=f --size=8k --create_serialize=0",
        &[(1, "f", 8192, Fill)]),
    (0, "--filename=f --rw=write --size=64k --unlink=1 --name=b --stonewall --filename=f --size=64k", &[(0, "f", 65_536, Reserve)]),
    (0, "--filename=f --rw=write --size=64k --name=b --stonewall --filename=f --size=64k --create_serialize=0",
        &[(0, "f", 65_536, Reserve)]),
    // A reservation that does not set the size is not enough for the next job.
    (0, "--fallocate=none --filename=f --rw=write --size=64k --name=b --fallocate=none --filename=f --size=64k",
        &[(0, "f", 65_536, Reserve), (1, "f", 65_536, Fill)]),
    (0, "--fallocate=keep --filename=f --rw=write --size=64k --name=b --fallocate=keep --filename=f --size=64k",
        &[(0, "f", 65_536, Reserve), (1, "f", 65_536, Fill)]),
];

#[test]
fn what_is_made_for_whom() {
    for (before, words, wanted) in MADE {
        let mut world = if *before > 0 { World::new().file("f", *before) } else { World::new() };
        let plan = world.plan(&format!("--name=a {words}"));
        let made = layouts(&plan);
        let made: Vec<_> = made.iter().map(|(worker, path, bytes, make)| (*worker, &**path, *bytes, *make)).collect();
        assert_eq!(made, *wanted, "{words}");
    }
}

#[test]
fn a_job_that_cannot_run_makes_nothing_and_serves_nobody() {
    let mut world = World::new().other("d", fsdyno_probe::FileKind::Directory);
    let plan = world.plan("--name=a --filename=f:d --size=64k --name=b --filename=f --size=64k");
    assert!(plan.workers[0].refused.is_some());
    assert_eq!(layouts(&plan), [(1, "f".to_owned(), 65_536, Fill)]);
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
