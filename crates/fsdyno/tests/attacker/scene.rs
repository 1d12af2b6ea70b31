//! A directory to be measured, with somebody else's files beside it.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use testkit::{Running, TestDirectory, names};

/// The user id of an arbitrary other user.
pub(crate) const ANOTHER_USER: u32 = 54_321;

/// The directory of the scene.
pub(crate) struct Scene(TestDirectory);

impl Deref for Scene {
    type Target = TestDirectory;

    fn deref(&self) -> &TestDirectory {
        &self.0
    }
}

impl Scene {
    /// A scene with a directory `data` to be measured, and a victim with two files that nobody may touch.
    pub(crate) fn new() -> Scene {
        let scene = Scene(TestDirectory::with(&["data", "victim/sub"]));
        scene.write("victim/a.txt", "precious a");
        scene.write("victim/sub/b.txt", "precious b");
        scene
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Checks that the victim's files are unchanged.
    #[track_caller]
    pub(crate) fn victim_is_whole(&self, place: &Path) {
        for (name, text) in [("a.txt", "precious a"), ("sub/b.txt", "precious b")] {
            assert_eq!(fs::read_to_string(place.join(name)).unwrap(), text, "{name}");
        }
        assert_eq!(names(place), ["a.txt", "sub"]);
    }

    /// Starts `measure` with a test that reads and one that writes, and waits until its directory exists and its first test
    /// runs.
    pub(crate) fn measuring(&self) -> (Running, PathBuf) {
        let mut running =
            self.start("measure data --quick --only=seq-read,seq-write --runtime=2 --size=16m --no-store");
        let mut found = None;
        running.wait_until("the measured file", |_| {
            found = work_directory(&self.data()).filter(|work| work.join("measure.dat").exists());
            found.is_some()
        });
        (running, found.unwrap())
    }

    /// The output of `clean` for the directory.
    pub(crate) fn clean(&self) -> String {
        self.run("clean data").good().stdout
    }
}

/// The work directory of a running question.
pub(crate) fn work_directory(place: &Path) -> Option<PathBuf> {
    let ours = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("fsdyno-work-");
    fs::read_dir(place).unwrap().flatten().map(|entry| entry.path()).find(ours)
}
