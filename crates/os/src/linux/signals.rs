//! Receives signals on threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGALRM, SIGHUP, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};
pub use signal_hook::consts::{SIGINT, SIGUSR1};
use signal_hook::iterator::{Handle, Signals};

use super::process::{ignores, warn_before_processor_limit};
use crate::clock::{Clock, RealClock};

/// A SIGINT within this time after the first counts as the same: timeout(1) sends each signal twice, and users press
/// keys twice; ns.
const ECHO_NS: u64 = 1_000_000_000;

/// Signals that end a run: an interrupt, a request to stop, CPU time that is nearly used up, a closed terminal; and
/// all others that would end the process without a report, except those of its own faults.
pub const STOPS: [i32; 12] = [
    SIGINT,
    SIGTERM,
    SIGXCPU,
    SIGHUP,
    SIGQUIT,
    SIGUSR2,
    SIGALRM,
    SIGVTALRM,
    SIGPROF,
    SIGIO,
    libc::SIGPWR,
    libc::SIGSTKFLT,
];

/// Number of the first signals that end a run even if the program was started with them ignored. The others are then
/// not received: `nohup` ignores SIGHUP in this way.
const ALWAYS_HEARD: usize = 3;

/// Turns limits of this process into errors and signals that a run can report: a write beyond RLIMIT_FSIZE fails with
/// EFBIG, and SIGXCPU arrives before the end. Called at the start of the program.
pub fn turn_limits_into_errors() -> io::Result<()> {
    // A handler and not "ignore", because programs that are started from here would inherit "ignore".
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    warn_before_processor_limit();
    Ok(())
}

/// Listens to [`STOPS`] and SIGUSR1 until dropped.
#[derive(Debug)]
pub struct Listener {
    handle: Handle,
}

impl Listener {
    /// Calls `hear` for each signal, on a thread of this name. A second SIGINT, at least a second later, ends the
    /// process at once, for a run that is stuck in the kernel.
    pub fn begin(name: &str, mut hear: impl FnMut(i32) + Send + 'static) -> io::Result<Listener> {
        let armed = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register_conditional_shutdown(SIGINT, 128, Arc::clone(&armed))?;
        let (always, others) = STOPS.split_at(ALWAYS_HEARD);
        let others = others.iter().filter(|stop| !ignores(**stop));
        let mut signals = Signals::new(always.iter().chain(others).chain(&[SIGUSR1]))?;
        let handle = signals.handle();
        crate::thread::begin(name, 64 * 1024, move || {
            for signal in signals.forever() {
                hear(signal);
                if signal != SIGUSR1 && !armed.load(Ordering::Relaxed) {
                    wait(ECHO_NS);
                    armed.store(true, Ordering::Relaxed);
                }
            }
        })?;
        Ok(Listener { handle })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Sleeps for the whole time, whether signals arrive or not.
fn wait(duration_ns: u64) {
    let clock = RealClock::shared();
    let end_ns = clock.now_ns() + duration_ns;
    while clock.now_ns() < end_ns {
        clock.sleep_until_ns(end_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_heard_while_somebody_listens() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let listener = Listener::begin("listener", move |signal| sender.send(signal).unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1).unwrap();
        assert_eq!(receiver.recv(), Ok(SIGUSR1));
        drop(listener);
        assert!(receiver.recv().is_err(), "its thread has ended");
    }
}
