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
    by_priority: ByPriority,
}

impl OnRequest {
    pub(super) fn new(kept: RecorderOptions) -> Option<Box<OnRequest>> {
        let [lat, slat] = [kept.lat_distribution, kept.slat_distribution].map(|asked| asked.then(Cells::new));
        let on_request = OnRequest { lat, slat, by_priority: ByPriority::default() };
        (kept.lat_distribution || kept.slat_distribution).then(|| Box::new(on_request))
    }

    /// Answers where the completion latency of a transfer belongs, unless it is among those of its direction.
    pub(super) fn add(&mut self, priority: u16, lat_ns: u64, slat_ns: u64) -> Option<&mut Distributed> {
        if let Some(cells) = &mut self.slat {
            cells.add(slat_ns);
        }
        if let Some(cells) = &mut self.lat {
            cells.add(lat_ns);
            self.by_priority.of(priority)?.add(lat_ns);
            return None;
        }
        if priority == 0 { None } else { self.by_priority.of(priority) }
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
        let place = self.0.iter().position(|one| one.number == priority).unwrap_or(0);
        self.0.get_mut(place).map(|one| &mut one.latencies)
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
