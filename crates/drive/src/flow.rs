//! `flow`: jobs do their I/Os in proportion to their weights. Each worker counts the I/Os that it was granted in a
//! cell of its own; the other workers read the cells when they have used their own grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fsdyno_job::Flow;

/// Largest number of I/Os that are granted at once.
const GRANT_MAX: u64 = 64;

/// One worker of a flow, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Member {
    /// `flow_id`.
    flow: u32,
    /// Index among all workers.
    worker: usize,
    weight: u64,
    takes_part: AtomicBool,
    /// I/Os granted so far. A worker that joins late begins with its share of what the others were granted, so that
    /// it does not catch up.
    granted: AtomicU64,
}

/// The flows of a run.
#[derive(Debug, Default)]
pub struct Flows(Arc<[Member]>);

impl Flows {
    /// `flows` gives the flow of each worker, or `None`.
    pub fn of(flows: impl Iterator<Item = Option<Flow>>) -> Flows {
        let member = |(worker, flow): (usize, Option<Flow>)| {
            let flow = flow?;
            Some(Member {
                flow: flow.id,
                worker,
                weight: flow.weight.into(),
                takes_part: AtomicBool::new(false),
                granted: AtomicU64::new(0),
            })
        };
        Flows(flows.enumerate().filter_map(member).collect())
    }

    /// Lets the worker take part from now on.
    pub fn join(&self, worker: usize) -> Option<FlowShare> {
        let own = self.0.iter().position(|member| member.worker == worker)?;
        let share = FlowShare { members: Arc::clone(&self.0), own, left: 0 };
        share.join();
        Some(share)
    }

    /// Ends the worker's part: its weight and its I/Os no longer count.
    pub fn leave(&self, worker: usize) {
        let own = self.0.iter().find(|member| member.worker == worker);
        own.into_iter().for_each(|member| member.takes_part.store(false, Ordering::Relaxed));
    }
}

/// One worker's part in its flow.
#[derive(Clone, Debug)]
pub struct FlowShare {
    members: Arc<[Member]>,
    own: usize,
    /// I/Os that were granted and not issued yet.
    left: u64,
}

impl FlowShare {
    /// Sums of the weights and of the grants of all workers that take part.
    fn sums(&self) -> (u64, u64) {
        let flow = self.members[self.own].flow;
        let of_flow = self.members.iter().filter(|member| member.flow == flow);
        let taking_part = of_flow.filter(|member| member.takes_part.load(Ordering::Relaxed));
        taking_part.fold((0, 0), |(weights, granted), member| {
            (weights + member.weight, granted + member.granted.load(Ordering::Relaxed))
        })
    }

    fn join(&self) {
        let own = &self.members[self.own];
        let (weights, granted) = self.sums();
        own.granted.store(granted * own.weight / weights.max(1), Ordering::Relaxed);
        own.takes_part.store(true, Ordering::Relaxed);
    }

    /// Takes the right to issue one I/O; false: the other workers have to come first.
    pub(crate) fn take(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.grant();
        }
        let takes = self.left > 0;
        self.left -= u64::from(takes);
        takes
    }

    /// The number of I/Os that this worker may issue until its share exceeds the share of its weight.
    fn grant(&self) -> u64 {
        let own = &self.members[self.own];
        let granted = own.granted.load(Ordering::Relaxed);
        let (weights, all) = self.sums();
        let others = weights.saturating_sub(own.weight);
        let count =
            match (u128::from(own.weight) * u128::from(all)).checked_sub(u128::from(weights) * u128::from(granted)) {
                None => 0,
                Some(_) if others == 0 => GRANT_MAX,
                Some(ahead) => {
                    u64::try_from(ahead / u128::from(others)).unwrap_or(u64::MAX).saturating_add(1).min(GRANT_MAX)
                }
            };
        own.granted.store(granted + count, Ordering::Relaxed);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(weights: &[u64]) -> Vec<FlowShare> {
        let members: Arc<[Member]> = weights
            .iter()
            .enumerate()
            .map(|(worker, weight)| Member {
                flow: 0,
                worker,
                weight: *weight,
                takes_part: AtomicBool::new(true),
                granted: AtomicU64::new(0),
            })
            .collect();
        (0..weights.len()).map(|own| FlowShare { members: Arc::clone(&members), own, left: 0 }).collect()
    }

    /// I/Os that each worker gets when all ask in turn, `turns` times.
    fn issued(shares: &mut [FlowShare], turns: usize) -> Vec<u64> {
        let mut counts = vec![0; shares.len()];
        for _ in 0..turns {
            for (count, share) in counts.iter_mut().zip(shares.iter_mut()) {
                *count += u64::from(share.take());
            }
        }
        counts
    }

    #[test]
    fn i_os_are_as_the_weights_are() {
        let counts = issued(&mut flow(&[8, 1]), 9000);
        assert!(counts[0].abs_diff(8 * counts[1]) <= 8, "{counts:?}");
        assert_eq!(counts[0], 9000, "a job with a large weight is never delayed");
        let counts = issued(&mut flow(&[5, 3, 2]), 10_000);
        assert!(counts[0].abs_diff(5 * counts[2] / 2) <= 8 && counts[1].abs_diff(3 * counts[2] / 2) <= 8, "{counts:?}");
    }

    #[test]
    fn whoever_is_alone_is_free_and_whoever_comes_late_catches_up_on_nothing() {
        let mut shares = flow(&[1, 1]);
        shares[1].members[1].takes_part.store(false, Ordering::Relaxed);
        assert_eq!(issued(&mut shares[..1], 1000), [1000]);
        shares[1].join();
        let counts = issued(&mut shares, 1000);
        assert!(counts[0].abs_diff(counts[1]) <= GRANT_MAX, "{counts:?}");
        assert!(counts.iter().all(|count| *count > 900), "{counts:?}");
    }
}
