//! A second process. Windows starts no copy of a process, so the one that was called does the work itself.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

use crate::files::Directory;
use crate::process::{Ended, Side};

/// There is no such call.
///
/// # Errors
/// Always.
pub fn fork() -> io::Result<Side> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Windows cannot fork a process"))
}

/// What the functions below are for has not begun: [`fork`] refuses.
const NO_SECOND: &str = "there is no second process";

/// For the second process.
pub fn end_with_parent(_: &io::PipeWriter) -> bool {
    unreachable!("{NO_SECOND}")
}

/// For the first process.
pub fn wait_for(_child: u32) -> io::Result<Ended> {
    unreachable!("{NO_SECOND}")
}

/// For the first process.
pub fn closes_within(_: &io::PipeReader, _: Duration) -> bool {
    unreachable!("{NO_SECOND}")
}

/// For the second process.
pub fn close_standard_streams() {
    unreachable!("{NO_SECOND}")
}

/// For the first process.
pub fn signal(_child: u32, _signal: i32) -> io::Result<()> {
    unreachable!("{NO_SECOND}")
}

/// Programs are not ended by signals here.
pub fn ended_by_signal(_: std::process::ExitStatus) -> Option<i32> {
    None
}

/// Nothing to do: Windows takes pages of code off a process by itself.
pub fn release_program_pages() -> usize {
    0
}

/// Has a command begin in a directory that is held.
pub fn begin_in(command: &mut Command, directory: &Directory) {
    command.current_dir(directory.current_path().unwrap_or_else(|| directory.path().to_owned()));
}

/// Has a command lead a group of its own: a Ctrl-C is then ours to pass on.
pub fn lead_group(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// A command outlives the thread that starts it: whoever starts one waits for it.
pub fn end_with_this_thread(_: &mut Command) {}
