//! Workers whose operation never comes back: told of, and in the end left behind. The watch looks at them from
//! outside, so that it costs them nothing.

use engine::errno::ETIMEDOUT;
use results::JobError;

/// An operation that does not come back for so long is told of, ns; one that moves much has longer.
const SILENCE_NS: u64 = 30_000_000_000;

/// And so much later its worker is left behind, ns; after a signal without this delay.
const PATIENCE_NS: u64 = 60_000_000_000;

/// One look counts at most so much, ns: a machine that stood still hurries nobody.
const STEP_NS_MAX: u64 = 200_000_000;

/// One worker under watch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watched {
    /// The operation it was at, counted from 1.
    at: u64,
    silent_ns: u64,
    told: bool,
}

/// What a look at a worker found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing to say.
    Well,
    /// It has been at one operation for long.
    Silent,
    /// It does not come back.
    Lost,
}

impl Watched {
    /// One look, `step_ns` after the one before. `more_ns`: what one operation may take beyond the usual.
    pub(super) fn look(&mut self, step_ns: u64, at: u64, more_ns: u64, stopped: bool) -> Found {
        if at != self.at {
            (self.at, self.silent_ns) = (at, 0);
            return Found::Well;
        }
        self.silent_ns += step_ns.min(STEP_NS_MAX);
        let silence_ns = SILENCE_NS + more_ns;
        match () {
            () if self.silent_ns >= silence_ns + if stopped { 0 } else { PATIENCE_NS } => Found::Lost,
            () if self.silent_ns >= silence_ns && !self.told => {
                self.told = true;
                Found::Silent
            }
            () => Found::Well,
        }
    }

    fn silent_s(&self) -> u64 {
        self.silent_ns / 1_000_000_000
    }

    /// `name`: what it works on. `thread`: the worker.
    pub(super) fn sentence(&self, phase: &str, name: &str, thread: u32) -> String {
        let seconds = self.silent_s();
        format!("{phase}: {name} has not come back for {seconds} s; its worker is in {}", operation(thread))
    }

    /// The error of a worker that is left behind, and the sentence about it.
    pub(super) fn left_behind(&self, phase: &str, name: &str, thread: u32) -> (JobError, String) {
        let (operation, seconds) = (operation(thread), self.silent_s());
        let text = format!("no answer for {seconds} s about {name}");
        let sentence = format!(
            "fsdyno: {phase}: a worker is stuck in {operation} of {name}: no answer for {seconds} s (errno {ETIMEDOUT}). \
             It is left behind, and so are its files"
        );
        (JobError { code: ETIMEDOUT, function: operation, text }, sentence)
    }
}

/// What the thread waits for, in a word.
fn operation(thread: u32) -> String {
    probe::waiting_of(thread).map_or_else(|_| "a call that is not visible".to_string(), |waiting| waiting.operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_NS: u64 = 100_000_000;

    /// Seconds until each is found first: silent, lost.
    fn found(more_ns: u64, stopped: bool) -> (Option<u64>, Option<u64>) {
        let mut watched = Watched::default();
        let looks: Vec<Found> = (0..3000).map(|_| watched.look(STEP_NS, 0, more_ns, stopped)).collect();
        let first = |wanted| looks.iter().position(|found| *found == wanted).map(|look| (look as u64 + 1) / 10);
        (first(Found::Silent), first(Found::Lost))
    }

    #[test]
    fn an_operation_that_does_not_come_back_is_told_of_and_then_left() {
        assert_eq!(found(0, false), (Some(30), Some(90)));
        assert_eq!(found(0, true), (None, Some(30)), "after a signal nobody waits longer");
        assert_eq!(found(10_000_000_000, false), (Some(40), Some(100)), "large files take longer");
    }

    #[test]
    fn it_is_told_once_and_any_progress_counts() {
        let mut watched = Watched::default();
        let told = (0..899).filter(|_| watched.look(STEP_NS, 0, 0, false) == Found::Silent).count();
        assert_eq!(told, 1);
        assert_eq!(watched.look(STEP_NS, 1, 0, false), Found::Well);
        assert!((0..899).all(|_| watched.look(STEP_NS, 1, 0, false) == Found::Well));
        assert_eq!(watched.look(STEP_NS, 1, 0, false), Found::Lost);
    }

    #[test]
    fn a_machine_that_stood_still_hurries_nobody() {
        assert_eq!(Watched::default().look(3_600_000_000_000, 0, 0, true), Found::Well);
    }

    #[test]
    fn where_it_is_stuck_is_said() {
        let watched = Watched { silent_ns: 31_000_000_000, ..Watched::default() };
        let (error, sentence) = watched.left_behind("write", "files/test7.txt", 0);
        assert_eq!((error.code, error.text.as_str()), (110, "no answer for 31 s about files/test7.txt"));
        assert!(sentence.contains("a call that is not visible of files/test7.txt: no answer for 31 s (errno 110)"));
    }
}
