//! Latencies by I/O priority. All priorities are known before the run.

use fsdyno_job::{Direction, IoPriority, PerDirection};
use fsdyno_results::PriorityRecord;

use super::{Distributed, Recorder, Stamps};

/// For each direction: the priorities that its requests can have, that of the thread first, with their latencies.
pub(super) type ByPriority = PerDirection<Vec<(IoPriority, Distributed)>>;

impl Recorder {
    /// Also keeps latencies by priority: total latencies if their distribution was asked for, otherwise completion
    /// latencies.
    pub fn split_by(&mut self, priorities: PerDirection<Vec<IoPriority>>) {
        let kept = |list: Vec<IoPriority>| list.into_iter().map(|one| (one, Distributed::default())).collect();
        self.by_priority = Some(Box::new(priorities.map(kept)));
    }

    #[inline]
    pub(crate) fn splits_by_priority(&self) -> bool {
        self.by_priority.is_some()
    }

    /// Adds the latency of a transfer to its priority; 0 means the priority of the thread.
    pub(crate) fn timed_by_priority(&mut self, direction: Direction, priority: u16, stamps: Stamps) {
        let begin_ns = if self.kept.lat_distribution { stamps.start_ns } else { stamps.issue_ns };
        let Some(kept) = &mut self.by_priority else { return };
        let kept = &mut kept[direction];
        let place =
            if priority == 0 { 0 } else { kept.iter().position(|one| one.0.as_number() == priority).unwrap_or(0) };
        if let Some((_, latencies)) = kept.get_mut(place) {
            latencies.add(stamps.end_ns.saturating_sub(begin_ns));
        }
    }

    pub(super) fn clear_priorities(&mut self) {
        let Some(kept) = &mut self.by_priority else { return };
        Direction::ALL.into_iter().for_each(|d| kept[d].iter_mut().for_each(|(_, latencies)| latencies.clear()));
    }

    /// The priorities that occurred.
    pub(super) fn priorities(&self, direction: Direction) -> Vec<PriorityRecord> {
        let kept = self.by_priority.iter().flat_map(|kept| &kept[direction]);
        kept.filter(|(_, latencies)| latencies.count > 0)
            .map(|(IoPriority { class, level, hint }, latencies)| PriorityRecord {
                class: *class,
                level: *level,
                hint: *hint,
                latency: latencies.latency(),
            })
            .collect()
    }
}
