//! Guards the first access to a storage: calls before a run that a dead server, daemon or disk can block for ever,
//! together with the thread that makes them. Another thread watches, and ends the program when there is no answer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{JoinHandle, park_timeout};
use std::time::Duration;

use fsdyno_guide::{Problem, Watcher};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::ETIMEDOUT;
use fsdyno_run::{Bounds, Control, Liveness, StallDetector};

use super::status::{BY_SIGNAL, REJECTED, UNUSABLE};
use super::streams::{print_stderr, refused};
use super::supervisor;

/// Interval at which the watching thread checks.
const STEP: Duration = Duration::from_millis(100);

/// The face whose words and exit statuses are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// fio's face.
    Fio,
    /// The guided face.
    Guided,
}

/// A first access that lasts until this is dropped.
pub(crate) struct FirstLook {
    state: Arc<Mutex<State>>,
    watch: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// The path that is accessed; `None`: none any more.
    path: Option<PathBuf>,
    /// Number of paths before: another path has the whole time limit again.
    paths: u64,
    watch: Watch,
}

/// How long a path has not responded, and the time since a signal came.
#[derive(Debug, Default)]
struct Watch {
    silent: StallDetector<u64>,
    signalled: StallDetector<i32>,
}

/// Why a first access is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenUp {
    Silent,
    Signal(i32),
}

impl Watch {
    /// One check, `step_ns` after the previous one.
    fn ends(&mut self, step_ns: u64, paths: u64, signal: Option<i32>, bounds: Bounds) -> Option<GivenUp> {
        let is_lost = |found| matches!(found, Liveness::Lost(_));
        let silent = is_lost(self.silent.look(step_ns, paths, bounds.answer()));
        match signal {
            Some(signal) if is_lost(self.signalled.look(step_ns, signal, bounds.after_signal())) => {
                Some(GivenUp::Signal(signal))
            }
            _ => silent.then_some(GivenUp::Silent),
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl FirstLook {
    /// This thread begins to access `path`.
    pub(crate) fn begin(face: Face, control: &Arc<Control>, path: &Path) -> FirstLook {
        let state = State { path: Some(path.to_path_buf()), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let (watched, control, thread) = (Arc::clone(&state), Arc::clone(control), fsdyno_os::thread::thread_id());
        let begun = fsdyno_os::thread::begin("first look", 256 * 1024, move || watch(face, &watched, &control, thread));
        if let Err(error) = &begun {
            print_stderr(&format!(
                "note: cannot start a thread: {error}; if {} never answers, no message says so",
                path.display()
            ));
        }
        FirstLook { state, watch: begun.ok() }
    }

    /// It goes on with this path.
    pub(crate) fn at(&self, path: &Path) {
        let mut state = locked(&self.state);
        state.path = Some(path.to_path_buf());
        state.paths += 1;
    }
}

impl Drop for FirstLook {
    fn drop(&mut self) {
        locked(&self.state).path = None;
        if let Some(watch) = self.watch.take() {
            // It then sees at once that the access is over.
            watch.thread().unpark();
        }
    }
}

/// Watches the first access; `thread`: the thread that makes it.
fn watch(face: Face, state: &Mutex<State>, control: &Control, thread: u32) {
    let clock = RealClock::shared();
    let mut looked_ns = clock.now_ns();
    loop {
        park_timeout(STEP);
        let now_ns = clock.now_ns();
        let step_ns = now_ns.saturating_sub(std::mem::replace(&mut looked_ns, now_ns));
        let mut state = locked(state);
        let Some(path) = state.path.clone() else { return };
        // The kernel may have delivered the signal to the blocked thread: there it stays pending until the call
        // returns.
        let signal = control.signal().or_else(|| fsdyno_probe::pending_signal(&fsdyno_os::signals::STOPS));
        let paths = state.paths;
        if let Some(given_up) = state.watch.ends(step_ns, paths, signal, control.bounds()) {
            // If the call returns now, its thread cannot go on: it needs the state, which is held here.
            give_up(face, given_up, &path, thread, control.bounds());
        }
    }
}

fn give_up(face: Face, given_up: GivenUp, path: &Path, thread: u32, bounds: Bounds) -> ! {
    let doing = fsdyno_probe::waiting_of(thread)
        .map_or_else(|_| "the first look at it".to_owned(), |waiting| waiting.to_string());
    let problem = match given_up {
        GivenUp::Silent => no_answer(path, &doing, bounds),
        GivenUp::Signal(signal) => {
            Problem::new(format!("ended by signal {signal}; {} does not answer", path.display()))
        }
    };
    let status = match (face, given_up) {
        (Face::Fio, GivenUp::Silent) => REJECTED,
        (Face::Fio, GivenUp::Signal(_)) => BY_SIGNAL,
        (Face::Guided, GivenUp::Silent) => UNUSABLE,
        (Face::Guided, GivenUp::Signal(signal)) => BY_SIGNAL + signal as u8,
    };
    match face {
        Face::Guided => {
            refused(&problem);
        }
        Face::Fio => {
            let next = problem.next.as_ref().map(|next| format!("\n  next: {next}")).unwrap_or_default();
            print_stderr(&format!("fio: {problem}{next}"));
        }
    }
    supervisor::abandon(status)
}

fn no_answer(path: &Path, doing: &str, bounds: Bounds) -> Problem {
    let place = match fsdyno_probe::mount_by_name(path) {
        Ok(mount) => {
            format!("it is on {} from {}, mounted at {}", mount.fstype, mount.source, mount.mount_point.display())
        }
        Err(unseen) => format!("its mount is not visible: {unseen}"),
    };
    let (shown, seconds) = (path.display(), bounds.seconds());
    let typed = fsdyno_text::shell::path_as_typed(path);
    Problem::new(format!("{shown} does not answer: {doing} has waited for {seconds} s (errno {ETIMEDOUT}); {place}"))
        .with_next(format!(
            "see with `fsdyno inspect {typed}` what is known about it, and whether its server, daemon or disk is alive"
        ))
}

/// Guards the first accesses of a question.
pub(crate) struct FirstAccessGuard {
    control: Arc<Control>,
    look: Option<FirstLook>,
}

impl FirstAccessGuard {
    pub(crate) fn new(control: Arc<Control>) -> FirstAccessGuard {
        FirstAccessGuard { control, look: None }
    }
}

impl Watcher for FirstAccessGuard {
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

    const STEP_NS: u64 = 100_000_000;

    /// Checks until the access is given up; returns the number of checks.
    fn looks_until(watch: &mut Watch, paths: u64, signal: Option<i32>) -> (u64, GivenUp) {
        let bounds = Bounds::of_seconds(2);
        (0..10_000).find_map(|look| Some((look, watch.ends(STEP_NS, paths, signal, bounds)?))).unwrap()
    }

    #[test]
    fn silence_has_all_the_patience_there_is_and_a_signal_a_second() {
        assert_eq!(looks_until(&mut Watch::default(), 0, None), (20, GivenUp::Silent));
        assert_eq!(looks_until(&mut Watch::default(), 0, Some(2)), (10, GivenUp::Signal(2)));
    }

    #[test]
    fn another_path_has_the_whole_time_again() {
        let mut watch = Watch::default();
        assert!((0..20).all(|_| watch.ends(STEP_NS, 0, None, Bounds::of_seconds(2)).is_none()));
        assert_eq!(looks_until(&mut watch, 1, None), (20, GivenUp::Silent));
        let look = FirstLook::begin(Face::Guided, &Arc::new(Control::default()), Path::new("/one"));
        look.at(Path::new("/two"));
        let state = locked(&look.state);
        assert_eq!((state.paths, state.path.as_deref()), (1, Some(Path::new("/two"))));
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
