//! Makes archives to be unpacked below /usr/local; for Windows in a format that its Explorer opens.

use std::path::Path;

use super::platform::Platform;
use super::release::{Made, Release};
use super::tool::{command, output};

/// A tar command that makes the same archive from the same files: order, owner and time do not depend on the machine.
pub(super) fn tar(epoch: u64) -> std::process::Command {
    let mut tar = command("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
    tar.arg(format!("--mtime=@{epoch}")).arg("--use-compress-program=gzip -9n");
    tar
}

pub(super) fn make(release: &Release, platform: &Platform, tree: &Path) -> Made {
    let name = tree.file_name().unwrap_or_default();
    let place = tree.parent().unwrap_or(tree);
    let archive = release.output.join(format!("{}.{}", name.to_string_lossy(), ending(platform)));
    if platform.is_linux() {
        output(tar(release.epoch).arg("-cf").arg(&archive).arg("-C").arg(place).arg(name))?;
    } else {
        output(command("zip").args(["-X", "-9", "-r", "-q"]).arg(&archive).arg(name).current_dir(place))?;
    }
    Ok(vec![archive])
}

fn ending(platform: &Platform) -> &'static str {
    if platform.is_linux() { "tar.gz" } else { "zip" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::platform::PLATFORMS;
    use crate::workspace::{cargo_command, folder};

    /// What the manifest tells `cargo binstall`: for each system the archive of its CPU, and the program in it.
    #[test]
    fn binstall_is_told_the_archive_of_each_system() {
        let words = ["metadata", "--no-deps", "--offline", "--format-version=1"];
        let metadata = output(cargo_command().args(words).current_dir(folder())).unwrap();
        let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let fsdyno = packages.iter().find(|package| package["name"] == "fsdyno").unwrap();
        let told = fsdyno["metadata"]["binstall"]["overrides"].as_object().unwrap();
        for (target, of_target) in told {
            let runs = |platform: &&Platform| {
                target.starts_with(platform.rust) && target.contains("linux") == platform.is_linux()
            };
            let platform = PLATFORMS.iter().find(runs).unwrap_or_else(|| panic!("{target} has no archive"));
            let tree = format!("fsdyno-{{ version }}-{}", platform.name);
            let url = format!("{{ repo }}/releases/download/v{{ version }}/{tree}.{}", ending(platform));
            let suffix = if platform.is_linux() { "" } else { "{ binary-ext }" };
            assert_eq!(of_target["pkg-url"], url, "{target}");
            assert_eq!(of_target["bin-dir"], format!("{tree}/bin/{{ bin }}{suffix}"), "{target}");
            assert_eq!(of_target["pkg-fmt"], if platform.is_linux() { "tgz" } else { "zip" }, "{target}");
        }
        assert!(PLATFORMS.iter().all(|platform| told.contains_key(platform.target)), "{told:?}");
    }
}
