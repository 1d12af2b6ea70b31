//! Receives Ctrl-C, Ctrl-Break, the closing of the console and the end of the session, each on a thread that the
//! system starts.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT, SetConsoleCtrlHandler,
};

use super::errno;

/// The numbers of the corresponding signals on other systems.
pub const SIGINT: i32 = 2;
const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;
/// This signal is never sent here.
pub const SIGUSR1: i32 = 10;

/// Signals that end a run.
pub const STOPS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A Ctrl-C within this time after the first counts as the same.
const ECHO: Duration = Duration::from_secs(1);

/// The exit status of a process that a second Ctrl-C has ended.
const ENDED_BY_SIGINT: i32 = 130;

type Hear = Box<dyn FnMut(i32) + Send>;

/// The listener, and when the first order to end arrived.
struct EndRequest {
    hear: Option<Hear>,
    first: Option<Instant>,
    /// Whether the handler is registered.
    registered: bool,
}

static HEARD: Mutex<EndRequest> = Mutex::new(EndRequest { hear: None, first: None, registered: false });

fn heard() -> MutexGuard<'static, EndRequest> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Windows has no limits of a process that send signals.
pub fn turn_limits_into_errors() -> io::Result<()> {
    Ok(())
}

/// Listens to [`STOPS`] until dropped.
#[derive(Debug)]
pub struct Listener(());

impl Listener {
    /// Calls `hear` for each order, on a thread of the system. A second Ctrl-C, at least a second later, ends the
    /// process at once, for a run that is stuck in the kernel.
    pub fn begin(_name: &str, hear: impl FnMut(i32) + Send + 'static) -> io::Result<Listener> {
        let mut heard = heard();
        // SAFETY: the handler is a function that may run on any thread at any time.
        if !heard.registered && unsafe { SetConsoleCtrlHandler(Some(on_order), 1) } == 0 {
            return Err(io::Error::from_raw_os_error(errno::last()));
        }
        *heard = EndRequest { hear: Some(Box::new(hear)), first: None, registered: true };
        Ok(Listener(()))
    }
}

impl Drop for Listener {
    /// The handler stays registered: the system holds a lock while a handler runs, and this thread would wait for the
    /// handler of a closed console, which does not return. While nobody listens, the system's own handler acts.
    fn drop(&mut self) {
        heard().hear = None;
    }
}

/// Returns 1 for an order that was heard. When a console is closed or a session ends, the process is ended as soon as
/// this function returns; so it does not return then, and the run has the seconds that the system allows.
unsafe extern "system" fn on_order(event: u32) -> i32 {
    let (signal, ends) = match event {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => (SIGINT, false),
        CTRL_CLOSE_EVENT => (SIGHUP, true),
        CTRL_LOGOFF_EVENT | CTRL_SHUTDOWN_EVENT => (SIGTERM, true),
        _ => return 0,
    };
    if !tell(signal) {
        return 0;
    }
    if ends {
        loop {
            std::thread::park();
        }
    }
    1
}

/// Tells the listener; returns whether there is one.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the run that would end is stuck")]
fn tell(signal: i32) -> bool {
    let mut heard = heard();
    if heard.hear.is_none() {
        return false;
    }
    match heard.first {
        Some(first) if signal == SIGINT && first.elapsed() > ECHO => std::process::exit(ENDED_BY_SIGINT),
        Some(_) => {}
        None => heard.first = Some(Instant::now()),
    }
    if let Some(hear) = &mut heard.hear {
        hear(signal);
    }
    true
}
