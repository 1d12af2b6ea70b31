//! Checks that the tests of each crate, and the program alone, are built with the same features as the whole workspace, so
//! that `cargo test -p X` and `cargo build -p fsdyno` compile nothing again.

use std::collections::BTreeSet;

use super::Finding;
use crate::workspace::{Workspace, cargo_command};

/// The crate whose manifest lists the features; it has no code and no tests.
pub(super) const NAMES_FEATURES: &str = "features";

/// Crates with their versions and the features that they are built with.
type Built = BTreeSet<String>;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>, String> {
    let all = built(&["--workspace"])?;
    let mut findings = Vec::new();
    // Builds without tests leave out what only the tests ask for.
    for chosen in ["--workspace", "--package=fsdyno"] {
        findings.extend(differing(&format!("cargo build {chosen}"), &built(&[chosen, "--edges=normal,build"])?, &all));
    }
    // The build with MPI has more packages, and those of the other builds with the same features.
    let is_member = |line: &String| workspace.members().any(|member| member.name == name(line));
    let without_mpi = all.iter().filter(|line| !is_member(line)).cloned().collect();
    findings.extend(differing("without MPI", &without_mpi, &built(&["--workspace", "--features=fsdyno/mpi"])?));
    for member in workspace.members().filter(|member| member.short_name != NAMES_FEATURES) {
        findings.extend(differing(&member.name, &built(&["--package", &member.name])?, &all));
    }
    Ok(findings)
}

/// The crates that a choice of packages is built with on this system.
fn built(chosen: &[&str]) -> Result<Built, String> {
    let ran = cargo_command()
        .args(["tree", "--quiet", "--prefix=none", "--format={p} {f}"])
        .args(chosen)
        .output()
        .map_err(|error| format!("cannot run cargo tree: {error}"))?;
    if !ran.status.success() {
        return Err(format!("cargo tree failed: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).lines().map(|line| line.trim_end_matches(SHOWN_ABOVE).to_owned()).collect())
}

/// What cargo writes behind a crate whose dependencies it has shown already. It would show all of them at each place with
/// `--no-dedupe`, in thirty times as many lines.
const SHOWN_ABOVE: &str = " (*)";

fn differing(chosen: &str, built: &Built, all: &Built) -> Vec<Finding> {
    let apart = built.difference(all);
    let text = |line: &String| {
        let known: Vec<&str> = all.iter().filter(|other| name(other) == name(line)).map(String::as_str).collect();
        format!(
            "is built with other features than with all crates ({}): name them in crates/features",
            known.join("; ")
        )
    };
    apart.map(|line| Finding::new(chosen, format!("{} {}", line.trim(), text(line)))).collect()
}

fn name(line: &str) -> &str {
    line.split(' ').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_features_are_another_build() {
        let built = |lines: &[&str]| -> Built { lines.iter().map(|line| (*line).to_owned()).collect() };
        let all = built(&["rustix v1.1 fs,net", "libc v0.2 std"]);
        assert!(differing("job", &built(&["rustix v1.1 fs,net"]), &all).is_empty());
        let found = differing("job", &built(&["rustix v1.1 fs", "libc v0.2 std"]), &all);
        assert_eq!(found.len(), 1);
        assert!(found[0].text.contains("rustix v1.1 fs,net"), "{}", found[0].text);
    }
}
