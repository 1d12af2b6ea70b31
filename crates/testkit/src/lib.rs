//! The shared tools of the tests: a directory for each, the built program run in it, the lab's stacks, and skipping
//! with a reason.
#![forbid(unsafe_code)]

pub mod draw;
mod neighbour;
#[cfg(target_os = "linux")]
mod object_list;
#[cfg(target_os = "linux")]
mod object_server;
#[cfg(target_os = "linux")]
mod object_uploads;
mod ran;
mod running;
pub mod stack;
mod test_directory;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

pub use neighbour::Neighbour;
#[cfg(target_os = "linux")]
pub use object_server::{ObjectServer, ServerBehaviour};
pub use ran::RunResult;
pub use running::{Ends, Running, apart, pause, run_within, wait_until};
pub use test_directory::{TestDirectory, Words, names, start};

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the package is two folders deep")
}

/// The folder in which cargo builds this profile; the test program is in a folder of it.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a file");
    test.ancestors().nth(2).expect("it is in a folder of the build").to_owned()
}

/// The program under test: the built one, or the one in `FSDYNO_BIN`.
pub fn program() -> String {
    std::env::var("FSDYNO_BIN").unwrap_or_else(|_| word(&build().join("fsdyno")).to_owned())
}

/// A directory on the disk that holds the build, which supports direct I/O where a tmpfs may not.
pub fn directory() -> tempfile::TempDir {
    let scratch = build().with_file_name("tmp");
    std::fs::create_dir_all(&scratch).expect("the build directory is writable");
    // ext4 without a journal reads, for each new file, all inodes in its part of the disk that were deleted in the last
    // minutes. This attribute spreads the folders over the disk, away from what other tests have deleted.
    static SPREADS: Once = Once::new();
    SPREADS.call_once(|| drop(Command::new("chattr").arg("+T").arg(&scratch).output()));
    tempfile::tempdir_in(scratch).expect("the build directory is writable")
}

/// Prints that a test did not run, and why.
#[expect(clippy::print_stderr, reason = "a skipped test must not look like a passed one")]
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Whether a program is installed; if not, prints that the test is skipped.
pub fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !found {
        skip(&format!("{tool} is not installed"));
    }
    found
}

/// A program of the checks' own Python environment, or in PATH; if there is none, prints that the test is skipped.
pub fn python(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = workspace().join("target/tools/venv/bin");
    let mut files = std::iter::once(own).chain(std::env::split_paths(&path)).map(|folder| folder.join(program));
    let found = files.find(|file| file.is_file());
    if found.is_none() {
        skip(&format!("there is no {program}; .ci/run installs it"));
    }
    found
}

/// Whether the test has root; if not, prints that it is skipped.
pub fn is_root(what: &str) -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|ran| ran.stdout == b"0\n");
    if !root {
        skip(&format!("{what} needs root"));
    }
    root
}

/// Time limit of a shell line, s: a hanging line is then named before the whole test is ended without a name.
const LINE_S: &str = "150";

/// Runs a line in a shell; returns what it prints. Panics if it fails, or does not end.
#[track_caller]
pub fn shell(line: &str) -> String {
    let words = ["--signal=KILL", LINE_S, "bash", "-c", line];
    let ran = Command::new("timeout").args(words).output().expect("timeout is there");
    assert!(ran.status.success(), "{line}: {}\n{}", ran.status, text(&ran.stderr));
    text(&ran.stdout)
}

/// A path as a word of a command line.
pub fn word(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// What a program has printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compares a document of the workspace with the text that the code makes; `FSDYNO_DOCS=write` writes it instead.
#[track_caller]
pub fn assert_document(path: &str, text: &str) {
    let file = workspace().join(path);
    if std::env::var_os("FSDYNO_DOCS").is_some_and(|word| word == "write") {
        std::fs::write(&file, text).expect("the document can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, text, "{path} is stale: FSDYNO_DOCS=write cargo test -p fsdyno --bins");
}
