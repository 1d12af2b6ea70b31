//! Times at which a worker's loop runs its tick: the end of the ramp, of a sample window, of the runtime, and regular
//! times for reading orders and publishing totals. The loop compares one number; the rest is done here.

use crate::recorder::Recorder;

/// Interval at which orders are read and totals published, ns.
const TICK_NS: u64 = 50_000_000;

/// The same during a ramp by bytes, which ends at one of these ticks, ns.
const RAMP_TICK_NS: u64 = 1_000_000;

/// Percent by which the last window may be shorter than the others.
const SHORT_PERCENT: u64 = 10;

/// A sample window.
#[derive(Clone, Debug)]
struct Timer {
    length_ns: u64,
    opened_ns: u64,
}

impl Timer {
    fn new(length_ms: u32) -> Timer {
        Timer { length_ns: u64::from(length_ms.max(1)) * 1_000_000, opened_ns: 0 }
    }

    fn due_ns(&self) -> u64 {
        self.opened_ns.saturating_add(self.length_ns)
    }
}

/// What the tick found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TickResult {
    /// Go on.
    Continue,
    /// The ramp ended just now; the counters were cleared.
    Measured,
    /// The runtime is over.
    TimeUp,
}

/// What ends the ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RampEnd {
    /// A time on the worker's clock, ns.
    At(u64),
    /// The number of bytes that this worker has transferred.
    Bytes(u64),
    /// An order of the conductor, which adds up the bytes of the worker's group.
    Order,
}

/// The tick times of one worker. All times are ns on the worker's clock.
#[derive(Clone, Debug)]
pub struct JobClock {
    /// The loop runs the tick when its clock reaches this time.
    pub(crate) next_ns: u64,
    begin_ns: u64,
    ramp_end: Option<RampEnd>,
    runtime_ns: u64,
    end_ns: Option<u64>,
    bandwidth: Timer,
    iops: Timer,
}

impl JobClock {
    /// Begins now. `runtime_ns` 0: there is no time limit.
    pub fn begin(
        now_ns: u64,
        ramp_ns: u64,
        runtime_ns: u64,
        bandwidth_window_ms: u32,
        iops_window_ms: u32,
    ) -> JobClock {
        let mut phase = JobClock {
            next_ns: 0,
            begin_ns: now_ns,
            ramp_end: (ramp_ns > 0).then_some(RampEnd::At(now_ns + ramp_ns)),
            runtime_ns,
            end_ns: None,
            bandwidth: Timer::new(bandwidth_window_ms),
            iops: Timer::new(iops_window_ms),
        };
        phase.start_measuring(now_ns);
        phase
    }

    /// Sets what ends the ramp.
    pub fn with_ramp(mut self, ramp_end: Option<RampEnd>) -> JobClock {
        if ramp_end.is_some() {
            self.ramp_end = ramp_end;
            self.start_measuring(self.begin_ns);
        }
        self
    }

    /// Takes the time limit away.
    pub fn lift_limit(&mut self, now_ns: u64) {
        (self.runtime_ns, self.end_ns) = (0, None);
        self.plan_next(now_ns);
    }

    /// Whether the ramp is not over: what is counted now will not be reported.
    pub fn in_ramp(&self) -> bool {
        self.ramp_end.is_some()
    }

    /// Ends the ramp by order of the conductor.
    pub(crate) fn end_ramp(&mut self) {
        if self.ramp_end == Some(RampEnd::Order) {
            self.ramp_end = Some(RampEnd::At(0));
        }
    }

    /// Begins to measure again; the end of the runtime stays where it is.
    pub(crate) fn begin_anew(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let end_ns = self.end_ns;
        recorder.clear();
        self.start_measuring(now_ns);
        self.end_ns = end_ns;
        self.plan_next(now_ns);
    }

    fn start_measuring(&mut self, now_ns: u64) {
        self.begin_ns = now_ns;
        self.bandwidth.opened_ns = now_ns;
        self.iops.opened_ns = now_ns;
        let limited = self.runtime_ns > 0 && !self.in_ramp();
        self.end_ns = limited.then(|| now_ns.saturating_add(self.runtime_ns));
        self.plan_next(now_ns);
    }

    fn plan_next(&mut self, now_ns: u64) {
        // No window closes during the ramp, because its samples are not reported.
        let window_ns = if self.in_ramp() { u64::MAX } else { self.bandwidth.due_ns().min(self.iops.due_ns()) };
        let (limit_ns, tick_ns) = match self.ramp_end {
            Some(RampEnd::At(end_ns)) => (end_ns, TICK_NS),
            Some(RampEnd::Bytes(_) | RampEnd::Order) => (u64::MAX, RAMP_TICK_NS),
            None => (self.end_ns.unwrap_or(u64::MAX), TICK_NS),
        };
        let soonest = window_ns.min(limit_ns);
        self.next_ns = soonest.min(now_ns.saturating_add(tick_ns));
    }

    /// Does what is due at `now_ns`.
    pub(crate) fn tick(&mut self, now_ns: u64, recorder: &mut Recorder) -> TickResult {
        if self.ramp_is_over(now_ns, recorder) {
            self.ramp_end = None;
            recorder.clear();
            self.start_measuring(now_ns);
            return TickResult::Measured;
        }
        let over = self.end_ns.is_some_and(|end| now_ns >= end);
        self.close_windows(now_ns, 0, recorder);
        self.plan_next(now_ns);
        if over { TickResult::TimeUp } else { TickResult::Continue }
    }

    fn ramp_is_over(&self, now_ns: u64, recorder: &Recorder) -> bool {
        match self.ramp_end {
            Some(RampEnd::At(end_ns)) => now_ns >= end_ns,
            Some(RampEnd::Bytes(bytes)) => recorder.bytes_moved() >= bytes,
            Some(RampEnd::Order) | None => false,
        }
    }

    /// Closes the last windows, as no request follows. Each window closes a little late, so that the last window of a
    /// runtime is a little short; it counts nevertheless.
    pub(crate) fn close_last_windows(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.close_windows(now_ns, SHORT_PERCENT, recorder);
    }

    /// Closes the windows that are due, and those that are at most `short_percent` of their length too short.
    fn close_windows(&mut self, now_ns: u64, short_percent: u64, recorder: &mut Recorder) {
        if self.in_ramp() {
            return;
        }
        let at_ms = now_ns.saturating_sub(self.begin_ns) / 1_000_000;
        let is_due = |timer: &Timer| now_ns >= timer.due_ns() - timer.length_ns / 100 * short_percent;
        let (bandwidth_due, iops_due) = (is_due(&self.bandwidth), is_due(&self.iops));
        if bandwidth_due {
            recorder.sample_bandwidth(now_ns.saturating_sub(self.bandwidth.opened_ns) / 1_000_000, at_ms);
            self.bandwidth.opened_ns = now_ns;
        }
        if iops_due {
            recorder.sample_iops(now_ns.saturating_sub(self.iops.opened_ns) / 1_000_000, at_ms);
            self.iops.opened_ns = now_ns;
        }
    }

    /// Length of the phase at `now_ns` in ms: in whole microseconds, then rounded up to ms, as fio does.
    pub fn elapsed_ms(&self, now_ns: u64) -> u64 {
        (now_ns.saturating_sub(self.begin_ns) / 1000).div_ceil(1000)
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_job::PerDirection;

    use super::*;
    use crate::recorder::RecorderOptions;

    const MS: u64 = 1_000_000;

    fn recorder() -> Recorder {
        Recorder::new(PerDirection { read: true, write: false, trim: false }, RecorderOptions::default(), 1)
    }

    #[test]
    fn ramp_then_runtime() {
        let mut recorder = recorder();
        let mut phase = JobClock::begin(1000, 100 * MS, 200 * MS, 500, 500);
        assert!(phase.in_ramp());
        assert_eq!(phase.tick(1000 + 50 * MS, &mut recorder), TickResult::Continue);
        recorder.transferred(fsdyno_job::Direction::Read as usize, 4096);
        assert_eq!(phase.tick(1000 + 100 * MS, &mut recorder), TickResult::Measured);
        assert_eq!(recorder.bytes(fsdyno_job::Direction::Read), 0, "ramp traffic is not reported");
        assert_eq!(phase.tick(1000 + 299 * MS, &mut recorder), TickResult::Continue);
        assert_eq!(phase.tick(1000 + 300 * MS, &mut recorder), TickResult::TimeUp);
        assert_eq!(phase.elapsed_ms(1000 + 300 * MS), 200);
        assert_eq!(phase.elapsed_ms(1001 + 300 * MS + 999), 201, "a millisecond that has begun counts");
    }

    #[test]
    fn the_last_window_counts_unless_it_is_much_too_short() {
        let samples = |runtime_ms: u64| {
            let mut recorder = recorder();
            let mut phase = JobClock::begin(0, 0, runtime_ms * MS, 500, 500);
            // Each window closes a millisecond late.
            for now_ms in [501, 1002, runtime_ms] {
                recorder.transferred(fsdyno_job::Direction::Read as usize, 512_000);
                phase.tick(now_ms * MS, &mut recorder);
            }
            phase.close_last_windows(runtime_ms * MS, &mut recorder);
            let shown = crate::recorder::ReportedFigures {
                clat: true,
                slat: false,
                lat: true,
                classes: true,
                bandwidth: true,
                sampled: false,
            };
            recorder.counted(runtime_ms, shown).directions.read.bandwidth_samples.count
        };
        assert_eq!((samples(1500), samples(1400)), (3, 2));
    }

    #[test]
    fn windows_close_when_due_and_the_last_part_is_dropped() {
        let mut recorder = recorder();
        let mut phase = JobClock::begin(0, 0, 0, 500, 1000);
        recorder.transferred(fsdyno_job::Direction::Read as usize, 512_000);
        phase.tick(500 * MS, &mut recorder);
        phase.tick(900 * MS, &mut recorder);
        let shown = crate::recorder::ReportedFigures {
            clat: true,
            slat: false,
            lat: true,
            classes: true,
            bandwidth: true,
            sampled: false,
        };
        let counted = recorder.counted(900, shown);
        assert_eq!(counted.directions.read.bandwidth_samples.count, 1);
        assert_eq!(counted.directions.read.bandwidth_samples.min, 1000, "512,000 B in 0.5 s are 1,000 KiB/s");
        assert_eq!(counted.directions.read.iops_samples.count, 0);
    }
}
