//! What jobs can ask for and Windows, or the part of it that is built, does not have. Compiled and tested everywhere.

use std::path::{Path, PathBuf};

use engine::errno::EOPNOTSUPP;
use job::{Job, Memory};
use results::{Note, Severity};

use super::Refusal;

/// The first thing that is missing, and what to do instead.
pub(super) fn refusal(job: &Job, files: &[PathBuf]) -> Option<Refusal> {
    let refuse = |message: String| Some(Refusal { code: EOPNOTSUPP, function: "windows", message });
    if job.durability.sync_file_range.is_some() {
        return refuse("Windows has no sync_file_range. Next step: use --fsync or --fdatasync".to_owned());
    }
    if job.submission.memory == Memory::Huge {
        return refuse(not_yet("--mem=mmaphuge needs a privilege whose use is", "leave --mem out"));
    }
    let disk = files.iter().find(|file| is_device(file))?;
    refuse(not_yet(&format!("{}: raw disks and volumes are", disk.display()), "use a file"))
}

/// Counters of a thread that Windows does not keep. Reports have a 0 in their places, so that they show this note, too.
pub(super) fn note_of_usage() -> Note {
    let text = "Windows counts no context switches or page faults of a thread: ctx, majf and minf are not measured";
    Note::new("usage-not-counted", Severity::Caution, text)
}

fn not_yet(what: &str, next: &str) -> String {
    format!("{what} not built for Windows yet. Next step: {next}")
}

/// PhysicalDrive1, a volume: names of devices begin so, and those of files do not.
fn is_device(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().starts_with(DEVICES)
}

const DEVICES: &str = r"\\.\";

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Job)) -> Option<String> {
        let mut job = Job::default();
        change(&mut job);
        refusal(&job, &[]).map(|refusal| refusal.message)
    }

    #[test]
    fn what_is_missing_is_named_with_a_next_step() {
        assert_eq!(refused(|_| {}), None);
        for (message, name) in [
            (refused(|job| job.durability.sync_file_range = Some((2, 8))), "sync_file_range"),
            (refused(|job| job.submission.memory = Memory::Huge), "--mem=mmaphuge"),
        ] {
            let message = message.unwrap();
            assert!(message.contains(name) && message.contains("Next step: "), "{message}");
        }
    }

    #[test]
    fn disks_are_told_from_files_by_their_names() {
        let refused = |path: &str| refusal(&Job::default(), &[path.into()]).map(|refusal| refusal.message);
        assert!(refused(r"\\.\PhysicalDrive1").unwrap().contains("PhysicalDrive1"));
        for path in [r"C:\data\file", r"\\server\share\file", "file"] {
            assert_eq!(refused(path), None, "{path}");
        }
    }
}
