//! Makes the byte ledger: the bytes in each layer, over all rounds of a test.

use fsdyno_findings::Reached;
use fsdyno_results::evidence::{DeviceCounters, LedgerSample, RecordedFact, StorageClass};
use fsdyno_results::{ReadWrite, Repeat, TestRounds};
use maud::{Markup, html};

use super::outline::{Outline, place_of, test};
use super::table::{Table, TableRow};
use crate::quantity::{bytes, listed, percent};
use crate::summary::Grid;

pub(super) fn section(grid: &Grid<'_>, place: &Outline) -> Markup {
    let flows: Vec<(&str, usize, Flow)> = grid
        .cells()
        .filter_map(|(line, target, cell)| Some((&*line.pattern, target, Flow::of(cell, class(target, cell, grid))?)))
        .collect();
    if flows.is_empty() {
        return html! {};
    }
    let mut table = Table::new().words("Test").words("Place").numbers("Application").numbers("Read and write calls");
    table = table.numbers("Page cache").numbers("Device").numbers("Wire").numbers("Reached the storage");
    for (index, (name, target, flow)) in flows.iter().enumerate() {
        let text = |words: String| Some(html! { (words) });
        let cache = flow.cache.value().map(|cache| {
            let dirty = cache.dirty_after.filter(|dirty| *dirty > 0).map(|dirty| format!(", {} dirty", bytes(dirty)));
            format!("{} → {}{}", bytes(cache.before), bytes(cache.after), dirty.unwrap_or_default())
        });
        table.row(TableRow {
            begins: index == 0 || flows[index - 1].0 != *name,
            is_void: false,
            cells: vec![
                Some(test(name)),
                place_of(grid, *target),
                text(amount(flow.application)),
                flow.process.value().and_then(|calls| text(amount(*calls))),
                cache.and_then(text),
                flow.devices.value().copied().flatten().and_then(|moved| text(amount(moved))),
                flow.wire.value().and_then(|wire| text(amount(wire.bytes))),
                flow.reached().and_then(|share| text(percent(share))),
            ],
        });
    }
    place.section(
        "ledger",
        "Ledger",
        html! {
            (table.shown("wide ledger", "The bytes in each layer, from the application to the storage, all rounds together. Where \
                a layer has fewer, a cache answered reads or still holds writes."))
            @let remarks = remarks(&flows, grid);
            @if !remarks.is_empty() { ul.remarks { @for remark in remarks { li { (remark) } } } }
        },
    )
}

/// Remarks below the table: what was not visible and why, and who counted the bytes on the wire; each once with its
/// places.
fn remarks(flows: &[(&str, usize, Flow)], grid: &Grid<'_>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (_, target, flow) in flows {
        let hidden = flow.not_visible().into_iter().map(|(layer, reason)| format!("{layer} not visible, {reason}"));
        let shared = |wire: &Wire| if wire.exclusive { "" } else { ", which others use too" };
        let wire = flow.wire.value().map(|wire| format!("wire counted by {}{}", wire.witness, shared(wire)));
        // A counter of a whole device or of the wire is in the column already.
        let narrow = flow.reached.as_ref().filter(|reached| reached.witness.contains(" for "));
        let storage = narrow.map(|reached| format!("what reached the storage counted by {}", reached.witness));
        for words in hidden.chain(wire).chain(storage) {
            let name = &grid.targets[*target];
            match all.iter_mut().find(|(known, _)| *known == words) {
                Some((_, names)) if names.contains(name) => {}
                Some((_, names)) => names.push(name.clone()),
                None => all.push((words, vec![name.clone()])),
            }
        }
    }
    let several = grid.targets.len() > 1;
    all.into_iter().map(|(words, names)| if several { format!("{}: {words}", listed(&names)) } else { words }).collect()
}

/// The storage class of a target; for a fio command line, that of its first storage.
fn class(target: usize, cell: &TestRounds<'_>, grid: &Grid<'_>) -> StorageClass {
    let of_run = || Some(cell.repeats.first()?.run()?.storages().next()?.class);
    let of_target = grid.study.targets.get(target).map(|target| target.storage.class);
    of_target.filter(|class| *class != StorageClass::Unknown).or_else(of_run).unwrap_or_default()
}

/// `4.29 GB read, 1.2 GB written`.
fn amount(counted: Bytes) -> String {
    match (counted.read, counted.write) {
        (0, 0) => "no bytes".to_owned(),
        (read, 0) => format!("{} read", bytes(read)),
        (0, written) => format!("{} written", bytes(written)),
        (read, written) => format!("{} read, {} written", bytes(read), bytes(written)),
    }
}

/// Bytes read and written in one layer.
type Bytes = ReadWrite<u64>;

/// The bytes of a cell in each layer.
struct Flow {
    application: Bytes,
    process: RecordedFact<Bytes>,
    cache: RecordedFact<CacheChange>,
    /// `None`: no block devices are below these files.
    devices: RecordedFact<Option<Bytes>>,
    wire: RecordedFact<Wire>,
    /// The bytes that reached the storage; `None`: not visible in at least one round.
    reached: Option<Reached>,
    /// Whether the storage's bytes cross a network.
    wired: bool,
}

/// Bytes of the files in the page cache before and after the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CacheChange {
    before: u64,
    after: u64,
    dirty_after: Option<u64>,
}

/// The bytes on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wire {
    bytes: Bytes,
    witness: String,
    exclusive: bool,
}

impl Flow {
    /// `None`: there is no ledger.
    fn of(cell: &TestRounds<'_>, class: StorageClass) -> Option<Flow> {
        let mut flows = cell.repeats.iter().filter_map(of_repeat);
        let first = flows.next()?;
        let local = [StorageClass::Memory, StorageClass::Block, StorageClass::Device, StorageClass::HostShare];
        let wired = !local.contains(&class);
        Some(Flow { wired, ..flows.fold(first, Flow::add).without_uncounted_calls() })
    }

    /// Hides the process counter where the engine makes no read and write calls: the kernel counts only those.
    fn without_uncounted_calls(self) -> Flow {
        let uncounted = self.process.value().is_some_and(|calls| calls.sum() < self.application.sum() / 2);
        let reason = "the kernel counts the bytes of read and write calls, but this engine makes none";
        Flow { process: if uncounted { RecordedFact::NotVisible(reason.to_owned()) } else { self.process }, ..self }
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
            reached: self
                .reached
                .zip(other.reached)
                .map(|(mine, others)| Reached { bytes: mine.bytes.plus(others.bytes), ..mine }),
            wired: self.wired,
        }
    }

    /// The layers that were not visible, each with its reason.
    fn not_visible(&self) -> Vec<(&'static str, &str)> {
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

    /// Share of the bytes that reached the storage, by a counter without others' bytes, percent.
    fn reached(&self) -> Option<f64> {
        let below = self.reached.as_ref()?.bytes;
        (self.application.sum() > 0).then(|| (below.sum() as f64 * 100.0 / self.application.sum() as f64).min(100.0))
    }
}

/// Adds a layer of two rounds. It is visible only if both rounds saw it: a sum without one would be too small.
fn both<T>(mine: RecordedFact<T>, other: RecordedFact<T>, join: impl FnOnce(T, T) -> T) -> RecordedFact<T> {
    match (mine, other) {
        (RecordedFact::Value(mine), RecordedFact::Value(other)) => RecordedFact::Value(join(mine, other)),
        (RecordedFact::NotVisible(reason), _) | (_, RecordedFact::NotVisible(reason)) => {
            RecordedFact::NotVisible(reason)
        }
    }
}

fn of_repeat(repeat: &Repeat<'_>) -> Option<Flow> {
    let samples = &repeat.ledger()?.samples;
    let mut mine = samples.iter().filter(|sample| sample.stage == repeat.stage());
    let first = mine.next()?;
    let last = mine.next_back()?;
    let node = repeat.workers.first()?.node;
    let reached = repeat.run().and_then(|run| fsdyno_findings::reached(run, node, repeat.stage()));
    Some(Flow { reached, ..between(first, last) })
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
        reached: None,
        wired: true,
    }
}

fn pair<T, U>(
    first: &RecordedFact<T>,
    last: &RecordedFact<T>,
    difference: impl FnOnce(&T, &T) -> U,
) -> RecordedFact<U> {
    match (first, last) {
        (RecordedFact::Value(first), RecordedFact::Value(last)) => RecordedFact::Value(difference(first, last)),
        (RecordedFact::NotVisible(reason), _) | (_, RecordedFact::NotVisible(reason)) => {
            RecordedFact::NotVisible(reason.clone())
        }
    }
}
