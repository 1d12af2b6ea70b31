//! T12: a cache below the devices of this machine.

use fsdyno_results::evidence::{BlockDevice, Layer, LayerKind, StorageClass};
use fsdyno_results::{Finding, ReadWrite, Severity};
use fsdyno_stats::{ChangePoint, Sensitivity, change_point};

use crate::evidence::{BYTES_MIN, Evidence, Flow, JobInStage, Moved, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{rate, size, time};

pub(crate) const ID: &str = "host-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T12",
    title: "A cache below the device (host, controller, array)",
    happens: "A virtual disk may be a file in the host's page cache. A RAID controller or an array has memory of its \
              own. The device counters of this machine then show every request as delivered, although memory answered.",
    seen: "Loop device, at any level of the stack: the device below its file moved half or less of what the loop \
           device moved, in reads or in writes, of 256 KiB or more. That is invalid. If others use that disk, the \
           pages of the file count (cachestat): those that appeared, and those that are still dirty. If others used \
           the loop device itself, and the pages may be theirs, it is `not-visible`. A cache of blocks (bcache, \
           dm-cache, dm-writecache) is compared in the same way with the largest device below it: a caution. Where the \
           lower layer is not visible there are two signs. Neither is proof, and each is a caution. First: with direct \
           I/O, nine tenths delivered by the device, the rate rises by half or more when every byte of the run's own \
           files was read once. Second: a disk with platters answers random reads within 1 ms, over 1 GiB or more.",
    advice: "Attach loop devices with losetup --direct-io=on. Otherwise use files larger than the memory of the host \
             or controller, or ask its operator (qemu: cache=none).",
    documented: "fio issues 41 and 851; qemu documentation, cache modes",
};

/// The rate after the first pass divided by that of the first pass.
const FASTER: f64 = 1.5;
/// Largest distance of the change from the end of a pass, as a share of the pass: values are a second apart.
const NEAR_PASS: f64 = 0.25;
/// If the device delivered this share, it delivered everything.
const DELIVERED: f64 = 0.9;
/// Half a turn at 7,200 rpm takes 4 ms; a queue, a short stroke and luck do not lower the mean latency below this, ns.
const PLATTER_NS: f64 = 1_000_000.0;
/// The device below a loop device's file delivered less than this share.
const BELOW: f64 = 0.5;
/// Smaller ranges fit in a disk's own memory, bytes.
const PLATTER_SPAN: u64 = 1 << 30;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        evidence.byte_flows().filter_map(|(stage, row, flow)| below_loops(stage, row, flow)).collect();
    found.extend(evidence.byte_flows().filter_map(|(stage, row, flow)| beside_origin(stage, row, flow)));
    for (stage, row, flow) in evidence.flows() {
        if !delivered_directly(stage, row, flow) {
            continue;
        }
        if row.first().plan.laid_out {
            found.extend(second_pass(row).map(|change| faster_again(row, change)));
        }
        found.extend(platters(row));
    }
    found
}

/// Whether it made direct reads that the device delivered completely.
pub(super) fn delivered_directly(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> bool {
    let on_disk = matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device));
    let asked = flow.application.bytes.read;
    let whole = flow.storage.read.as_ref().is_some_and(|storage| storage.bytes as f64 >= asked as f64 * DELIVERED);
    on_disk && whole && row.reads() && !row.writes() && row.direct() == Some(true) && !row.paced()
}

/// The change point if the rate rises just after everything was read once.
pub(super) fn second_pass(row: &JobInStage<'_>) -> Option<ChangePoint> {
    let rates = row.rates();
    let change = change_point(&rates.values, &Sensitivity::default())?;
    let read: f64 = rates.values[..change.index].iter().sum::<f64>() * rates.step_s as f64;
    let span = row.span_bytes()? as f64;
    let near = (read / span - 1.0).abs() <= NEAR_PASS;
    (change.after_median >= change.before_median * FASTER && near).then_some(change)
}

fn faster_again(row: &JobInStage<'_>, change: ChangePoint) -> Finding {
    let cause = format!(
        "{} until every byte was read once, {} after that, all delivered by the device: likely a cache below the \
         device",
        rate(change.before_median),
        rate(change.after_median)
    );
    Report::new(ID, Severity::Caution, row.name)
        .number("rate of the first pass", change.before_median, "B/s")
        .number("rate after it", change.after_median, "B/s")
        .says(cause, "use a --size larger than the memory of the host or controller; the first pass is the lower bound")
}

/// A loop device's file in the page cache below, at the first level where it is cached.
fn below_loops(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    if !matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device)) {
        return None;
    }
    row.loops().into_iter().find_map(|device| below_loop(stage, row, flow, device))
}

/// The finding for one loop device; reads are judged first, as a row with both directions gets one finding.
fn below_loop(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>, device: &Layer) -> Option<Finding> {
    let moved = flow.moved(&device.name)?;
    // Parts of a raw device's image that were never written are in no page cache either.
    let whole =
        stage.class() == Some(StorageClass::Block) || device.image.as_ref().is_none_or(|image| image.gap().is_none());
    let does = ReadWrite { read: row.reads() && whole, write: row.writes() };
    let cached = |direction: &Transfer| {
        let below = flow.below_loop(device, *direction);
        let moved = moved[*direction];
        let own = flow.own_of(device, moved, *direction);
        let few = |below: &Moved| below.bytes as f64 <= own as f64 * BELOW;
        let judged = does[*direction] && moved >= BYTES_MIN;
        below.filter(|below| judged && few(below)).map(|below| (*direction, moved, below))
    };
    let (direction, moved, below) = Transfer::BOTH.iter().find_map(cached)?;
    let (verb, passed, rest) = if direction == Transfer::Read {
        ("delivered", "read", "came from the page cache of that file")
    } else {
        ("took", "wrote", "stayed in the page cache of that file")
    };
    let cause = format!(
        "{} {verb} {}, of which the device below its file ({}) {passed} {}: the rest {rest}{}",
        device.name,
        size(moved),
        below.witness,
        size(below.bytes),
        stage.shared_figures_note()
    );
    let report = Report::new(ID, Severity::Invalid, row.name)
        .bytes("bytes moved by the loop device", moved)
        .bytes("bytes moved below it", below.bytes);
    Some(
        report
            .says(cause, format!("losetup --direct-io=on /dev/{}: its file then bypasses the page cache", device.name)),
    )
}

/// A block cache in front of a slower device that moved little of what the job did.
fn beside_origin(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let storage = row.storage.filter(|_| stage.rows.len() == 1 && !row.is_mixed())?;
    let mut caches: Vec<&Layer> = Vec::new();
    storage.each_layer(&mut |layer| caches.extend((layer.kind == LayerKind::BlockCache).then_some(layer)));
    let cache = caches.first()?;
    let device = storage.devices.value()?.iter().find_map(|device| named(device, &cache.name))?;
    // The origin is the largest: the cache and its metadata are smaller.
    let origin = device.slaves.iter().max_by_key(|slave| slave.size_bytes)?;
    let (moved, below) = (flow.moved(&cache.name)?, flow.moved(&origin.name)?);
    let direction = Transfer::BOTH.into_iter().find(|direction| {
        let moved = moved[*direction];
        moved >= BYTES_MIN && below[*direction] as f64 <= moved as f64 * BELOW
    })?;
    let (moved, below) = (moved[direction], below[direction]);
    let verb = if direction == Transfer::Read { "delivered" } else { "took" };
    let what = cache.what.as_deref().unwrap_or("a cache of blocks");
    let cause = format!(
        "{} ({what}) {verb} {}, and {} behind it {}: the number is that of the cache, as long as it is not full",
        cache.name,
        size(moved),
        origin.name,
        size(below)
    );
    let report = Report::new(ID, Severity::Caution, row.name)
        .bytes("bytes moved by the cache", moved)
        .bytes("bytes moved behind it", below);
    Some(report.says(cause, "use a --size of several times the cache device"))
}

/// The device with this name, at or below this one.
fn named<'d>(device: &'d BlockDevice, name: &str) -> Option<&'d BlockDevice> {
    if device.name == name { Some(device) } else { device.slaves.iter().find_map(|slave| named(slave, name)) }
}

/// Random reads that are faster than a platter turns. Virtual disks may claim to be rotational.
fn platters(row: &JobInStage<'_>) -> Option<Finding> {
    let storage = row.storage?;
    let devices = storage.devices.value()?;
    let real = |device: &&BlockDevice| {
        let model = device.model.as_deref().unwrap_or_default().to_ascii_lowercase();
        let names_itself_virtual = ["qemu", "virtual", "vmware", "msft", "google", "amazon", "vbox", "xen"]
            .iter()
            .any(|word| model.contains(word));
        device.name.starts_with("sd") && !model.is_empty() && !names_itself_virtual && device.rotational == Some(true)
    };
    if devices.is_empty() || !devices.iter().all(|device| real(&device)) || !row.random() {
        return None;
    }
    let clat = row.clat_ns()? / f64::from(row.first().setup.depth.max(1));
    if clat >= PLATTER_NS || row.span_bytes()? < PLATTER_SPAN {
        return None;
    }
    let cause =
        format!("random reads take {} on a disk with platters: likely a cache of the controller or host", time(clat));
    let report = Report::new(ID, Severity::Caution, row.name).number("time of a random read", clat, "ns");
    Some(report.says(cause, "use a --size larger than the controller's memory"))
}
