//! Combinations of options that the table calls full, drawn at random, run with Debian's fio and with this binary: what
//! is accepted, how it ends, how much is moved each way, which files remain, and what the written blocks hold.
//!
//! Cases are numbered, and a number always makes the same case. `FSDYNO_DIFFERENTIAL_CASES` is how many to run (300
//! unless given), `FSDYNO_DIFFERENTIAL_FROM` the number of the first. What differs on purpose is named in `named.rs`.
#![forbid(unsafe_code)]

mod compare;
mod draw;
mod named;
mod random;
mod tool;
mod values;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use draw::Drawn;
use tool::{FIO, Tool};

/// Cases that the suite runs.
const CASES: u64 = 300;

/// At the same time: fio waits more than it works.
const AT_ONCE: usize = 4;

/// More failures than this say nothing new.
const TOLD_MAX: usize = 60;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What is wrong with a case, and how to run it again.
fn failure(number: u64, fio: &Tool) -> Option<String> {
    let drawn = Drawn::of(number, fio);
    let found = compare::check(&drawn, fio);
    (!found.is_empty()).then(|| {
        format!(
            "case {number}: {}{}\n  - {}\n  again: FSDYNO_DIFFERENTIAL_FROM={number} FSDYNO_DIFFERENTIAL_CASES=1\n",
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
    let Some(fio) = FIO.as_ref() else {
        tool::say_skipped("fio is not installed");
        return;
    };
    let (first, count) = (number("FSDYNO_DIFFERENTIAL_FROM", 1), number("FSDYNO_DIFFERENTIAL_CASES", CASES));
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + count {
                        return;
                    }
                    if let Some(failure) = failure(number, fio) {
                        failures.lock().expect("no thread died with it").push((number, failure));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no thread died with it");
    failures.sort();
    let texts: Vec<&str> = failures.iter().map(|(_, text)| text.as_str()).take(TOLD_MAX).collect();
    assert!(failures.is_empty(), "{} of {count} cases differ:\n{}", failures.len(), texts.join("\n"));
}

/// A new full option is drawn too, or says why not.
#[test]
fn every_full_option_is_drawn_or_left_out_for_a_reason() {
    let undecided: Vec<&str> =
        values::full_rows().filter(|row| values::of(row).is_none()).map(|row| row.name).collect();
    assert!(undecided.is_empty(), "no values to draw for {undecided:?}: list some in values.rs, or say why not");
}

#[test]
fn a_number_makes_the_same_case_again() {
    let Some(fio) = FIO.as_ref() else {
        tool::say_skipped("fio is not installed");
        return;
    };
    let words = || -> Vec<Vec<String>> { (1..50).map(|number| Drawn::of(number, fio).words).collect() };
    assert_eq!(words(), words());
    let different: std::collections::BTreeSet<Vec<String>> = words().into_iter().collect();
    assert!(different.len() > 45, "{} of 49", different.len());
}
