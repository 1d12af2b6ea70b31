//! What to do next, after an answer.

use results::{Question, Study, test_name};

use super::found::Found;
use super::test::TestFigures;
use crate::shell::as_typed;

/// No space, or none left of a quota.
const FULL: [i32; 2] = [28, 122];

pub(super) fn of(study: &Study, tests: &[TestFigures], findings: &[Found]) -> Vec<String> {
    let mut next: Vec<String> = Vec::new();
    if let [only] = tests
        && only.name == test_name::FILL
    {
        return vec![unfilled(study)];
    }
    // The gravest decides what is worth doing first.
    next.extend(findings.iter().find(|found| found.is_against()).map(|found| {
        let explained = format!("fsdyno explain {}", found.id);
        if found.next.is_empty() || found.next == explained {
            explained
        } else {
            format!("{} ({explained})", found.next)
        }
    }));
    let has_figures = tests.iter().any(|test| test.error.is_none());
    if study.question == Question::Measure
        && has_figures
        && let Some(target) = study.targets.first()
    {
        let runs = study.rows.iter().map(|row| row.round).max().unwrap_or(0);
        if runs == 0 {
            next.push(format!(
                "{}: how far the figures vary",
                command(&["fsdyno", "measure", &target.path, "--runs=5"])
            ));
        }
        next.push(format!("{}: good enough for etcd?", command(&["fsdyno", "check", "etcd", &target.path])));
    }
    let is_saved = !study.command.iter().any(|word| word == "--no-store");
    if study.question != Question::Fio && is_saved {
        next.push(format!("fsdyno report {} -o sheet.html: charts and all details", study.id));
    }
    next
}

fn command(words: &[&str]) -> String {
    as_typed(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

/// What to do about a file that could not be written.
fn unfilled(study: &Study) -> String {
    let path = study.targets.first().map_or("", |target| target.path.as_str());
    let inspect = command(&["fsdyno", "inspect", path]);
    let errors = study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(|run| &run.jobs);
    let is_full = errors.filter_map(|job| job.error.as_ref()).any(|error| FULL.contains(&error.code));
    if is_full {
        format!("free some space, or use a smaller file with --size (space and mount: {inspect})")
    } else {
        format!("remove the cause of this error, then repeat the command (space and mount: {inspect})")
    }
}
