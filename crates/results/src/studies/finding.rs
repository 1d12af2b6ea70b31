//! A finding: a reason not to trust a number for what it looks like.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::severity::Severity;

/// A reason to distrust a number, seen in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable name of the kind: `page-cache`, `unwritten-data`. `fsdyno explain ID` explains it.
    pub id: String,
    /// Invalid: the number answers another question. Caution: it needs care. Info: worth knowing.
    pub severity: Severity,
    /// The node that it concerns; `None`: the only node of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The job (row) that it concerns; `None`: the whole run.
    pub job: Option<String>,
    /// The figures that it rests on.
    pub numbers: Vec<Number>,
    /// One sentence: what happened, with the numbers.
    pub cause: String,
    /// The next command or step.
    pub next: String,
}

impl Finding {
    /// A finding about the whole run, without a figure.
    pub fn new(
        id: impl Into<String>,
        severity: Severity,
        cause: impl Into<String>,
        next: impl Into<String>,
    ) -> Finding {
        let numbers = Vec::new();
        Finding { id: id.into(), severity, node: None, job: None, numbers, cause: cause.into(), next: next.into() }
    }
}

/// A figure of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// What it counts: `device bytes read`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit: `B`, `ns`, `1/s`, `ratio`.
    pub unit: String,
}

/// How far a row can be trusted: the worst severity of its findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing was found against it.
    #[default]
    Ok,
    /// Something needs care.
    Caution,
    /// The number answers another question; it cannot win a comparison or pass a check.
    Invalid,
}

impl Trust {
    /// The worst of these findings; findings that only inform do not count.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Trust {
        let trust = |finding: &Finding| match finding.severity {
            Severity::Info => Trust::Ok,
            Severity::Caution => Trust::Caution,
            Severity::Invalid => Trust::Invalid,
        };
        findings.into_iter().map(trust).max().unwrap_or_default()
    }

    /// `ok`, `caution`, `invalid`.
    pub fn word(self) -> &'static str {
        match self {
            Trust::Ok => "ok",
            Trust::Caution => "caution",
            Trust::Invalid => "invalid",
        }
    }
}
