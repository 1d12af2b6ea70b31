//! What to do next, after an answer.

use results::statistics::WINNER_ROUNDS;
use results::{JobError, NOT_SAVED, Question, Study, Verdict, test_name};

use super::found::Found;
use super::test::TestFigures;
use crate::command;
use crate::shell::as_typed;

/// No space, or none left of a quota.
const FULL: [i32; 2] = [28, 122];

/// open(2) has no other use for EINVAL: it refuses O_DIRECT.
const NO_DIRECT: (i32, &str) = (22, "open");

/// Options with which a check is not the vendor's test, each with whether it has a value.
const SHORTER: [(&str, bool); 3] = [("--quick", false), ("--scale-runtime", true), ("--size-cap", true)];

/// An interval of a mean is half as wide after four times as many runs.
const MORE_TIMES: f64 = 4.0;

pub(super) fn of(study: &Study, tests: &[TestFigures], findings: &[Found]) -> Vec<String> {
    if let [only] = tests
        && only.name == test_name::FILL
    {
        return vec![unfilled(study)];
    }
    let mut next = match study.question {
        Question::Check if nothing_applies(study) => elsewhere(study),
        _ => gravest(findings).into_iter().chain(asked_next(study, tests)).collect(),
    };
    if study.question != Question::Fio && is_saved(study) {
        next.push(format!("fsdyno report {} -o sheet.html: charts and all details", study.id));
    }
    next
}

/// Whether another command finds the study.
fn is_saved(study: &Study) -> bool {
    !study.command.iter().any(|word| word == "--no-store") && !study.notes.iter().any(|note| note.id == NOT_SAVED)
}

/// The gravest finding decides what is worth doing first.
fn gravest(findings: &[Found]) -> Option<String> {
    let found = findings.iter().find(|found| found.is_against())?;
    let explained = format!("fsdyno explain {}", found.id);
    Some(match found.next.strip_suffix(')') {
        _ if found.next.is_empty() || found.next == explained => explained,
        Some(options) => format!("{options}; {explained})"),
        None => format!("{} ({explained})", found.next),
    })
}

/// What the figures raise as the next question.
fn asked_next(study: &Study, tests: &[TestFigures]) -> Vec<String> {
    let mut next = Vec::new();
    match study.question {
        // Figures that do not count need not be repeated, nor judged.
        Question::Measure if tests.iter().any(TestFigures::counts) && !mostly_void(tests) => {
            if study.rows.iter().all(|row| row.round == 0) {
                next.push(format!("{}: how far the figures vary", command::with(study, "--runs", 5)));
            }
            let durable = study.targets.first().filter(|target| target.storage.in_memory().is_none());
            next.extend(
                durable.map(|target| {
                    format!("{}: good enough for etcd?", typed(&["fsdyno", "check", "etcd", &target.path]))
                }),
            );
        }
        Question::Compare if study.rows.iter().all(|row| row.round + 1 < WINNER_ROUNDS.0) => {
            let enough = command::with(study, "--rounds", WINNER_ROUNDS.0);
            next.push(format!("{enough}: enough rounds to tell who is faster"));
        }
        Question::Scale => {
            let measured = |path: &str| typed(&["fsdyno", "measure", path]);
            next.extend(
                study.targets.first().map(|target| format!("{}: all figures of one node", measured(&target.path))),
            );
        }
        Question::Check => {
            let whole = command::without(study, &SHORTER);
            let repeated = || raised_cap(study).map(|again| format!("{again}: more runs may decide what is open"));
            let whole = whole.map(|whole| format!("{whole}: the tests as they were published"));
            next.extend(whole.or_else(repeated));
        }
        _ => {}
    }
    next
}

/// The same check with a cap that leaves room for [`MORE_TIMES`] as many runs; `None`: runs decide nothing here.
fn raised_cap(study: &Study) -> Option<String> {
    let cap_s = study.verdicts.iter().filter_map(|row| row.cap_s).reduce(f64::max)?;
    Some(command::with(study, "--cap-seconds", (cap_s * MORE_TIMES).ceil() as u32))
}

/// Not even half of the figures count.
pub(super) fn mostly_void(tests: &[TestFigures]) -> bool {
    tests.iter().filter(|test| !test.counts()).count() * 2 >= tests.len()
}

fn nothing_applies(study: &Study) -> bool {
    !study.verdicts.is_empty() && study.verdicts.iter().all(|row| row.verdict == Verdict::NotApplicable)
}

/// None of the requirements can be judged on this storage.
fn elsewhere(study: &Study) -> Vec<String> {
    let mut profiles: Vec<&str> = Vec::new();
    for row in &study.verdicts {
        if !profiles.contains(&row.requirement.profile.as_str()) {
            profiles.push(&row.requirement.profile);
        }
    }
    let words: Vec<&str> = ["fsdyno", "check"].into_iter().chain(profiles).chain(["DIRECTORY"]).collect();
    vec![format!("{}: a directory on the storage that will hold the data", typed(&words))]
}

fn typed(words: &[&str]) -> String {
    as_typed(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

/// What to do about a file that could not be written.
fn unfilled(study: &Study) -> String {
    let path = study.targets.first().map_or("", |target| target.path.as_str());
    let inspect = typed(&["fsdyno", "inspect", path]);
    let errors = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs);
    let errors: Vec<&JobError> = errors.filter_map(|job| job.error.as_ref()).collect();
    if study.question == Question::Measure && errors.iter().any(|error| (error.code, &*error.function) == NO_DIRECT) {
        return format!("{}: this filesystem refuses direct I/O", command::adding(study, "--buffered"));
    }
    if errors.iter().any(|error| FULL.contains(&error.code)) {
        format!("free some space, or use a smaller file with --size (space and mount: {inspect})")
    } else {
        format!("remove the cause of this error, then repeat the command (space and mount: {inspect})")
    }
}
