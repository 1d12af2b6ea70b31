//! Where the two binaries are and how one is run: in a directory of its own, with an end to its time.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use crate::case::Case;

/// After it a run is ended: a hang is a failure, not a wait.
const TIME_MAX: Duration = Duration::from_secs(60);

/// How often fio is run where it hangs or crashes: with `log_store_compressed` a worker may wait forever for its compressing
/// thread to begin (`workqueue_init`), now and then on busy processors; with `gtod_cpu` one run in four is a segmentation
/// fault.
const RUNS_OF_FIO_MAX: usize = 8;

/// One of the two tools under comparison.
pub(crate) struct Tool {
    /// How messages call it.
    pub(crate) name: &'static str,
    /// What is executed.
    pub(crate) program: PathBuf,
    /// The line that `--version` prints.
    pub(crate) version: String,
}

/// Debian's fio; `None` when it is not installed.
pub(crate) static FIO: LazyLock<Option<Tool>> = LazyLock::new(|| Tool::find("fio", PathBuf::from("fio")));

/// The binary under test.
pub(crate) static OURS: LazyLock<Tool> = LazyLock::new(|| {
    let program = PathBuf::from(testkit::program());
    Tool::find("fsdyno", program.clone()).unwrap_or(Tool { name: "fsdyno", program, version: String::new() })
});

impl Tool {
    fn find(name: &'static str, program: PathBuf) -> Option<Tool> {
        let output = Command::new(&program).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(Tool { name, program, version })
    }
}

/// fio is compared with itself: then no difference was chosen.
pub(crate) fn comparing_fio_with_itself() -> bool {
    FIO.as_ref().is_some_and(|fio| fio.version == OURS.version)
}

/// What one run gave.
pub(crate) struct Ran {
    /// `None`: a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The directory it ran in, kept until the comparison is over.
    pub(crate) directory: tempfile::TempDir,
}

/// Runs `tool` with the words of `case` and `extra` in a new directory that holds the files of the case.
#[track_caller]
pub(crate) fn run(tool: &Tool, case: &Case, extra: &[String]) -> Ran {
    let is_fio = tool.name == "fio";
    let runs_max = if is_fio { RUNS_OF_FIO_MAX } else { 1 };
    let mut ran = None;
    for _ in 0..runs_max {
        ran = run_once(tool, case, extra).or(ran);
        if ran.as_ref().is_some_and(|ran| ran.status.is_some()) {
            break;
        }
    }
    ran.unwrap_or_else(|| panic!("{} hangs: {:?} {extra:?}", tool.name, case.words))
}

/// `None`: it hung.
fn run_once(tool: &Tool, case: &Case, extra: &[String]) -> Option<Ran> {
    let directory = testkit::directory();
    for (name, content) in &case.files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a parent")).expect("directories are made");
        std::fs::write(path, content).expect("the files of a case are written");
    }
    let mut command = match case.shell {
        Some(script) => {
            // "$@" in the script is the tool and its words.
            let mut shell = Command::new("sh");
            shell.args(["-c", script, "sh"]).arg(&tool.program);
            shell
        }
        None => Command::new(&tool.program),
    };
    if case.words.is_empty() && tool.name == OURS.name {
        // With no word at all the program is no fio yet: it shows how to begin.
        command.arg("fio");
    }
    command.args(&case.words).args(extra).envs(case.environment.iter().copied());
    let ran = testkit::run_within(TIME_MAX, &mut command, directory.path())?;
    Some(Ran { status: ran.status, stdout: without_loop_numbers(&ran.stdout), stderr: ran.stderr, directory })
}

/// Each run makes a loop device of its own, whatever its number.
fn without_loop_numbers(text: &str) -> String {
    let mut parts = text.split("loop");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "loop" + part.trim_start_matches(|letter: char| letter.is_ascii_digit()))
}
