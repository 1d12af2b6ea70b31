//! Measures the load of other programs on the devices before the run begins.

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_probe::{Look, Meters, Reading};
use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::RecordedFact;

use crate::plan::Plan;

/// Least time that gives a rate, ns.
pub(crate) const LOOK_NS_MIN: u64 = 200_000_000;

/// Filesystems write more than the data (journals, bitmaps): this fraction (1/20) on top of our own bytes does not
/// count as foreign.
const OVERHEAD_PARTS: u64 = 20;

/// A measurement of the devices that has begun.
pub(crate) struct ForeignLook {
    meters: Meters,
    clock: RealClock,
    began_ns: u64,
}

impl ForeignLook {
    /// Begins if files are to be laid out: otherwise there is no time for it.
    pub(crate) fn begin(look: &Look, plan: &Plan, clock: RealClock) -> Option<ForeignLook> {
        if plan.layouts.is_empty() {
            return None;
        }
        let mut meters = Meters::begin(look.clone(), &super::places(plan), &[]);
        meters.read();
        Some(ForeignLook { meters, clock, began_ns: clock.now_ns() })
    }

    /// Bytes per second of others since then.
    pub(crate) fn end(mut self) -> RecordedFact<ReadWrite<f64>> {
        let reading = self.meters.read();
        foreign(&reading, self.clock.now_ns().saturating_sub(self.began_ns)).into()
    }
}

/// The rates of others, from a reading whose counters began at zero `elapsed_ns` ago.
pub(crate) fn foreign(reading: &Reading, elapsed_ns: u64) -> Result<ReadWrite<f64>, String> {
    if elapsed_ns < LOOK_NS_MIN {
        return Err("the run started at once: no time to sample foreign load".to_owned());
    }
    let devices = match &reading.devices {
        RecordedFact::Value(devices) if devices.is_empty() => return Err("no device is below the files".to_owned()),
        RecordedFact::Value(devices) => devices,
        RecordedFact::NotVisible(reason) => return Err(reason.clone()),
    };
    let process = reading.process.value().ok_or("this process's own bytes are not visible")?;
    let own = process.storage_bytes;
    // Mirrors and parity write our bytes more than once.
    if own.write > 0 && !reading.stacked_devices.is_empty() {
        return Err("this process wrote, and stacked devices may write its bytes more than once".to_owned());
    }
    let done = devices.iter().map(|device| device.done.bytes).fold(ReadWrite::default(), ReadWrite::plus);
    let own = own.plus(own.map(|own| own / OVERHEAD_PARTS));
    Ok(done.since(own).map(|foreign| foreign as f64 * 1e9 / elapsed_ns as f64))
}

#[cfg(test)]
mod tests {
    use fsdyno_results::evidence::{DeviceCounters, LayerCounters, ProcessCounters};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn reading(device: [u64; 2], own: [u64; 2]) -> Reading {
        let done = LayerCounters { bytes: device.into(), ..LayerCounters::default() };
        Reading {
            devices: RecordedFact::Value(vec![DeviceCounters { done, ..DeviceCounters::default() }]),
            process: RecordedFact::Value(ProcessCounters { storage_bytes: own.into(), ..ProcessCounters::default() }),
            ..Reading::default()
        }
    }

    #[test]
    fn what_is_not_ours_is_foreign() {
        let quiet = reading([4 * MIB, 103 * MIB], [0, 100 * MIB]);
        assert_eq!(foreign(&quiet, 2_000_000_000), Ok([2.0 * MIB as f64, 0.0].into()), "our journal is ours");
        let busy = reading([0, 205 * MIB], [0, 100 * MIB]);
        assert_eq!(foreign(&busy, 1_000_000_000), Ok([0.0, 100.0 * MIB as f64].into()));
    }

    #[test]
    fn what_cannot_be_told_is_not_told() {
        assert!(foreign(&reading([0, 0], [0, 0]), 100_000_000).unwrap_err().contains("no time to sample"));
        let mut stacked = reading([0, 10], [0, 5]);
        stacked.stacked_devices = vec![DeviceCounters::default()];
        assert!(foreign(&stacked, 1_000_000_000).unwrap_err().contains("stack"));
        let mut memory = reading([0, 0], [0, 0]);
        memory.devices = RecordedFact::Value(Vec::new());
        assert!(foreign(&memory, 1_000_000_000).is_err());
    }
}
