//! Consoles.

use std::os::windows::io::{AsHandle, AsRawHandle};

use windows_sys::Win32::System::Console::{CONSOLE_SCREEN_BUFFER_INFO, GetConsoleScreenBufferInfo};

/// Columns of the console window of a stream; `None`: it has no console.
pub fn columns(stream: impl AsHandle) -> Option<usize> {
    let mut info = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the handle is open for as long as it is borrowed, and the call fills the structure.
    let answer = unsafe { GetConsoleScreenBufferInfo(stream.as_handle().as_raw_handle(), &raw mut info) };
    let window = info.srWindow;
    (answer != 0).then(|| usize::try_from(i32::from(window.Right) - i32::from(window.Left) + 1).unwrap_or(0))
}
