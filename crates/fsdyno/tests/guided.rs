//! The frame of the guided face: what is kept, what is left, what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use results::{Question, Study};

/// A directory on the filesystem of the build, and a store.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        Place { folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
        command.args(words).env("XDG_DATA_HOME", self.folder.path().join("home")).env("HOME", self.folder.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn measure(&self, more: &[&str]) -> Output {
        let (data, store) = (self.data(), self.store());
        let mut words =
            vec!["measure", data.to_str().unwrap(), "--quick", "--size=16m", "--store", store.to_str().unwrap()];
        words.extend(more);
        self.run(&words)
    }

    fn kept(&self) -> Vec<Study> {
        let entries = fs::read_dir(self.store()).unwrap().map(|entry| entry.unwrap().path());
        // A draft may be left by a kill.
        let whole = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
        whole.map(|path| Study::from_json(&fs::read_to_string(path).unwrap()).unwrap()).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_measurement_is_printed_kept_and_leaves_nothing() {
    let place = Place::new();
    let output = place.measure(&[]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(is_empty(&place.data()));
    for words in [
        "\n4k random read          32 ",
        "IOPS = concurrency / latency",
        "Throughput = IOPS x block size",
        "a file of 16 MiB",
    ] {
        assert!(stdout.contains(words), "{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{stdout}");
    assert!(stderr.contains("[8/8]"), "without a terminal each step leaves a line: {stderr}");
    let kept = place.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].question, kept[0].rows.len(), kept[0].complete), (Question::Measure, 8, true));
    let store = place.store();
    let shown = place.run(&["show", "last", "--store", store.to_str().unwrap()]);
    assert_eq!(text(&shown.stdout), stdout, "a kept run prints the same");
    let listed = text(&place.run(&["runs", "--store", store.to_str().unwrap()]).stdout);
    assert!(listed.contains(&kept[0].id), "{listed}");
}

#[test]
fn the_sums_of_the_sentences_are_those_of_the_table() {
    let place = Place::new();
    let output = place.measure(&["--json"]);
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    let read = study.rows.iter().find(|row| row.pattern == "throughput-64k-read").unwrap();
    let figures = read.figures().unwrap();
    // Requests are counted when they are issued, bytes when they have come back: those in flight at either end differ.
    let apart = (figures.total.bytes / 65536).abs_diff(figures.total.operations);
    assert!(apart <= 2 * 32, "{figures:?}");
    let product = figures.total.operations as f64 / figures.total.iops * figures.total.bytes_per_s;
    assert!((figures.total.bytes as f64 / product - 1.0).abs() < 0.001, "{figures:?}");
    let begins = |sentence: usize, words| study.sentences[sentence].starts_with(words);
    assert!(begins(0, "IOPS = ") && begins(1, "Throughput = ") && begins(2, "No network"), "{:?}", study.sentences);
    // Each row can be run again by itself.
    assert!(study.rows.iter().all(|row| row.command.iter().any(|word| word.starts_with("--rw="))));
}

#[test]
fn quiet_shows_nothing_and_no_store_keeps_nothing() {
    let place = Place::new();
    let data = place.data();
    let output = place.run(&["measure", data.to_str().unwrap(), "--quick", "--size=16m", "--quiet", "--no-store"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert!(!place.folder.path().join("home").exists());
}

#[test]
fn markdown_is_a_table_for_a_ticket() {
    let place = Place::new();
    let stdout = text(&place.measure(&["--markdown"]).stdout);
    assert!(stdout.contains("| test ") && stdout.contains("|---"), "{stdout}");
}

#[test]
fn an_interrupt_ends_it_with_what_there_is_and_nothing_left() {
    let place = Place::new();
    let (data, store) = (place.data(), place.store());
    let words = ["measure", data.to_str().unwrap(), "--size=16m", "--store", store.to_str().unwrap()];
    let mut child = place.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| !is_empty(&data));
    let pid = i32::try_from(child.id()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(is_empty(&data));
    let kept = place.kept();
    assert!(!kept[0].complete);
}

#[test]
fn clean_removes_what_a_killed_run_left() {
    let place = Place::new();
    let data = place.data();
    fs::write(data.join("mine"), "mine").unwrap();
    let store = place.store();
    let words = ["measure", data.to_str().unwrap(), "--size=16m", "--store", store.to_str().unwrap()];
    let mut child = place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let marked = || fs::read_dir(&data).unwrap().flatten().any(|entry| entry.path().join(".fsdyno-work").exists());
    wait_until(marked);
    let busy = text(&place.run(&["clean", data.to_str().unwrap()]).stdout);
    assert!(busy.contains("still uses it"), "{busy}");
    wait_until(|| {
        store.is_dir()
            && fs::read_dir(&store)
                .unwrap()
                .flatten()
                .any(|file| file.path().extension().is_some_and(|end| end == "json"))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(&data).unwrap().count(), 2);
    let kept = place.kept();
    assert!(!kept[0].complete && !kept[0].rows.is_empty(), "what it had found by then is kept");
    // The process that did the work dies a moment after the one that was killed.
    wait_until(|| {
        let cleaned = place.run(&["clean", data.to_str().unwrap()]);
        assert_eq!(cleaned.status.code(), Some(0));
        text(&cleaned.stdout).contains("removed")
    });
    assert_eq!(fs::read_to_string(data.join("mine")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
    let again = text(&place.run(&["clean", data.to_str().unwrap()]).stdout);
    assert!(again.starts_with("no fsdyno files are left"), "{again}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_status_2() {
    let place = Place::new();
    let data = place.data();
    fs::write(data.join("file"), "x").unwrap();
    fs::write(place.folder.path().join("store-is-a-file"), "x").unwrap();
    let data_text = data.to_str().unwrap().to_string();
    let file = data.join("file").display().to_string();
    let missing = data.join("missing").display().to_string();
    let bad_store = place.folder.path().join("store-is-a-file").display().to_string();
    let cases: [(&[&str], &str); 8] = [
        (&["measure", &missing], "does not exist"),
        (&["measure", &file], "is not a directory"),
        (&["measure", "/proc", "--no-store"], "kernel filesystem"),
        (&["measure", &data_text, "--expect", "nfs", "--no-store"], "should be nfs, but it is"),
        (&["measure", &data_text, "--size", "4x"], "powers of 1,024"),
        (&["measure", &data_text, "--size", "1048576t", "--no-store"], "beyond 90 %"),
        (&["measure", &data_text, "--store", &bad_store], "cannot save runs in"),
        (&["show", "nothing", "--no-such-option"], "unexpected argument"),
    ];
    for (words, reason) in cases {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains(reason), "{words:?}: {stderr}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "a refusal writes nothing");
}

#[test]
fn a_directory_with_a_colon_and_blanks_works() {
    let place = Place::new();
    let odd = place.data().join("a:b c");
    fs::create_dir(&odd).unwrap();
    let output = place.run(&["measure", odd.to_str().unwrap(), "--quick", "--size=16m", "--no-store", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(is_empty(&odd));
}

/// Waits for something that another process does.
fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if done() {
            return;
        }
        // A test may wait; the program itself has a clock for that.
        let _ = rustix::thread::nanosleep(&rustix::thread::Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
    }
    panic!("it never happened");
}

#[test]
fn without_a_home_the_answer_is_printed_and_not_kept() {
    let place = Place::new();
    let data = place.data();
    let words = ["measure", data.to_str().unwrap(), "--quick", "--size=16m"];
    let mut command = place.command(&words);
    let ran = command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert!(told.contains("neither XDG_DATA_HOME nor HOME is set; this run is not saved"), "{told}");
    assert!(!told.contains("kept as") && !ran.stdout.is_empty(), "{told}");
    let left: Vec<_> = fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["data"]);
}
