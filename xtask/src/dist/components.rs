//! Lists what the program is made of: the packages that are compiled into it, as cargo resolves them, also in the form
//! of CycloneDX.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::release::{Release, real_address};
use super::tool::{command, output};
use crate::workspace::{cargo_command, folder};

/// A package whose code is in the program.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) version: String,
    /// The licence: `MIT OR Apache-2.0`.
    pub(super) licence: String,
    /// Whether it belongs to the workspace.
    pub(super) own: bool,
    /// The folder of its sources.
    pub(super) folder: PathBuf,
    repository: Option<String>,
    /// Checksum of the registry's archive.
    checksum: Option<String>,
    /// The ids of packages that it uses.
    uses: Vec<String>,
}

/// The components by cargo's package id.
pub(super) type Components = BTreeMap<String, Component>;

/// All components for these targets together, of a build with these features.
pub(super) fn of_program(targets: &[&str], features: &str) -> Result<Components, String> {
    let lock = std::fs::read_to_string(folder().join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let mut found = Components::new();
    for target in targets {
        let words = ["metadata", "--format-version=1", "--locked", "--features", features, "--filter-platform", target];
        let text = output(cargo_command().args(words).current_dir(folder()))?;
        let metadata = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        found.extend(reached(&metadata, &lock));
    }
    Ok(found)
}

/// The packages that the program reaches by dependencies of code. Macros are not: they run in the compiler.
fn reached(metadata: &Value, lock: &str) -> Components {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let is_code = |id: &&str| {
        packages.get(id).is_some_and(|package| !list(&package["targets"]).any(|one| one["kind"][0] == "proc-macro"))
    };
    let uses = |id: &str| -> Vec<&str> {
        let all = nodes.get(id).into_iter().flat_map(|node| list(&node["deps"]));
        let normal = all.filter(|dependency| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()));
        normal.map(|dependency| text(&dependency["pkg"])).filter(is_code).collect()
    };
    let mut waiting: Vec<&str> =
        packages.iter().filter(|(_, package)| package["name"] == "fsdyno").map(|(id, _)| *id).collect();
    let mut found = Components::new();
    while let Some(id) = waiting.pop() {
        if !found.contains_key(id) {
            let uses = uses(id);
            found.insert(id.to_owned(), component(packages[id], lock, &uses));
            waiting.extend(uses);
        }
    }
    found
}

fn component(package: &Value, lock: &str, uses: &[&str]) -> Component {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    Component {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: text(&package["license"]).to_owned(),
        own: package["source"].is_null(),
        folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
        // The own address is that of whoever publishes.
        repository: package["repository"].as_str().filter(|_| !package["source"].is_null()).map(str::to_owned),
        checksum: checksum(lock, name, version),
        uses: uses.iter().map(|id| (*id).to_owned()).collect(),
    }
}

/// The checksum in Cargo.lock.
fn checksum(lock: &str, name: &str, version: &str) -> Option<String> {
    let head = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let entry = lock.split("[[package]]\n").find(|entry| entry.starts_with(&head))?;
    entry.lines().find_map(|line| line.strip_prefix("checksum = \"")?.strip_suffix('"')).map(str::to_owned)
}

/// The version of a C library that comes with Rust.
pub(super) const OF_RUST: &str = "of rust-std";

/// The components as a document of CycloneDX 1.5.
/// `libc`: name, version and licence of the C library in it, or of the one that it is linked with.
pub(super) fn cyclonedx(release: &Release, components: &Components, libc: [&str; 3]) -> Result<String, String> {
    let time = release.time()?;
    let rustc = output(command("rustc").arg("--version"))?;
    let library = |name: &str, version: &str, licence: &str| {
        json!({
            "type": "library", "bom-ref": name, "name": name, "version": version,
            "licenses": [{"expression": licence}],
        })
    };
    let rust = rustc.split_whitespace().nth(1).unwrap_or_default();
    // Both are used by each program, but cargo does not list them.
    let of_rust = [
        library("rust-std", rust, "MIT OR Apache-2.0"),
        library(libc[0], &libc[1].replace(OF_RUST, &format!("of rust-std {rust}")), libc[2]),
    ];
    let program = |component: &&Component| component.name == "fsdyno";
    let (own, others): (Vec<&Component>, Vec<&Component>) = components.values().partition(program);
    let own = own.first().ok_or("cargo metadata knows no package fsdyno")?;
    let dependencies = components.values().map(|component| {
        let uses = component.uses.iter().filter_map(|id| components.get(id)).map(Component::address);
        json!({"ref": component.address(), "dependsOn": uses.collect::<Vec<_>>()})
    });
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.trim(), "component": own.described("application")},
        "components": others.iter().map(|one| one.described("library")).chain(of_rust).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    document["serialNumber"] = serial_number(&document.to_string())?.into();
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// The number of a document with this content: two builds of the same sources have the same one (UUID of version 8).
fn serial_number(content: &str) -> Result<String, String> {
    let sum = super::tool::sha256_of(content)?;
    let part = |range| sum.get(range).ok_or_else(|| format!("sha256sum says {sum}"));
    let parts = [part(0..8)?, part(8..12)?, part(13..16)?, part(17..20)?, part(20..32)?];
    Ok(format!("urn:uuid:{}-{}-8{}-8{}-{}", parts[0], parts[1], parts[2], parts[3], parts[4]))
}

impl Component {
    /// The package URL.
    fn address(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }

    fn described(&self, kind: &str) -> Value {
        let mut value = json!({
            "type": kind, "bom-ref": self.address(), "name": self.name, "version": self.version,
            "purl": self.address(), "licenses": [{"expression": self.licence}],
        });
        if let Some(checksum) = &self.checksum {
            value["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
        }
        if let Some(repository) = self.repository.as_deref().and_then(|address| real_address(address).ok()) {
            value["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
        }
        value
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_numbered_by_its_content() {
        let [one, same, other] = ["a", "a", "b"].map(|content| serial_number(content).unwrap());
        assert!(one == same && one != other, "{one} {other}");
        assert_eq!(one, "urn:uuid:ca978112-ca1b-8dca-8ac2-31b39a23dc4d");
    }

    #[test]
    fn code_is_followed_and_macros_and_tests_are_not() {
        let package = |name: &str, kind: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": "registry",
                   "manifest_path": "/x/Cargo.toml", "targets": [{"kind": [kind]}]})
        };
        let uses = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("fsdyno", "bin"), package("a", "lib"), package("b", "lib"), package("m", "proc-macro"),
                         package("t", "lib")],
            "resolve": {"nodes": [
                {"id": "fsdyno", "deps": [uses("a", Value::Null), uses("m", Value::Null), uses("t", "dev".into())]},
                {"id": "a", "deps": [uses("b", Value::Null)]},
                {"id": "m", "deps": [uses("t", Value::Null)]},
            ]},
        });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"12ab\"\n\n[[package]]\nname = \"b\"\n";
        let found = reached(&metadata, lock);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b", "fsdyno"]);
        assert_eq!(found["a"].checksum.as_deref(), Some("12ab"));
        assert_eq!(found["b"].checksum, None);
        assert_eq!(found["fsdyno"].uses, ["a"]);
    }
}
