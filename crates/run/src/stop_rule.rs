//! Rules that end a run before its runtime; the conductor evaluates them at each check.

use fsdyno_results::{Note, Severity};

/// Length of a window, ns.
const WINDOW_NS: u64 = 500_000_000;

/// The rule that ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StopRule {
    /// As the line says.
    #[default]
    AsWritten,
    /// At the line's runtime each rank stops, and then goes on until it has done as much as the rank that has done most.
    /// It is for lines of one job.
    WearOut,
    /// At the line's runtime at the latest, and earlier if the rate has settled: the last windows agree with their
    /// median.
    Settled {
        /// Least measuring time, s.
        least_s: f64,
        /// Number of half-second windows that must agree.
        windows: usize,
        /// Largest distance of each from their median, as a share of it.
        tolerance: f64,
    },
}

impl StopRule {
    /// The note in the record of a run that the rule ended.
    pub(crate) fn note(&self) -> Option<Note> {
        let StopRule::Settled { windows, tolerance, .. } = self else { return None };
        let text = format!(
            "ended before its runtime was over, for the rate had settled: the last {windows} windows of 0.5 s were within \
             {:.0} % of their median",
            tolerance * 100.0
        );
        Some(Note::new("settled", Severity::Info, text))
    }
}

/// Applies the rule to the operations of a run.
#[derive(Clone, Debug)]
pub(crate) struct Stability {
    rule: StopRule,
    /// Time at which measuring began, and the operations counted before.
    origin: Option<(u64, u64)>,
    window_began: (u64, u64),
    rates: Vec<f64>,
}

impl Stability {
    pub(crate) fn new(rule: StopRule) -> Stability {
        Stability { rule, origin: None, window_began: (0, 0), rates: Vec::new() }
    }

    /// Adds the total of operations at a time; true once the run may end.
    pub(crate) fn settled(&mut self, elapsed_ns: u64, operations: u64) -> bool {
        let StopRule::Settled { least_s, windows, tolerance } = self.rule else { return false };
        let Some((origin_ns, _)) = self.origin else {
            self.origin = Some((elapsed_ns, operations));
            self.window_began = (elapsed_ns, operations);
            return false;
        };
        let (began_ns, before) = self.window_began;
        let length_ns = elapsed_ns - began_ns;
        if length_ns < WINDOW_NS {
            return false;
        }
        // The counters may be reset when the ramp ends: such a window is skipped.
        if let Some(done) = operations.checked_sub(before) {
            self.rates.push(done as f64 * 1e9 / length_ns as f64);
        }
        self.window_began = (elapsed_ns, operations);
        let long_enough = (elapsed_ns - origin_ns) as f64 >= least_s * 1e9;
        long_enough && self.rates.len() >= windows && agree(&self.rates[self.rates.len() - windows..], tolerance)
    }
}

/// Whether each rate is within this share of their median. Windows without any operation never agree.
fn agree(rates: &[f64], tolerance: f64) -> bool {
    let mut sorted = rates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    median > 0.0 && sorted.iter().all(|rate| (rate - median).abs() <= tolerance * median)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: StopRule = StopRule::Settled { least_s: 2.0, windows: 4, tolerance: 0.05 };

    /// Simulates half-second windows with these operations; returns the index of the window after which the run may
    /// end.
    fn settles_after(windows: &[u64]) -> Option<usize> {
        let mut stability = Stability::new(RULE);
        let mut total = 0;
        stability.settled(0, 0);
        windows.iter().enumerate().find_map(|(index, operations)| {
            total += operations;
            stability.settled((index as u64 + 1) * WINDOW_NS, total).then_some(index)
        })
    }

    #[test]
    fn a_steady_rate_settles_at_the_least_time() {
        assert_eq!(settles_after(&[100; 10]), Some(3));
    }

    #[test]
    fn a_slow_start_is_waited_for() {
        assert_eq!(settles_after(&[10, 40, 70, 100, 101, 99, 100, 100]), Some(6));
    }

    #[test]
    fn a_rate_that_swings_never_settles_and_neither_does_a_stall() {
        assert_eq!(settles_after(&[100, 50, 100, 50, 100, 50, 100, 50]), None);
        assert_eq!(settles_after(&[0; 10]), None);
    }

    #[test]
    fn a_line_as_written_is_never_cut_short() {
        let mut stability = Stability::new(StopRule::AsWritten);
        assert!((0..100).all(|window| !stability.settled(window * WINDOW_NS, window * 100)));
    }
}
