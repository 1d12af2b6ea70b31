//! Whether the buffers fit in the machine. Nobody is helped by a run that the kernel kills for want of memory, perhaps
//! with others beside it.

use std::collections::BTreeMap;

use super::{WorkerPlan, diskless};

const GIB: f64 = (1u64 << 30) as f64;

/// A sentence if the buffers of the jobs that run together are larger than the memory (of `memory_bytes`, if known).
pub(super) fn objection(workers: &[WorkerPlan], memory_bytes: Option<u64>) -> Option<String> {
    let mut stages: BTreeMap<u32, u64> = BTreeMap::new();
    let with_buffers = |worker: &&WorkerPlan| worker.refused.is_none() && !diskless(worker.job.submission.engine);
    for worker in workers.iter().filter(with_buffers) {
        let bytes = u64::from(worker.block_bytes_max).saturating_mul(worker.queueing.depth as u64);
        let sum = stages.entry(worker.stage).or_default();
        *sum = sum.saturating_add(bytes);
    }
    let (needed, memory_bytes) = (stages.into_values().max()?, memory_bytes?);
    (needed > memory_bytes).then(|| {
        format!(
            "fio: the buffers would need {:.1} GiB (bs times iodepth, of all jobs that run together), and this machine has \
             {:.1} GiB of memory: lower bs, iodepth or numjobs",
            needed as f64 / GIB,
            memory_bytes as f64 / GIB
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection_to(words: &str) -> Option<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let job::Outcome::Run(request) = job::parse_command_line(&words, &mut crate::MachineSources) else {
            panic!("{words:?} is a job")
        };
        let plan = crate::plan::plan(&request.jobs, &probe::HostFacts::default(), 0);
        objection(&plan.workers, Some(1 << 30))
    }

    #[test]
    fn buffers_of_jobs_that_run_together_must_fit() {
        let job = "--name=a --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=600";
        assert_eq!(objection_to(job), None);
        let text = objection_to(&format!("{job} --numjobs=2")).unwrap();
        assert!(text.contains("1.2 GiB") && text.contains("1.0 GiB of memory"), "{text}");
        let after = "--name=b --stonewall --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=600";
        assert_eq!(objection_to(&format!("{job} {after}")), None, "one after the other");
        assert_eq!(objection_to(&job.replace("io_uring", "psync")), None, "one at a time");
    }
}
