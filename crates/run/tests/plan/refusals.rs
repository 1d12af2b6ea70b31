//! Tests that what cannot work is refused before the first byte, by job or for all jobs, in fio's words where fio has
//! any.

use fsdyno_probe::FileKind;

use crate::world::{World, plan, refusal};

#[test]
fn a_missing_file_without_a_size_is_refused() {
    let plan = plan("--name=a --rw=read --filename=f");
    assert!(refusal(&plan).starts_with("a: you need to specify size="), "{}", refusal(&plan));
    assert_eq!(plan.workers[0].refused.as_ref().unwrap().code, 22);
    assert!(plan.rejections.is_empty(), "the other jobs run");
}

#[test]
fn a_share_of_a_missing_file_is_refused_alike() {
    assert!(refusal(&plan("--name=a --filename=f --size=50%")).starts_with("a: you need to specify size="));
}

#[test]
fn two_writers_of_a_file_that_is_verified_are_told() {
    let noted = |words: &str| plan(words).notes.iter().any(|note| note.id == "verify-shared-file");
    assert!(noted("--name=a --rw=write --size=8k --filename=f --numjobs=2 --verify=crc32c"));
    assert!(noted(
        "--name=a --rw=write --size=8k --filename=f --verify=md5 --name=b --rw=write --filename=f --verify=0"
    ));
    assert!(!noted("--name=a --rw=write --size=8k --numjobs=2 --verify=crc32c"), "each has a file of its own");
    assert!(!noted("--name=a --rw=write --size=8k --filename=f --numjobs=2"), "nobody verifies");
}

#[test]
fn options_that_a_pattern_to_verify_replaces_are_told() {
    let words = "--name=a --rw=write --size=64k --filename=f --verify=pattern --verify_pattern=0xdeadbeef";
    let note = |words: &str| plan(words).notes.into_iter().find(|note| note.id == "verify-pattern-content");
    for option in ["buffer_compress_percentage=50", "dedupe_percentage=50", "buffer_pattern=0xaa", "zero_buffers"] {
        let name = option.split('=').next().unwrap();
        let told = note(&format!("{words} --{option}")).expect(option);
        assert!(told.text.starts_with(name), "{told:?}");
        assert!(note(&format!("{words} --{option} --rw=read")).is_none(), "nothing is written");
        let random = words.replace("--verify=pattern --verify_pattern=0xdeadbeef", "--verify=crc32c");
        assert!(note(&format!("{random} --{option}")).is_none(), "{option} has its effect");
    }
    assert!(note(words).is_none(), "nothing else was asked for");
}

#[test]
fn buffered_blocks_that_are_read_back_at_once_are_told() {
    let noted = |words: &str| plan(words).notes.iter().any(|note| note.id == "verified-from-cache");
    let words = "--name=a --rw=write --size=64k --filename=f --verify=crc32c --verify_backlog=4";
    assert!(noted(words));
    for other in ["--direct=1", "--do_verify=0", "--verify_backlog=0", "--verify_only", "--ioengine=null", "--rw=read"]
    {
        assert!(!noted(&format!("{words} {other}")), "{other}");
    }
}

#[test]
fn what_is_only_to_be_read_is_not_laid_out_anew() {
    let shorter = || World::new().file("f", 30_000);
    let read = "--name=a --rw=read --size=64k --filename=f";
    for (words, wanted) in [
        (format!("--readonly {read}"), "fio: refusing extend of file due to read-only"),
        (format!("{read} --verify=crc32c"), "fio: verify: f has 30000 bytes, but 65536 must be checked"),
        (
            "--name=a --rw=write --size=64k --filename=f --verify=md5 --verify_only".to_owned(),
            "fio: verify: f has 30000",
        ),
    ] {
        let plan = shorter().plan(&words);
        assert!(refusal(&plan).starts_with(wanted), "{words}: {}", refusal(&plan));
        assert!(plan.layouts.is_empty(), "{words}: the file stays as it is");
    }
    let plan =
        shorter().plan(&format!("--name=w --rw=write --size=64k --filename=f --stonewall {read} --verify=crc32c"));
    assert!(plan.workers.iter().all(|worker| worker.refused.is_none()), "an earlier job writes it");
}

#[test]
fn one_refused_job_does_not_keep_the_others() {
    let plan = plan("--name=z --rw=write --size=8k --name=a --filename=f");
    let refused: Vec<bool> = plan.workers.iter().map(|worker| worker.refused.is_some()).collect();
    assert_eq!(refused, [false, true]);
}

#[test]
fn a_size_below_the_block_rejects_everything() {
    let plan = plan("--name=b --rw=write --size=8k --name=a --rw=write --size=2k");
    assert_eq!(plan.rejections.len(), 1);
    let expected = "fio: size too small, must not be less than minimum block size: 2048 < 4096\n";
    assert!(plan.rejections[0].starts_with(expected), "{}", plan.rejections[0]);
}

#[test]
fn a_file_below_the_block_refuses_its_job() {
    let plan = World::new().file("f", 2048).plan("--name=z --rw=write --size=8k --name=a --filename=f");
    assert!(plan.rejections.is_empty());
    let refused = plan.workers[1].refused.as_ref().unwrap();
    assert!(refused.message.starts_with("fio: blocksize is larger than data set range\n"), "{}", refused.message);
    assert!(plan.workers[0].refused.is_none());
}

#[test]
fn shares_below_the_block_are_refused_where_fio_would_do_nothing() {
    let plan = plan("--name=a --rw=write --size=8k --nrfiles=4");
    assert!(refusal(&plan).starts_with("fio: blocksize is larger"), "{}", refusal(&plan));
    assert!(plan.layouts.is_empty());
}

#[test]
fn an_offset_behind_the_end_is_refused() {
    let mut world = World::new().file("f", 65_536);
    for words in ["--offset=80k", "--offset=100%", "--offset=99%", "--filesize=16k --offset=20k"] {
        let plan = world.plan(&format!("--name=a --filename=f {words}"));
        assert!(refusal(&plan).starts_with("a: you need to specify valid offset="), "{words}: {}", refusal(&plan));
    }
    // The smallest size that could be drawn must hold the offset.
    let drawn = plan("--name=a --rw=write --filesize=4k-64k --nrfiles=4 --offset=16k");
    assert!(refusal(&drawn).starts_with("a: you need to specify valid offset="));
}

#[test]
fn a_missing_directory_rejects_everything() {
    let mut world = World::new().other("nope", FileKind::Missing).other("d", FileKind::Directory).file("f", 10);
    let rejections = world.plan("--name=a --rw=write --size=8k --directory=nope").rejections;
    assert!(rejections[0].starts_with("fio: nope is not a directory\nfio: failed parsing directory=nope\n"));
    assert_eq!(world.plan("--name=a --rw=write --size=8k --directory=f").rejections.len(), 1);
    assert!(world.plan("--name=a --rw=write --size=8k --directory=d").rejections.is_empty());
}

#[test]
fn creating_can_be_forbidden() {
    let forbidden = "fio: file creation disallowed by allow_file_create=0";
    assert_eq!(refusal(&plan("--name=a --rw=write --size=8k --allow_file_create=0")), forbidden);
    let mut world = World::new().file("f", 2048);
    assert_eq!(refusal(&world.plan("--name=a --filename=f --size=8k --allow_file_create=0")), forbidden);
    assert!(world.plan("--name=a --filename=f --bs=1k --allow_file_create=0").workers[0].refused.is_none());
}

#[test]
fn a_directory_is_no_file() {
    let plan = World::new().other("d", FileKind::Directory).plan("--name=a --rw=write --filename=d --size=8k");
    assert!(refusal(&plan).starts_with("fio: d is a directory"), "{}", refusal(&plan));
    assert_eq!(plan.workers[0].refused.as_ref().unwrap().code, 21);
}

#[test]
fn what_cannot_be_looked_at_is_refused_with_the_systems_reason() {
    let plan = World::new().other("f", FileKind::Unreachable(13)).plan("--name=a --rw=write --filename=f --size=8k");
    assert!(refusal(&plan).contains("Permission denied"), "{}", refusal(&plan));
}

#[test]
fn a_device_smaller_than_asked_for_is_refused() {
    let mut world = World::new().device("/dev/x", 1 << 20, None);
    assert!(refusal(&world.plan("--name=a --filename=/dev/x --size=2m")).contains("has 1048576 bytes"));
    assert!(refusal(&world.plan("--name=a --filename=/dev/x --size=1m --offset=4k")).contains("has 1048576 bytes"));
    assert!(world.plan("--name=a --filename=/dev/x --size=1m").workers[0].refused.is_none());
}

#[test]
fn a_mounted_device_is_written_only_when_allowed() {
    let mut world = World::new().device("/dev/x", 1 << 20, Some("/home"));
    let plan = world.plan("--name=a --rw=randrw --filename=/dev/x");
    assert!(refusal(&plan).starts_with("fio: /dev/x is mounted at /home; refusing to write"), "{}", refusal(&plan));
    assert_eq!(plan.workers[0].refused.as_ref().unwrap().code, 16);
    let may_run = |plan: fsdyno_run::plan::Plan| plan.workers[0].refused.is_none();
    assert!(may_run(world.plan("--name=a --rw=randread --filename=/dev/x")), "reading harms nobody");
    assert!(may_run(world.plan("--name=a --rw=randrw --filename=/dev/x --allow_mounted_write=1")));
    assert!(may_run(world.plan("--name=a --rw=randrw --filename=/dev/x --ioengine=null --size=4k")));
}

#[test]
fn a_device_in_use_is_not_trimmed_either() {
    for mut world in [
        World::new().device("/dev/x", 1 << 20, Some("/home")),
        World::new().signed_device("/dev/x", 1 << 20, "an xfs filesystem"),
    ] {
        for (word, change) in [("trim", "trim"), ("randtrim", "trim"), ("trimwrite", "write to")] {
            let plan = world.plan(&format!("--name=a --rw={word} --filename=/dev/x"));
            assert!(refusal(&plan).contains(&format!("refusing to {change} it")), "{word}: {}", refusal(&plan));
            assert_eq!(plan.workers[0].refused.as_ref().unwrap().code, 16);
        }
        let allowed = world.plan("--name=a --rw=trim --filename=/dev/x --allow_mounted_write=1");
        assert!(allowed.workers[0].refused.is_none());
    }
}

/// An engine that changes space also does so when it reads, and buffers on a device are written to it.
#[test]
fn what_a_reader_changes_is_defended_too() {
    let mut world = World::new().signed_device("/dev/x", 1 << 20, "an xfs filesystem").file("f", 1 << 20);
    let may_run = |plan: fsdyno_run::plan::Plan| plan.workers[0].refused.is_none();
    for words in ["--filename=/dev/x --ioengine=falloc", "--filename=f --mem=mmapshared:/dev/x"] {
        let refused = world.plan(&format!("--name=a --rw=read {words}"));
        assert!(
            refusal(&refused).starts_with("fio: /dev/x holds an xfs filesystem; refusing to write to it"),
            "{words}"
        );
        assert!(may_run(world.plan(&format!("--name=a --rw=read {words} --allow_mounted_write=1"))), "{words}");
    }
    assert!(
        may_run(world.plan("--name=a --rw=read --filename=f --mem=mmap:/dev/x")),
        "a private mapping writes nothing"
    );
}

/// Only these paths are examined: an exclusive open blocks others for a moment.
#[test]
fn only_what_is_changed_is_asked_for() {
    let mut world = World::new();
    let mut changed = |words: &str| fsdyno_run::plan::changed_paths(&world.jobs(words));
    assert!(changed("--name=a --rw=randread --filename=/dev/x").is_empty());
    assert!(changed("--name=a --rw=write --filename=/dev/x --allow_mounted_write=1").is_empty());
    let both = "--name=a --rw=trim --filename=/dev/x --name=b --rw=randrw --filename=/dev/y:/dev/x --numjobs=2";
    assert_eq!(changed(both), [std::path::PathBuf::from("/dev/x"), "/dev/y".into()]);
}

#[test]
fn only_a_block_device_is_trimmed() {
    let mut world =
        World::new().file("f", 1 << 20).other("/dev/null", FileKind::CharacterDevice).device("/dev/x", 1 << 20, None);
    let verified = "--rw=write --verify=crc32c --trim_percentage=50 --trim_backlog=4";
    for file in ["f", "missing", "/dev/null"] {
        for words in ["--rw=trim", "--rw=randtrimwrite", verified] {
            let plan = world.plan(&format!("--name=a --filename={file} --size=64k {words}"));
            let expected = format!("fio: {file} is no block device, and only those are trimmed.");
            assert!(refusal(&plan).starts_with(&expected), "{words}: {}", refusal(&plan));
            assert_eq!(plan.workers[0].refused.as_ref().unwrap().code, 25);
            assert!(plan.layouts.is_empty());
        }
    }
    let may_run = |plan: fsdyno_run::plan::Plan| plan.workers[0].refused.is_none();
    assert!(may_run(world.plan("--name=a --filename=f --size=64k --rw=trim --ioengine=null")));
    assert!(may_run(world.plan(&format!("--name=a --filename=/dev/x --size=64k {verified}"))));
}

#[test]
fn a_block_is_trimmed_among_writes_only_where_none_comes_again() {
    let mut world = World::new().device("/dev/x", 1 << 20, None);
    let words = "--name=a --filename=/dev/x --rw=randwrite --verify=crc32c --trim_percentage=50 --trim_backlog=4";
    assert!(world.plan(words).workers[0].refused.is_none());
    for again in ["--loops=2", "--norandommap", "--io_size=2m", "--time_based --runtime=1"] {
        let plan = world.plan(&format!("{words} {again}"));
        assert!(refusal(&plan).contains("trim_backlog needs writes that come to each block once"), "{again}");
    }
}

#[test]
fn only_what_a_job_makes_is_taken_away() {
    for engine in ["filedelete", "filerename"] {
        let named = format!("--name=a --ioengine={engine} --filename=f --size=4k");
        let plan = World::new().file("f", 8192).plan(&named);
        assert!(refusal(&plan).contains("f was there before the run"), "{engine}: {}", refusal(&plan));
        assert!(plan.layouts.is_empty(), "{engine}");
        let plan = World::new().plan(&named);
        assert!(plan.workers[0].refused.is_none() && plan.layouts.len() == 1, "{engine}: it makes what is missing");
        let generated = format!("--name=a --ioengine={engine} --nrfiles=2 --filesize=4k");
        let plan = World::new().file("a.0.0", 4096).plan(&generated);
        assert!(plan.workers[0].refused.is_none(), "{engine}: what an earlier run of the job left is the job's");
        let plan = World::new().other("a.0.1", FileKind::CharacterDevice).plan(&generated);
        assert!(refusal(&plan).contains("a.0.1 was there before"), "{engine}: {}", refusal(&plan));
    }
    let two =
        "--name=w --filename=f --rw=write --size=4k --stonewall --name=d --filename=f --size=4k --ioengine=filedelete";
    let plan = World::new().plan(two);
    assert!(plan.workers.iter().all(|worker| worker.refused.is_none()), "an earlier job of the run makes it");
    let directory = "--name=a --ioengine=dirdelete --filename=d --size=4k";
    assert!(refusal(&World::new().other("d", FileKind::Directory).plan(directory)).contains("d was there before"));
    assert!(World::new().plan(directory).workers[0].refused.is_none());
}

#[test]
fn ftruncate_that_reads_makes_nothing() {
    for rw in ["read", "randrw", "trim"] {
        let plan = plan(&format!("--name=a --ioengine=ftruncate --filename=f --size=64k --rw={rw}"));
        assert!(refusal(&plan).contains("ftruncate only writes"), "{rw}: {}", refusal(&plan));
        assert!(plan.layouts.is_empty(), "{rw}");
    }
}
