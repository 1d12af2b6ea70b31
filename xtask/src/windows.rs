//! The crates that are free of the system are compiled for another one. Those that call it, `engine` and `probe`, have no
//! modules for Windows yet; whatever depends on them is left out.

use std::process::Command;

use crate::tidy::SYSTEM_ROOMS;
use crate::workspace::{Package, Workspace, cargo};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Checks them, where the target can be had.
pub(crate) fn run() -> Result<bool, String> {
    let workspace = Workspace::load()?;
    let rooms: Vec<&Package> = workspace
        .members()
        .filter(|member| member.roots.iter().any(|root| root.starts_with(workspace.root.join("crates"))))
        .collect();
    let (bound, free): (Vec<&str>, Vec<&str>) =
        rooms.iter().map(|room| room.room.as_str()).partition(|name| needs_the_system(name, &rooms));
    if let Err(reason) = target() {
        println!("skipped: {reason}");
        return Ok(true);
    }
    println!("for {TARGET}: {}; not {}, which call the system or use what does", free.join(", "), bound.join(", "));
    let packages =
        rooms.iter().filter(|room| free.contains(&room.room.as_str())).flat_map(|room| ["-p", room.name.as_str()]);
    cargo(&["check", "--target", TARGET].into_iter().chain(packages).collect::<Vec<&str>>())
}

/// Whether a crate is one of those that call the system, or depends on one.
fn needs_the_system(name: &str, rooms: &[&Package]) -> bool {
    let dependencies = rooms.iter().filter(|room| room.room == name).flat_map(|room| &room.dependencies);
    SYSTEM_ROOMS.contains(&name) || dependencies.into_iter().any(|used| needs_the_system(used, rooms))
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
            Package { room: name.to_string(), own: true, dependencies, ..Package::default() }
        };
        let all = [
            package("job", &["serde"]),
            package("engine", &["job"]),
            package("run", &["engine"]),
            package("guide", &["run"]),
        ];
        let rooms: Vec<&Package> = all.iter().collect();
        let bound: Vec<&str> =
            ["job", "engine", "run", "guide"].into_iter().filter(|name| needs_the_system(name, &rooms)).collect();
        assert_eq!(bound, ["engine", "run", "guide"]);
    }
}
