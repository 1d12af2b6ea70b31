//! A test calls itself inside a stack of the lab.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::{skip, text, workspace};

/// Set inside a stack.
const INSIDE: &str = "FSDYNO_LAB_INSIDE";

/// The lab's status for a stack that cannot stand here.
const CANNOT_STAND: i32 = 77;

/// Prefix of the lines that a test shows: the harness inside a stack prints others, which must not be counted twice.
const REPORT_PREFIX: &str = "| ";

/// One stack at a time: the figures of two would be each other's.
static ONE: Mutex<()> = Mutex::new(());

/// Runs `body` inside the stack (`nfs --delay-ms 2`), where no other such stack stands. `test` is the full name of the
/// calling test.
#[track_caller]
pub fn inside(test: &str, stack: &str, body: impl FnOnce()) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    reports_inside(test, stack, body).iter().flatten().for_each(|line| show(line));
}

/// The same beside other stacks; the lines that the test showed, `None` inside and where the stack cannot stand.
#[track_caller]
pub fn reports_inside(test: &str, stack: &str, body: impl FnOnce()) -> Option<Vec<String>> {
    if std::env::var_os(INSIDE).is_some() {
        body_in_guest(body);
        return None;
    }
    let ran = Command::new(workspace().join("lab/lab"))
        .arg("run")
        .args(stack.split_whitespace())
        .arg("--")
        .arg(std::env::current_exe().expect("the test has a file"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .current_dir(workspace())
        .output()
        .expect("the lab is there");
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    if ran.status.code() == Some(CANNOT_STAND) {
        skip(stderr.trim());
        return None;
    }
    // Indented, as the counts of the inner harness are no counts of this one.
    assert!(ran.status.success(), "{}{}", ran.status, format!("\n{stdout}\n{stderr}").replace('\n', "\n    "));
    assert!(stdout.contains("1 passed"), "{test} is no test's name: nothing ran inside\n{stdout}");
    stderr.lines().filter_map(|line| line.strip_prefix("skipped: ")).for_each(skip);
    Some(stdout.lines().filter_map(|line| line.strip_prefix(REPORT_PREFIX)).map(str::to_owned).collect())
}

/// If it fails, the last lines of the kernel's log are shown: they name a process that crashed, with its address.
fn body_in_guest(body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        let words = Command::new("dmesg").output().map(|ran| text(&ran.stdout)).unwrap_or_default();
        let lines: Vec<&str> = words.lines().collect();
        show(&format!("the kernel's last words:\n{}", lines[lines.len().saturating_sub(12)..].join("\n")));
        resume_unwind(panic);
    }
}

/// Shows figures in the output of a test. Lines shown inside a stack are passed out of it.
#[expect(clippy::print_stdout, reason = "shown with --nocapture, or when the test fails")]
pub fn show(text: &str) {
    // The harness may have printed the test's name without an end of its line.
    text.lines().for_each(|line| println!("\n{REPORT_PREFIX}{line}"));
}

/// A place of the stack: `LAB_NFS`.
pub fn place(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("the stack sets no {variable}")).into()
}
