//! Tests which files are made, their sizes and contents, and which remain.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, job_file, line};
use crate::left_behind::Depth;

/// A job of 64 KiB without a file name.
fn job(words: &str) -> Case {
    line("--name=a --size=64k").words(words)
}

cases! {
    name_of_the_job: job("--rw=write").left(Depth::Sizes);
    name_with_slashes: line("--name=deep/er/a --size=64k --rw=write").left(Depth::Sizes);
    filename_with_a_directory: job("--rw=write --filename=new/place/data").left(Depth::Sizes);
    two_filenames: job("--rw=write --filename=x:y").counts().left(Depth::Sizes);
    filename_twice: job("--rw=write --filename=x --filename=y").left(Depth::Sizes).verbatim();
    filename_format_shared: job("--rw=write --numjobs=2 --filename_format=shared.$filenum").verbatim().left(Depth::Sizes);
    directory: job("--rw=write --directory=d").file("d/keep", "x").left(Depth::Sizes);
    directory_and_filename: job("--rw=write --directory=d --filename=f").file("d/keep", "x").left(Depth::Sizes);
    filename_before_directory: job("--rw=write --filename=f --directory=d").file("d/keep", "x").left(Depth::Sizes);
    directories_in_turn: job("--rw=write --numjobs=2 --directory=d:e").file("d/keep", "x").file("e/keep", "x").left(Depth::Sizes);
    openfiles_keep_a_writer_within_its_limit: line("--name=a --rw=write --bs=4k --nrfiles=600 --filesize=4k --openfiles=16")
        .shell("ulimit -n 128; exec \"$@\"").counts().left(Depth::Sizes);
    openfiles_keep_a_reader_within_its_limit: line("--name=a --rw=read --bs=4k --nrfiles=300 --filesize=4k --openfiles=8")
        .shell("ulimit -n 100; exec \"$@\"").counts().left(Depth::Sizes);
    unlink_of_a_device: job("--rw=write --filename=device --unlink=1").shell("ln -s /dev/null device; \"$@\"").verbatim().left(Depth::Names);
    unlink_of_a_link: job("--rw=write --filename=link --unlink=1").shell("truncate -s 64k f; ln -s f link; \"$@\"").counts().left(Depth::Names);
    created_when_the_stage_begins: job_file("[global]\nsize=64k\nfilename=x\n[a]\nrw=write\nunlink=1\n[b]\nstonewall\nrw=read\ncreate_serialize=0\n")
        .counts().left(Depth::Sizes).report();
    create_on_open_of_a_reader: job("--rw=read --create_on_open=1").differs("create_on_open=1 with a job that reads", 1);
    opendir: line("--name=a --rw=read --opendir=d").file("d/a", vec![0; 8192]).file("d/e/.b", vec![0; 12288]).counts();
    opendir_without_a_directory: line("--name=a --rw=read --opendir=d").says("failed parsing opendir=d");
    creation_disallowed: job("--rw=write --allow_file_create=0").verbatim().says("allow_file_create").left(Depth::Sizes);
    unlink_each_loop_of_a_reader_for_a_time: job("--rw=read --time_based --runtime=1 --rate_iops=100 --unlink_each_loop=1").verbatim();
    unlink_each_loop_of_a_mix_for_a_time: job("--rw=randrw --time_based --runtime=1 --rate_iops=100 --unlink_each_loop=1").verbatim();
    disk_is_full: line("--name=full --directory=mnt --size=8m --rw=write --bs=64k --fallocate=none")
        .file("mnt/keep", "").shell(SMALL_DISK).needs(crate::case::Need::MountNamespace).says("No space left on device").counts().report();
    disk_is_full_in_the_layout: line("--name=full --directory=mnt --size=8m --rw=read --bs=64k --fallocate=none")
        .file("mnt/keep", "").shell(SMALL_DISK).needs(crate::case::Need::MountNamespace).says("No space left on device");
    disk_is_filled: line("--name=full --directory=mnt --size=8m --rw=write --bs=64k --fallocate=none --fill_device=1")
        .file("mnt/keep", "").shell(SMALL_DISK).needs(crate::case::Need::MountNamespace).counts();
    unlink_each_loop_of_a_reader: job("--rw=read --loops=2 --unlink_each_loop=1").left(Depth::Sizes);
}

shared_commands! {
    filename_with_a_colon: job("--rw=write --filename=x\\:y").left(Depth::Sizes);
    filename_format: job("--rw=write --numjobs=2 --filename_format=$jobname-$jobnum-$filenum.bin").left(Depth::Sizes);
    nrfiles: job("--rw=write --nrfiles=4").counts().left(Depth::Sizes);
    nrfiles_read: job("--rw=read --nrfiles=4").counts().left(Depth::Sizes).report();
    nrfiles_with_a_rest: job("--rw=write --nrfiles=3").counts().left(Depth::Sizes);
    nrfiles_of_random_reads: job("--rw=randread --nrfiles=4").counts();
    nrfiles_and_openfiles: job("--rw=read --nrfiles=8 --openfiles=2").counts();
    openfiles_of_a_writer: job("--rw=write --nrfiles=8 --openfiles=2").counts().left(Depth::Sizes).report();
    openfiles_at_random: job("--rw=randwrite --nrfiles=5 --openfiles=2 --file_service_type=random").counts().left(Depth::Sizes);
    openfiles_with_a_queue: job("--rw=randread --nrfiles=8 --openfiles=2 --ioengine=libaio --iodepth=8 --direct=1").counts();
    openfiles_are_all_that_a_job_without_a_map_uses: job("--rw=randwrite --nrfiles=4 --openfiles=2 --norandommap --fallocate=truncate")
        .words("--buffer_pattern=66 --random_generator=tausworthe --randrepeat=0 --randseed=7").counts().left(Depth::Contents);
    openfiles_mapped: job("--rw=randrw --nrfiles=6 --openfiles=2 --ioengine=mmap").counts();
    openfiles_with_syncs: job("--rw=write --nrfiles=5 --openfiles=2 --fsync=3 --end_fsync=1 --fsync_on_close=1").counts();
    openfiles_are_removed: job("--rw=write --nrfiles=5 --openfiles=2 --unlink=1 --loops=2 --unlink_each_loop=1").counts().left(Depth::Sizes);
    openfiles_are_verified: job("--rw=randwrite --nrfiles=5 --openfiles=2 --verify=crc32c --verify_state_save=0").counts();
    files_in_sequence: job("--rw=write --nrfiles=4 --file_service_type=sequential").counts().left(Depth::Sizes);
    files_at_random: job("--rw=write --nrfiles=4 --file_service_type=random").counts();
    filesize: line("--name=a --rw=write --nrfiles=3 --filesize=16k").counts().left(Depth::Sizes);
    zero_buffers: job("--rw=write --zero_buffers").left(Depth::Contents);
    zero_buffers_of_the_layout: job("--rw=read --zero_buffers").left(Depth::Contents);
    buffer_pattern_text: job("--rw=write '--buffer_pattern=\"abcd\"'").left(Depth::Contents);
    buffer_pattern_hex: job("--rw=write --buffer_pattern=0xdeadbeef").left(Depth::Contents);
    buffer_pattern_number: job("--rw=write --buffer_pattern=66").left(Depth::Contents);
    refill_buffers: job("--rw=write --refill_buffers").counts().left(Depth::Sizes);
    unlink: job("--rw=write --unlink=1").counts().left(Depth::Sizes);
    unlink_by_clones_that_share_a_file: job("--rw=write --filename=f --numjobs=2 --unlink=1").counts().report().left(Depth::Names);
    unlink_of_a_file_named_twice: job("--rw=write --filename=f:f --unlink=1").counts().left(Depth::Names);
    create_only: job("--rw=read --create_only=1").counts().left(Depth::Sizes);
    created_at_the_same_time: job("--rw=read --numjobs=3 --create_serialize=0").counts().left(Depth::Sizes).report();
    create_on_open: job("--rw=write --create_on_open=1").counts().left(Depth::Sizes);
    file_append: job("--rw=write --file_append=1 --filename=f").file("f", vec![0x5a; 24576]).counts().left(Depth::Sizes);
    file_append_without_a_file: job("--rw=write --file_append=1 --filename=f").counts().left(Depth::Sizes);
    file_append_without_space: job("--rw=write --file_append=1 --filename=f --fallocate=none --number_ios=3").file("f", vec![0x5a; 5000])
        .counts().left(Depth::Sizes);
    offset_align: line("--name=a --filename=f --rw=read --offset=25% --offset_align=8k").file("f", vec![0; 50_000]).counts();
    unlink_each_loop: job("--rw=write --loops=2 --unlink_each_loop=1").counts().left(Depth::Sizes);
    unlink_each_loop_and_at_the_end: job("--rw=write --loops=3 --unlink_each_loop=1 --unlink=1").counts().left(Depth::Sizes);
    unlink_each_loop_with_a_queue: job("--rw=randwrite --ioengine=libaio --iodepth=8 --loops=2 --unlink_each_loop=1").counts().left(Depth::Sizes);
    overwrite: job("--rw=write --overwrite=1 --number_ios=2").counts().left(Depth::Sizes);
    fallocate_none: job("--rw=write --fallocate=none --number_ios=2").counts().left(Depth::Sizes);
    fallocate_native: job("--rw=write --fallocate=native --number_ios=2").counts().left(Depth::Sizes);
    fallocate_posix: job("--rw=write --fallocate=posix --number_ios=2").counts().left(Depth::Sizes);
    fallocate_keep: job("--rw=write --fallocate=keep --number_ios=2").counts().left(Depth::Sizes);
    fallocate_truncate: job("--rw=write --fallocate=truncate --number_ios=2").counts().left(Depth::Sizes);
    layout_is_said: job("--rw=read --nrfiles=2").report();
}

/// A filesystem of 2 MiB that only the run sees.
const SMALL_DISK: &str = "exec unshare -m sh -c 'mount -t tmpfs -o size=2m tmpfs mnt && exec \"$@\"' sh \"$@\"";
