//! Turns signals into orders: those of [`STOPS`](os::signals::STOPS) end the run with a report, SIGUSR1 asks for an
//! interim one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::control::Control;
use fsdyno_os::signals::{Listener, SIGUSR1};

/// Passes this process's signals on to the process `child`, until dropped. A second SIGINT ends this process, as with
/// [`SignalWatch::begin`], and the child with it.
pub struct SignalRelay {
    _listener: Listener,
}

impl SignalRelay {
    /// Begins to pass signals on.
    pub fn begin(child: u32) -> std::io::Result<SignalRelay> {
        // A child that has ended needs no signal.
        let listener = Listener::begin("relay", move |signal| drop(fsdyno_os::process::signal(child, signal)))?;
        Ok(SignalRelay { _listener: listener })
    }
}

/// Listens to signals until dropped.
pub struct SignalWatch {
    _listener: Listener,
    interim: Arc<AtomicBool>,
}

impl SignalWatch {
    /// Begins to listen. A second SIGINT, a second later or more, ends the process at once: for a run that is stuck in
    /// the kernel.
    pub fn begin(control: Arc<Control>) -> std::io::Result<SignalWatch> {
        let interim = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&interim);
        let listener = Listener::begin("signals", move |signal| match signal {
            SIGUSR1 => asked.store(true, Ordering::Relaxed),
            signal => control.stop_by_signal(signal),
        })?;
        Ok(SignalWatch { _listener: listener, interim })
    }

    /// Whether SIGUSR1 came since the last call.
    pub fn interim_asked(&self) -> bool {
        self.interim.swap(false, Ordering::Relaxed)
    }
}
