//! The table of dishonest set-ups in docs/reliability.md: each row names a test that makes the set-up and asserts what is
//! said, and one that is spared. A row whose test is gone, or holds nothing of what it is to say, fails. The tests are read
//! here and run in other tiers, so that each push sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// As many as there must be at least.
const SET_UPS_MIN: usize = 147;

/// Functions and constants of a file of tests, by name.
struct Items {
    texts: BTreeMap<String, String>,
    tests: BTreeSet<String>,
}

impl Items {
    fn of(source: &str) -> Items {
        let mut items = Items { texts: BTreeMap::new(), tests: BTreeSet::new() };
        let mut current: Option<(String, String)> = None;
        let mut is_test = false;
        for line in source.lines() {
            if current.is_none() {
                is_test |= line == "#[test]";
                current = name(line).map(|name| (name.to_owned(), String::new()));
            }
            let Some((name, text)) = &mut current else { continue };
            text.push_str(line);
            text.push('\n');
            // A function ends at the margin, a constant where its value does.
            let is_function = text.starts_with("fn ") || text.starts_with("pub(crate) fn ");
            let ends = if is_function { line.ends_with('}') && !line.starts_with(' ') } else { line.ends_with(';') };
            if ends {
                if std::mem::take(&mut is_test) {
                    items.tests.insert(name.clone());
                }
                items.texts.insert(name.clone(), std::mem::take(text));
                current = None;
            }
        }
        items
    }

    /// The test and all of this file that it uses.
    fn with_helpers(&self, test: &str) -> String {
        let (mut known, mut next) = (BTreeSet::from([test]), vec![test]);
        while let Some(item) = next.pop() {
            let used = self.texts.keys().filter(|name| words(&self.texts[item]).any(|word| word == *name));
            next.extend(used.map(String::as_str).filter(|name| known.insert(name)));
        }
        known.into_iter().map(|name| self.texts[name].as_str()).collect()
    }
}

/// What an item at the beginning of a line is called.
fn name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
    let rest = ["fn ", "const ", "static "].into_iter().find_map(|word| line.strip_prefix(word))?;
    words(rest).next()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// `series::noise` in a file of one of the folders of tests; its text with what it uses.
fn text_of(test: &str) -> String {
    let (module, name) = test.split_once("::").unwrap_or_else(|| panic!("{test}: a module and a name"));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let found = ["traps", "lab", "faults", ""].into_iter().find_map(|folder| {
        let source = std::fs::read_to_string(tests.join(folder).join(format!("{module}.rs"))).ok()?;
        let items = Items::of(&source);
        items.tests.contains(name).then(|| items.with_helpers(name))
    });
    found.unwrap_or_else(|| panic!("docs/reliability.md names {test}, and there is no such test"))
}

/// What stands between backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// A finding is looked for, as the tests do it.
fn is_asserted(text: &str, id: &str) -> bool {
    let calls = ["caught(", "invalid(", "caution(", "one(", "finding(", "id == "];
    // A table of traps, each with whether it is told of the trap and of its twin.
    let of_table = text.contains("trap && !twin") && text.contains("assert!(wrong.is_empty()");
    of_table && text.lines().any(|line| line.contains("found(") && line.contains(&format!(", \"{id}\")")))
        || calls.iter().any(|call| text.contains(&format!("{call}\"{id}\"")))
        || text.contains(&format!("\"[{id}]\""))
        // Of the rows of a study.
        || text.lines().any(|line| line.contains("assert!(found(") && line.contains(&format!(", \"{id}\")")))
        || text.lines().any(|line| line.contains("= finding(") && line.contains(&format!(", \"{id}\").expect(")))
}

/// How often it is named, as a name or as it is printed.
fn mentions(text: &str, id: &str) -> usize {
    text.matches(&format!("\"{id}\"")).count() + text.matches(&format!("\"[{id}]\"")).count()
}

#[test]
fn dishonest_set_ups_are_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the package is two folders deep");
    let document = std::fs::read_to_string(root.join("docs/reliability.md")).expect("the document");
    let (_, rest) = document.split_once("<!-- set-ups -->\n").expect("the table begins");
    let (table, _) = rest.split_once("<!-- end -->").expect("the table ends");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>())
        .collect();
    let known: BTreeSet<&str> = fsdyno_findings::catalogue().map(|explanation| explanation.id).collect();
    let (mut set_ups, mut reported) = (BTreeSet::new(), BTreeSet::new());
    for row in &rows {
        let [set_up, says, test, twin] = row[..] else { panic!("four cells: {row:?}") };
        assert!(set_ups.insert(set_up), "twice: {set_up}");
        assert!(!twin.is_empty(), "{set_up} has no honest twin");
        let (says, test) = (quoted(says)[0], quoted(test)[0]);
        let caught = text_of(test);
        let spared =
            quoted(twin).first().filter(|name| name.contains("::")).map_or(String::new(), |name| text_of(name));
        if known.contains(says) {
            reported.insert(says);
            assert!(is_asserted(&caught, says), "{test} does not hold that {says} is said");
            let spared = [caught, spared].concat();
            assert!(mentions(&spared, says) >= 2, "nobody holds that {says} is not said of the twin of: {set_up}");
        } else {
            assert!(caught.contains(says), "{test} does not hold that it says `{says}`");
        }
    }
    assert!(set_ups.len() >= SET_UPS_MIN, "{} set-ups", set_ups.len());
    let missing: Vec<_> = known.difference(&reported).collect();
    assert!(missing.is_empty(), "no set-up for {missing:?}");
}

/// No finding without a test that makes its trap on real storage, and one where it must be silent.
#[test]
fn every_finding_is_made_and_spared() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut text = std::fs::read_to_string(tests.join("time.rs")).expect("a test is text");
    for folder in ["traps", "lab"] {
        for entry in std::fs::read_dir(tests.join(folder)).expect("the tests are there").flatten() {
            text += &std::fs::read_to_string(entry.path()).expect("a test is text");
        }
    }
    for explanation in fsdyno_findings::catalogue() {
        let named = text.matches(&format!("\"{}\"", explanation.id)).count();
        assert!(named >= 2, "{} is named {named} times in the tests on real storage", explanation.id);
    }
}

#[test]
fn items_are_found_with_what_they_use() {
    let items = Items::of(
        "const A: &str =\n    \"a\";\n\nfn helper() {\n    A\n}\n\n#[test]\nfn one() {\n    helper();\n}\n\nfn other() {}\n",
    );
    assert_eq!(items.tests.iter().collect::<Vec<_>>(), ["one"]);
    let text = items.with_helpers("one");
    assert!(text.contains("\"a\"") && !text.contains("other"), "{text}");
}
