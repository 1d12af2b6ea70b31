//! Runs random combinations of options that the table calls full, with Debian's fio and with this binary, and compares:
//! what is accepted, how it ends, how much is moved in each direction, which files remain, and the content of written
//! blocks.
//!
//! A case is determined by its number. `FSDYNO_DIFFERENTIAL_CASES` is the number of cases (default 30; 300 each
//! night), `FSDYNO_DIFFERENTIAL_SIZES` that of cases on sizes (15; 120 each night), `FSDYNO_DIFFERENTIAL_FROM` the
//! first number. Intended differences are listed in `named.rs`.
#![forbid(unsafe_code)]

mod compare;
mod draw;
mod named;
mod random;
mod recorded;
mod tool;
mod uneven;
mod values;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use draw::Drawn;
use tool::FIO;

/// Number of cases: of all options, and on sizes.
const CASES: u64 = 30;
const SIZES: u64 = 15;

/// Cases at a time: fio mostly waits.
const AT_ONCE: usize = 4;

/// The message for a poisoned lock.
const ALIVE: &str = "no thread died with it";

/// Most failures that are shown.
const FAILURES_SHOWN_MAX: usize = 60;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// At most one case in this number may lack a result of fio, because fio crashed or hung.
const COMPARED_SHARE: u64 = 30;

/// What is wrong with a case, and how to run it again.
fn failure(variable: &str, number: u64, drawn: &Drawn, found: &[String]) -> Option<String> {
    (!found.is_empty()).then(|| {
        format!(
            "case {number}: {}{}\n  - {}\n  again: FSDYNO_DIFFERENTIAL_FROM={number} FSDYNO_DIFFERENTIAL_{variable}=1\n",
            drawn.words.join(" "),
            drawn
                .files
                .iter()
                .map(|(name, bytes)| format!(" ({name} has {} bytes before)", bytes.len()))
                .collect::<String>(),
            found.join("\n  - ")
        )
    })
}

#[test]
fn drawn_combinations_agree_with_fio() {
    agree_with_fio("CASES", CASES, Drawn::of);
}

#[test]
fn drawn_sizes_agree_with_fio() {
    agree_with_fio("SIZES", SIZES, Drawn::uneven);
}

/// Runs the number of cases in the variable of this name, or `default`.
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn agree_with_fio(variable: &str, default: u64, draw: fn(u64, &tool::Tool) -> Drawn) {
    let Some(fio) = FIO.as_ref() else {
        tool::print("skipped: fio is not installed");
        return;
    };
    let (first, count) =
        (number("FSDYNO_DIFFERENTIAL_FROM", 1), number(&format!("FSDYNO_DIFFERENTIAL_{variable}"), default));
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    let not_compared = Mutex::new(Vec::new());
    let counted = AtomicU64::new(0);
    // Beyond this number the rest is not run: each case may wait for a hanging fio.
    let not_compared_max = 1 + count / COMPARED_SHARE;
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let given_up = not_compared.lock().expect(ALIVE).len() as u64 > not_compared_max;
                    if number >= first + count || given_up {
                        return;
                    }
                    let drawn = draw(number, fio);
                    let outcome = compare::check(&drawn, fio);
                    counted.fetch_add(outcome.counted.into(), Ordering::Relaxed);
                    if !outcome.compared {
                        not_compared.lock().expect(ALIVE).push(number);
                    }
                    if let Some(failure) = failure(variable, number, &drawn, &outcome.found) {
                        failures.lock().expect(ALIVE).push((number, failure));
                    }
                }
            });
        }
    });
    let not_compared = not_compared.into_inner().expect(ALIVE);
    tool::print(&format!("requests and bytes compared: {} of {count}", counted.load(Ordering::Relaxed)));
    tool::print(&format!(
        "not compared: {} of {count}, where fio crashed or hung: {not_compared:?}",
        not_compared.len()
    ));
    let mut failures = failures.into_inner().expect(ALIVE);
    failures.sort();
    let texts: Vec<&str> = failures.iter().map(|(_, text)| text.as_str()).take(FAILURES_SHOWN_MAX).collect();
    assert!(failures.is_empty(), "{} of {count} cases differ:\n{}", failures.len(), texts.join("\n"));
    assert!(not_compared.len() as u64 <= not_compared_max, "too many: the test compares too little");
}

/// A new full option must be drawn, or have a reason why not.
#[test]
fn every_full_option_is_drawn_or_left_out_for_a_reason() {
    let undecided: Vec<&str> =
        values::full_rows().filter(|row| values::of(row).is_none()).map(|row| row.name).collect();
    assert!(undecided.is_empty(), "no values to draw for {undecided:?}: list some in values.rs, or say why not");
}

#[test]
fn a_number_makes_the_same_case_again() {
    let Some(fio) = FIO.as_ref() else {
        tool::print("skipped: fio is not installed");
        return;
    };
    let words = || -> Vec<Vec<String>> { (1..50).map(|number| Drawn::of(number, fio).words).collect() };
    assert_eq!(words(), words());
    let different: std::collections::BTreeSet<Vec<String>> = words().into_iter().collect();
    assert!(different.len() > 45, "{} of 49", different.len());
}

#[test]
fn a_fio_that_dies_is_nothing_to_agree_with() {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let drawn =
        Drawn { words: ["--name=a", "--ioengine=null", "--size=4k"].map(str::to_owned).to_vec(), files: vec![] };
    // fio does the latter if a job has not begun in time: that must not end these tests.
    for kills in ["kill -KILL $$", "kill -TERM 0"] {
        let dying = tool::Tool::of_script(&directory.path().join("dying"), kills);
        let outcome = compare::check(&drawn, &dying);
        assert!(!outcome.compared, "{kills}");
        assert!(outcome.found.is_empty(), "{kills}: {:?}", outcome.found);
    }
}

/// A worker of fio has its own session, like this process.
#[test]
fn a_run_that_hangs_is_ended_with_its_workers() {
    let directory = testkit::directory();
    let hangs = "setsid sh -c 'echo $$ > worker; exec sleep 600' & until [ -s worker ]; do :; done; wait";
    let mut command = std::process::Command::new("sh");
    let limit = std::time::Duration::from_secs(1);
    let ran = testkit::run_within(limit, command.args(["-c", hangs]), directory.path());
    assert!(ran.is_none(), "{ran:?}");
    let worker = std::fs::read_to_string(directory.path().join("worker")).expect("the worker has begun");
    let command = format!("/proc/{}/cmdline", worker.trim());
    testkit::wait_until("end of the worker", || std::fs::read(&command).unwrap_or_default().is_empty());
}
