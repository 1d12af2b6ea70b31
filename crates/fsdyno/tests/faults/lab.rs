//! A test calls itself inside a stack of the lab.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::document::{self, Row};

/// Set inside a stack.
const INSIDE: &str = "FSDYNO_FAULTS_INSIDE";

/// The lab's status for a stack that cannot stand here.
const CANNOT_STAND: i32 = 77;

/// What a row looks like on the way out of the stack.
const ROW: &str = "\x01row ";

/// Runs `body` inside the stack and holds its rows against the document's table of the test's name. `test` is the full
/// name of the calling test.
#[track_caller]
pub(crate) fn inside(test: &str, stack: &[&str], body: impl FnOnce() -> Vec<Row>) {
    if std::env::var_os(INSIDE).is_some() {
        for row in body() {
            println!("\n{ROW}{}", row.to_line());
        }
        return;
    }
    let exe = std::env::current_exe().expect("the test has a file");
    let ran = Command::new(root().join("lab/lab"))
        .arg("run")
        .args(stack)
        .arg("--")
        .arg(exe)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .current_dir(root())
        .output()
        .expect("the lab is there");
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if ran.status.code() == Some(CANNOT_STAND) {
        println!("skipped: {}", stderr.trim());
        return;
    }
    assert!(ran.status.success(), "{}\n{stdout}\n{stderr}", ran.status);
    document::hold(test, stdout.lines().filter_map(|line| line.strip_prefix(ROW)).map(Row::from_line).collect());
}

/// Where the stack stands.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("LAB_TARGET").expect("inside a stack").into()
}

/// Runs one of the lab's programs for the stack.
#[track_caller]
pub(crate) fn tell(program: &str, words: &str) {
    let status = Command::new(program).args(words.split_whitespace()).status().expect("the program is there");
    assert!(status.success(), "{program} {words}");
}

fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package is two folders deep")
}

/// The repository's folder.
pub(crate) fn repository() -> &'static Path {
    root()
}
