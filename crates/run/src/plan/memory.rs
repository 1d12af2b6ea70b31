//! Whether the buffers fit in memory. A run that does not fit is refused: the kernel would kill it, perhaps with other
//! programs.

use std::collections::BTreeMap;

use probe::HostFacts;

use super::WorkerPlan;

const GIB: f64 = (1u64 << 30) as f64;

/// What the program and one of its workers need beside the buffers, at most: histograms, tables, stacks.
const PROGRAM_BYTES: u64 = 32 << 20;
const WORKER_BYTES: u64 = 1 << 20;

/// A sentence if the buffers of the jobs that run together are larger than the memory of the machine, or of the control
/// group, as far as these are known.
pub(super) fn refusal(workers: &[WorkerPlan], facts: &HostFacts) -> Option<String> {
    let mut stages: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    // What is read from no disk touches no page of its buffer.
    let touches = |job: &job::Job| !job.submission.engine.is_diskless() || job.pattern.access.writes;
    let with_buffers = |worker: &&WorkerPlan| worker.refused.is_none() && touches(&worker.job);
    for worker in workers.iter().filter(with_buffers) {
        let bytes = worker
            .block_bytes_max
            .saturating_mul(worker.queueing.depth as u64)
            .saturating_add(worker.job.submission.locked_bytes);
        let (buffers, others) = stages.entry(worker.stage).or_insert((0, PROGRAM_BYTES));
        *buffers = buffers.saturating_add(bytes);
        *others += WORKER_BYTES;
    }
    let (needed, others) = stages.into_values().max()?;
    let refused = |limit: String| {
        Some(format!(
            "fio: buffers need {:.1} GiB (bs times iodepth plus lockmem, for all jobs that run together), but {limit}: lower bs, \
             iodepth or numjobs",
            needed as f64 / GIB,
        ))
    };
    if let Some(bytes) = facts.host.memory_bytes.filter(|bytes| needed > *bytes) {
        return refused(format!("this machine has {:.1} GiB of memory", bytes as f64 / GIB));
    }
    let group = facts.limits.cgroup_memory_bytes.as_ref().ok().copied().flatten();
    // Who goes beyond a group's limit is killed at once, so the rest of the program counts here.
    let group = group.filter(|bytes| needed.saturating_add(others) > *bytes && needed > 0)?;
    refused(format!("the control group (container or service) may use {} MiB in all", group >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_of(words: &str) -> Option<String> {
        refusal_with(words, 1 << 30, None)
    }

    fn refusal_with(words: &str, machine: u64, group: Option<u64>) -> Option<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let job::Outcome::Run(request) = job::parse_command_line(&words, &mut crate::MachineSources) else {
            panic!("{words:?} is a job")
        };
        let plan = crate::plan::plan(&request.jobs, &probe::HostFacts::default(), 0);
        let host = results::Host { memory_bytes: Some(machine), ..Default::default() };
        let limits = probe::Limits { cgroup_memory_bytes: Ok(group), ..Default::default() };
        refusal(&plan.workers, &HostFacts { host, limits, ..Default::default() })
    }

    #[test]
    fn buffers_of_jobs_that_run_together_must_fit() {
        let job = "--name=a --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=600";
        assert_eq!(refusal_of(job), None);
        let text = refusal_of(&format!("{job} --numjobs=2")).unwrap();
        assert!(text.contains("1.2 GiB") && text.contains("1.0 GiB of memory"), "{text}");
        let after = "--name=b --stonewall --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=600";
        assert_eq!(refusal_of(&format!("{job} {after}")), None, "one after the other");
        assert_eq!(refusal_of(&job.replace("io_uring", "psync")), None, "one at a time");
        let blocks = "--name=a --size=16g --ioengine=null --bs=4g";
        assert_eq!(refusal_of(blocks), None, "nothing is put into the buffer");
        assert!(refusal_of(&format!("{blocks} --rw=write")).unwrap().contains("4.0 GiB"));
    }

    #[test]
    fn the_control_group_may_allow_less_than_the_machine_has() {
        let job = "--name=a --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=400";
        assert_eq!(refusal_with(job, 16 << 30, Some(1 << 30)), None);
        let text = refusal_with(job, 16 << 30, Some(410 << 20)).unwrap();
        assert!(text.contains("may use 410 MiB in all"), "the program itself counts: {text}");
        assert!(refusal_with(job, 300 << 20, Some(410 << 20)).unwrap().contains("this machine has 0.3 GiB"));
        let small = "--name=a --filename=x --size=1m --ioengine=null --bs=1m";
        assert_eq!(refusal_with(small, 16 << 30, Some(8 << 20)), None, "no buffer is needed");
    }
}
