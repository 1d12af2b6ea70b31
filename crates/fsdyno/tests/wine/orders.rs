//! What an order to end leaves behind. Each is given as Windows gives it: Wine alone knows only Ctrl-C.

use std::os::unix::fs::FileExt;
use std::path::Path;

use testkit::{Running, pause, wait_until};

use crate::bench::{ORDER, Wine, built, directory, escaped, windows, wine};

/// By their numbers, with the signal that stands for each.
const ORDERS: [(&str, &str, &str); 5] = [
    ("Ctrl-C", "0", "signal 2"),
    ("Ctrl-Break", "1", "signal 2"),
    ("a console that is closed", "2", "signal 1"),
    ("the end of a session", "5", "signal 15"),
    ("the end of Windows", "6", "signal 15"),
];

/// A run that is given an order.
struct Ordered {
    running: Running,
    sign: tempfile::TempDir,
}

impl Ordered {
    fn start(wine: &Wine, place: &Path, order: &str, words: &[&str]) -> Ordered {
        let sign = directory();
        let (fsdyno, go) = (windows(built("fsdyno", "fsdyno")), windows(&sign.path().join("go")));
        let mut command = wine.command(&wine.helper(ORDER), place);
        Ordered { running: Running::start(command.args([order, &go, &fsdyno]).args(words)), sign }
    }

    /// Gives it; how it ends and what it has printed.
    fn end(self) -> testkit::RunResult {
        std::fs::write(self.sign.path().join("go"), "").unwrap();
        self.running.finish()
    }
}

#[test]
fn each_order_to_end_leaves_a_report() {
    let Some(wine) = wine() else { return };
    for (name, order, signal) in ORDERS {
        let place = directory();
        // A file that is there is not laid out: what it holds changes when the job runs.
        let file = std::fs::File::create_new(place.path().join("a.0.0")).unwrap();
        file.set_len(1 << 20).unwrap();
        let file = std::fs::File::open(place.path().join("a.0.0")).unwrap();
        let ground = escaped(place.path());
        let job = ["--name=a", "--rw=write", "--overwrite=1", "--size=1m", "--time_based", "--runtime=600", &ground];
        let ordered = Ordered::start(wine, place.path(), order, &job);
        wait_until("I/O", || {
            let mut first = [0; 512];
            file.read_exact_at(&mut first, 0).unwrap();
            first.iter().any(|byte| *byte != 0)
        });
        let ran = ordered.end();
        assert!(ran.stdout.contains("WRITE: bw="), "{name}: no report: {}\n{}", ran.stdout, ran.stderr);
        assert!((ran.stdout.clone() + &ran.stderr).contains(signal), "{name}: {}\n{}", ran.stdout, ran.stderr);
        // As fio ends.
        assert_eq!(ran.status, Some(128), "{name}: {}\n{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_question_that_is_told_to_end_answers_and_cleans_up() {
    let Some(wine) = wine() else { return };
    for (name, order, _) in [ORDERS[0], ORDERS[2]] {
        let place = directory();
        let asked = windows(place.path());
        let question = ["measure", &asked, "--no-store", "--size=8m", "--only=rand-read", "--runtime=60"];
        let elsewhere = directory();
        let ordered = Ordered::start(wine, elsewhere.path(), order, &question);
        let works = |name: &String| name.starts_with("fsdyno-work");
        wait_until("work directory", || testkit::names(place.path()).iter().any(works));
        pause(3_000);
        let ran = ordered.end();
        assert!(ran.stdout.contains("rand-read"), "{name}: no report: {}\n{}", ran.stdout, ran.stderr);
        let left = testkit::names(place.path());
        assert!(!left.iter().any(works), "{name}: {left:?}");
    }
}
