//! Tests the links of the documents.

use std::fs;
use std::path::{Path, PathBuf};

/// The documents for readers: in the top folder, in `docs` and beside the lab.
fn documents() -> Vec<PathBuf> {
    let root = testkit::workspace();
    let folders = ["", "docs", "lab"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| folder.read_dir().unwrap()).map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The targets of a text's links, without those in code.
fn links(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let outside = line.split('`').step_by(2).filter(|_| !in_code);
        // A link's name may be code: its end is outside.
        found.extend(outside.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()));
    }
    found
}

/// A heading's anchor in GitHub's form.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    heading.to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn leads_somewhere(document: &Path, link: &str) -> bool {
    let (file, part) = link.split_once('#').unwrap_or((link, ""));
    let file = if file.is_empty() { document.to_owned() } else { document.parent().unwrap().join(file) };
    if part.is_empty() {
        return file.exists();
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).any(|heading| heading == part)
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            assert!(leads_somewhere(&document, link), "{}: {link}", document.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} links");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let readme = testkit::workspace().join("README.md");
    assert!(leads_somewhere(&readme, "docs") && leads_somewhere(&readme, "docs/json.md#three-lines-for-jq"));
    assert!(!leads_somewhere(&readme, "docs/gone.md") && !leads_somewhere(&readme, "docs/json.md#four-lines"));
    assert_eq!(links("a [b](c) `[no](no)` [`d`](e#f)\n```\n[no](no)\n```"), ["c", "e#f"]);
}
