//! Intervals of a steady state, as a worker measures them.

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
    /// Completion latencies: how many, and their sum, ns.
    pub clat: (u64, u64),
}

impl Interval {
    /// Since `then`, when both count from the same moment.
    fn since(self, then: Interval) -> Interval {
        Interval {
            elapsed_ns: self.elapsed_ns - then.elapsed_ns,
            ios: self.ios - then.ios,
            bytes: self.bytes - then.bytes,
            clat: (self.clat.0 - then.clat.0, self.clat.1 - then.clat.1),
        }
    }

    /// This amount as a rate per second.
    pub fn per_second(&self, amount: u64) -> u64 {
        (u128::from(amount) * 1_000_000_000 / u128::from(self.elapsed_ns.max(1))) as u64
    }
}

/// How long after an interval the worker looks for the answer to it, ns: it may be an order to stop, which would else wait
/// for the next tick.
const ANSWER_NS: u64 = 5_000_000;

/// A worker's side: measures intervals in the tick of its loop and sends each to the conductor.
pub struct IntervalMeter {
    send: Box<dyn Fn(Interval)>,
    interval_ns: u64,
    ramp_ns: u64,
    /// When the interval ends; before the first one, when that begins.
    due_ns: u64,
    /// When the answer to the last interval is looked for.
    answer_ns: u64,
    began: Option<Interval>,
}

impl IntervalMeter {
    /// `send` hands an interval over.
    pub fn new(steady: &SteadyState, send: Box<dyn Fn(Interval)>) -> IntervalMeter {
        let (interval_ns, ramp_ns) = (steady.interval_ns, steady.ramp_ns);
        IntervalMeter { send, interval_ns, ramp_ns, due_ns: u64::MAX, answer_ns: u64::MAX, began: None }
    }

    /// Measuring begins; `steadystate_ramp_time` counts from here.
    pub fn begin(&mut self, now_ns: u64) {
        self.due_ns = now_ns.saturating_add(self.ramp_ns);
        self.began = None;
    }

    /// When the next look must come.
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns.min(self.answer_ns)
    }

    /// Closes the interval that has ended, if one has. One that a stall made longer is judged by its own length.
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
