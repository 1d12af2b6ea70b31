//! The crates that are free of the system are compiled for another one. Those that call it, `engine` and `probe`, have no
//! modules for Windows yet; whatever depends on them is left out.

use std::process::Command;

use crate::tidy::SYSTEM_LAYERS;
use crate::workspace::{Package, Workspace, cargo};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Checks them, where the target can be had.
pub(crate) fn run() -> Result<bool, String> {
    let workspace = Workspace::load()?;
    let packages: Vec<&Package> = workspace
        .members()
        .filter(|member| member.roots.iter().any(|root| root.starts_with(workspace.root.join("crates"))))
        .collect();
    let (bound, free): (Vec<&str>, Vec<&str>) =
        packages.iter().map(|package| package.library.as_str()).partition(|name| needs_the_system(name, &packages));
    if let Err(reason) = target() {
        println!("skipped: {reason}");
        return Ok(true);
    }
    println!("for {TARGET}: {}; not {}, which call the system or use what does", free.join(", "), bound.join(", "));
    let selected = packages
        .iter()
        .filter(|package| free.contains(&package.library.as_str()))
        .flat_map(|package| ["-p", package.name.as_str()]);
    cargo(&["check", "--target", TARGET].into_iter().chain(selected).collect::<Vec<&str>>())
}

/// Whether a crate is one of those that call the system, or depends on one.
fn needs_the_system(name: &str, packages: &[&Package]) -> bool {
    let dependencies =
        packages.iter().filter(|package| package.library == name).flat_map(|package| &package.dependencies);
    SYSTEM_LAYERS.contains(&name) || dependencies.into_iter().any(|used| needs_the_system(used, packages))
}

/// Makes sure that the target is installed, or says why it is not.
fn target() -> Result<(), String> {
    let rustup = |words: &[&str]| {
        let output =
            Command::new("rustup").args(words).output().map_err(|error| format!("cannot run rustup: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    };
    if rustup(&["target", "list", "--installed"])?.lines().any(|line| line == TARGET) {
        return Ok(());
    }
    let last = |error: String| error.lines().last().unwrap_or_default().to_string();
    rustup(&["target", "add", TARGET])
        .map(drop)
        .map_err(|error| format!("{TARGET} cannot be installed: {}", last(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_uses_the_system_by_another_is_left_out() {
        let package = |name: &str, dependencies: &[&str]| {
            let dependencies = dependencies.iter().map(|name| name.to_string()).collect();
            Package { library: name.to_string(), own: true, dependencies, ..Package::default() }
        };
        let all = [
            package("job", &["serde"]),
            package("engine", &["job"]),
            package("run", &["engine"]),
            package("guide", &["run"]),
        ];
        let packages: Vec<&Package> = all.iter().collect();
        let bound: Vec<&str> =
            ["job", "engine", "run", "guide"].into_iter().filter(|name| needs_the_system(name, &packages)).collect();
        assert_eq!(bound, ["engine", "run", "guide"]);
    }
}
