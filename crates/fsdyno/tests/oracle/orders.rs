//! Tests uneven access patterns, moving zones, and content that compresses or repeats.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};
use crate::tools::{self, FIO, OURS, Tool};

/// Random offsets that both tools share.
fn null(words: &str) -> Case {
    line("--name=a --ioengine=null --size=256k --randrepeat=0 --randseed=7 --random_generator=tausworthe").words(words)
}

/// Zones of 128 KiB on a file of 1 MiB, which has none of its own.
fn counted(words: &str) -> Case {
    let words = format!("--name=a --filename=f --zonemode=zbd --zonesize=128k --bs=32k --randseed=7 {words}");
    line(&words).file("f", vec![1; 1 << 20])
}

cases! {
    zoned: null("--rw=randread --random_distribution=zoned:60/10:30/20:8/30:2/40").counts().report();
    zoned_abs: null("--rw=randwrite --random_distribution=zoned_abs:60/16k:40/240k").counts();
    zones_of_too_little: null("--rw=randread --random_distribution=zoned:50/50");
    sizes_by_sequence: null("--rw=randread --bs=4k,8k --bs_is_seq_rand=1 --percentage_random=50 --norandommap")
        .differs("bs_is_seq_rand=1 with random offsets near the end of the file", 0);
    zones_of_too_much: null("--rw=randread --random_distribution=zoned:50/60:50/60");
    strided_without_a_size: null("--zonemode=strided --rw=read --zonerange=16k");
    counted_zones_of_a_small_file: counted("--rw=write --zonesize=2m");
}

shared_commands! {
    zoned_and_verified: line("--name=a --size=256k --rw=randwrite --random_distribution=zoned:60/10:40/90 --verify=crc32c")
        .words("--verify_state_save=0");
    service_zipf: null("--rw=read --nrfiles=4 --file_service_type=zipf:1.2").counts();
    service_pareto: null("--rw=write --nrfiles=4 --file_service_type=pareto:0.3").counts();
    service_gauss: null("--rw=rw --nrfiles=4 --file_service_type=gauss:10").counts();
    service_zipf_of_real_files: line("--name=a --size=256k --rw=read --nrfiles=4 --file_service_type=zipf").counts();
    sizes_by_sequence_in_order: null("--rw=rw --bs=4k,8k --bs_is_seq_rand=1").counts();
    strided: null("--zonemode=strided --rw=read --zonesize=8k --zonerange=16k").counts();
    strided_with_gaps: null("--zonemode=strided --rw=randwrite --zonesize=8k --zonerange=16k --zoneskip=16k").counts();
    strided_mix: null("--zonemode=strided --rw=rw --zonesize=16k --zonerange=8k").counts();
    counted_zones: counted("--rw=write --zero_buffers").counts().left(crate::left_behind::Depth::Contents);
    counted_zones_in_part: counted("--rw=write --zero_buffers --zonecapacity=96k").counts().left(crate::left_behind::Depth::Contents);
    counted_zones_again: counted("--rw=write --loops=2").counts().report();
    counted_zones_of_a_range: counted("--rw=write --offset=1z --size=4z --io_size=6z").counts();
    counted_zones_at_random: counted("--rw=randwrite --io_size=512k").counts();
    counted_zones_of_two_jobs: counted("--rw=write --io_size=768k --numjobs=2 --group_reporting").counts();
    counted_zones_of_two_at_random: counted("--rw=randwrite --io_size=512k --numjobs=2 --group_reporting").counts();
    counted_zones_hold_nothing: counted("--rw=read").counts();
    counted_zones_read_beyond: counted("--rw=read --read_beyond_wp=1").counts();
    counted_zones_verified: counted("--rw=write --verify=crc32c --verify_state_save=0").counts();
    overlaps_in_turn: null("--rw=randwrite --iodepth=8 --norandommap --serialize_overlap=1").counts();
    compress: line("--name=a --size=256k --rw=write --buffer_compress_percentage=50").counts();
    compress_to_nothing: line("--name=a --size=256k --rw=write --buffer_compress_percentage=100")
        .left(crate::left_behind::Depth::Contents);
    dedupe: line("--name=a --size=256k --rw=write --dedupe_percentage=50").counts();
    dedupe_and_verified: line("--name=a --size=256k --rw=randwrite --dedupe_percentage=50 --verify=crc32c --verify_state_save=0");
}

/// The 4 MiB files that `tool` writes in one command, each by a job with these words. For each: how well it compresses with
/// each program, percent of its size, and the percentages of its blocks of 4 KiB and of 64 KiB that are unique.
fn fractions(tool: &Tool, jobs: &[&str]) -> Vec<Vec<f64>> {
    let job = |(number, words)| format!("--name=j{number} --filename=data{number} --size=4m --rw=write {words} ");
    let case = line(&jobs.iter().enumerate().map(job).collect::<String>());
    let ran = tools::run(tool, &case, &[]);
    assert_eq!(ran.status, Some(0), "{jobs:?}: {}", ran.stderr);
    (0..jobs.len()).map(|number| fractions_of(&ran.directory.path().join(format!("data{number}")))).collect()
}

fn fractions_of(file: &Path) -> Vec<f64> {
    let data = std::fs::read(file).expect("the job wrote its file");
    let share = |part: usize, all: usize| part as f64 * 100.0 / all as f64;
    let mut shares = Vec::new();
    for program in ["gzip -6", "lz4", "zstd -3"] {
        let mut words = program.split(' ');
        let output = Command::new(words.next().expect("a program"))
            .args(words)
            .arg("-c")
            .arg(file)
            .stderr(Stdio::null())
            .output()
            .expect("the program runs");
        shares.push(share(output.stdout.len(), data.len()));
    }
    for block in [4096, 65536] {
        let different: HashSet<&[u8]> = data.chunks(block).collect();
        shares.push(share(different.len(), data.len() / block));
    }
    shares
}

/// Content compresses and repeats as asked for, and as fio's does.
#[test]
fn content_has_its_fractions() {
    if let Some(missing) = ["gzip", "lz4", "zstd"].into_iter().find(|tool| !testkit::has(tool)) {
        testkit::skip(&format!("{missing} is not installed"));
        return;
    }
    // Asked for: the rest after compression, and the shares of unique blocks.
    let asked = [
        ("--bs=64k --buffer_compress_percentage=10", 90.0, [100.0, 100.0]),
        ("--bs=64k --buffer_compress_percentage=50", 50.0, [100.0, 100.0]),
        ("--bs=64k --buffer_compress_percentage=90", 10.0, [100.0, 100.0]),
        ("--bs=64k --buffer_compress_percentage=50 --buffer_compress_chunk=64k", 50.0, [50.0, 100.0]),
        ("--bs=4k --dedupe_percentage=50", 50.0, [50.0, 100.0]),
        ("--bs=4k --dedupe_percentage=90", 10.0, [10.0, 95.0]),
        ("--bs=4k --dedupe_percentage=50 --buffer_compress_percentage=50", 25.0, [50.0, 100.0]),
    ];
    let jobs = asked.map(|(words, ..)| words);
    let ours = fractions(&OURS, &jobs);
    let fio = FIO.as_ref().map(|fio| fractions(fio, &jobs));
    for (number, (words, remains, different)) in asked.into_iter().enumerate() {
        let ours = &ours[number];
        for (what, found) in ["gzip", "lz4", "zstd"].iter().zip(ours) {
            assert!((found - remains).abs() < 3.0, "{words}: {what} leaves {found} %, {remains} % were asked for");
        }
        for (found, asked) in ours[3..].iter().zip(different) {
            assert!((found - asked).abs() < 5.0, "{words}: {found} % of the blocks differ, {asked} % were asked for");
        }
        for (ours, fio) in ours.iter().zip(fio.iter().flat_map(|fio| &fio[number])) {
            assert!((ours - fio).abs() < 2.5, "{words}: {ours} %, fio {fio} %");
        }
    }
}

/// A working set repeats blocks that are far apart: only a comparison of all blocks finds them.
#[test]
fn a_working_set_repeats_its_blocks() {
    if !testkit::has("gzip") || !testkit::has("lz4") || !testkit::has("zstd") {
        testkit::skip("gzip, lz4 and zstd are not all installed");
        return;
    }
    let ours = &fractions(&OURS, &["--bs=4k --dedupe_percentage=50 --dedupe_mode=working_set"])[0];
    assert!(ours[0] > 93.0 && ours[1] > 90.0, "{ours:?}");
    assert!((ours[3] - 50.0).abs() < 3.0 && ours[4] > 99.0, "{ours:?}");
}

/// The working sets of both jobs are the same: together their files have fewer unique blocks.
#[test]
fn working_sets_are_shared() {
    let different = |global: &str| {
        let words = "--name=a --size=1m --rw=write --bs=4k --dedupe_percentage=80 --dedupe_mode=working_set \
                     --dedupe_working_set_percentage=10 --filename_format=$jobname.$jobnum --numjobs=2";
        let ran = tools::run(&OURS, &line(words).words(global), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let blocks = |name: &str| -> HashSet<Vec<u8>> {
            let data = std::fs::read(ran.directory.path().join(name)).expect("the job wrote its file");
            data.chunks(4096).map(<[u8]>::to_vec).collect()
        };
        blocks("a.0").intersection(&blocks("a.1")).count()
    };
    assert_eq!(different("--dedupe_global=0"), 0);
    assert!(different("--dedupe_global=1") > 30);
}
