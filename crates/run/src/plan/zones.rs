//! `zonemode=zbd`: fits the ranges of workers to the zones of their devices, and shares what a device limits.

use std::ops::Range;
use std::path::Path;

use fsdyno_job::{Amount, Files, Job, ZonedRules};
use fsdyno_os::errno::EINVAL;
use fsdyno_probe::{FileKind, HostFacts, ZonedDevice};
use fsdyno_stats::sort;
use fsdyno_workload::KnownZones;

use super::{Refusal, WorkerPlan, largest_block};

/// Plans the workers that obey zones.
pub(super) fn plan(workers: &mut [WorkerPlan], facts: &HostFacts) {
    for worker in &mut *workers {
        if worker.refused.is_none() && worker.job.pattern.zoned.is_some() {
            worker.refused = fit(worker, facts).err().map(refusal);
        }
    }
    let groups = groups(workers, facts);
    let shares: Vec<Result<u32, String>> =
        (0..workers.len()).map(|index| share(index, workers, &groups, facts)).collect();
    for (worker, share) in workers.iter_mut().zip(shares) {
        match (share, &mut worker.workload.pattern.zoned) {
            (Ok(share), Some(rules)) => rules.open_max = share,
            (Err(message), _) => worker.refused = worker.refused.take().or_else(|| Some(refusal(message))),
            (Ok(_), None) => {}
        }
    }
    for (index, first) in groups.into_iter().enumerate().filter(|(index, first)| first < index) {
        if !workers[first].workload.zones.are_shared() {
            workers[first].workload.zones = KnownZones::of_workers();
        }
        workers[index].workload.zones = workers[first].workload.zones.for_another();
    }
}

fn refusal(message: String) -> Refusal {
    Refusal { code: EINVAL, function: "zbd_init_files", message }
}

/// Fits the ranges of a worker to whole zones, and completes its rules with what the devices say.
fn fit(worker: &mut WorkerPlan, facts: &HostFacts) -> Result<(), String> {
    let job = worker.job.clone();
    let Some(asked) = worker.workload.pattern.zoned else { return Ok(()) };
    let mut rules = asked;
    for (number, file) in worker.files.iter_mut().enumerate() {
        let found = facts.path(&file.path);
        if found.is_some_and(|facts| facts.kind == FileKind::CharacterDevice) {
            return Err(format!(
                "fio: {}: zonemode=zbd asks a block device for its zones. Next step: name the disk, such as \
                 /dev/nvme0n2, with an engine of block devices",
                fsdyno_job::bytes::shown(&file.path)
            ));
        }
        let of_file = with_device(asked, found.and_then(|facts| facts.zones), &file.path)?;
        if number > 0 && (of_file.zone_bytes, of_file.are_counted) != (rules.zone_bytes, rules.are_counted) {
            return Err(format!(
                "fio: {}: its devices have zones of different sizes. Next step: name them in jobs of their own",
                job.name
            ));
        }
        let open_max = [rules.open_max, of_file.open_max].into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
        rules = ZonedRules { open_max, ..of_file };
        (file.start, file.length) =
            whole_zones(&file.path, file.start..file.start.saturating_add(file.length), &job, rules)?;
    }
    if rules.skip_zones > 0 {
        rules.skip = rules.skip_zones.saturating_mul(rules.zone_bytes);
    }
    let length = worker.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.length));
    let workload = &mut worker.workload;
    workload.pattern.zoned = Some(rules);
    workload.files = worker.files.iter().map(|file| file.range()).collect();
    if !workload.starts_over {
        workload.bytes = workload.bytes.min(length);
    }
    workload.pass_bytes = workload.pass_bytes.map(|bytes| bytes.min(length));
    Ok(())
}

/// The rules with the zones of a device; without them, those of zones that are counted.
fn with_device(rules: ZonedRules, device: Option<ZonedDevice>, path: &Path) -> Result<ZonedRules, String> {
    let path = fsdyno_job::bytes::shown(path);
    let Some(ZonedDevice { zone_bytes, open_max }) = device else {
        return match rules.zone_bytes {
            0 => Err(format!(
                "fio: {path}: Specifying the zone size is mandatory for regular file/block device with \
                 --zonemode=zbd\nNext step: --zonesize=1m, or name a zoned block device"
            )),
            zone_bytes if rules.capacity > zone_bytes => Err(format!(
                "fio: {path}: job parameter zonecapacity {} is larger than zone size {zone_bytes}\nNext step: lower \
                 --zonecapacity",
                rules.capacity
            )),
            _ => Ok(ZonedRules { are_counted: true, ..rules }),
        };
    };
    if rules.zone_bytes > 0 && rules.zone_bytes != zone_bytes {
        return Err(format!(
            "fio: {path}: job parameter zonesize {} does not match disk zone size {zone_bytes}. Next step: leave \
             zonesize out",
            rules.zone_bytes
        ));
    }
    let limits = [rules.open_max, if rules.ignores_limits { 0 } else { open_max }];
    let open_max = limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
    Ok(ZonedRules { zone_bytes, open_max, ..rules })
}

/// Start and length of the whole zones in a range of a file.
fn whole_zones(path: &Path, range: Range<u64>, job: &Job, rules: ZonedRules) -> Result<(u64, u64), String> {
    let (path, zone_bytes) = (fsdyno_job::bytes::shown(path), rules.zone_bytes);
    if job.pattern.access.writes && !job.submission.direct && !rules.are_counted {
        return Err("fio: Using direct I/O is mandatory for writing to ZBD drives\nNext step: --direct=1".to_owned());
    }
    if largest_block(job) > zone_bytes {
        return Err(format!("fio: {path}: a block is larger than a zone of {zone_bytes} bytes. Next step: lower --bs"));
    }
    let trim = &job.pattern.block_size.trim;
    if job.pattern.access.trims && (trim.min(), trim.max()) != (zone_bytes, zone_bytes) {
        return Err(format!(
            "fio: {path}: trim block size {} is not the zone size {zone_bytes}\nNext step: --bs=,,{zone_bytes}",
            trim.max()
        ));
    }
    let start = range.start.checked_next_multiple_of(zone_bytes).unwrap_or(u64::MAX);
    let length = range.end.saturating_sub(start) / zone_bytes * zone_bytes;
    if length == 0 {
        return Err(format!(
            "fio: {path}: io_size must be at least one zone of {zone_bytes} bytes. Next step: raise --size"
        ));
    }
    Ok((start, length))
}

/// The job with bytes in place of counts of zones; the zones are those of its first file.
///
/// # Errors
/// A sentence if the size of a zone is not known.
pub(super) fn in_bytes(job: &mut Job, facts: &HostFacts) -> Result<(), String> {
    let files: &mut Files = &mut job.files;
    let name = files.names.first().map(|name| match files.directories.first() {
        Some(directory) => fsdyno_os::written::path(directory).join(fsdyno_os::written::path(name)),
        None => fsdyno_os::written::path(name),
    });
    let amounts = [files.size.as_mut(), job.extent.io_size.as_mut()].into_iter().flatten();
    let amounts = amounts.chain([&mut files.offset, &mut files.offset_increment]);
    let device = name.and_then(|path| facts.path(&path)?.zones).map(|device| device.zone_bytes);
    let asked = job.pattern.zoned.map(|rules| rules.zone_bytes).filter(|bytes| *bytes > 0);
    for amount in amounts {
        if let Amount::Zones(zones) = *amount {
            let Some(zone_bytes) = device.or(asked) else {
                return Err(format!(
                    "fio: {}: a count of zones needs zones: no device is named, and no zonesize\nNext step: name a zoned \
                     block device, or write --zonesize=1m",
                    job.name
                ));
            };
            *amount = Amount::Bytes(zones.saturating_mul(zone_bytes));
        }
    }
    Ok(())
}

/// The number of the first worker that has the same zones, for each worker; its own where it has them alone.
fn groups(workers: &[WorkerPlan], facts: &HostFacts) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..workers.len()).collect();
    for (number, worker) in workers.iter().enumerate().filter(|(_, worker)| obeys_zones(worker)) {
        for other in 0..number {
            if runs_beside(worker, &workers[other], facts) && shares_zones(worker, &workers[other], facts) {
                let (one, two) = (groups[number], groups[other]);
                groups.iter_mut().filter(|group| **group == one.max(two)).for_each(|group| *group = one.min(two));
            }
        }
    }
    groups
}

/// The share of a worker of the zones that can be open; 0: no limit. Workers that share their zones share it, too.
///
/// # Errors
/// A sentence if the worker cannot share its zones with another one, or too many workers write.
fn share(index: usize, workers: &[WorkerPlan], groups: &[usize], facts: &HostFacts) -> Result<u32, String> {
    let worker = &workers[index];
    if !obeys_zones(worker) {
        return Ok(0);
    }
    let beside = (0..workers.len()).filter(|other| runs_beside(worker, &workers[*other], facts));
    let beside: Vec<usize> = beside.collect();
    let writes = |worker: &WorkerPlan| worker.job.pattern.access.writes;
    for other in beside.iter().map(|other| &workers[*other]) {
        if let Some(reason) = objection(worker, other, facts).filter(|_| shares_zones(worker, other, facts)) {
            return Err(format!(
                "fio: {}: its zones are also those of {}, which runs at the same time, and {reason}. Next step: give both \
                 one range and no verify, or zones of their own by --size and --offset_increment of whole zones, or let \
                 one wait by --stonewall",
                worker.job.name, other.job.name
            ));
        }
    }
    let mut writers: Vec<usize> = beside.into_iter().chain([index]).filter(|other| writes(&workers[*other])).collect();
    writers.iter_mut().for_each(|writer| *writer = groups[*writer]);
    sort::by_key(&mut writers, |writer| *writer);
    writers.dedup();
    let (writers, limit) = (writers.len() as u32, worker.workload.pattern.zoned.map_or(0, |rules| rules.open_max));
    if writes(worker) && limit > 0 && limit < writers {
        return Err(format!(
            "fio: {}: {writers} jobs write zones of one device at the same time, of which {limit} can be open. Next \
             step: lower --numjobs, or raise --max_open_zones",
            worker.job.name
        ));
    }
    Ok(limit / writers.max(1))
}

fn obeys_zones(worker: &WorkerPlan) -> bool {
    worker.refused.is_none() && worker.workload.pattern.zoned.is_some()
}

/// Why two workers cannot share zones.
fn objection(worker: &WorkerPlan, other: &WorkerPlan, facts: &HostFacts) -> Option<&'static str> {
    let zones = |worker: &WorkerPlan| worker.workload.pattern.zoned.map(|rules| (rules.zone_bytes, rules.capacity));
    let both = [worker, other];
    let pairs = worker.files.iter().zip(&other.files);
    let same_files = worker.files.len() == other.files.len()
        && pairs.clone().all(|(mine, others)| is_same(&mine.path, &others.path, facts));
    let same_ranges = pairs.clone().all(|(mine, others)| (mine.start, mine.length) == (others.start, others.length));
    if !same_files || !same_ranges {
        return Some("their ranges differ");
    }
    if zones(worker) != zones(other) {
        return Some("their zones have different sizes");
    }
    if both.iter().any(|worker| worker.job.verify.is_some()) {
        return Some("one of them verifies");
    }
    let both_ways = |worker: &&WorkerPlan| worker.job.pattern.access.trims && worker.job.pattern.access.writes;
    both.iter().any(both_ways).then_some("one of them trims and writes")
}

/// Whether both use a device or file together, and neither waits for the other.
fn runs_beside(worker: &WorkerPlan, other: &WorkerPlan, facts: &HostFacts) -> bool {
    let number = |of: &WorkerPlan| of.thread_number as usize - 1;
    let waits = worker.waits_for.contains(&number(other)) || other.waits_for.contains(&number(worker));
    worker.thread_number != other.thread_number
        && obeys_zones(other)
        && worker.stage == other.stage
        && shared_files(worker, other, facts).next().is_some()
        && !waits
}

/// The ranges that both use of a device or regular file: of the one worker, and of the other.
fn shared_files<'a>(
    worker: &'a WorkerPlan,
    other: &'a WorkerPlan,
    facts: &'a HostFacts,
) -> impl Iterator<Item = (Range<u64>, Range<u64>)> + 'a {
    let pairs = worker.files.iter().flat_map(|mine| other.files.iter().map(move |others| (mine, others)));
    pairs
        .filter(move |(mine, others)| is_same(&mine.path, &others.path, facts))
        .map(|(mine, others)| (mine.start..mine.start + mine.length, others.start..others.start + others.length))
}

/// Whether both paths lead to one file or device.
fn is_same(mine: &Path, others: &Path, facts: &HostFacts) -> bool {
    let device = |path: &Path| facts.path(path).filter(|facts| facts.kind == FileKind::BlockDevice)?.place.clone();
    mine == others || device(mine).is_some_and(|mine| Some(mine) == device(others))
}

/// Whether both use a zone, and one of them changes it.
fn shares_zones(worker: &WorkerPlan, other: &WorkerPlan, facts: &HostFacts) -> bool {
    let changes = [worker, other].iter().any(|worker| worker.job.pattern.access.modifies());
    changes
        && shared_files(worker, other, facts).any(|(mine, others)| mine.start < others.end && others.start < mine.end)
}
