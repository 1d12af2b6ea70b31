//! `fsdyno smallfiles` through the real binary: what it prints, what it leaves, and how it ends.
#![forbid(unsafe_code)]

use fsdyno_results::Question;
use testkit::{RunResult, Running, TestDirectory, skip};

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

fn words(more: &str) -> String {
    format!("smallfiles . --no-store {more}")
}

/// Starts it, and interrupts it as soon as this file of its directory is there; what it printed.
#[track_caller]
fn interrupted(more: &str, file: &str) -> String {
    let place = TestDirectory::new();
    let mut running = place.start(&words(more));
    running.wait_until(file, |_| {
        let work = place.names("").into_iter().next();
        work.is_some_and(|work| place.path(&work).join(file).exists())
    });
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.status, Some(130), "{}{}", ran.stdout, ran.stderr);
    assert!(place.names("").is_empty());
    ran.stdout
}

#[test]
fn a_person_gets_tables_and_nothing_stays() {
    let place = TestDirectory::new();
    let RunResult { stdout, stderr, .. } = place.run(&words("--files 40 --threads 2 --depth 1 --limit 60")).good();
    assert!(stdout.contains("40 files were written") && stdout.contains("NOT APPLICABLE"), "{stdout}");
    for line in ["write ", "hot stat ", "create+fsync of dir ", "readlink ", "unlink "] {
        assert!(stdout.lines().any(|found| found.starts_with(line)), "no {line} in\n{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    // No terminal: a line for each step.
    assert!(stderr.contains("[45/45] ") && stderr.contains(" unlink: "), "{stderr}");
    assert!(place.names("").is_empty());
}

#[test]
fn json_is_the_whole_study_on_stdout_alone() {
    let place = TestDirectory::new();
    let ran = place.run(&words("--files 40 --json --quiet --limit 60"));
    assert_eq!(ran.stderr, "");
    let study = ran.study();
    assert_eq!(study.question, Question::SmallFiles);
    // Three passes, each on new files.
    assert_eq!(study.rows.iter().map(|row| row.pattern.as_str()).collect::<Vec<_>>(), PATTERNS.repeat(3));
    assert_eq!(study.rows.iter().map(|row| row.round).collect::<Vec<_>>(), [[0; 18], [1; 18], [2; 18]].concat());
    for row in study.rows.iter().filter(|row| row.pattern != "stat-cold") {
        let phase = row.phase.as_ref().unwrap_or_else(|| panic!("{} did not run", row.pattern));
        let operations = if row.pattern == "readdir" { 100 } else { 40 };
        assert_eq!((phase.operations, phase.failures), (operations, 0), "{}", row.pattern);
        let conditions = phase.conditions.as_ref().expect("somebody looked");
        assert!(conditions.between_ns >= phase.elapsed_ns, "{conditions:?}");
        assert!(phase.elapsed_ns > 0 && phase.latency.moments.count == operations, "{}", row.pattern);
    }
}

#[test]
fn literal_runs_the_published_loops_and_shows_both_times() {
    let place = TestDirectory::new();
    let study = place.run(&words("--literal --limit 1 --quiet --json")).study();
    let judged: Vec<&str> = study.verdicts.iter().map(|row| study.rows[row.rows[0]].pattern.as_str()).collect();
    assert_eq!(judged, ["write", "read", "shell-write", "shell-read"]);
    for verdict in &study.verdicts {
        let row = &study.rows[verdict.rows[0]];
        let phase = row.phase.as_ref().expect("a phase");
        assert_eq!((phase.operations, phase.failures), (1001, 0), "{}", row.pattern);
    }
    let loops: Vec<String> =
        study.rows.iter().filter(|row| row.pattern.starts_with("shell")).map(|row| row.command.join(" ")).collect();
    // Each pass runs both loops; a slow machine makes fewer passes.
    let passes = study.rows.iter().filter(|row| row.pattern == "unlink").count();
    assert!((1..=3).contains(&passes), "{passes} passes");
    assert_eq!(
        loops,
        [
            "bash -c for i in {0..1000}; do echo 'test' > \"test${i}.txt\"; done",
            "bash -c for i in {0..1000}; do cat \"test${i}.txt\" > /dev/null; done"
        ]
        .repeat(passes)
    );
    assert!(study.verdicts.iter().all(|row| row.measured.is_some()));
    assert!(study.sentences.iter().any(|sentence| sentence.contains("Bash itself adds")), "{:?}", study.sentences);
    assert!(place.names("").is_empty());
}

#[test]
fn an_interrupt_ends_it_with_what_was_found_and_leaves_nothing() {
    let stdout = interrupted("--files 200000", "files");
    assert!(stdout.contains("Stopped early"), "{stdout}");
}

#[test]
fn an_interrupt_ends_a_shell_loop_too() {
    interrupted("--literal", "shell/test3.txt");
}

#[test]
fn what_makes_no_sense_is_refused_with_status_2() {
    let place = TestDirectory::new();
    for (asked, reason) in [
        ("--files 0", "1..=1000000"),
        ("--depth 11", "0..=10"),
        ("--threads 0", "1..=256"),
        ("--size 2g", "is 1024 MiB"),
        ("--expect nfs", "should be nfs"),
    ] {
        place.run(&words(asked)).refused(reason);
        assert!(place.names("").is_empty(), "{asked}");
    }
    place.run("smallfiles missing").refused("does not exist");
}

/// Runs the binary on a filesystem of its own that vanishes with it; `None`: not allowed here, which is said.
fn on_mount(options: &str, words: &str) -> Option<RunResult> {
    on_mount_beside(options, words, "")
}

/// The same with a line of shell beside it.
fn on_mount_beside(options: &str, words: &str, beside: &str) -> Option<RunResult> {
    let place = TestDirectory::new();
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs \"$0\" || exit 99; {beside} \"$1\" smallfiles \"$0\" --no-store --quiet {words}; \
         status=$?; ls -A \"$0\" >&2; exit $status"
    );
    let mut command = place.program("unshare", &["--mount", "sh", "-c", &script]);
    let ran = Running::start(command.arg(place.path("")).arg(testkit::program())).finish();
    let stands = ran.status != Some(99) && !ran.stderr.contains("unshare");
    if !stands {
        skip(&format!("no mount of our own: {ran:?}"));
    }
    stands.then_some(ran)
}

/// Before anything is made, and also while it is asked: then the run leaves what there is to the other.
#[test]
fn a_filesystem_without_inodes_is_told() {
    let Some(RunResult { status, stderr, .. }) = on_mount("size=64m,nr_inodes=500", "") else { return };
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("needs 5007 inodes, but only "), "{stderr}");
    // Five families of 1,200 names and the loops fit; the loops take a second, and 7,000 names more leave nothing.
    let filler = "(until ls -d \"$0\"/fsdyno-work-*/shell; do sleep 0.01; done; cd \"$0\" && seq 7000 | xargs touch) \
                  >/dev/null 2>&1 &";
    let Some(RunResult { status, stderr, .. }) =
        on_mount_beside("size=64m,nr_inodes=8000", "--files=1200 --literal", filler)
    else {
        return;
    };
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("beyond 90 % (inodes)"), "{stderr}");
    assert!(!stderr.lines().any(|line| line.starts_with("fsdyno-work")), "{stderr}");
}

#[test]
fn a_read_only_mount_is_refused() {
    let Some(RunResult { status, stderr, .. }) = on_mount("ro", "") else { return };
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("is mounted read-only"), "{stderr}");
}
