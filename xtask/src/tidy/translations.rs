//! Checks the translations of the README: the commit that each follows, and whether the README has changed since.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{File, Finding};

/// The beginning of a line in each translation: the commit for readers, the content for the check. The content's id
/// stays valid if the history is rewritten, or if a clone has only its end.
const FOLLOWS: &str = "<!-- follows README.md of ";

/// The state of the README that a translation follows.
struct Followed<'text> {
    commit: &'text str,
    /// git's id of the content, or its beginning.
    blob: &'text str,
}

/// Translations that do not say what they follow, or whose commit has another content than they say.
pub(super) fn check(files: &[File], root: &Path) -> Vec<Finding> {
    let form = format!("{FOLLOWS}COMMIT, blob HASH -->");
    let wrong = |file: &File| match follows(file) {
        None => {
            Some(format!("does not say what it follows: `{form}`, the hash as of `git rev-parse COMMIT:README.md`"))
        }
        Some(Followed { commit, blob }) => {
            let there = git(root, &["rev-parse", "--quiet", "--verify", &format!("{commit}:README.md")])?;
            (!there.starts_with(blob)).then(|| format!("README.md of {commit} is not blob {blob} but {there}"))
        }
    };
    translations(files).filter_map(|file| Some(Finding::new(&file.path, wrong(file)?))).collect()
}

/// Translations that are outdated, a sentence each: the next person who knows the language updates them.
pub(super) fn behind(files: &[File], root: &Path) -> Vec<String> {
    let Some(now) = git(root, &["hash-object", "README.md"]) else { return Vec::new() };
    let late = translations(files).filter_map(|file| {
        let Followed { commit, blob } = follows(file)?;
        (!now.starts_with(blob)).then(|| format!("{} is behind: README.md has changed since {commit}", file.path))
    });
    late.collect()
}

fn translations(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| {
        let language = file.path.strip_prefix("README.").and_then(|rest| rest.strip_suffix(".md"));
        language.is_some_and(|language| !language.is_empty())
    })
}

fn follows(file: &File) -> Option<Followed<'_>> {
    let said = file.text.lines().find_map(|line| line.strip_prefix(FOLLOWS)?.strip_suffix(" -->"))?;
    let (commit, blob) = said.split_once(", blob ")?;
    let is_hash = |word: &str| word.len() >= 7 && word.chars().all(|letter| letter.is_ascii_hexdigit());
    (is_hash(commit) && is_hash(blob)).then_some(Followed { commit, blob })
}

/// git's output; `None`: it fails.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let ran = Command::new("git").args(words).current_dir(root).stderr(Stdio::null()).output().ok()?;
    ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translation(commit: &str, blob: &str) -> [File; 1] {
        [File { path: "README.xx.md".to_owned(), text: format!("# A\n{FOLLOWS}{commit}, blob {blob} -->\n") }]
    }

    /// A history with two commits of a README.
    fn history() -> (tempfile::TempDir, String) {
        let place = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| git(place.path(), words).unwrap_or_else(|| panic!("git {words:?}"));
        run(&["init", "--quiet"]);
        let mut commits = ["old\n", "new\n"].map(|text| {
            std::fs::write(place.path().join("README.md"), text).unwrap();
            run(&["add", "README.md"]);
            run(&["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=a"]);
            run(&["rev-parse", "HEAD"])
        });
        (place, std::mem::take(&mut commits[1]))
    }

    #[test]
    fn a_translation_is_held_against_what_it_follows() {
        let (place, newest) = history();
        let root = place.path();
        let blob = |text: &str| git(root, &["rev-parse", &format!("{text}:README.md")]).unwrap();
        let (now, before) = (blob("HEAD"), blob("HEAD~1"));
        let counts = |files: &[File]| (check(files, root).len(), behind(files, root).len());
        assert_eq!(counts(&translation(&newest, &now[..10])), (0, 0));
        assert_eq!(counts(&translation(&newest[..8], &before)), (1, 1), "the commit has another content");
        assert_eq!(counts(&translation("HEAD~1", &before)), (1, 0), "no hash");
        let older = git(root, &["rev-parse", "HEAD~1"]).unwrap();
        assert_eq!(counts(&translation(&older, &before)), (0, 1));
        // A rewritten history, or a clone with only its end.
        assert_eq!(counts(&translation("0123456789", &now)), (0, 0));
        assert_eq!(counts(&translation("0123456789", &before)), (0, 1));
        let other = [File { path: "README.md".to_owned(), text: "# A\n".to_owned() }];
        assert_eq!(counts(&other), (0, 0));
    }
}
