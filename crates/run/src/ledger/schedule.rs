//! Decides how much is sampled, and when the next sample is due: each second, or less often where a sample costs much.

/// With more workers than this, latency over time is not kept.
pub(super) const WORKERS_LOOKED_AT: usize = 64;

/// Time between samples, ns.
const INTERVAL_NS: u64 = 1_000_000_000;

/// The inverse of the share of time that samples may cost: 0.05 % of a CPU.
const COST_PARTS: u64 = 2000;

/// Number of latency slices that each of `workers` keeps: together as many as one worker needs in an hour. `None`:
/// there are too many workers.
pub(crate) fn slices_max(workers: usize) -> Option<usize> {
    const SLICES_MAX: usize = 3600;
    const SLICES_MIN: usize = 300;
    (workers <= WORKERS_LOOKED_AT).then(|| (4 * SLICES_MAX / workers.max(1)).clamp(SLICES_MIN, SLICES_MAX))
}

/// When samples of one stage are due. All times are of the conductor's clock, ns.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    next_ns: u64,
    interval_ns: u64,
    /// Cost of the sample before the last one, ns.
    cost_before_ns: u64,
}

impl Schedule {
    /// The schedule while no stage runs.
    pub(super) fn idle() -> Schedule {
        Schedule { next_ns: u64::MAX, interval_ns: INTERVAL_NS, cost_before_ns: 0 }
    }

    /// The schedule of a stage that begins now.
    pub(super) fn begin(now_ns: u64) -> Schedule {
        Schedule { next_ns: now_ns.saturating_add(INTERVAL_NS), ..Schedule::idle() }
    }

    /// Sets the cost of the last sample, ns of CPU time: costly samples are taken every few seconds only. Two in a row
    /// must be costly, because some kernels count CPU time in ticks of 10 ms, and a cheap sample may contain a tick.
    pub(super) fn cost(&mut self, cost_ns: u64) {
        let sure_ns = cost_ns.min(self.cost_before_ns);
        self.cost_before_ns = cost_ns;
        let interval_ns = sure_ns.saturating_mul(COST_PARTS).max(1).div_ceil(INTERVAL_NS) * INTERVAL_NS;
        if self.next_ns != u64::MAX {
            self.next_ns = (self.next_ns - self.interval_ns).saturating_add(interval_ns);
        }
        self.interval_ns = interval_ns;
    }

    /// Whether a sample is due; if so, the next one is scheduled. Missed samples are skipped.
    pub(super) fn due(&mut self, now_ns: u64) -> bool {
        if now_ns < self.next_ns {
            return false;
        }
        let passed = (now_ns - self.next_ns) / self.interval_ns;
        self.next_ns = self.next_ns.saturating_add((passed + 1) * self.interval_ns);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Number of samples that are due when asked every 50 ms up to `end_ns`.
    fn looks(schedule: &mut Schedule, from_ns: u64, end_ns: u64) -> usize {
        (from_ns..=end_ns).step_by(50_000_000).filter(|now_ns| schedule.due(*now_ns)).count()
    }

    #[test]
    fn one_look_a_second() {
        assert_eq!(looks(&mut Schedule::begin(7), 7, S - 1), 0, "a run of less than a second has none");
        assert_eq!(looks(&mut Schedule::begin(7), 7, 10 * S + S / 2), 10);
        assert_eq!(looks(&mut Schedule::begin(0), 0, 3600 * S), 3600);
        assert_eq!(looks(&mut Schedule::idle(), 0, 100 * S), 0);
    }

    #[test]
    fn a_look_that_nobody_came_to_is_not_made_up_for() {
        let mut schedule = Schedule::begin(0);
        assert!(schedule.due(3 * S + 1));
        assert!(!schedule.due(3 * S + 2));
        assert!(schedule.due(4 * S));
    }

    #[test]
    fn a_dear_look_comes_less_often() {
        let mut schedule = Schedule::begin(0);
        assert!(schedule.due(S));
        schedule.cost(500_000);
        assert_eq!(looks(&mut schedule.clone(), S, 11 * S), 10, "0.05 % are allowed");
        schedule.cost(1_700_000);
        assert_eq!(looks(&mut schedule.clone(), S, 11 * S), 10, "once may be a tick");
        schedule.cost(1_700_000);
        assert_eq!(looks(&mut schedule.clone(), S, 13 * S), 3, "after 5, 9 and 13 s");
        schedule.cost(0);
        assert_eq!(looks(&mut schedule, S, 11 * S), 10);
    }
}
