//! Collects the licences of everything that is compiled into the program, with their texts from the packages.

use std::collections::BTreeMap;
use std::path::Path;

use super::components::{Component, Components};
use super::tool::cannot;
use crate::workspace::folder;

/// The first words of the names of licence files.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

const HEAD: &str = "\
Licences of what fsdyno is made of

fsdyno itself is under MIT or Apache-2.0, as you like. Compiled into it are the packages below, Rust's standard library
(MIT or Apache-2.0, by the Rust project's contributors) and, in the static programs, the C library musl (MIT, Copyright
© 2005-2020 Rich Felker, et al.; its text is the MIT licence below).
";

/// The document.
pub(super) fn document(components: &Components) -> Result<String, String> {
    let others: Vec<&Component> = components.values().filter(|component| !component.own).collect();
    let mut text = format!("{HEAD}\n");
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for component in &others {
        text.push_str(&format!("{} {}: {}\n", component.name, component.version, component.licence));
        let texts = texts(&component.folder)?;
        let texts = if texts.is_empty() { own_texts(component)? } else { texts };
        for licence in texts {
            users.entry(licence).or_default().push(component.name.clone());
        }
    }
    for licence in texts(&folder())?.into_iter().filter(|text| text.contains("Permission is hereby granted")) {
        users.entry(licence).or_default().push("fsdyno".to_owned());
    }
    for (licence, names) in &users {
        text.push_str(&format!("\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), licence.trim_end()));
    }
    Ok(text)
}

/// The licence texts in a package's folder, in the order of their names.
fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(cannot("read", folder))?;
    let mut files: Vec<_> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let is_licence = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        NAMES.iter().any(|start| name.starts_with(start))
    };
    files.iter().filter(is_licence).map(|path| std::fs::read_to_string(path).map_err(cannot("read", path))).collect()
}

/// The text for a package without one: Apache-2.0 has a common text, other licences name who grants them.
fn own_texts(component: &Component) -> Result<Vec<String>, String> {
    if component.licence.contains("Apache-2.0") {
        let path = folder().join("LICENSE-APACHE");
        return Ok(vec![std::fs::read_to_string(&path).map_err(cannot("read", &path))?]);
    }
    Err(format!("{} {} ({}) brings no text of its licence", component.name, component.version, component.licence))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_package_of_the_program_has_its_licence() {
        let components = super::super::components::of_program(&["x86_64-unknown-linux-musl"], "").unwrap();
        let text = super::document(&components).unwrap();
        for component in components.values().filter(|component| !component.own) {
            assert!(text.contains(&format!("{} {}: {}\n", component.name, component.version, component.licence)));
            assert!(!component.licence.is_empty(), "{}", component.name);
        }
        assert!(
            text.contains("\nserde_json ") && !text.contains("\nproptest "),
            "what tests use is not in the program"
        );
        assert!(text.contains("Apache License") && text.contains("Permission is hereby granted"));
    }
}
