//! Tests the language of the command line: dashes, abbreviations, order, globals, several jobs.

use crate::case::shared_command::shared_commands;
use crate::case::{cases, line};
use crate::left_behind::Depth;

/// The first job ends what `what` says; the second is in another group, the third behind a stonewall.
fn ended_with(what: &str) -> String {
    format!(
        "--filename=data --size=64k --rw=read --name=a --exitall --exit_what={what} --startdelay=300ms \
         --name=b --new_group --rate_iops=20 --name=c --stonewall"
    )
}

/// All options that are accepted without effect: fio does the same with and without them.
const WITHOUT_EFFECT: &str = "--max-jobs=1 --alloc-size=1024 --clocksource=clock_gettime --gtod_cpu=0 --flow_watermark=5 \
    --experimental_verify=1 --verifysort=0 --verifysort_nr=3 --block_error_percentiles=1 --log_entries=2048 --block=8k \
    --numruns=2 --dir=nowhere --threads=3 --device-names=x --load=2 --test-duration=1 --threads-per-queue=2 --read_iolog_chunked=1 \
    --read-req-num-512-blocks=1 --large-block-op-kbytes=4 --prep";

#[test]
fn each_option_without_effect_is_held_against_fio() {
    let table = fsdyno_job::compat::markdown();
    let rows = table.lines().filter(|line| line.contains("| accepted without effect |"));
    let names = rows.map(|line| line.split('`').nth(1).expect("a row names its option"));
    let missing: Vec<&str> = names.filter(|name| !WITHOUT_EFFECT.contains(&format!("--{name}"))).collect();
    assert!(missing.is_empty(), "put them into WITHOUT_EFFECT: {missing:?}");
}

cases! {
    options_without_effect: line("--name=a --size=64k --rw=randrw --numjobs=2").words(WITHOUT_EFFECT).counts().left(Depth::Sizes);
    options_without_effect_beside_verify: line("--name=a --size=64k --rw=randwrite --verify=md5 --verify_state_save=0")
        .words(WITHOUT_EFFECT).counts();
    single_dashes: line("-name=a -filename=data -rw=read -size=64k").counts();
    value_in_the_next_word: line("--name a --filename data --rw read --size 64k").counts();
    mixed_dashes: line("-name a --filename=data -rw read --size 64k -bs=8k").counts();
    abbreviation: line("--name=a --filename=data --randre=1 --size=64k --rw=randread --group_rep --runt=5").counts();
    abbreviation_of_case_c: line("--name=a --filename=data --size=64k --rw=read --runtime=100ms -time_base").report();
    aliases: line("--name=a --filename=data --size=64k --readwrite=read --blocksize=8k --timeout=5 --nr_files=1").counts();
    ambiguous: line("--name=a --rwmix=70").says("ambiguous").says("rwmixread").says("rwmixwrite");
    ambiguous_single_dash: line("-name=a -iodep=4").says("ambiguous");
    unknown_option: line("--name=a --iodepht=4").says("iodepht").says("iodepth");
    unknown_option_far_from_all: line("--name=a --zzzzzzzzqqq=4").says("zzzzzzzzqqq");
    misspelt_single_dash: line("-name=a -size=64k -rw=read -filename=data -foo").differs("-foo", 1);
    case_counts: line("--name=a --IODEPTH=4").says("IODEPTH");
    dash_is_not_underscore: line("--name=a --time-based").says("time-based");
    flag_with_a_value: line("--name=a --filename=data --size=64k --rw=read --thread=1 --group_reporting=1 --numjobs=2").counts();
    flag_switched_off: line("--name=a --filename=data --size=64k --rw=read --group_reporting=0 --numjobs=2").counts();
    flag_does_not_take_the_next_word: line("--name=a --filename=data --size=64k --rw=read --group_reporting 1").verbatim().says("1");
    value_missing: line("--name=a --iodepth").verbatim().says("requires an argument");
    value_empty: line("--name=a --iodepth=").says("requires an argument");
    boolean_needs_a_value: line("--name=a --filename=data --size=64k --rw=read --direct").verbatim();
    last_value_wins: line("--name=a --filename=data --rw=read --size=64k --bs=4k --number_ios=2 --number_ios=3").verbatim();
    options_before_a_name_are_global: line("--rw=read --size=64k --name=a --filename=x --name=b --filename=y --bs=8k").counts().left(Depth::Sizes);
    back_to_global: line("--name=a --size=16k --rw=write --name=global --size=32k --name=b --rw=write").verbatim().left(Depth::Sizes);
    options_without_a_job: line("--rw=read --size=64k").says("No job");
    no_words_at_all: line("").verbatim();
    end_of_options: line("--name=a --size=64k --rw=write -- jobs.fio").file("jobs.fio", "[b]\nsize=16k\nrw=write\n").counts().left(Depth::Sizes);
    job_file_among_options: line("--name=a jobs.fio --size=64k --rw=write").file("jobs.fio", "[b]\nsize=16k\nrw=write\n").counts().left(Depth::Sizes);
    globals_reach_the_job_file: line("--size=16k --rw=write jobs.fio").file("jobs.fio", "[b]\nnumber_ios=2\n").counts().left(Depth::Sizes);
    stonewall_alias: line("--name=a --size=64k --rw=write --filename=data --name=b --wait_for_previous --size=64k --rw=read --filename=data").counts();
    new_group: line("--group_reporting --size=64k --rw=read --filename=data --name=a --name=b --new_group").counts().report();
    readonly_of_a_read: line("--readonly --name=a --filename=data --rw=read").file("data", vec![1; 65536]).counts();
    readonly_of_a_write: line("--readonly --name=a --filename=data --size=64k --rw=write").says("read-only").left(Depth::Names);
    engine_option_without_the_engine: line("--name=a --userspace_reap=1 --filename=data --size=64k --rw=read").verbatim();
    lockfile_of_thread_options: line("--name=a --filename=data --size=64k --rw=read --thread --numjobs=2 --clocksource=clock_gettime").counts();
    exitall: line("--name=a --filename=data --size=64k --rw=read --exitall").counts();
    exit_what_of_a_group: line(&ended_with("group")).counts().report();
    exit_what_runs: line(&ended_with("stonewall")).report();
    exit_what_all: line(&ended_with("all")).report();
    exitall_on_error_ends_the_group: line("--size=64k --name=a --filename=no/such --rw=read --exitall_on_error --name=b --new_group --filename=data --rw=write --rate_iops=100");
    wait_for: line("--size=64k --name=a --filename=x --rw=write --numjobs=2 --name=b --filename=y --rw=write --name=c --wait_for=a --filename=z --rw=write --name=d --wait_for=c --filename=z --rw=read").counts().left(Depth::Sizes).report();
    wait_for_of_a_group_that_ends: line("--size=64k --name=a --filename=data --rw=read --exitall --name=b --wait_for=a --filename=data --rw=read").counts();
    flow: line("--size=64k --filename=data --rw=read --name=a --flow=8 --name=b --flow=1 --name=c").counts().report();
    flow_that_sleeps: line("--size=64k --filename=data --rw=randread --flow_sleep=100 --name=a --flow=2 --name=b --flow=1 --flow_id=0").counts();
    cpus_beyond_the_machine: line("--name=a --filename=data --size=64k --rw=read --cpus_allowed=0-1000").says("too large");
    options_of_profiles: line("--name=a --filename=data --size=64k --rw=read --threads=8 --dir=/mnt --device-names=/dev/x").counts();
}

shared_commands! {
    several_jobs: line("--name=a --size=64k --rw=read --name=b --size=128k --rw=write").counts().left(Depth::Sizes).report();
    stonewall: line("--name=a --size=64k --rw=write --filename=data --name=b --stonewall --size=64k --rw=read --filename=data").counts().report();
    verify_off: line("--name=a --filename=data --size=64k --rw=write --verify=0").counts();
    engine_option_after_the_engine: line("--name=a --ioengine=libaio --userspace_reap=1 --filename=data --size=64k --rw=read").counts();
    random_generator: line("--name=a --filename=data --size=64k --rw=randread --random_generator=tausworthe --randseed=7").counts();
    lfsr: line("--name=a --filename=data --size=64k --rw=randread --random_generator=lfsr").counts();
    zipf: line("--name=a --filename=data --size=256k --rw=randread --random_distribution=zipf:1.2").counts();
    invalidate_off: line("--name=a --filename=data --size=64k --rw=read --invalidate=0 --fadvise_hint=0").counts();
    cpus_allowed: line("--name=a --filename=data --size=64k --rw=read --cpus_allowed=0").counts();
}
