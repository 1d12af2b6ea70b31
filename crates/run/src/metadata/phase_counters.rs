//! Reads counters beside a phase (CPUs, devices, this process), before its first operation and after its last.

use std::path::Path;

use crate::control::Control;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_probe::{Look, Meters, Reading};
use fsdyno_results::evidence::{DeviceCounters, RecordedFact, SystemCounters, WireCounters};
use fsdyno_results::{DeviceTraffic, PhaseConditions, PhaseWire, ReadWrite};

use crate::ledger::foreign;

/// How long the devices are watched before the first phase, ns: the least time for a rate.
const WATCH_NS: u64 = foreign::LOOK_NS_MIN;
/// Interval at which a signal is checked while watching, ns.
const STEP_NS: u64 = 20_000_000;

/// Reads the counters of one directory's storage.
#[derive(Debug)]
pub struct PhaseCounters {
    meters: Meters,
    clock: RealClock,
    foreign_bytes_per_s: RecordedFact<ReadWrite<f64>>,
}

/// One reading.
#[derive(Debug)]
pub struct CounterReading {
    at_ns: u64,
    reading: Reading,
}

impl PhaseCounters {
    /// Finds the storage of a directory; `None`: the operations use no directory of this machine.
    pub fn begin(directory: Option<&Path>) -> PhaseCounters {
        let files: Vec<_> = directory.into_iter().map(Path::to_owned).collect();
        let meters = Meters::begin(Look::default(), &files, &[]);
        PhaseCounters { meters, clock: RealClock::shared(), foreign_bytes_per_s: RecordedFact::default() }
    }

    /// Watches briefly what others do on the devices. Must be called before this process has written anything. Returns
    /// at once where there is no device.
    pub fn watch_others(&mut self, control: &Control) {
        let began_ns = self.look().at_ns;
        let has_devices =
            |glance: &CounterReading| glance.reading.devices.value().is_some_and(|devices| !devices.is_empty());
        let mut last = self.look();
        while has_devices(&last) && last.at_ns < began_ns + WATCH_NS && !control.stopped() {
            control.follow();
            self.clock.sleep_until_ns(self.clock.now_ns() + STEP_NS);
            last = self.look();
        }
        let watched_ns = if has_devices(&last) { last.at_ns.saturating_sub(began_ns) } else { WATCH_NS };
        self.foreign_bytes_per_s = foreign::foreign(&last.reading, watched_ns).into();
    }

    /// Reads all counters.
    pub fn look(&mut self) -> CounterReading {
        CounterReading { at_ns: self.clock.now_ns(), reading: self.meters.read() }
    }

    /// The changes since a reading. `waited_ns`: the time that the workers waited for a CPU.
    pub fn since(&mut self, before: &CounterReading, waited_ns: Option<u64>) -> PhaseConditions {
        let after = self.look();
        let (then, now) = (&before.reading.system, &after.reading.system);
        let grown = |counter: fn(&SystemCounters) -> Option<u64>| Some(counter(now)?.saturating_sub(counter(then)?));
        let own = |glance: &CounterReading| glance.reading.process.value().map(|process| process.storage_bytes);
        PhaseConditions {
            between_ns: after.at_ns.saturating_sub(before.at_ns),
            run_queue_wait_ns: waited_ns,
            busy_ms: grown(|counters| counters.busy_ms),
            steal_ms: grown(|counters| counters.steal_ms),
            total_ms: grown(|counters| counters.total_ms),
            throttled_us: grown(|counters| counters.throttled_us),
            device: traffic(&before.reading.devices, &after.reading.devices),
            stack: stack(&before.reading, &after.reading),
            wire: wire(&before.reading, &after.reading),
            own_storage_bytes: own(&after).zip(own(before)).map(|(now, then)| now.since(then)),
            foreign_bytes_per_s: self.foreign_bytes_per_s.clone(),
        }
    }
}

/// The traffic of the mount between two readings; `None`: there is no such mount, or nothing counts it.
fn wire(before: &Reading, after: &Reading) -> Option<PhaseWire> {
    let (then, now) = (before.wire.value()?, after.wire.value()?);
    let sockets = |wire: &WireCounters| wire.daemon_sockets.value().map(|sockets| sockets.bytes);
    let segments = |wire: &WireCounters| wire.daemon_sockets.value().and_then(|sockets| sockets.data_segments_sent);
    let since = |then: Option<ReadWrite<u64>>, now: Option<ReadWrite<u64>>| Some(now?.since(then?));
    Some(PhaseWire {
        witness: now.witness.clone(),
        bytes: now.bytes.since(then.bytes),
        daemon_sockets: since(sockets(then), sockets(now)),
        daemon_segments_sent: segments(now).zip(segments(then)).map(|(now, then)| now.saturating_sub(then)),
        daemon_storage_bytes: since(then.daemon_storage_bytes, now.daemon_storage_bytes),
    })
}

/// The traffic of all devices between two readings, together.
fn traffic(
    before: &RecordedFact<Vec<DeviceCounters>>,
    after: &RecordedFact<Vec<DeviceCounters>>,
) -> RecordedFact<DeviceTraffic> {
    let (then, now) = match (before, after) {
        (RecordedFact::Value(_), RecordedFact::Value(now)) if now.is_empty() => {
            return RecordedFact::NotVisible("no device is below the files".to_owned());
        }
        (RecordedFact::Value(then), RecordedFact::Value(now)) => (then, now),
        (RecordedFact::NotVisible(reason), _) | (_, RecordedFact::NotVisible(reason)) => {
            return RecordedFact::NotVisible(reason.clone());
        }
    };
    let mut all = DeviceTraffic { flushes: Some(0), ..DeviceTraffic::default() };
    for device in now {
        let Some(moved) = moved_by(device, then) else {
            return RecordedFact::NotVisible(format!("{} came during the phase", device.name));
        };
        all.bytes = all.bytes.plus(moved.bytes);
        all.flushes = all.flushes.zip(moved.flushes).map(|(sum, flushes)| sum + flushes);
        all.name = if all.name.is_empty() { moved.name } else { format!("{}+{}", all.name, moved.name) };
    }
    RecordedFact::Value(all)
}

/// The traffic of one device; `None`: it did not exist before.
fn moved_by(device: &DeviceCounters, before: &[DeviceCounters]) -> Option<DeviceTraffic> {
    let earlier = before.iter().find(|earlier| earlier.name == device.name)?;
    let flushes = device.flushes.zip(earlier.flushes).map(|(now, then)| now.saturating_sub(then));
    Some(DeviceTraffic { name: device.name.clone(), bytes: device.done.bytes.since(earlier.done.bytes), flushes })
}

/// The traffic of each device of a stack; empty where no device is below another.
fn stack(before: &Reading, after: &Reading) -> Vec<DeviceTraffic> {
    let (Some(then), Some(now)) = (before.devices.value(), after.devices.value()) else { return Vec::new() };
    let of = |now: &[DeviceCounters], then: &[DeviceCounters]| -> Vec<DeviceTraffic> {
        now.iter().filter_map(|device| moved_by(device, then)).collect()
    };
    let below = of(&after.stacked_devices, &before.stacked_devices);
    if below.is_empty() { below } else { [of(now, then), below].concat() }
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::LayerCounters;

    use super::*;

    fn devices(all: &[(&str, u64)]) -> RecordedFact<Vec<DeviceCounters>> {
        let device = |(name, read): &(&str, u64)| DeviceCounters {
            name: (*name).to_owned(),
            done: LayerCounters { bytes: [*read, 0].into(), ..LayerCounters::default() },
            ..DeviceCounters::default()
        };
        RecordedFact::Value(all.iter().map(device).collect())
    }

    #[test]
    fn devices_are_added_up_and_one_that_is_not_seen_is_not_zero() {
        let both = traffic(&devices(&[("a", 5), ("b", 1)]), &devices(&[("a", 7), ("b", 11)]));
        assert_eq!(both.value(), Some(&DeviceTraffic { name: "a+b".to_owned(), bytes: [12, 0].into(), flushes: None }));
        for (then, now) in [
            (devices(&[]), devices(&[])),
            (devices(&[("a", 5)]), devices(&[("a", 5), ("b", 1)])),
            (RecordedFact::default(), devices(&[("a", 5)])),
        ] {
            assert_eq!(traffic(&then, &now).value(), None, "{then:?}");
        }
    }

    #[test]
    fn each_device_of_a_stack_is_seen_by_itself() {
        let reading = |leaf: u64, below: &[(&str, u64)]| Reading {
            devices: devices(&[("loop0", leaf)]),
            stacked_devices: devices(below).value().cloned().unwrap_or_default(),
            ..Reading::default()
        };
        let moved = |name: &str, read: u64| DeviceTraffic {
            name: name.to_owned(),
            bytes: [read, 0].into(),
            ..DeviceTraffic::default()
        };
        let both = stack(&reading(5, &[("vda", 1)]), &reading(7, &[("vda", 4)]));
        assert_eq!(both, [moved("loop0", 2), moved("vda", 3)]);
        assert_eq!(stack(&reading(5, &[]), &reading(7, &[])), []);
    }

    #[test]
    fn what_a_look_cannot_see_stays_unknown() {
        let mut counters = PhaseCounters::begin(Some(Path::new("/")));
        let before = counters.look();
        let conditions = counters.since(&before, None);
        assert_eq!(conditions.run_queue_wait_ns, None);
        assert_eq!(conditions.foreign_bytes_per_s.value(), None, "nobody watched before");
    }
}
