//! Checks that crates import only downwards, as the table of ARCHITECTURE.md says, and that only three use crates that
//! call the system.

use super::features::NAMES_FEATURES;
use super::{File, Finding};
use crate::workspace::{Package, Workspace};

/// The document that says which crate may import which.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// The header of its table of crates, lowest first.
const HEAD: &str = "| crate | owns | may use |";

/// A crate, with those of the workspace that it may import; its tests may use everything above it in the table.
struct Layer {
    library: String,
    /// `None`: all of them.
    may_use: Option<Vec<String>>,
}

/// The only crates with `unsafe`.
pub(super) const UNSAFE_LAYERS: &[&str] = &["os", "engine"];

/// The crates that call the system: `os` and `engine` act on it, `probe` looks at it.
pub(super) const SYSTEM_LAYERS: &[&str] = &["os", "engine", "probe"];

/// Crates that only call the system.
const SYSTEM_CRATES: &[&str] = &["rustix", "libc", "signal-hook", "procfs", "windows-sys"];

pub(super) fn check(workspace: &Workspace, files: &[File]) -> Vec<Finding> {
    let text = files.iter().find(|file| file.path == DOCUMENT).map_or("", |file| &file.text);
    let layers = layers(text);
    let members: Vec<&Package> = workspace.members().collect();
    upward(&layers).into_iter().chain(members.iter().flat_map(|member| imports(member, &members, &layers))).collect()
}

/// The rows of the table.
fn layers(text: &str) -> Vec<Layer> {
    let rows = text.lines().skip_while(|line| *line != HEAD).skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let layer = |cells: Vec<&str>| {
        let [library, .., may_use] = cells[..] else { return None };
        // Words in brackets limit the use.
        let names = may_use.split(", ").filter_map(|name| name.split_whitespace().next());
        let names = names.filter(|name| *name != "–").map(str::to_owned).collect();
        Some(Layer { library: library.trim_matches('`').to_owned(), may_use: (may_use != "all").then_some(names) })
    };
    cells.filter_map(layer).collect()
}

/// Rows that allow crates which are not above them in the table.
fn upward(layers: &[Layer]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, layer) in layers.iter().enumerate() {
        let is_above = |name: &&String| layers[..place].iter().any(|other| other.library == **name);
        for name in layer.may_use.iter().flatten().filter(|name| !is_above(name)) {
            findings
                .push(Finding::new(DOCUMENT, format!("`{}` may not use {name}, which stands below", layer.library)));
        }
    }
    findings
}

fn imports(member: &Package, members: &[&Package], layers: &[Layer]) -> Vec<Finding> {
    let Some(place) = layers.iter().position(|layer| layer.library == member.short_name) else {
        return vec![Finding::new(
            &member.short_name,
            format!("is a new crate: say in the table of {DOCUMENT} what it may use"),
        )];
    };
    let allowed = &layers[place].may_use;
    let own = |name: &&String| members.iter().any(|member| member.short_name == **name);
    let forbidden = |name: &&String| allowed.as_ref().is_some_and(|allowed| !allowed.contains(name));
    let lower = |name: &&String| layers[..place].iter().any(|layer| layer.library == **name);
    let of_tests = member.test_dependencies.iter().filter(|name| !lower(name));
    let upward = member.dependencies.iter().filter(forbidden).chain(of_tests).filter(own);
    let may_call = SYSTEM_LAYERS.contains(&member.short_name.as_str()) || member.short_name == NAMES_FEATURES;
    let calls = |name: &&String| SYSTEM_CRATES.contains(&name.as_str()) && !may_call;
    let calling = member.dependencies.iter().filter(calls);
    let found = |name, why| Finding::new(&member.short_name, format!("must not import {name}: {why} ({DOCUMENT})"));
    let upward = upward.map(|name| found(name, "imports go downward only"));
    upward.chain(calling.map(|name| found(name, "os and engine act on the system, and probe looks at it"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# A
| crate | owns | may use |
|---|---|---|
| `job` | a, b | – |
| `results` | c | job |
| `engine` | d | job (its names) |
| `run` | e | job, results, engine |
| `present` | f | results |
| `fsdyno` | g | all |

| `other` | h | run |
";

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|name| name.to_string()).collect();
        Package { short_name: name.to_string(), own: true, dependencies, ..Package::default() }
    }

    fn places(packages: &[Package]) -> Vec<String> {
        let (members, layers): (Vec<&Package>, _) = (packages.iter().collect(), layers(TABLE));
        members.iter().flat_map(|member| imports(member, &members, &layers)).map(|finding| finding.place).collect()
    }

    #[test]
    fn downward_is_fine_and_upward_is_not() {
        assert!(places(&[package("engine", &["job", "serde"]), package("job", &["serde"])]).is_empty());
        let upward =
            [package("present", &["results", "run"]), package("results", &["job"]), package("run", &["present"])];
        assert_eq!(places(&upward), ["present", "run"]);
        assert_eq!(places(&[package("run", &["libc"]), package("engine", &["libc"])]), ["run"]);
        assert!(places(&[package("fsdyno", &["run", "job"]), package("run", &[]), package("job", &[])]).is_empty());
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        assert_eq!(places(&[package("misc", &[])]), ["misc"]);
        assert_eq!(places(&[package("other", &[])]), ["other"], "another table");
    }

    #[test]
    fn the_table_itself_goes_downward() {
        assert!(upward(&layers(TABLE)).is_empty());
        assert_eq!(upward(&layers(&TABLE.replace("| c | job |", "| c | run |"))).len(), 1);
    }
}
