//! Orders of the console that arrive before somebody listens.

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;

/// Keeps Ctrl-C, and only that, from this process until dropped. The second process also receives it and ends by it.
#[derive(Debug)]
pub struct HeldSignals(());

impl HeldSignals {
    /// Begins to hold it.
    pub(super) fn begin() -> HeldSignals {
        // SAFETY: without a function the call only sets whether Ctrl-C is ignored.
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
