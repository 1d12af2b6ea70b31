//! Reads the counters of the layers below a place, as the ledger of a run does.

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_probe::{Look, Meters, Reading};
use fsdyno_results::evidence::{DeviceCounters, NfsOperation, RecordedFact, WireCounters};
use fsdyno_results::{DeviceWork, ReadWrite, StorageTraffic, Target, TreeRecord, WireOperation, WireTraffic};
use fsdyno_stats::sort;

/// Time for which the devices are watched before a command, ns.
const IDLE_NS: u64 = 100_000_000;

/// NFS operations of our own check, ten times a second, of whether the filesystem fills up; they do not belong to the
/// command.
const OF_GUARD: [&str; 2] = ["STATFS", "FSSTAT"];

/// The counters of one place.
pub(super) struct Layers {
    meters: Meters,
}

impl Layers {
    pub(super) fn begin(target: &Target) -> Layers {
        let interface = target.storage.server.as_ref().and_then(|server| server.interface.value().cloned());
        let interfaces: Vec<String> = interface.into_iter().collect();
        Layers { meters: Meters::begin(Look::new(), &[fsdyno_os::written::path(&target.path)], &interfaces) }
    }

    pub(super) fn look(&mut self) -> Reading {
        self.meters.read()
    }

    /// The activity of the whole machine between two readings.
    pub(super) fn machine(&self, before: &Reading, after: &Reading) -> TreeRecord {
        let grown = |after: Option<u64>, before: Option<u64>, ns: u64| Some(after?.saturating_sub(before?) * ns);
        let (before, after) = (&before.system, &after.system);
        TreeRecord {
            machine_busy_ns: grown(after.busy_ms, before.busy_ms, 1_000_000),
            machine_total_ns: grown(after.total_ms, before.total_ms, 1_000_000),
            machine_steal_ns: grown(after.steal_ms, before.steal_ms, 1_000_000),
            throttled_ns: grown(after.throttled_us, before.throttled_us, 1000),
            ..TreeRecord::default()
        }
    }

    /// Bytes per second that the devices move while nothing of ours runs; `None`: there is no device.
    pub(super) fn idle_bytes_per_s(&mut self) -> Option<u64> {
        let clock = RealClock::shared();
        let before = self.look();
        before.devices.value().filter(|devices| !devices.is_empty())?;
        clock.sleep_until_ns(clock.now_ns() + IDLE_NS);
        let after = self.look();
        let moved = self.traffic(&before, &after).devices.value()?.bytes.sum();
        Some(moved.saturating_mul(1_000_000_000 / IDLE_NS))
    }

    /// The traffic between two readings.
    pub(super) fn traffic(&self, before: &Reading, after: &Reading) -> StorageTraffic {
        StorageTraffic {
            devices: both(&before.devices, &after.devices, |before, after| of_devices(before, after)),
            wire: both(&before.wire, &after.wire, |before, after| Ok(of_wire(before, after))),
            group: before.group.zip(after.group).map(|(before, after)| grown(before, after)),
        }
    }
}

fn both<T, U>(
    before: &RecordedFact<T>,
    after: &RecordedFact<T>,
    between: impl Fn(&T, &T) -> Result<U, String>,
) -> RecordedFact<U> {
    match (before, after) {
        (RecordedFact::Value(before), RecordedFact::Value(after)) => between(before, after).into(),
        (RecordedFact::NotVisible(why), _) | (_, RecordedFact::NotVisible(why)) => {
            RecordedFact::NotVisible(why.clone())
        }
    }
}

fn grown(before: ReadWrite<u64>, after: ReadWrite<u64>) -> ReadWrite<u64> {
    after.zip(before).map(|(after, before)| after.saturating_sub(before))
}

fn of_devices(before: &[DeviceCounters], after: &[DeviceCounters]) -> Result<DeviceWork, String> {
    if after.is_empty() {
        return Err("no block device of this machine lies below the place".to_owned());
    }
    let mut sum = DeviceWork { flushes: Some(0), ..DeviceWork::default() };
    for device in after {
        let known = before.iter().find(|known| known.name == device.name);
        let known = known.ok_or_else(|| format!("{} has come meanwhile", device.name))?;
        let plus = |sum: ReadWrite<u64>, more: ReadWrite<u64>| sum.zip(more).map(|(sum, more)| sum + more);
        sum.requests = plus(sum.requests, grown(known.done.operations, device.done.operations));
        sum.bytes = plus(sum.bytes, grown(known.done.bytes, device.done.bytes));
        let flushes = device.flushes.zip(known.flushes).map(|(after, before)| after.saturating_sub(before));
        sum.flushes = sum.flushes.zip(flushes).map(|(sum, more)| sum + more);
    }
    Ok(sum)
}

fn of_wire(before: &WireCounters, after: &WireCounters) -> WireTraffic {
    let known = |operation: &NfsOperation| before.nfs_operations.iter().find(|known| known.name == operation.name);
    let of_operation = |operation: &NfsOperation| {
        let (count, round_trip_ms) = known(operation).map_or((0, 0), |known| (known.operations, known.round_trip_ms));
        WireOperation {
            name: operation.name.clone(),
            count: operation.operations.saturating_sub(count),
            round_trip_ms: operation.round_trip_ms.saturating_sub(round_trip_ms),
        }
    };
    let counts = |operation: &WireOperation| operation.count > 0 && !OF_GUARD.contains(&operation.name.as_str());
    let mut operations: Vec<WireOperation> = after.nfs_operations.iter().map(of_operation).filter(counts).collect();
    sort::by_key(&mut operations, |operation| std::cmp::Reverse(operation.count));
    let pair = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
    WireTraffic {
        witness: after.witness.clone(),
        exclusive: after.exclusive,
        bytes: grown(before.bytes, after.bytes),
        operations: (!after.nfs_operations.is_empty()).then_some(operations),
        // 0: shorter than a step of the clock, which is not known.
        daemon_cpu_ns: pair(after.daemon_cpu_ns, before.daemon_cpu_ns).filter(|ns| *ns > 0),
        daemon_bytes: after
            .daemon_storage_bytes
            .zip(before.daemon_storage_bytes)
            .map(|(after, before)| grown(before, after)),
    }
}
