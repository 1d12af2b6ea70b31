//! Signals as orders: SIGINT and SIGTERM end the run with a report, SIGUSR1 asks for an interim one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::clock::{Clock, RealClock};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::{Handle, Signals};

use crate::control::Control;

/// A SIGINT so soon after the first says the same: timeout(1) sends each signal twice, and fingers are quick. ns.
const ECHO_NS: u64 = 1_000_000_000;

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
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
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
