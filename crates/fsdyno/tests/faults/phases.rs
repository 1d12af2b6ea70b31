//! Tests signals in each phase of a run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::document::{self, Row};
use crate::lab;
use crate::program::{RunResult, Running, UserFiles, ask, clean, fio, has_running_row, start_command};
use testkit::wait_until;

const SIGNALS: [&str; 4] = ["INT", "TERM", "HUP", "KILL"];

/// A phase of the fio face, and the words of a job that reaches it.
struct Phase {
    name: &'static str,
    words: &'static str,
    /// The words for lab-fault before it starts.
    set: &'static str,
}

const PHASES: [Phase; 4] = [
    Phase { name: "layout", words: "--name=a --filename=new --rw=read --bs=4k --size=256m", set: "delay-us 20000" },
    Phase {
        name: "ramp",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m --time_based --ramp_time=600 --runtime=600 \
                --record-interval=1",
        set: SOME_REQUESTS,
    },
    Phase {
        name: "run",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m --time_based --runtime=600 --record-interval=1",
        set: SOME_REQUESTS,
    },
    Phase {
        name: "drain",
        words: "--name=a --filename=data --rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=4 --time_based \
                --runtime=2 --record-interval=1",
        // Nothing is answered: the run's time passes, and it cannot end before the signal.
        set: "delay-us 0 hold 1",
    },
];

/// The words for lab-fault that let a run have requests until it is ended, and leave the processors to other tests.
const SOME_REQUESTS: &str = "delay-us 5000";

/// The words for lab-fault that answer all requests at once.
const ANSWERED: &str = "delay-us 0 hold 0";

#[test]
fn fio_face() {
    lab::inside("phases::fio_face", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        std::fs::write(place.join("data"), vec![7; 1 << 20]).expect("the place is writable");
        lab::run("lab-fault", "direct-io 1");
        let mut rows = Vec::new();
        for phase in &PHASES {
            for signal in SIGNALS {
                rows.push(in_phase(phase, signal, &place, &precious));
            }
        }
        rows
    });
}

fn in_phase(phase: &Phase, signal: &str, place: &Path, precious: &UserFiles) -> Row {
    lab::run("lab-fault", phase.set);
    // With `--record=FILE`.
    let mut running = fio(place, phase.words);
    meet(phase.name, &mut running, place);
    running.signal(signal);
    let message = if signal == "KILL" { "ended by signal" } else { "terminating on signal" };
    let ran = if signal == "KILL" {
        running.finish()
    } else {
        running.wait_until("the word of the signal", |running| running.output().contains(message));
        lab::run("lab-fault", ANSWERED);
        running.finish()
    };
    lab::run("lab-fault", ANSWERED);
    let left = match precious.and_else().as_str() {
        "`data`" => "nothing".to_owned(),
        "`data`, `new`" => "the half-made file".to_owned(),
        other => panic!("who made {other}?"),
    };
    let _ = std::fs::remove_file(place.join("new"));
    // If the called process is killed, nobody can report the signal.
    let message =
        if signal == "KILL" && !ran.stderr.contains(message) { "–".to_owned() } else { ran.message(message) };
    Row {
        fault: format!("SIG{signal} in the {}", phase.name),
        asked: format!("`fio {} --record=FILE`", phase.words),
        status: ran.status.to_string(),
        message,
        kept: partial_result(&ran),
        left,
    }
}

/// The content of the record, and whether the report was printed.
fn partial_result(ran: &RunResult) -> String {
    let report = if ran.stdout.contains("Run status group 0") { ", the report" } else { "" };
    let marked = match ran.record.as_ref().map(|record| record["complete"] == true) {
        Some(false) => ", marked incomplete",
        _ => "",
    };
    format!("{}{marked}{report}", ran.partial_result())
}

fn meet(phase: &str, running: &mut Running, place: &Path) {
    match phase {
        "layout" => {
            running.wait_until("the layout", |_| place.join("new").metadata().is_ok_and(|file| file.len() > 0));
        }
        "drain" => {
            // It began before its first record: a second later its two seconds are over.
            running.wait_for_record();
            lab::run("sleep", "1.5");
        }
        _ => {
            running.wait_for_record();
        }
    }
}

#[test]
fn report() {
    let mut rows = Vec::new();
    for signal in SIGNALS {
        let place = testkit::directory();
        let precious = UserFiles::put(place.path());
        let store = testkit::directory();
        let record = store.path().join("record");
        // More than a pipe holds: it waits for its reader, with the record saved.
        let words = "--name=a --size=64k --rw=write --numjobs=40 --output-format=json+";
        let mut command = Command::new(testkit::program());
        command.args(words.split(' ')).arg(format!("--record={}", record.display())).current_dir(place.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
        wait_until("the record", || record.exists());
        lab::run("sleep", "0.2");
        lab::run("kill", &format!("-{signal} {}", child.id()));
        lab::run("sleep", "0.2");
        let mut text = String::new();
        let mut stdout = child.stdout.take().expect("a pipe");
        std::io::Read::read_to_string(&mut stdout, &mut text).expect("the report is text");
        let status = child.wait().expect("it ends");
        let whole = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let record: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&record).expect("it was saved")).expect("it is whole");
        assert_eq!(record["jobs"].as_array().map(Vec::len), Some(40));
        precious.and_else();
        rows.push(Row {
            fault: format!("SIG{signal} in the report"),
            asked: format!("`fio {words} --record=FILE`"),
            status: status.code().map_or_else(|| format!("killed ({signal})"), |code| code.to_string()),
            message: "–".to_owned(),
            kept: format!("the record{}", if whole { ", the report" } else { "" }),
            left: "its files".to_owned(),
        });
    }
    document::compare("phases::report", rows);
}

/// The time at which a question gets the signal.
#[derive(Clone, Copy)]
enum Moment {
    Data,
    Step(&'static str),
    Saved,
}

const MOMENTS: [(&str, Moment, &str); 3] = [
    ("first test", Moment::Data, "measure . --quick --size=16m"),
    ("third test", Moment::Step("[2/10]"), "measure . --quick --size=16m"),
    ("second test, 10 s after its start", Moment::Saved, "curve . --size 16m --iodepth 4 --runtime 600"),
];

#[test]
fn guided_face() {
    let mut rows = Vec::new();
    for (phase, moment, words) in MOMENTS {
        // The others save at the end; only for SIGKILL the time of the last save matters.
        let signals = if matches!(moment, Moment::Saved) { &SIGNALS[3..] } else { &SIGNALS[..] };
        for signal in signals {
            let place = testkit::directory();
            let precious = UserFiles::put(place.path());
            let mut running = ask(place.path(), words);
            match moment {
                Moment::Data => running.wait_until("data", |_| data(place.path()).is_some()),
                Moment::Step(step) => running.wait_until(step, |running| running.output().contains(step)),
                Moment::Saved => running.wait_for_running_row(),
            }
            running.signal(signal);
            let ran = running.finish();
            let mut left = precious.and_else();
            if left != "nothing" {
                // The working process takes a moment to end.
                wait_until("the rest to be removed", || {
                    clean(place.path()).stdout.contains("no fsdyno files are left")
                });
                left = format!("its directory; then `clean`: {}", precious.and_else());
            }
            let complete = ran.record.as_ref().map(|study| study["complete"] == true);
            rows.push(Row {
                fault: format!("SIG{signal} in the {phase}"),
                asked: format!("`{words}`"),
                status: ran.status.to_string(),
                message: if *signal == "KILL" { "–".to_owned() } else { ran.message("Stopped early") },
                kept: match (complete, ran.record.as_ref().is_some_and(has_running_row)) {
                    (None, _) => "nothing".to_owned(),
                    (Some(true), _) => "the study, marked complete".to_owned(),
                    (Some(false), true) => "the study with what the test had found, marked incomplete".to_owned(),
                    (Some(false), false) => "the study, marked incomplete".to_owned(),
                },
                left,
            });
        }
    }
    document::compare("phases::guided_face", rows);
}

/// The file that `measure` uses, once it exists.
fn data(place: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(place).ok()?;
    let work =
        entries.flatten().map(|entry| entry.path()).find(|path| path.is_dir() && path.join(".fsdyno-work").exists());
    work.map(|work| work.join("measure.dat")).filter(|file| file.metadata().is_ok_and(|file| file.len() > 0))
}

#[test]
fn the_process_that_was_called_is_the_only_one_to_kill() {
    let place = testkit::directory();
    let mut command = Command::new(testkit::program());
    command.args(["--name=a", "--size=64k", "--rw=write", "--time_based", "--runtime=600"]);
    let mut running = start_command(place.path(), testkit::directory(), command);
    running.wait_until("data", |_| place.path().join("a.0.0").metadata().is_ok_and(|file| file.len() > 0));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.id())).unwrap_or_default();
    let child: u32 = children.trim().parse().expect("one process does the work");
    running.signal("KILL");
    assert_eq!(running.finish().status, 137);
    wait_until("the end of the other process", || !Path::new(&format!("/proc/{child}")).exists());
}
