//! Turns the events of a phase into figures for the watcher.

use fsdyno_run::Observer;
use fsdyno_run::metadata::Progress;

use crate::Watcher;
use crate::watch::{Amount, LiveFigures, LivePhase, Step, StepTotals};

pub(crate) struct Relay<'a> {
    pub(crate) step: &'a Step,
    pub(crate) watcher: &'a mut dyn Watcher,
}

impl Observer for Relay<'_> {
    fn message(&mut self, text: &str) {
        self.watcher.message(text);
    }

    fn metadata(&mut self, progress: &Progress) {
        let Progress { elapsed_ns, operations, latency_ns_p99, left_ns } = *progress;
        let elapsed_ms = elapsed_ns / 1_000_000;
        let all = Amount { operations, bytes: 0 };
        let figures = LiveFigures {
            phase: LivePhase::Running,
            elapsed_ms,
            totals: Some(StepTotals { at_ms: elapsed_ms, all, ..StepTotals::default() }),
            seconds_left: left_ns.map(|left_ns| left_ns.div_ceil(1_000_000_000)),
            operations_per_s: (elapsed_ns > 0).then(|| operations as f64 * 1e9 / elapsed_ns as f64),
            latency_ns_p99,
            ..LiveFigures::default()
        };
        self.watcher.progress(self.step, &figures);
    }
}
