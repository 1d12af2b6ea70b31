//! Runs the programs that a release is made with.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::folder;

/// The command for a program, in the folder of the workspace.
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // Fixed locale and time zone, so that the output does not depend on the person who builds.
    command.current_dir(folder()).env("LC_ALL", "C").env("TZ", "UTC");
    command
}

/// Runs a command; returns what it printed.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{name} is not installed"),
        _ => format!("{name} cannot be run: {error}"),
    })?;
    if !ran.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&ran.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// The checksums of files, in their order.
pub(super) fn sha256(files: &[PathBuf]) -> Result<Vec<String>, String> {
    sums("sha256sum", files)
}

/// The same by another program.
pub(super) fn sums(program: &str, files: &[PathBuf]) -> Result<Vec<String>, String> {
    let text = output(command(program).args(files))?;
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

/// The checksum of a text.
pub(super) fn sha256_of(text: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("sha256sum cannot be run: {error}");
    let piped = std::process::Stdio::piped;
    let mut sum = command("sha256sum").stdin(piped()).stdout(piped()).spawn().map_err(failed)?;
    sum.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes())).map_err(failed)?;
    let ran = sum.wait_with_output().map_err(failed)?;
    Ok(String::from_utf8_lossy(&ran.stdout).split_whitespace().next().unwrap_or_default().to_owned())
}

/// Packs a folder; user and time of the packing are not visible.
pub(super) fn tar(epoch: u64, folder: &Path, to: &Path) -> Result<(), String> {
    let mut tar = command("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu", "--mode=u=rwX,go=rX"]);
    output(tar.arg(format!("--mtime=@{epoch}")).arg("-cf").arg(to).arg("-C").arg(folder).arg(".")).map(drop)
}

/// The message about a file that cannot be used.
pub(super) fn cannot<'path>(verb: &'static str, path: &'path Path) -> impl Fn(std::io::Error) -> String + 'path {
    move |error| format!("cannot {verb} {}: {error}", path.display())
}

/// Writes a file, and makes missing folders.
pub(super) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(cannot("make", folder))?;
    std::fs::write(path, bytes).map_err(cannot("write", path))
}

/// Copies a file, and makes missing folders.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    write(to, std::fs::read(from).map_err(cannot("read", from))?)
}
