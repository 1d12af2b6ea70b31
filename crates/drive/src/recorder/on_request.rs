//! Distributions that most jobs do not ask for. They stand together, so that an I/O without them costs one check.

use fsdyno_job::IoPriority;

use super::cells::Cells;
use super::distributed::Distributed;

/// The distributions of `lat_percentiles` and `slat_percentiles`, and those by priority.
#[derive(Clone, Default)]
pub(super) struct OnRequest {
    pub(super) lat: Option<Cells>,
    pub(super) slat: Option<Cells>,
    pub(super) by_priority: ByPriority,
}

impl OnRequest {
    /// `None`: no distribution is asked for.
    pub(super) fn new(lat: bool, slat: bool) -> Option<Box<OnRequest>> {
        let asked = lat || slat;
        let [lat, slat] = [lat, slat].map(|asked| asked.then(Cells::new));
        asked.then(|| Box::new(OnRequest { lat, slat, by_priority: ByPriority::default() }))
    }

    /// Keeps latencies by priority, too.
    pub(super) fn split_by(&mut self, priorities: Vec<IoPriority>) {
        let kept = |priority: IoPriority| OfPriority {
            priority,
            number: priority.as_number(),
            latencies: Distributed::default(),
        };
        self.by_priority = ByPriority(priorities.into_iter().map(kept).collect());
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
pub(super) struct OfPriority {
    pub(super) priority: IoPriority,
    number: u16,
    pub(super) latencies: Distributed,
}

/// The priorities that requests of a direction can have, that of the thread first.
#[derive(Clone, Default)]
pub(super) struct ByPriority(Vec<OfPriority>);

impl ByPriority {
    /// The latencies of a priority, 0 for that of the thread; `None`: they are not kept apart.
    #[inline]
    pub(super) fn of(&mut self, priority: u16) -> Option<&mut Distributed> {
        let (of_thread, others) = self.0.split_first_mut()?;
        let own = others.iter_mut().find(|one| one.number == priority);
        Some(&mut own.unwrap_or(of_thread).latencies)
    }

    pub(super) fn all(&self) -> &[OfPriority] {
        &self.0
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(|one| one.latencies.clear());
    }
}
