//! `fsdyno smallfiles` through the real binary: what it prints, what it leaves, and how it ends.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use engine::clock::{Clock, RealClock};
use results::{Question, Study};
use tempfile::TempDir;

/// A hang is a failure, not a wait, ns.
const HANG_NS: u64 = 120_000_000_000;

const PATTERNS: [&str; 18] = [
    "write",
    "write-close",
    "read",
    "stat-hot",
    "stat-cold",
    "open-read",
    "create",
    "readdir",
    "rename",
    "fsync-file",
    "fsync-file-only",
    "fsync-directory",
    "fsync-directory-only",
    "mkdir",
    "rmdir",
    "symlink",
    "readlink",
    "unlink",
];

/// A directory on the disk that holds the build.
fn place() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn command(place: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.arg("smallfiles").arg(place).arg("--no-store").args(words.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(place: &Path, words: &str) -> Output {
    command(place, words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn entries(place: &Path) -> usize {
    std::fs::read_dir(place).unwrap().count()
}

/// Waits until something has happened, or fails.
#[track_caller]
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let clock = RealClock::shared();
    let end_ns = clock.now_ns() + HANG_NS;
    while !happened() {
        assert!(clock.now_ns() < end_ns, "no {what}");
        clock.sleep_until_ns(clock.now_ns() + 2_000_000);
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_person_gets_tables_and_nothing_stays() {
    let place = place();
    let output = run(place.path(), "--files 40 --threads 2 --depth 1 --limit 60");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("40 files of 5 bytes") && stdout.contains("NOT APPLICABLE"), "{stdout}");
    for line in ["write ", "stat, hot ", "create+fsync of dir ", "readlink ", "unlink "] {
        assert!(stdout.lines().any(|found| found.starts_with(line)), "no {line} in\n{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    // No terminal: a line for each step.
    assert!(stderr.contains("[15/15] ") && stderr.contains(" unlink: "), "{stderr}");
    assert_eq!(entries(place.path()), 0);
}

#[test]
fn json_is_the_whole_study_on_stdout_alone() {
    let place = place();
    let output = run(place.path(), "--files 40 --json --quiet --limit 60");
    assert_eq!(text(&output.stderr), "");
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    assert_eq!(study.question, Question::SmallFiles);
    assert_eq!(study.rows.iter().map(|row| row.pattern.as_str()).collect::<Vec<_>>(), PATTERNS);
    for row in study.rows.iter().filter(|row| row.pattern != "stat-cold") {
        let phase = row.phase.as_ref().unwrap_or_else(|| panic!("{} did not run", row.pattern));
        let operations = if row.pattern == "readdir" { 100 } else { 40 };
        assert_eq!((phase.operations, phase.failures), (operations, 0), "{}", row.pattern);
        assert!(phase.elapsed_ns > 0 && phase.latency.moments.count == operations, "{}", row.pattern);
    }
}

#[test]
fn literal_runs_the_published_loops_and_shows_both_times() {
    let place = place();
    let output = run(place.path(), "--literal --limit 1 --quiet --json");
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    let judged: Vec<&str> = study.verdicts.iter().map(|row| study.rows[row.rows[0]].pattern.as_str()).collect();
    assert_eq!(judged, ["write", "read", "shell-write", "shell-read"]);
    let loops: Vec<String> =
        study.rows.iter().filter(|row| row.pattern.starts_with("shell")).map(|row| row.command.join(" ")).collect();
    assert_eq!(
        loops,
        [
            "bash -c for i in {0..1000}; do echo 'test' > \"test${i}.txt\"; done",
            "bash -c for i in {0..1000}; do cat \"test${i}.txt\" > /dev/null; done"
        ]
    );
    assert!(study.verdicts.iter().all(|row| row.measured.is_some()));
    assert!(study.sentences.iter().any(|sentence| sentence.contains("loops took")), "{:?}", study.sentences);
    assert_eq!(entries(place.path()), 0);
}

#[test]
fn an_interrupt_ends_it_with_what_was_found_and_leaves_nothing() {
    let place = place();
    let mut child = command(place.path(), "--files 200000").spawn().unwrap();
    let files = || {
        let work = std::fs::read_dir(place.path()).ok()?.flatten().next()?.path();
        Some(std::fs::read_dir(work.join("files")).ok()?.count())
    };
    wait_until("file", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        files().is_some_and(|files| files > 0)
    });
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{stdout}{}", text(&output.stderr));
    assert!(stdout.contains("Stopped early"), "{stdout}");
    assert_eq!(entries(place.path()), 0);
}

#[test]
fn an_interrupt_ends_a_shell_loop_too() {
    let place = place();
    let mut child = command(place.path(), "--literal").spawn().unwrap();
    let looping = || {
        let work = std::fs::read_dir(place.path()).ok()?.flatten().next()?.path();
        Some(work.join("shell/test3.txt").exists())
    };
    wait_until("loop", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        looping().unwrap_or(false)
    });
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(entries(place.path()), 0);
}

#[test]
fn what_makes_no_sense_is_refused_with_status_2() {
    let place = place();
    for (words, reason) in [
        ("--files 0", "1..=1000000"),
        ("--depth 11", "0..=10"),
        ("--threads 0", "1..=256"),
        ("--size 2g", "is 1024 MiB"),
        ("--expect nfs", "should be nfs"),
    ] {
        let output = run(place.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(text(&output.stderr).contains(reason), "{words}: {}", text(&output.stderr));
        assert_eq!(entries(place.path()), 0, "{words}");
    }
    let output = run(&place.path().join("missing"), "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("does not exist"));
}

/// Runs the binary on a filesystem of its own that vanishes with it; `None`: not allowed here, which is said.
fn on_mount(options: &str, words: &str) -> Option<(Output, String)> {
    on_mount_beside(options, words, "")
}

/// The same with a line of shell beside it.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn on_mount_beside(options: &str, words: &str, beside: &str) -> Option<(Output, String)> {
    let place = place();
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs \"$0\" || exit 99; {beside} \"$1\" smallfiles \"$0\" --no-store --quiet {words}; \
         status=$?; ls -A \"$0\" >&2; exit $status"
    );
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .args([place.path().as_os_str(), env!("CARGO_BIN_EXE_fsdyno").as_ref()])
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.code() != Some(99) && !text(&output.stderr).contains("unshare") => {
            let stderr = text(&output.stderr);
            Some((output, stderr))
        }
        other => {
            eprintln!("skipped: no mount of our own: {other:?}");
            None
        }
    }
}

/// Before anything is made, and also while it is asked: then the run leaves what there is to the other.
#[test]
fn a_filesystem_without_inodes_is_told() {
    let Some((output, stderr)) = on_mount("size=64m,nr_inodes=500", "") else { return };
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("needs 5007 inodes, but only "), "{stderr}");
    // Five families of 1,200 names and the loops fit; the loops take a second, and 7,000 names more leave nothing.
    let filler = "(until ls -d \"$0\"/fsdyno-work-*/files; do sleep 0.01; done; cd \"$0\" && seq 7000 | xargs touch) \
                  >/dev/null 2>&1 &";
    let Some((output, stderr)) = on_mount_beside("size=64m,nr_inodes=8000", "--files=1200 --literal", filler) else {
        return;
    };
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("beyond 90 % (inodes)"), "{stderr}");
    assert!(!stderr.lines().any(|line| line.starts_with("fsdyno-work")), "{stderr}");
}

#[test]
fn a_read_only_mount_is_refused() {
    let Some((output, stderr)) = on_mount("ro", "") else { return };
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("is mounted read-only"), "{stderr}");
}
