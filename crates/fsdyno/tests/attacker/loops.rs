//! Makes disks to be protected: loop devices on sparse files, which are removed with the test.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{RunResult, TestDirectory, is_root, skip, text};

/// A directory with images of disks.
pub(crate) struct Bench {
    pub(crate) place: TestDirectory,
}

/// A loop device; dropping it detaches it.
pub(crate) struct Disk {
    pub(crate) device: String,
}

/// A mount; dropping it ends it.
pub(crate) struct Mounted(PathBuf);

impl Bench {
    /// `None`: loop devices are not available here, or the test is not root; that is printed.
    pub(crate) fn new() -> Option<Bench> {
        let bench = Bench { place: TestDirectory::with(&["mnt"]) };
        if !is_root("a loop device") {
            return None;
        }
        let tried = bench.try_shell("truncate -s 1M try && losetup --detach $(losetup --find --show try) && rm try");
        if let Err(reason) = tried {
            skip(&format!("this machine refuses a loop device: {reason}"));
            return None;
        }
        Some(bench)
    }

    /// A new disk of zeroes on the file of this name.
    pub(crate) fn disk(&self, name: &str, mib: u32) -> Disk {
        self.shell(&format!("truncate -s {mib}M {name}"));
        self.attach(name, "")
    }

    /// A disk on an existing file or device, with these options of losetup.
    pub(crate) fn attach(&self, over: &str, options: &str) -> Disk {
        let device = self.shell(&format!("losetup --find --show {options} {over}"));
        Disk { device: device.trim().to_owned() }
    }

    /// Mounts at `mnt`.
    #[track_caller]
    pub(crate) fn mount(&self, words: &str) -> Mounted {
        self.shell(&format!("mount {words} mnt"));
        Mounted(self.place.path("mnt"))
    }

    /// Runs a line in the directory; returns what it prints.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) -> String {
        self.try_shell(line).unwrap_or_else(|reason| panic!("{line}: {reason}"))
    }

    /// The error is the line's output.
    pub(crate) fn try_shell(&self, line: &str) -> Result<String, String> {
        let ran = self.place.program("bash", &["-c", line]).output().expect("bash is there");
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr).trim().to_owned()) }
    }

    /// Runs a job that writes 1 MiB, with more words.
    pub(crate) fn job(&self, file: &str, words: &str) -> RunResult {
        self.place.run(&format!("--name=a --bs=64k --size=1m --rw=write --filename={file} {words}"))
    }

    /// The job must be refused for this reason, and leave the file unchanged.
    #[track_caller]
    pub(crate) fn is_refused(&self, file: &str, words: &str, reason: &str) {
        let before = self.first_bytes(file);
        let ran = self.job(file, words);
        let said = ran.stdout + &ran.stderr;
        assert_ne!(ran.status, Some(0), "{said}");
        assert!(said.contains(reason) && said.contains("--allow_mounted_write=1"), "not `{reason}`: {said}");
        assert!(self.first_bytes(file) == before, "{file} was changed");
    }

    /// The job must run.
    #[track_caller]
    pub(crate) fn is_written(&self, file: &str, words: &str) {
        let before = self.first_bytes(file);
        self.job(file, words).good();
        assert!(self.first_bytes(file) != before, "{file} was not changed");
    }

    fn first_bytes(&self, file: &str) -> Vec<u8> {
        let output = self.place.program("head", &["--bytes=1M", file]).output().expect("head is there");
        output.stdout
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Partitions would outlive the disk, and belong to the next one.
        let line = "for part in $0p*; do test -b $part && delpart $0 ${part##*p}; done; losetup --detach $0";
        let _ = Command::new("bash").args(["-c", line, &self.device]).status();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(Path::new(&self.0)).status();
    }
}
