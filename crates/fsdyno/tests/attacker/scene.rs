//! A directory to be measured, somebody else's files beside it, and the program at work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The number of a user who is nobody in particular.
pub(crate) const ANOTHER_USER: u32 = 54_321;

/// What stands there.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    /// With a directory `data` to be measured, and a victim with two files that nobody may touch.
    pub(crate) fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        fs::create_dir(scene.data()).unwrap();
        fs::create_dir_all(scene.path("victim/sub")).unwrap();
        fs::write(scene.path("victim/a.txt"), "precious a").unwrap();
        fs::write(scene.path("victim/sub/b.txt"), "precious b").unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Where the victim's files are as they were.
    #[track_caller]
    pub(crate) fn victim_is_whole(&self, place: &Path) {
        for (name, text) in [("a.txt", "precious a"), ("sub/b.txt", "precious b")] {
            assert_eq!(fs::read_to_string(place.join(name)).unwrap(), text, "{name}");
        }
        assert_eq!(names(place), ["a.txt", "sub"]);
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        command(self.folder.path(), words)
    }

    pub(crate) fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// Starts `measure`, and waits until its directory is there and its first test runs.
    pub(crate) fn measuring(&self) -> (Child, PathBuf) {
        let mut child = self
            .command("measure data --quick --size=16m --no-store")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut found = None;
        wait_until("the measured file", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it had a file");
            found = work_directory(&self.data()).filter(|work| work.join("measure.dat").exists());
            found.is_some()
        });
        (child, found.unwrap())
    }

    /// What `clean` says of the directory.
    pub(crate) fn clean(&self) -> String {
        let cleaned = self.run("clean data");
        assert_eq!(cleaned.status.code(), Some(0), "{cleaned:?}");
        text(&cleaned.stdout)
    }
}

/// The program in a folder, with a store of its own there.
pub(crate) fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.env("XDG_DATA_HOME", folder.join("home")).env("HOME", folder);
    command
}

/// The directory of a question that is being asked.
pub(crate) fn work_directory(place: &Path) -> Option<PathBuf> {
    let ours = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("fsdyno-work-");
    fs::read_dir(place).unwrap().flatten().map(|entry| entry.path()).find(ours)
}

pub(crate) fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits for something that another process does.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        pause_ms(10);
    }
    panic!("{what}: it never happened");
}

pub(crate) fn pause_ms(ms: i64) {
    let pause = rustix::thread::Timespec { tv_sec: ms / 1000, tv_nsec: ms % 1000 * 1_000_000 };
    let _ = rustix::thread::nanosleep(&pause);
}

/// Whether what needs root can be done; if not, that is said.
pub(crate) fn is_root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        super::stack::skip(&format!("{what} needs root"));
    }
    root
}
