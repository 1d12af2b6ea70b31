//! Tests which bytes of which files a worker uses. Every number was observed in fio (3.33) with the same words.

use crate::world::{World, plan, ranges};

/// Bytes of `f` and `g` before (0: it does not exist), the words, the ranges of the files, and why.
type Used = (u64, u64, &'static str, &'static [(u64, u64)], &'static str);

#[rustfmt::skip]
const USED: &[Used] = &[
    (0, 0, "--rw=write --size=64k --nrfiles=3", &[(0, 21_845); 3], "the size is shared among the files"),
    (0, 0, "--rw=write --size=64k --filename=f:g --nrfiles=4", &[(0, 32_768); 2], "filename counts its files"),
    (0, 0, "--rw=write --filesize=10k --nrfiles=2", &[(0, 10_240); 2], "of each file, and makes size optional"),
    (0, 0, "--rw=write --filesize=16k --size=8k --nrfiles=2", &[(0, 16_384); 2], "the size limits the I/O only"),
    (0, 0, "--rw=write --filesize=64k --offset=16k", &[(16_384, 49_152)], "counted from the start of the file"),
    (0, 0, "--rw=write --filename=f --offset=50% --size=64k", &[(0, 65_536)], "a percentage of nothing is nothing"),
    (0, 0, "--ioengine=null --size=64k --nrfiles=3", &[(0, 21_845); 3], "engines without files have ranges all the same"),
    (999, 0, "--ioengine=null --filename=f --size=64k --rw=write", &[(0, 65_536)], "whatever stands there"),
    (100_000, 5000, "--rw=write --filesize=4k-64k --filename=f:g:h", &[(0, 12_288), (0, 5000), (0, 20_480)],
        "a size that lies in the range is kept"),
    (100_000, 50_000, "--filename=f:g", &[(0, 100_000), (0, 50_000)], "without a size the whole file"),
    (100_000, 0, "--filename=f --offset=40k", &[(40_960, 59_040)], "the offset shortens it"),
    (100_000, 50_000, "--filename=f:g --size=50%", &[(0, 49_152), (0, 24_576)], "whole blocks of each existing file"),
    (100_000, 0, "--filename=f --size=100% --offset=40k", &[(40_960, 59_040)], "ends where the file ends"),
    // 50,000 is between 12 and 13 blocks of 4 KiB.
    (100_000, 0, "--filename=f --offset=50%", &[(53_248, 46_752)], "rounded up to the smallest block"),
    (100_000, 0, "--filename=f --offset=50% --bsrange=1k-4k", &[(50_176, 49_824)], "rounded up to the smallest block"),
    (100_000, 0, "--filename=f --offset=1000", &[(1000, 99_000)], "bytes are left alone"),
];

#[test]
fn the_ranges_of_the_files() {
    for (f, g, words, wanted, why) in USED {
        let standing = [("f", *f), ("g", *g)].into_iter().filter(|(_, bytes)| *bytes > 0);
        let mut world = standing.fold(World::new(), |world, (path, bytes)| world.file(path, bytes));
        let plan = world.plan(&format!("--name=a {words}"));
        assert_eq!(ranges(&plan), *wanted, "{words}: {why}");
        // The null engine neither reads nor makes a file, and a percentage of an existing file needs no more than it
        // has.
        if words.contains("null") || words.contains('%') && *f > 0 {
            assert!(plan.layouts.is_empty(), "{words}");
        }
    }
}

#[test]
fn what_is_transferred_and_where() {
    let of = |words: &str| {
        let plan = plan(&format!("--name=a --rw=write {words}"));
        (ranges(&plan)[0].1, plan.workers[0].workload.bytes, plan.workers[0].workload.starts_over)
    };
    assert_eq!(of("--size=64k"), (65_536, 65_536, false));
    assert_eq!(of("--size=64k --io_size=32k"), (65_536, 32_768, true));
    assert_eq!(of("--size=64k --io_size=50%"), (65_536, 32_768, true));
    assert_eq!(of("--size=32k --filesize=64k --io_size=50%").1, 32_768, "a share of the files");
    assert_eq!(of("--filesize=64k --io_size=128k"), (65_536, 131_072, true));
    assert_eq!(of("--size=64k --nrfiles=3").1, 65_536);
    assert_eq!(of("--filesize=10k --nrfiles=2").1, 20_480);
    assert_eq!(of("--filesize=16k --size=8k --nrfiles=2").1, 8192);
    let mut world = World::new().file("f", 100_000).file("g", 50_000);
    assert_eq!(world.plan("--name=a --filename=f:g").workers[0].workload.bytes, 150_000);
}

#[test]
fn whole_blocks_that_are_left_over_go_to_the_first_files() {
    // 2,049,500 bytes are 1,024 for each of 2,000 files, and 1,500 more.
    let plan = plan("--name=a --rw=write --size=2049500 --nrfiles=2000 --bs=512");
    let lengths: Vec<u64> = plan.workers[0].files.iter().map(|file| file.length).collect();
    assert_eq!(&lengths[..3], [1536, 1536, 1024]);
    assert_eq!(lengths.iter().sum::<u64>(), 2_049_024);
}

#[test]
fn a_range_of_file_sizes_is_drawn_as_fio_draws_it() {
    let plan = plan("--name=a --rw=write --filesize=4k-64k --nrfiles=2 --numjobs=3");
    let lengths = |worker: usize| -> Vec<u64> { plan.workers[worker].files.iter().map(|file| file.length).collect() };
    assert_eq!(lengths(0), [12_288, 20_480]);
    assert_eq!(lengths(1), [20_480, 57_344]);
    assert_eq!(lengths(2), [40_960, 36_864]);
}

#[test]
fn clones_are_numbered_0_and_then_downwards() {
    let plan = plan("--name=a --rw=write --filename=f --size=8k --offset=4k --offset_increment=16k --numjobs=4");
    let clones: Vec<u32> = plan.workers.iter().map(|worker| worker.clone).collect();
    let starts: Vec<u64> = plan.workers.iter().map(|worker| worker.files[0].start).collect();
    let numbers: Vec<u32> = plan.workers.iter().map(|worker| worker.thread_number).collect();
    assert_eq!(clones, [0, 3, 2, 1]);
    assert_eq!(starts, [4096, 53_248, 36_864, 20_480]);
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn an_increment_in_percent_is_rounded_up_too() {
    let words = "--name=a --filename=f --size=8k --offset_increment=10% --numjobs=4";
    let plan = World::new().file("f", 400_000).plan(words);
    let starts: Vec<u64> = plan.workers.iter().map(|worker| worker.files[0].start).collect();
    assert_eq!(starts, [0, 122_880, 81_920, 40_960]);
}

#[test]
fn each_clone_finds_the_file_as_the_one_before_will_have_made_it() {
    let words = "--name=a --filename=f --size=64k --offset=50% --offset_increment=10% --numjobs=3";
    let plan = World::new().file("f", 100_000).plan(words);
    assert_eq!(plan.layouts.last().unwrap().files[0].1, 159_744);
}

#[test]
fn clones_take_the_directories_in_turn() {
    let plan = plan("--name=a --rw=write --size=8k --directory=d:e --numjobs=4");
    let paths: Vec<String> = plan.workers.iter().map(|worker| worker.files[0].path.display().to_string()).collect();
    assert_eq!(paths, ["d/a.0.0", "e/a.3.0", "d/a.2.0", "e/a.1.0"]);
}

#[test]
fn the_paths_to_look_at_are_those_of_all_clones_once() {
    let jobs = World::new().jobs(
        "--name=a --size=8k --directory=d --filename=f:g --numjobs=2 --name=b --ioengine=null --size=8k --filename=h",
    );
    let paths: Vec<String> = fsdyno_run::plan::paths(&jobs).iter().map(|path| path.display().to_string()).collect();
    assert_eq!(paths, ["d", "d/f", "d/g"]);
}
