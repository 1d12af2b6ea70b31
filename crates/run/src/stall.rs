//! Detects workers, layouts and operations without progress: they are reported, and finally abandoned. A run must end
//! even if a server, a daemon or a disk never responds.
//!
//! Time is counted by checks with a bounded step, not by the wall clock: after a suspend of the machine nothing counts
//! as stalled.

pub(crate) mod worker;

use fsdyno_drive::Silence;

/// Most time that one check counts, ns.
const STEP_NS_MAX: u64 = 200_000_000;

/// Counts the time without progress of one worker, layout or operation. `Sign`: its work so far; any change since the
/// previous check is progress.
#[derive(Clone, Copy, Debug)]
pub struct StallDetector<Sign> {
    seen: Option<Sign>,
    silent_ns: u64,
    /// The reporting limit that was last exceeded, ns; a shorter limit causes a new report.
    reported_ns: u64,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// There is progress, or too little time without it.
    Alive,
    /// No progress for this number of ns, not reported yet.
    Silent(u64),
    /// It is abandoned after this number of ns without progress.
    Lost(u64),
}

impl<Sign> Default for StallDetector<Sign> {
    fn default() -> Self {
        StallDetector { seen: None, silent_ns: 0, reported_ns: u64::MAX }
    }
}

impl<Sign: PartialEq> StallDetector<Sign> {
    /// One check, `step_ns` after the previous one. The first one counts no time.
    pub fn look(&mut self, step_ns: u64, sign: Sign, limits: Silence) -> Liveness {
        if self.seen.as_ref() != Some(&sign) {
            (self.seen, self.silent_ns) = (Some(sign), 0);
            return Liveness::Alive;
        }
        self.silent_ns += step_ns.min(STEP_NS_MAX);
        match () {
            () if self.silent_ns >= limits.lost_ns => Liveness::Lost(self.silent_ns),
            () if self.silent_ns >= limits.reported_ns && limits.reported_ns < self.reported_ns => {
                self.reported_ns = limits.reported_ns;
                Liveness::Silent(self.silent_ns)
            }
            () => Liveness::Alive,
        }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_drive::Bounds;

    use super::*;

    const STEP_NS: u64 = 100_000_000;

    /// The check (tenths of a second) at which each result comes first: silent, lost.
    fn found(limits: Silence) -> (Option<usize>, Option<usize>) {
        let mut detector = StallDetector::default();
        let looks: Vec<Liveness> = (0..3000).map(|_| detector.look(STEP_NS, 0, limits)).collect();
        let first = |wanted: fn(&Liveness) -> bool| looks.iter().position(wanted);
        (first(|found| matches!(found, Liveness::Silent(_))), first(|found| matches!(found, Liveness::Lost(_))))
    }

    #[test]
    fn silence_is_told_of_and_then_it_is_left() {
        let bounds = Bounds::default();
        assert_eq!(found(bounds.operation(0, false)), (Some(300), Some(900)));
        assert_eq!(found(bounds.operation(0, true)), (Some(10), Some(300)), "after a signal nobody waits longer");
        assert_eq!(found(bounds.operation(10_000_000_000, false)), (Some(400), Some(1000)), "large files take longer");
        assert_eq!(found(bounds.layout(false)), (Some(300), None), "a layout is left behind by an order alone");
        assert_eq!(found(bounds.layout(true)), (Some(10), Some(300)));
        assert_eq!(found(bounds.ending(0, true)), (Some(10), Some(300)));
        assert_eq!(found(bounds.ending(0, false)), (None, Some(300)));
        assert_eq!(found(bounds.answer()), (None, Some(300)));
        assert_eq!(found(Bounds::of_seconds(2).after_signal()), (None, Some(10)));
    }

    #[test]
    fn it_is_told_once_and_any_progress_counts() {
        let (mut detector, limits) = (StallDetector::default(), Bounds::default().operation(0, false));
        let reported = (0..900).filter(|_| matches!(detector.look(STEP_NS, 0, limits), Liveness::Silent(_))).count();
        assert_eq!(reported, 1);
        assert!((0..900).all(|_| detector.look(STEP_NS, 1, limits) == Liveness::Alive));
        assert_eq!(detector.look(STEP_NS, 1, limits), Liveness::Lost(90_000_000_000));
        let signalled = Bounds::default().operation(0, true);
        detector.look(STEP_NS, 2, limits);
        let reported = (0..100).filter(|_| matches!(detector.look(STEP_NS, 2, signalled), Liveness::Silent(_))).count();
        assert_eq!(reported, 1, "a signal is a reason to say it again");
    }

    #[test]
    fn a_machine_that_stood_still_hurries_nobody() {
        let (mut detector, limits) = (StallDetector::default(), Bounds::default().answer());
        detector.look(0, (), limits);
        assert_eq!(detector.look(3_600_000_000_000, (), limits), Liveness::Alive);
    }
}
