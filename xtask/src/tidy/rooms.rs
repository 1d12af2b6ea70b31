//! Crates import only downward, have no all-purpose names, and keep `unsafe` out.

use super::Finding;
use crate::workspace::{Package, Workspace};

/// Each crate and those of the workspace that it may import. `*`: all of them. Its tests may use any above it here.
const ROOMS: &[(&str, &[&str])] = &[
    ("job", &[]),
    ("workload", &["job"]),
    ("results", &["job"]),
    ("fio_report", &["results"]),
    ("present", &["results"]),
    ("findings", &["job", "results"]),
    ("engine", &["job", "workload"]),
    ("probe", &["results", "engine"]),
    ("run", &["job", "workload", "results", "findings", "engine", "probe"]),
    ("guide", &["job", "results", "engine", "probe", "findings", "run"]),
    ("check", &["job", "results", "engine", "probe", "run", "guide"]),
    ("fsdyno", &["*"]),
    ("xtask", &["*"]),
];

/// The only crate with `unsafe`.
pub(super) const UNSAFE_ROOM: &str = "engine";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: Vec<&Package> = workspace.members().collect();
    let mut findings: Vec<Finding> = members.iter().flat_map(|member| imports(member, &members)).collect();
    for member in members.iter().filter(|member| member.room != UNSAFE_ROOM) {
        for root in &member.roots {
            let text = std::fs::read_to_string(root).unwrap_or_default();
            if !text.lines().any(|line| line == "#![forbid(unsafe_code)]") {
                let place = root.strip_prefix(&workspace.root).unwrap_or(root).display().to_string();
                findings.push(Finding::new(place, "needs #![forbid(unsafe_code)]: only crates/engine has unsafe code"));
            }
        }
    }
    findings
}

fn imports(member: &Package, members: &[&Package]) -> Vec<Finding> {
    let Some(place) = ROOMS.iter().position(|(name, _)| *name == member.room) else {
        return vec![Finding::new(&member.room, "is a new crate: say in xtask/src/tidy/rooms.rs what it may import")];
    };
    let allowed = ROOMS[place].1;
    let own = |name: &&String| members.iter().any(|member| member.room == **name);
    let forbidden = |name: &&String| !allowed.contains(&"*") && !allowed.contains(&name.as_str());
    let lower = |name: &&String| ROOMS[..place].iter().any(|(room, _)| room == name);
    let of_tests = member.test_dependencies.iter().filter(|name| !lower(name));
    let upward = member.dependencies.iter().filter(forbidden).chain(of_tests).filter(own);
    upward
        .map(|name| {
            Finding::new(
                &member.room,
                format!("must not import {name}: imports go downward only (xtask/src/tidy/rooms.rs)"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|name| name.to_string()).collect();
        Package { room: name.to_string(), own: true, dependencies, ..Package::default() }
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
    }

    #[test]
    fn tests_may_use_what_stands_above() {
        let tested = |name: &str, used: &str| Package { test_dependencies: vec![used.into()], ..package(name, &[]) };
        assert!(places(&[tested("present", "fio_report"), package("fio_report", &[])]).is_empty());
        assert_eq!(places(&[tested("fio_report", "present"), package("present", &[])]), ["fio_report"]);
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        assert_eq!(places(&[package("misc", &[])]), ["misc"]);
    }
}
