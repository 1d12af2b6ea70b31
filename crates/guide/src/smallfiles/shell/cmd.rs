//! cmd, with loops of the same effect as the published ones. Its echo and type are built in, where bash starts a cat
//! for each file.

use std::process::{Child, Command};

use fsdyno_os::files::Directory;
use fsdyno_os::process::lifetime;

use super::{FILES, LoopResult, Problem};
use crate::work_directory::reason;

/// The loops with the effect of the published ones.
pub(in super::super) const WRITE_LOOP: &str = "for /L %i in (0,1,1000) do @echo test>test%i.txt";
pub(in super::super) const READ_LOOP: &str = "for /L %i in (0,1,1000) do @type test%i.txt>nul";

/// The same loops without storage, with their number of iterations.
pub(super) const EMPTY_WRITE: (&str, u32) = ("for /L %i in (0,1,1000) do @echo test>nul", FILES);
pub(super) const EMPTY_READ: (&str, u32) = ("for /L %i in (0,1,1000) do @type nul>nul", FILES);

/// A loop that does not end.
#[cfg(test)]
pub(super) const ENDLESS: &str = "for /L %i in (0,0,1) do @rem";

/// Bytes of a file of the loops: cmd ends lines with two bytes.
pub(super) const FILE_BYTES: u64 = 6;

pub(super) const NAME: &str = "cmd";
/// The names of the shell and of its loops at the beginning of a sentence.
pub(in super::super) const TITLES: [&str; 2] = ["Cmd", "Loops of cmd like the published ones"];
/// Whether these are the published loops.
pub(in super::super) const IS_PUBLISHED: bool = false;
pub(super) const NEXT: &str = "leave out --literal";

/// What the shell's own time mostly is, and how it was measured, as a part of a sentence.
pub(in super::super) const OWN_COST: &str = "with the start of cmd (measured here on NUL)";

/// The command line that runs a loop.
pub(in super::super) fn words(script: &str) -> Vec<String> {
    // `/d` skips the AutoRun commands of the registry.
    [NAME, "/d", "/c", script].map(str::to_string).to_vec()
}

pub(super) fn command(script: &str) -> Command {
    let words = words(script);
    let mut cmd = Command::new(&words[0]);
    cmd.args(&words[1..]);
    cmd
}

/// Checks that the shell can run in a directory: cmd needs a drive letter, and would start in the Windows directory
/// without one.
pub(super) fn check(directory: &Directory) -> Result<(), Problem> {
    let place = directory.current_path().unwrap_or_else(|| directory.path().to_owned());
    let text = place.to_string_lossy().into_owned();
    if text.trim_start_matches(r"\\?\").as_bytes().get(1) == Some(&b':') {
        return Ok(());
    }
    Err(Problem::new(format!("cmd cannot run in {text}: it needs a drive with a letter"))
        .with_next("give the share or volume a letter (net use, mountvol), or leave out --literal"))
}

/// The times of a process that has ended: Windows keeps them.
pub(super) fn measured(complaints: &str, child: &Child) -> Result<LoopResult, Problem> {
    let times =
        lifetime(child).map_err(|error| Problem::new(format!("no times of cmd are there: {}", reason(&error))))?;
    let ns = |time: std::time::Duration| time.as_nanos() as u64;
    let complaints = complaints.lines().map(str::to_string).collect();
    Ok(LoopResult { elapsed_ns: ns(times.elapsed), cpu_ns: ns(times.processor), complaints })
}
