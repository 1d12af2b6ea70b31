//! T44: syncs that never told the device to flush its write cache.

use fsdyno_results::evidence::{BlockDevice, Layer, LedgerSample, Storage, StorageClass};
use fsdyno_results::{Finding, PhaseConditions, Severity};
use fsdyno_text::shell::word_as_typed;

use crate::evidence::{Evidence, Flow, JobInStage};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::count;

pub(crate) const ID: &str = "sync-not-flushed";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T44",
    title: "Syncs did not flush the device",
    happens: "At a sync the kernel writes the data and then asks the device to empty its write cache. With nobarrier \
              or barrier=0 the second part is left out: syncs get faster, and synced data are lost when the power \
              fails.",
    seen: "The flushes that the devices completed (field 19 of /proc/diskstats), compared with the job's fsync and \
           fdatasync calls, from 64 on. Syncs at the same time may share a flush, so that a tenth for each request in \
           flight is enough. Invalid if there were fewer. Only information where each device declares its write cache \
           'write through': the kernel then sends none, which is right for a device without a volatile cache. Devices \
           that do not count flushes are not checked. Each loop device in the stack is checked in the same way: the \
           filesystem of its file may leave its flushes out (nobarrier, a volatile overlay). So is a phase that syncs \
           each file or directory, over all its passes.",
    advice: "Mount without nobarrier (barrier=1), or report the number as one without durability. For a device that \
             declares 'write through', ask its maker or the operator of the host whether it keeps written data without power.",
    documented: "linux Documentation/admin-guide/iostats.rst; Documentation/block/writeback_cache_control.rst; ext4(5), barrier",
};

/// Least number of syncs: a journal commits from time to time in any case.
const SYNCS_MIN: u64 = 64;
/// Flushes per sync, times the requests that may share one: below this no sync is flushed.
const SHARE: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.byte_flows().filter_map(|(_, row, flow)| judge(row, flow)).collect()
}

fn judge(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    if row.is_mixed() || !matches!(row.class(), StorageClass::Block | StorageClass::Device) || !row.writes() {
        return None;
    }
    let storage = row.storage?;
    let syncs = row.workers.iter().fold(0u64, |sum, worker| sum.saturating_add(worker.sync.lat.moments.count));
    let flushed = flushes(flow.end)?.saturating_sub(flushes(flow.begin)?);
    let few = |flushed: u64, asked: u64| {
        asked >= SYNCS_MIN && (flushed as f64) * (row.depth_asked() as f64) < asked as f64 * SHARE
    };
    if few(flushed, syncs) {
        return finding(row.name, storage, syncs, flushed);
    }
    let loops = row.loops().into_iter().filter(|_| syncs >= SYNCS_MIN);
    loops.filter_map(|device| ended(row.name, device, |name| flow.flushes(name), few)).next()
}

/// The finding for a loop device that was flushed, while its file's filesystem did not flush the device below.
fn ended(
    name: &str,
    device: &Layer,
    flushes: impl Fn(&str) -> Option<u64>,
    few: impl Fn(u64, u64) -> bool,
) -> Option<Finding> {
    let image = device.image.as_ref()?;
    let below: Vec<&str> = device.devices_below().iter().map(|below| below.name.as_str()).collect();
    let passed: u64 = below.iter().map(|below| flushes(below)).sum::<Option<u64>>()?;
    let asked = flushes(&device.name).filter(|asked| !below.is_empty() && few(passed, *asked))?;
    let cause = format!(
        "{} got {} flushes, and {} below its file {}: the filesystem of that file leaves syncs out, so that synced data may \
         still be in a write cache",
        device.name,
        count(asked),
        below.join(" and "),
        count(passed)
    );
    let report = Report::new(ID, Severity::Invalid, name)
        .number("flushes of the loop device", asked as f64, "flushes")
        .number("flushes below its file", passed as f64, "flushes");
    Some(
        report.says(
            cause,
            format!("fsdyno inspect {}: mount it without nobarrier or volatile", word_as_typed(&image.path)),
        ),
    )
}

/// For the passes of a phase whose operations are each durable.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let syncs = if passes.syncs { passes.operations() } else { 0 };
    let flushed = passes.counter(|seen| seen.device.value()?.flushes)?;
    let on_disk = matches!(passes.class(), StorageClass::Block | StorageClass::Device);
    if !on_disk || syncs < SYNCS_MIN {
        return None;
    }
    let few = |flushed: u64, asked: u64| {
        asked >= SYNCS_MIN && (flushed as f64) * (passes.threads() as f64) < asked as f64 * SHARE
    };
    let storage = passes.storage?;
    if few(flushed, syncs) {
        return finding(passes.name(), storage, syncs, flushed);
    }
    let of = |name: &str| {
        let moved = |seen: &PhaseConditions| seen.stack.iter().find(|device| device.name == name)?.flushes;
        passes.counter(moved)
    };
    storage.loops().into_iter().filter_map(|device| ended(passes.name(), device, of, few)).next()
}

/// The finding; `None`: the storage's devices are not visible.
fn finding(name: &str, storage: &Storage, syncs: u64, flushed: u64) -> Option<Finding> {
    let mut caches = Vec::new();
    storage.devices.value()?.iter().for_each(|device| leaves(device, &mut caches));
    let (names, declared): (Vec<&str>, Vec<Option<&str>>) = caches.into_iter().unzip();
    let seen = format!("{} syncs, and {} got {} flushes", count(syncs), names.join(" and "), count(flushed));
    let through = declared.iter().all(|cache| *cache == Some("write through")) && !declared.is_empty();
    let option = storage.mount.value().and_then(|mount| {
        let without = |option: &&String| matches!(option.as_str(), "nobarrier" | "barrier=0" | "fsync_mode=nobarrier");
        mount.options.iter().find(without)
    });
    let report = Report::new(ID, if through { Severity::Info } else { Severity::Invalid }, name)
        .number("syncs", syncs as f64, "syncs")
        .number("flushes of the devices", flushed as f64, "flushes");
    Some(match option {
        _ if through => report.says(
            format!("{seen}: it declares its write cache 'write through', and the kernel sends none"),
            "make sure that the device keeps written data without power; then the number is right",
        ),
        Some(option) => report.says(
            format!("{seen}: the mount has {option}, so that synced data may still be in the device's write cache"),
            format!("mount it without {option}"),
        ),
        None => report.says(
            format!("{seen}: synced data may still be in the device's write cache"),
            "find which layer leaves the flushes out (fsdyno inspect)",
        ),
    })
}

/// Number of flushes of all devices below the run; `None`: one does not count them.
fn flushes(sample: &LedgerSample) -> Option<u64> {
    let devices = sample.devices.value().filter(|devices| !devices.is_empty())?;
    devices.iter().try_fold(0u64, |sum, device| Some(sum.saturating_add(device.flushes?)))
}

/// Collects the lowest devices, with the write cache mode that they declare.
fn leaves<'d>(device: &'d BlockDevice, found: &mut Vec<(&'d str, Option<&'d str>)>) {
    match &device.slaves[..] {
        [] => found.push((&device.name, device.write_cache.as_deref())),
        slaves => slaves.iter().for_each(|slave| leaves(slave, found)),
    }
}
