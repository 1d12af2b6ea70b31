//! The workspace as cargo sees it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The cargo that runs this program.
pub(crate) fn cargo_command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_this_package(&mut command);
    command
}

/// Takes the variables from a command that describe this package, which `cargo run` sets. A build script that looks at its
/// own, as ring's does, would run again whenever cargo is called by this program after a shell, or the other way round.
pub(crate) fn forget_this_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
}

/// Runs cargo with its output shown; returns whether it succeeded.
pub(crate) fn cargo(words: &[&str]) -> Result<bool, String> {
    let status = cargo_command().args(words).status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(status.success())
}

/// The folder of the workspace that this program was built in.
pub(crate) fn folder() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or(xtask.clone(), PathBuf::from)
}

/// cargo's build directory; the benchmark's files are also below it, on the same disk.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder().join("target"), PathBuf::from)
}

/// The prefix of the workspace's package names in a registry.
const PREFIX: &str = "fsdyno-";

/// One crate of `cargo metadata`.
#[derive(Debug, Default)]
pub(crate) struct Package {
    /// The package name in cargo.
    pub(crate) name: String,
    /// The package's folder.
    pub(crate) folder: PathBuf,
    /// The name without the workspace's prefix, which is also the folder's name.
    pub(crate) short_name: String,
    /// Whether it belongs to the workspace.
    pub(crate) own: bool,
    /// Its dependencies: short names of packages of the workspace, and names of others.
    pub(crate) dependencies: Vec<String>,
    /// The dependencies of its tests only, likewise.
    pub(crate) test_dependencies: Vec<String>,
}

/// The workspace and everything that it depends on.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The workspace's folder.
    pub(crate) root: PathBuf,
    /// The workspace's crates and all others.
    pub(crate) packages: Vec<Package>,
}

impl Workspace {
    /// Reads `cargo metadata`.
    pub(crate) fn load() -> Result<Workspace, String> {
        let output = cargo_command()
            .args(["metadata", "--format-version", "1"])
            .output()
            .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let metadata = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cannot read the output of cargo metadata: {error}"))?;
        Ok(Workspace::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Value) -> Workspace {
        Workspace {
            root: text(&metadata["workspace_root"]).into(),
            packages: items(&metadata["packages"]).map(package).collect(),
        }
    }

    /// The workspace's own crates.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.own)
    }
}

fn package(package: &Value) -> Package {
    let (of_tests, of_code): (Vec<&Value>, Vec<&Value>) =
        items(&package["dependencies"]).partition(|dependency| dependency["kind"] == "dev");
    let names = |dependencies: Vec<&Value>| dependencies.iter().map(|of| short(&text(&of["name"]))).collect();
    Package {
        name: text(&package["name"]),
        folder: PathBuf::from(text(&package["manifest_path"])).parent().map(PathBuf::from).unwrap_or_default(),
        short_name: short(&text(&package["name"])),
        own: package["source"].is_null(),
        dependencies: names(of_code),
        test_dependencies: names(of_tests),
    }
}

fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).map_or_else(|| name.to_string(), |rest| rest.replace('-', "_"))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_called_as_by_a_shell() {
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo describes the package of a test");
        let command = cargo_command();
        let kept = std::env::vars_os().filter(|(name, _)| !command.get_envs().any(|(removed, _)| removed == name));
        let kept: Vec<_> = kept.filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")).collect();
        assert!(kept.is_empty(), "{kept:?}");
    }

    #[test]
    fn packages_are_read() {
        let metadata = serde_json::json!({
            "workspace_root": "/w",
            "packages": [
                {"name": "fsdyno-a-z", "source": null,
                 "dependencies": [{"name": "fsdyno-b"}, {"name": "c-d", "kind": "dev"}]},
                {"name": "c-d", "source": "registry", "dependencies": []},
            ],
        });
        let workspace = Workspace::from_metadata(&metadata);
        let members: Vec<_> = workspace.members().collect();
        assert_eq!(members.len(), 1);
        assert_eq!(members[0].short_name, "a_z");
        assert_eq!(members[0].dependencies, ["b"]);
        assert_eq!(members[0].test_dependencies, ["c-d"]);
    }
}
