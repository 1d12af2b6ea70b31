//! Refuses options that Windows, or the Windows version of this program, does not have. Compiled and tested on every
//! system.

use fsdyno_job::{Job, Memory};
use fsdyno_os::errno::EOPNOTSUPP;
use fsdyno_results::{Note, Severity};

use super::Refusal;

/// The first missing feature, and what to do instead.
pub(super) fn refusal(job: &Job) -> Option<Refusal> {
    let refuse = |message: String| Some(Refusal { code: EOPNOTSUPP, function: "windows", message });
    if job.durability.sync_file_range.is_some() {
        return refuse("Windows has no sync_file_range. Next step: use --fsync or --fdatasync".to_owned());
    }
    if job.discards() {
        let text = "trims are for block devices of Linux. Next step: use --ioengine=null, or leave trims out";
        return refuse(text.to_owned());
    }
    if matches!(job.submission.memory, Memory::Huge(_)) {
        return refuse(not_yet("--mem=mmaphuge needs a privilege whose use is", "leave --mem out"));
    }
    if job.submission.memory != Memory::Anonymous {
        return refuse("Windows has no such memory. Next step: leave --mem out".to_owned());
    }
    if job.submission.locked_bytes > 0 {
        return refuse(not_yet("--lockmem is", "leave it out"));
    }
    let process = &job.process;
    if process.control_group.is_some() {
        return refuse("control groups belong to Linux. Next step: leave cgroup out".to_owned());
    }
    if process.user.is_some() || process.group.is_some() || process.memory_policy.is_some() || !process.nodes.is_empty()
    {
        return refuse("uid, gid and numa options belong to Linux. Next step: leave them out".to_owned());
    }
    if process.exec_prerun.is_some() || process.exec_postrun.is_some() {
        return refuse("exec_prerun and exec_postrun need /bin/sh. Next step: run the commands yourself".to_owned());
    }
    None
}

/// The note on thread counters that Windows does not keep: reports show a 0 for them, and this note.
pub(super) fn note_of_usage() -> Note {
    let text = "Windows counts no context switches or page faults of a thread: ctx, majf and minf are not measured";
    Note::new("usage-not-counted", Severity::Caution, text)
}

fn not_yet(what: &str, next: &str) -> String {
    format!("{what} not built for Windows yet. Next step: {next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Job)) -> Option<String> {
        let mut job = Job::default();
        change(&mut job);
        refusal(&job).map(|refusal| refusal.message)
    }

    #[test]
    fn what_is_missing_is_named_with_a_next_step() {
        assert_eq!(refused(|_| {}), None);
        for (message, name) in [
            (refused(|job| job.durability.sync_file_range = Some((2, 8))), "sync_file_range"),
            (refused(|job| job.submission.memory = Memory::Huge(0)), "--mem=mmaphuge"),
            (refused(|job| job.pattern.access.trims = true), "trims"),
            (refused(|job| job.process.control_group = Some("a".to_owned())), "cgroup"),
        ] {
            let message = message.unwrap();
            assert!(message.contains(name) && message.contains("Next step: "), "{message}");
        }
    }
}
