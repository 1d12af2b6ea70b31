//! Distributions that most jobs do not ask for. They stand together, so that an I/O without them costs one check.

use fsdyno_job::{IoPriority, PerDirection};
use fsdyno_results::{Latency, PriorityRecord};

use super::cells::Cells;
use super::{Distributed, Lane, Recorder, RecorderOptions};

/// The distributions of `lat_percentiles` and `slat_percentiles`, and those by priority.
#[derive(Clone, Default)]
pub(super) struct OnRequest {
    pub(super) lat: Option<Cells>,
    pub(super) slat: Option<Cells>,
    /// Whether one of them is kept, so that each transfer has a place.
    pub(super) takes_all: bool,
    by_priority: ByPriority,
}

impl OnRequest {
    pub(super) fn new(kept: RecorderOptions) -> Option<Box<OnRequest>> {
        let [lat, slat] = [kept.lat_distribution, kept.slat_distribution].map(|asked| asked.then(Cells::new));
        let takes_all = kept.lat_distribution || kept.slat_distribution;
        takes_all.then(|| Box::new(OnRequest { lat, slat, takes_all, by_priority: ByPriority::default() }))
    }

    /// Completion latencies that are not among those of the direction.
    pub(super) fn clats(&self) -> impl Iterator<Item = &Distributed> {
        let apart = if self.lat.is_none() { self.by_priority.all() } else { &[] };
        apart.iter().map(|one| &one.latencies)
    }

    pub(super) fn clear(&mut self) {
        [&mut self.lat, &mut self.slat].into_iter().flatten().for_each(Cells::clear);
        self.by_priority.clear();
    }
}

/// The latencies of one priority: total ones if their distribution is asked for, else those of completion.
#[derive(Clone)]
struct OfPriority {
    priority: IoPriority,
    number: u16,
    latencies: Distributed,
}

/// The priorities that requests of a direction can have, that of the thread first.
#[derive(Clone, Default)]
struct ByPriority(Vec<OfPriority>);

impl ByPriority {
    /// The latencies of a priority, 0 for that of the thread; `None`: they are not kept apart.
    #[inline]
    fn of(&mut self, priority: u16) -> Option<&mut Distributed> {
        let (of_thread, others) = self.0.split_first_mut()?;
        let own = others.iter_mut().find(|one| one.number == priority);
        Some(&mut own.unwrap_or(of_thread).latencies)
    }

    fn all(&self) -> &[OfPriority] {
        &self.0
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(|one| one.latencies.clear());
    }
}

impl Recorder {
    /// Keeps latencies by priority, too.
    pub fn split_by(&mut self, priorities: PerDirection<Vec<IoPriority>>) {
        let kept = |priority: IoPriority| OfPriority {
            priority,
            number: priority.as_number(),
            latencies: Distributed::default(),
        };
        for (lane, list) in self.lanes.iter_mut().zip(priorities.into_values()) {
            if lane.clat.is_some() && !list.is_empty() {
                lane.on_request.get_or_insert_default().by_priority = ByPriority(list.into_iter().map(kept).collect());
            }
        }
    }
}

impl Lane {
    /// Adds a transfer of a job that asks for more distributions.
    #[inline(never)]
    pub(super) fn took_on_request(&mut self, priority: u16, slat_ns: u64, clat_ns: u64) {
        let lat_ns = slat_ns + clat_ns;
        self.slat.add(slat_ns);
        self.lat.add(lat_ns);
        let Some(on_request) = &mut self.on_request else { return };
        if let Some(cells) = &mut on_request.slat {
            cells.add(slat_ns);
        }
        let mut clat = self.clat.as_mut();
        if let Some(cells) = &mut on_request.lat {
            cells.add(lat_ns);
            if let Some(latencies) = on_request.by_priority.of(priority) {
                latencies.add(lat_ns);
            }
        } else if priority != 0 {
            clat = on_request.by_priority.of(priority).or(clat);
        }
        if let Some(clat) = clat {
            clat.add(clat_ns);
        }
    }

    /// Adds a transfer of a priority of its own, of a job that asks for no more distributions: its completion latency
    /// is not among those of the direction.
    #[inline(never)]
    pub(super) fn took_with_priority(&mut self, priority: u16, slat_ns: u64, clat_ns: u64) {
        self.slat.add(slat_ns);
        self.lat.add(slat_ns + clat_ns);
        if let Some(clat) = self.on_request.as_mut().and_then(|on_request| on_request.by_priority.of(priority)) {
            clat.add(clat_ns);
        }
    }

    /// The latencies of completion: those of a priority of its own may stand apart.
    pub(super) fn clats(&self) -> impl Iterator<Item = &Distributed> {
        self.clat.iter().chain(self.on_request.iter().flat_map(|on_request| on_request.clats()))
    }

    /// The priorities that occurred.
    pub(super) fn priorities(&self) -> Vec<PriorityRecord> {
        let Some(on_request) = &self.on_request else { return Vec::new() };
        // Completion latencies of requests with the priority of their thread are among those of the direction.
        let shared = self.clat.as_ref().filter(|_| on_request.lat.is_none());
        let of = |(place, one): (usize, &OfPriority)| {
            let latency = merged([&one.latencies].into_iter().chain(shared.filter(|_| place == 0)));
            let IoPriority { class, level, hint } = one.priority;
            PriorityRecord { class, level, hint, latency }
        };
        let all = on_request.by_priority.all().iter().enumerate().map(of);
        all.filter(|one| one.latency.moments.count > 0).collect()
    }
}

/// All of them as one.
pub(super) fn merged<'a>(parts: impl Iterator<Item = &'a Distributed>) -> Latency {
    parts.map(Distributed::latency).fold(Latency::default(), |mut sum, part| {
        sum.merge(&part);
        sum
    })
}

#[cfg(test)]
mod tests {
    use fsdyno_job::Direction;

    use super::super::{ReportedFigures, Stamps};
    use super::*;

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
}
