//! Findings on the fio face: on stderr, briefly, never in fio's formats.

use job::{Warning, WarningCode};
use results::{Finding, RunRecord, Severity};

use crate::process::streams::print_stderr;

/// Prints findings on stderr, each once.
pub(super) struct ReportedFindings {
    /// False with `--findings=off`: nothing is printed.
    wanted: bool,
    reported: Vec<Finding>,
}

impl ReportedFindings {
    pub(super) fn new(wanted: bool) -> ReportedFindings {
        ReportedFindings { wanted, reported: Vec::new() }
    }

    /// Conflicts in the plan, at once.
    pub(super) fn before_run(&mut self, planned: &RunRecord, warnings: &[Warning]) {
        let mut found = findings::of_plan(planned);
        // The job language itself says that a synchronous engine has no depth, in fio's words.
        if warnings.iter().any(|warning| warning.code == WarningCode::SynchronousDepth) {
            let about_depth = |finding: &Finding| finding.id == "depth-not-reached" && is_synchronous(planned, finding);
            let (about_depth, rest) = found.into_iter().partition(about_depth);
            self.reported = about_depth;
            found = rest;
        }
        self.report(found);
    }

    /// The findings of the run, except those that were printed before it.
    pub(super) fn after_run(&mut self, record: &RunRecord) {
        self.report(record.findings.clone());
    }

    fn report(&mut self, found: Vec<Finding>) {
        if !self.wanted {
            return;
        }
        let same = |one: &Finding, other: &Finding| one.id == other.id && one.job == other.job;
        let known = |finding: &Finding| {
            self.reported.iter().any(|reported| same(reported, finding) && reported.severity >= finding.severity)
        };
        let new: Vec<Finding> =
            found.into_iter().filter(|finding| finding.severity > Severity::Info && !known(finding)).collect();
        lines(&new).iter().for_each(|line| print_stderr(line));
        self.reported.extend(new);
    }
}

fn is_synchronous(planned: &RunRecord, finding: &Finding) -> bool {
    let of_finding = |name: &String| finding.job.as_ref() == Some(name);
    planned.jobs.iter().any(|job| of_finding(&job.name) && job.plan.synchronous_engine)
}

/// Two lines for each cause; jobs with the same cause together.
fn lines(found: &[Finding]) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, finding) in found.iter().enumerate() {
        let alike = |other: &&Finding| other.id == finding.id && other.cause == finding.cause;
        if found[..index].iter().any(|earlier| alike(&earlier)) {
            continue;
        }
        let jobs: Vec<&str> = found.iter().filter(alike).filter_map(|finding| finding.job.as_deref()).collect();
        let who = if jobs.is_empty() { String::new() } else { format!("{}: ", jobs.join(", ")) };
        let severity = if finding.severity == Severity::Invalid { "invalid" } else { "caution" };
        lines.push(format!("{severity}: {who}{} [{}]", finding.cause, finding.id));
        lines.push(format!("  next: {}", finding.next));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, job: Option<&str>, cause: &str) -> Finding {
        Finding { job: job.map(str::to_owned), ..Finding::new(id, Severity::Caution, cause, "add stonewall") }
    }

    #[test]
    fn one_cause_is_told_once_for_all_its_jobs() {
        let both = [finding("jobs-overlap", Some("a"), "together"), finding("jobs-overlap", Some("b"), "together")];
        assert_eq!(lines(&both), ["caution: a, b: together [jobs-overlap]", "  next: add stonewall"]);
        let run = Finding { severity: Severity::Invalid, ..finding("clock", None, "drifts") };
        assert_eq!(lines(&[run])[0], "invalid: drifts [clock]");
    }

    #[test]
    fn nothing_is_said_twice_unless_it_got_worse() {
        let mut reported_findings = ReportedFindings::new(true);
        let caution = finding("depth-not-reached", Some("a"), "one in flight");
        reported_findings.report(vec![caution.clone()]);
        reported_findings.report(vec![caution.clone()]);
        assert_eq!(reported_findings.reported.len(), 1);
        reported_findings.report(vec![Finding { severity: Severity::Invalid, ..caution.clone() }]);
        assert_eq!(reported_findings.reported.len(), 2);
        reported_findings.report(vec![Finding { severity: Severity::Info, ..finding("latency-off", None, "off") }]);
        assert_eq!(reported_findings.reported.len(), 2, "information is not said");
        let mut silent = ReportedFindings::new(false);
        silent.report(vec![caution]);
        assert!(silent.reported.is_empty());
    }
}
