//! T19: sections that ran at the same time.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, JobRecord, Severity};

use crate::evidence::{Evidence, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "jobs-overlap";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T19",
    title: "Jobs ran at the same time and shared the storage",
    happens: "The sections of a job file, and the jobs of a command line, start together unless stonewall separates \
              them. A read test and a write test that should run in turn then share the storage.",
    seen: "From the plan, a caution: jobs with different names, without stonewall, on the same storage. After the run \
           only if their times overlapped by half of the shorter one.",
    advice: "Add stonewall to each section after the first. If they should run together, read them as one mixed load.",
    documented: "fio documentation, stonewall; kubestr issue 68",
};

/// Share of the shorter job's time during which the other ran, too.
const OVERLAP: f64 = 0.5;

pub(crate) fn preflight(evidence: &Evidence<'_>) -> Vec<Finding> {
    each(evidence, |_, _| true)
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    each(evidence, |row, other| row.judgeable() && other.judgeable() && overlapped(row.first(), other.first()))
}

fn each(evidence: &Evidence<'_>, at_once: impl Fn(&JobInStage<'_>, &JobInStage<'_>) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row) in evidence.rows().filter(|(_, row)| row.class() != StorageClass::Memory) {
        let others: Vec<&str> =
            others(stage, row).filter(|other| at_once(row, other)).map(|other| other.name).collect();
        if others.is_empty() {
            continue;
        }
        let what = row
            .storage
            .and_then(|storage| storage.mount.value())
            .map_or("the storage".into(), |mount| mount.mount_point.to_string_lossy());
        let together: Vec<&str> =
            stage.rows.iter().map(|row| row.name).filter(|name| *name == row.name || others.contains(name)).collect();
        let cause = format!(
            "{} run at the same time on {what}: each number is that job's share of the storage",
            together.join(" and ")
        );
        let report =
            Report::new(ID, Severity::Caution, row.name).number("jobs at the same time", together.len() as f64, "jobs");
        found.push(report.says(cause, "add stonewall to each section after the first, so that they run in turn"));
    }
    found
}

/// The other rows of the stage on the same storage.
fn others<'s, 'r>(stage: &'s Stage<'r>, row: &'s JobInStage<'r>) -> impl Iterator<Item = &'s JobInStage<'r>> {
    stage.rows.iter().filter(move |other| other.name != row.name && same_storage(row, other))
}

fn same_storage(row: &JobInStage<'_>, other: &JobInStage<'_>) -> bool {
    let folder =
        |row: &JobInStage<'_>| row.first().plan.files.first()?.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    match (row.storage, other.storage) {
        (Some(storage), Some(other)) => {
            let device = |storage: &fsdyno_results::evidence::Storage| storage.mount.value().map(|mount| mount.device);
            std::ptr::eq(storage, other) || device(storage).is_some_and(|one| device(other) == Some(one))
        }
        _ => folder(row).is_some_and(|one| folder(other) == Some(one)),
    }
}

/// Whether two jobs of one stage really overlapped: a start delay can separate them.
fn overlapped(first: &JobRecord, other: &JobRecord) -> bool {
    let span = |job: &JobRecord| {
        let started = job.started_ms?;
        Some((started, started.saturating_add(job.job_runtime_ms)))
    };
    let clock = |job: &JobRecord| job.options.iter().find(|(name, _)| name == "job_start_clock_id").cloned();
    let (Some((from, to)), Some((other_from, other_to))) = (span(first), span(other)) else { return false };
    if clock(first) != clock(other) {
        return false;
    }
    let shared = to.min(other_to).saturating_sub(from.max(other_from)) as f64;
    let shorter = (to - from).min(other_to - other_from) as f64;
    shorter > 0.0 && shared >= shorter * OVERLAP
}
