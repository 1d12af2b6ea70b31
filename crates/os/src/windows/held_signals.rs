//! Orders of the console that come before somebody listens.

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;

/// Holds Ctrl-C off this process, and nothing else, until dropped: the second process hears it too, and ends by it.
#[derive(Debug)]
pub struct HeldSignals(());

impl HeldSignals {
    /// From now on.
    pub(super) fn begin() -> HeldSignals {
        // SAFETY: without a function the call only says whether Ctrl-C is ignored.
        unsafe { SetConsoleCtrlHandler(None, 1) };
        HeldSignals(())
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { SetConsoleCtrlHandler(None, 0) };
    }
}
