//! Checks structure that the compiler does not: who imports whom, who calls the system, names, lengths of files, words.

mod circles;
mod features;
mod finding;
mod layers;
mod named_paths;
mod recipes;
mod rust;
mod subjects;
mod text;
mod translations;

use std::path::Path;
use std::process::Command;

use crate::workspace::Workspace;
use finding::{File, Finding};

/// Runs all checks and prints what they find.
pub(crate) fn run() -> Result<bool, String> {
    let workspace = Workspace::load()?;
    let files = files(&workspace.root)?;
    let mut findings = layers::check(&workspace, &files);
    findings.extend(features::check(&workspace)?);
    findings.extend(text::check(&files));
    findings.extend(named_paths::check(&files));
    findings.extend(recipes::check(&files));
    findings.extend(rust::check(&files));
    findings.extend(circles::check(&files));
    findings.extend(subjects::check(&workspace.root));
    findings.extend(translations::check(&files, &workspace.root));
    // Only printed: whoever changes the README need not know the languages. A release must have no such lines.
    translations::behind(&files, &workspace.root).iter().for_each(|line| println!("{line}"));
    for finding in &findings {
        println!("{}: {}", finding.place, finding.text);
    }
    Ok(findings.is_empty())
}

/// All text files that git tracks or would add.
fn files(root: &Path) -> Result<Vec<File>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = listing.split('\0').filter(|name| !name.is_empty());
    // A file that was just deleted is still listed; a file that is not UTF-8 has nothing to check.
    let read = |name: &str| Some(File { path: name.to_string(), text: std::fs::read_to_string(root.join(name)).ok()? });
    Ok(names.filter_map(read).collect())
}
