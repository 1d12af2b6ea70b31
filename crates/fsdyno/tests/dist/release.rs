//! Makes the release that all tests examine, once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use testkit::{skip, workspace};

use crate::run;

/// A contact such as the release workflow gives: packages without one name no real host.
const MAINTAINER: &str = "fsdyno's authors <fsdyno@users.noreply.github.com>";

/// A release in its own directory, and what was left out of it.
pub(crate) struct Release {
    pub(crate) folder: PathBuf,
    left_out: String,
}

/// The release for this machine's CPU; `None`: there is none here, which was printed.
pub(crate) fn release() -> Option<&'static Release> {
    static RELEASE: OnceLock<Result<Release, String>> = OnceLock::new();
    RELEASE.get_or_init(|| make("dist-tested", &[])).as_ref().map_err(|reason| skip(reason)).ok()
}

/// Makes a release in this folder of the build; the error says why not. A program that cannot be built is a failure.
pub(crate) fn make(folder: &str, words: &[&str]) -> Result<Release, String> {
    let platform = format!("--platform={}-linux", std::env::consts::ARCH);
    let folder = workspace().join("target").join(folder);
    let mut command = Command::new(env!("CARGO"));
    command.args(["xtask", "dist", &platform, "--output"]).arg(&folder).args(words).current_dir(workspace());
    command.env("FSDYNO_MAINTAINER", MAINTAINER);
    let ran = run(&mut command);
    let left_out: Vec<&str> = ran.stdout.lines().filter_map(|line| line.strip_prefix("left out: ")).collect();
    if let Some(line) = left_out.iter().find(|line| line.starts_with(&platform["--platform=".len()..])) {
        return Err((*line).to_owned());
    }
    assert!(ran.status == Some(0) || !left_out.is_empty(), "{}\n{}", ran.stdout, ran.stderr);
    Ok(Release { folder, left_out: left_out.join("\n") })
}

impl Release {
    /// A file of the release; `None`: it was left out, for a reason that was printed.
    pub(crate) fn file(&self, name: &str, what: &str) -> Option<PathBuf> {
        let path = self.folder.join(name.replace("VERSION", env!("CARGO_PKG_VERSION")));
        if path.exists() {
            return Some(path);
        }
        let reason = self.left_out.lines().find(|line| line.starts_with(what));
        skip(reason.unwrap_or_else(|| panic!("neither made nor left out: {}\n{}", path.display(), self.left_out)));
        None
    }
}

/// Unpacks the archive; returns the tree.
pub(crate) fn unpacked(place: &Path) -> Option<PathBuf> {
    let name = format!("fsdyno-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let archive = release()?.file(&format!("{name}.tar.gz"), "archive")?;
    assert_eq!(run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(place)).status, Some(0));
    Some(place.join(name))
}

#[test]
fn the_archive_has_all_that_is_installed() {
    let place = testkit::directory();
    let Some(tree) = unpacked(place.path()) else { return };
    for name in [
        "bin/fsdyno",
        "share/man/man1/fsdyno.1",
        "share/man/man1/fsdyno-measure.1",
        "share/bash-completion/completions/fsdyno",
        "share/zsh/site-functions/_fsdyno",
        "share/fish/vendor_completions.d/fsdyno.fish",
        "share/fsdyno/completions/fsdyno.elv",
        "share/fsdyno/completions/fsdyno.ps1",
        "share/fsdyno/grafana/fsdyno.json",
        "share/fsdyno/prometheus/fsdyno.rules.yaml",
        "lib/systemd/system/fsdyno-check@.service",
        "lib/systemd/system/fsdyno-check@.timer",
        "share/doc/fsdyno/LICENCES-OF-DEPENDENCIES.txt",
        "share/doc/fsdyno/LICENSE-MIT",
        "share/doc/fsdyno/fsdyno.cdx.json",
    ] {
        assert!(std::fs::metadata(tree.join(name)).is_ok_and(|file| file.len() > 100), "{name}");
    }
    // What a person in a hurry does.
    assert!(run(Command::new(tree.join("bin/fsdyno")).arg("--version")).good().stdout.starts_with("fsdyno "));
}

#[test]
fn checksums_name_every_file() {
    let Some(release) = release() else { return };
    let checked =
        run(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&release.folder));
    let checked = checked.good().stdout;
    let files = testkit::names(&release.folder);
    for name in files.iter().filter(|name| *name != "SHA256SUMS") {
        assert!(checked.contains(&format!("{name}: OK\n")), "{name}: {checked}");
    }
}

/// The same sources give the same files, whenever they are made.
#[test]
fn a_release_made_again_has_the_same_bytes() {
    let Some(first) = release() else { return };
    let again = make("dist-tested-again", &[]).expect("it was made before");
    let sums = |release: &Release| std::fs::read_to_string(release.folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(first), sums(&again));
}

#[test]
fn the_list_of_components_keeps_its_schema_and_has_what_is_linked() {
    let Some(release) = release() else { return };
    let Some(path) = release.file("fsdyno.cdx.json", "components") else { return };
    let list: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let components = list["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().map(|one| one["name"].as_str().unwrap()).collect();
    for name in ["serde_json", "rustix", "fsdyno-engine", "musl", "rust-std"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"proptest") && !names.contains(&"serde_derive"));
    let from_registry = components.iter().filter(|one| one.get("hashes").is_some()).count();
    assert!(from_registry > 20, "{from_registry}");
    let Some(python) = testkit::python("python3") else { return };
    let script = "import sys
try:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    validator = JsonStrictValidator(SchemaVersion.V1_5)
    fault = validator.validate_str(open(sys.argv[1]).read())
except Exception as error:
    sys.exit(f'absent: {error}')
print('valid' if fault is None else fault)";
    let ran = run(Command::new(python).args(["-c", script]).arg(&path));
    if ran.stderr.contains("absent: ") {
        return skip(&format!("there is no validator of CycloneDX: {}", ran.stderr.trim()));
    }
    assert_eq!(ran.good().stdout, "valid\n");
}
