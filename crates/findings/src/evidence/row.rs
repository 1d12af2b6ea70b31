//! A row: the workers of one job in one stage.

use std::path::Path;

use fsdyno_job::EngineName;
use fsdyno_results::evidence::{DirectIo, InMemory, Layer, Storage, StorageClass};
use fsdyno_results::{Access, Direction, DirectionRecord, JobRecord, Latency, Node, Transfer};

/// A shorter run cannot be judged by counters: the time of a sample is some ms off, ms.
const JUDGEABLE_MS: u64 = 200;
/// Least I/Os of a row that can be judged; readahead and metadata do as many.
const JUDGEABLE_IOS: u64 = 64;
/// Least bytes of a row that can be judged, as `JUDGEABLE_IOS`.
const JUDGEABLE_BYTES: u64 = 16 << 20;

/// Most values of a series that are tested: the tests take quadratic time.
const VALUES_MAX: usize = 400;

/// The workers of one job in one stage.
pub(crate) struct JobInStage<'r> {
    pub(crate) name: &'r str,
    pub(crate) workers: Vec<&'r JobRecord>,
    /// The storage on which most of its bytes lie.
    pub(crate) storage: Option<&'r Storage>,
    node: &'r Node,
    parts: Vec<FilesOn<'r>>,
}

/// The files of a row that lie on one storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilesOn<'r> {
    pub(crate) storage: &'r Storage,
    pub(crate) files: u64,
    /// Bytes that the row may touch; bytes shared by several workers count for each.
    pub(crate) bytes: u64,
}

/// Where the data of a FUSE mount comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FuseBackend {
    /// A server behind a network.
    Server,
    /// The daemon itself, from files or devices of this machine.
    ThisMachine,
    /// Not visible.
    Unknown,
}

/// Daemons that usually have a server, even if their command line does not name it. Being listed is no proof of a
/// server.
const MOSTLY_WITH_SERVER: [&str; 16] = [
    "s3fs",
    "sshfs",
    "juicefs",
    "rclone",
    "gcsfuse",
    "goofys",
    "geesefs",
    "glusterfs",
    "ceph-fuse",
    "curlftpfs",
    "davfs",
    "mount-s3",
    "mountpoint-s3",
    "blobfuse",
    "blobfuse2",
    "weed",
];

/// What a row did in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DirectionTotals {
    pub(crate) bytes: u64,
    pub(crate) ios: u64,
    pub(crate) runtime_ms: f64,
}

impl DirectionTotals {
    pub(crate) fn bytes_per_s(self) -> f64 {
        self.per_s(self.bytes)
    }

    pub(crate) fn ios_per_s(self) -> f64 {
        self.per_s(self.ios)
    }

    fn per_s(self, amount: u64) -> f64 {
        if self.runtime_ms == 0.0 { 0.0 } else { amount as f64 * 1000.0 / self.runtime_ms }
    }
}

/// The engine; `None`: one of another program or version.
fn engine(worker: &JobRecord) -> Option<EngineName> {
    EngineName::named(&worker.setup.engine)
}

/// Whether the engine touches no file.
pub(crate) fn touches_nothing(worker: &JobRecord) -> bool {
    engine(worker).is_some_and(|engine| !engine.has_paths() && !engine.reaches_objects())
}

/// Whether the engine's requests move data to or from a storage, as far as it is known.
pub(super) fn moves_data(worker: &JobRecord) -> bool {
    engine(worker).is_none_or(|engine| engine.moves_data() || engine.reaches_objects())
}

/// Whether the engine's requests are operations on names, or on the space of files.
pub(super) fn works_on_names(worker: &JobRecord) -> bool {
    !moves_data(worker) && !touches_nothing(worker)
}

impl<'r> JobInStage<'r> {
    pub(super) fn new(node: &'r Node, worker: &'r JobRecord) -> JobInStage<'r> {
        let storage = worker.plan.files.first().and_then(|path| storage_of(node, path)).or(match &node.storages[..] {
            [only] => Some(only),
            _ => None,
        });
        let mut row = JobInStage { name: &worker.name, workers: Vec::new(), storage, node, parts: Vec::new() };
        row.add(worker);
        row
    }

    /// Adds another worker of the same job.
    pub(super) fn add(&mut self, worker: &'r JobRecord) {
        self.workers.push(worker);
        for part in &worker.plan.parts {
            // A damaged record may contain any index.
            let Some(storage) = self.node.storages.get(part.storage) else { continue };
            match self.parts.iter_mut().find(|known| std::ptr::eq(known.storage, storage)) {
                Some(known) => {
                    known.files = known.files.saturating_add(part.files);
                    known.bytes = known.bytes.saturating_add(part.bytes);
                }
                None => self.parts.push(FilesOn { storage, files: part.files, bytes: part.bytes }),
            }
        }
        let largest = self.parts.iter().reduce(|one, other| if other.bytes > one.bytes { other } else { one });
        self.storage = largest.map(|part| part.storage).or(self.storage);
    }

    /// The row's files by storage. Older records know one storage for all files.
    pub(crate) fn parts(&self) -> Vec<FilesOn<'r>> {
        let whole = || {
            let files = self.workers.iter().fold(0u64, |sum, worker| sum.saturating_add(worker.plan.file_count));
            self.storage.map(|storage| FilesOn { storage, files, bytes: self.span_bytes().unwrap_or(0) })
        };
        if self.parts.is_empty() { whole().into_iter().collect() } else { self.parts.clone() }
    }

    /// Whether its files lie on storages of different classes: then no layer saw all bytes.
    pub(crate) fn is_mixed(&self) -> bool {
        let kind = |part: &FilesOn<'_>| (part.storage.class, part.storage.in_memory() == Some(InMemory::All));
        self.parts.iter().any(|part| kind(part) != kind(&self.parts[0]))
    }

    /// The first worker: all workers have the same plan and setup except for the files.
    pub(crate) fn first(&self) -> &'r JobRecord {
        self.workers[0]
    }

    pub(crate) fn class(&self) -> StorageClass {
        self.storage.map_or(StorageClass::Unknown, |storage| storage.class)
    }

    /// What answers for the row's files behind a FUSE daemon. `connected`: whether the daemon has connections, if
    /// visible.
    pub(crate) fn fuse_backend(&self, connected: Option<bool>) -> FuseBackend {
        let Some(storage) = self.storage else { return FuseBackend::Unknown };
        let fuse = storage.fuse.as_ref();
        let known = fuse.and_then(|fuse| fuse.kind.as_deref()).is_some_and(|kind| MOSTLY_WITH_SERVER.contains(&kind));
        let named = storage.server.is_some() || fuse.is_some_and(|fuse| fuse.url.is_some());
        let has_devices = storage.devices.value().is_some_and(|devices| !devices.is_empty());
        match connected {
            _ if named => FuseBackend::Server,
            Some(true) => FuseBackend::Server,
            _ if has_devices => FuseBackend::ThisMachine,
            _ if known => FuseBackend::Unknown,
            Some(false) => FuseBackend::ThisMachine,
            None => FuseBackend::Unknown,
        }
    }

    /// Whether the daemon's command line asks for a cache in memory or files.
    pub(crate) fn names_a_cache(&self) -> bool {
        self.storage.and_then(|storage| storage.fuse.as_ref()).is_some_and(|fuse| fuse.cache.is_some())
    }

    /// The loop devices among all layers of its files.
    pub(crate) fn loops(&self) -> Vec<&'r Layer> {
        self.parts().into_iter().flat_map(|part| part.storage.loops()).collect()
    }

    pub(crate) fn engine(&self) -> Option<EngineName> {
        engine(self.first())
    }

    /// Whether its files are mapped, so that the page cache serves them even with direct I/O.
    pub(crate) fn maps_files(&self) -> bool {
        self.engine().is_some_and(EngineName::maps_files)
    }

    /// The access of the workload itself, without verification.
    fn access(&self) -> Access {
        self.first().setup.access
    }

    pub(crate) fn reads(&self) -> bool {
        self.access().reads
    }

    pub(crate) fn writes(&self) -> bool {
        self.access().writes
    }

    pub(crate) fn random(&self) -> bool {
        self.access().random
    }

    /// Whether it uses O_DIRECT; `None`: not known.
    pub(crate) fn direct(&self) -> Option<bool> {
        self.first().plan.direct
    }

    /// Whether its filesystem lacks direct I/O: then advice to use it cannot be followed.
    pub(crate) fn cannot_be_direct(&self) -> bool {
        self.storage.is_some_and(|storage| storage.direct_io.value() == Some(&DirectIo::Refused))
    }

    /// Whether it is known to use the page cache.
    pub(crate) fn buffered(&self) -> bool {
        self.direct() == Some(false)
    }

    /// Whether a sync waits for the written data, at the end or before.
    pub(crate) fn synced(&self) -> bool {
        let plan = &self.first().plan;
        self.writes() && (plan.end_sync || plan.synchronous || plan.sync_every_writes == 1)
    }

    /// Whether syncs occur between its writes, or writes are themselves synced.
    pub(crate) fn syncs_between(&self) -> bool {
        self.first().plan.synchronous || self.first().plan.sync_every_writes > 0
    }

    /// Least number of bytes that the storage must have received once everything is synced. It counts each block once:
    /// how often random writes, or several workers, hit the same block is unknown.
    pub(crate) fn durable_bytes_min(&self) -> u64 {
        let plan = &self.first().plan;
        let one_by_one = plan.synchronous || plan.sync_every_writes == 1 || self.direct() == Some(true);
        let of = |worker: &&JobRecord| {
            let written = worker.directions.write.bytes;
            let once = written.min(worker.plan.span_bytes.unwrap_or(0));
            match (one_by_one, self.random()) {
                (true, _) => written,
                (false, false) => once,
                (false, true) => once / 100,
            }
        };
        self.workers.iter().map(of).max().unwrap_or(0)
    }

    /// iodepth over all workers.
    pub(crate) fn depth_asked(&self) -> u64 {
        self.workers.iter().map(|worker| u64::from(worker.setup.depth)).sum()
    }

    /// Whether a pace limits the rate on purpose.
    pub(crate) fn paced(&self) -> bool {
        self.first().plan.paced || self.first().setup.latency_target_ns > 0
    }

    /// Whether separate threads make the calls, by the options or by what the engine did.
    pub(crate) fn offloads(&self) -> bool {
        let asked = |(name, mode): &(String, String)| name == "io_submit_mode" && mode == "offload";
        self.first().options.iter().any(asked) || self.first().engine_ways.iter().any(|way| way == "offload-threads")
    }

    fn directions(&self) -> impl Iterator<Item = (Direction, &'r DirectionRecord)> {
        self.workers.iter().flat_map(|worker| worker.directions.iter())
    }

    /// Requests are counted at their completion, as the answer's table counts them.
    pub(crate) fn done(&self, direction: Transfer) -> DirectionTotals {
        let direction = direction.into();
        let runtime_ms = self.time_ms(direction);
        self.workers.iter().fold(DirectionTotals::default(), |sum, worker| DirectionTotals {
            bytes: sum.bytes.saturating_add(worker.directions[direction].bytes),
            ios: sum.ios.saturating_add(worker.completed_ios(direction)),
            runtime_ms,
        })
    }

    /// Time of all workers in this direction, ms; for writes with a sync at the end, until they are durable.
    pub(crate) fn time_ms(&self, direction: Direction) -> f64 {
        let durable = self.workers.iter().any(|worker| direction == Direction::Write && worker.durable_s().is_some());
        let close_ns = self.workers.iter().filter_map(|worker| worker.close_ns).max().filter(|_| durable);
        let runtime_ms = self.workers.iter().map(|worker| worker.directions[direction].runtime_ms).max();
        runtime_ms.unwrap_or(0) as f64 + close_ns.unwrap_or(0) as f64 / 1e6
    }

    /// Bytes per second, reads and writes, as in `done`.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.done(Transfer::Read).bytes_per_s() + self.done(Transfer::Write).bytes_per_s()
    }

    /// Number of reads, writes and trims, as in `done`.
    pub(crate) fn ios(&self) -> u64 {
        let of = |worker: &&JobRecord| Direction::ALL.map(|direction| worker.completed_ios(direction));
        self.workers.iter().flat_map(of).fold(0, u64::saturating_add)
    }

    pub(crate) fn runtime_ms(&self) -> u64 {
        self.directions().map(|(_, one)| one.runtime_ms).max().unwrap_or(0)
    }

    /// Whether it was long enough, did enough I/Os and ended without an error, so that its counters can be judged.
    pub(crate) fn judgeable(&self) -> bool {
        let bytes = self.done(Transfer::Read).bytes.saturating_add(self.done(Transfer::Write).bytes);
        self.runtime_ms() >= JUDGEABLE_MS
            && (self.ios() >= JUDGEABLE_IOS || bytes >= JUDGEABLE_BYTES)
            && self.ended_well()
    }

    /// Whether it ended without an error.
    pub(crate) fn ended_well(&self) -> bool {
        self.workers.iter().all(|worker| worker.error.is_none())
    }

    /// Bytes that the row may touch, each file counted once; `None`: not known.
    pub(crate) fn span_bytes(&self) -> Option<u64> {
        let mut spans: Vec<(&[String], u64, u64)> = Vec::new();
        for worker in &self.workers {
            let plan = &worker.plan;
            let span = (&plan.files[..], plan.offset_bytes, plan.span_bytes?);
            if !spans.contains(&span) {
                spans.push(span);
            }
        }
        Some(spans.iter().fold(0u64, |sum, (_, _, bytes)| sum.saturating_add(*bytes)))
    }

    /// Mean slat of all requests, ns; `None`: not recorded.
    pub(crate) fn slat_ns(&self) -> Option<f64> {
        self.mean_ns(|direction| &direction.slat)
    }

    /// Mean clat of all requests, ns; `None`: not recorded.
    pub(crate) fn clat_ns(&self) -> Option<f64> {
        self.mean_ns(|direction| &direction.clat)
    }

    fn mean_ns(&self, latency: impl Fn(&DirectionRecord) -> &Latency) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, direction) in self.directions() {
            let moments = &latency(direction).moments;
            // In floating point, because the sum of a foreign record may be any number.
            sum += moments.sum as f64;
            count += moments.count as f64;
        }
        (count > 0.0).then_some(sum / count)
    }

    /// Bytes per second over the run, all directions and workers, as long as all workers have values.
    pub(crate) fn rates(&self) -> Rates {
        let series: Vec<Vec<f64>> = self.workers.iter().map(|worker| worker_rates(worker)).collect();
        let seconds = series.iter().map(Vec::len).min().unwrap_or(0);
        let each: Vec<f64> = (0..seconds).map(|second| series.iter().map(|rates| rates[second]).sum()).collect();
        let step_s = each.len().div_ceil(VALUES_MAX).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        Rates { step_s, values: each.chunks_exact(step_s).map(mean).collect() }
    }
}

/// A rate over the run.
pub(crate) struct Rates {
    /// Seconds between two values.
    pub(crate) step_s: usize,
    pub(crate) values: Vec<f64>,
}

/// One worker's bytes per second, for each whole second.
fn worker_rates(worker: &JobRecord) -> Vec<f64> {
    let used = worker.directions.iter().filter(|(_, direction)| direction.ios > 0);
    let series: Vec<Vec<f64>> = used.map(|(_, direction)| whole_seconds(&direction.bandwidth_samples.series)).collect();
    let seconds = series.iter().map(Vec::len).min().unwrap_or(0);
    (0..seconds).map(|second| series.iter().map(|rates| rates[second]).sum::<f64>() * 1024.0).collect()
}

/// The mean of the values in each second, up to the first second without any.
fn whole_seconds(series: &[(u64, u64)]) -> Vec<f64> {
    let mut seconds = Vec::new();
    let mut rest = series;
    loop {
        let until_ms = (seconds.len() as u64 + 1) * 1000;
        // Windows end some ms late.
        let inside = rest.iter().take_while(|(at_ms, _)| *at_ms < until_ms + 250).count();
        let (now, later) = rest.split_at(inside);
        if now.is_empty() {
            return seconds;
        }
        seconds.push(now.iter().map(|(_, value)| *value as f64).sum::<f64>() / now.len() as f64);
        rest = later;
    }
}

/// The storage of a path: the one with the longest mount point above it.
fn storage_of<'r>(node: &'r Node, path: &str) -> Option<&'r Storage> {
    let mounted_at = |storage: &&'r Storage| storage.mount.value().map(|mount| mount.mount_point.as_path());
    let above = |storage: &&'r Storage| {
        storage.asked_path == path || mounted_at(storage).is_some_and(|mount| Path::new(path).starts_with(mount))
    };
    let depth = |mount: &'r Path| mount.components().count();
    let closeness = |storage: &&'r Storage| (storage.asked_path == path, mounted_at(storage).map_or(0, depth));
    let found = node.storages.iter().filter(above).max_by_key(closeness);
    match (found, &node.storages[..]) {
        (None, [only]) => Some(only),
        (found, _) => found,
    }
}
