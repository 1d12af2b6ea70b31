//! Compiles the workspace for Windows.

use std::process::{Command, Stdio};

use crate::workspace::cargo;

const TARGET: &str = "x86_64-pc-windows-gnu";

/// The linker for Windows.
const LINKER: &str = "x86_64-w64-mingw32-gcc";

/// Compiles all crates, where the target is available; with a linker as the tests under Wine do, so that it is done
/// only once.
pub(crate) fn run() -> Result<bool, String> {
    if let Err(reason) = target() {
        println!("skipped: {reason}");
        return Ok(true);
    }
    let links = Command::new(LINKER).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if links { cargo(&["windows"]) } else { cargo(&["check", "--workspace", "--target", TARGET]) }
}

/// Makes sure that the target is installed; the error says why it is not.
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
