//! The program built for Windows, run under Wine. This shows that calls are used as they should be and that data arrives;
//! it shows nothing of costs, and nothing of alignment, which Wine does not ask for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use testkit::{Place, skip, text, workspace};

const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// What the standard library asks of a DLL that Wine 8 does not have.
const RANDOM: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG bytes);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) { return SystemFunction036(data, (ULONG)bytes); }
";

/// Wine, and a folder where it keeps what it takes for a disk.
struct Wine {
    program: &'static str,
    prefix: PathBuf,
}

impl Wine {
    /// Sets it up below the build, once; why not.
    fn set_up() -> Result<Wine, String> {
        let answers = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
        let program = ["/usr/lib/wine/wine64", "wine64", "wine"].iter().find(answers).ok_or("wine is not installed")?;
        answers(&&COMPILER).then_some(()).ok_or(format!("{COMPILER} is not installed"))?;
        let targets = Command::new("rustup").args(["target", "list", "--installed"]).output();
        let installed = targets.is_ok_and(|ran| text(&ran.stdout).lines().any(|line| line == TARGET));
        installed.then_some(()).ok_or(format!("rustup has no target {TARGET}"))?;
        let wine = Wine { program, prefix: workspace().join("target/windows/wine") };
        let system = wine.prefix.join("drive_c/windows/system32");
        if !system.join("bcryptprimitives.dll").exists() {
            std::fs::create_dir_all(&wine.prefix).map_err(|error| error.to_string())?;
            wine.run(Path::new("wineboot"), &["-i"]);
            // Out of the box it says that it is Windows 7.
            wine.run(Path::new("winecfg"), &["-v", "win10"]);
            let place = tempfile::tempdir().map_err(|error| error.to_string())?;
            std::fs::write(place.path().join("random.c"), RANDOM).map_err(|error| error.to_string())?;
            let words = ["-shared", "random.c", "-ladvapi32", "-o"];
            let library = system.join("bcryptprimitives.dll");
            let made = Command::new(COMPILER).args(words).arg(library).current_dir(&place).output();
            made.is_ok_and(|ran| ran.status.success()).then_some(()).ok_or("wine cannot be set up")?;
        }
        Ok(wine)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.arg(program).env("WINEPREFIX", &self.prefix).env("WINEDEBUG", "-all").env_remove("DISPLAY");
        command
    }

    fn run(&self, program: &Path, words: &[&str]) -> Output {
        self.command(program).args(words).output().expect("it has answered before")
    }

    /// Runs fsdyno; what it prints. Panics if it fails.
    #[track_caller]
    fn fsdyno(&self, words: &[&str]) -> String {
        let ran = self.run(&built("-p=fsdyno", "--bin=fsdyno", &[]), words);
        assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
        text(&ran.stdout)
    }

    /// Runs a job; its JSON.
    #[track_caller]
    fn job(&self, words: &[&str]) -> Value {
        let printed = self.fsdyno(&[&["--output-format=json"], words].concat());
        let document: Value = serde_json::from_str(&printed).expect("one document");
        document["jobs"][0].clone()
    }
}

/// The one that all tests share; `None`: there is none here, which has been said.
fn wine() -> Option<&'static Wine> {
    static WINE: OnceLock<Result<Wine, String>> = OnceLock::new();
    WINE.get_or_init(Wine::set_up).as_ref().map_err(|reason| skip(reason)).ok()
}

/// Builds a program for Windows; where it is.
#[track_caller]
fn built(package: &str, target: &str, words: &[&str]) -> PathBuf {
    let ran = Command::new(env!("CARGO"))
        .args(if words.is_empty() { &["build"][..] } else { words })
        .args([package, target, "--target", TARGET, "--target-dir=target/windows", "--message-format=json"])
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", COMPILER)
        .current_dir(workspace())
        .output()
        .expect("cargo is there");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let said = text(&ran.stdout);
    let programs = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = programs.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).last();
    program.expect("cargo says where it is")
}

/// A directory as a job file for Windows has it, its colon escaped.
fn escaped(directory: &Path) -> String {
    format!(r"--directory=Z\:{}", testkit::word(directory).replace('/', r"\"))
}

#[test]
fn the_program_starts_and_says_which_it_is() {
    let Some(wine) = wine() else { return };
    assert!(wine.fsdyno(&["--version"]).starts_with("fsdyno "));
    let engines = wine.fsdyno(&["--enghelp"]);
    let listed: Vec<&str> = engines.lines().skip(1).map(str::trim).collect();
    assert_eq!(listed, ["sync", "psync", "windowsaio", "null", "sim"]);
}

#[test]
fn the_null_engine_does_all_that_it_is_asked_for() {
    let Some(wine) = wine() else { return };
    let job = wine.job(&["--name=a", "--ioengine=null", "--size=64m", "--bs=4k", "--rw=randread", "--iodepth=8"]);
    assert_eq!((&job["read"]["total_ios"], &job["error"]), (&16_384.into(), &0.into()));
    // A 0 in a report that nobody counted has a note.
    let report = wine.fsdyno(&["--name=a", "--ioengine=null", "--size=4k"]);
    assert!(report.contains("ctx, majf and minf are not measured"), "{report}");
}

/// What Windows engines have written, this system's program reads back and verifies, and the other way round.
#[test]
fn data_written_there_is_read_here_and_the_other_way_round() {
    let Some(wine) = wine() else { return };
    let place = Place::new();
    let directory = escaped(place.path("").as_path());
    for engine in ["psync", "sync", "windowsaio"] {
        let (engine_word, name) = (format!("--ioengine={engine}"), format!("--name={engine}"));
        let shape = [&name, "--size=4m", "--bs=16k", "--verify=crc32c", "--randseed=7"];
        let there = [&[&directory, &engine_word, "--thread", "--direct=1", "--iodepth=16"], &shape[..]].concat();
        let wrote = wine.job(&[&there[..], &["--rw=randwrite", "--fsync=32"]].concat());
        assert_eq!((&wrote["write"]["total_ios"], &wrote["error"]), (&256.into(), &0.into()), "{engine}");
        let read = place.run(&[&shape[..], &["--ioengine=psync", "--rw=read", "--output-format=json"]].concat()).good();
        assert_eq!(read.document()["jobs"][0]["read"]["total_ios"], 256, "{engine}");
        let read = wine.job(&[&there[..], &["--rw=randread"]].concat());
        assert_eq!((&read["read"]["total_ios"], &read["error"]), (&256.into(), &0.into()), "{engine}");
    }
}

#[test]
fn what_is_not_built_is_refused_with_its_name_and_a_next_step() {
    let Some(wine) = wine() else { return };
    let fsdyno = built("-p=fsdyno", "--bin=fsdyno", &[]);
    for (words, says) in [
        (&["--ioengine=libaio", "--rw=read"][..], "on Windows use windowsaio, or psync"),
        (&["--ioengine=mmap", "--rw=read"][..], "it is not built for Windows yet"),
        (&["--ioengine=psync", "--rw=write", "--sync_file_range=write:8"][..], "Windows has no sync_file_range"),
    ] {
        let place = testkit::directory();
        let ran = wine.run(&fsdyno, &[&[escaped(place.path()).as_str(), "--name=a", "--size=1m"], words].concat());
        let said = text(&ran.stdout) + &text(&ran.stderr);
        assert!(!ran.status.success() && said.contains(says), "{words:?}: {said}");
        assert_eq!(testkit::names(place.path()), [""; 0], "nothing was written");
    }
}

/// The kit that all engines pass.
#[test]
fn the_conformance_kit_passes() {
    let Some(wine) = wine() else { return };
    let kit = built("-p=fsdyno-engine", "--test=conformance", &["test", "--no-run"]);
    let ran = wine.run(&kit, &["--test-threads=1"]);
    assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
}
