//! Words that Rust sources must not hold, and names that modules must not have.

use super::lexer::{has_word, layers};
use super::rooms::UNSAFE_ROOM;
use super::{File, Finding};

/// Names that say nothing, and so attract everything.
const EMPTY_NAMES: &[&str] = &["common", "util", "utils", "core", "helper", "helpers", "misc"];

/// What code must not hold, and what to do instead.
const BANNED_CODE: &[(&str, &str)] = &[
    ("todo!", "write it, or make it an error that the user sees"),
    ("unimplemented!", "write it, or make it an error that the user sees"),
    ("dbg!", "take it out"),
    ("#[allow(", "use #[expect(.., reason = \"..\")], which tells when it is no longer needed"),
    ("#![allow(", "use #![expect(.., reason = \"..\")], which tells when it is no longer needed"),
    ("#[ignore", "print `skipped: REASON` and return, so that the reason is seen"),
];

/// What comments must not hold.
const BANNED_NOTES: &[&str] = &["FIXME", "XXX", "TODO", "HACK"];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter(|file| file.path.ends_with(".rs")).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(name) = empty_name(&file.path) {
        findings.push(Finding::new(&file.path, format!("`{name}` names nothing: name what is in it")));
    }
    let in_unsafe_room = file.path.starts_with(&format!("crates/{UNSAFE_ROOM}/"));
    let layers = layers(&file.text);
    for (line, code) in (1..).zip(layers.code.lines()) {
        if !in_unsafe_room && has_word(code, "unsafe") {
            findings.push(Finding::at(&file.path, line, "unsafe code belongs into crates/engine"));
        }
        for (banned, instead) in BANNED_CODE.iter().filter(|(banned, _)| code.contains(banned)) {
            findings.push(Finding::at(&file.path, line, format!("`{banned}`: {instead}")));
        }
    }
    for (line, comment) in (1..).zip(layers.comments.lines()) {
        for note in BANNED_NOTES.iter().filter(|note| has_word(comment, note)) {
            findings.push(Finding::at(&file.path, line, format!("{note}: do it, or make it an issue")));
        }
    }
    findings
}

/// The part of a path that is such a name.
fn empty_name(path: &str) -> Option<&str> {
    let parts = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    parts.into_iter().find(|part| EMPTY_NAMES.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_string(), text: text.to_string() };
        check(&[file]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn unsafe_has_one_room() {
        let text = "#![forbid(unsafe_code)]\n// unsafe in a comment\nfn f() {\n    unsafe { g(\"unsafe\") }\n}\n";
        assert_eq!(found("crates/run/src/a.rs", text), ["crates/run/src/a.rs:4"]);
        assert!(found("crates/engine/src/a.rs", text).is_empty());
    }

    #[test]
    fn banned_code_counts_in_code_only() {
        assert_eq!(found("a.rs", "fn f() {\n    todo!()\n}"), ["a.rs:2"]);
        assert_eq!(
            found("a.rs", "#[allow(dead_code)]\n#[ignore]\nfn f() { dbg!(1); }"),
            ["a.rs:1", "a.rs:2", "a.rs:3"]
        );
        assert!(found("a.rs", "// no todo!() here\nlet text = \"#[allow(x)]\";").is_empty());
    }

    #[test]
    fn banned_notes_count_in_comments_only() {
        assert_eq!(found("a.rs", "let x = 1; // FIXME later"), ["a.rs:1"]);
        assert!(found("a.rs", "let name = \"XXX\"; // XXXL shirts").is_empty());
    }

    #[test]
    fn modules_have_names() {
        assert_eq!(found("crates/run/src/util.rs", ""), ["crates/run/src/util.rs"]);
        assert_eq!(found("crates/common/src/lib.rs", ""), ["crates/common/src/lib.rs"]);
        assert!(found("crates/run/src/utilisation.rs", "").is_empty());
    }
}
