//! The first look at a storage: the calls before a run that a dead server, daemon or disk can hold for ever, and with
//! them the thread that works. Another one watches, and ends the program when there is no answer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{JoinHandle, park_timeout};
use std::time::Duration;

use engine::clock::{Clock, RealClock};
use engine::errno::ETIMEDOUT;
use guide::{Problem, Watcher};
use run::{Bounds, Control};

use super::status::{BY_SIGNAL, REJECTED, UNUSABLE};
use super::streams::{complain, tell};
use super::supervisor;

/// So long a look may go on after a signal, ns: what has begun to make something gets the time to remove it.
const AFTER_SIGNAL_NS: u64 = 1_000_000_000;

/// Between two looks at the look, and what one counts at most: a machine that stood still hurries nobody.
const STEP: Duration = Duration::from_millis(100);
const STEP_NS_MAX: u64 = 200_000_000;

/// Whose words and exit statuses are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// fio's.
    Fio,
    /// The questions.
    Guided,
}

/// A look that goes on until this is dropped.
pub(crate) struct FirstLook {
    state: Arc<Mutex<State>>,
    watch: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// What is looked at; `None`: nothing any more.
    path: Option<PathBuf>,
    patience: Patience,
}

/// How long a path has said nothing.
#[derive(Debug, Default)]
struct Patience {
    silent_ns: u64,
    since_signal_ns: u64,
}

/// Why a look is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenUp {
    Silent,
    Signal(i32),
}

impl Patience {
    /// One look at the look, `step_ns` after the one before.
    fn ends(&mut self, step_ns: u64, signal: Option<i32>, bounds: Bounds) -> Option<GivenUp> {
        let step_ns = step_ns.min(STEP_NS_MAX);
        self.silent_ns += step_ns;
        self.since_signal_ns += if signal.is_some() { step_ns } else { 0 };
        match signal {
            Some(signal) if self.since_signal_ns >= AFTER_SIGNAL_NS => Some(GivenUp::Signal(signal)),
            _ => (self.silent_ns >= bounds.patience_ns()).then_some(GivenUp::Silent),
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl FirstLook {
    /// This thread begins to look at `path`.
    pub(crate) fn begin(face: Face, control: &Arc<Control>, path: &Path) -> FirstLook {
        let state = State { path: Some(path.to_path_buf()), patience: Patience::default() };
        let state = Arc::new(Mutex::new(state));
        let (watched, control, thread) = (Arc::clone(&state), Arc::clone(control), engine::thread::thread_id());
        let begun = std::thread::Builder::new()
            .name("first look".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || watch(face, &watched, &control, thread));
        if let Err(error) = &begun {
            complain(&format!(
                "note: cannot start a thread: {error}; should {} never answer, nobody says so",
                path.display()
            ));
        }
        FirstLook { state, watch: begun.ok() }
    }

    /// It goes on with this path.
    pub(crate) fn at(&self, path: &Path) {
        let mut state = locked(&self.state);
        state.path = Some(path.to_path_buf());
        state.patience.silent_ns = 0;
    }
}

impl Drop for FirstLook {
    fn drop(&mut self) {
        locked(&self.state).path = None;
        if let Some(watch) = self.watch.take() {
            // It sees at once that it is over.
            watch.thread().unpark();
        }
    }
}

/// `thread`: the one that looks.
fn watch(face: Face, state: &Mutex<State>, control: &Control, thread: u32) {
    let clock = RealClock::shared();
    let mut looked_ns = clock.now_ns();
    loop {
        park_timeout(STEP);
        let now_ns = clock.now_ns();
        let step_ns = now_ns.saturating_sub(std::mem::replace(&mut looked_ns, now_ns));
        let mut state = locked(state);
        let Some(path) = state.path.clone() else { return };
        // The kernel may have given the signal to the thread that looks: it waits there for as long as that does.
        let signal = control.signal().or_else(|| probe::pending_signal(&engine::signals::STOPS));
        if let Some(given_up) = state.patience.ends(step_ns, signal, control.bounds()) {
            // Whoever looks cannot go on from here, should it come back now: it would need the state.
            give_up(face, given_up, &path, thread, control.bounds());
        }
    }
}

fn give_up(face: Face, given_up: GivenUp, path: &Path, thread: u32, bounds: Bounds) -> ! {
    let doing =
        probe::waiting_of(thread).map_or_else(|_| "the first look at it".to_owned(), |waiting| waiting.to_string());
    let problem = match given_up {
        GivenUp::Silent => no_answer(path, &doing, bounds),
        GivenUp::Signal(signal) => {
            Problem::new(format!("ended by signal {signal}, for {} does not answer", path.display()))
        }
    };
    let status = match (face, given_up) {
        (Face::Fio, GivenUp::Silent) => REJECTED,
        (Face::Fio, GivenUp::Signal(_)) => BY_SIGNAL,
        (Face::Guided, GivenUp::Silent) => UNUSABLE,
        (Face::Guided, GivenUp::Signal(signal)) => BY_SIGNAL + signal as u8,
    };
    match face {
        Face::Guided => tell(&problem),
        Face::Fio => {
            let next = problem.next.as_ref().map(|next| format!("\n  next: {next}")).unwrap_or_default();
            complain(&format!("fio: {problem}{next}"));
        }
    }
    supervisor::abandon(status)
}

fn no_answer(path: &Path, doing: &str, bounds: Bounds) -> Problem {
    let place = match probe::mount_by_name(path) {
        Ok(mount) => {
            format!("it is on {} from {}, mounted at {}", mount.fstype, mount.source, mount.mount_point.display())
        }
        Err(unseen) => format!("its mount is not visible: {unseen}"),
    };
    let (shown, seconds) = (path.display(), bounds.patience_ns() / 1_000_000_000);
    Problem::new(format!("{shown} does not answer: {doing} has waited for {seconds} s (errno {ETIMEDOUT}); {place}"))
        .with_next(format!(
            "see with `fsdyno inspect {shown}` what is known of it, and whether its server, daemon or disk is alive"
        ))
}

/// Watches the looks of a question.
pub(crate) struct Looks {
    control: Arc<Control>,
    look: Option<FirstLook>,
}

impl Looks {
    pub(crate) fn new(control: Arc<Control>) -> Looks {
        Looks { control, look: None }
    }
}

impl Watcher for Looks {
    fn looks(&mut self, path: &Path) {
        match &self.look {
            Some(look) => look.at(path),
            None => self.look = Some(FirstLook::begin(Face::Guided, &self.control, path)),
        }
    }

    fn looked(&mut self) {
        self.look = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Looks at the look, of a tenth of a second, until it is given up.
    fn looks_until(patience: &mut Patience, signal: Option<i32>) -> (u64, GivenUp) {
        (1..10_000).find_map(|look| Some((look, patience.ends(SECOND_NS / 10, signal, Bounds::default())?))).unwrap()
    }

    #[test]
    fn silence_has_half_a_minute_and_a_signal_a_second() {
        assert_eq!(looks_until(&mut Patience::default(), None), (300, GivenUp::Silent));
        assert_eq!(looks_until(&mut Patience::default(), Some(2)), (10, GivenUp::Signal(2)));
        let mut patience = Patience { silent_ns: 29 * SECOND_NS, since_signal_ns: 0 };
        assert_eq!(looks_until(&mut patience, None), (10, GivenUp::Silent));
    }

    #[test]
    fn a_machine_that_stood_still_hurries_nobody() {
        assert_eq!(Patience::default().ends(3600 * SECOND_NS, None, Bounds::default()), None);
    }

    #[test]
    fn another_path_has_the_whole_time_again() {
        let look = FirstLook::begin(Face::Guided, &Arc::new(Control::default()), Path::new("/one"));
        locked(&look.state).patience.silent_ns = 29 * SECOND_NS;
        look.at(Path::new("/two"));
        let state = locked(&look.state);
        assert!(state.patience.silent_ns < 29 * SECOND_NS);
        assert_eq!(state.path.as_deref(), Some(Path::new("/two")));
    }

    #[test]
    fn who_does_not_answer_is_told_with_its_mount() {
        let problem = no_answer(Path::new("/proc/1"), "stat", Bounds::default());
        assert!(
            problem
                .what
                .starts_with("/proc/1 does not answer: stat has waited for 30 s (errno 110); it is on proc from"),
            "{problem}"
        );
        assert!(problem.next.is_some_and(|next| next.contains("`fsdyno inspect /proc/1`")));
    }
}
