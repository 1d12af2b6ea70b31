//! Checks that the buffers fit in memory. A run that does not fit is refused: the kernel would kill it, and perhaps
//! other programs.

use std::collections::BTreeMap;

use fsdyno_job::{EngineName, Job};
use fsdyno_probe::HostFacts;
use fsdyno_text::quantity::counted;

use super::WorkerPlan;

/// Most memory that the program and one worker need besides the requests in flight: histograms, tables, stacks, bytes.
const PROGRAM_BYTES: u64 = 32 << 20;
const WORKER_BYTES: u64 = 1 << 20;

/// Memory of each request in flight besides its buffer: slot, queue, counters, bytes.
const REQUEST_BYTES: u64 = 96;

/// Least memory of each planned job and file, bytes.
const PLANNED_JOB_BYTES: u64 = 16 << 10;
const PLANNED_FILE_BYTES: u64 = 256;

/// A sentence if there are more jobs and files than memory can hold. It is checked before the files get names, as the
/// plan itself would need that memory.
pub(crate) fn refusal_of_crowd(jobs: &[Job], memory_bytes: Option<u64>) -> Option<String> {
    let clones = |job: &Job| u64::from(job.clones);
    let workers: u64 = jobs.iter().map(clones).sum();
    let files = jobs.iter().map(|job| clones(job).saturating_mul(job.files.count.into())).fold(0, u64::saturating_add);
    let needed = workers.saturating_mul(PLANNED_JOB_BYTES).saturating_add(files.saturating_mul(PLANNED_FILE_BYTES));
    let memory_bytes = memory_bytes.filter(|bytes| needed > *bytes)?;
    Some(format!(
        "fio: numjobs and nrfiles ask for {} and {}, which need {} of memory at least, but this machine has {}: lower \
         numjobs or nrfiles",
        counted(workers, "job"),
        counted(files, "file"),
        binary(needed),
        binary(memory_bytes)
    ))
}

/// A sentence if the requests in flight of the jobs that run together need more than the memory of the machine, or of
/// the control group, as far as these are known.
pub(super) fn refusal(workers: &[WorkerPlan], facts: &HostFacts) -> Option<String> {
    let mut stages: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for worker in workers.iter().filter(|worker| worker.refused.is_none()) {
        let diskless = !worker.job.submission.engine.carries_data();
        // Reads without a disk touch no page of the buffers.
        let touched = !diskless || worker.job.pattern.access.writes;
        let buffer = if touched { worker.block_bytes_max } else { 0 };
        let bytes = buffer
            .saturating_add(REQUEST_BYTES)
            .saturating_mul(worker.queueing.depth as u64)
            .saturating_add(if diskless { 0 } else { worker.job.submission.locked_bytes })
            .saturating_add(memory_of_engine(worker));
        let (requests, others) = stages.entry(worker.stage).or_insert((0, PROGRAM_BYTES));
        *requests = requests.saturating_add(bytes);
        *others = others.saturating_add(if diskless { 0 } else { WORKER_BYTES });
    }
    let (needed, others) = stages.into_values().max()?;
    let in_memory = workers.iter().any(|worker| memory_of_engine(worker) > 0);
    let (size, or_size) = if in_memory { (" and the size of page_fault", ", or that size") } else { ("", "") };
    let refused = |limit: String| {
        Some(format!(
            "fio: requests in flight need {} of memory (bs and {REQUEST_BYTES} bytes for each of iodepth, plus lockmem{size}, \
             for all jobs that run together), but {limit}: lower bs, iodepth or numjobs{or_size}",
            binary(needed),
        ))
    };
    if let Some(bytes) = facts.host.memory_bytes.filter(|bytes| needed > *bytes) {
        return refused(format!("this machine has {}", binary(bytes)));
    }
    let group = facts.limits.cgroup_memory_bytes.as_ref().ok().copied().flatten();
    // A process that exceeds its group's limit is killed at once, so the rest of the program counts, too.
    let counts = |bytes: &u64| needed.saturating_add(others) > *bytes && (others > PROGRAM_BYTES || needed > *bytes);
    let group = group.filter(counts)?;
    refused(format!("the control group (container or service) may use {} in all", binary(group)))
}

/// Bytes that the engine touches itself: all of its files in memory.
fn memory_of_engine(worker: &WorkerPlan) -> u64 {
    let in_memory = worker.job.submission.engine == EngineName::PageFault;
    worker.files.iter().filter(|_| in_memory).map(|file| file.length).sum()
}

/// Bytes in fio's unit that fits.
fn binary(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    // 1024.0 after rounding is 1.0 of the next unit.
    let power = UNITS.len().min(1 + (bytes.saturating_add(bytes / 20480).max(1).ilog2() / 10) as usize) - 1;
    let value = bytes as f64 / 1024f64.powi(power as i32);
    format!("{value:.*} {}", usize::from(power > 0), UNITS[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_of(words: &str) -> Option<String> {
        refusal_with(words, 1 << 30, None)
    }

    fn refusal_with(words: &str, machine: u64, group: Option<u64>) -> Option<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let fsdyno_job::Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources)
        else {
            panic!("{words:?} is a job")
        };
        let plan = crate::plan::plan(&request.jobs, &fsdyno_probe::HostFacts::default(), 0);
        let host = fsdyno_results::Host { memory_bytes: Some(machine), ..Default::default() };
        let limits = fsdyno_probe::Limits { cgroup_memory_bytes: Ok(group), ..Default::default() };
        refusal(&plan.workers, &HostFacts { host, limits, ..Default::default() })
    }

    #[test]
    fn buffers_of_jobs_that_run_together_must_fit() {
        let job = "--name=a --filename=x --size=1m --ioengine=io_uring --bs=1m --iodepth=600";
        assert_eq!(refusal_of(job), None);
        let text = refusal_of(&format!("{job} --numjobs=2")).unwrap();
        assert!(text.contains("1.2 GiB") && text.contains("this machine has 1.0 GiB"), "{text}");
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
        assert!(text.contains("may use 410.0 MiB in all"), "the program itself counts: {text}");
        assert!(refusal_with(job, 300 << 20, Some(410 << 20)).unwrap().contains("this machine has 300.0 MiB"));
        let small = "--name=a --filename=x --size=1m --ioengine=null --bs=1m";
        assert_eq!(refusal_with(small, 16 << 30, Some(8 << 20)), None, "no buffer is needed");
    }
    #[test]
    fn what_is_kept_of_each_request_counts_without_a_buffer() {
        let null = "--name=a --ioengine=null --size=1m --iodepth";
        assert_eq!(refusal_of(&format!("{null}=1000000")), None);
        let text = refusal_of(&format!("{null}=2147483647")).unwrap();
        assert!(text.contains("need 192.0 GiB of memory (bs and 96 bytes for each of iodepth"), "{text}");
    }

    #[test]
    fn more_jobs_or_files_than_memory_holds_are_refused_before_they_have_names() {
        let refusal_of = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let fsdyno_job::Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources)
            else {
                panic!("{words:?} is a job")
            };
            refusal_of_crowd(&request.jobs, Some(1 << 30))
        };
        assert_eq!(refusal_of("--name=a --filename=x --size=1m --numjobs=10000"), None);
        let text = refusal_of("--name=a --size=1m --numjobs=1000000").unwrap();
        assert!(text.contains("1,000,000 jobs and 1,000,000 files, which need 15.5 GiB"), "{text}");
        assert!(refusal_of("--name=a --size=1g --nrfiles=4294967295").unwrap().contains("4,294,967,295 files"));
    }

    #[test]
    fn amounts_have_a_unit_that_suits_them() {
        let shown = [0, 1, 1023, 1024, 268_435_456, (1 << 40) - 1, u64::MAX].map(binary);
        assert_eq!(shown, ["0 B", "1 B", "1023 B", "1.0 KiB", "256.0 MiB", "1.0 TiB", "16.0 EiB"]);
    }
}
