//! The search for the depth that keeps a latency (`latency_target`). Each depth is tried for a window. While all
//! windows are good, the depth doubles; after the first bad window the search continues between the deepest good and
//! the shallowest bad depth. At the end one more window is measured at the depth found, and that window is reported.

use fsdyno_job::LatencyTarget;
use fsdyno_os::errno::ETIMEDOUT;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::Op;

use super::{Ended, Failure};

/// Number of good windows in a row after which the next bad depth is tried again (`latency_run`).
const GOOD_IN_A_ROW: u32 = 3;

/// Largest number of depths that the note lists.
const LISTED_MAX: usize = 24;

/// The state of the search, which decides about the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The window of a depth is open.
    Trying,
    /// The window of a depth is over; requests in flight belong to no window.
    Changing,
    /// The same, and the depth was found.
    Found,
    /// The window that is reported is open.
    Measuring,
    /// The window that is reported is over.
    Over,
}

/// The search of one worker.
#[derive(Clone, Debug)]
pub struct DepthSearch {
    target: LatencyTarget,
    depth_max: u32,
    depth: u32,
    /// The deepest good depth; 0: there is none.
    good: u32,
    /// The shallowest bad depth.
    bad: Option<u32>,
    good_in_a_row: u32,
    state: State,
    /// When the window ends.
    due_ns: u64,
    ios: u64,
    late: u64,
    /// Depths of the windows so far, without repetitions.
    tried: Vec<u32>,
    /// Number of bad windows at a depth of 1.
    missed_alone: u64,
}

/// Why the search ends the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The last window was measured.
    Measured,
    /// All I/Os had to keep the target, and one missed it at a depth of 1, ns.
    Missed(u64),
}

impl Verdict {
    #[cold]
    pub(super) fn ended(self, op: &Op, lat_ns: u64) -> Ended {
        match self {
            Verdict::Measured => Ended::TimeUp,
            Verdict::Missed(target_ns) => Ended::Failed(Failure {
                code: ETIMEDOUT,
                function: "max latency exceeded",
                op: Some(*op),
                detail: Some(format!("latency of {lat_ns} nsec exceeds specified max ({target_ns} nsec)")),
            }),
        }
    }
}

impl DepthSearch {
    /// Begins at a depth of 1.
    pub fn new(target: LatencyTarget, depth_max: u32, now_ns: u64) -> DepthSearch {
        let mut search = DepthSearch {
            target,
            depth_max,
            depth: 1,
            good: 0,
            bad: None,
            good_in_a_row: 0,
            state: State::Trying,
            due_ns: 0,
            ios: 0,
            late: 0,
            tried: Vec::new(),
            missed_alone: 0,
        };
        search.begin_window(now_ns);
        search
    }

    /// The depth that is being tried, or that was found.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether the next request must wait until nothing is in flight.
    pub(super) fn changes(&self) -> bool {
        matches!(self.state, State::Changing | State::Found)
    }

    /// Whether the counters of the report begin with the next window.
    pub(super) fn measures(&self) -> bool {
        self.state == State::Found
    }

    /// Begins the window of this depth; nothing is in flight.
    pub(super) fn begin_window(&mut self, now_ns: u64) {
        self.state = match self.state {
            State::Found | State::Measuring => State::Measuring,
            State::Over => State::Over,
            State::Trying | State::Changing => State::Trying,
        };
        if self.tried.last() != Some(&self.depth) && self.tried.len() < LISTED_MAX {
            self.tried.push(self.depth);
        }
        (self.ios, self.late) = (0, 0);
        self.due_ns = now_ns.saturating_add(self.target.window_ns);
    }

    /// Adds the latency of an I/O. An error ends the job.
    #[inline]
    pub(super) fn note(&mut self, lat_ns: u64, end_ns: u64) -> Result<(), Verdict> {
        let late = lat_ns > self.target.target_ns;
        self.ios += 1;
        self.late += u64::from(late);
        if end_ns >= self.due_ns || late && self.target.percentile >= 100.0 { self.judge(end_ns) } else { Ok(()) }
    }

    #[cold]
    fn judge(&mut self, end_ns: u64) -> Result<(), Verdict> {
        match self.state {
            State::Measuring if end_ns < self.due_ns => return Ok(()),
            State::Measuring => {
                self.state = State::Over;
                return Err(Verdict::Measured);
            }
            State::Trying => {}
            // These requests were issued at the depth before.
            State::Changing | State::Found | State::Over => return Ok(()),
        }
        let kept_percent = (self.ios - self.late) as f64 * 100.0 / self.ios as f64;
        if kept_percent >= self.target.percentile {
            self.go_up(end_ns);
        } else if self.depth > 1 {
            self.go_down();
        } else if self.target.percentile >= 100.0 {
            return Err(Verdict::Missed(self.target.target_ns));
        } else {
            // There is no lower depth: the next window may be better.
            self.missed_alone += 1;
            self.begin_window(end_ns);
        }
        Ok(())
    }

    fn go_up(&mut self, end_ns: u64) {
        self.good = self.depth;
        let next_to_bad = self.bad == Some(self.depth + 1);
        self.good_in_a_row = if next_to_bad { self.good_in_a_row + 1 } else { 0 };
        if next_to_bad && self.target.run && self.good_in_a_row >= GOOD_IN_A_ROW {
            // Conditions may have changed: the bad depth is tried again.
            self.good_in_a_row = 0;
            self.bad = Some(self.depth + 2).filter(|bad| *bad <= self.depth_max);
        }
        let next = match self.bad {
            None => self.depth.saturating_mul(2),
            Some(bad) => (self.depth + bad) / 2,
        };
        self.turn_to(next.min(self.depth_max), end_ns);
    }

    fn go_down(&mut self) {
        self.good_in_a_row = 0;
        self.bad = Some(self.depth);
        if self.good >= self.depth {
            self.good = self.depth - 1;
        }
        self.depth = ((self.depth + self.good) / 2).max(1);
        self.state = State::Changing;
    }

    fn turn_to(&mut self, depth: u32, end_ns: u64) {
        if depth != self.depth {
            self.depth = depth;
            self.state = State::Changing;
        } else if self.target.run {
            self.begin_window(end_ns);
        } else {
            self.state = State::Found;
        }
    }

    /// The note for the reader of the report.
    pub fn report(&self, job: &str) -> Note {
        let tried: Vec<String> = self.tried.iter().map(u32::to_string).collect();
        let more = if self.tried.len() < LISTED_MAX { "" } else { " ..." };
        let tried = format!("depths tried: {}{more}", tried.join(" "));
        let depth = self.depth;
        let (severity, text) = match self.state {
            _ if self.missed_alone > 0 && self.good == 0 => {
                let windows = match self.missed_alone {
                    1 => "the only window".to_owned(),
                    count => format!("{count} windows"),
                };
                let text = format!(
                    "latency_target was missed with one I/O in flight, in {windows} windows: no depth keeps it"
                );
                (Severity::Caution, text)
            }
            State::Over => {
                let kept_percent = (self.ios - self.late) as f64 * 100.0 / self.ios.max(1) as f64;
                let text = format!(
                    "the figures are of the last window of latency_target, at iodepth {depth}: {kept_percent:.2} % of its I/Os \
                     kept the target; {tried}"
                );
                let missed = kept_percent < self.target.percentile;
                (if missed { Severity::Caution } else { Severity::Info }, text)
            }
            _ if self.target.run => {
                (Severity::Info, format!("latency_target was last tried at iodepth {depth}; {tried}"))
            }
            _ => {
                let text = format!(
                    "the job ended before latency_target had found its depth: the figures are of all depths; {tried}"
                );
                (Severity::Caution, text)
            }
        };
        Note { job: Some(job.to_owned()), ..Note::new("latency-target", severity, text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: u64 = 100;

    fn target(percentile: f64, run: bool) -> LatencyTarget {
        LatencyTarget { target_ns: 600, window_ns: WINDOW_NS, percentile, run }
    }

    /// Searches with windows of ten I/Os; depths up to `limit` are good. Returns the depths tried, the state and the
    /// depth at the end.
    fn search(target: LatencyTarget, depth_max: u32, limit: u32, windows: usize) -> (Vec<u32>, State, u32) {
        let mut search = DepthSearch::new(target, depth_max, 0);
        let (mut now_ns, mut tried) = (0, Vec::new());
        for _ in 0..windows {
            if search.changes() {
                search.begin_window(now_ns);
            }
            tried.push(search.depth());
            let lat_ns = if search.depth() <= limit { 500 } else { 700 };
            now_ns += WINDOW_NS;
            let ended = (0..10).any(|_| search.note(lat_ns, now_ns).is_err());
            if ended {
                break;
            }
        }
        (tried, search.state, search.depth())
    }

    #[test]
    fn the_search_of_a_run_of_fio() {
        assert_eq!(search(target(95.0, false), 32, 7, 99), (vec![1, 2, 4, 8, 6, 7, 7], State::Over, 7));
    }

    #[test]
    fn a_depth_that_is_good_to_the_end_is_the_largest() {
        assert_eq!(search(target(99.0, false), 16, 99, 99), (vec![1, 2, 4, 8, 16, 16], State::Over, 16));
        assert_eq!(search(target(99.0, false), 1, 99, 99), (vec![1, 1], State::Over, 1));
    }

    #[test]
    fn the_largest_depth_alone_being_bad_comes_to_an_end() {
        assert_eq!(search(target(99.0, false), 16, 15, 99), (vec![1, 2, 4, 8, 16, 12, 14, 15, 15], State::Over, 15));
    }

    #[test]
    fn one_slow_i_o_of_all_is_enough_where_all_must_be_quick() {
        assert_eq!(search(target(100.0, false), 32, 7, 99).0, [1, 2, 4, 8, 6, 7, 7]);
        let mut alone = DepthSearch::new(target(100.0, false), 32, 0);
        assert_eq!(alone.note(601, 1), Err(Verdict::Missed(600)));
        let mut some = DepthSearch::new(target(50.0, false), 32, 0);
        assert_eq!((some.note(601, 1), some.note(600, 1)), (Ok(()), Ok(())), "600 ns keep 600 ns");
        assert_eq!(some.note(100, WINDOW_NS), Ok(()));
        assert!(some.changes() && some.depth() == 2);
    }

    #[test]
    fn a_depth_of_one_that_is_bad_is_tried_again() {
        let (tried, state, depth) = search(target(95.0, false), 32, 0, 5);
        assert_eq!((tried, state, depth), (vec![1; 5], State::Trying, 1));
    }

    #[test]
    fn a_search_that_goes_on_never_ends_and_tries_the_bad_depth_again() {
        let (tried, state, _) = search(target(95.0, true), 32, 7, 14);
        assert_eq!(tried, [1, 2, 4, 8, 6, 7, 7, 7, 8, 7, 7, 7, 8, 7]);
        assert!(state != State::Over);
    }
}
