//! Finds the crates with examples in their documentation: rustdoc reads a whole crate only to find that it has none.

use std::path::Path;

use crate::workspace::Workspace;

/// The packages whose sources have examples; all where cargo cannot be asked.
pub(super) fn packages() -> Vec<String> {
    let Ok(workspace) = Workspace::load() else { return Vec::new() };
    let with_examples = workspace.members().filter(|package| has_some(&package.folder.join("src")));
    with_examples.map(|package| package.name.clone()).collect()
}

/// Whether a file in the folder, or below it, contains an example.
fn has_some(folder: &Path) -> bool {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        path.is_dir() && has_some(&path) || std::fs::read_to_string(&path).is_ok_and(|text| begins_an_example(&text))
    })
}

fn begins_an_example(source: &str) -> bool {
    source.lines().map(str::trim_start).any(|line| line.starts_with("/// ```") || line.starts_with("//! ```"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found() {
        assert!(begins_an_example("fn a() {}\n    /// ```compile_fail\n"));
        assert!(!begins_an_example("// ```\nlet text = \"/// ```\";\n"));
        let all = packages();
        assert!(all.contains(&"fsdyno-job".to_owned()) && !all.contains(&"fsdyno-guide".to_owned()), "{all:?}");
    }
}
