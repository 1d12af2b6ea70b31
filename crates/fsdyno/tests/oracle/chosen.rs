//! Tests the chosen differences of `fsdyno_job::differences`: the command lines of its rows, and how ours ends.

use crate::case::{Case, cases, job_file, line};

/// A job that would run, with one unusual value.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --rw=read").words(words)
}

cases! {
    unknown_unit: job("--size=4x").differs("size=4x", 1);
    hexadecimal_with_a_suffix: job("--bs=0x1k").differs("size=4x, 0x1k", 1);
    fraction: job("--size=1.5g").differs("size=1.5g", 1);
    unknown_unit_of_time: job("--runtime=1min").differs("runtime=10sec, 1min", 1);
    unit_where_there_is_none: job("--bwavgtime=1s").differs("bwavgtime=1s", 1);
    blank_before_a_size: job_file("[a]\nrw=read\nsize= 64k\n").differs("size= 64k", 1);
    blank_before_a_number: job_file("[a]\nrw=read\nsize=64k\nnumber_ios= 4\n").differs("iodepth= 4", 0);
    range_in_bs: job("--bs=4k-16k").differs("bs=4k-16k", 1);
    four_block_sizes: job("--bs=4k,8k,16k,32k").differs("bs=4k,8k,16k,32k", 1);
    negative_size: job("--size=-1").differs("size=-1", 1);
    more_than_all: job("--size=200%").differs("size=200%", 1);
    split_below_a_hundred: job("--bssplit=4k/50:8k/30").differs("bssplit=4k/50:8k/30", 1);
    split_above_a_hundred: job("--bssplit=4k/50:8k/60").differs("bssplit=4k/50:8k/60", 1);
    percentiles_by_comma: job("--percentile_list=50,99").differs("percentile_list=50,99", 1);
    percentile_above_a_hundred: job("--percentile_list=50:199").differs("percentile_list=50:199", 1);
    two_patterns: job("--rw=read,write").differs("rw=read,write", 1);
    word_after_a_pattern: job("--rw=randread:x").differs("rw=randread:x", 1);
    processors_that_are_none: job("--cpus_allowed=foo").differs("cpus_allowed=foo", 1);
    error_that_is_none: job("--ignore_error=BOGUS").says("BOGUS");
    error_that_is_no_number: job("--ignore_error=5x").differs("ignore_error=-5", 1);
    value_forgotten: line("--name=a --filename=data --rw=read --direct --size=64k").differs("--direct --size=4k", 1);
    no_clone: job("--numjobs=0").differs("numjobs=0", 1);
    variable_unset: job_file("[a]\nrw=read\nsize=${FSDYNO_NOT_SET}\n").differs("size=${UNSET}", 1);
    calculation: job_file("[a]\nrw=read\nsize=8*$pagesize\n").differs("8*$pagesize", 0);
    eta_in_a_word_that_is_none: job("--eta=bogus").differs("--eta=bogus", 0);
    readonly_after_a_job: job("--rw=write --readonly").says("read");
    readonly_after_a_later_job: job("--rw=write --name=b --rw=read --readonly").differs("--readonly after the --name", 1);
    showcmd_of_the_command_line: job("--showcmd").differs("--showcmd with jobs", 0);
    options_of_a_group: job_file("[global]\nioengine=null\nsize=64k\ngroup_reporting\n[a]\nrw=write\n[b]\nrw=read\n")
        .differs("job options of a group", 0);
    unlink_each_loop_of_no_file: line("--name=a --ioengine=null --size=64k --rw=read --loops=2 --unlink_each_loop=1")
        .differs("unlink_each_loop with ioengine=null", 0);
    unlink_with_create_only: job("--create_only=1 --unlink=1").differs("unlink with create_only", 0);
    block_that_fits_in_no_file: job("--rw=randrw --bs=4k,128k").differs("a block of one direction that is larger", 1);
    write_after_a_trim: line("--name=a --ioengine=null --size=64k --rw=randtrimwrite --bs=4k,4k,8k").differs("rw=randtrimwrite with a size", 0);
    option_that_is_not_built: job("--write_zone_remainder=1").differs("options that are not built", 1);
}
