//! The intervals that a steady state is judged by, as a worker measures them.

use fsdyno_job::SteadyState;

use crate::recorder::Recorder;

/// What a worker did in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Its length.
    pub elapsed_ns: u64,
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Number of completion latencies, and their sum in ns.
    pub clat: (u64, u64),
}

impl Interval {
    /// The difference from `then`, where both are counted from the same moment.
    fn since(self, then: Interval) -> Interval {
        Interval {
            elapsed_ns: self.elapsed_ns - then.elapsed_ns,
            ios: self.ios - then.ios,
            bytes: self.bytes - then.bytes,
            clat: (self.clat.0 - then.clat.0, self.clat.1 - then.clat.1),
        }
    }

    /// `amount` of this interval as a rate per second.
    pub fn per_second(&self, amount: u64) -> u64 {
        (u128::from(amount) * 1_000_000_000 / u128::from(self.elapsed_ns.max(1))) as u64
    }
}

/// Time after an interval at which the worker looks for the conductor's answer, ns. The answer may be an order to
/// stop, which would otherwise wait for the next tick.
const ANSWER_NS: u64 = 5_000_000;

/// A worker's side: measures intervals in the tick of its loop and sends each to the conductor.
pub struct IntervalMeter {
    send: Box<dyn Fn(Interval)>,
    interval_ns: u64,
    ramp_ns: u64,
    /// When the current interval ends; before the first interval, when that begins.
    due_ns: u64,
    /// When the worker looks for the answer to the last interval.
    answer_ns: u64,
    began: Option<Interval>,
}

impl IntervalMeter {
    /// `send` passes an interval to the conductor.
    pub fn new(steady: &SteadyState, send: Box<dyn Fn(Interval)>) -> IntervalMeter {
        let (interval_ns, ramp_ns) = (steady.interval_ns, steady.ramp_ns);
        IntervalMeter { send, interval_ns, ramp_ns, due_ns: u64::MAX, answer_ns: u64::MAX, began: None }
    }

    /// Measuring begins; `steadystate_ramp_time` counts from here.
    pub fn begin(&mut self, now_ns: u64) {
        self.due_ns = now_ns.saturating_add(self.ramp_ns);
        self.began = None;
    }

    /// The time of the next [`IntervalMeter::look`].
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns.min(self.answer_ns)
    }

    /// Closes the interval if it has ended. An interval that a stall has prolonged is judged by its real length.
    pub(crate) fn look(&mut self, now_ns: u64, recorder: &Recorder) {
        if now_ns >= self.answer_ns {
            self.answer_ns = u64::MAX;
        }
        if now_ns < self.due_ns {
            return;
        }
        let (ios, bytes, clat) = (recorder.all_completed(), recorder.bytes_moved(), recorder.clat_sum());
        let now = Interval { elapsed_ns: now_ns, ios, bytes, clat };
        if let Some(began) = self.began.replace(now) {
            (self.send)(now.since(began));
            self.answer_ns = now_ns.saturating_add(ANSWER_NS);
        }
        self.due_ns = self.due_ns.saturating_add(self.interval_ns).max(now_ns.saturating_add(self.interval_ns / 2));
    }
}
