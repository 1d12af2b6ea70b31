//! Signals that wait.

use std::mem::MaybeUninit;

/// Signals that come to this thread wait until this is dropped: for the time in which nobody listens yet.
#[derive(Debug)]
pub struct HeldSignals {
    before: libc::sigset_t,
}

impl HeldSignals {
    /// Holds all that can be held. Threads that begin meanwhile hold them for ever.
    pub fn begin() -> HeldSignals {
        let mut all = MaybeUninit::uninit();
        // SAFETY: it writes the whole set, and only that; it cannot fail for a set of its own.
        let all = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            all.assume_init()
        };
        HeldSignals { before: exchange_mask(&all) }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        exchange_mask(&self.before);
    }
}

/// Sets which signals this thread holds; those that it held before.
pub(super) fn exchange_mask(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = *mask;
    // SAFETY: both sets are whole and live through the call. It only fails for an order that is not one of its three.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, &mut before) };
    before
}
