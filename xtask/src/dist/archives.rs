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
    let ending = if platform.is_linux() { "tar.gz" } else { "zip" };
    let archive = release.output.join(format!("{}.{ending}", name.to_string_lossy()));
    if platform.is_linux() {
        output(tar(release.epoch).arg("-cf").arg(&archive).arg("-C").arg(place).arg(name))?;
    } else {
        output(command("zip").args(["-X", "-9", "-r", "-q"]).arg(&archive).arg(name).current_dir(place))?;
    }
    Ok(vec![archive])
}
