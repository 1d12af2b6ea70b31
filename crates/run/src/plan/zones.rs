//! `zonemode=zbd`: fits the ranges of workers to the zones of their devices, and shares what a device limits.

use fsdyno_os::errno::EINVAL;
use fsdyno_probe::{HostFacts, ZonedDevice};

use super::{Refusal, WorkerPlan, largest_block};

/// Plans the workers that obey zones.
pub(super) fn plan(workers: &mut [WorkerPlan], facts: &HostFacts) {
    for worker in &mut *workers {
        if worker.refused.is_none() && worker.job.pattern.zoned.is_some() {
            worker.refused = fit(worker, facts).err().map(refusal);
        }
    }
    let shares: Vec<Result<u32, String>> = workers.iter().map(|worker| share(worker, workers)).collect();
    for (worker, share) in workers.iter_mut().zip(shares) {
        match (share, &mut worker.workload.pattern.zoned) {
            (Ok(share), Some(rules)) => rules.open_max = share,
            (Err(message), _) => worker.refused = worker.refused.take().or_else(|| Some(refusal(message))),
            (Ok(_), None) => {}
        }
    }
}

fn refusal(message: String) -> Refusal {
    Refusal { code: EINVAL, function: "zbd_init_files", message }
}

/// Fits the range of a worker to whole zones, and completes its rules with what the device says.
fn fit(worker: &mut WorkerPlan, facts: &HostFacts) -> Result<(), String> {
    let job = worker.job.clone();
    let [file] = worker.files.as_mut_slice() else {
        return Err(format!("fio: {}: zonemode=zbd works on one device. Next step: name one, in each job", job.name));
    };
    let path = fsdyno_job::bytes::shown(&file.path);
    let Some(ZonedDevice { zone_bytes, open_max }) = facts.path(&file.path).and_then(|facts| facts.zones) else {
        return Err(format!(
            "fio: {path} has no zones. Next step: name a zoned block device, or leave zonemode=zbd out; \
             zonemode=strided works on any file"
        ));
    };
    let Some(rules) = &mut worker.workload.pattern.zoned else { return Ok(()) };
    let asked = rules.zone_bytes;
    if asked > 0 && asked != zone_bytes {
        return Err(format!(
            "fio: {path}: job parameter zonesize {asked} does not match disk zone size {zone_bytes}. Next step: leave \
             zonesize out"
        ));
    }
    if job.pattern.access.writes && !job.submission.direct {
        return Err("fio: Using direct I/O is mandatory for writing to ZBD drives\nNext step: --direct=1".to_owned());
    }
    if largest_block(&job) > zone_bytes {
        return Err(format!("fio: {path}: a block is larger than a zone of {zone_bytes} bytes. Next step: lower --bs"));
    }
    let end = file.start.saturating_add(file.length);
    let start = file.start.checked_next_multiple_of(zone_bytes).unwrap_or(u64::MAX);
    let length = end.saturating_sub(start) / zone_bytes * zone_bytes;
    if length == 0 {
        return Err(format!(
            "fio: {path}: io_size must be at least one zone of {zone_bytes} bytes. Next step: raise --size"
        ));
    }
    rules.zone_bytes = zone_bytes;
    let limits = [rules.open_max, if rules.ignores_limits { 0 } else { open_max }];
    rules.open_max = limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
    (file.start, file.length) = (start, length);
    worker.workload.files = vec![file.range()];
    if !worker.workload.starts_over {
        worker.workload.bytes = worker.workload.bytes.min(length);
    }
    worker.workload.pass_bytes = worker.workload.pass_bytes.map(|bytes| bytes.min(length));
    Ok(())
}

/// The share of a worker of the zones that can be open; 0: no limit.
///
/// # Errors
/// A sentence if another worker uses its zones at the same time, or too many workers write.
fn share(worker: &WorkerPlan, workers: &[WorkerPlan]) -> Result<u32, String> {
    if worker.refused.is_some() || worker.workload.pattern.zoned.is_none() {
        return Ok(0);
    }
    let beside: Vec<&WorkerPlan> = workers.iter().filter(|other| runs_beside(worker, other)).collect();
    let writes = |worker: &WorkerPlan| worker.job.pattern.access.writes;
    let shared = beside.iter().find(|other| overlap(worker, other) && (writes(worker) || writes(other)));
    if let Some(other) = shared {
        return Err(format!(
            "fio: {}: its zones are also those of {}, which runs at the same time. Next step: give each clone zones of \
             its own by --size and --offset_increment of whole zones, or let the jobs run one after the other by \
             --stonewall",
            worker.job.name, other.job.name
        ));
    }
    let writers = u32::from(writes(worker)) + beside.iter().filter(|other| writes(other)).count() as u32;
    let limit = worker.workload.pattern.zoned.map_or(0, |rules| rules.open_max);
    if writes(worker) && limit > 0 && limit < writers {
        return Err(format!(
            "fio: {}: {writers} jobs write zones of one device at the same time, of which {limit} can be open. Next \
             step: lower --numjobs, or raise --max_open_zones",
            worker.job.name
        ));
    }
    Ok(limit / writers.max(1))
}

/// Whether both are on the same device, and neither waits for the other.
fn runs_beside(worker: &WorkerPlan, other: &WorkerPlan) -> bool {
    let number = |of: &WorkerPlan| of.thread_number as usize - 1;
    let device = |of: &WorkerPlan| of.parts.first().map(|part| part.storage);
    let waits = worker.waits_for.contains(&number(other)) || other.waits_for.contains(&number(worker));
    worker.thread_number != other.thread_number
        && other.workload.pattern.zoned.is_some()
        && other.refused.is_none()
        && worker.stage == other.stage
        && device(worker) == device(other)
        && !waits
}

fn overlap(worker: &WorkerPlan, other: &WorkerPlan) -> bool {
    let range = |of: &WorkerPlan| of.files.first().map_or((0, 0), |file| (file.start, file.start + file.length));
    let (mine, others) = (range(worker), range(other));
    mine.0 < others.1 && others.0 < mine.1
}
