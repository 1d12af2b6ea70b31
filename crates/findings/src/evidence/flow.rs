//! Computes the traffic of each layer during a stage: differences of the ledger's samples.

use std::collections::BTreeSet;

use fsdyno_results::Node;
use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{
    BlockDevice, DeviceCounters, Layer, LayerCounters, Ledger, LedgerSample, NfsOperation, ProcessCounters,
    SocketCounters, StorageClass,
};

use super::moved::{self, Moved};
use super::row::{DirectionTotals, FuseBackend, JobInStage};
use fsdyno_results::Transfer;

/// Differences between the first and the last sample of a stage.
pub(crate) struct Flow<'r> {
    pub(crate) begin: &'r LedgerSample,
    pub(crate) end: &'r LedgerSample,
    /// Wall time between the two samples, s.
    pub(crate) seconds: f64,
    /// The part of it until the last worker ended, s: the last sample is later, which matters in short stages.
    pub(crate) reading_seconds: f64,
    /// What the workers read and wrote, including the ramp.
    pub(crate) application: LayerCounters,
    /// The devices below the rows' files, summed; `None`: not visible, none, or also below other files.
    pub(crate) device: Option<Queue>,
    pub(crate) process: Option<ProcessCounters>,
    /// What the devices moved for the run's control group.
    pub(crate) group: Option<ReadWrite<u64>>,
    /// What the storage moved for the run, by the most exact counter; `None`: not visible.
    pub(crate) storage: ReadWrite<Option<Moved>>,
    /// Whether others moved a relevant number of bytes on the devices before the run.
    pub(crate) foreign_before: bool,
    /// What crossed the network to the server; `None`: not visible, or there is no server.
    pub(crate) wire: Option<Wire<'r>>,
    pub(crate) daemon: Option<Daemon>,
}

/// The counters of a FUSE mount's daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Daemon {
    /// Bytes that it and its helpers read from local storage, and bytes of pages that they made dirty there.
    pub(crate) storage: Option<ReadWrite<u64>>,
    /// CPU time, ns.
    pub(crate) cpu_ns: Option<u64>,
    /// Bytes of the daemon's own connections; `None`: not visible, or a connection closed between two samples.
    pub(crate) sockets: Option<ReadWrite<u64>>,
}

/// The queues of devices, summed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Queue {
    /// The devices' names: `vda`, `sda+sdb`.
    pub(crate) name: String,
    pub(crate) done: LayerCounters,
    pub(crate) weighted_ms: u64,
}

/// The traffic of network and FUSE mounts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wire<'r> {
    pub(crate) witness: &'r str,
    pub(crate) bytes: ReadWrite<u64>,
    pub(crate) exclusive: bool,
    pub(crate) asked: Option<ReadWrite<u64>>,
    /// Whether others' bytes over the same mount cannot be told from the run's: not everything that was asked of the
    /// mount crossed the network.
    pub(crate) shared: ReadWrite<bool>,
    /// Number of requests by NFS operation.
    pub(crate) operations: Vec<(&'r str, u64)>,
}

impl<'r> Flow<'r> {
    pub(super) fn of(ledger: &'r Ledger, stage: u32, rows: &[JobInStage<'r>]) -> Option<Flow<'r>> {
        let mut samples = ledger.samples.iter().filter(|sample| sample.stage == stage);
        let (begin, end) = (samples.next()?, samples.next_back()?);
        Flow::between(ledger, (begin, end), rows)
    }

    /// The same without the ramp, from the first sample after it on; the whole where no sample separates them.
    pub(crate) fn without_ramp(&self, ledger: &'r Ledger, rows: &[JobInStage<'r>]) -> Option<Flow<'r>> {
        let workers = rows.iter().flat_map(|row| &row.workers);
        let measured_ms = self.begin.at_ms.saturating_add(workers.map(|worker| worker.plan.ramp_ms).max().unwrap_or(0));
        let is_measured = |sample: &&LedgerSample| {
            sample.stage == self.begin.stage && (measured_ms..self.end.at_ms).contains(&sample.at_ms)
        };
        let begin = ledger.samples.iter().find(is_measured).unwrap_or(self.begin);
        Flow::between(ledger, (begin, self.end), rows)
    }

    fn between(
        ledger: &'r Ledger,
        (begin, end): (&'r LedgerSample, &'r LedgerSample),
        rows: &[JobInStage<'r>],
    ) -> Option<Flow<'r>> {
        let class = rows.first()?.class();
        let one_class = rows.iter().all(|row| row.class() == class);
        let fuse = class == StorageClass::Fuse;
        let has_device = fuse || matches!(class, StorageClass::Block | StorageClass::Device | StorageClass::Unknown);
        let application = layer(&end.application, &begin.application);
        let backends: Vec<FuseBackend> = rows.iter().map(|row| row.fuse_backend(connected(end))).collect();
        let all_are = |wanted| backends.iter().all(|backend| *backend == wanted);
        let crossed = wire(begin, end).map(|wire| wire.beside_others(&application, rows)).filter(|wire| match class {
            StorageClass::Network | StorageClass::Unknown => true,
            // A daemon without a server has no network traffic, whatever others move over the interfaces.
            StorageClass::Fuse if all_are(FuseBackend::Server) => true,
            // A daemon that may have no server has one if its connections carried bytes.
            StorageClass::Fuse if all_are(FuseBackend::Unknown) => {
                wire.bytes.sum() as f64 >= application.bytes.sum() as f64 * moved::ALL
            }
            _ => false,
        });
        let seconds = end.at_ms.saturating_sub(begin.at_ms) as f64 / 1000.0;
        Some(Flow {
            begin,
            end,
            seconds,
            reading_seconds: reading_seconds(seconds, rows),
            application,
            device: if one_class && has_device { queue(begin, end, rows) } else { None },
            process: begin.process.value().zip(end.process.value()).map(|(begin, end)| process(end, begin)),
            group: begin.group.zip(end.group).map(|(begin, end)| end.since(begin)),
            storage: ReadWrite::default(),
            foreign_before: foreign_before(ledger, end, seconds),
            wire: crossed.filter(|_| one_class),
            daemon: daemon(begin, end),
        })
    }

    /// Adds what the storage moved for these rows.
    pub(super) fn with_storage(self, node: &Node, rows: &[JobInStage<'_>]) -> Flow<'r> {
        let storage = moved::of_rows(&self, node, rows);
        Flow { storage, ..self }
    }
}

/// A longer rest than this is not due to the interval of the samples: a worker waited or started late, s.
const LOOK_SECONDS_MAX: f64 = 0.5;

fn reading_seconds(seconds: f64, rows: &[JobInStage<'_>]) -> f64 {
    let workers = rows.iter().flat_map(|row| &row.workers);
    let longest_ms = workers.map(|worker| worker.plan.ramp_ms.saturating_add(worker.job_runtime_ms)).max().unwrap_or(0);
    let longest = longest_ms as f64 / 1000.0;
    if (0.0..LOOK_SECONDS_MAX).contains(&(seconds - longest)) { longest } else { seconds }
}

impl<'r> Flow<'r> {
    /// What a device at any level of the stack moved; `None`: not visible.
    pub(crate) fn moved(&self, device: &str) -> Option<ReadWrite<u64>> {
        let bytes = |sample| self.counters(sample, device).map(|known| known.done.bytes);
        Some(bytes(self.end)?.since(bytes(self.begin)?))
    }

    /// The counters of a device at any level of the stack in a sample.
    pub(super) fn counters<'s>(&self, sample: &'s LedgerSample, device: &str) -> Option<&'s DeviceCounters> {
        let leaves = sample.devices.value().map_or(&[][..], Vec::as_slice);
        leaves.iter().chain(&sample.stacked_devices).find(|known| known.name == device)
    }

    /// Requests of the devices for each byte that they moved; `None`: not visible, or others moved a part of them.
    pub(crate) fn device_requests_per_byte(&self, direction: Transfer) -> Option<f64> {
        let done = self.device.as_ref()?.done;
        let (bytes, own) = (done.bytes[direction], self.application.bytes[direction]);
        (bytes > 0 && !moved::has_others(bytes, own)).then(|| done.operations[direction] as f64 / bytes as f64)
    }

    /// Number of flushes that a device received; `None`: it does not count them.
    pub(crate) fn flushes(&self, device: &str) -> Option<u64> {
        let count = |sample| self.counters(sample, device).and_then(|known| known.flushes);
        Some(count(self.end)?.saturating_sub(count(self.begin)?))
    }

    /// What the devices below a loop device's file moved; `None`: there are none, or one is not visible.
    pub(crate) fn below_image(&self, device: &Layer) -> Option<ReadWrite<u64>> {
        let devices = device.devices_below();
        let moved: Option<Vec<_>> = devices.iter().map(|below| self.moved(&below.name)).collect();
        moved
            .filter(|moved| !moved.is_empty())
            .map(|moved| moved.into_iter().fold(ReadWrite::default(), ReadWrite::plus))
    }

    /// Replaces the application's bytes by those of these rows, which leave out the ramp.
    pub(super) fn of_rows(self, rows: &[JobInStage<'_>]) -> Flow<'r> {
        let sum = |part: fn(DirectionTotals) -> u64| {
            let of = |row: &JobInStage<'_>| {
                ReadWrite { read: row.done(Transfer::Read), write: row.done(Transfer::Write) }.map(part)
            };
            rows.iter().map(of).fold(ReadWrite::default(), ReadWrite::plus)
        };
        let application = LayerCounters { bytes: sum(|done| done.bytes), operations: sum(|done| done.ios) };
        Flow { application, ..self }
    }
}

impl Queue {
    /// Mean number of requests in flight over this time.
    pub(crate) fn depth(&self, seconds: f64) -> Option<f64> {
        (seconds > 0.0).then(|| self.weighted_ms as f64 / 1000.0 / seconds)
    }
}

impl Wire<'_> {
    /// Sets whether the bytes on the wire may include others'; a whole interface is judged elsewhere.
    fn beside_others(self, application: &LayerCounters, rows: &[JobInStage<'_>]) -> Self {
        let Some(asked) = self.asked else { return self };
        let shared = |direction: Transfer| {
            let (asked, crossed) = (asked[direction], self.bytes[direction]);
            let own = application.bytes[direction];
            let missing = asked.saturating_sub(crossed) as f64 > own as f64 * (1.0 - moved::ALL);
            moved::has_others(asked, own) && missing
                || moved::has_others(crossed, asked.max(moved::own_max(application, direction, rows)))
        };
        let shared = ReadWrite { read: shared(Transfer::Read), write: shared(Transfer::Write) };
        Wire { shared, ..self }
    }

    /// Number of requests of these operations.
    pub(crate) fn requests(&self, names: &[&str]) -> u64 {
        self.operations
            .iter()
            .filter(|(name, _)| names.contains(name))
            .fold(0, |sum, (_, requests)| sum.saturating_add(*requests))
    }
}

/// Whether others' bytes, at their rate before the run, would exceed what is ignored.
fn foreign_before(ledger: &Ledger, end: &LedgerSample, seconds: f64) -> bool {
    let rate = ledger.machine.foreign_bytes_per_s.value().map_or(0.0, |rate| rate.read + rate.write);
    moved::has_others(end.application.bytes.sum().saturating_add((rate * seconds) as u64), end.application.bytes.sum())
}

fn layer(end: &LayerCounters, begin: &LayerCounters) -> LayerCounters {
    LayerCounters { bytes: end.bytes.since(begin.bytes), operations: end.operations.since(begin.operations) }
}

fn process(end: &ProcessCounters, begin: &ProcessCounters) -> ProcessCounters {
    ProcessCounters {
        call_bytes: end.call_bytes.since(begin.call_bytes),
        storage_bytes: end.storage_bytes.since(begin.storage_bytes),
        cpu_ns: end.cpu_ns.saturating_sub(begin.cpu_ns),
    }
}

/// The devices below the rows' storages; all devices of the ledger where the storages do not name theirs.
fn queue(begin: &LedgerSample, end: &LedgerSample, rows: &[JobInStage<'_>]) -> Option<Queue> {
    let (before, after) = (begin.devices.value()?, end.devices.value()?);
    let mut known = BTreeSet::new();
    let storages = rows.iter().flat_map(JobInStage::parts).map(|part| part.storage);
    known.extend(storages.filter_map(|storage| storage.devices.value()).flatten().flat_map(names));
    let behind: Vec<&DeviceCounters> = after.iter().filter(|device| known.contains(device.name.as_str())).collect();
    // The devices below a daemon's files need not be in the ledger.
    let is_fuse = rows.iter().any(|row| row.class() == StorageClass::Fuse);
    let behind = if behind.is_empty() && !is_fuse { after.iter().collect() } else { behind };
    let mut queue = Queue::default();
    for device in behind {
        let then = before.iter().find(|then| then.name == device.name)?;
        let done = layer(&device.done, &then.done);
        queue.done.bytes = queue.done.bytes.plus(done.bytes);
        queue.done.operations = queue.done.operations.plus(done.operations);
        let weighted_ms = device.weighted_ms.saturating_sub(then.weighted_ms);
        queue.weighted_ms = queue.weighted_ms.saturating_add(weighted_ms);
        queue.name =
            if queue.name.is_empty() { device.name.clone() } else { format!("{}+{}", queue.name, device.name) };
    }
    (!queue.name.is_empty()).then_some(queue)
}

/// The names of a device and of those below it.
fn names(device: &BlockDevice) -> Vec<&str> {
    std::iter::once(device.name.as_str()).chain(device.slaves.iter().flat_map(names)).collect()
}

fn wire<'r>(begin: &'r LedgerSample, end: &'r LedgerSample) -> Option<Wire<'r>> {
    let (then, now) = (begin.wire.value()?, end.wire.value()?);
    let both =
        |now: Option<ReadWrite<u64>>, then: Option<ReadWrite<u64>>| now.zip(then).map(|(now, then)| now.since(then));
    let requests = |operation: &'r NfsOperation| {
        let before = then.nfs_operations.iter().find(|before| before.name == operation.name);
        (operation.name.as_str(), operation.operations.saturating_sub(before.map_or(0, |before| before.operations)))
    };
    Some(Wire {
        witness: &now.witness,
        bytes: now.bytes.since(then.bytes),
        exclusive: now.exclusive,
        asked: both(now.nfs_asked_bytes, then.nfs_asked_bytes),
        shared: ReadWrite::default(),
        operations: now.nfs_operations.iter().map(requests).collect(),
    })
}

fn daemon(begin: &LedgerSample, end: &LedgerSample) -> Option<Daemon> {
    let (then, now) = (begin.wire.value()?, end.wire.value()?);
    Some(Daemon {
        storage: now.daemon_storage_bytes.zip(then.daemon_storage_bytes).map(|(now, then)| now.since(then)),
        cpu_ns: now.daemon_cpu_ns.zip(then.daemon_cpu_ns).map(|(now, then)| now.saturating_sub(then)),
        sockets: sockets(then.daemon_sockets.value(), now.daemon_sockets.value()),
    })
}

/// Whether the daemon has connections; `None`: not visible.
pub(crate) fn connected(sample: &LedgerSample) -> Option<bool> {
    sample.wire.value()?.daemon_sockets.value().map(|sockets| sockets.open + sockets.closed > 0)
}

/// The bytes of the daemon's connections. Without any connection it reaches its server in another way: `None`.
fn sockets(begin: Option<&SocketCounters>, end: Option<&SocketCounters>) -> Option<ReadWrite<u64>> {
    let (begin, end) = (begin?, end?);
    (end.open > 0 && end.closed == begin.closed).then(|| end.bytes.since(begin.bytes))
}
