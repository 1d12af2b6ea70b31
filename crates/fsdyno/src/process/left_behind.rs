//! Passes information from the working process to the one that waits for it: the work directories that it makes and
//! removes, and finally its exit status. Directories that are left when the process is gone, because it was killed or
//! ran out of something, are removed here.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fsdyno_guide::work_directory::{self, Outcome, Stage};

use super::patience::bounds;
use super::streams::print_stderr_fitted;
use super::supervisor::status_writer;

/// The kind of a message: a status follows, or the length and the name of a directory.
const STATUS: u8 = b's';
const MADE: u8 = b'm';
const GONE: u8 = b'g';

/// Extra time for the removing process beyond the removal's own time limit.
const BEYOND_PATIENCE: Duration = Duration::from_secs(2);

/// What was read from the pipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PipeReport {
    /// The exit status; `None`: the process ended before it had one.
    pub(super) status: Option<u8>,
    /// The directories that it made and did not remove.
    pub(super) directories: Vec<PathBuf>,
}

/// Makes this process report the directories that it makes, from now on.
pub(crate) fn tell_of_directories() {
    work_directory::announce_to(|stage, directory| {
        let kind = if stage == Stage::Made { MADE } else { GONE };
        let name = directory.to_str().unwrap_or_default().as_bytes();
        if let (Some(mut writer), Ok(length)) = (status_writer().as_ref(), u16::try_from(name.len())) {
            let message = [&[kind], &length.to_le_bytes()[..], name].concat();
            // The write fails if nobody waits.
            let _ = writer.write_all(&message);
        }
    });
}

/// The last message: the exit status.
pub(super) fn status_message(status: u8) -> [u8; 2] {
    [STATUS, status]
}

/// Reads until there is a status, or the end of the pipe.
pub(super) fn hear(reader: &mut impl Read) -> PipeReport {
    let mut told = PipeReport::default();
    while let Some([kind]) = read(reader) {
        if kind == STATUS {
            told.status = read(reader).map(|[status]| status);
            break;
        }
        let Some(length) = read(reader).map(u16::from_le_bytes) else { break };
        let mut name = vec![0; length.into()];
        let whole = reader.read_exact(&mut name).is_ok();
        let Some(name) = String::from_utf8(name).ok().filter(|name| whole && !name.is_empty()) else { continue };
        let directory = PathBuf::from(name);
        told.directories.retain(|known| *known != directory);
        if kind == MADE {
            told.directories.push(directory);
        }
    }
    told
}

fn read<const N: usize>(reader: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).ok().map(|()| bytes)
}

/// Removes what a dead process has left. A third process does it, so that storage that does not answer cannot keep this
/// one from ending.
pub(crate) fn remove(told: &PipeReport) {
    if told.directories.is_empty() {
        return;
    }
    let remove_all = || told.directories.iter().for_each(|directory| remove_one(directory, told.status.is_some()));
    let patience = bounds().patience() + BEYOND_PATIENCE;
    if fsdyno_os::process::apart(remove_all, patience).is_err() {
        remove_all();
    }
}

/// `reported`: whether a message says already that it could not be removed.
fn remove_one(directory: &Path, reported: bool) {
    let parent = fsdyno_text::shell::path_as_typed(directory.parent().unwrap_or(directory));
    let became = match work_directory::remove_left(directory, bounds()) {
        None => return,
        Some(Outcome::Removed) => "was removed".to_owned(),
        Some(_) if reported => return,
        Some(_) => format!("is still there: `fsdyno clean {parent}` removes it, or says why not"),
    };
    print_stderr_fitted(&format!("fsdyno: the work directory {} {became}", directory.display()), 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_and_not_removed_is_known_at_the_end() {
        let told = |bytes: &[u8]| hear(&mut &bytes[..]);
        let all = told(b"m\x02\0/am\x02\0/bg\x02\0/as\x07ignored");
        assert_eq!(all, PipeReport { status: Some(7), directories: vec!["/b".into()] });
        assert_eq!(told(b"m\x02\0/a"), PipeReport { status: None, directories: vec!["/a".into()] }, "killed");
        assert_eq!(told(b"m\x09\0/a"), PipeReport::default(), "killed in the middle of a word");
        assert_eq!(told(b""), PipeReport::default());
    }
}
