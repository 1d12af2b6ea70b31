//! Findings on the fio face: on stderr, briefly, never in fio's formats.

use job::{Warning, WarningCode};
use results::{Finding, RunRecord, Severity};

use crate::process::streams::complain;

/// Says what was found; remembers it, so that nothing is said twice.
pub(super) struct Objections {
    /// `--findings=off`: nothing is said.
    wanted: bool,
    told: Vec<Finding>,
}

impl Objections {
    pub(super) fn new(wanted: bool) -> Objections {
        Objections { wanted, told: Vec::new() }
    }

    /// Conflicts in the plan, at once.
    pub(super) fn before_run(&mut self, planned: &RunRecord, warnings: &[Warning]) {
        let mut found = findings::of_plan(planned);
        // The job language itself says that a synchronous engine has no depth, in fio's words.
        if warnings.iter().any(|warning| warning.code == WarningCode::SynchronousDepth) {
            let said = |finding: &Finding| finding.id == "depth-not-reached" && is_synchronous(planned, finding);
            let (said, rest) = found.into_iter().partition(said);
            self.told = said;
            found = rest;
        }
        self.say(found);
    }

    /// What the run showed, but for what was said before it.
    pub(super) fn after_run(&mut self, record: &RunRecord) {
        self.say(record.findings.clone());
    }

    fn say(&mut self, found: Vec<Finding>) {
        if !self.wanted {
            return;
        }
        let same = |one: &Finding, other: &Finding| one.id == other.id && one.job == other.job;
        let known =
            |finding: &Finding| self.told.iter().any(|told| same(told, finding) && told.severity >= finding.severity);
        let new: Vec<Finding> =
            found.into_iter().filter(|finding| finding.severity > Severity::Info && !known(finding)).collect();
        lines(&new).iter().for_each(|line| complain(line));
        self.told.extend(new);
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
        let mut objections = Objections::new(true);
        let caution = finding("depth-not-reached", Some("a"), "one in flight");
        objections.say(vec![caution.clone()]);
        objections.say(vec![caution.clone()]);
        assert_eq!(objections.told.len(), 1);
        objections.say(vec![Finding { severity: Severity::Invalid, ..caution.clone() }]);
        assert_eq!(objections.told.len(), 2);
        objections.say(vec![Finding { severity: Severity::Info, ..finding("latency-off", None, "off") }]);
        assert_eq!(objections.told.len(), 2, "information is not said");
        let mut silent = Objections::new(false);
        silent.say(vec![caution]);
        assert!(silent.told.is_empty());
    }
}
