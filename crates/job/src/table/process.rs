//! Rows: processors, priority and identity of the workers.

use super::JobRow;
use super::build::*;
use crate::option::{Choice, Status::*};
use crate::value::{self, Refusal};

const POLICIES: &[Choice] =
    &[Choice::new("shared", "Every clone may use all of them"), Choice::new("split", "Each clone gets one")];

const GROUPS: &str =
    "needs the blkio controller of cgroup version 1: version 2 keeps the threads of a process in one group";

const PROFILES: &str = "act and tiobench, on the command line alone; tiobench needs a size, and act prints no table of slices and no verdict";

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("cpus_allowed", text(|d, text| { d.job.process.cpus_allowed = value::cpu_list(text)?; Ok(()) }))
        .help("Processors that the workers may use, such as 0-3,8"),
    option("cpus_allowed_policy", word(POLICIES, |d, word| {
        d.job.process.cpus_split = word.choice.word == "split";
        Ok(())
    })).default("shared").help("Whether clones share those CPUs"),
    option("cpumask", integer(0, i64::MAX, |d, mask| {
        d.job.process.cpus_allowed = (0..63).filter(|bit| mask >> bit & 1 == 1).collect();
    })).tier(3).help("The same as a bit mask"),
    option("numa_cpu_nodes", text(|d, text| { d.job.process.nodes = value::node_list(text)?; Ok(()) }))
        .tier(3).help("NUMA nodes whose CPUs are used, such as 0,2-3"),
    option("numa_mem_policy", text(|d, text| {
        d.job.process.memory_policy = Some(value::memory_policy(text)?);
        Ok(())
    })).tier(3).help("NUMA nodes whose memory is used: default, local, prefer:NODE, bind:NODES, interleave:NODES"),
    option("nice", integer(-20, 19, |d, n| d.job.process.nice = i32::try_from(n).ok().filter(|n| *n != 0)))
        .tier(3).default("0").help("Nice value of the workers"),
    option("prio", integer(0, 7, |d, n| d.written.priority.1 = u8::try_from(n).ok()))
        .tier(3).help("Level of the I/O priority, 0 the highest"),
    option("prioclass", integer(0, 3, |d, n| d.written.priority.0 = u8::try_from(n).ok()))
        .tier(3).help("Class of the I/O priority: 1 real time, 2 best effort, 3 idle"),
    option("priohint", integer(0, 1023, |d, n| d.written.priority_hint = u16::try_from(n).ok()))
        .tier(4).default("0").help("Hint that goes with the I/O priority, for devices that know it"),
    option("uid", integer(0, COUNT_MAX, |d, n| d.job.process.user = Some(count(n))))
        .tier(3).help("User of the workers, set for each worker after the layout"),
    option("gid", integer(0, COUNT_MAX, |d, n| d.job.process.group = Some(count(n))))
        .tier(3).help("Group of the workers"),
    option("comm", text(|d, text| { d.job.process.thread_name = Some(text.to_owned()); Ok(()) }))
        .tier(4).help("Name of the workers' threads; the system keeps its first 15 bytes"),
    option("exec_prerun", text(|d, text| { d.job.process.exec_prerun = Some(text.to_owned()); Ok(()) }))
        .tier(3).help("Command that the shell runs before the job; its output goes to JOB.prerun.txt"),
    option("exec_postrun", text(|d, text| { d.job.process.exec_postrun = Some(text.to_owned()); Ok(()) }))
        .tier(3).help("Command that the shell runs after the job; its output goes to JOB.postrun.txt"),
    option("cgroup", text(|d, text| { d.job.process.control_group = Some(group_name(text)?); Ok(()) }))
        .tier(4).help("Control group of the workers, below the blkio mount of version 1").status(Partial(GROUPS)),
    option("cgroup_weight", integer(100, 1000, |d, n| d.job.process.control_group_weight = u16::try_from(n).ok()))
        .tier(4).help("Weight of that group, for its blkio.weight"),
    option("cgroup_nodelete", boolean(|d, is| d.job.process.control_group_kept = is))
        .tier(4).default("0").help("Whether a group that the run has made stays"),
    option("gpu_dev_id", integer(0, COUNT_MAX, ignore))
        .tier(4).help("GPU whose memory holds the buffers").status(Rejected("memory of a GPU needs its maker's library")),
    option("profile", text(ignore_text))
        .tier(4).help("A built-in workload of fio").status(Partial(PROFILES)),
];

/// The name of a control group: plain, so that it leads nowhere but below the mount.
fn group_name(text: &str) -> Result<String, Refusal> {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if text.split('/').all(plain) {
        return Ok(text.to_owned());
    }
    Err(Refusal::new("a group is named from the blkio mount on, such as NAME or PARENT/NAME, without . and .."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_below_the_mount() {
        for name in ["fio", "user/fio", "..a", "a b"] {
            assert_eq!(group_name(name).ok().as_deref(), Some(name));
        }
        for name in ["", ".", "..", "../x", "a/../../x", "/sys/fs/cgroup/x", "a//b", "a/", "a/./b"] {
            assert!(group_name(name).is_err(), "{name}");
        }
    }
}
