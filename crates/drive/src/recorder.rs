//! The counters of one worker. Only its thread accesses them.

mod cells;
mod classes;
mod controls;
mod distributed;
mod lane;
mod on_request;

use fsdyno_job::{Direction, IoPriority, PerDirection};
use fsdyno_results::{DirectionRecord, Histogram, Latency, Samples};

use fsdyno_workload::{Op, OpKind};

use cells::Cells;
pub(crate) use classes::{CLASSES, class_of};
pub use distributed::Distributed;
use distributed::{Sums, merged};
use lane::{Lane, NO_PRIORITY, RateSample};
use on_request::OnRequest;

/// Which figures a worker keeps of each I/O.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecorderOptions {
    /// The engine has a submission latency (asynchronous engines).
    pub submission: bool,
    /// Keep the distribution of total latency.
    pub lat_distribution: bool,
    /// Keep the distribution of submission latency.
    pub slat_distribution: bool,
    /// Requests have intended starts.
    pub response: bool,
    /// The job does syncs.
    pub syncs: bool,
}

// A lane has the number of its direction and of the kind of its requests.
const _: () = {
    assert!(Direction::Read as usize == OpKind::Read as usize);
    assert!(Direction::Write as usize == OpKind::Write as usize);
    assert!(Direction::Trim as usize == OpKind::Trim as usize);
};

/// The counters of one worker.
#[derive(Clone)]
pub struct Recorder {
    /// By direction, which has the same number as the kind of its requests ([`Op::kind`]). An array, because an index
    /// costs one multiplication per I/O, where named fields cost a choice of three.
    lanes: [Lane; 3],
    /// Bytes of completed transfers. These three stand apart from the lanes, so that a request that is not timed needs
    /// no multiplication to find them.
    bytes: [u64; 3],
    /// Completed transfers.
    completed: [u64; 3],
    /// Issued I/Os, for engines that keep I/Os in flight; with other engines these are the completed and the failed ones.
    issued: [u64; 3],
    kept: RecorderOptions,
    sync: Option<Distributed>,
    sync_issued: u64,
    zone_resets: u64,
    /// I/Os by the depth at which they were submitted; the record sorts them into fio's levels.
    depths: Box<[u64]>,
    /// I/Os that were submitted in place of completed ones, each by a call of its own, and are not in `depths` and
    /// `submit_sizes` yet. They have one depth.
    replaced: u64,
    /// That depth.
    replaced_at: usize,
    submit_sizes: [u64; 7],
    complete_sizes: [u64; 7],
}

/// Time stamps of one I/O, ns on the worker's clock.
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
            lost: 0,
            short: 0,
            dropped: 0,
            at_once: false,
            clat: used.then(Distributed::default),
            lat: Sums::EMPTY,
            slat: Sums::EMPTY,
            plain_priority: match used && kept.submission && (kept.lat_distribution || kept.slat_distribution) {
                true => NO_PRIORITY,
                false => 0,
            },
            on_request: if used && kept.submission {
                OnRequest::new(kept.lat_distribution, kept.slat_distribution)
            } else {
                None
            },
            response: (used && kept.response).then(Distributed::default),
            bandwidth: RateSample::default(),
            iops: RateSample::default(),
        };
        Recorder {
            lanes: directions.map(lane).into_values(),
            bytes: [0; 3],
            completed: [0; 3],
            issued: [0; 3],
            kept,
            sync: kept.syncs.then(Distributed::default),
            sync_issued: 0,
            zone_resets: 0,
            depths: vec![0; depth + 1].into_boxed_slice(),
            replaced: 0,
            replaced_at: 0,
            submit_sizes: [0; 7],
            complete_sizes: [0; 7],
        }
    }

    /// Keeps latencies by priority, too.
    pub fn split_by(&mut self, priorities: PerDirection<Vec<IoPriority>>) {
        for (lane, list) in self.lanes.iter_mut().zip(priorities.into_values()) {
            if lane.clat.is_some() && !list.is_empty() {
                lane.on_request.get_or_insert_default().split_by(list);
            }
        }
    }

    /// Counts a submitted I/O; `in_flight` includes it.
    #[inline]
    pub(crate) fn issued(&mut self, lane: usize, in_flight: usize) {
        self.issued[lane] += 1;
        self.depths[in_flight] += 1;
    }

    /// From now on, requests that replace a completed one are submitted with this number in flight.
    #[inline]
    pub(crate) fn replace_at(&mut self, in_flight: usize) {
        if in_flight != self.replaced_at {
            let replaced = std::mem::take(&mut self.replaced);
            self.depths[self.replaced_at] += replaced;
            self.submit_sizes[1] += replaced;
            self.replaced_at = in_flight;
        }
    }

    /// Counts an I/O that was submitted in place of a completed one, by a call of its own. The caller tells the number
    /// of these to [`replaced_many`](Recorder::replaced_many), which counts their depths and calls.
    #[inline]
    pub(crate) fn replaced(&mut self, lane: usize) {
        self.issued[lane] += 1;
    }

    /// Counts the depths and the calls of I/Os that were submitted in place of completed ones.
    #[inline]
    pub(crate) fn replaced_many(&mut self, count: usize) {
        self.replaced += count as u64;
    }

    /// Takes back a request that was counted but that the engine did not take. `None`: a sync.
    pub(crate) fn withdrawn(&mut self, direction: Option<Direction>) {
        match direction {
            Some(direction) => self.issued[direction as usize] -= 1,
            None => self.sync_issued -= 1,
        }
    }

    /// Notes that requests of this direction complete while they are queued.
    pub(crate) fn done_at_once(&mut self, direction: Direction) {
        self.lanes[direction as usize].at_once = true;
    }

    /// Counts an I/O that ended without a complete transfer.
    pub(crate) fn lost(&mut self, direction: Direction) {
        self.lanes[direction as usize].lost += 1;
    }

    /// Counts a submit call that took `count` requests.
    #[inline]
    pub(crate) fn submitted(&mut self, count: usize) {
        self.submit_sizes[call_size(count)] += 1;
    }

    /// Counts a reap call that returned `count` completions.
    #[inline]
    pub(crate) fn reaped(&mut self, count: usize) {
        self.complete_sizes[call_size(count)] += 1;
    }

    /// Counts `count` calls that each submitted and completed one I/O (synchronous engines, once per block).
    pub(crate) fn single_calls(&mut self, count: u64) {
        self.depths[1] += count;
        self.submit_sizes[1] += count;
        self.complete_sizes[1] += count;
    }

    /// Adds the bytes of a completed transfer.
    #[inline]
    pub(crate) fn transferred(&mut self, lane: usize, bytes: u64) {
        self.bytes[lane] += bytes;
        self.completed[lane] += 1;
    }

    /// Adds the latency of a transfer of a synchronous engine, whose start is its issue.
    #[inline]
    pub(crate) fn timed_sync(&mut self, direction: Direction, clat_ns: u64) {
        if let Some(clat) = &mut self.lanes[direction as usize].clat {
            clat.add(clat_ns);
        }
    }

    /// Adds transfers of a synchronous engine with their latencies; requests that are no transfers are left out.
    #[inline]
    pub(crate) fn timed_syncs(&mut self, ops: &[Op], latencies_ns: &[u64]) {
        let mut at = 0;
        while let Some(first) = ops.get(at) {
            let lane = first.kind as usize;
            let Some(latencies) = self.lanes.get_mut(lane) else {
                at += 1;
                continue;
            };
            let (taken, bytes) = latencies.took_run(first.kind, &ops[at..], &latencies_ns[at..]);
            self.bytes[lane] += bytes;
            self.completed[lane] += taken as u64;
            at += taken;
        }
    }

    /// Adds the latencies of a transfer of an asynchronous engine.
    #[inline(always)]
    pub(crate) fn timed(&mut self, lane: usize, priority: u16, stamps: Stamps) {
        // The arguments fit in registers.
        self.lanes[lane].took(priority, stamps.start_ns, stamps.issue_ns, stamps.end_ns);
    }

    /// Adds the response time of a paced transfer, counted from its intended start.
    #[inline]
    pub(crate) fn responded(&mut self, lane: usize, response_ns: u64) {
        if let Some(response) = &mut self.lanes[lane].response {
            response.add(response_ns);
        }
    }

    /// Counts a short transfer, which is continued.
    pub(crate) fn shortened(&mut self, direction: Direction) {
        self.lanes[direction as usize].short += 1;
    }

    /// Bytes done in a direction.
    pub(crate) fn bytes(&self, direction: Direction) -> u64 {
        self.bytes[direction as usize]
    }

    /// Transfers done in a direction.
    pub fn completed(&self, direction: Direction) -> u64 {
        self.completed[direction as usize]
    }

    /// Bytes done in all directions.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Transfers done in all directions.
    pub(crate) fn all_completed(&self) -> u64 {
        self.completed.iter().sum()
    }

    /// Count and sum of all completion latencies, ns.
    pub(crate) fn clat_sum(&self) -> (u64, u64) {
        let kept = self.lanes.iter().flat_map(Lane::clats).filter(|clat| clat.count > 0);
        kept.fold((0, 0), |(count, sum), clat| (count + clat.count, sum + clat.sums.sum))
    }

    /// Completion latencies so far, by quarter octave.
    pub(crate) fn latency_classes(&self) -> Box<[u64; CLASSES]> {
        let mut classes = Box::new([0; CLASSES]);
        for clat in self.lanes.iter().flat_map(Lane::clats) {
            clat.cells.add_to(&mut classes[..], class_of);
        }
        classes
    }

    /// Completion latencies of a direction so far, by fio's buckets; `None`: the direction has no I/O.
    pub(crate) fn latency_buckets(&self, direction: Direction) -> Option<Vec<u64>> {
        let lane = &self.lanes[direction as usize];
        lane.clat.as_ref()?;
        // A histogram keeps no zeros behind its last count, and a line of the log has all buckets.
        let mut counts = clat_of(lane).histogram.map(|kept| kept.counts()).unwrap_or_default();
        counts.resize(fsdyno_results::BUCKETS, 0);
        Some(counts)
    }

    /// Sets all counters to zero at the end of the ramp.
    pub(crate) fn clear(&mut self) {
        self.clear_latencies();
        for lane in &mut self.lanes {
            (lane.lost, lane.short, lane.dropped) = (0, 0, 0);
            lane.bandwidth = RateSample::default();
            lane.iops = RateSample::default();
        }
        (self.bytes, self.completed, self.issued) = ([0; 3], [0; 3], [0; 3]);
        (self.sync_issued, self.zone_resets) = (0, 0);
        self.depths.fill(0);
        self.replaced = 0;
        self.submit_sizes = [0; 7];
        self.complete_sizes = [0; 7];
    }

    /// Clears only the latencies: a job that ended inside its ramp reports its traffic, but no latencies.
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
    }

    /// Begins new windows: I/Os before do not count for them.
    pub fn open_windows(&mut self) {
        for ((lane, bytes), completed) in self.lanes.iter_mut().zip(self.bytes).zip(self.completed) {
            lane.bandwidth.counter_then = bytes;
            lane.iops.counter_then = completed;
        }
    }

    /// Closes a window of the bandwidth samples.
    pub(crate) fn sample_bandwidth(&mut self, elapsed_ms: u64, at_ms: u64) {
        for (lane, bytes) in self.lanes.iter_mut().zip(self.bytes) {
            lane.bandwidth.close(bytes, elapsed_ms, at_ms, 1024);
        }
    }

    /// Closes a window of the IOPS samples.
    pub(crate) fn sample_iops(&mut self, elapsed_ms: u64, at_ms: u64) {
        for (lane, completed) in self.lanes.iter_mut().zip(self.completed) {
            lane.iops.close(completed, elapsed_ms, at_ms, 1);
        }
    }
}

/// Index of the level of a depth: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and up.
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

/// The figures that a report may show.
#[derive(Clone, Copy, Debug)]
pub struct ReportedFigures {
    /// Completion latency.
    pub clat: bool,
    /// Submission latency.
    pub slat: bool,
    /// Total latency.
    pub lat: bool,
    /// fio's coarse classes of completion latency.
    pub classes: bool,
    /// Samples of the bandwidth.
    pub bandwidth: bool,
    /// Only one I/O in 64 was timed: the figures go to `sampled_latency`.
    pub sampled: bool,
}

/// The figures of a worker's transfers, as the record holds them.
pub struct TransferRecord {
    /// By direction.
    pub directions: PerDirection<DirectionRecord>,
    /// The syncs.
    pub sync: fsdyno_results::SyncRecord,
    /// I/Os by level of the depth at which they were submitted.
    pub depth_levels: [u64; 7],
    /// Submit calls by number of requests.
    pub submit_sizes: [u64; 7],
    /// Reap calls by number of completions.
    pub complete_sizes: [u64; 7],
    /// Coarse latency classes: 10 of ns, 10 of us, 12 of ms.
    pub classes: [u64; 32],
    /// Completion latencies of the timed I/Os, if not all were timed.
    pub sampled_latency: Option<Box<PerDirection<Latency>>>,
}

impl Recorder {
    /// The counters as a record holds them. `runtime_ms` is the length of the I/O phase.
    pub fn counted(&self, runtime_ms: u64, shown: ReportedFigures) -> TransferRecord {
        let mut classes = [0; 32];
        if shown.classes && !shown.sampled {
            for clat in self.lanes.iter().flat_map(Lane::clats) {
                for (class, count) in classes.iter_mut().zip(clat.cells.classes()) {
                    *class += count;
                }
            }
        }
        let sampled_latency = shown.sampled.then(|| Box::new(self.by_direction(clat_of)));
        TransferRecord {
            directions: PerDirection::from_fn(|direction| {
                let shows = if self.kept.lat_distribution { shown.lat } else { shown.clat };
                let lane = &self.lanes[direction as usize];
                let priorities = if shows && !shown.sampled { lane.priorities() } else { Vec::new() };
                DirectionRecord { priorities, ..self.direction(direction, runtime_ms, shown) }
            }),
            sync: fsdyno_results::SyncRecord {
                ios: self.sync_issued,
                lat: self.sync.as_ref().map(Distributed::latency).unwrap_or_default(),
            },
            depth_levels: self.depth_levels(),
            submit_sizes: self.submit_sizes(),
            complete_sizes: self.complete_sizes,
            classes,
            sampled_latency,
        }
    }

    fn by_direction<T>(&self, of: impl Fn(&Lane) -> T) -> PerDirection<T> {
        PerDirection::from_fn(|direction| of(&self.lanes[direction as usize]))
    }

    fn submit_sizes(&self) -> [u64; 7] {
        let mut sizes = self.submit_sizes;
        sizes[1] += self.replaced;
        sizes
    }

    fn depth_levels(&self) -> [u64; 7] {
        let mut levels = [0; 7];
        for (in_flight, count) in self.depths.iter().enumerate() {
            levels[level(in_flight)] += count;
        }
        levels[level(self.replaced_at)] += self.replaced;
        levels
    }

    fn direction(&self, direction: Direction, runtime_ms: u64, shown: ReportedFigures) -> DirectionRecord {
        let lane = &self.lanes[direction as usize];
        let (bytes, completed) = (self.bytes(direction), self.completed(direction));
        let none = Latency::default;
        let exact = !shown.sampled;
        let timed = lane.clats().map(|clat| clat.count).sum();
        let with = |sums: &Sums, cells: Option<&Cells>| Latency {
            moments: sums.moments(timed),
            histogram: cells.map(|cells| Histogram::from_counts(cells.buckets())),
        };
        let on_request = lane.on_request.as_ref();
        // A synchronous engine has one latency under two names; its distribution is copied only if it is shown.
        let lat = match (self.kept.submission, &lane.clat) {
            (false, Some(clat)) if self.kept.lat_distribution => clat.latency(),
            (false, Some(clat)) => with(&clat.sums, None),
            _ => with(&lane.lat, on_request.and_then(|kept| kept.lat.as_ref())),
        };
        DirectionRecord {
            bytes,
            ios: if self.kept.submission { self.issued[direction as usize] } else { completed + lane.lost },
            short_ios: lane.short,
            dropped_ios: lane.dropped,
            runtime_ms: if bytes > 0 { runtime_ms } else { 0 },
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
    merged(lane.clats())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I/Os are submitted after 100 ns and complete 1,000 ns later.
    #[test]
    fn distributions_on_request_are_each_of_their_own_latency() {
        let shown =
            ReportedFigures { clat: true, slat: true, lat: true, classes: false, bandwidth: false, sampled: false };
        let kept = |lat_distribution, slat_distribution| {
            let kept =
                RecorderOptions { submission: true, lat_distribution, slat_distribution, ..RecorderOptions::default() };
            let reads = PerDirection { read: true, ..PerDirection::default() };
            let mut recorder = Recorder::new(reads, kept, 1);
            recorder.timed(Direction::Read as usize, 0, Stamps { start_ns: 0, issue_ns: 100, end_ns: 1100 });
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

    /// Three requests of the thread's priority and one of another: each is counted once under its own, and all in the total.
    #[test]
    fn latencies_of_a_priority_stand_apart_and_are_in_the_total() {
        let urgent = IoPriority { class: 1, level: 2, hint: 0 };
        for total in [false, true] {
            let kept = RecorderOptions { submission: true, lat_distribution: total, ..RecorderOptions::default() };
            let reads = PerDirection { read: true, ..PerDirection::default() };
            let mut recorder = Recorder::new(reads, kept, 1);
            recorder.split_by(PerDirection { read: vec![IoPriority::default(), urgent], ..PerDirection::default() });
            for (priority, end_ns) in [(0, 1100), (0, 1200), (urgent.as_number(), 5000), (0, 1300)] {
                recorder.timed(Direction::Read as usize, priority, Stamps { start_ns: 0, issue_ns: 100, end_ns });
            }
            let shown =
                ReportedFigures { clat: true, slat: true, lat: true, classes: true, bandwidth: false, sampled: false };
            let counted = recorder.counted(1, shown);
            let read = counted.directions.read;
            let moments = |latency: &Latency| (latency.moments.count, latency.moments.min, latency.moments.max);
            let before_ns = if total { 0 } else { 100 };
            assert_eq!(moments(&read.clat), (4, 1000, 4900), "{total}");
            assert_eq!(moments(&read.lat), (4, 1100, 5000), "{total}");
            assert_eq!(moments(&read.slat), (4, 100, 100), "{total}");
            let by_priority: Vec<_> = read.priorities.iter().map(|one| (one.level, moments(&one.latency))).collect();
            let own = (1100 - before_ns, 1300 - before_ns);
            let other = 5000 - before_ns;
            assert_eq!(by_priority, [(0, (3, own.0, own.1)), (2, (1, other, other))], "{total}");
            assert_eq!(counted.classes.iter().sum::<u64>(), 4, "{total}");
            assert_eq!(recorder.clat_sum().0, 4, "{total}");
        }
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
