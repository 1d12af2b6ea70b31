//! Checks the subjects of commits, which are listed at 80 columns.

use std::path::Path;
use std::process::Command;

use super::Finding;

/// The longest subject, in characters.
const SUBJECT_CHARACTERS_MAX: usize = 72;

/// Older commits are not checked: to change them would rewrite the history.
const CHECKED_SINCE: &str = "2026-11-26T00:00:00Z";

/// Commits with a longer subject; none where git or the history is missing.
pub(super) fn check(root: &Path) -> Vec<Finding> {
    let since = format!("--since={CHECKED_SINCE}");
    let log = Command::new("git").args(["log", "--no-merges", "--format=%h %s", &since]).current_dir(root).output();
    log.map_or_else(|_| Vec::new(), |log| too_long(&String::from_utf8_lossy(&log.stdout)))
}

/// The findings for lines with a commit and its subject.
fn too_long(log: &str) -> Vec<Finding> {
    let lines = log.lines().filter_map(|line| line.split_once(' '));
    let long = lines.filter(|(_, subject)| subject.chars().count() > SUBJECT_CHARACTERS_MAX);
    let text = |subject: &str| {
        format!(
            "has a subject of {} characters, more than {SUBJECT_CHARACTERS_MAX}: {subject}",
            subject.chars().count()
        )
    };
    long.map(|(commit, subject)| Finding::new(format!("commit {commit}"), text(subject))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_fits_a_list() {
        let log = format!("a1 {}\nb2 {}\n", "ü".repeat(SUBJECT_CHARACTERS_MAX), "x".repeat(SUBJECT_CHARACTERS_MAX + 1));
        let places: Vec<String> = too_long(&log).into_iter().map(|finding| finding.place).collect();
        assert_eq!(places, ["commit b2"]);
    }
}
