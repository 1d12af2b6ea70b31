//! Checks all text files: no paths of a developer's machine; one title per document.

use super::{File, Finding};

/// Folders that exist on one machine only. They are split here, so that this file passes its own check.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Use", "rs/"),
    concat!("\\Use", "rs\\"),
];

/// A job name in a command that people copy from a vendor's page; no file of that name is made.
const COPIED_NAMES: &[&str] = &[concat!("/ro", "ot/fio_result_")];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        if let Some(folder) = machine_folder(text) {
            findings.push(Finding::at(&file.path, line, format!("{folder} is a folder of one machine")));
        }
    }
    if file.path.ends_with(".md") {
        let titles = titles(&file.text);
        if titles != 1 {
            findings.push(Finding::new(&file.path, format!("has {titles} titles (`# `), not one")));
        }
    }
    findings
}

fn machine_folder(line: &str) -> Option<&'static str> {
    let copied = COPIED_NAMES.iter().fold(line.to_string(), |line, name| line.replace(name, ""));
    MACHINE_FOLDERS.iter().find(|folder| copied.contains(**folder)).copied()
}

/// Headings of the first level outside code blocks.
fn titles(markdown: &str) -> usize {
    let mut in_code = false;
    let mut titles = 0;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with("# ") {
            titles += 1;
        }
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: String) -> Vec<String> {
        check(&[File { path: path.to_string(), text }]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn machine_folders_are_found() {
        for folder in MACHINE_FOLDERS {
            assert_eq!(found("a.txt", format!("fine\nsee {folder}x\n")), ["a.txt:2"], "{folder}");
        }
        assert!(found("a.txt", format!("-name={}s3_read.txt", COPIED_NAMES[0])).is_empty());
        assert!(found("a.txt", "/mnt/data and /tmp/x".to_string()).is_empty());
    }

    #[test]
    fn documents_have_one_title() {
        assert!(found("a.md", "# One\n\n## Two\n\n```sh\n# not a title\n```\n".to_string()).is_empty());
        assert_eq!(found("a.md", "# One\n# Two\n".to_string()), ["a.md"]);
        assert_eq!(found("a.md", "text\n".to_string()), ["a.md"]);
    }
}
