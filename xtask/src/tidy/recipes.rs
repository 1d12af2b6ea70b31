//! Checks the lists of CONTRIBUTING.md ("To add something"): each heading has the right number of files, each step
//! names its file, and no file other than the row of a question must know all questions.

use super::{File, Finding};

const DOCUMENT: &str = "CONTRIBUTING.md";

/// The file with the row of each question.
const QUESTIONS: &str = "crates/results/src/studies/question.rs";

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let lists = files.iter().filter(|file| file.path == DOCUMENT).flat_map(lists);
    let is_code = |file: &&File| file.path.ends_with(".rs") && file.path.contains("/src/") && file.path != QUESTIONS;
    lists.chain(files.iter().filter(is_code).flat_map(whole_matches)).collect()
}

/// A list of steps under a heading such as `### A question: 3 files`.
struct Recipe<'a> {
    line: usize,
    heading: &'a str,
    files: usize,
    steps: Vec<String>,
}

impl Recipe<'_> {
    /// Number of steps besides the files: the test or the document that the heading names.
    fn others(&self) -> usize {
        usize::from(self.heading.contains(" and its "))
    }
}

fn lists(document: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for recipe in recipes(&document.text) {
        let found = |text| Finding::at(&document.path, recipe.line, text);
        let steps = recipe.steps.len();
        if steps != recipe.files + recipe.others() {
            findings.push(found(format!("`{}` has {steps} steps", recipe.heading)));
        }
        let names_none = |step: &&String| !step.split('`').skip(1).step_by(2).any(|quoted| quoted.contains('/'));
        if let Some(step) = recipe.steps.iter().find(names_none) {
            findings.push(found(format!("`{}`: a step names no file: {step}", recipe.heading)));
        }
    }
    findings
}

fn recipes(text: &str) -> Vec<Recipe<'_>> {
    let mut recipes: Vec<Recipe<'_>> = Vec::new();
    let mut is_open = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.starts_with('#') {
            let files =
                text.strip_prefix("### A").and_then(|heading| heading.split_once(": ")).and_then(|(_, count)| {
                    let (number, rest) = count.split_once(' ')?;
                    rest.starts_with("files").then(|| number.parse().ok())?
                });
            is_open = files.is_some();
            let opened = files.map(|files| Recipe { line, heading: text, files, steps: Vec::new() });
            recipes.extend(opened);
            continue;
        }
        let Some(recipe) = recipes.last_mut().filter(|_| is_open) else { continue };
        let begins = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        match recipe.steps.last_mut() {
            _ if begins => recipe.steps.push(text.to_owned()),
            Some(step) if text.starts_with("   ") => step.push_str(text),
            _ => {}
        }
    }
    recipes
}

/// Code that would not compile with a new question: a `match` over questions without a catch-all arm.
fn whole_matches(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().take_while(|line| !line.starts_with("mod tests")).collect();
    let is_match = |line: &str| line.contains("match ") && line.contains("question") && line.ends_with('{');
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_match(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let body = lines[index + 1..].iter().take_while(|line| !line.starts_with(&end));
        let arms: Vec<&str> =
            body.filter(|line| line.len() - line.trim_start().len() == indent + 4).map(|line| line.trim()).collect();
        let is_over_questions = arms.iter().any(|arm| arm.starts_with("Question::"));
        // A single name catches everything else.
        let is_rest = |arm: &&&str| {
            arm.split_once(" =>")
                .is_some_and(|(name, _)| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()))
        };
        if is_over_questions && arms.iter().find(is_rest).is_none() {
            let text =
                format!("a `match` over all questions: let others have a default here, or a field in {QUESTIONS}");
            findings.push(Finding::at(&file.path, index + 1, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_string(), text: text.to_string() };
        check(&[file]).into_iter().map(|finding| format!("{}: {}", finding.place, finding.text)).collect()
    }

    #[test]
    fn a_list_has_as_many_steps_as_its_heading_says() {
        let steps = "1. A row in `crates/a/`.\n   It is long.\n2. A file in `crates/b/`.\n\nAnd more.\n";
        assert!(found(DOCUMENT, &format!("### A finding: 2 files\n\n{steps}\n### Other\n3. `x`\n")).is_empty());
        assert!(found(DOCUMENT, &format!("### A finding: 1 files and its test\n\n{steps}")).is_empty());
        let wrong = found(DOCUMENT, &format!("# All\n### An option: 3 files\n\n{steps}"));
        assert_eq!(wrong, ["CONTRIBUTING.md:2: `### An option: 3 files` has 2 steps"]);
        assert_eq!(found(DOCUMENT, "### A report: 1 files\n\n1. Somewhere.\n").len(), 1);
    }

    #[test]
    fn the_lists_are_read() {
        let text = std::fs::read_to_string(crate::workspace::folder().join(DOCUMENT)).unwrap();
        let names: Vec<&str> = recipes(&text).iter().map(|recipe| recipe.heading).collect();
        assert_eq!(names.len(), 5, "{names:?}");
    }

    #[test]
    fn a_match_over_all_questions_is_found_and_one_with_a_default_is_not() {
        let code = |rest: &str| {
            format!(
                "fn f() {{\n    match study.question {{\n        Question::Fio => 1,\n        Question::Time => {{\n            2\n        }}\n{rest}    }}\n}}\n"
            )
        };
        assert_eq!(found("crates/a/src/b.rs", &code("")).len(), 1);
        assert!(found("crates/a/src/b.rs", &code("        _ => 3,\n")).is_empty());
        assert!(found("crates/a/src/b.rs", &code("        question => 3,\n")).is_empty());
        assert!(found(QUESTIONS, &code("")).is_empty() && found("crates/a/tests/b.rs", &code("")).is_empty());
        assert!(found("crates/a/src/b.rs", &format!("#[cfg(test)]\nmod tests {{\n{}", code(""))).is_empty());
    }
}
