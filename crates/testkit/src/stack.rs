//! Runs a test inside a stack of the lab, by calling the test program again.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock};

use crate::{skip, text, workspace};

/// The variable that is set inside a stack.
const INSIDE: &str = "FSDYNO_LAB_INSIDE";

/// The lab's exit status for a stack that cannot be set up here.
const CANNOT_STAND: i32 = 77;

/// What a guest's kernel prints when the host refused to set a process's registers: that process died, whatever it did.
const BROKEN_GUEST: &str = "userspace - ptrace set fp regs failed";

/// Number of guests in which a test is tried if the guest breaks.
const GUESTS_MAX: u32 = 3;

/// Time after which a stack counts as hung, s: four times the longest test in one. A test that takes longer adds
/// `--timeout` to the words of its stack.
const STANDS_MAX: &str = "--timeout=240";

/// The interpreter of the system, where it has one.
const SYSTEM_PYTHON: &str = "/usr/bin/python3";

/// Prefix of the lines that a test shows: the harness inside a stack prints others, which must not be counted twice.
const REPORT_PREFIX: &str = "| ";

/// Held by stacks whose figures another stack would change.
static STANDING: RwLock<()> = RwLock::new(());

/// Whether this process runs inside a stack.
pub fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs `body` inside the stack (`nfs --delay-ms 2`), while no other stack of this program is up. `test` is the full
/// name of the calling test.
#[track_caller]
pub fn inside(test: &str, stack: &str, body: impl FnOnce()) {
    let _alone = STANDING.write().unwrap_or_else(PoisonError::into_inner);
    reports_inside(test, stack, body).iter().flatten().for_each(|line| show(line));
}

/// The same beside other stacks: for tests that depend only on the stack's own limits, or on counters.
#[track_caller]
pub fn inside_beside_others(test: &str, stack: &str, body: impl FnOnce()) {
    let _one_of_some = STANDING.read().unwrap_or_else(PoisonError::into_inner);
    reports_inside(test, stack, body).iter().flatten().for_each(|line| show(line));
}

/// The same beside any stack; returns the lines that the test showed, `None` inside, and where the stack cannot be set
/// up.
#[track_caller]
pub fn reports_inside(test: &str, stack: &str, body: impl FnOnce()) -> Option<Vec<String>> {
    if is_inside() {
        body_in_guest(body);
        return None;
    }
    let mut guests = 1;
    let (ran, stdout, stderr) = loop {
        let ran = run_in_stack(test, stack);
        let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
        if ran.status.success() || guests == GUESTS_MAX || !stdout.contains(BROKEN_GUEST) {
            break (ran, stdout, stderr);
        }
        show(&format!("{test}: the guest broke ({BROKEN_GUEST}); begun again in another one"));
        guests += 1;
    };
    if ran.status.code() == Some(CANNOT_STAND) {
        skip(stderr.trim());
        return None;
    }
    // Indented, so that the inner harness's counts are not taken for those of this one.
    assert!(ran.status.success(), "{}{}", ran.status, format!("\n{stdout}\n{stderr}").replace('\n', "\n    "));
    assert!(stdout.contains("1 passed"), "{test} is no test's name: nothing ran inside\n{stdout}");
    stderr.lines().filter_map(|line| line.strip_prefix("skipped: ")).for_each(skip);
    Some(stdout.lines().filter_map(|line| line.strip_prefix(REPORT_PREFIX)).map(str::to_owned).collect())
}

fn run_in_stack(test: &str, stack: &str) -> Output {
    let (name, options) = stack.split_once(' ').unwrap_or((stack, ""));
    // The shims of version managers start slowly, and a stack starts Python twice.
    let python = if Path::new(SYSTEM_PYTHON).is_file() { SYSTEM_PYTHON } else { "python3" };
    Command::new(python)
        .arg(workspace().join("lab/lab"))
        .args(["run", name, STANDS_MAX])
        .args(options.split_whitespace())
        .arg("--")
        .arg(std::env::current_exe().expect("the test has a file"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .current_dir(workspace())
        .output()
        .expect("the lab is there")
}

/// Runs the body. If it fails, the last lines of the kernel's log are shown: they name a process that crashed, with its
/// address.
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
    // The harness may have printed the test's name without a line end.
    text.lines().for_each(|line| println!("\n{REPORT_PREFIX}{line}"));
}

/// The path of the stack in this variable: `LAB_NFS`.
pub fn place(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("the stack sets no {variable}")).into()
}
