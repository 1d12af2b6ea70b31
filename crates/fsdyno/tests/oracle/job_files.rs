//! Tests job files: sections, comments, variables, includes, stonewalls.

use crate::case::{cases, job_file, line};
use crate::left_behind::Depth;

cases! {
    one_section: job_file("[a]\nrw=read\nsize=64k\n").counts().left(Depth::Sizes).report();
    two_sections: job_file("[a]\nrw=read\nsize=64k\n[b]\nrw=write\nsize=32k\n").counts().left(Depth::Sizes);
    globals: job_file("[global]\nsize=64k\nbs=8k\n[a]\nrw=read\n[b]\nrw=write\nbs=4k\n").counts().left(Depth::Sizes).report();
    globals_add_up: job_file("[global]\nsize=64k\n[a]\nrw=write\n[global]\nbs=16k\n[b]\nrw=write\n").counts().left(Depth::Sizes);
    walls: job_file("[global]\nfilename=data\nsize=64k\n[w]\nrw=write\n[r]\nstonewall\nrw=read\n").counts().report();
    wall_of_a_group: job_file(MULTI).counts().report().terse(3).left(Depth::Sizes);
    new_group: job_file("[global]\nsize=64k\ngroup_reporting\n[a]\nrw=read\n[b]\nnew_group\nrw=write\n").counts().report();
    comments: job_file("; first\n# second\n[a] ; after a section\nrw=read # after a value\nsize=64k\n\n").counts();
    blanks: job_file("  [a]\n   rw=read\n\tsize=64k\n  bs  =8k\n").counts();
    flags: job_file("[a]\nrw=randread\nsize=64k\nthread\nnorandommap\ngroup_reporting\nnumjobs=2\n").counts();
    flag_with_a_value: job_file("[a]\nrw=randread\nsize=64k\nnorandommap=1\nthread=0\n").counts();
    boolean_without_a_value: job_file("[a]\nrw=read\nsize=64k\ndirect\n").says("direct");
    variable: job_file("[a]\nrw=read\nsize=${SIZE}\n").variable("SIZE", "32k").counts();
    variable_inside_a_value: job_file("[a]\nrw=${KIND}read\nsize=${SIZE}k\nfilename=${NAME}.bin\n")
        .variable("SIZE", "32").variable("NAME", "data").variable("KIND", "rand").counts().left(Depth::Sizes);
    variable_unset: job_file("[a]\nrw=read\nsize=64k${FSDYNO_NOT_SET}\n").counts();
    pagesize: job_file("[a]\nrw=read\nsize=64k\nbs=$pagesize\n").counts();
    include: job_file("[a]\ninclude more.inc\nrw=read\n").file("more.inc", "size=64k\nbs=8k\n").counts();
    include_of_a_missing_file: job_file("[a]\ninclude nosuch.inc\nrw=read\n").says("nosuch.inc");
    include_from_a_directory: line("d/jobs.fio").file("d/jobs.fio", "[a]\ninclude more.inc\nrw=write\n").file("d/more.inc", "size=16k\n").counts();
    include_with_an_equals_sign: job_file("[a]\ninclude=more.inc\nrw=read\n").file("more.inc", "size=64k\n").counts();
    include_is_sought_in_the_current_directory_first: line("d/jobs.fio").file("d/jobs.fio", "[a]\ninclude more.inc\nrw=write\n")
        .file("d/more.inc", "size=16k\n").file("more.inc", "size=32k\n").counts();
    name_in_a_section: job_file("[sect]\nname=disp\nrw=write\nsize=16k\nnumjobs=2\nwrite_bw_log\n").counts().report().left(Depth::Names);
    name_in_a_section_with_groups: job_file("[sect]\nname=disp\nrw=write\nsize=16k\nnumjobs=2\ngroup_reporting\n").counts().report();
    name_in_globals: job_file("[global]\nname=GLOB\nsize=16k\n[sect]\nrw=write\n").counts().report().left(Depth::Names);
    name_in_showcmd: job_file("[s1]\nname=disp\nrw=write\nsize=16k\n").words("--showcmd").same_stdout();
    options_of_profiles: job_file("[a]\nthreads=8\nblock=4k\ndir=/mnt\nnumruns=2\nload=1\ntest-duration=10s\nprep\nrw=read\nsize=64k\n").counts();
    option_of_a_profile_with_a_bad_value: job_file("[a]\nthreads=x\nrw=read\nsize=64k\n").says("failed parsing threads=x");
    number_with_a_zero_fraction: job_file("[a]\nrw=read\nsize=65536.0\n").counts();
    number_with_a_comment: job_file("[a]\nrw=write\nsize=64k\nfsync=2 // text, more\nbs=4k // reads, writes\n").counts();
    flag_and_switch_with_a_comment: job_file("[a]\nrw=read\nsize=64k\ndirect=0 // no\nthread=1 // x\n").counts();
    time_with_a_comment: job_file("[a]\nrw=read\nsize=64k\nruntime=10 // text\n").counts();
    percentage_with_its_sign: job_file("[a]\nrw=randrw\nsize=64k\nrwmixread=70%\n").differs("rwmixread=70%", 0);
    order_in_a_section_is_free: job_file("[a]\nfilename=f\ndirectory=d\nrw=write\nsize=16k\n").file("d/keep", "x").left(Depth::Sizes);
    option_unknown: job_file("[a]\nrw=read\nsize=64k\nbogus=1\n").says("bogus");
    option_misspelt: job_file("[a]\nrw=read\nsize=64k\niodepht=4\n").says("iodepht").says("iodepth");
    value_bad: job_file("[a]\nrw=read\nsize=64k\niodepth=x\n").says("iodepth");
    text_before_a_section: job_file("rw=read\n[a]\nsize=64k\n").says("rw=read");
    only_globals: job_file("[global]\nrw=read\nsize=64k\n").says("No job");
    empty: job_file("").verbatim();
    section_chosen: job_file("[a]\nrw=write\nsize=16k\n[b]\nrw=write\nsize=32k\n").words("--section=b").counts().left(Depth::Sizes);
    sections_chosen: job_file("[a]\nrw=write\nsize=16k\n[b]\nrw=write\nsize=32k\n[c]\nrw=write\nsize=4k\n")
        .words("--section=b --section=c").counts().left(Depth::Sizes);
    section_unknown: job_file("[a]\nrw=write\nsize=16k\n").words("--section=nosuch").left(Depth::Names);
    section_global: job_file("[global]\nsize=16k\n[a]\nrw=write\n").words("--section=global").left(Depth::Names);
    two_job_files: line("one.fio two.fio").file("one.fio", "[global]\nsize=64k\n[a]\nrw=write\n").file("two.fio", "[b]\nrw=write\nsize=16k\n").counts().report();
    globals_end_with_their_file: line("one.fio two.fio").file("one.fio", "[global]\nsize=64k\n[a]\nrw=write\n").file("two.fio", "[b]\nrw=write\n").verbatim();
    command_line_and_job_file: job_file("[b]\nrw=write\nsize=16k\n").words("--name=a --rw=write --size=64k").counts().left(Depth::Sizes);
    from_stdin: line("-").shell("printf '[a]\\nrw=write\\nsize=16k\\n' | \"$@\"").counts().left(Depth::Sizes);
    showcmd: job_file(MULTI).words("--showcmd").same_stdout().left(Depth::Names);
    showcmd_of_globals: job_file("[global]\nrw=read\ndescription=two words\n[a]\nsize=64k\nthread\n").words("--showcmd").same_stdout();
    parse_only: job_file(MULTI).words("--parse-only").verbatim().left(Depth::Names);
    parse_only_of_a_bad_file: job_file("[a]\nrw=read\nbogus=1\n").words("--parse-only").verbatim();
    engine_option: job_file("[a]\nioengine=libaio\nuserspace_reap\niodepth=4\nrw=randread\nsize=64k\n").counts();
    engine_option_before_the_engine: job_file("[a]\nuserspace_reap\nioengine=libaio\nrw=randread\nsize=64k\n").verbatim();
    description: job_file("[a]\ndescription=two words\nrw=read\nsize=64k\n").report();
    section_without_an_end: job_file("[a\nrw=write\nsize=16k\n").differs("[name without", 1);
    windows_line_ends: job_file("[a]\r\nrw=write\r\nsize=16k\r\n").verbatim();
}

/// Two groups with clones, as guides write them.
const MULTI: &str = "; two groups, group_reporting, stonewall\n[global]\nioengine=psync\nsize=64k\nbs=4k\ngroup_reporting\n\
    [readers]\nrw=randread\nnumjobs=2\n[writers]\nstonewall\nrw=randwrite\nnumjobs=3\nend_fsync=1\n";
