//! Translations of the README: which commit of it each follows, and whether it has changed since.

use std::path::Path;
use std::process::Command;

use super::{File, Finding};

/// Each holds this line, with a commit in it.
const FOLLOWS: &str = "<!-- follows README.md of ";

/// A translation that says no commit, or one that is not there.
pub(super) fn check(files: &[File], root: &Path) -> Vec<Finding> {
    let unknown = |file: &&File| follows(file).is_none_or(|commit| is_whole(root) && !is_known(root, commit));
    let wrong = translations(files).filter(unknown);
    wrong
        .map(|file| Finding::new(&file.path, format!("says no commit that it follows: `{FOLLOWS}COMMIT -->`")))
        .collect()
}

/// Those that are behind, a sentence each: the next who knows the language brings them up to date.
pub(super) fn behind(files: &[File], root: &Path) -> Vec<String> {
    let changed = |commit: &str| !git(root, &["diff", "--quiet", commit, "--", "README.md"]);
    let late = translations(files).filter_map(|file| {
        let commit = follows(file).filter(|commit| is_known(root, commit) && changed(commit))?;
        Some(format!("{} is behind: README.md has changed since {commit}", file.path))
    });
    late.collect()
}

fn translations(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| {
        let language = file.path.strip_prefix("README.").and_then(|rest| rest.strip_suffix(".md"));
        language.is_some_and(|language| !language.is_empty())
    })
}

fn follows(file: &File) -> Option<&str> {
    let commit = file.text.lines().find_map(|line| line.strip_prefix(FOLLOWS)?.strip_suffix(" -->"))?;
    (commit.len() >= 7 && commit.chars().all(|letter| letter.is_ascii_hexdigit())).then_some(commit)
}

fn is_known(root: &Path, commit: &str) -> bool {
    git(root, &["cat-file", "-e", &format!("{commit}:README.md")])
}

/// A clone that has only the newest commits cannot say that an older one is not there.
fn is_whole(root: &Path) -> bool {
    !root.join(".git/shallow").exists()
}

fn git(root: &Path, words: &[&str]) -> bool {
    let ran = Command::new("git").args(words).current_dir(root).stderr(std::process::Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translation_names_a_commit_and_is_held_against_it() {
        let root = crate::workspace::folder();
        let file =
            |commit: &str| File { path: "README.xx.md".to_owned(), text: format!("# A\n{FOLLOWS}{commit} -->\n") };
        assert_eq!(check(&[file("COMMIT")], &root).len(), 1);
        let log =
            Command::new("git").args(["log", "--format=%H", "--", "README.md"]).current_dir(&root).output().unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        let (newest, oldest) = (log.lines().next().unwrap(), log.lines().last().unwrap());
        assert!(check(&[file(newest)], &root).is_empty());
        if newest != oldest {
            assert_eq!(behind(&[file(oldest)], &root).len(), 1);
        }
        let other = File { path: "README.md".to_owned(), text: "# A\n".to_owned() };
        assert!(check(&[other], &root).is_empty());
    }
}
