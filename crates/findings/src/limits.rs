//! Determines what limited a run: a control group, link, round trip, server, device, this machine's CPUs, a cache, or
//! memory. A limit is named only if counters of that layer show it.

mod between;
mod network;
mod nodes;
mod phrase;
mod study;

use fsdyno_results::evidence::{InMemory, StorageClass};
use fsdyno_results::{Finding, JobRecord, Latency, Moments, Pace, PerDirection, RunRecord, Severity};
use fsdyno_stats::FALLS_BEHIND;

use crate::evidence::{Evidence, Flow, JobInStage, Stage, Transfer};
use crate::traps::throttled::LimitedQuantity;
use crate::traps::{cpu_starved, foreign_load, memory_limit, throttled};
use crate::units::counted;

pub use between::{Attribution, Culprit, between};
pub use network::NfsTimes;
pub use nodes::of_run;
pub use phrase::{Phrase, RANGE_TIMES_MAX};
pub use study::{Limited, in_groups, of_study};

use phrase::{latency, number, percent, rate};

/// What can limit a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limiter {
    /// A cache answered or took the bytes: the storage was not at work.
    Cache,
    /// The CPU time that the control group allows (cpu.max).
    CpuQuota,
    /// The bytes or I/Os per second that the control group allows (io.max).
    IoThrottle,
    /// The memory that the control group allows for its page cache (memory.max, memory.high).
    MemoryLimit,
    /// The rate that the job asks for.
    Rate,
    /// The job's think time: its pauses between requests.
    ThinkTime,
    /// Other programs' use of the device.
    OtherLoad,
    /// The network's data rate.
    Link,
    /// The network's round trip.
    RoundTrip,
    /// The rate of the server's own link, which several clients share.
    ServerLink,
    /// The server's work for each request.
    Server,
    /// The server or the link; the link's speed is not known.
    ServerOrLink,
    /// The client's queue of requests.
    ClientQueue,
    /// This machine's CPUs.
    ClientProcessor,
    /// The block device.
    Device,
    /// Memory: there is no device.
    Memory,
}

impl Limiter {
    /// The finding about the same limit; its next step is the one to take.
    pub fn finding(self) -> Option<&'static str> {
        match self {
            Limiter::CpuQuota | Limiter::ClientProcessor => Some(cpu_starved::ID),
            Limiter::IoThrottle => Some(throttled::ID),
            Limiter::MemoryLimit => Some(memory_limit::ID),
            Limiter::OtherLoad => Some(foreign_load::ID),
            _ => None,
        }
    }

    /// How to raise what the control group allows; `None`: the limit is none of a control group's.
    pub fn raise(self) -> Option<&'static str> {
        match self {
            Limiter::CpuQuota => Some(cpu_starved::RAISE),
            Limiter::IoThrottle => Some(throttled::RAISE),
            Limiter::MemoryLimit => Some(memory_limit::RAISE),
            _ => None,
        }
    }

    /// Whether the limit lies between this machine and the server. The next step is then to inspect the mount and its link.
    pub fn is_of_network(self) -> bool {
        matches!(self, Limiter::Link | Limiter::ServerLink | Limiter::ServerOrLink | Limiter::RoundTrip)
    }

    /// The limit's name.
    pub fn word(self) -> &'static str {
        match self {
            Limiter::Cache => "a cache",
            Limiter::CpuQuota => "the control group's CPU limit",
            Limiter::IoThrottle => "the control group's I/O limit",
            Limiter::MemoryLimit => "the control group's memory limit",
            Limiter::Rate => "the job's own rate",
            Limiter::ThinkTime => "the job's own think time",
            Limiter::OtherLoad => "other load on the device",
            Limiter::Link => "the link",
            Limiter::RoundTrip => "the network's round trip",
            Limiter::ServerLink => "the server's link",
            Limiter::Server => "the server",
            Limiter::ServerOrLink => "the server or the link's rate",
            Limiter::ClientQueue => "the client's request queue",
            Limiter::ClientProcessor => "this machine's CPUs",
            Limiter::Device => "the device",
            Limiter::Memory => "memory and CPUs",
        }
    }
}

/// What limited a run, and the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The limit.
    pub limiter: Limiter,
    /// The figures that show it, as the end of a sentence: `118 MB/s of its 125 MB/s crossed it`.
    pub evidence: Phrase,
}

/// One CPU or all of them are the limit from this share of their time on …
const BUSY: f64 = 0.9;

/// … if workers or daemon used or waited for a CPU during this share of the time.
const WANTED: f64 = 0.2;

/// Think time is the limit from this share of a job's time on.
const THOUGHT: f64 = 0.5;

/// A device is the limit if it was busy for this share of the time …
const DEVICE_BUSY: f64 = 0.9;
/// … or if this share of the iodepth was in its queue.
const QUEUE_FILLED: f64 = 0.7;

/// A queue longer than the iodepth by more than this is others': the kernel's coarse clock does not explain it.
const MORE_THAN_ASKED: f64 = 1.1;

/// Findings which say that the bytes did not come from the storage.
const CACHES: [&str; 9] = [
    "page-cache",
    "fuse-cache",
    "nfs-data-cache",
    "writes-in-memory",
    "above-link-speed",
    "unwritten-data",
    "direct-not-honoured",
    "host-cache",
    "sync-ignored",
];

/// What limited the first job on this node, or why that is not visible.
pub(crate) fn of_node(record: &RunRecord, evidence: &Evidence<'_>) -> Result<Limit, &'static str> {
    let stage = evidence.stages.first().ok_or(UNWATCHED)?;
    let row = stage.rows.first().ok_or(UNWATCHED)?;
    if row.paced() {
        let pace = own_pace(row).ok_or("the job's own rate limit or think time set the pace")?;
        // Without a pace, or below it, the layers below may show the limit.
        if let Ok(limit) = pace {
            return Ok(limit);
        }
    }
    if let Some(finding) = record
        .findings
        .iter()
        .filter(|finding| evidence.concerns(finding.node.as_deref()))
        .find(|finding| finding.severity == Severity::Invalid && CACHES.contains(&finding.id.as_str()))
    {
        return Ok(Limit { limiter: Limiter::Cache, evidence: Phrase::new(&finding.cause, []) });
    }
    let flow = stage.flow.as_ref().ok_or(UNWATCHED)?;
    if !row.judgeable() {
        // The mount times each request: a few slow ones are enough.
        return network::requests(row, flow).filter(|_| row.ended_well()).ok_or("the run did too little I/O");
    }
    // A control group that throttles leaves every lower layer idle, or busy for others.
    if let Some(limit) = control_group(evidence, stage, row, flow) {
        return Ok(limit);
    }
    let limit = match row.class() {
        _ if in_memory(row) => Some(memory(row)),
        StorageClass::Network | StorageClass::Fuse => network::link(row, flow)
            .or_else(|| processors(stage, row, flow))
            .or_else(|| network::requests(row, flow))
            // A daemon without a server: its device.
            .or_else(|| device(row, flow)),
        _ => device(row, flow).or_else(|| processors(stage, row, flow)),
    };
    // If the device worked mostly for others, their load is the limit.
    let limit = limit.map(|limit| match foreign_load(record, evidence) {
        Some(cause) if limit.limiter == Limiter::Device => {
            Limit { limiter: Limiter::OtherLoad, evidence: Phrase::new(cause, []) }
        }
        _ => limit,
    });
    limit.ok_or(match row.class() {
        StorageClass::Fuse => "a FUSE daemon does not report what its requests wait for",
        _ if flow.device.is_none() && flow.wire.is_none() => UNWATCHED,
        _ => "no visible layer reached its limit",
    })
}

/// The cause of the foreign-load finding on this node, if the device moved more for others than for the run.
fn foreign_load<'r>(record: &'r RunRecord, evidence: &Evidence<'_>) -> Option<&'r str> {
    let here = |finding: &&Finding| evidence.concerns(finding.node.as_deref()) && finding.id == foreign_load::ID;
    let found = record.findings.iter().find(here)?;
    let foreign = found.numbers.iter().find(|number| number.name.starts_with(foreign_load::FOREIGN))?;
    let own = found.numbers.iter().find(|number| number.name.ends_with(foreign_load::OWN))?;
    (foreign.value > own.value).then_some(found.cause.as_str())
}

/// The limit that the job sets itself: a rate that it reached, or think time that filled its time. An error: the job
/// stayed below its pace for another reason. `None`: the job is not paced.
fn own_pace(row: &JobInStage<'_>) -> Option<Result<Limit, ()>> {
    let (mut bytes, mut ios, mut thought) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
    // All workers count over the same time, as in the table.
    let per_s = |amount: u64, direction| amount as f64 * 1e3 / row.time_ms(direction).max(1.0);
    for worker in &row.workers {
        let pace = pace_of(worker)?;
        for (direction, one) in worker.directions.iter().filter(|(_, one)| one.ios > 0) {
            if let Some(asked) = pace.bytes_per_s[direction] {
                bytes = (bytes.0 + asked as f64, bytes.1 + per_s(one.bytes, direction));
            }
            if let Some(asked) = pace.ios_per_s[direction] {
                ios = (ios.0 + asked as f64, ios.1 + per_s(worker.completed_ios(direction), direction));
            }
        }
        let done: u64 = worker.directions.iter().map(|(_, one)| one.ios).sum();
        let pauses = done as f64 / pace.think_ios.max(1) as f64;
        thought = (thought.0 + worker.job_runtime_ms as f64 * 1e6, thought.1 + pauses * pace.think_ns as f64);
    }
    let reached = |(asked, done): (f64, f64)| asked > 0.0 && done >= asked * FALLS_BEHIND;
    let share = (thought.1 / thought.0.max(1.0)).min(1.0);
    let (limiter, evidence) = match () {
        () if reached(bytes) => {
            (Limiter::Rate, Phrase::new("{} of the {} that it asks for", [rate(bytes.1), rate(bytes.0)]))
        }
        () if reached(ios) => {
            let words = "{} of the {} I/Os per second that it asks for";
            (Limiter::Rate, Phrase::new(words, [number(ios.1), number(ios.0)]))
        }
        () if share >= THOUGHT => {
            (Limiter::ThinkTime, Phrase::new("its pauses between requests took {} of the time", [percent(share)]))
        }
        () if bytes.0 + ios.0 + thought.1 > 0.0 => return Some(Err(())),
        () => return None,
    };
    Some(Ok(Limit { limiter, evidence }))
}

/// The kind of pace of a worker; older records only have the text of an IOPS rate.
fn pace_of(worker: &JobRecord) -> Option<Pace> {
    let of_words = || {
        let (_, rate) = worker.options.iter().rev().find(|(name, _)| name == "rate_iops")?;
        let asked = rate.parse::<f64>().ok()? as u64;
        let used = PerDirection::from_fn(|direction| (worker.directions[direction].ios > 0).then_some(asked));
        Some(Pace { ios_per_s: used, ..Pace::default() })
    };
    worker.plan.pace.clone().or_else(of_words)
}

/// The reason where no layer has counters.
const UNWATCHED: &str = "no layer below the job is visible";

/// The times of an NFS mount's requests by the mount's own counters, for the reads or the writes of the run's first
/// job, whichever are more.
pub fn nfs_times(record: &RunRecord) -> Option<NfsTimes> {
    let evidence = Evidence::of_first_job(record)?;
    let stage = evidence.stages.first()?;
    network::nfs_times(stage.rows.first()?, stage.flow.as_ref()?)
}

/// The limit of a control group that contains this process.
fn control_group<'r>(
    evidence: &Evidence<'r>,
    stage: &Stage<'r>,
    row: &JobInStage<'r>,
    flow: &Flow<'r>,
) -> Option<Limit> {
    if let Some((line, limit)) = throttled::of_control_group(evidence, stage, row) {
        let reached = if limit.counted == LimitedQuantity::Bytes { rate(limit.reached) } else { number(limit.reached) };
        let words = format!("{{}}{}, {{}} of what it allows ({line} in {})", limit.unit(), throttled::FILES);
        let evidence = Phrase::new(&words, [reached, percent(limit.reached / limit.value)]);
        return Some(Limit { limiter: Limiter::IoThrottle, evidence });
    }
    if let Some(quota) = cpu_starved::Quota::that_held(row, flow) {
        let words = format!("it throttled the run {{}} of the time; {}", quota.limit);
        return Some(Limit { limiter: Limiter::CpuQuota, evidence: Phrase::new(&words, [percent(quota.share)]) });
    }
    let limit = memory_limit::Limit::that_held(evidence, row, flow)?;
    let words = format!("{{}} of the bytes read had been evicted; {}", limit.words);
    Some(Limit { limiter: Limiter::MemoryLimit, evidence: Phrase::new(&words, [percent(limit.share)]) })
}

/// The machine's CPUs, or the workers' own.
fn processors(stage: &Stage<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Limit> {
    let sum = |part: fn(&JobRecord) -> u64| row.workers.iter().map(|worker| part(worker) as f64).sum::<f64>();
    let wall_s = sum(|worker| worker.job_runtime_ms) / 1e3;
    let cpu_s = sum(JobRecord::cpu_of_io_ns) / 1e9;
    let waited_s = sum(|worker| worker.run_queue_wait_ns.unwrap_or(0)) / 1e9;
    let daemon_s = flow.daemon.and_then(|daemon| daemon.cpu_ns).unwrap_or(0) as f64 / 1e9;
    let busy = machine_busy(flow)?;
    // Others may keep the CPUs busy while this run waits for something else.
    let wanted = ((cpu_s + waited_s) / wall_s).max(daemon_s / flow.seconds);
    if busy >= BUSY && wanted >= WANTED {
        let evidence = Phrase::new("CPUs were busy {} of the time", [percent(busy)]);
        return Some(Limit { limiter: Limiter::ClientProcessor, evidence });
    }
    let workers = counted(stage.rows.iter().map(|row| row.workers.len()).sum::<usize>().max(1) as u64, "I/O thread");
    // Their CPU time is counted for a moment longer.
    let used = (cpu_s / wall_s).min(1.0);
    (used >= BUSY).then(|| Limit {
        limiter: Limiter::ClientProcessor,
        evidence: Phrase::new(&format!("{workers} used {{}} of a CPU each"), [percent(used)]),
    })
}

/// Share of the machine's CPU time in use; `None`: not visible.
pub(crate) fn machine_busy(flow: &Flow<'_>) -> Option<f64> {
    let (begin, end) = (&flow.begin.system, &flow.end.system);
    let busy = end.busy_ms?.saturating_sub(begin.busy_ms?) as f64;
    let total = end.total_ms?.saturating_sub(begin.total_ms?) as f64;
    (total > 0.0).then(|| busy / total)
}

/// Whether memory answers; with a daemon, its own work matters more than where its files lie.
fn in_memory(row: &JobInStage<'_>) -> bool {
    row.class() != StorageClass::Fuse
        && row.parts().iter().all(|part| part.storage.in_memory() == Some(InMemory::All))
        && row.storage.is_some()
}

fn memory(row: &JobInStage<'_>) -> Limit {
    let way = row.storage.filter(|storage| storage.class != StorageClass::Memory);
    let words = match way.and_then(|storage| storage.way_to_memory()) {
        Some(way) => format!("{way} is memory"),
        None => "there is no device below".to_owned(),
    };
    Limit { limiter: Limiter::Memory, evidence: Phrase::new(&words, []) }
}

fn device(row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Limit> {
    let device = flow.device.as_ref()?;
    let depth = device.depth(flow.seconds)?;
    let asked = row.depth_asked();
    let operations = device.done.operations.sum();
    if operations == 0 {
        return None;
    }
    let busy = busy_share(flow);
    let filled = depth >= QUEUE_FILLED * asked as f64;
    if !filled && busy.is_none_or(|busy| busy < DEVICE_BUSY) {
        return None;
    }
    let each_ns = device.weighted_ms as f64 * 1e6 / operations as f64;
    let name = &device.name;
    let words = if depth > MORE_THAN_ASKED * asked as f64 {
        format!(
            "{{}} requests were in the queue of {name} ({{}} from this run; large ones are split, or others use it \
             too), {{}} for each"
        )
    } else {
        format!("the queue of {name} held {{}} of {{}} in flight, {{}} for each")
    };
    let evidence = Phrase::new(&words, [number(depth), phrase::count(asked), latency(each_ns)]);
    Some(Limit { limiter: Limiter::Device, evidence })
}

/// The largest share of time that a device was busy.
fn busy_share(flow: &Flow<'_>) -> Option<f64> {
    let (before, after) = (flow.begin.devices.value()?, flow.end.devices.value()?);
    let share = |device: &fsdyno_results::evidence::DeviceCounters| {
        let then = before.iter().find(|then| then.name == device.name)?;
        Some(device.busy_ms.saturating_sub(then.busy_ms) as f64 / 1e3 / flow.seconds)
    };
    if flow.seconds <= 0.0 {
        return None;
    }
    after.iter().filter_map(share).reduce(f64::max)
}

/// Mean latency (lat) of the row's requests, ns; for writes that are each synced, until they are durable.
pub(crate) fn mean_latency_ns(row: &JobInStage<'_>) -> Option<f64> {
    let directions = row.workers.iter().flat_map(|worker| worker.directions.iter());
    let requests = mean(directions.map(|(_, direction)| direction.lat.moments))?;
    let syncs = mean(row.workers.iter().map(|worker| worker.sync.lat.moments));
    let is_synced = row.first().plan.sync_every_writes == 1;
    Some(requests + syncs.filter(|_| is_synced).unwrap_or(0.0))
}

/// Median latency (lat) of the row's requests, ns; `None` for writes that are each synced, as their syncs are counted
/// separately.
pub(crate) fn median_latency_ns(row: &JobInStage<'_>) -> Option<f64> {
    let mut all = Latency::default();
    let directions = row.workers.iter().flat_map(|worker| worker.directions.iter());
    directions.for_each(|(_, direction)| all.merge(&direction.lat));
    (row.first().plan.sync_every_writes != 1).then(|| all.shown(50.0).map(|ns| ns as f64)).flatten()
}

/// The mean over all of these, ns.
fn mean(all: impl Iterator<Item = Moments>) -> Option<f64> {
    let (count, sum) = all.fold((0.0, 0.0), |(count, sum), moments| {
        let own = moments.count as f64;
        (count + own, sum + own * moments.mean().unwrap_or(0.0))
    });
    (count > 0.0).then(|| sum / count)
}

/// Whether the row mostly reads.
pub(crate) fn direction(row: &JobInStage<'_>) -> Transfer {
    if row.done(Transfer::Read).bytes >= row.done(Transfer::Write).bytes { Transfer::Read } else { Transfer::Write }
}
