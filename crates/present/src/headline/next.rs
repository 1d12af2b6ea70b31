//! What to do next, after an answer.

use results::{Question, Study};

use super::found::Found;
use crate::shell::as_typed;

pub(super) fn of(study: &Study, findings: &[Found]) -> Vec<String> {
    let mut next: Vec<String> = Vec::new();
    // The gravest decides what is worth doing first.
    next.extend(findings.iter().find(|found| found.is_against()).map(|found| {
        let explained = format!("fsdyno explain {}", found.id);
        if found.next.is_empty() || found.next == explained {
            explained
        } else {
            format!("{} ({explained})", found.next)
        }
    }));
    if study.question == Question::Measure
        && let Some(target) = study.targets.first()
    {
        let command = |words: &[&str]| as_typed(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
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
