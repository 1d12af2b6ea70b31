//! Tests what both tools refuse, and their messages.

use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

/// A job that would run, with one thing wrong.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k").words(words)
}

cases! {
    number_that_is_none: job("--rw=read --iodepth=x").says("iodepth");
    number_below_its_range: job("--rw=read --iodepth=0").says("iodepth");
    number_above_its_range: job("--rw=read --rwmixread=101").says("rwmixread");
    boolean_above_one: job("--rw=read --direct=2").says("direct");
    boolean_as_a_word: job("--rw=read --direct=yes").says("direct");
    word_of_no_list: job("--rw=foo").says("foo");
    rates_exclude_each_other: job("--rw=read --rate=1m --rate_iops=100").says("mutually exclusive");
    no_size_and_no_file: line("--name=x --rw=read --filename=nosuch").says("you need to specify size=").left(Depth::Sizes);
    no_size_and_no_file_in_a_report: line("--name=x --rw=read --filename=nosuch").report();
    no_size_at_all: line("--name=x --rw=write").left(Depth::Names);
    directory_is_missing: line("--name=a --directory=nosuch --size=64k --rw=read").says("nosuch is not a directory");
    directory_is_a_file: line("--name=a --size=64k --directory=d --rw=read").file("d", "x").says("d");
    job_file_is_missing: line("nosuch.fio").says("nosuch.fio");
    filename_is_a_directory: line("--name=a --filename=d --size=64k --rw=write").file("d/keep", "x");
    one_of_two_jobs_fails: line("--name=a --filename=nosuch --rw=read --name=b --size=64k --rw=write").left(Depth::Sizes);
    two_clones_fail: line("--name=a --filename=nosuch --rw=read --numjobs=2");
    write_of_a_file_for_reading: line("--name=a --filename=/proc/version --size=4k --rw=write --number_ios=1");
    lockfile_unknown: job("--rw=read --lockfile=foo").says("lockfile");
    wait_for_of_an_unknown_job: job("--rw=read --wait_for=nosuch").verbatim().says("a: waitee job nosuch unknown.");
    wait_for_of_a_later_job: line("--name=c --size=64k --wait_for=d --name=d --size=64k").verbatim().says("c: waitee job d unknown.");
    steadystate_without_a_limit: job("--rw=read --ss=iops").says("steadystate threshold must be specified in addition to criterion");
    idle_prof_of_another_word: job("--rw=read --idle-prof=foo").says("incorrect idle-prof option: foo");
    trim_of_a_file: job("--rw=trim").verbatim();
}
