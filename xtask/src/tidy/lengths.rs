//! Files and functions stay short. The lists below are a ratchet: an entry may shrink or go, and a new one needs
//! a reason that stands in a review.

use super::lexer::{is_name, layers};
use super::{File, Finding};

/// Lines of a file.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Folders of tables: rows are as many as there are things to list.
const TABLES: &[&str] = &["crates/job/src/table"];

/// Longer files, with the lines they may have.
const LONG_FILES: &[(&str, usize)] = &[];

/// Longer functions by file and name, with the lines they may have.
const LONG_FUNCTIONS: &[(&str, &str, usize)] = &[
    // These take a whole record apart, field by field, so that a new field cannot be forgotten.
    ("crates/fio_report/src/json/job.rs", "object", 101),
    ("crates/fio_report/src/normal/job.rs", "write", 80),
    ("crates/results/src/merge.rs", "merge", 82),
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let is_table = |file: &&File| TABLES.iter().any(|table| file.path.starts_with(table));
    let sources = files.iter().filter(|file| file.path.ends_with(".rs")).filter(|file| !is_table(file));
    let mut findings: Vec<Finding> = sources.flat_map(check_file).collect();
    findings.extend(needless_entries(files));
    findings
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    let allowed = LONG_FILES.iter().find(|(path, _)| *path == file.path).map_or(FILE_LINES_MAX, |(_, lines)| *lines);
    if lines > allowed {
        findings.push(Finding::new(&file.path, format!("has {lines} lines, more than {allowed}: split it by subject")));
    }
    for function in functions(&file.text) {
        let entry = LONG_FUNCTIONS.iter().find(|(path, name, _)| *path == file.path && *name == function.name);
        let allowed = entry.map_or(FUNCTION_LINES_MAX, |(_, _, lines)| *lines);
        if function.lines > allowed {
            let text = format!("fn {} has {} lines, more than {allowed}: split it", function.name, function.lines);
            findings.push(Finding::at(&file.path, function.first_line, text));
        }
    }
    findings
}

/// Entries whose file is gone or short enough without them.
fn needless_entries(files: &[File]) -> Vec<Finding> {
    let text_of = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
    let short_file = |(path, _): &&(&str, usize)| text_of(path).lines().count() <= FILE_LINES_MAX;
    let short_function = |(path, name, _): &&(&str, &str, usize)| {
        let long = |function: &Function| function.name == *name && function.lines > FUNCTION_LINES_MAX;
        !functions(text_of(path)).iter().any(long)
    };
    let text = "needs no exception any more: take it off the list in xtask/src/tidy/lengths.rs";
    let of_files = LONG_FILES.iter().filter(short_file).map(|(path, _)| Finding::new(*path, text));
    let of_functions = LONG_FUNCTIONS
        .iter()
        .filter(short_function)
        .map(|(path, name, _)| Finding::new(format!("{path}: fn {name}"), text));
    of_files.chain(of_functions).collect()
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// Counted from 1.
    first_line: usize,
    lines: usize,
}

/// All functions of a source, inner ones too.
fn functions(source: &str) -> Vec<Function> {
    let code: Vec<char> = layers(source).code.chars().collect();
    let mut functions = Vec::new();
    for at in 0..code.len() {
        let begins = code[at..].starts_with(&['f', 'n', ' ']) && (at == 0 || !is_name(code[at - 1]));
        let name: String = code.get(at + 3..).unwrap_or_default().iter().take_while(|c| is_name(**c)).collect();
        if !begins || name.is_empty() {
            continue;
        }
        if let Some(end) = body_end(&code, at) {
            let first_line = 1 + newlines(&code[..at]);
            functions.push(Function { name, first_line, lines: 1 + newlines(&code[at..end]) });
        }
    }
    functions
}

fn newlines(code: &[char]) -> usize {
    code.iter().filter(|character| **character == '\n').count()
}

/// Where the body of the function or module that begins at `start` ends; `None` for a declaration.
pub(super) fn body_end(code: &[char], start: usize) -> Option<usize> {
    // Semicolons and braces inside parentheses and brackets belong to types.
    let mut nesting = 0_i32;
    let mut braces = 0_i32;
    for (at, character) in code.iter().enumerate().skip(start) {
        match character {
            '(' | '[' => nesting += 1,
            ')' | ']' => nesting -= 1,
            ';' if nesting == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces == 0 && nesting == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured() {
        let source = "\
fn one() {}

impl T {
    pub fn two<F: Fn(u8) -> [u8; 4]>(f: F) -> u8
    where
        F: Clone,
    {
        let text = \"}\"; // }
        inner(|x| { x })
    }
}
trait D { fn declared(&self, x: [u8; 3]); }
type P = fn (u8) -> u8;
";
        let found = functions(source);
        let measured: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.first_line, f.lines)).collect();
        assert_eq!(measured, [("one", 1, 1), ("two", 4, 7)]);
    }

    #[test]
    fn long_ones_are_found() {
        let body = "    x();\n".repeat(70);
        let file = |path: &str, text: String| File { path: path.to_string(), text };
        let long = file("a.rs", format!("fn f() {{\n{body}}}\n"));
        assert_eq!(check_file(&long)[0].place, "a.rs:1");
        let just_short = file("a.rs", format!("fn f() {{\n{}}}\n", "    x();\n".repeat(68)));
        assert!(check_file(&just_short).is_empty());
        let long_file = file("a.rs", "// a\n".repeat(601));
        assert_eq!(check_file(&long_file)[0].place, "a.rs");
    }
}
