//! Checks that paths which the documents about the code name in backquotes exist.

use super::{File, Finding};

/// The documents that say where things are.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let places: Vec<String> = files.iter().flat_map(|file| [whole(&file.path), short(&file.path)]).collect();
    let documents = files.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str()));
    documents.flat_map(|document| missing(document, &places)).collect()
}

/// The path with a mark at both ends, so that only whole components match.
fn whole(path: &str) -> String {
    format!("/{path}/")
}

/// The short form of a path: `run/logs.rs` for the file in `crates/run/src`.
fn short(path: &str) -> String {
    whole(path.strip_prefix("crates/").unwrap_or(path)).replacen("/src/", "/", 1)
}

fn missing(document: &File, places: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_code = false;
    for (line, text) in (1..).zip(document.text.lines()) {
        in_code ^= text.trim_start().starts_with("```");
        let quoted = text.split('`').skip(1).step_by(2).filter(|quoted| !in_code && is_path(quoted));
        for path in quoted {
            let part = whole(path.trim_matches('/'));
            if !places.iter().any(|place| place.contains(&part)) {
                findings.push(Finding::at(&document.path, line, format!("no file is called {path}")));
            }
        }
    }
    findings
}

/// Whether a text looks like a file or folder of the project.
fn is_path(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
    let is_source = [".rs", ".md", ".toml"].iter().any(|ending| text.ends_with(ending));
    text.chars().all(plain) && !text.starts_with('/') && (text.contains('/') || is_source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_string(), text: text.to_string() };
        let files = [file("CONTRIBUTING.md", text), file("crates/run/src/drive/queued.rs", "")];
        check(&files).into_iter().map(|finding| format!("{}: {}", finding.place, finding.text)).collect()
    }

    #[test]
    fn a_path_that_is_not_there_is_found() {
        assert_eq!(found("a\nsee `run/drive/gone.rs`"), ["CONTRIBUTING.md:2: no file is called run/drive/gone.rs"]);
        assert_eq!(found("`ueued.rs` and `crates/ru/`").len(), 2, "a part of a name is no name");
    }

    #[test]
    fn files_and_folders_are_found_by_their_whole_or_short_paths() {
        let good = "`crates/run/src/drive/queued.rs` `run/drive/queued.rs` `drive/` `queued.rs` `crates/run`";
        assert!(found(good).is_empty());
        assert!(found("`cargo xtask tidy`, `/proc`, `Engine::queue`, `--cmdhelp`").is_empty());
        assert!(found("```\n`gone.rs`\n```").is_empty(), "a command's text is its own");
    }
}
