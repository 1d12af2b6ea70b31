//! Judges the steady states of a run: of each worker alone, or of each reporting group.

use std::collections::VecDeque;

use fsdyno_drive::Interval;
use fsdyno_results::JobRecord;

use super::Conductor;
use crate::plan::WorkerPlan;
use crate::steady_state::{Sample, SteadyStateWindow, sample_of};

/// The judges of a run.
#[derive(Debug, Default)]
pub(super) struct SteadyStates {
    judges: Vec<Judge>,
    /// For each worker: the index of its judge, and its index there.
    places: Vec<Option<(usize, usize)>>,
}

#[derive(Debug)]
struct Judge {
    /// The workers, with those of their intervals that the others have not reached yet.
    members: Vec<(usize, VecDeque<Interval>)>,
    /// The group number whose workers are judged together; `None`: a single worker.
    group: Option<u32>,
    window: SteadyStateWindow,
}

impl SteadyStates {
    pub(super) fn of(workers: &[WorkerPlan]) -> SteadyStates {
        let mut states = SteadyStates { judges: Vec::new(), places: vec![None; workers.len()] };
        for (index, worker) in workers.iter().enumerate() {
            let reporting = &worker.job.reporting;
            let Some(rule) = &reporting.steady_state else { continue };
            let group = reporting.group.then_some(worker.group);
            // The workers of a group follow each other in the plan.
            if group.is_none() || states.judges.last().is_none_or(|judge| judge.group != group) {
                states.judges.push(Judge { members: Vec::new(), group, window: SteadyStateWindow::new(rule.clone()) });
            }
            states.appoint(index);
        }
        states
    }

    /// Assigns the worker to the last judge.
    fn appoint(&mut self, index: usize) {
        let number = self.judges.len() - 1;
        let members = &mut self.judges[number].members;
        self.places[index] = Some((number, members.len()));
        members.push((index, VecDeque::new()));
    }

    /// Adds an interval of a worker. Returns the workers that may end because their state is now steady. `has_ended`:
    /// workers whose intervals are not waited for.
    fn add(&mut self, index: usize, interval: Interval, has_ended: impl Fn(usize) -> bool) -> Vec<usize> {
        let Some((number, place)) = self.places[index] else { return Vec::new() };
        let judge = &mut self.judges[number];
        judge.members[place].1.push_back(interval);
        while let Some(sample) = judge.next_sample(&has_ended) {
            if judge.window.add(sample) {
                return judge.members.iter().map(|(member, _)| *member).collect();
            }
        }
        Vec::new()
    }

    /// Adds the judgement on its worker to a record.
    pub(super) fn complete(&self, job: JobRecord) -> JobRecord {
        let index = (job.thread_number as usize).wrapping_sub(1);
        let place = self.places.get(index).copied().flatten();
        JobRecord { steady_state: place.map(|(number, _)| self.judges[number].window.record()), ..job }
    }
}

impl Judge {
    /// The next interval, once all running members have measured theirs.
    fn next_sample(&mut self, has_ended: impl Fn(usize) -> bool) -> Option<Sample> {
        let lags = |(member, intervals): &(usize, VecDeque<Interval>)| intervals.is_empty() && !has_ended(*member);
        if self.members.iter().any(lags) {
            return None;
        }
        let members: Vec<Interval> =
            self.members.iter_mut().filter_map(|(_, intervals)| intervals.pop_front()).collect();
        (!members.is_empty()).then(|| sample_of(&members))
    }
}

impl Conductor<'_> {
    /// Handles an interval that a worker has measured: all workers that are judged with it end when the state is
    /// steady.
    pub(super) fn judge_interval(&mut self, index: usize, interval: Interval) {
        let ended = &self.ended;
        for member in self.steady_states.add(index, interval, |member| ended[member].is_some()) {
            self.shared.cells[member].stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::{SteadyState, SteadyStateMetric};

    use super::*;

    fn interval(ios: u64) -> Interval {
        Interval { elapsed_ns: 1_000_000_000, ios, bytes: ios * 4096, clat: (ios, ios * 1000) }
    }

    fn of_two() -> SteadyStates {
        let rule = SteadyState {
            metric: SteadyStateMetric::Iops,
            slope: false,
            limit: 5.0,
            percent: true,
            duration_ns: 2_000_000_000,
            ramp_ns: 0,
            interval_ns: 1_000_000_000,
        };
        let judges = vec![Judge { members: Vec::new(), group: Some(0), window: SteadyStateWindow::new(rule) }];
        let mut states = SteadyStates { judges, places: vec![None; 2] };
        (0..2).for_each(|index| states.appoint(index));
        states
    }

    #[test]
    fn a_group_is_judged_by_the_intervals_that_all_of_it_has() {
        let mut steady_states = of_two();
        let nobody = |_| false;
        assert!(steady_states.add(0, interval(100), nobody).is_empty());
        assert!(steady_states.add(0, interval(200), nobody).is_empty(), "the other has none");
        assert!(steady_states.add(1, interval(100), nobody).is_empty(), "one sample is no window");
        // 100 + 100 and 200 + 0: each worker alone is far from steady, the group is steady.
        assert_eq!(steady_states.add(1, interval(0), nobody), [0, 1]);
    }

    #[test]
    fn whoever_has_ended_is_not_waited_for() {
        let mut steady_states = of_two();
        let second = |member| member == 1;
        assert!(steady_states.add(0, interval(100), second).is_empty());
        assert_eq!(steady_states.add(0, interval(100), second), [0, 1]);
    }
}
