//! The counters of one worker. Its thread owns them; no other accesses them.

mod cells;
mod classes;
mod on_request;
mod priorities;

use fsdyno_job::{Direction, PerDirection};
use fsdyno_results::{DirectionRecord, Histogram, Latency, Moments, Samples};

use fsdyno_workload::Op;

use cells::Cells;
pub(crate) use classes::{CLASSES, class_of};
use on_request::OnRequest;
use priorities::ByPriority;

/// Running sums of one latency, ns. Who adds keeps the count: several sums of a lane share one.
#[derive(Clone, Debug)]
struct Sums {
    min: u64,
    max: u64,
    sum: u64,
    sum_of_squares: u128,
}

impl Sums {
    const EMPTY: Sums = Sums { min: u64::MAX, max: 0, sum: 0, sum_of_squares: 0 };

    #[inline]
    fn add(&mut self, value: u64) {
        // Branches, not `min` and `max`: extremes hardly ever change, and a predicted branch stores nothing.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        // 584 years of summed latency fit.
        self.sum += value;
        self.sum_of_squares += u128::from(value) * u128::from(value);
    }

    fn moments(&self, count: u64) -> Moments {
        if count == 0 {
            return Moments::default();
        }
        Moments { count, min: self.min, max: self.max, sum: u128::from(self.sum), sum_of_squares: self.sum_of_squares }
    }
}

/// A latency with its distribution.
#[derive(Clone, Debug)]
pub struct Distributed {
    count: u64,
    sums: Sums,
    cells: Cells,
}

impl Default for Distributed {
    fn default() -> Distributed {
        Distributed { count: 0, sums: Sums::EMPTY, cells: Cells::new() }
    }
}

impl Distributed {
    /// One more.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.count += 1;
        self.sums.add(latency_ns);
        self.cells.add(latency_ns);
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.sums = Sums::EMPTY;
        self.cells.clear();
    }

    /// In the words of the record.
    pub fn latency(&self) -> Latency {
        Latency {
            moments: self.sums.moments(self.count),
            histogram: Some(Histogram::from_counts(self.cells.buckets())),
        }
    }
}

/// One direction's counters. The distributions exist only when that direction has I/O.
#[derive(Clone)]
struct Lane {
    bytes: u64,
    completed: u64,
    /// Issued: counted by engines that keep I/Os in flight; with the others it is completed and lost.
    issued: u64,
    /// Issued, but failed.
    lost: u64,
    short: u64,
    dropped: u64,
    /// Its requests are over when they are queued: they have no submission latency.
    at_once: bool,
    clat: Option<Distributed>,
    /// Total latency; only kept apart from clat where a submission latency exists.
    lat: Sums,
    slat: Sums,
    /// Distributions that are kept only when they are asked for: one look tells an I/O that there is none.
    on_request: Option<Box<OnRequest>>,
    /// From the intended start, for paced jobs.
    response: Option<Distributed>,
    bandwidth: RateSample,
    iops: RateSample,
}

/// A sampled rate: what the counter was when the window began.
#[derive(Clone, Default)]
struct RateSample {
    counter_then: u64,
    samples: Samples,
}

impl RateSample {
    /// Closes the window: `units` is what the rate counts since the last call, already scaled per ms.
    fn close(&mut self, counter: u64, elapsed_ms: u64, at_ms: u64, per_unit: u64) {
        let delta = counter - self.counter_then;
        if delta > 0 && elapsed_ms > 0 {
            self.samples.record(delta * 1000 / elapsed_ms / per_unit, at_ms);
        }
        self.counter_then = counter;
    }
}

/// What a worker keeps of each I/O.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecorderOptions {
    /// Submission latency exists (asynchronous engines).
    pub submission: bool,
    /// Distribution of total latency.
    pub lat_distribution: bool,
    /// Distribution of submission latency.
    pub slat_distribution: bool,
    /// Intended starts are known.
    pub response: bool,
    /// Syncs happen.
    pub syncs: bool,
}

/// The counters of one worker.
#[derive(Clone)]
pub struct Recorder {
    /// By direction. An array: its index is one multiplication per I/O, where named fields are a choice of three.
    lanes: [Lane; 3],
    kept: RecorderOptions,
    /// Latencies by priority, when requests have several.
    by_priority: Option<Box<ByPriority>>,
    sync: Option<Distributed>,
    sync_issued: u64,
    /// I/Os by the depth they were committed at; sorted into fio's levels for the record.
    depths: Box<[u64]>,
    submit_sizes: [u64; 7],
    complete_sizes: [u64; 7],
}

/// Stamps of one I/O, ns on the worker's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    pub(crate) start_ns: u64,
    pub(crate) issue_ns: u64,
    pub(crate) end_ns: u64,
}

impl Recorder {
    /// Counters for I/Os in these directions, at most `depth` in flight.
    pub fn new(directions: PerDirection<bool>, kept: RecorderOptions, depth: usize) -> Recorder {
        let lane = |used: bool| Lane {
            bytes: 0,
            issued: 0,
            lost: 0,
            completed: 0,
            short: 0,
            dropped: 0,
            at_once: false,
            clat: used.then(Distributed::default),
            lat: Sums::EMPTY,
            slat: Sums::EMPTY,
            on_request: if used && kept.submission { OnRequest::new(kept) } else { None },
            response: (used && kept.response).then(Distributed::default),
            bandwidth: RateSample::default(),
            iops: RateSample::default(),
        };
        Recorder {
            lanes: directions.map(lane).into_values(),
            kept,
            by_priority: None,
            sync: kept.syncs.then(Distributed::default),
            sync_issued: 0,
            depths: vec![0; depth + 1].into_boxed_slice(),
            submit_sizes: [0; 7],
            complete_sizes: [0; 7],
        }
    }

    /// An I/O was committed while `in_flight` were under way, itself included.
    #[inline]
    pub(crate) fn issued(&mut self, direction: Direction, in_flight: usize) {
        self.lanes[direction as usize].issued += 1;
        self.depths[in_flight] += 1;
    }

    /// An I/O or a sync was not issued after all: the engine did not take it.
    pub(crate) fn withdrawn(&mut self, direction: Option<Direction>) {
        match direction {
            Some(direction) => self.lanes[direction as usize].issued -= 1,
            None => self.sync_issued -= 1,
        }
    }

    /// Requests of this direction are over when they are queued, whatever others do.
    pub(crate) fn done_at_once(&mut self, direction: Direction) {
        self.lanes[direction as usize].at_once = true;
    }

    /// An I/O ended without transferring what it should.
    pub(crate) fn lost(&mut self, direction: Direction) {
        self.lanes[direction as usize].lost += 1;
    }

    /// A sync was issued.
    pub(crate) fn sync_issued(&mut self) {
        self.sync_issued += 1;
    }

    /// The depth at which a sync was committed.
    pub(crate) fn sync_committed(&mut self, in_flight: usize) {
        self.depths[in_flight] += 1;
    }

    /// A submit call took this number of requests.
    #[inline]
    pub(crate) fn submitted(&mut self, count: usize) {
        self.submit_sizes[call_size(count)] += 1;
    }

    /// A reap call gave this number of completions.
    #[inline]
    pub(crate) fn reaped(&mut self, count: usize) {
        self.complete_sizes[call_size(count)] += 1;
    }

    /// `count` calls that each committed, submitted and completed one I/O (synchronous engines, once per block).
    pub(crate) fn single_calls(&mut self, count: u64) {
        self.depths[1] += count;
        self.submit_sizes[1] += count;
        self.complete_sizes[1] += count;
    }

    /// Bytes of a transfer that is over.
    #[inline]
    pub(crate) fn transferred(&mut self, direction: Direction, bytes: u64) {
        let lane = &mut self.lanes[direction as usize];
        lane.bytes += bytes;
        lane.completed += 1;
    }

    /// Latency of a transfer of a synchronous engine: start and issue are one moment.
    #[inline]
    pub(crate) fn timed_sync(&mut self, direction: Direction, clat_ns: u64) {
        if let Some(clat) = &mut self.lanes[direction as usize].clat {
            clat.add(clat_ns);
        }
    }

    /// Transfers of a synchronous engine with their latencies.
    #[inline]
    pub(crate) fn timed_syncs(&mut self, ops: &[Op], latencies_ns: &[u64]) {
        for (op, latency_ns) in ops.iter().zip(latencies_ns) {
            if let Some(direction) = op.kind.direction() {
                self.transferred(direction, op.length);
                self.timed_sync(direction, *latency_ns);
            }
        }
    }

    /// Latency of a transfer of an asynchronous engine.
    #[inline(always)]
    pub(crate) fn timed(&mut self, direction: Direction, stamps: Stamps) {
        let slat_ns = stamps.issue_ns.saturating_sub(stamps.start_ns);
        let clat_ns = stamps.end_ns.saturating_sub(stamps.issue_ns);
        // Called with what fits in registers.
        self.took(direction, slat_ns, clat_ns);
    }

    fn took(&mut self, direction: Direction, slat_ns: u64, clat_ns: u64) {
        let lane = &mut self.lanes[direction as usize];
        let lat_ns = slat_ns + clat_ns;
        lane.slat.add(slat_ns);
        lane.lat.add(lat_ns);
        if let Some(clat) = &mut lane.clat {
            clat.add(clat_ns);
        }
        if let Some(on_request) = &mut lane.on_request {
            on_request.add(lat_ns, slat_ns);
        }
    }

    /// Response time of a paced transfer, from its intended start.
    #[inline]
    pub(crate) fn responded(&mut self, direction: Direction, response_ns: u64) {
        if let Some(response) = &mut self.lanes[direction as usize].response {
            response.add(response_ns);
        }
    }

    /// Latency of a sync.
    pub(crate) fn synced(&mut self, latency_ns: u64) {
        if let Some(sync) = &mut self.sync {
            sync.add(latency_ns);
        }
    }

    /// A transfer came back short and is continued.
    pub(crate) fn shortened(&mut self, direction: Direction) {
        self.lanes[direction as usize].short += 1;
    }

    /// Bytes done in a direction.
    pub(crate) fn bytes(&self, direction: Direction) -> u64 {
        self.lanes[direction as usize].bytes
    }

    /// Transfers done in a direction.
    pub fn completed(&self, direction: Direction) -> u64 {
        self.lanes[direction as usize].completed
    }

    /// Bytes done in all directions.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.bytes).sum()
    }

    /// Transfers done in all directions.
    pub(crate) fn all_completed(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.completed).sum()
    }

    /// Count and sum of all completion latencies, ns.
    pub(crate) fn clat_sum(&self) -> (u64, u64) {
        let kept = self.lanes.iter().filter_map(|lane| lane.clat.as_ref()).filter(|clat| clat.count > 0);
        kept.fold((0, 0), |(count, sum), clat| (count + clat.count, sum + clat.sums.sum))
    }

    /// Completion latencies so far, by quarter octave.
    pub(crate) fn latency_classes(&self) -> Box<[u64; CLASSES]> {
        let mut classes = Box::new([0; CLASSES]);
        for clat in self.lanes.iter().filter_map(|lane| lane.clat.as_ref()) {
            clat.cells.add_to(&mut classes[..], class_of);
        }
        classes
    }

    /// Completion latencies of a direction so far, by fio's buckets; `None`: it has no I/O.
    pub(crate) fn latency_buckets(&self, direction: Direction) -> Option<Vec<u64>> {
        self.lanes[direction as usize].clat.as_ref().map(|clat| clat.cells.buckets())
    }

    /// Everything back to zero: the ramp is over.
    pub(crate) fn clear(&mut self) {
        self.clear_latencies();
        for lane in &mut self.lanes {
            (lane.bytes, lane.issued, lane.lost, lane.completed) = (0, 0, 0, 0);
            (lane.short, lane.dropped) = (0, 0);
            lane.bandwidth = RateSample::default();
            lane.iops = RateSample::default();
        }
        self.sync_issued = 0;
        self.depths.fill(0);
        self.submit_sizes = [0; 7];
        self.complete_sizes = [0; 7];
    }

    /// Only the latencies: a job that ended inside its ramp reports traffic, but none of them.
    pub fn clear_latencies(&mut self) {
        for lane in &mut self.lanes {
            lane.lat = Sums::EMPTY;
            lane.slat = Sums::EMPTY;
            for distributed in [&mut lane.clat, &mut lane.response].into_iter().flatten() {
                distributed.clear();
            }
            if let Some(on_request) = &mut lane.on_request {
                on_request.clear();
            }
        }
        if let Some(sync) = &mut self.sync {
            sync.clear();
        }
        self.clear_priorities();
    }

    /// New windows begin here: what was done before them counts for none.
    pub fn open_windows(&mut self) {
        for lane in &mut self.lanes {
            lane.bandwidth.counter_then = lane.bytes;
            lane.iops.counter_then = lane.completed;
        }
    }

    /// Closes a window of the bandwidth samples.
    pub(crate) fn sample_bandwidth(&mut self, elapsed_ms: u64, at_ms: u64) {
        for lane in &mut self.lanes {
            let bytes = lane.bytes;
            lane.bandwidth.close(bytes, elapsed_ms, at_ms, 1024);
        }
    }

    /// Closes a window of the IOPS samples.
    pub(crate) fn sample_iops(&mut self, elapsed_ms: u64, at_ms: u64) {
        for lane in &mut self.lanes {
            let completed = lane.completed;
            lane.iops.close(completed, elapsed_ms, at_ms, 1);
        }
    }
}

/// Index of a depth: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and up.
fn level(in_flight: usize) -> usize {
    ((in_flight | 1).ilog2() as usize).min(6)
}

/// Index of a call's size: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
#[inline]
fn call_size(count: usize) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        _ => (((count - 1).ilog2()) as usize).min(6),
    }
}

/// Which latencies a report may show.
#[derive(Clone, Copy, Debug)]
pub struct ReportedFigures {
    /// Completion latency.
    pub clat: bool,
    /// Submission latency.
    pub slat: bool,
    /// Total latency.
    pub lat: bool,
    /// Coarse classes of the completion latency.
    pub classes: bool,
    /// Samples of the bandwidth.
    pub bandwidth: bool,
    /// One I/O in 64 was timed: the figures go to `sampled_latency`.
    pub sampled: bool,
}

/// The transfers of a worker in the words of the record.
pub struct TransferRecord {
    /// By direction.
    pub directions: PerDirection<DirectionRecord>,
    /// The syncs.
    pub sync: fsdyno_results::SyncRecord,
    /// I/Os by the depth they were committed at.
    pub depth_levels: [u64; 7],
    /// Submit calls by how many they took.
    pub submit_sizes: [u64; 7],
    /// Reap calls by how many they gave.
    pub complete_sizes: [u64; 7],
    /// Coarse latency classes: 10 of ns, 10 of us, 12 of ms.
    pub classes: [u64; 32],
    /// Completion latencies of the I/Os that were timed, when not all were.
    pub sampled_latency: Option<Box<PerDirection<Latency>>>,
}

impl Recorder {
    /// The counters as a record holds them. `runtime_ms` is the length of the I/O phase.
    pub fn counted(&self, runtime_ms: u64, shown: ReportedFigures) -> TransferRecord {
        let mut classes = [0; 32];
        if shown.classes && !shown.sampled {
            for clat in self.lanes.iter().filter_map(|lane| lane.clat.as_ref()) {
                for (class, count) in classes.iter_mut().zip(clat.cells.classes()) {
                    *class += count;
                }
            }
        }
        let sampled_latency = shown.sampled.then(|| Box::new(self.by_direction(clat_of)));
        TransferRecord {
            directions: PerDirection::from_fn(|direction| {
                let record = self.direction(&self.lanes[direction as usize], runtime_ms, shown);
                let shows = if self.kept.lat_distribution { shown.lat } else { shown.clat };
                let priorities = if shows && !shown.sampled { self.priorities(direction) } else { Vec::new() };
                DirectionRecord { priorities, ..record }
            }),
            sync: fsdyno_results::SyncRecord {
                ios: self.sync_issued,
                lat: self.sync.as_ref().map(Distributed::latency).unwrap_or_default(),
            },
            depth_levels: self.depth_levels(),
            submit_sizes: self.submit_sizes,
            complete_sizes: self.complete_sizes,
            classes,
            sampled_latency,
        }
    }

    fn by_direction<T>(&self, of: impl Fn(&Lane) -> T) -> PerDirection<T> {
        PerDirection::from_fn(|direction| of(&self.lanes[direction as usize]))
    }

    fn depth_levels(&self) -> [u64; 7] {
        let mut levels = [0; 7];
        for (in_flight, count) in self.depths.iter().enumerate() {
            levels[level(in_flight)] += count;
        }
        levels
    }

    fn direction(&self, lane: &Lane, runtime_ms: u64, shown: ReportedFigures) -> DirectionRecord {
        let none = Latency::default;
        let exact = !shown.sampled;
        let timed = lane.clat.as_ref().map_or(0, |clat| clat.count);
        let with = |sums: &Sums, cells: Option<&Cells>| Latency {
            moments: sums.moments(timed),
            histogram: cells.map(|cells| Histogram::from_counts(cells.buckets())),
        };
        let on_request = lane.on_request.as_ref();
        // A synchronous engine has one latency under both names; its distribution is copied only if it is shown.
        let lat = match (self.kept.submission, &lane.clat) {
            (false, Some(clat)) if self.kept.lat_distribution => clat.latency(),
            (false, Some(clat)) => with(&clat.sums, None),
            _ => with(&lane.lat, on_request.and_then(|kept| kept.lat.as_ref())),
        };
        DirectionRecord {
            bytes: lane.bytes,
            ios: if self.kept.submission { lane.issued } else { lane.completed + lane.lost },
            short_ios: lane.short,
            dropped_ios: lane.dropped,
            runtime_ms: if lane.bytes > 0 { runtime_ms } else { 0 },
            slat: if exact && shown.slat && self.kept.submission && !lane.at_once {
                with(&lane.slat, on_request.and_then(|kept| kept.slat.as_ref()))
            } else {
                none()
            },
            clat: if exact && shown.clat { clat_of(lane) } else { none() },
            lat: if exact && shown.lat { lat } else { none() },
            response: lane.response.as_ref().filter(|_| exact).map(Distributed::latency),
            bandwidth_samples: if shown.bandwidth { lane.bandwidth.samples.clone() } else { Samples::default() },
            iops_samples: lane.iops.samples.clone(),
            priorities: Vec::new(),
        }
    }
}

fn clat_of(lane: &Lane) -> Latency {
    lane.clat.as_ref().map(Distributed::latency).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Submitted after 100 ns, completed 1,000 ns later.
    #[test]
    fn distributions_on_request_are_each_of_their_own_latency() {
        let shown =
            ReportedFigures { clat: true, slat: true, lat: true, classes: false, bandwidth: false, sampled: false };
        let kept = |lat_distribution, slat_distribution| {
            let kept =
                RecorderOptions { submission: true, lat_distribution, slat_distribution, ..RecorderOptions::default() };
            let reads = PerDirection { read: true, ..PerDirection::default() };
            let mut recorder = Recorder::new(reads, kept, 1);
            recorder.timed(Direction::Read, Stamps { start_ns: 0, issue_ns: 100, end_ns: 1100 });
            let read = recorder.counted(1, shown).directions.read;
            [read.slat, read.clat, read.lat].map(|latency| latency.histogram)
        };
        let of = |latency_ns| {
            let mut expected = Latency::with_histogram();
            expected.record(latency_ns);
            expected.histogram
        };
        assert_eq!(kept(true, true), [of(100), of(1000), of(1100)]);
        assert_eq!(kept(true, false), [None, of(1000), of(1100)]);
        assert_eq!(kept(false, false), [None, of(1000), None]);
    }

    #[test]
    fn depth_levels_are_powers_of_two() {
        let levels: Vec<usize> = [0, 1, 2, 3, 4, 7, 8, 63, 64, 1000].into_iter().map(level).collect();
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 5, 6, 6]);
    }

    #[test]
    fn call_sizes_have_fio_labels() {
        let sizes: Vec<usize> = [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 4096].into_iter().map(call_size).collect();
        assert_eq!(sizes, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }
}
