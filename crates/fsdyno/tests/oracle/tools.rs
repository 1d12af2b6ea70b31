//! Finds the two binaries, and runs them: in a directory of their own, with a time limit.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use crate::case::Case;

/// Time limit of a run: a hang is a failure.
const TIME_MAX: Duration = Duration::from_secs(60);

/// How often fio is run if it hangs: with `log_store_compressed` a worker may wait forever for its compressing thread to
/// begin (`workqueue_init`), occasionally on busy CPUs.
const HANGS_OF_FIO_MAX: usize = 7;

/// How often fio is run if it crashes: with `gtod_cpu` a worker reads the clock of a thread that may not run yet, which is
/// a segmentation fault in one run of four, and in most runs while that CPU is busy.
const CRASHES_OF_FIO_MAX: usize = 100;

/// A clock for fio. Without a choice each run compares the counters of all CPUs, which takes half of its CPU time. Where fio
/// refuses its words, it looks at no clock unless one is chosen.
pub(crate) const CLOCK: &str = "--clocksource=clock_gettime";

/// The same in a document and in a command line that fio prints, alone and before other options.
const CLOCK_SHOWN: &[&str] = &[
    "  \"global options\" : {\n    \"clocksource\" : \"clock_gettime\"\n  },\n",
    "    \"clocksource\" : \"clock_gettime\",\n",
    " --clocksource=clock_gettime",
];

/// One of the two tools under comparison.
pub(crate) struct Tool {
    /// The name in messages.
    pub(crate) name: &'static str,
    /// The program's path.
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

/// Whether fio is compared with itself: then no difference was chosen.
pub(crate) fn comparing_fio_with_itself() -> bool {
    FIO.as_ref().is_some_and(|fio| fio.version == OURS.version)
}

/// The result of a run.
pub(crate) struct RunResult {
    /// `None`: a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The directory of the run, kept until the comparison is over.
    pub(crate) directory: tempfile::TempDir,
}

/// Runs `tool` with the words of `case` and `extra` in a new directory with the files of the case.
#[track_caller]
pub(crate) fn run(tool: &Tool, case: &Case, extra: &[String]) -> RunResult {
    let (hangs_max, crashes_max) = if tool.name == "fio" { (HANGS_OF_FIO_MAX, CRASHES_OF_FIO_MAX) } else { (0, 0) };
    let (mut hangs, mut crashes) = (0, 0);
    loop {
        match run_once(tool, case, extra) {
            Some(ran) if ran.status.is_some() || crashes >= crashes_max => return ran,
            Some(_) => crashes += 1,
            None if hangs >= hangs_max => panic!("{} hangs: {:?} {extra:?}", tool.name, case.words),
            None => hangs += 1,
        }
    }
}

/// `None`: it hung.
fn run_once(tool: &Tool, case: &Case, extra: &[String]) -> Option<RunResult> {
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
        // Without any word the program shows how to begin, so it is called as fio.
        command.arg("fio");
    }
    let chooses_clock = tool.name == "fio" && case.words.iter().all(|word| !word.contains("clocksource"));
    let clock = Some(CLOCK).filter(|_| chooses_clock && !case.verbatim && !case.is_only_said());
    command.args(clock).args(&case.words).args(extra).envs(case.environment.iter().copied());
    let ran = testkit::run_within(TIME_MAX, &mut command, directory.path())?;
    let shown = CLOCK_SHOWN.iter().filter(|_| clock.is_some());
    let stdout = shown.fold(without_loop_numbers(&ran.stdout), |text, clock| text.replace(clock, ""));
    Some(RunResult { status: ran.status, stdout, stderr: ran.stderr, directory })
}

/// Removes the numbers of loop devices: each run makes its own.
fn without_loop_numbers(text: &str) -> String {
    let mut parts = text.split("loop");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "loop" + part.trim_start_matches(|letter: char| letter.is_ascii_digit()))
}
