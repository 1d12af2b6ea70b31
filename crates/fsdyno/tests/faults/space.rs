//! Tests disks that are full, read-only, failing or throttled.

use crate::document::Row;
use crate::lab;
use crate::program::{RunResult, UserFiles, clean, fio, measure, replace_after, start_command};
use testkit::wait_until;

/// Replaces numbers that depend on the size of a filesystem's tables, or on the speed of the machine.
fn numbers(message: &str) -> String {
    let marks = ["offset=", "only ", "(a): ", "first ", "then ", "which is ", "loop", "(7:"];
    let message = marks.iter().fold(message.to_owned(), |message, mark| {
        replace_after(&message, mark, "N", |letter| letter.is_ascii_digit() || letter == '.')
    });
    ["kB/s", "MB/s", "GB/s"].iter().fold(message, |message, unit| message.replace(&format!("N {unit}"), "N B/s"))
}

fn row(fault: &str, asked: &str, ran: &RunResult, message: &str, left: String) -> Row {
    Row {
        fault: fault.to_owned(),
        asked: format!("`{asked}`"),
        status: ran.status.to_string(),
        message: numbers(&ran.message(message)),
        kept: ran.partial_result(),
        left,
    }
}

#[test]
fn a_full_disk() {
    lab::inside("space::a_full_disk", "ext4 --size-mb 64", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let run = "--name=a --filename=new --rw=write --bs=1m --size=200m --fallocate=none --direct=1";
        let layout = "--name=a --filename=new --rw=read --bs=1m --size=200m";
        let rows = [("the disk is full during the run", run), ("the disk is too small for the layout", layout)];
        let mut rows = rows
            .map(|(fault, words)| {
                let ran = fio(&place, words).finish();
                assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
                let left = if place.join("new").exists() { "its file" } else { "nothing" };
                let _ = std::fs::remove_file(place.join("new"));
                precious.and_else();
                row(fault, &format!("fio {words}"), &ran, "No space left", left.to_owned())
            })
            .to_vec();
        // Another program fills it while the question runs.
        let mut running = measure(&place);
        running.wait_until("the first test", |running| running.output().contains("[1/10]"));
        let ran = running.finish();
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        std::fs::write(place.join("precious/more"), vec![1; 40 << 20]).expect("there is room");
        let ran = measure(&place).finish();
        assert_eq!(ran.status, 2, "{}{}", ran.stdout, ran.stderr);
        rows.push(row("too little room", "measure --quick --size=16m", &ran, "fsdyno: ", precious.and_else()));
        rows
    });
}

#[test]
fn a_read_only_mount() {
    lab::inside("space::a_read_only_mount", "ext4 --size-mb 64", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        std::fs::write(place.join("data"), vec![7; 1 << 20]).expect("the place is writable");
        lab::run("mount", &format!("-o remount,ro {}", place.display()));
        let words = "--name=a --filename=data --rw=write --bs=4k --size=1m";
        let ran = fio(&place, words).finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        let mut rows = vec![row("mounted read-only", &format!("fio {words}"), &ran, "Read-only", "nothing".into())];
        let ran = measure(&place).finish();
        assert_eq!(ran.status, 2, "{}{}", ran.stdout, ran.stderr);
        precious.and_else();
        rows.push(row("mounted read-only", "measure --quick", &ran, "read-only", "nothing".into()));
        rows
    });
}

#[test]
fn a_failing_disk() {
    lab::inside("space::a_failing_disk", "dm", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let mut running = measure(&place);
        running.wait_until("the first test", |running| running.output().contains("[1/10]"));
        lab::run("lab-disk", "fail-all");
        let ran = running.finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        lab::run("lab-disk", "plain");
        // The kernel has shut the filesystem down: it returns in the state in which the disk failed.
        lab::run("umount", &place.display().to_string());
        lab::run("mount", &format!("/dev/mapper/lab {}", place.display()));
        wait_until("the rest to be removed", || clean(&place).stdout.contains("no fsdyno files are left"));
        let left = format!("its directory; after a remount `clean`: {}", precious.and_else());
        let mut row = row("every request fails from now on", "measure --quick", &ran, "Input/output error", left);
        // Whichever test was running.
        row.message = row.message.replace("error: read", "error: write");
        row.message = replace_after(&row.message, "buflen=", "N", |letter| letter.is_ascii_digit());
        vec![row]
    });
}

#[test]
fn a_full_store() {
    lab::inside("space::a_full_store", "tmpfs --size-mb 4", || {
        let store = lab::target();
        std::fs::write(store.join("full"), vec![1; 5 << 20]).expect_err("it is full now");
        let place = testkit::directory();
        let precious = UserFiles::put(place.path());
        let words = |words: &str| -> Vec<String> { words.split_whitespace().map(str::to_owned).collect() };
        let runs = [
            (
                "the disk with the records is full",
                format!("measure . --quick --size=16m --store {}", store.display()),
                "measure --quick --store FULL",
                "fsdyno: cannot save",
                2,
            ),
            (
                "the disk with the record is full",
                format!("--name=a --size=64k --rw=write --filename=new --record={}/record", store.display()),
                "fio --name=a --size=64k --rw=write --record=FULL/record",
                "cannot save",
                1,
            ),
        ];
        let rows = runs.map(|(fault, command_words, asked, message, status)| {
            let mut command = std::process::Command::new(testkit::program());
            command.args(words(&command_words));
            let folder = testkit::directory();
            let ran = start_command(place.path(), folder, command).finish();
            assert_eq!(ran.status, status, "{}{}", ran.stdout, ran.stderr);
            let answered = ran.stdout.contains("IOPS") || ran.stdout.contains("Run status group 0");
            assert!(answered, "the answer is printed: {}", ran.stdout);
            let names: Vec<_> = std::fs::read_dir(&store).expect("it is readable").flatten().collect();
            assert_eq!(names.len(), 1, "no draft is left in the store: {names:?}");
            let _ = std::fs::remove_file(place.path().join("new"));
            let message = ran.message(message).replace(&store.display().to_string(), "FULL");
            let message =
                replace_after(&message, "FULL/2", "N", |letter| letter.is_ascii_alphanumeric() || letter == '-');
            Row {
                fault: fault.to_owned(),
                asked: format!("`{asked}`"),
                status: ran.status.to_string(),
                message,
                kept: "nothing; the answer is printed".to_owned(),
                left: precious.and_else(),
            }
        });
        rows.to_vec()
    });
}

/// The disk is in memory, and several requests wait: only the limit decides its speed, whatever the machine's disks and
/// other programs do.
#[test]
fn a_throttle_set_during_the_run() {
    lab::inside("space::a_throttle_set_during_the_run", "throttle --size-mb 256 --in-memory", || {
        let place = lab::target();
        let words = "--name=a --filename=data --rw=randread --bs=4k --size=64m --direct=1 --ioengine=libaio --iodepth=8 \
                     --time_based --runtime=15";
        let mut running = fio(&place, &format!("{words} --eta=always --eta-interval=250ms"));
        running.wait_until("I/O", |running| running.output().contains("[r="));
        lab::run("sleep", "2");
        lab::run("lab-throttle", "read-iops=50");
        let ran = running.finish();
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        vec![row(
            "50 IOPS allowed from some second on",
            &format!("fio {words}"),
            &ran,
            "[throttled]",
            "its file".into(),
        )]
    });
}
