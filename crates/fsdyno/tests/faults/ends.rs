//! Combines errors and hangs on every engine: the run ends within its time limits, reports everything that was lost and
//! keeps the record. The limits are short, and the runs of an engine are parallel, each with faults of its own file.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::document::{self, Row};
use crate::lab;
use crate::program::{RunResult, Running, fio, hurried, replace_after};
use testkit::wait_until;

/// A combination.
struct Case {
    /// The fault, and what is done about it.
    fault: &'static str,
    /// Lines for the filesystem; `F` is the job's file, `G` the second job's.
    set: &'static [&'static str],
    /// Words besides those of the engine.
    words: &'static str,
    act: Act,
    /// Messages that must appear, each in a line of its own.
    message: &'static [&'static str],
    status: i32,
    /// The error in the record, if one is kept, and the number of lost requests.
    kept: Option<(Option<i64>, u64)>,
}

/// What the user does while it hangs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Nothing,
    /// Sends the signal once a request hangs.
    Signal(&'static str),
    /// Sends SIGINT twice, the second time when the message says what is waited for.
    Twice,
}

const EIO: &str = "Input/output error";
const LOST: &str = "never completed";
const STUCK: &str = "is stuck";
const READY: &str = "has been getting ready";
const ENDING: &str = "has been ending";
const WAITS: &str = "was told to end";

/// Writes of a megabyte.
const WRITES: &str = "--rw=randwrite --size=1m";

/// The cases of engines with many requests in flight.
const QUEUED: &[Case] = &[
    Case {
        fault: "a write fails, another is never answered",
        set: &["hang-forever 1 F", "write-eio 20 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[EIO, LOST],
        status: 1,
        kept: Some((Some(5), 1)),
    },
    Case {
        fault: "a write fails, three others are never answered",
        set: &["hang-forever 3 F", "write-eio 20 F"],
        words: WRITES,
        act: Act::Nothing,
        message: &[EIO, LOST, "the others:"],
        status: 1,
        kept: Some((Some(5), 3)),
    },
    Case {
        fault: "a write fails, another is never answered, nor would be the sync at the end",
        set: &["hang-forever 1 F", "write-eio 20 F", "hang-fsync 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[EIO, LOST],
        status: 1,
        kept: Some((Some(5), 1)),
    },
    Case {
        fault: "a write is never answered",
        set: &["hang-forever 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[LOST],
        status: 1,
        kept: Some((Some(110), 1)),
    },
    Case {
        fault: "a read is never answered, the runtime ends",
        set: &["hang-forever 1 F"],
        words: "--rw=randread --size=1m --time_based --runtime=1",
        act: Act::Nothing,
        message: &[LOST],
        status: 1,
        kept: Some((Some(110), 1)),
    },
    Case {
        fault: "a read is never answered; SIGINT",
        set: &["hang-forever 1 F"],
        words: "--rw=randread --size=1m --time_based --runtime=600",
        act: Act::Signal("INT"),
        message: &[LOST],
        status: 129,
        kept: Some((Some(110), 1)),
    },
    Case {
        fault: "a read is answered after 8 s, when it was given up",
        set: &["hang-ms 8000 F"],
        words: "--rw=randread --size=1m --time_based --runtime=1",
        act: Act::Nothing,
        message: &[LOST],
        status: 1,
        kept: Some((Some(110), 1)),
    },
];

/// The cases of engines with one request at a time.
const SINGLE: &[Case] = &[
    Case {
        fault: "a read is never answered, the runtime ends",
        set: &["hang-forever 1 F"],
        words: "--rw=randread --size=1m --time_based --runtime=1",
        act: Act::Nothing,
        message: &[STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "a read is answered after 8 s, when its worker was left behind",
        set: &["hang-ms 8000 F"],
        words: "--rw=randread --size=1m --time_based --runtime=1",
        act: Act::Nothing,
        message: &[STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "one job's read fails, the other's is never answered",
        set: &["read-eio 20 F", "hang-forever 1 G"],
        words: "--rw=randread --size=1m --exitall_on_error --name=b --filename=G --rw=randread --size=1m",
        act: Act::Nothing,
        message: &[EIO, STUCK],
        status: 2,
        kept: Some((Some(5), 0)),
    },
];

/// The cases of all engines that open files.
const COMMON: &[Case] = &[
    Case {
        fault: "a write fails, the sync at the end would never be answered",
        set: &["write-eio 20 F", "hang-fsync 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[EIO],
        status: 1,
        kept: Some((Some(5), 0)),
    },
    Case {
        fault: "a write fails, then the close",
        set: &["write-eio 20 F", "close-eio 1 F"],
        words: WRITES,
        act: Act::Nothing,
        message: &["io_u error", "cannot close"],
        status: 1,
        kept: Some((Some(5), 0)),
    },
    Case {
        fault: "a write fails, the close is never answered",
        set: &["write-eio 20 F", "hang-close 1 F"],
        words: WRITES,
        act: Act::Nothing,
        message: &[EIO, ENDING, STUCK],
        status: 1,
        kept: Some((Some(5), 0)),
    },
    Case {
        fault: "the sync at the end is never answered",
        set: &["hang-fsync 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[ENDING, STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "the sync at the end is never answered; SIGTERM",
        set: &["hang-fsync 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Signal("TERM"),
        message: &[STUCK],
        status: 129,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "the open is never answered",
        set: &["hang-open 1 F"],
        words: WRITES,
        act: Act::Nothing,
        message: &[READY, STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "the open of one of two jobs is never answered; SIGINT",
        set: &["hang-open 1 G"],
        words: "--rw=randread --size=1m --name=b --filename=G --rw=randread --size=1m",
        act: Act::Signal("INT"),
        message: &[STUCK],
        status: 129,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "a read is never answered; SIGINT twice",
        set: &["hang-forever 1 F"],
        words: "--rw=randread --size=1m --time_based --runtime=600",
        act: Act::Twice,
        message: &[WAITS],
        status: 128,
        kept: Some((None, 0)),
    },
];

/// The cases of mappings, which read and write pages, not requests.
const MAPPED: &[Case] = &[
    Case {
        fault: "a page is never brought, the runtime ends",
        set: &["hang-forever 1 F"],
        words: "--rw=randread --size=1m --time_based --runtime=1",
        act: Act::Nothing,
        message: &[STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "the sync at the end is never answered",
        set: &["hang-fsync 1 F"],
        words: "--rw=randwrite --size=1m --end_fsync=1",
        act: Act::Nothing,
        message: &[ENDING, STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "the open is never answered",
        set: &["hang-open 1 F"],
        words: "--rw=randread --size=1m",
        act: Act::Nothing,
        message: &[READY, STUCK],
        status: 1,
        kept: Some((Some(110), 0)),
    },
    Case {
        fault: "no page is brought any more, another job's is never",
        set: &["read-eio-all 1 F", "hang-forever 1 G"],
        words: "--rw=randread --size=1m --exitall_on_error --name=b --filename=G --rw=randread --size=1m",
        act: Act::Nothing,
        message: &[EIO, "its storage failed", STUCK],
        status: 2,
        kept: Some((Some(5), 0)),
    },
    Case {
        fault: "the close is never answered; SIGINT",
        set: &["hang-close 1 F"],
        words: "--rw=randread --size=1m",
        act: Act::Signal("INT"),
        message: &[STUCK],
        status: 129,
        kept: Some((Some(110), 0)),
    },
];

/// A running case.
struct RunningCase<'case> {
    case: &'case Case,
    asked: String,
    /// The name of its file, and of the one that hangs.
    file: String,
    running: Running,
}

/// Begins a case: makes its files, sets its faults, starts its run.
fn begin<'case>(place: &Path, engine: &str, number: usize, case: &'case Case) -> RunningCase<'case> {
    let (first, second) = (format!("{engine}{number}"), format!("{engine}{number}b"));
    let named = |text: &str| {
        let words = text.split(' ').map(|word| match word {
            "F" => first.clone(),
            "G" => second.clone(),
            "--filename=G" => format!("--filename={second}"),
            word => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let behind = PathBuf::from(std::env::var_os("LAB_FUSE_BEHIND").expect("inside a stack"));
    for name in [&first, &second] {
        std::fs::write(behind.join(name), vec![7; 1 << 20]).expect("the folder behind is writable");
    }
    let faults: String = case.set.iter().map(|line| named(line) + "\n").collect();
    std::fs::write(std::env::var_os("LAB_FAULTS").expect("inside a stack"), faults).expect("the faults are set");
    let queued = if ["libaio", "io_uring"].contains(&engine) { " --iodepth=8" } else { "" };
    let direct = if engine == "mmap" { "" } else { " --direct=1" };
    let words =
        format!("--ioengine={engine}{queued} --bs=4k{direct} --name=a --filename={first} {}", named(case.words));
    let file = if case.set.iter().any(|line| line.ends_with('G')) { second.clone() } else { first.clone() };
    // Between two signals a busy machine may let more than the short limit pass.
    let begin = if case.act == Act::Twice { fio } else { hurried };
    RunningCase { case, file, running: begin(place, &words), asked: format!("`fio {words}`") }
}

/// Whether a request for the file hangs.
fn hangs(file: &str) -> bool {
    let text = std::fs::read_to_string(std::env::var_os("LAB_FAULTS").expect("inside a stack")).unwrap_or_default();
    text.lines().any(|line| line.strip_prefix(&format!("hung {file} ")).is_some_and(|count| count != "0"))
}

impl RunningCase<'_> {
    fn act(&mut self) {
        let signals: &[&str] = match self.case.act {
            Act::Nothing => return,
            Act::Signal(name) => &[name],
            Act::Twice => &["INT", "INT"],
        };
        let file = self.file.clone();
        self.running.wait_until("the request that hangs", |_| hangs(&file));
        for (number, signal) in signals.iter().enumerate() {
            if number > 0 {
                self.running.wait_until("what it waits for", |running| running.stderr().contains(WAITS));
                self.running.wait_for_record();
                lab::run("sleep", "0.3");
            }
            self.running.signal(signal);
        }
    }

    fn finish(self, engine: &str) -> Row {
        let RunningCase { case, asked, running, .. } = self;
        let ran = running.finish();
        let output = format!("{engine}, {}: {}{}", case.fault, ran.stdout, ran.stderr);
        assert_eq!(ran.status, case.status, "{output}");
        assert_eq!(partial_result(&ran), case.kept, "{output}");
        let message: Vec<String> = case.message.iter().map(|words| moment(&ran.message(words))).collect();
        Row {
            fault: case.fault.to_owned(),
            asked,
            status: ran.status.to_string(),
            message: if message.is_empty() { "–".to_owned() } else { message.join("\n") },
            kept: in_words(case.kept),
            left: "its files".to_owned(),
        }
    }
}

/// The error of the first job that has one, and the number of lost requests; `None`: there is no record.
fn partial_result(ran: &RunResult) -> Option<(Option<i64>, u64)> {
    let jobs = ran.record.as_ref()?["jobs"].as_array()?;
    let error = jobs.iter().find_map(|job| job["error"]["code"].as_i64());
    let lost = jobs.iter().filter_map(|job| job["lost"]["count"].as_u64()).sum();
    Some((error, lost))
}

fn in_words(kept: Option<(Option<i64>, u64)>) -> String {
    let lost = |count| if count == 1 { "1 request lost".to_owned() } else { format!("{count} requests lost") };
    match kept {
        None => "nothing".to_owned(),
        Some((None, _)) => "the record".to_owned(),
        Some((Some(code), 0)) => format!("the record, with error {code}"),
        Some((Some(code), count)) => format!("the record, with error {code} and {}", lost(count)),
    }
}

/// Replaces the parts of a message that depend on timing.
fn moment(message: &str) -> String {
    ["offset ", "offset=", "worker "]
        .iter()
        .fold(message.to_owned(), |message, mark| replace_after(&message, mark, "N", |letter| letter.is_ascii_digit()))
}

/// Runs all cases of an engine in parallel.
fn rows(engine: &str, cases: &[&Case]) -> Vec<Row> {
    let place = lab::target();
    let mut begun: Vec<RunningCase<'_>> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        begun.push(begin(&place, engine, number + 1, case));
    }
    begun.iter_mut().for_each(RunningCase::act);
    let rows = begun.into_iter().map(|begun| begun.finish(engine)).collect();
    lab::run("lab-fault", "abort");
    wait_until("the end of the processes that were left behind", || {
        let ours = |entry: std::fs::DirEntry| entry.path().join("cwd").read_link().is_ok_and(|cwd| cwd == place);
        !std::fs::read_dir("/proc").expect("/proc is there").flatten().any(ours)
    });
    rows
}

fn all<'case>(lists: &[&'case [Case]]) -> Vec<&'case Case> {
    lists.iter().flat_map(|list| list.iter()).collect()
}

#[test]
fn libaio() {
    lab::inside("ends::libaio", "fuse", || rows("libaio", &all(&[QUEUED, COMMON])));
}

#[test]
fn io_uring() {
    lab::inside("ends::io_uring", "fuse", || rows("io_uring", &all(&[QUEUED, COMMON])));
}

#[test]
fn psync() {
    lab::inside("ends::psync", "fuse", || rows("psync", &all(&[SINGLE, COMMON])));
}

#[test]
fn its_kin() {
    lab::inside("ends::its_kin", "fuse", || {
        let engines = ["sync", "vsync", "pvsync", "pvsync2"];
        let place = lab::target();
        let cases = all(&[SINGLE]);
        let mut begun = Vec::new();
        for engine in engines {
            for (number, case) in cases.iter().enumerate() {
                begun.push((engine, begin(&place, engine, number + 1, case)));
            }
        }
        begun.iter_mut().for_each(|(_, begun)| begun.act());
        begun.into_iter().map(|(engine, begun)| begun.finish(engine)).collect()
    });
}

#[test]
fn mmap() {
    lab::inside("ends::mmap", "fuse", || rows("mmap", &all(&[MAPPED])));
}

/// The virtual device cannot get stuck in the kernel: requests that it never answers are drained on its own clock.
#[test]
fn sim() {
    let place = testkit::directory();
    let never = "stall:10000d";
    let cases = [
        ("a request fails, another never ends", format!("error:EIO@5,{never}@3"), 1, (5, 1)),
        ("a request fails, three others never end", format!("error:EIO@5,{never}@2,{never}@3,{never}@4"), 1, (5, 3)),
        ("a request never ends", format!("{never}@3"), 1, (110, 1)),
        ("the device is full, a request never ends", format!("error:ENOSPC@5,{never}@3"), 1, (28, 1)),
        ("a sync fails, a request never ends", format!("error:EIO@6,{never}@3"), 1, (5, 1)),
    ];
    let rows = cases.iter().map(|(fault, faults, status, (code, lost))| {
        let sync = if fault.contains("sync") { " --fsync=5" } else { "" };
        let words = format!(
            "--ioengine=sim --sim_channels=8 --sim_service=100us --iodepth=8 --bs=4k --name=a --rw=write --size=1m{sync} \
             --sim_faults={faults}"
        );
        let ran = hurried(place.path(), &words).finish();
        assert_eq!(ran.status, *status, "{fault}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(partial_result(&ran), Some((Some(*code), *lost)), "{fault}: {}{}", ran.stdout, ran.stderr);
        Row {
            fault: (*fault).to_owned(),
            asked: format!("`fio {words}`"),
            status: ran.status.to_string(),
            message: moment(&ran.message(LOST)),
            kept: in_words(Some((Some(*code), *lost))),
            left: "nothing".to_owned(),
        }
    });
    document::compare("ends::sim", rows.collect());
}

/// If somebody truncates a mapped file, only its own job ends, with the cause.
#[test]
fn a_shortened_file() {
    let place = testkit::directory();
    let data = place.path().join("data");
    std::fs::write(&data, vec![7; 1 << 20]).expect("the place is writable");
    let words = "--ioengine=mmap --rw=randread --size=1m --bs=4k --name=a --filename=data --time_based --runtime=600 \
                 --exitall --name=b --filename=other --time_based --runtime=600";
    let mut running = hurried(place.path(), &format!("{words} --eta=always --eta-interval=250ms"));
    running.wait_until("I/O", |running| running.output().contains("[r="));
    let file = std::fs::File::options().write(true).open(&data).expect("it is there");
    file.set_len(8192).expect("it can be shortened");
    let ran = running.finish();
    let output = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.status, 1, "{output}");
    let jobs = ran.record.as_ref().expect("a record is kept")["jobs"].as_array().expect("jobs").clone();
    assert_eq!(jobs[0]["error"]["code"], 5, "{output}");
    assert!(jobs[1]["error"].is_null() && jobs[1]["directions"]["read"]["ios"].as_u64() > Some(0), "{output}");
    let message = [EIO, "another program shortened it"].map(|words| moment(&ran.message(words)));
    document::compare(
        "ends::a_shortened_file",
        vec![Row {
            fault: "somebody shortens a mapped file".to_owned(),
            asked: format!("`fio {words}`"),
            status: ran.status.to_string(),
            message: message.join("\n"),
            kept: "the record, with error 5; the other job is whole".to_owned(),
            left: "its files".to_owned(),
        }],
    );
}

/// A worker process ends with the one that was called, even if that one ends before the kernel was told so.
#[test]
fn an_orphan_exits() {
    let place = testkit::directory();
    let log = place.path().join("strace");
    // The new process is delayed before prctl(2); meanwhile the first one is killed.
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=prctl", "-e", "inject=prctl:delay_enter=3s", "-o"])
        .arg(&log)
        .arg(testkit::program())
        .args(["--name=a", "--size=64k", "--rw=write", "--time_based", "--runtime=600"])
        .current_dir(place.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let Ok(mut traced) = traced else { return testkit::skip("strace is not installed") };
    // strace has other children, too.
    let program = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|words| words.starts_with(testkit::program().as_bytes()))
    };
    let child = |pid: u32| -> Option<u32> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        text.split_whitespace().filter_map(|word| word.parse().ok()).find(program)
    };
    let mut both = None;
    wait_until("the second process", || {
        assert!(traced.try_wait().expect("strace can be waited for").is_none(), "strace cannot trace here");
        both = child(traced.id()).and_then(|first| Some((first, child(first)?)));
        both.is_some()
    });
    let (first, second) = both.expect("both are there");
    lab::run("kill", &format!("-KILL {first}"));
    wait_until("the end of the orphan", || !Path::new(&format!("/proc/{second}")).exists());
    wait_until("the end of strace", || traced.try_wait().expect("strace can be waited for").is_some());
    assert!(!place.path().join("a.0.0").exists(), "it did the work alone");
}
