//! Prints our own findings and notes on stderr: with `--findings=all`, and on a terminal. Reports have their own place
//! for them.

use std::io;

use fsdyno_fio_report::remarks;
use fsdyno_job::{Findings, Stream, Warning, WarningCode};
use fsdyno_results::{Finding, RunRecord, Severity};

use crate::process::streams::{is_terminal, print_stderr};

/// Prints remarks on stderr, each once.
pub(super) struct Remarks {
    /// Whether they are printed during the run.
    pub(super) shown: bool,
    /// Whether those at the end are printed as well, because no report shows them in the same place.
    shown_at_end: bool,
    reported: Vec<Finding>,
}

impl Remarks {
    /// `reported`: whether the normal report ends with them, on stdout.
    pub(super) fn new(findings: Findings, reported: bool) -> Remarks {
        let shown = match findings {
            Findings::All => true,
            Findings::Auto => is_terminal(&io::stderr()),
            Findings::Off => false,
        };
        let twice = findings == Findings::Auto && reported && is_terminal(&io::stdout());
        Remarks { shown, shown_at_end: shown && !twice, reported: Vec::new() }
    }

    /// Prints warnings about options. fio's own warnings on stderr are always printed.
    pub(super) fn options(&self, warnings: &[Warning], for_people: bool) {
        for warning in warnings {
            let shown = match warning.fio_stream() {
                Some(Stream::Stderr) => true,
                Some(Stream::Stdout) => self.shown && !for_people,
                None => self.shown,
            };
            if shown {
                print_stderr(&warning.text);
            }
        }
    }

    /// Prints conflicts in the plan at once.
    pub(super) fn before_run(&mut self, planned: &RunRecord, warnings: &[Warning]) {
        if !self.shown {
            return;
        }
        for note in planned.notes.iter().filter(|note| note.severity > Severity::Info) {
            print_stderr(&remarks::note(note));
        }
        let mut found = fsdyno_findings::of_plan(planned);
        // The job language already warns, in fio's words, that a synchronous engine has no depth.
        if warnings.iter().any(|warning| warning.code == WarningCode::SynchronousDepth) {
            let about_depth = |finding: &Finding| finding.id == "depth-not-reached" && is_synchronous(planned, finding);
            let (about_depth, rest) = found.into_iter().partition(about_depth);
            self.reported = about_depth;
            found = rest;
        }
        self.report(found);
    }

    /// Prints the findings of the run, except those that were printed before it.
    pub(super) fn after_run(&mut self, record: &RunRecord) {
        if self.shown_at_end {
            remarks::sampled_latencies(record).iter().for_each(|line| print_stderr(line));
            self.report(record.findings.clone());
            remarks::lateness(record).iter().for_each(|line| print_stderr(line));
        }
    }

    fn report(&mut self, found: Vec<Finding>) {
        let same = |one: &Finding, other: &Finding| one.id == other.id && one.job == other.job;
        let known = |finding: &Finding| {
            self.reported.iter().any(|reported| same(reported, finding) && reported.severity >= finding.severity)
        };
        let new: Vec<Finding> =
            found.into_iter().filter(|finding| finding.severity > Severity::Info && !known(finding)).collect();
        remarks::findings(&new).iter().for_each(|line| print_stderr(line));
        self.reported.extend(new);
    }
}

fn is_synchronous(planned: &RunRecord, finding: &Finding) -> bool {
    let of_finding = |name: &String| finding.job.as_ref() == Some(name);
    planned.jobs.iter().any(|job| of_finding(&job.name) && job.plan.synchronous_engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice_unless_it_got_worse() {
        let mut remarks = Remarks::new(Findings::All, true);
        let found = |severity, id| Finding {
            job: Some("a".to_owned()),
            ..Finding::new(id, severity, "one in flight", "raise iodepth")
        };
        let caution = found(Severity::Caution, "depth-not-reached");
        remarks.report(vec![caution.clone()]);
        remarks.report(vec![caution]);
        assert_eq!(remarks.reported.len(), 1);
        remarks.report(vec![found(Severity::Invalid, "depth-not-reached")]);
        assert_eq!(remarks.reported.len(), 2);
        remarks.report(vec![found(Severity::Info, "latency-off")]);
        assert_eq!(remarks.reported.len(), 2, "information is not said");
    }
}
