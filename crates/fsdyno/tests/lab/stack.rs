//! A test calls itself inside a stack of the lab.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use results::ReadWrite;

/// Set inside a stack.
const INSIDE: &str = "FSDYNO_LAB_INSIDE";

/// The lab's status for a stack that cannot stand here.
const CANNOT_STAND: i32 = 77;

/// Before what a test tells: the harness inside a stack prints more, which must not be counted twice.
const TOLD: &str = "| ";

/// One stack at a time: the figures of two would be each other's.
static ONE: Mutex<()> = Mutex::new(());

/// Runs `body` inside the stack (`nfs --delay-ms 2`). `test` is the full name of the calling test.
#[track_caller]
pub(crate) fn inside(test: &str, stack: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body_in_guest(body);
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the package is two folders deep");
    let exe = std::env::current_exe().expect("the test has a file");
    let ran = Command::new(root.join("lab/lab"))
        .arg("run")
        .args(stack.split_whitespace())
        .arg("--")
        .arg(exe)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .current_dir(root)
        .output();
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return skip(&format!("lab/lab cannot be run: {error}")),
    };
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if ran.status.code() == Some(CANNOT_STAND) {
        return skip(stderr.trim());
    }
    // Indented, as the counts of the inner harness are no counts of this one.
    assert!(ran.status.success(), "{}{}", ran.status, format!("\n{stdout}\n{stderr}").replace('\n', "\n    "));
    assert!(stdout.contains("1 passed"), "{test} is no test's name: nothing ran inside\n{stdout}");
    for line in stdout.lines().filter_map(|line| line.split_once(TOLD)) {
        tell(line.1);
    }
    stderr.lines().filter_map(|line| line.strip_prefix("skipped: ")).for_each(skip);
}

/// Should it fail, the last words of the kernel that it ran on are told: a process that crashed is named there with
/// its address.
fn body_in_guest(body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        let words = Command::new("dmesg").output().map(|ran| ran.stdout).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        let lines: Vec<&str> = words.lines().collect();
        tell(&format!("the kernel's last words:\n{}", lines[lines.len().saturating_sub(12)..].join("\n")));
        resume_unwind(panic);
    }
}

/// For who looks at a test's output: the figures behind what it holds.
#[expect(clippy::print_stdout, reason = "shown with --nocapture, or when the test fails")]
pub(crate) fn tell(text: &str) {
    text.lines().for_each(|line| println!("{TOLD}{line}"));
}

/// Says that a test did not run, and why.
#[expect(clippy::print_stderr, reason = "a skipped test must not look like a passed one")]
pub(crate) fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Long tests run only when somebody asks for them.
pub(crate) fn long_ones_are_wanted() -> bool {
    std::env::var_os("FSDYNO_LAB_LONG").is_some()
}

/// A place of the stack: `LAB_NFS`.
pub(crate) fn place(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("the stack sets no {variable}")).into()
}

/// Runs a line in a shell; what it prints. Panics if it fails.
#[track_caller]
pub(crate) fn shell(line: &str) -> String {
    let ran = Command::new("bash").args(["-c", line]).output().expect("bash is there");
    assert!(ran.status.success(), "{line}: {}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

/// Bytes that the mount's interface has received and sent.
pub(crate) fn carried() -> ReadWrite<u64> {
    let card = place("LAB_WIRE");
    let counter = |name: &str| {
        let file = Path::new("/sys/class/net").join(&card).join("statistics").join(name);
        std::fs::read_to_string(&file).expect("the interface counts").trim().parse().expect("a number")
    };
    ReadWrite { read: counter("rx_bytes"), write: counter("tx_bytes") }
}
