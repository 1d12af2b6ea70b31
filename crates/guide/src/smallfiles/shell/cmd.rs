//! cmd and loops that do what the page's do. It has echo and type within, where bash starts a cat for each file.

use std::process::{Child, Command};

use fsdyno_os::files::Directory;
use fsdyno_os::process::lifetime;

use super::{FILES, Looped, Problem};
use crate::work_directory::reason;

/// What the page's loops do.
pub(in super::super) const WRITE_LOOP: &str = "for /L %i in (0,1,1000) do @echo test>test%i.txt";
pub(in super::super) const READ_LOOP: &str = "for /L %i in (0,1,1000) do @type test%i.txt>nul";

/// The same loops without storage.
pub(super) const EMPTY_WRITE: (&str, u32) = ("for /L %i in (0,1,1000) do @echo test>nul", FILES);
pub(super) const EMPTY_READ: (&str, u32) = ("for /L %i in (0,1,1000) do @type nul>nul", FILES);

/// One that does not end.
#[cfg(test)]
pub(super) const ENDLESS: &str = "for /L %i in (0,0,1) do @rem";

/// Bytes of a file of the loops: cmd ends lines with two bytes.
pub(super) const FILE_BYTES: u64 = 6;

pub(super) const NAME: &str = "cmd";
/// What it and its loops are called at the beginning of a sentence.
pub(in super::super) const TITLES: [&str; 2] = ["Cmd", "Loops of cmd like the published ones"];
/// Whether these are the loops that the page gives.
pub(in super::super) const IS_PUBLISHED: bool = false;
pub(super) const NEXT: &str = "leave out --literal";

/// What most of its own time is, and how it was measured, for sentences.
pub(in super::super) const OWN_COST: &str = "with the start of cmd (measured here on NUL)";

/// The words that run a loop.
pub(in super::super) fn words(script: &str) -> Vec<String> {
    // Without what the registry has every cmd run first.
    [NAME, "/d", "/c", script].map(str::to_string).to_vec()
}

pub(super) fn command(script: &str) -> Command {
    let words = words(script);
    let mut cmd = Command::new(&words[0]);
    cmd.args(&words[1..]);
    cmd
}

/// Whether it can run in a directory: it needs the letter of a drive, and would begin in that of Windows without one.
pub(super) fn check(directory: &Directory) -> Result<(), Problem> {
    let place = directory.current_path().unwrap_or_else(|| directory.path().to_owned());
    let text = place.to_string_lossy().into_owned();
    if text.trim_start_matches(r"\\?\").as_bytes().get(1) == Some(&b':') {
        return Ok(());
    }
    Err(Problem::new(format!("cmd cannot run in {text}: it needs a drive with a letter"))
        .with_next("give the share or volume a letter (net use, mountvol), or leave out --literal"))
}

/// Windows keeps the times of a process that has ended.
pub(super) fn measured(complaints: &str, child: &Child) -> Result<Looped, Problem> {
    let times =
        lifetime(child).map_err(|error| Problem::new(format!("no times of cmd are there: {}", reason(&error))))?;
    let ns = |time: std::time::Duration| time.as_nanos() as u64;
    let complaints = complaints.lines().map(str::to_string).collect();
    Ok(Looped { elapsed_ns: ns(times.elapsed), cpu_ns: ns(times.processor), complaints })
}
