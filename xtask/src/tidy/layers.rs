//! Crates import only downward, and three alone use what calls the system.

use super::Finding;
use super::features::NAMES_FEATURES;
use crate::workspace::{Package, Workspace};

/// Each crate and those of the workspace that it may import. `*`: all of them. Its tests may use any above it here.
const LAYERS: &[(&str, &[&str])] = &[
    ("features", &[]),
    ("job", &[]),
    ("workload", &["job"]),
    ("results", &["job"]),
    ("os", &["job"]),
    ("testkit", &["features", "os", "results"]),
    ("fio_report", &["results"]),
    ("present", &["findings", "results"]),
    ("findings", &["job", "results"]),
    ("engine", &["job", "workload", "os"]),
    ("probe", &["results", "os"]),
    ("drive", &["job", "workload", "results", "os", "engine"]),
    ("run", &["job", "workload", "results", "findings", "os", "engine", "probe", "drive"]),
    ("guide", &["job", "results", "os", "engine", "probe", "findings", "run"]),
    ("check", &["job", "results", "os", "probe", "run", "guide"]),
    ("cluster", &["job", "results", "os", "probe", "run", "guide"]),
    ("fsdyno", &["*"]),
    ("xtask", &["*"]),
];

/// The only crates with `unsafe`.
pub(super) const UNSAFE_LAYERS: &[&str] = &["os", "engine"];

/// The crates that call the system: `os` and `engine` act on it, `probe` looks at it.
pub(super) const SYSTEM_LAYERS: &[&str] = &["os", "engine", "probe"];

/// Crates that do nothing else.
const SYSTEM_CRATES: &[&str] = &["rustix", "libc", "signal-hook", "procfs", "windows-sys"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: Vec<&Package> = workspace.members().collect();
    members.iter().flat_map(|member| imports(member, &members)).collect()
}

fn imports(member: &Package, members: &[&Package]) -> Vec<Finding> {
    let Some(place) = LAYERS.iter().position(|(name, _)| *name == member.library) else {
        return vec![Finding::new(
            &member.library,
            "is a new crate: say in xtask/src/tidy/layers.rs what it may import",
        )];
    };
    let allowed = LAYERS[place].1;
    let own = |name: &&String| members.iter().any(|member| member.library == **name);
    let forbidden = |name: &&String| !allowed.contains(&"*") && !allowed.contains(&name.as_str());
    let lower = |name: &&String| LAYERS[..place].iter().any(|(library, _)| library == name);
    let of_tests = member.test_dependencies.iter().filter(|name| !lower(name));
    let upward = member.dependencies.iter().filter(forbidden).chain(of_tests).filter(own);
    let may_call = SYSTEM_LAYERS.contains(&member.library.as_str()) || member.library == NAMES_FEATURES;
    let calls = |name: &&String| SYSTEM_CRATES.contains(&name.as_str()) && !may_call;
    let calling = member.dependencies.iter().filter(calls);
    let found =
        |name, why| Finding::new(&member.library, format!("must not import {name}: {why} (xtask/src/tidy/layers.rs)"));
    let upward = upward.map(|name| found(name, "imports go downward only"));
    upward.chain(calling.map(|name| found(name, "os and engine act on the system, and probe looks at it"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|name| name.to_string()).collect();
        Package { library: name.to_string(), own: true, dependencies, ..Package::default() }
    }

    fn places(packages: &[Package]) -> Vec<String> {
        let members: Vec<&Package> = packages.iter().collect();
        members.iter().flat_map(|member| imports(member, &members)).map(|finding| finding.place).collect()
    }

    #[test]
    fn downward_is_fine_and_upward_is_not() {
        assert!(places(&[package("workload", &["job", "serde"]), package("job", &["serde"])]).is_empty());
        let upward =
            [package("present", &["results", "run"]), package("results", &["job"]), package("run", &["present"])];
        assert_eq!(places(&upward), ["present", "run"]);
        assert_eq!(places(&[package("run", &["libc"]), package("engine", &["libc"])]), ["run"]);
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        assert_eq!(places(&[package("misc", &[])]), ["misc"]);
    }
}
