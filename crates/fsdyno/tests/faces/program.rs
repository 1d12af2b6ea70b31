//! Runs the binary in a directory of its own: to its end, or step by step while it goes on.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use engine::clock::{Clock, RealClock};

/// A hang is a failure, not a wait, ns.
const HANG_NS: u64 = 60_000_000_000;

/// Between two looks at a running program, ns.
const PAUSE_NS: u64 = 2_000_000;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_fsdyno");

/// A directory on the disk that holds the build.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None`: killed by a signal.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable");
        Place { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).expect("a file is written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Names of the files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.directory.path().read_dir().expect("the directory is readable");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The binary, to be run here.
    pub(crate) fn command(&self, words: &str) -> Command {
        self.program(BINARY, words)
    }

    /// Any program, to be run here.
    pub(crate) fn program(&self, program: &str, words: &str) -> Command {
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, words: &str) -> Ran {
        self.start(words).finish()
    }

    /// Starts the binary.
    pub(crate) fn start(&self, words: &str) -> Running {
        Running::start(self.command(words).stdout(Stdio::piped()))
    }
}

/// A program that goes on.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
}

impl Running {
    /// Starts `command`, whose stdout the caller has chosen.
    pub(crate) fn start(command: &mut Command) -> Running {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let stdout = child.stdout.take().map_or_else(Stream::default, Stream::of);
        let stderr = child.stderr.take().map_or_else(Stream::default, Stream::of);
        Running { child, stdout, stderr }
    }

    /// Sends a signal, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        self.shell(&kill);
    }

    /// Sends a signal, and again a moment later unless that has ended the program.
    pub(crate) fn signal_twice(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        // The child is waited for later, so its number stays its own.
        self.shell(&format!("{kill} && sleep 0.002 && {kill}"));
    }

    fn shell(&self, script: &str) {
        let sent = Command::new("sh").args(["-c", script]).status().expect("sh runs");
        assert!(sent.success(), "{script}");
    }

    /// Waits until `reached`.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, mut reached: impl FnMut(&Running) -> bool) {
        let patience = Patience::begin();
        loop {
            let over = self.child.try_wait().expect("the child can be waited for").is_some();
            if over {
                self.stdout.join();
                self.stderr.join();
            }
            if reached(self) {
                return;
            }
            assert!(!over, "it ended before {what}:\n{}\n{}", self.stdout.text(), self.stderr.text());
            assert!(!patience.over(), "no {what}:\n{}\n{}", self.stdout.text(), self.stderr.text());
            patience.pause();
        }
    }

    /// Waits until stdout holds `text`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |running| running.stdout.text().contains(text));
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Ran {
        let patience = Patience::begin();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            assert!(!patience.over(), "it hangs:\n{}\n{}", self.stdout.text(), self.stderr.text());
            patience.pause();
        };
        self.stdout.join();
        self.stderr.join();
        let ran = Ran { status: status.code(), stdout: self.stdout.text(), stderr: self.stderr.text() };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }
}

/// Waits until `reached`.
#[track_caller]
pub(crate) fn wait(what: &str, mut reached: impl FnMut() -> bool) {
    let patience = Patience::begin();
    while !reached() {
        assert!(!patience.over(), "no {what}");
        patience.pause();
    }
}

/// Waits in small steps, and not for ever.
struct Patience {
    clock: RealClock,
    end_ns: u64,
}

impl Patience {
    fn begin() -> Patience {
        let clock = RealClock::shared();
        Patience { clock, end_ns: clock.now_ns() + HANG_NS }
    }

    fn over(&self) -> bool {
        self.clock.now_ns() >= self.end_ns
    }

    fn pause(&self) {
        self.clock.sleep_until_ns(self.clock.now_ns() + PAUSE_NS);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed assertion nothing goes on in the background; after a good end both calls do nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program has written so far.
#[derive(Default)]
pub(crate) struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn of(mut source: impl Read + Send + 'static) -> Stream {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut chunk) {
                sink.lock().expect("no reader panics").extend_from_slice(&chunk[..count]);
            }
        });
        Stream { bytes, reader: Some(reader) }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no reader panics")).into_owned()
    }

    fn join(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no reader panics");
        }
    }
}

impl Ran {
    /// The one document on stdout.
    #[track_caller]
    pub(crate) fn document(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no single document ({error}):\n{}\n{}", self.stdout, self.stderr))
    }

    /// The documents on stdout, one after the other, and nothing else.
    #[track_caller]
    pub(crate) fn documents(&self) -> Vec<serde_json::Value> {
        let documents = serde_json::Deserializer::from_str(&self.stdout).into_iter();
        documents.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

/// Part of a report without its preamble: from the first job's block on.
#[track_caller]
pub(crate) fn results(stdout: &str) -> &str {
    let begin = stdout.find(": (groupid=").unwrap_or_else(|| panic!("no result block:\n{stdout}"));
    let line = stdout[..begin].rfind('\n').map_or(0, |newline| newline + 1);
    &stdout[line..]
}
