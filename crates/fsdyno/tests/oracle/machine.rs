//! Tests the user and the memory of a job, and the commands before and after it.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --rw=randrw").words(words)
}

cases! {
    taking_turns: job("--lockfile=exclusive --numjobs=3 --group_reporting").counts().report();
    taking_turns_to_write: job("--lockfile=readwrite --numjobs=3").counts();
    taking_turns_with_a_queue: job("--lockfile=exclusive --ioengine=libaio --iodepth=4 --numjobs=2").counts();
    a_command_before: line("--name=a --ioengine=null --size=64k '--exec_prerun=echo before >&2'").left(Depth::Contents);
    a_command_after: line("--name=a --ioengine=null --size=64k '--exec_postrun=echo after'").left(Depth::Contents).report();
    commands_are_announced: line("--name=a --ioengine=null --size=64k --exec_prerun=true").verbatim().says("a : Saving output of prerun in a.prerun.txt");
    commands_of_clones: line("--name=a --ioengine=null --size=64k --numjobs=2 '--exec_prerun=echo \"$0\"'").left(Depth::Contents);
    a_command_that_fails_after: line("--name=a --ioengine=null --size=64k '--exec_postrun=exit 3'").left(Depth::Names);
    a_command_that_fails_before: line("--name=a --ioengine=null --size=64k '--exec_prerun=exit 3'").differs("exec_prerun with a command that fails", 1);
    a_user_that_may_not_open: job("--uid=65534 --gid=65534").verbatim().says("denied");
    locked_memory: job("--lockmem=64k").counts().report();
    a_node_that_is_not_there: job("--numa_cpu_nodes=1000").verbatim().says("out of range");
    a_policy_that_is_none: job("--numa_mem_policy=bogus").verbatim().says("memory policy should be: default, prefer, bind, interleave, local");
    memory_of_a_file: job("--mem=mmap:memory").counts().left(Depth::Names);
    memory_of_a_shared_file: job("--mem=mmapshared:memory").file("memory", vec![0; 65536]).counts().left(Depth::Sizes);
    memory_of_a_file_that_is_nowhere: job("--mem=mmap:absent/memory").verbatim().says("No such file or directory");
}

shared_commands! {
    reading_together_with_a_queue: job("--lockfile=readwrite --ioengine=libaio --iodepth=4 --numjobs=2 --rw=randread").counts();
    the_user_that_it_is: job("--uid=0 --gid=0").counts();
    a_node: job("--numa_cpu_nodes=0 --numa_mem_policy=bind:0").counts();
    nodes_in_turn: job("--numa_mem_policy=interleave:0").counts();
    memory_of_a_segment: job("--mem=shm --ioengine=libaio --iodepth=4").counts();
    memory_that_is_shared: job("--mem=mmapshared").counts();
    size_of_huge_pages: job("--hugepage-size=4m").counts();
}
