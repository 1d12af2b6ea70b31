//! Builds a finding.

use fsdyno_results::{Finding, Number, Severity};

/// A finding under construction.
pub(crate) struct Report {
    finding: Finding,
}

impl Report {
    /// A finding of this kind on this row.
    pub(crate) fn new(id: &str, severity: Severity, job: &str) -> Report {
        Report {
            finding: Finding { job: Some(job.to_owned()), ..Finding::new(id, severity, String::new(), String::new()) },
        }
    }

    /// A finding of this kind on the whole run.
    pub(crate) fn of_run(id: &str, severity: Severity) -> Report {
        let mut report = Report::new(id, severity, "");
        report.finding.job = None;
        report
    }

    /// Adds a figure that it rests on; NaN and infinity are left out.
    pub(crate) fn number(mut self, name: &str, value: f64, unit: &str) -> Report {
        if value.is_finite() {
            self.finding.numbers.push(Number { name: name.to_owned(), value, unit: unit.to_owned() });
        }
        self
    }

    /// Adds a figure in bytes.
    pub(crate) fn bytes(self, name: &str, bytes: u64) -> Report {
        self.number(name, bytes as f64, "B")
    }

    /// Completes the finding with cause and next step.
    pub(crate) fn says(mut self, cause: String, next: impl Into<String>) -> Finding {
        self.finding.cause = cause;
        self.finding.next = next.into();
        self.finding
    }
}
