//! Runs one of the two programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

/// Time limit of a run: a hang is a failure.
const TIME_MAX: Duration = Duration::from_secs(20);

/// A program under comparison.
pub(crate) struct Tool {
    program: PathBuf,
    /// The names of the options that it knows, for fio.
    pub(crate) options: BTreeSet<String>,
}

impl Tool {
    /// A program made of a shell script, written to `path`.
    pub(crate) fn of_script(path: &Path, script: &str) -> Tool {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("the script may be run");
        Tool { program: path.to_owned(), options: BTreeSet::new() }
    }
}

/// Debian's fio; `None` when it is not installed.
pub(crate) static FIO: LazyLock<Option<Tool>> = LazyLock::new(|| {
    let output = Command::new("fio").arg("--cmdhelp=all").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let options =
        text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned()).collect();
    output.status.success().then_some(Tool { program: PathBuf::from("fio"), options })
});

/// The binary under test.
pub(crate) static OURS: LazyLock<Tool> =
    LazyLock::new(|| Tool { program: testkit::program().into(), options: BTreeSet::new() });

/// The transfers of a job in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
}

/// The result of a run.
pub(crate) struct RunResult {
    /// `None`: a signal ended it, or it hung.
    pub(crate) status: Option<i32>,
    pub(crate) stderr: String,
    /// Reads and writes of each job; `None` without a report.
    pub(crate) jobs: Option<Vec<[Done; 2]>>,
    /// The remaining files with their content.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Kept until the comparison is over.
    pub(crate) directory: tempfile::TempDir,
}

/// Runs the program in a new directory on the disk of the build, which contains `files`.
pub(crate) fn run(tool: &Tool, words: &[String], files: &[(String, Vec<u8>)]) -> RunResult {
    let directory = testkit::directory();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).expect("the files of a case are written");
    }
    run_in(tool, words, directory)
}

/// The same in an existing directory.
pub(crate) fn run_in(tool: &Tool, words: &[String], directory: tempfile::TempDir) -> RunResult {
    let mut command = Command::new(&tool.program);
    // Without a choice fio compares the counters of all CPUs, which takes half of the CPU time of its start.
    let clock = tool.options.contains("clocksource").then_some("--clocksource=clock_gettime");
    let ran =
        testkit::run_within(TIME_MAX, command.args(clock).args(words).arg("--output-format=json"), directory.path());
    let (status, stdout, stderr) = ran.map_or_else(<_>::default, |ran| (ran.status, ran.stdout, ran.stderr));
    let stderr = stderr + &messages(&stdout);
    RunResult { status, stderr, jobs: counts(&stdout), files: files_in(directory.path()), directory }
}

/// fio's messages before its document.
fn messages(stdout: &str) -> String {
    stdout.lines().take_while(|line| !line.starts_with('{')).map(|line| format!("{line}\n")).collect()
}

fn counts(stdout: &str) -> Option<Vec<[Done; 2]>> {
    let document = &stdout[stdout.find("{\n")?..];
    let document: serde_json::Value = serde_json::from_str(document).ok()?;
    let done = |job: &serde_json::Value, direction: &str| {
        let number = |key: &str| job[direction][key].as_u64().unwrap_or(0);
        Done { ios: number("total_ios"), bytes: number("io_bytes") }
    };
    let jobs = document["jobs"].as_array()?;
    Some(jobs.iter().map(|job| ["read", "write"].map(|direction| done(job, direction))).collect())
}

fn files_in(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).expect("the directory of a run is readable").flatten();
    let file =
        |entry: std::fs::DirEntry| Some((entry.file_name().into_string().ok()?, std::fs::read(entry.path()).ok()?));
    entries.filter_map(file).collect()
}

/// Prints what a test did not compare.
#[expect(clippy::print_stderr, reason = "a skipped test must not look like a passed one")]
pub(crate) fn print(text: &str) {
    eprintln!("{text}");
}
