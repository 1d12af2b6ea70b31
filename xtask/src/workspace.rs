//! The workspace as cargo sees it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The cargo that runs this.
pub(crate) fn cargo_command() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs cargo with its output shown; whether it ended well.
pub(crate) fn cargo(words: &[&str]) -> Result<bool, String> {
    let status = cargo_command().args(words).status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(status.success())
}

/// The folder of the workspace that this program was built in.
pub(crate) fn folder() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or(xtask.clone(), PathBuf::from)
}

/// Where cargo puts what it builds; the benchmark's files lie below it too, on the same disk.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder().join("target"), PathBuf::from)
}

/// What the names of the workspace's packages begin with, where a registry would have them.
const PREFIX: &str = "fsdyno-";

/// One crate of `cargo metadata`.
#[derive(Debug, Default)]
pub(crate) struct Package {
    /// What cargo calls it.
    pub(crate) name: String,
    /// The folder that it lies in.
    pub(crate) folder: PathBuf,
    /// Its name without the prefix that all packages of the workspace have: what its folder is called.
    pub(crate) short_name: String,
    /// One of the workspace's own.
    pub(crate) own: bool,
    /// What it depends on: short names of packages of the workspace, and names of others.
    pub(crate) dependencies: Vec<String>,
    /// What only its tests depend on, likewise.
    pub(crate) test_dependencies: Vec<String>,
}

/// The workspace and everything it depends on.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// Its crates and all others.
    pub(crate) packages: Vec<Package>,
}

impl Workspace {
    /// Asks cargo.
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

    /// Its own crates.
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
