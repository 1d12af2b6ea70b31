//! Tests storage that never answers again. Some seconds replace the half minute of the time limits, except in first
//! accesses: identifying a storage itself waits for five seconds.

use std::path::Path;
use std::process::Command;

use crate::document::Row;
use crate::lab;
use crate::program::{
    MEASURE, RunResult, Running, UserFiles, ask, ask_hurried, clean, fio, hurried, measure, replace_after,
};
use testkit::wait_until;

/// Number of requests of this kind that the filesystem has seen.
fn requests(kind: &str) -> u64 {
    let output = Command::new("lab-fault").arg("counts").output().expect("the program is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(kind)).unwrap_or_else(|| panic!("no {kind} in {text}"));
    line.trim().parse().expect("a number")
}

/// Waits until the fault that was just set has stopped a request of this run, the only one at work.
fn hung_at(running: &mut Running, kind: &str, before: u64) {
    running.wait_until("the request that hangs", |_| requests(kind) > before);
}

/// Replaces the parts that depend on timing: the path, and the test at which a question was.
fn moment(message: &str) -> String {
    let message = ["offset ", "after ", "process ", "of test"]
        .iter()
        .fold(message.to_owned(), |message, mark| replace_after(&message, mark, "N", |letter| letter.is_ascii_digit()));
    // The name of the test comes first.
    let in_a_test = message.contains("measure.dat").then(|| message.split_once(':')).flatten();
    let message = in_a_test.map_or(message.clone(), |(_, rest)| format!("TEST:{rest}"));
    replace_after(&message, "measure.dat at offset N, ", "N", |letter| letter.is_ascii_digit())
        .replace("the oldest: write", "the oldest: read")
}

fn row(fault: &str, asked: &str, ran: &RunResult, message: &str, left: String) -> Row {
    Row {
        fault: fault.to_owned(),
        asked: format!("`{asked}`"),
        status: ran.status.to_string(),
        message: moment(&ran.message(message)),
        kept: ran.partial_result(),
        left,
    }
}

#[test]
fn fio_face() {
    lab::inside("hangs::fio_face", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        for name in ["psync", "io_uring", "libaio"] {
            std::fs::write(place.join(name), vec![7; 1 << 20]).expect("the place is writable");
        }
        lab::run("lab-fault", "direct-io 1");
        let mut begun = Vec::new();
        for engine in ["psync", "io_uring", "libaio"] {
            let words = format!(
                "--name=a --filename={engine} --rw=read --bs=4k --size=1m --ioengine={engine} --time_based --runtime=3 \
                 --direct=1"
            );
            let before = requests("reads");
            let mut running = hurried(&place, &words);
            // Some hundred I/Os first: they must not be lost with the one that hangs.
            running.wait_until("I/O", |_| requests("reads") > before + 200);
            lab::run("sleep", "1");
            lab::run("lab-fault", "hang-forever 1");
            begun.push((format!("fio {words}"), running));
            // Waits until nothing reads: the next fault must not stop this job's requests.
            let mut last = requests("reads");
            wait_until("silence", || {
                lab::run("sleep", "0.2");
                std::mem::replace(&mut last, requests("reads")) == last
            });
        }
        let layout = "--name=a --filename=new --rw=read --bs=4k --size=64m --direct=1";
        let before = requests("writes");
        lab::run("lab-fault", "hang-forever 1");
        let mut running = hurried(&place, layout);
        hung_at(&mut running, "writes", before);
        running.signal("INT");
        let message = ["is stuck", "never completed", "never completed", "is stuck"];
        let faults = ["a read is never answered", "a read is never answered", "a read is never answered"];
        let faults = faults.into_iter().chain(["a write of the layout is never answered; SIGINT"]);
        begun.push((format!("fio {layout}"), running));
        let rows: Vec<Row> = begun
            .into_iter()
            .zip(message)
            .zip(faults)
            .map(|(((asked, running), message), fault)| {
                let ran = running.finish();
                assert!(ran.status != 0, "{}{}", ran.stdout, ran.stderr);
                let left = if fault.contains("layout") { "the half-made file" } else { "its file" };
                row(fault, &asked, &ran, message, left.to_owned())
            })
            .collect();
        precious.and_else();
        rows
    });
}

#[test]
fn guided_face() {
    lab::inside("hangs::guided_face", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        lab::run("lab-fault", "direct-io 1");
        let before = requests("reads");
        let mut running = ask_hurried(&place, MEASURE);
        running.wait_until("reads", |_| requests("reads") > before + 200);
        lab::run("sleep", "1");
        lab::run("lab-fault", "hang-forever 1");
        let ran = running.finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        let left = precious.and_else();
        lab::run("lab-fault", "abort");
        vec![row("a read is never answered", "measure --quick", &ran, "never completed", left)]
    });
}

/// Waits until no process works in the place: a process that was left behind ends when the storage answers.
fn all_ended(place: &Path) {
    wait_until("end of the processes that were left behind", || {
        let processes = std::fs::read_dir("/proc").expect("/proc is there");
        // The link of an ended process does not exist.
        !processes.flatten().any(|entry| entry.path().join("cwd").read_link().is_ok_and(|cwd| cwd.starts_with(place)))
    });
}

#[test]
fn first_look() {
    lab::inside("hangs::first_look", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        std::fs::write(place.join("data"), vec![7; 1 << 20]).expect("the place is writable");
        let words = "--name=a --filename=data --rw=read --bs=4k --size=1m";
        let asked = [format!("fio {words}"), "measure --quick".to_owned()];
        let mut rows = Vec::new();
        for (fault, signal) in [("no look is answered; SIGINT", true), ("no look is answered", false)] {
            // Attributes in the kernel's cache would be an answer.
            lab::run("sleep", "1.5");
            lab::run("lab-fault", "hang-look 1");
            // In this order: the second one accesses the storage several times.
            let begun = [begin_look(|place| fio(place, words), &place), begin_look(measure, &place)];
            if signal {
                begun.iter().for_each(|running| running.signal("INT"));
            }
            let ran = begun.map(Running::finish);
            lab::run("lab-fault", "hang-look 0");
            all_ended(&place);
            let left = if precious.and_else() == "`data`" { "nothing".to_owned() } else { precious.and_else() };
            rows.extend(asked.iter().zip(&ran).map(|(asked, ran)| row(fault, asked, ran, "not answer", left.clone())));
        }
        rows
    });
}

/// Starts it, and waits for its first access.
fn begin_look(begin: impl Fn(&Path) -> Running, place: &Path) -> Running {
    let before = requests("looks");
    let mut running = begin(place);
    hung_at(&mut running, "looks", before);
    running
}

#[test]
fn syncs_and_small_files() {
    lab::inside("hangs::syncs_and_small_files", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let mut begun = Vec::new();
        for (fault, set, words) in [
            ("the 3rd fsync is never answered; SIGINT", "hang-fsync 3", "--filename=synced --fsync=8"),
            ("the fsync at the end is never answered; SIGINT", "hang-fsync 1", "--filename=end --end_fsync=1"),
        ] {
            lab::run("lab-fault", set);
            let words = format!("--name=a --rw=write --bs=4k --size=1m --fallocate=none {words}");
            let due = requests("fsyncs") + if set.ends_with('3') { 2 } else { 0 };
            let mut running = hurried(&place, &words);
            hung_at(&mut running, "fsyncs", due);
            running.signal("INT");
            begun.push((fault, format!("fio {words}"), running));
        }
        // Slow enough that the fault is set while it runs.
        lab::run("lab-fault", "delay-us 5000");
        let before = requests("writes");
        let mut running = ask_hurried(&place, "smallfiles .");
        running.wait_until("some files", |_| requests("writes") > before + 50);
        lab::run("lab-fault", "hang-forever 1 delay-us 0");
        let mut last = requests("writes");
        wait_until("the request that hangs", || {
            lab::run("sleep", "0.2");
            std::mem::replace(&mut last, requests("writes")) == last
        });
        running.signal("INT");
        begun.push(("a write is never answered; SIGINT", "smallfiles".to_owned(), running));
        let ran: Vec<_> = begun.into_iter().map(|(fault, asked, running)| (fault, asked, running.finish())).collect();
        let left = precious.and_else();
        lab::run("lab-fault", "abort");
        all_ended(&place);
        ran.iter()
            .map(|(fault, asked, ran)| {
                let own = if asked.starts_with("fio") { "its file" } else { "its directory" };
                assert!(left.contains("`synced`") && left.contains("fsdyno-work-N"), "{left}");
                row(fault, asked, ran, "is stuck", own.to_owned())
            })
            .collect()
    });
}

#[test]
fn a_disk_that_never_answers() {
    lab::inside("hangs::a_disk_that_never_answers", "dm", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let words = "--name=a --filename=data --rw=randread --bs=4k --size=16m --direct=1 --time_based --runtime=10";
        let mut running = hurried(&place, &format!("{words} --eta=always --eta-interval=250ms"));
        running.wait_until("I/O", |running| running.output().contains("[r="));
        lab::run("lab-disk", "hang 3600");
        let ran = running.finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        lab::run("dmsetup", "resume lab");
        let mut rows =
            vec![row("the disk stops answering", &format!("fio {words}"), &ran, "is stuck", "its file".into())];
        std::fs::remove_file(place.join("data")).expect("the disk answers again");

        let mut running = ask(&place, "measure . --quick --size=16m --runtime=10");
        running.wait_until("the second test", |running| running.output().contains("[1/10]"));
        // Some I/Os first: they must not be lost with the one that hangs. The ramp of a test of 10 s takes 1 s at most.
        lab::run("sleep", "4");
        lab::run("lab-disk", "hang 3600");
        let ran = running.finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        lab::run("dmsetup", "resume lab");
        wait_until("the end of the process that was stuck", || {
            clean(&place).stdout.contains("no fsdyno files are left")
        });
        let left = format!("its directory; then `clean`: {}", precious.and_else());
        rows.push(row("the disk stops answering", "measure --quick", &ran, "never completed", left));
        rows
    });
}

/// A frozen filesystem, which blocks all writes until this is dropped.
struct Frozen<'a>(&'a Path);

impl Frozen<'_> {
    fn begin(place: &Path) -> Frozen<'_> {
        lab::run("fsfreeze", &format!("-f {}", place.display()));
        Frozen(place)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        // It may not have been frozen.
        let _ = Command::new("fsfreeze").arg("-u").arg(self.0).status();
    }
}

/// After Ctrl-C, a message says what is waited for.
#[test]
fn frozen() {
    lab::inside("hangs::frozen", "dm", || {
        if !testkit::has("fsfreeze") {
            testkit::skip("fsfreeze is not installed");
            return Vec::new();
        }
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let words = "--name=a --filename=data --rw=randwrite --bs=4k --size=1m --time_based --runtime=600";
        let mut running = fio(&place, words);
        running.wait_until("data", |_| place.join("data").metadata().is_ok_and(|data| data.len() == 1 << 20));
        lab::run("sleep", "1");
        let frozen = Frozen::begin(&place);
        lab::run("sleep", "0.5");
        running.signal("INT");
        running.wait_until("what it waits for", |running| running.stderr().contains("was told to end"));
        running.wait_for("WRITE: bw=");
        assert!(!running.is_over(), "the partial report comes at once");
        drop(frozen);
        let ran = running.finish();
        assert_eq!(ran.status, 128, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout.matches("WRITE: bw=").count(), 2, "{}", ran.stdout);
        let fault = "the filesystem is frozen; SIGINT; it is thawed a second later";
        let fio = row(fault, &format!("fio {words}"), &ran, "was told to end", "its file".to_owned());

        let mut running = ask(&place, "smallfiles . --files=4000");
        running.wait_until("files", |_| work_directory_has(&place, 100));
        let frozen = Frozen::begin(&place);
        lab::run("sleep", "0.5");
        running.signal("INT");
        running.wait_until("what it waits for", |running| running.stderr().contains("was told to end"));
        drop(frozen);
        let ran = running.finish();
        assert_eq!(ran.status, 130, "{}{}", ran.stdout, ran.stderr);
        std::fs::remove_file(place.join("data")).expect("it can be removed");
        let left = precious.and_else();
        vec![fio, row(fault, "smallfiles", &ran, "was told to end", left)]
    });
}

/// Whether a question has made this number of files in its directory.
fn work_directory_has(place: &Path, files: usize) -> bool {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("fsdyno-work-"));
    let inside = ours.filter_map(|entry| std::fs::read_dir(entry.path().join("files")).ok());
    inside.flatten().count() >= files
}
