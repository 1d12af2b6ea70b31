//! Every sentence of the guided face stands in a snapshot, as its source has it: a new wording is seen by whoever
//! approves it, and none gets to people unread. What the sentences become with figures in them, the tests beside
//! their code show.

use std::fs;
use std::path::Path;

/// Where the sentences are.
const ROOMS: [&str; 12] = [
    "crates/guide/src",
    "crates/check/src",
    "crates/run/src/metadata",
    "crates/probe/src/linux/identity",
    "crates/findings/src/limits",
    "crates/findings/src/limits.rs",
    "crates/present/src/guided",
    "crates/present/src/inspect.rs",
    "crates/fsdyno/src/process/first_look.rs",
    "crates/fsdyno/src/inspect.rs",
    "crates/fsdyno/src/question",
    "crates/fsdyno/src/question.rs",
];

/// Fewer words are a name.
const LEAST_WORDS: usize = 3;

#[test]
fn every_sentence_was_read() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut listed = String::new();
    for room in ROOMS {
        for path in sources(&root.join(room)) {
            let text = fs::read_to_string(&path).unwrap();
            let found: Vec<String> = literals(&text).into_iter().filter(|text| is_sentence(text)).collect();
            if !found.is_empty() {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                listed.push_str(&format!("{name}\n  {}\n", found.join("\n  ")));
            }
        }
    }
    insta::assert_snapshot!(listed);
}

/// The source files of a room, its tests left out.
fn sources(room: &Path) -> Vec<std::path::PathBuf> {
    if !room.is_dir() {
        assert!(room.is_file(), "{} has moved: its sentences are no longer read", room.display());
        return vec![room.to_path_buf()];
    }
    let mut entries: Vec<_> = fs::read_dir(room).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let told = |path: &std::path::PathBuf| {
        path.is_dir() || path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs")
    };
    entries.iter().filter(|path| told(path)).flat_map(|path| sources(path)).collect()
}

fn is_sentence(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= LEAST_WORDS
}

/// The string literals of a source before its tests; a literal that goes on in the next line is one line here.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                letters.find(|letter| *letter == '\n');
            }
            // A quotation mark as a letter; a lifetime has none.
            '\'' if letters.peek() == Some(&'"') => {
                letters.next();
            }
            '"' => found.push(literal(&mut letters)),
            _ => {}
        }
    }
    found
}

/// The rest of a literal.
fn literal(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
                Some('n') => text.push_str("\\n"),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(letter),
        }
    }
    text
}

#[test]
fn literals_are_found_and_tests_are_not() {
    let source = "// \"not this\"\nlet a = 'x'; let q = '\"'; f(\"one \\\"two\\\" \\\n      three\");\n#[cfg(test)]\nf(\"nor this\");";
    assert_eq!(literals(source), ["one \"two\" three"]);
    assert!(is_sentence("{a} is not {b} at all") && !is_sentence("{a}: {b}"));
}
