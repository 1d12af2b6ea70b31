//! Ctrl-C, Ctrl-Break, a console that is closed and a session that ends, heard on the thread that the system starts for
//! each.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT, SetConsoleCtrlHandler,
};

use super::errno;

/// The numbers that other systems give what stands for the same order.
pub const SIGINT: i32 = 2;
const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;
/// Nobody sends it here.
pub const SIGUSR1: i32 = 10;

/// Those that end a run.
pub const STOPS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A Ctrl-C so soon after the first says the same: fingers are quick.
const ECHO: Duration = Duration::from_secs(1);

/// What the shell sees of a process that a second Ctrl-C has ended.
const ENDED_BY_SIGINT: i32 = 130;

type Hear = Box<dyn FnMut(i32) + Send>;

/// Who listens, and when the first order to end came.
struct Heard {
    hear: Option<Hear>,
    first: Option<Instant>,
    /// The system knows the handler.
    registered: bool,
}

static HEARD: Mutex<Heard> = Mutex::new(Heard { hear: None, first: None, registered: false });

fn heard() -> MutexGuard<'static, Heard> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Windows has no limits of a process that come as signals.
pub fn turn_limits_into_errors() -> io::Result<()> {
    Ok(())
}

/// Listens to [`STOPS`] until dropped.
#[derive(Debug)]
pub struct Listener(());

impl Listener {
    /// Hears each order on a thread of the system's. A second Ctrl-C, a second later or more, ends the process at once:
    /// for a run that is stuck in the kernel.
    pub fn begin(_name: &str, hear: impl FnMut(i32) + Send + 'static) -> io::Result<Listener> {
        let mut heard = heard();
        // SAFETY: the handler is a function that may run on any thread at any time.
        if !heard.registered && unsafe { SetConsoleCtrlHandler(Some(on_order), 1) } == 0 {
            return Err(io::Error::from_raw_os_error(errno::last()));
        }
        *heard = Heard { hear: Some(Box::new(hear)), first: None, registered: true };
        Ok(Listener(()))
    }
}

impl Drop for Listener {
    /// The handler stays: the system holds a lock while one runs, and this thread would wait for that of a closed
    /// console, which does not return. While nobody listens it leaves orders to the system's own.
    fn drop(&mut self) {
        heard().hear = None;
    }
}

/// Answers 1 for what was heard. The process is ended as soon as this returns from a console that is closed or a session
/// that ends, so that it does not return from those: the run has the seconds that the system gives it.
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

/// Whether anybody listens.
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
