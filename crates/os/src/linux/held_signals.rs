//! Holds signals back for a time.

use std::mem::MaybeUninit;

/// Signals to this thread wait until this value is dropped: for the time in which nobody listens yet.
#[derive(Debug)]
pub struct HeldSignals {
    before: libc::sigset_t,
}

impl HeldSignals {
    /// Holds all signals that can be held. Threads that begin meanwhile hold them for ever.
    pub fn begin() -> HeldSignals {
        let mut all = MaybeUninit::uninit();
        // SAFETY: the call writes the whole set and nothing else; it cannot fail for this set.
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

/// Sets which signals this thread holds; returns those that it held before.
pub(super) fn exchange_mask(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = *mask;
    // SAFETY: both sets are complete and outlive the call, which only fails for an unknown order.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, &mut before) };
    before
}
