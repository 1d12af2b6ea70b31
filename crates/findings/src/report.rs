//! Building a finding.

use fsdyno_results::{Finding, Number, Severity};

/// A finding under construction.
pub(crate) struct Report {
    finding: Finding,
}

impl Report {
    /// Of this kind, about this row.
    pub(crate) fn new(id: &str, severity: Severity, job: &str) -> Report {
        Report {
            finding: Finding { job: Some(job.to_owned()), ..Finding::new(id, severity, String::new(), String::new()) },
        }
    }

    /// Of this kind, about the whole run.
    pub(crate) fn of_run(id: &str, severity: Severity) -> Report {
        let mut report = Report::new(id, severity, "");
        report.finding.job = None;
        report
    }

    /// A figure it rests on. One that is no number is left out.
    pub(crate) fn number(mut self, name: &str, value: f64, unit: &str) -> Report {
        if value.is_finite() {
            self.finding.numbers.push(Number { name: name.to_owned(), value, unit: unit.to_owned() });
        }
        self
    }

    /// A figure in bytes.
    pub(crate) fn bytes(self, name: &str, bytes: u64) -> Report {
        self.number(name, bytes as f64, "B")
    }

    /// What happened, and the next step.
    pub(crate) fn says(mut self, cause: String, next: impl Into<String>) -> Finding {
        self.finding.cause = cause;
        self.finding.next = next.into();
        self.finding
    }
}
