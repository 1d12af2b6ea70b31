//! Tests system calls that fail: strace(1) makes the n-th call of each thread fail in both tools.

use crate::case::{Case, Need, cases, line};

/// 16 writes of 4 KiB by pwrite(2), the fifth of which fails.
fn fifth_write_fails(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --rw=write --thread")
        .words(words)
        .shell(FIFTH_WRITE_FAILS)
        .needs(Need::Strace)
}

const FIFTH_WRITE_FAILS: &str =
    "exec strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=EIO:when=5 \"$@\"";
const EVERY_THIRD_WRITE_FAILS: &str =
    "exec strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=EIO:when=5+3 \"$@\"";
const DISK_IS_FULL: &str =
    "exec strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=5 \"$@\"";
const FIFTH_WRITE_IS_SHORT: &str =
    "exec strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:retval=1024:when=5 \"$@\"";
const SECOND_FSYNC_FAILS: &str = "exec strace -f -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=2 \"$@\"";
const SUBMISSION_FAILS: &str =
    "exec strace -f -o /dev/null -e trace=io_submit -e inject=io_submit:error=EINVAL:when=2 \"$@\"";

cases! {
    an_error_ends_the_job: fifth_write_fails("").counts().report().says("Input/output error").says("write offset=16384");
    an_error_ends_each_clone: fifth_write_fails("--numjobs=3").counts();
    an_error_in_a_group: fifth_write_fails("--numjobs=2 --group_reporting");
    an_error_ends_one_job_of_two: fifth_write_fails("--name=b --size=16k --rw=write --filename=other").counts();
    errors_are_counted: fifth_write_fails("--continue_on_error=io").counts().report().terse(3);
    many_errors_are_counted: fifth_write_fails("--continue_on_error=all").shell(EVERY_THIRD_WRITE_FAILS).counts().report();
    errors_are_dumped: fifth_write_fails("--continue_on_error=all --error_dump=1").shell(EVERY_THIRD_WRITE_FAILS).counts().report()
        .says("fio: io_u error on file data: Input/output error: write offset=16384, buflen=4096")
        .says("fio: io_u error on file data: Input/output error: write offset=53248, buflen=4096");
    errors_of_reads_only: fifth_write_fails("--continue_on_error=read").counts();
    a_full_disk_is_not_survived: fifth_write_fails("--continue_on_error=all").shell(DISK_IS_FULL).counts();
    a_full_disk_ends_the_filling: fifth_write_fails("--fill_device=1").shell(DISK_IS_FULL).counts();
    exitall_on_error: fifth_write_fails("--exitall_on_error");
    a_short_write_is_continued: fifth_write_fails("").shell(FIFTH_WRITE_IS_SHORT);
    a_failing_fsync_ends_the_job: fifth_write_fails("--fsync=4").shell(SECOND_FSYNC_FAILS).counts().says("Input/output error");
    a_failing_submission_ends_the_job: fifth_write_fails("--ioengine=libaio").shell(SUBMISSION_FAILS).says("Invalid argument");
}
