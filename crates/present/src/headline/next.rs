//! Chooses the next steps after an answer.

use fsdyno_findings::limits::{Limited, Limiter, of_study};
use fsdyno_results::{JobError, NOT_SAVED, Question, Severity, Study, Verdict, test_name};
use fsdyno_stats::WINNER_ROUNDS;
use schemars::JsonSchema;
use serde::Serialize;

use super::found::{FindingGroup, within};
use super::test::TestFigures;
use crate::command;
use fsdyno_text::shell::as_typed;

/// A next step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The purpose, or what to do.
    pub what: String,
    /// The command to type; `None`: there is none.
    pub command: Option<String>,
}

impl Step {
    pub(super) fn run(command: impl Into<String>, what: impl Into<String>) -> Step {
        Step { what: what.into(), command: Some(command.into()) }
    }
}

/// Error numbers of a full filesystem: ENOSPC, EDQUOT.
const FULL: [i32; 2] = [28, 122];

/// The error of open(2) that refuses O_DIRECT: EINVAL has no other meaning there.
const NO_DIRECT: (i32, &str) = (22, "open");

/// Options that make a check differ from the vendor's test, each with whether it takes a value.
const SHORTER: [(&str, bool); 3] = [("--quick", false), ("--scale-runtime", true), ("--size-cap", true)];

/// This multiple of the runs halves the interval of a mean.
const MORE_TIMES: f64 = 4.0;

pub(super) fn of(study: &Study, tests: &[TestFigures], findings: &[FindingGroup]) -> Vec<Step> {
    if let [only] = tests
        && only.name == test_name::FILL
    {
        return vec![unfilled(study)];
    }
    let mut next: Vec<Step> = match study.question {
        Question::Check if nothing_applies(study) => elsewhere(study).into_iter().collect(),
        _ => gravest(study, tests, findings).into_iter().chain(asked_next(study, tests)).collect(),
    };
    next.dedup_by(|later, earlier| differ_in_value(later, earlier));
    if study.question != Question::Fio && is_saved(study) {
        next.push(Step::run(command::about(study, "report", &["-o", "sheet.html"]), "charts and all details"));
    }
    next
}

/// Whether two commands are the same but for the value of their last option: the first has the reason for its value.
fn differ_in_value(one: &Step, other: &Step) -> bool {
    let option = |step: &Step| Some(step.command.as_ref()?.rsplit_once('=')?.0.to_owned());
    option(one).is_some() && option(one) == option(other)
}

/// Whether the study is saved, so that another command can find it.
pub(crate) fn is_saved(study: &Study) -> bool {
    !command::own_words(study).any(|word| word == "--no-store") && !study.notes.iter().any(|note| note.id == NOT_SAVED)
}

/// The id of the finding that the storage is memory.
const MEMORY: &str = "memory-storage";

/// With one of these options a question does not take the options that advice names.
const FIXED: [&str; 3] = ["--full", "--literal", "--like"];

/// The limit that decides what is worth doing first: one that somebody set on the group of this process, which hides all
/// others; else that of most tests, of equals the one that is told first.
fn deciding(limits: &[Limited]) -> Option<(Limiter, &Limited)> {
    let visible = limits.iter().rev().filter_map(|limited| Some((limited.limiter.ok()?, limited)));
    visible.max_by_key(|(limiter, limited)| (limiter.raise().is_some(), limited.tests.len()))
}

/// The gravest finding decides what is worth doing first; of those that leave the figures valid, the one that speaks of
/// what limits most tests. A limit of a control group is the first to go in any case, while most figures count.
fn gravest(study: &Study, tests: &[TestFigures], findings: &[FindingGroup]) -> Option<Step> {
    let against = || findings.iter().filter(|found| found.is_against());
    // On memory the other advice would be about a storage that was not measured.
    let memory = against().find(|found| found.id == MEMORY);
    if let Some(target) = memory.and_then(|found| study.targets.get(found.target_index)) {
        let inspect = typed(&["fsdyno", "inspect", &target.path]);
        return Some(Step::run(inspect, "name a directory on the disk in question; this shows what the path lies on"));
    }
    let limits = of_study(study);
    let limiting = deciding(&limits).filter(|_| !mostly_invalid(tests));
    if let Some((id, words)) = limiting.and_then(|(limiter, _)| Some((limiter.finding()?, limiter.raise()?))) {
        return Some(Step::run(typed(&["fsdyno", "explain", id]), words));
    }
    let first = against().next();
    let limiting = limiting.filter(|_| first.is_none_or(|first| first.severity < Severity::Invalid));
    if let Some((_, limited)) = limiting.filter(|(limiter, _)| limiter.is_of_network()) {
        let path = &study.targets.get(limited.target)?.path;
        return Some(Step::run(typed(&["fsdyno", "inspect", path]), "the link to the server and how it is mounted"));
    }
    let id = limiting.and_then(|(limiter, _)| limiter.finding());
    let of_limit = against().find(|found| Some(found.id.as_str()) == id);
    let found = of_limit.or(first)?;
    let explained = format!("fsdyno explain {}", found.id);
    let is_fixed = command::own_words(study).any(|word| FIXED.iter().any(|fixed| word.starts_with(fixed)));
    // Advice ends with the option that carries it out: `measure for longer (--runtime=60)`.
    let option = found.next.strip_suffix(')').and_then(|next| next.rsplit_once(" (")).filter(|_| !is_fixed);
    Some(match option.and_then(|(words, option)| Some((words, option.split_once('=')?))) {
        Some((words, (option, value))) if option.starts_with("--") => {
            Step::run(command::with(study, option, value), words)
        }
        _ if found.next.is_empty() || found.next == explained => {
            Step::run(explained, format!("why: {}", within(&found.title)))
        }
        _ => Step::run(explained, &found.next),
    })
}

/// The next questions that the figures raise.
fn asked_next(study: &Study, tests: &[TestFigures]) -> Vec<Step> {
    let mut next = Vec::new();
    match study.question {
        // Figures that do not count are not worth repeating or judging.
        Question::Measure if tests.iter().any(TestFigures::counts) && !mostly_invalid(tests) => {
            let is_full = command::own_words(study).any(|word| word == "--full");
            if study.rows.iter().all(|row| row.round == 0) && !is_full {
                next.push(Step::run(command::with(study, "--runs", 5), "how far the figures vary"));
            }
            let durable = study.targets.first().filter(|target| target.storage.in_memory().is_none());
            let check = |path: &str| Step::run(typed(&["fsdyno", "check", "etcd", path]), "good enough for etcd?");
            let durable = durable.filter(|target| !target.path.contains("://"));
            next.extend(durable.map(|target| check(&target.path)));
        }
        // More rounds do not help where a test failed.
        Question::Time if tests.iter().any(|test| test.error.is_some()) => {}
        Question::Compare | Question::Time if study.rows.iter().all(|row| row.round + 1 < WINNER_ROUNDS.0) => {
            let enough = command::with(study, "--rounds", WINNER_ROUNDS.0);
            let one = study.targets.iter().filter(|target| !target.reference).count() < 2;
            let what = if one {
                "enough rounds to tell how far it varies, and how much storage decides"
            } else {
                "enough rounds to tell who is faster"
            };
            next.push(Step::run(enough, what));
        }
        Question::Scale => {
            let measured = |path: &str| Step::run(typed(&["fsdyno", "measure", path]), "all figures of one node");
            next.extend(study.targets.first().map(|target| measured(&target.path)));
        }
        Question::Check => {
            let repeated = || Some(Step::run(raised_cap(study)?, "more runs may decide what is open"));
            let whole = command::without(study, &SHORTER);
            next.extend(whole.map(|whole| Step::run(whole, "the tests as they were published")).or_else(repeated));
        }
        _ => {}
    }
    next
}

/// The same check with a cap that allows [`MORE_TIMES`] as many runs; `None`: more runs decide nothing.
fn raised_cap(study: &Study) -> Option<String> {
    let cap_s = study.verdicts.iter().filter_map(|row| row.cap_s).reduce(f64::max)?;
    Some(command::with(study, "--cap-seconds", (cap_s * MORE_TIMES).ceil() as u32))
}

/// Whether less than half of the figures count.
pub(super) fn mostly_invalid(tests: &[TestFigures]) -> bool {
    tests.iter().filter(|test| !test.counts()).count() * 2 >= tests.len()
}

fn nothing_applies(study: &Study) -> bool {
    !study.verdicts.is_empty() && study.verdicts.iter().all(|row| row.verdict == Verdict::NotApplicable)
}

/// The step where none of the requirements can be judged on this storage: a directory that exists on the right one is not
/// known here.
fn elsewhere(study: &Study) -> Option<Step> {
    let inspect = typed(&["fsdyno", "inspect", &study.targets.first()?.path]);
    Some(Step::run(
        inspect,
        "check a directory on the storage that will hold the data; this shows what the path lies on",
    ))
}

fn typed(words: &[&str]) -> String {
    as_typed(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

/// The step for a file that could not be written.
fn unfilled(study: &Study) -> Step {
    let path = study.targets.first().map_or("", |target| target.path.as_str());
    let inspect = typed(&["fsdyno", "inspect", path]);
    let errors = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs);
    let errors: Vec<&JobError> = errors.filter_map(|job| job.error.as_ref()).collect();
    if study.question == Question::Measure && errors.iter().any(|error| (error.code, &*error.function) == NO_DIRECT) {
        return Step::run(command::adding(study, "--buffered"), "this filesystem refuses direct I/O");
    }
    if errors.iter().any(|error| FULL.contains(&error.code)) {
        return Step::run(inspect, "free some space, or use a smaller file with --size; space and mount");
    }
    Step::run(inspect, "remove the cause of this error, then repeat the command; space and mount")
}
