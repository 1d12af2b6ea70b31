//! The byte ledger of a cell: what went through each layer, all rounds together.

use results::evidence::{DeviceCounters, LedgerSample, Seen, StorageClass};
use results::{ReadWrite, Transfer};

use crate::quantity::bytes;
use crate::summary::{Cell, Repeat};

/// Bytes read and written through one layer.
pub(super) type Bytes = ReadWrite<u64>;

/// What the layers of a cell saw.
pub(super) struct Flow {
    pub(super) application: Bytes,
    pub(super) process: Seen<Bytes>,
    pub(super) cache: Seen<CacheChange>,
    /// `None`: there are no block devices behind these files.
    pub(super) devices: Seen<Option<Bytes>>,
    pub(super) wire: Seen<Wire>,
    /// Bytes of this storage cross a wire.
    pub(super) wired: bool,
}

/// The page cache of the files before and after, bytes; of the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CacheChange {
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) dirty_after: Option<u64>,
}

/// What crossed the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wire {
    pub(super) bytes: Bytes,
    pub(super) witness: String,
    pub(super) exclusive: bool,
}

impl Flow {
    /// `None`: there is no ledger.
    pub(super) fn of(cell: &Cell<'_>, class: StorageClass) -> Option<Flow> {
        let mut flows = cell.repeats.iter().filter_map(of_repeat);
        let first = flows.next()?;
        let local = [StorageClass::Memory, StorageClass::Block, StorageClass::Device, StorageClass::HostShare];
        let wired = !local.contains(&class);
        Some(Flow { wired, ..flows.fold(first, Flow::add).without_uncounted_calls() })
    }

    /// The kernel counts the bytes of read and write calls alone. An engine that makes none would seem to move nothing.
    fn without_uncounted_calls(self) -> Flow {
        let uncounted = self.process.value().is_some_and(|calls| calls.sum() < self.application.sum() / 2);
        let reason = "the kernel counts the bytes of read and write calls, but this engine makes none";
        Flow { process: if uncounted { Seen::NotVisible(reason.to_owned()) } else { self.process }, ..self }
    }

    fn add(self, other: Flow) -> Flow {
        Flow {
            application: self.application.plus(other.application),
            process: both(self.process, other.process, Bytes::plus),
            cache: both(self.cache, other.cache, |_, last| last),
            devices: both(self.devices, other.devices, |mine, others| match (mine, others) {
                (Some(mine), Some(others)) => Some(mine.plus(others)),
                (mine, others) => mine.or(others),
            }),
            wire: both(self.wire, other.wire, |mine, others| Wire { bytes: mine.bytes.plus(others.bytes), ..mine }),
            wired: self.wired,
        }
    }

    /// The layers that could not be seen, each with its reason.
    pub(super) fn not_visible(&self) -> Vec<(&'static str, &str)> {
        [
            ("process", self.process.reason()),
            ("page cache", self.cache.reason()),
            ("device", self.devices.reason()),
            ("wire", self.wire.reason().filter(|_| self.wired)),
        ]
        .into_iter()
        .filter_map(|(layer, reason)| Some((layer, reason?.trim_start_matches("not visible: "))))
        .collect()
    }

    /// The lowest layer that saw the bytes: where the storage is reached.
    fn storage(&self) -> Option<(&'static str, Bytes)> {
        let wire = self.wire.value().map(|wire| ("the wire", wire.bytes));
        wire.or_else(|| Some(("the device", self.devices.value().copied().flatten()?)))
    }

    /// In a sentence, which share of the bytes reached the storage.
    pub(super) fn sentence(&self) -> String {
        let Some((layer, below)) = self.storage() else {
            let below = match self.devices {
                Seen::Value(None) if !self.wired => "there is no device and no network below: memory answered",
                _ => "the layers below are not visible",
            };
            return format!("{} by the application; {below}.", amount(self.application));
        };
        let parts: Vec<String> = [("read", "carried", Transfer::Read), ("written", "took", Transfer::Write)]
            .into_iter()
            .filter(|(_, _, way)| self.application[*way] > 0)
            .map(|(done, verb, way)| {
                let (asked, seen) = (self.application[way] as f64, below[way] as f64);
                let share = crate::quantity::number(seen * 100.0 / asked);
                format!("Of {} {done}, {layer} {verb} {} ({share}\u{a0}%)", bytes(asked), bytes(seen))
            })
            .collect();
        if parts.is_empty() { "The application moved no bytes.".to_owned() } else { format!("{}.", parts.join(". ")) }
    }
}

/// `4.29 GB read, 1.2 GB written`.
pub(super) fn amount(counted: Bytes) -> String {
    match (counted.read, counted.write) {
        (0, 0) => "no bytes".to_owned(),
        (read, 0) => format!("{} read", bytes(read as f64)),
        (0, written) => format!("{} written", bytes(written as f64)),
        (read, written) => format!("{} read, {} written", bytes(read as f64), bytes(written as f64)),
    }
}

/// A layer counts when all rounds saw it: a sum that misses one would be too small.
fn both<T>(mine: Seen<T>, other: Seen<T>, join: impl FnOnce(T, T) -> T) -> Seen<T> {
    match (mine, other) {
        (Seen::Value(mine), Seen::Value(other)) => Seen::Value(join(mine, other)),
        (Seen::NotVisible(reason), _) | (_, Seen::NotVisible(reason)) => Seen::NotVisible(reason),
    }
}

fn of_repeat(repeat: &Repeat<'_>) -> Option<Flow> {
    let samples = &repeat.ledger()?.samples;
    let mut mine = samples.iter().filter(|sample| sample.stage == repeat.stage());
    let first = mine.next()?;
    let last = mine.next_back()?;
    Some(between(first, last))
}

fn between(first: &LedgerSample, last: &LedgerSample) -> Flow {
    let process = pair(&first.process, &last.process, |before, after| after.call_bytes.since(before.call_bytes));
    let cache = pair(&first.cache, &last.cache, |before, after| CacheChange {
        before: before.cached_bytes,
        after: after.cached_bytes,
        dirty_after: after.dirty_bytes,
    });
    let devices = pair(&first.devices, &last.devices, |before, after| {
        let total = |devices: &[DeviceCounters]| devices.iter().map(|device| device.done.bytes).reduce(Bytes::plus);
        total(after).map(|after| after.since(total(before).unwrap_or_default()))
    });
    let wire = pair(&first.wire, &last.wire, |before, after| Wire {
        bytes: after.bytes.since(before.bytes),
        witness: after.witness.clone(),
        exclusive: after.exclusive,
    });
    Flow {
        application: last.application.bytes.since(first.application.bytes),
        process,
        cache,
        devices,
        wire,
        wired: true,
    }
}

fn pair<T, U>(first: &Seen<T>, last: &Seen<T>, difference: impl FnOnce(&T, &T) -> U) -> Seen<U> {
    match (first, last) {
        (Seen::Value(first), Seen::Value(last)) => Seen::Value(difference(first, last)),
        (Seen::NotVisible(reason), _) | (_, Seen::NotVisible(reason)) => Seen::NotVisible(reason.clone()),
    }
}
