//! Signals as orders: those of [`STOPS`] end the run with a report, SIGUSR1 asks for an interim one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::clock::{Clock, RealClock};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

use crate::control::Control;

/// A SIGINT so soon after the first says the same: timeout(1) sends each signal twice, and fingers are quick. ns.
const ECHO_NS: u64 = 1_000_000_000;

/// Those that end a run: an interrupt, an order to stop, a terminal that was closed (unless it was started with that
/// ignored, as `nohup` does), processor time that is nearly used up.
pub const STOPS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGXCPU];

/// Limits of this process become errors and signals that a run can report: a file that would grow beyond RLIMIT_FSIZE
/// is EFBIG of its write, and SIGXCPU comes before the end. For the start of the program.
pub fn hear_of_limits() -> std::io::Result<()> {
    // A handler, for what is ignored stays ignored in programs that are started from here.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    engine::process::warn_before_processor_limit();
    Ok(())
}

/// Passes on to the process `child` what this one is told, until dropped. A second SIGINT ends this process, as with
/// [`SignalWatch::begin`], and the child with it.
pub struct SignalRelay {
    handle: Handle,
}

impl SignalRelay {
    /// Begins to pass on.
    pub fn begin(child: u32) -> std::io::Result<SignalRelay> {
        // A child that has ended needs no signal any more.
        let handle = listen("relay", move |signal| drop(engine::process::signal(child, signal)))?;
        Ok(SignalRelay { handle })
    }
}

impl Drop for SignalRelay {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Listens until dropped.
pub struct SignalWatch {
    handle: Handle,
    interim: Arc<AtomicBool>,
}

impl SignalWatch {
    /// Begins to listen. A second SIGINT, a second later or more, ends the process at once: for a run that is stuck
    /// in the kernel.
    pub fn begin(control: Arc<Control>) -> std::io::Result<SignalWatch> {
        let interim = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&interim);
        let handle = listen("signals", move |signal| match signal {
            SIGUSR1 => asked.store(true, Ordering::Relaxed),
            signal => control.stop_by_signal(signal),
        })?;
        Ok(SignalWatch { handle, interim })
    }

    /// Whether SIGUSR1 came since the last call.
    pub fn interim_asked(&self) -> bool {
        self.interim.swap(false, Ordering::Relaxed)
    }
}

/// Hears each signal on a thread of its own.
fn listen(name: &str, mut hear: impl FnMut(i32) + Send + 'static) -> std::io::Result<Handle> {
    let armed = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 128, Arc::clone(&armed))?;
    // A terminal that is closed matters to nobody who has said so beforehand.
    let heard = STOPS.into_iter().filter(|stop| *stop != SIGHUP || !engine::process::ignores(SIGHUP));
    let mut signals = Signals::new(heard.chain([SIGUSR1]))?;
    let handle = signals.handle();
    std::thread::Builder::new().name(name.to_owned()).stack_size(64 * 1024).spawn(move || {
        for signal in signals.forever() {
            hear(signal);
            if signal != SIGUSR1 && !armed.load(Ordering::Relaxed) {
                wait(ECHO_NS);
                armed.store(true, Ordering::Relaxed);
            }
        }
    })?;
    Ok(handle)
}

/// Sleeps that long, signals or not.
fn wait(duration_ns: u64) {
    let clock = RealClock::shared();
    let end_ns = clock.now_ns() + duration_ns;
    while clock.now_ns() < end_ns {
        clock.sleep_until_ns(end_ns);
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.handle.close();
    }
}
