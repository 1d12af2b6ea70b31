//! T27: other programs used the storage.

use fsdyno_results::evidence::{Layer, StorageClass};
use fsdyno_results::{Finding, ReadWrite, Severity};

use crate::evidence::{Evidence, Flow, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{percent, rate, size};

pub(crate) const ID: &str = "foreign-load";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T27",
    title: "Others used the same device",
    happens: "A backup, an update, another test or the write-back of earlier data shares the device. Each gets a part \
              of its throughput, and the next run gets another part.",
    seen: "Bytes that the device read beyond those that this process requested. Bytes that the device wrote while the \
           run wrote nothing and laid out no file. Bytes that the disk below the file of a loop device moved beyond \
           what that device did, at every level. Bytes that the device moved while it was watched for a moment before \
           the run. A caution from 10 % of the run's own rate and 1 MiB/s on; in its measured time from 16 MiB on. \
           Operations on names move few bytes themselves. For a phase it is a caution from 16 MiB/s before the first \
           pass on, or from 16 MiB read or 64 MiB written during its passes beyond all bytes that its operations can \
           have caused. For a timed command: from 16 MiB/s and 10 % of its own bytes in a tenth of a second before it, \
           or from 16 MiB and 10 % read beyond its own, or written while it wrote nothing. Writes of others during its \
           own writes are reported from 64 MiB on where control groups of version 2 count them. Elsewhere they look \
           like writes of the filesystem.",
    advice: "Stop the other load (iotop shows it), run sync to finish earlier writes, and run again.",
    documented: "proc(5), /proc/PID/io; linux Documentation/admin-guide/iostats.rst",
};

/// The beginning of the name of a figure: what the device moved for others. Older records have bytes instead of rates.
pub(crate) const FOREIGN: &str = "foreign ";
/// The end of the name of the run's own figure.
pub(crate) const OWN: &str = " of the run";

/// Foreign bytes divided by the run's own.
const SHARE: f64 = 0.1;
/// Below this rate foreign load does not matter on any disk, bytes per second.
const RATE_MIN: f64 = (1u64 << 20) as f64;
/// Below this number the bytes may be journal and metadata.
const BYTES_MIN: u64 = 16 << 20;
/// A filesystem on an image adds at most this fraction (1/20) of what is written.
const OVERHEAD_PARTS: u64 = 20;
/// Journal bytes of that filesystem for each flush.
const JOURNAL_BYTES: u64 = 128 << 10;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let on_disk = evidence
        .flows()
        .filter(|(stage, _, _)| matches!(stage.class(), Some(StorageClass::Block | StorageClass::Device)));
    let found = |(stage, row, flow): (&Stage<'_>, &JobInStage<'_>, &Flow<'_>)| {
        during(evidence, stage, row, flow).or_else(|| before(evidence, stage, row))
    };
    on_disk.filter_map(found).collect()
}

/// What the device did in the measured time beyond what was asked of it.
fn during(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Finding> {
    let flow = &flow.without_ramp(evidence.ledger()?, &stage.rows).filter(|flow| flow.seconds > 0.0)?;
    let (name, bytes) = top(stage, flow)
        .into_iter()
        .chain(row.loops().into_iter().filter_map(|device| below(stage, flow, device)))
        .max_by_key(|(_, bytes)| *bytes)?;
    let (foreign, own) = (bytes as f64 / flow.seconds, stage.bytes_per_s());
    let too_much = bytes >= BYTES_MIN && foreign >= own * SHARE && foreign >= RATE_MIN;
    too_much.then(|| {
        let cause = format!(
            "{name} moved {} for others, besides this run's {}{}",
            rate(foreign),
            rate(own),
            stage.shared_figures_note()
        );
        Report::new(ID, Severity::Caution, row.name)
            .number("foreign rate", foreign, "B/s")
            .number("rate of the run", own, "B/s")
            .says(cause, "find who else uses the device (iotop), and run again when it is idle")
    })
}

/// Whether none of this run's writes can still be on their way: the run wrote nothing, and laid out no files.
fn quiet(stage: &Stage<'_>) -> bool {
    stage.rows.iter().all(|row| !row.writes() && !row.first().plan.laid_out)
}

/// What the devices of the files moved for others.
fn top(stage: &Stage<'_>, flow: &Flow<'_>) -> Option<(String, u64)> {
    let device = flow.device.as_ref()?;
    // The kernel charges each read to the reading process, readahead included; writes are charged when pages become
    // dirty.
    let reads = flow.process.map_or(0, |process| device.done.bytes.read.saturating_sub(process.storage_bytes.read));
    let writes = if quiet(stage) { device.done.bytes.write } else { 0 };
    Some((device.name.clone(), reads.saturating_add(writes)))
}

/// What the devices below a loop device's file moved beyond the loop device's own bytes.
fn below(stage: &Stage<'_>, flow: &Flow<'_>, device: &Layer) -> Option<(String, u64)> {
    let (moved, below) = (flow.moved(&device.name)?, flow.below_image(device)?);
    let direct = device.image.as_ref().is_some_and(|image| image.direct == Some(true));
    let journal = moved.write / OVERHEAD_PARTS + flow.flushes(&device.name).unwrap_or(0).saturating_mul(JOURNAL_BYTES);
    // The image's page cache reads ahead, and writes back data that was written long ago.
    let reads = if direct { moved.read + moved.read / OVERHEAD_PARTS } else { moved.read.saturating_mul(2) };
    let writes = if direct || quiet(stage) { below.write.saturating_sub(moved.write + journal) } else { 0 };
    let names: Vec<&str> = device.devices_below().iter().map(|below| below.name.as_str()).collect();
    Some((
        format!("{} below {}", names.join("+"), device.name),
        below.read.saturating_sub(reads).saturating_add(writes),
    ))
}

/// For a timed command: what the devices did beyond what was asked on its behalf, and before it began.
pub(crate) fn of_command(row: &fsdyno_results::Row) -> Option<Finding> {
    let (tree, phase) = (row.tree.as_ref()?, row.phase.as_ref()?);
    let (device, own) = (tree.during.devices.value()?.bytes, tree.storage_bytes?);
    let found = |name: &'static str, value: f64, unit, cause: String| {
        let report = Report::new(ID, Severity::Caution, &row.pattern).number(name, value, unit);
        report.says(cause, "find who else uses the device (iotop), and run again when it is idle")
    };
    let before = tree.foreign_bytes_per_s.unwrap_or(0) as f64;
    let seconds = phase.elapsed_ns as f64 / 1e9;
    if before >= BEFORE_PHASES && before * seconds >= own.sum() as f64 * SHARE {
        let cause = format!("before the command began others moved {} on the devices", rate(before));
        return Some(found("foreign rate before the command", before, "B/s", cause));
    }
    let foreign = match tree.during.group {
        // The kernel writes the journal outside of the control group.
        Some(group) => device.since(group.plus(ReadWrite { read: 0, write: DURING_PHASE.write })).sum(),
        // A filesystem adds journal and copies: if the command writes, others' writes cannot be told from these.
        None => device.read.saturating_sub(own.read) + if own.write == 0 { device.write } else { 0 },
    };
    if foreign < BYTES_MIN || (foreign as f64) < own.sum() as f64 * SHARE {
        return None;
    }
    let (moved, own) = (size(foreign), size(own.sum()));
    let cause =
        format!("the devices moved {moved} for others, besides the command's {own}: the counts are upper bounds");
    Some(found("foreign bytes", foreign as f64, "B", cause))
}

/// What others moved on the devices before the run.
fn before(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let foreign = evidence.ledger()?.machine.foreign_bytes_per_s.value()?;
    let (foreign, own) = (foreign.read + foreign.write, stage.bytes_per_s());
    if foreign < RATE_MIN || foreign < own * SHARE {
        return None;
    }
    let cause = format!(
        "before the run others moved {} on the devices, {} of this run's rate",
        rate(foreign),
        percent(foreign / own.max(1.0))
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("foreign rate before the run", foreign, "B/s");
    Some(report.says(cause, "find who else uses the device (iotop), and run again when it is idle"))
}

/// Rate of others before the first phase from which on it is reported, bytes per second; a journal that is written from
/// time to time stays below.
const BEFORE_PHASES: f64 = 16.0 * RATE_MIN;
/// Bytes of others during the passes from which on they are reported: earlier phases leave dirty metadata that is
/// written back later.
const DURING_PHASE: ReadWrite<u64> = ReadWrite { read: 16 << 20, write: 64 << 20 };
/// Most bytes that a synced operation writes besides its data: blocks of names, inodes and maps, once to the journal
/// and once in place.
const BLOCKS_SYNCED: u64 = 64 << 10;
/// The same without syncs, where operations share these blocks.
const BLOCKS_SHARED: u64 = 8 << 10;

/// For the passes of a phase.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let report = |name: &str, value: f64, unit: &str, cause: String| {
        let report = Report::new(ID, Severity::Caution, passes.name()).number(name, value, unit);
        report.says(cause, "find who else uses the device (iotop), and run again when it is idle")
    };
    let before =
        passes.conditions()?.first()?.foreign_bytes_per_s.value().map_or(0.0, |foreign| foreign.read + foreign.write);
    if before >= BEFORE_PHASES {
        let cause = format!("before the first phase others moved {} on the devices", rate(before));
        return Some(report("foreign rate before the phases", before, "B/s", cause));
    }
    let moved = passes.bytes(|seen| seen.device.value().map(|device| device.bytes))?;
    let own = passes.bytes(|seen| seen.own_storage_bytes)?;
    let each = if passes.syncs { BLOCKS_SYNCED } else { BLOCKS_SHARED };
    let blocks = passes.operations().saturating_mul(each);
    let foreign = moved.since(own.plus(ReadWrite { read: 0, write: blocks }));
    if foreign.read < DURING_PHASE.read && foreign.write < DURING_PHASE.write {
        return None;
    }
    let name = passes.conditions()?.first()?.device.value()?.name.clone();
    let cause = format!("{name} moved {} for others during this phase", size(foreign.sum()));
    Some(report("foreign bytes", foreign.sum() as f64, "B", cause))
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::RecordedFact;
    use fsdyno_results::{DeviceWork, PhaseRecord, StorageTraffic, TreeRecord};

    use super::*;

    const MIB: u64 = 1 << 20;

    /// A second of a command: MiB that it wrote, that the device wrote, that its control group wrote, and that others
    /// moved per second before it.
    fn found(own: u64, device: u64, group: Option<u64>, before: u64) -> bool {
        let write = |mib: u64| ReadWrite { read: 0, write: mib * MIB };
        let during = StorageTraffic {
            devices: RecordedFact::Value(DeviceWork { bytes: write(device), ..DeviceWork::default() }),
            group: group.map(write),
            ..StorageTraffic::default()
        };
        let tree = TreeRecord {
            storage_bytes: Some(write(own)),
            foreign_bytes_per_s: Some(before * MIB),
            during,
            ..TreeRecord::default()
        };
        let phase = PhaseRecord { elapsed_ns: 1_000_000_000, ..PhaseRecord::default() };
        of_command(&fsdyno_results::Row { phase: Some(phase), tree: Some(tree), ..fsdyno_results::Row::default() })
            .is_some()
    }

    #[test]
    fn others_are_told_from_a_commands_own_work() {
        assert!(found(10, 20, None, 100), "they were there before it");
        assert!(!found(10, 20, None, 5), "a log that is written");
        assert!(!found(2000, 2000, None, 100), "less than a tenth");
        assert!(!found(10, 300, None, 0), "its filesystem may have written that");
        assert!(found(10, 300, Some(12), 0), "its group counts what is its own");
        assert!(!found(290, 300, Some(292), 0));
        assert!(found(0, 30, None, 0) && !found(0, 3, None, 0));
    }
}
