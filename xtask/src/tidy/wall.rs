//! Who may touch the system: `engine` acts, `probe` looks, and all other crates ask one of them. Tests are free.

use super::lengths::body_end;
use super::lexer::{has_word, layers};
use super::{File, Finding};

/// The crates that call the system.
pub(crate) const SYSTEM_ROOMS: &[&str] = &["engine", "probe"];

/// Words of code that calls the system, or names one.
const WORDS: &[&str] = &["rustix", "libc", "signal_hook", "std::os", "os::fd", "os::unix"];

/// Where the files are that the kernel makes up. A sentence that names one has blanks.
const KERNEL_PATHS: &[&str] = &["/proc", "/sys/"];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter(|file| is_behind(&file.path)).flat_map(check_file).collect()
}

/// Code of a crate that does not call the system.
fn is_behind(path: &str) -> bool {
    let Some((room, rest)) = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
        return false;
    };
    let is_test = rest.ends_with("tests.rs") || rest.split('/').any(|part| part == "tests");
    rest.ends_with(".rs") && !is_test && !SYSTEM_ROOMS.contains(&room)
}

fn check_file(file: &File) -> Vec<Finding> {
    let code = without_tests(&layers(&file.text).code);
    let instead = "ask engine, which acts, or probe, which looks (xtask/src/tidy/wall.rs)";
    let mut findings = Vec::new();
    for (line, code) in (1..).zip(code.lines()) {
        if let Some(word) = WORDS.iter().find(|word| has_word(code, word)) {
            findings.push(Finding::at(&file.path, line, format!("`{word}` calls the system: {instead}")));
        }
    }
    for (line, literal) in literals(&code, &file.text) {
        if KERNEL_PATHS.iter().any(|path| literal.starts_with(path)) && !literal.contains(char::is_whitespace) {
            findings.push(Finding::at(&file.path, line, format!("{literal} is the kernel's: {instead}")));
        }
    }
    findings
}

/// The code with blanks in place of what is compiled for tests only.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mark: Vec<char> = MARK.chars().collect();
    let mut code: Vec<char> = code.chars().collect();
    for at in 0..code.len() {
        if code[at..].starts_with(&mark) {
            // A declaration has no body: its file is one of tests.
            let end = body_end(&code, at + mark.len()).unwrap_or(at);
            code[at..end].iter_mut().filter(|character| **character != '\n').for_each(|character| *character = ' ');
        }
    }
    code.into_iter().collect()
}

/// String literals of the code with their lines; `text` is the source that it was made from, place for place.
fn literals(code: &str, text: &str) -> Vec<(usize, String)> {
    let text: Vec<char> = text.chars().collect();
    let (mut line, mut begin, mut literals) = (1, None, Vec::new());
    for (at, character) in code.chars().enumerate() {
        match (character, begin) {
            ('\n', _) => line += 1,
            ('"', None) => begin = Some((line, at + 1)),
            ('"', Some((line, start))) => {
                literals.push((line, text[start..at].iter().collect()));
                begin = None;
            }
            _ => {}
        }
    }
    literals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_string(), text: text.to_string() };
        check(&[file]).into_iter().map(|finding| finding.place).collect()
    }

    const CALLS: &str = "\
use std::os::fd::AsFd;
use std::{fs, os::unix::fs::FileExt};
fn f() { rustix::fs::sync(); }
fn g() { unsafe { libc::sync() } }
fn h() { read(\"/proc/meminfo\"); }
fn j() { Path::new(\"/proc\"); }
fn i() { read(&format!(r\"/sys/block/{name}\")); }
";

    #[test]
    fn calls_of_the_system_have_two_rooms() {
        let lines: Vec<String> = (1..=7).map(|line| format!("crates/run/src/a.rs:{line}")).collect();
        assert_eq!(found("crates/run/src/a.rs", CALLS), lines);
        for free in ["crates/engine/src/a.rs", "crates/probe/src/linux/a.rs", "crates/run/tests/a.rs", "xtask/src/a.rs"]
        {
            assert!(found(free, CALLS).is_empty(), "{free}");
        }
    }

    #[test]
    fn words_and_sentences_are_no_calls() {
        let text = "// rustix, libc, std::os\nconst SENTENCE: &str = \"/proc/self/io tells, and libc too\";\nuse std::ostensible;\n";
        assert!(found("crates/run/src/a.rs", text).is_empty());
    }

    #[test]
    fn tests_are_free_and_what_follows_them_is_not() {
        let text = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{CALLS}}}\nuse rustix::fs;\n");
        assert_eq!(found("crates/run/src/a.rs", &text), ["crates/run/src/a.rs:12"]);
        assert_eq!(
            found("crates/run/src/a.rs", "#[cfg(test)]\nmod tests;\nuse rustix::fs;\n"),
            ["crates/run/src/a.rs:3"]
        );
        assert!(found("crates/run/src/a/tests.rs", CALLS).is_empty());
    }
}
