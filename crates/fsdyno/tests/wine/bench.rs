//! Wine, the program built for it, and small programs that do what only a program of Windows can.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use testkit::{skip, text, workspace};

const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// What the standard library asks of a DLL that Wine 8 does not have.
const RANDOM: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG bytes);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) { return SystemFunction036(data, (ULONG)bytes); }
";

/// Seconds that Wine's own server stays after the last program: one that is just going refuses the next.
const STAY: &str = "-p20";

/// What starts a program and gives it an order of the console, what keeps a file for itself, and what maps a drive.
pub(crate) const ORDER: &str = "order";
pub(crate) const HOLD: &str = "hold";
pub(crate) const SHARE: &str = "share";

/// Wine, and a folder where it keeps what it takes for a disk.
pub(crate) struct Wine {
    program: &'static str,
    pub(crate) prefix: PathBuf,
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
            compile(&words, &system.join("bcryptprimitives.dll"), place.path())?;
        }
        wine.have_remote_drive().map_err(|error| error.to_string())?;
        // Where it cannot be told, it goes when it wants to.
        let _ = wine.server(STAY);
        let sources = workspace().join("crates/fsdyno/tests/wine");
        for name in [ORDER, HOLD, SHARE] {
            let words = ["-Wall", "-Werror", &format!("{name}.c"), "-lntdll", "-o"];
            compile(&words, &wine.helper(name), &sources)?;
        }
        Ok(wine)
    }

    /// Makes the drive that Wine takes for one of a server. It reads its list of drives when its own server starts, so that
    /// one which runs comes to its end before.
    fn have_remote_drive(&self) -> std::io::Result<()> {
        let letter = self.prefix.join("dosdevices/n:");
        if letter.symlink_metadata().is_ok() {
            return Ok(());
        }
        std::fs::create_dir_all(self.remote())?;
        self.run(Path::new("reg"), &["add", r"HKLM\Software\Wine\Drives", "/v", "n:", "/d", "network", "/f"]);
        // Where there is none, the drive counts as one of this machine until that server ends by itself; tests say so.
        let _ = self.server("-w");
        std::os::unix::fs::symlink("../remote", letter)
    }

    /// Tells Wine's own server something.
    fn server(&self, word: &str) -> std::io::Result<()> {
        let servers = ["wineserver64", "wineserver"].map(|name| Path::new(self.program).with_file_name(name));
        let told = |server: &PathBuf| Command::new(server).arg(word).env("WINEPREFIX", &self.prefix).status();
        told(&servers[0]).or_else(|_| told(&servers[1])).map(drop)
    }

    /// What is on that drive, `N:`.
    pub(crate) fn remote(&self) -> PathBuf {
        self.prefix.join("remote")
    }

    /// Where a small program is.
    pub(crate) fn helper(&self, name: &str) -> PathBuf {
        self.prefix.with_file_name(format!("{name}.exe"))
    }

    /// A command that runs in this directory: what it leaves there is gone with it.
    pub(crate) fn command(&self, program: &Path, place: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.arg(program).env("WINEPREFIX", &self.prefix).env("WINEDEBUG", "-all").env_remove("DISPLAY");
        command.current_dir(place);
        command
    }

    pub(crate) fn run(&self, program: &Path, words: &[&str]) -> Output {
        let place = directory();
        answer(self.command(program, place.path()).args(words))
    }

    /// Runs fsdyno, however it ends.
    pub(crate) fn try_fsdyno(&self, words: &[&str]) -> Output {
        self.run(built("fsdyno", "fsdyno"), words)
    }

    /// Runs fsdyno; what it prints. Panics if it fails.
    #[track_caller]
    pub(crate) fn fsdyno(&self, words: &[&str]) -> String {
        let ran = self.try_fsdyno(words);
        assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
        text(&ran.stdout)
    }

    /// Runs a job; its JSON.
    #[track_caller]
    pub(crate) fn job(&self, words: &[&str]) -> Value {
        let printed = self.fsdyno(&[&["--output-format=json"], words].concat());
        let document: Value = serde_json::from_str(&printed).expect("one document");
        document["jobs"][0].clone()
    }
}

/// Runs it; what it printed. Files take that: Wine's services, which the first program starts, would hold a pipe open.
fn answer(command: &mut Command) -> Output {
    let (mut stdout, mut stderr) = (tempfile::tempfile().expect("a file"), tempfile::tempfile().expect("a file"));
    let handle = |file: &File| file.try_clone().expect("a handle of it");
    command.stdin(Stdio::null()).stdout(handle(&stdout)).stderr(handle(&stderr));
    let status = command.status().expect("it has answered before");
    let printed = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("it was written here");
        bytes
    };
    Output { status, stdout: printed(&mut stdout), stderr: printed(&mut stderr) }
}

/// Compiles a program or a library.
fn compile(words: &[&str], to: &Path, from: &Path) -> Result<(), String> {
    let ran =
        Command::new(COMPILER).args(words).arg(to).current_dir(from).output().map_err(|error| error.to_string())?;
    if ran.status.success() { Ok(()) } else { Err(format!("{} cannot be made: {}", to.display(), text(&ran.stderr))) }
}

/// The one that all tests share; `None`: there is none here, which has been said.
pub(crate) fn wine() -> Option<&'static Wine> {
    static WINE: OnceLock<Result<Wine, String>> = OnceLock::new();
    WINE.get_or_init(Wine::set_up).as_ref().map_err(|reason| skip(reason)).ok()
}

/// A program for Windows, by the crate and the target that it is made of.
#[track_caller]
pub(crate) fn built(library: &str, target: &str) -> &'static Path {
    static PROGRAMS: OnceLock<Vec<(String, String, PathBuf)>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(build);
    let program = programs.iter().find(|(package, name, _)| package.ends_with(library) && name == target);
    &program.unwrap_or_else(|| panic!("no {target} of {library} in {programs:?}")).2
}

/// Builds all programs in one go: crate, target and place of each. The compiler's time is most of what these tests take;
/// the check that all crates compile finds it done.
fn build() -> Vec<(String, String, PathBuf)> {
    let mut build = Command::new(env!("CARGO"));
    let ran =
        build.args(["windows", "--message-format=json"]).current_dir(workspace()).output().expect("cargo is there");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let said = text(&ran.stdout);
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = |message: Value| {
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_str()?.to_owned();
        let name = message["target"]["name"].as_str()?.to_owned();
        Some((folder, name, PathBuf::from(message["executable"].as_str()?)))
    };
    messages.filter_map(program).collect()
}

/// A directory as a job file for Windows has it, its colon escaped.
pub(crate) fn escaped(directory: &Path) -> String {
    format!(r"--directory=Z\:{}", testkit::word(directory).replace('/', r"\"))
}

/// A path as Windows has it.
pub(crate) fn windows(path: &Path) -> String {
    format!("Z:{}", testkit::word(path)).replace('/', r"\")
}

/// A directory in memory where there is one: what is asked is nothing about a storage, and a full disk refuses.
pub(crate) fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(place).expect("a directory can be made")
}
