//! Latency over time: each second a worker records the latency distribution of that second's I/Os, on its own thread,
//! in the tick of its loop.

use fsdyno_results::LatencySlice;

use crate::recorder::{CLASSES, Recorder};

/// Length of the first intervals, ns.
const INTERVAL_NS: u64 = 1_000_000_000;

/// A last interval that is shorter than 1/4 of the interval joins the one before.
const SHORT_REST: u64 = 4;

/// The slices of one worker. All times are ns on the worker's clock.
#[derive(Clone, Debug)]
pub struct LatencySeries {
    origin_ns: u64,
    interval_ns: u64,
    next_ns: u64,
    before: Box<[u64; CLASSES]>,
    slices: Vec<LatencySlice>,
    slices_max: usize,
}

impl LatencySeries {
    /// Begins now. When there are `slices_max` slices, each pair is merged into one slice of twice the length, so
    /// that a run of days needs as many slices as a run of minutes.
    pub fn begin(now_ns: u64, slices_max: usize) -> LatencySeries {
        LatencySeries {
            origin_ns: now_ns,
            interval_ns: INTERVAL_NS,
            next_ns: now_ns.saturating_add(INTERVAL_NS),
            before: Box::new([0; CLASSES]),
            slices: Vec::new(),
            slices_max: slices_max.max(2),
        }
    }

    /// The recorder has cleared its counters, because the ramp is over.
    pub(crate) fn cleared(&mut self) {
        self.before.fill(0);
    }

    /// Closes the interval if it has ended. If several intervals have passed, they become one slice, because it is
    /// not known in which of them the I/Os ended.
    pub(crate) fn look(&mut self, now_ns: u64, recorder: &Recorder) {
        if now_ns < self.next_ns {
            return;
        }
        if self.is_full() {
            self.halve();
            if now_ns < self.next_ns {
                return;
            }
        }
        let whole = now_ns.saturating_sub(self.origin_ns) / self.interval_ns * self.interval_ns;
        self.next_ns = self.origin_ns.saturating_add(whole).saturating_add(self.interval_ns);
        let slice = self.grown(whole / 1_000_000, recorder);
        self.slices.extend(slice);
    }

    /// Closes the last interval after the last I/O.
    pub fn finish(&mut self, now_ns: u64, recorder: &Recorder) {
        self.look(now_ns, recorder);
        let began_ns = self.next_ns.saturating_sub(self.interval_ns);
        let rest_ns = now_ns.saturating_sub(began_ns);
        let at_ms = now_ns.saturating_sub(self.origin_ns).div_ceil(1_000_000);
        let joins = rest_ns < self.interval_ns / SHORT_REST && !self.slices.is_empty();
        if self.is_full() && !joins {
            self.halve();
        }
        let Some(rest) = self.grown(at_ms, recorder) else { return };
        match self.slices.last_mut() {
            Some(last) if joins => last.add(&rest.classes),
            _ => self.slices.push(rest),
        }
    }

    /// The slices so far.
    pub(crate) fn slices(&self) -> &[LatencySlice] {
        &self.slices
    }

    /// All slices.
    pub fn into_slices(self) -> Vec<LatencySlice> {
        self.slices
    }

    fn is_full(&self) -> bool {
        self.slices.len() >= self.slices_max
    }

    /// The counts since the last call; `None`: nothing was counted.
    fn grown(&mut self, at_ms: u64, recorder: &Recorder) -> Option<LatencySlice> {
        let now = recorder.latency_classes();
        let grown = now.iter().zip(self.before.iter()).map(|(now, before)| now - before).enumerate();
        let classes: Vec<(u16, u64)> =
            grown.filter(|(_, count)| *count > 0).map(|(class, count)| (class as u16, count)).collect();
        self.before = now;
        (!classes.is_empty()).then_some(LatencySlice { at_ms, classes })
    }

    fn halve(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        let interval_ms = self.interval_ns / 1_000_000;
        let mut halved: Vec<LatencySlice> = Vec::with_capacity(self.slices_max);
        for mut slice in self.slices.drain(..) {
            slice.at_ms = slice.at_ms.next_multiple_of(interval_ms);
            match halved.last_mut() {
                Some(last) if last.at_ms == slice.at_ms => last.add(&slice.classes),
                _ => halved.push(slice),
            }
        }
        self.slices = halved;
        let passed = (self.next_ns - self.origin_ns).next_multiple_of(self.interval_ns);
        self.next_ns = self.origin_ns.saturating_add(passed);
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::{Direction, PerDirection};

    use super::*;
    use crate::recorder::{RecorderOptions, class_of};

    const S: u64 = 1_000_000_000;

    fn recorder() -> Recorder {
        Recorder::new(PerDirection::all(true), RecorderOptions::default(), 1)
    }

    fn count(series: &LatencySeries) -> Vec<(u64, u64)> {
        series.slices().iter().map(|slice| (slice.at_ms, slice.classes.iter().map(|(_, count)| count).sum())).collect()
    }

    #[test]
    fn each_second_holds_its_own_latencies() {
        let mut recorder = recorder();
        let mut series = LatencySeries::begin(5, 100);
        recorder.timed_sync(Direction::Read, 1000);
        recorder.timed_sync(Direction::Write, 1000);
        recorder.timed_sync(Direction::Trim, 1000);
        series.look(S, &recorder);
        assert_eq!(count(&series), [], "5 ns are missing");
        series.look(S + 40_000_000, &recorder);
        recorder.timed_sync(Direction::Read, 70_000);
        series.look(2 * S + 5, &recorder);
        let expected = [(1000, vec![(class_of(1000) as u16, 3)]), (2000, vec![(class_of(70_000) as u16, 1)])];
        let slices: Vec<_> = series.slices().iter().map(|slice| (slice.at_ms, slice.classes.clone())).collect();
        assert_eq!(slices, expected);
    }

    #[test]
    fn a_second_without_any_is_left_out_and_a_stall_is_one_slice() {
        let mut recorder = recorder();
        let mut series = LatencySeries::begin(0, 100);
        series.look(S, &recorder);
        recorder.timed_sync(Direction::Read, 3 * S);
        series.look(4 * S + 1, &recorder);
        assert_eq!(count(&series), [(4000, 1)]);
    }

    #[test]
    fn the_ramp_leaves_nothing() {
        let mut recorder = recorder();
        let mut series = LatencySeries::begin(0, 100);
        recorder.timed_sync(Direction::Read, 10);
        series.look(S, &recorder);
        recorder.clear();
        series.cleared();
        recorder.timed_sync(Direction::Read, 10);
        recorder.timed_sync(Direction::Read, 10);
        series.look(2 * S, &recorder);
        assert_eq!(count(&series), [(1000, 1), (2000, 2)]);
    }

    #[test]
    fn the_rest_is_told_and_a_short_one_joins_the_last() {
        let mut recorder = recorder();
        let mut series = LatencySeries::begin(0, 100);
        recorder.timed_sync(Direction::Read, 10);
        series.look(S, &recorder);
        recorder.timed_sync(Direction::Read, 10);
        let mut short = series.clone();
        short.finish(S + S / 10, &recorder);
        assert_eq!(count(&short), [(1000, 2)]);
        series.finish(S + S / 2 + 1, &recorder);
        assert_eq!(count(&series), [(1000, 1), (1501, 1)]);
        let mut only = LatencySeries::begin(0, 100);
        only.finish(2, &recorder);
        assert_eq!(count(&only), [(1, 2)], "a run shorter than a second has one slice");
    }

    #[test]
    fn a_long_run_is_told_in_longer_intervals() {
        let mut recorder = recorder();
        let mut series = LatencySeries::begin(0, 4);
        for second in 1..=9 {
            recorder.timed_sync(Direction::Read, 10);
            series.look(second * S, &recorder);
        }
        assert_eq!(count(&series), [(2000, 2), (4000, 2), (6000, 2), (8000, 2)]);
        for second in 10..=17 {
            recorder.timed_sync(Direction::Read, 10);
            series.look(second * S, &recorder);
        }
        assert_eq!(count(&series), [(4000, 4), (8000, 4), (12000, 4), (16000, 4)]);
        assert_eq!(recorder.latency_classes().iter().sum::<u64>(), 17, "one interval is not over");
    }
}
