//! Checks Rust sources line by line: names of modules, length, words, and who may call the system (`os` and `engine`
//! act, `probe` examines, and all other crates use these; tests are free).

use super::layers::{SYSTEM_LAYERS, UNSAFE_LAYERS};
use super::{File, Finding};

/// Names without a meaning, which attract everything.
const EMPTY_NAMES: &[&str] = &["common", "util", "utils", "core", "helper", "helpers", "misc"];

/// Most lines of a file. Tables are exempt: they are as long as the things to list.
const LINES_MAX: usize = 600;
const TABLES: &str = "crates/job/src/table";

/// Words that are banned, with what to write instead. They are split here, so that this file passes its own check.
const BANNED: &[(&str, &str)] = &[
    (concat!("#[ig", "nore"), "print `skipped: REASON` and return, so that the reason is seen"),
    (concat!("FIX", "ME"), "do it, or make it an issue"),
    (concat!("TO", "DO"), "do it, or make it an issue"),
    (concat!("HA", "CK"), "do it, or make it an issue"),
    (concat!("so", " many"), COUNTED),
    (concat!("So", " many"), COUNTED),
    (concat!("So", " long"), COUNTED),
    (concat!("So", " often"), COUNTED),
    (concat!("So", " much"), COUNTED),
];

/// What to write instead of words whose noun the reader must search.
const COUNTED: &str = "name the number, the time or the share that is meant";

/// Code that calls the system, or names one. Its crates (rustix, libc) are not dependencies of the others.
const SYSTEM_WORDS: &[&str] = &["std::os::", "os::fd", "os::unix", "os::linux", "os::windows"];

/// Code that reads a file to its end, which a file may not have.
const READING_WORDS: &[&str] = &["fs::read(", "fs::read_to_string("];

/// Folders of files that the kernel generates. A sentence that names one contains blanks.
const KERNEL_PATHS: &[&str] = &["/proc", "/sys/"];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter(|file| file.path.ends_with(".rs")).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(name) = empty_name(&file.path) {
        findings.push(Finding::new(&file.path, format!("`{name}` names nothing: name what is in it")));
    }
    let lines = file.text.lines().count();
    if lines > LINES_MAX && !file.path.starts_with(TABLES) {
        findings
            .push(Finding::new(&file.path, format!("has {lines} lines, more than {LINES_MAX}: split it by subject")));
    }
    let outside_unsafe = !UNSAFE_LAYERS.iter().any(|layer| file.path.starts_with(&format!("crates/{layer}/")));
    for (line, text) in (1..).zip(file.text.lines()) {
        for (banned, instead) in BANNED.iter().filter(|(banned, _)| text.contains(banned)) {
            findings.push(Finding::at(&file.path, line, format!("`{banned}`: {instead}")));
        }
        if outside_unsafe && text.contains(concat!("expect(unsafe", "_code")) {
            findings.push(Finding::at(&file.path, line, "unsafe code belongs into crates/os or crates/engine"));
        }
    }
    if is_behind(&file.path) {
        findings.extend(calls(file));
    }
    findings
}

/// The part of a path that is a meaningless name.
fn empty_name(path: &str) -> Option<&str> {
    let parts = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    parts.into_iter().find(|part| EMPTY_NAMES.contains(part))
}

/// Whether code belongs to a crate that does not call the system.
fn is_behind(path: &str) -> bool {
    let Some((library, rest)) = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
        return false;
    };
    let is_test = rest.ends_with("tests.rs") || rest.split('/').any(|part| part == "tests") || library == "testkit";
    !is_test && !SYSTEM_LAYERS.contains(&library)
}

/// Calls of the system before the tests, which are last in a file.
fn calls(file: &File) -> Vec<Finding> {
    let instead = "ask os or engine, which act, or probe, which looks";
    let mut findings = Vec::new();
    let before_tests = file.text.lines().take_while(|line| !line.starts_with("mod tests"));
    for (line, text) in (1..).zip(before_tests).filter(|(_, text)| !text.trim_start().starts_with("//")) {
        // Every other piece between quotation marks is a literal; one that continues on the next line is a sentence.
        let (code, literals): (Vec<_>, Vec<_>) = text.split('"').enumerate().partition(|(index, _)| index % 2 == 0);
        if let Some(word) = SYSTEM_WORDS.iter().find(|word| code.iter().any(|(_, code)| code.contains(*word))) {
            findings.push(Finding::at(&file.path, line, format!("`{word}` calls the system: {instead}")));
        }
        if let Some(word) = READING_WORDS.iter().find(|word| code.iter().any(|(_, code)| code.contains(*word))) {
            let text = format!("`{word}` waits for pipes and reads what has no end: use fsdyno_os::files::read_whole");
            findings.push(Finding::at(&file.path, line, text));
        }
        let of_the_kernel = |literal: &str| KERNEL_PATHS.iter().any(|path| literal.starts_with(path));
        for (_, literal) in literals.iter().filter(|(_, text)| of_the_kernel(text) && !text.contains(' ')) {
            findings.push(Finding::at(&file.path, line, format!("{literal} is the kernel's: {instead}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_string(), text: text.to_string() };
        check(&[file]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn banned_words_are_found() {
        let marks = format!("#[{}]\nlet x = 1; // {} later", concat!("ig", "nore"), concat!("FIX", "ME"));
        assert_eq!(found("a.rs", &marks), ["a.rs:1", "a.rs:2"]);
        let riddle = format!(
            "/// {} requests are in flight.\n/// The requests in flight, as many as fit.",
            concat!("So", " many")
        );
        assert_eq!(found("a.rs", &riddle), ["a.rs:1"]);
        let unsafe_code = concat!("#![expect(unsafe", "_code, reason = \"x\")]");
        assert_eq!(found("crates/run/src/a.rs", unsafe_code), ["crates/run/src/a.rs:1"]);
        for home in ["crates/os/src/lib.rs", "crates/engine/src/lib.rs"] {
            assert!(found(home, unsafe_code).is_empty(), "{home}");
        }
    }

    #[test]
    fn modules_have_names_and_an_end() {
        assert_eq!(found("crates/run/src/util.rs", ""), ["crates/run/src/util.rs"]);
        assert_eq!(found("crates/common/src/lib.rs", ""), ["crates/common/src/lib.rs"]);
        assert!(found("crates/run/src/utilisation.rs", "").is_empty());
        assert_eq!(found("a.rs", &"// a\n".repeat(601)), ["a.rs"]);
    }

    const CALLS: &str = "\
use std::os::fd::AsFd;
use std::{fs, fsdyno_os::unix::fs::FileExt};
fn h() { read(\"/proc/meminfo\"); }
fn i() { read(&format!(r\"/sys/block/{name}\")); }
fn j() { std::fs::read_to_string(path); }
";

    #[test]
    fn calls_of_the_system_have_two_rooms() {
        let lines: Vec<String> = (1..=5).map(|line| format!("crates/run/src/a.rs:{line}")).collect();
        assert_eq!(found("crates/run/src/a.rs", CALLS), lines);
        for free in [
            "crates/os/src/a.rs",
            "crates/engine/src/a.rs",
            "crates/probe/src/linux/a.rs",
            "crates/run/tests/a.rs",
            "xtask/src/a.rs",
        ] {
            assert!(found(free, CALLS).is_empty(), "{free}");
        }
    }

    #[test]
    fn words_and_sentences_are_no_calls_and_tests_are_free() {
        let text = "// std::os::fd\nconst SENTENCE: &str = \"/proc/self/io tells, and std::os::fd too\";\n";
        assert!(found("crates/run/src/a.rs", text).is_empty());
        assert!(found("crates/run/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{CALLS}}}\n")).is_empty());
    }
}
