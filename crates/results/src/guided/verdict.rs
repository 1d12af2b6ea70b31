//! Whether a storage meets a published requirement.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// A published requirement, with where it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// Name within its profile: `wal-fsync-p99`.
    pub id: String,
    /// The profile: `etcd`.
    pub profile: String,
    /// One line for people: `99th percentile of fdatasync`.
    pub title: String,
    /// Which figure is judged: `sync.lat.p99`, `read.iops`, `phase.elapsed`.
    pub metric: String,
    /// Which side of the threshold is good.
    pub bound: Bound,
    /// The threshold, in `unit`.
    pub threshold: f64,
    /// The vendor's own unit: `ms`, `IOPS`, `MB/s`, `s`.
    pub unit: String,
    /// Title of the document.
    pub source: String,
    /// When it was read, or its version: `2026-08`.
    pub read_on: String,
    /// What the figure is.
    pub kind: RequirementKind,
    /// How well the source is known.
    pub confidence: Confidence,
    /// The exact job or procedure.
    pub job: String,
}

/// Which side is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The figure must not be above.
    AtMost,
    /// The figure must not be below.
    AtLeast,
    /// A condition without a figure, checked before any I/O: filesystem type, locks.
    Gate,
}

/// What a published figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// The vendor demands it.
    VendorRequirement,
    /// The vendor shows it as an example.
    VendorExample,
    /// Somebody's measured load.
    ObservedLoad,
    /// Our own judgement.
    OurBand,
}

/// How well the source is known: A the vendor's own text, B seen in part, through a copy or in an older version,
/// C second-hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confidence {
    /// The vendor's own text.
    A,
    /// In part, a copy, or an older version.
    B,
    /// Second-hand.
    C,
}

/// The answer to one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is on the good side.
    Pass,
    /// The whole interval is on the bad side.
    Fail,
    /// The threshold lies within the interval, or the measurement cannot be trusted.
    Inconclusive,
    /// The requirement says nothing about this storage.
    NotApplicable,
}

impl Verdict {
    /// `PASS`, `FAIL`, `INCONCLUSIVE`, `NOT APPLICABLE`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::NotApplicable => "NOT APPLICABLE",
        }
    }
}

/// A requirement and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// What was asked.
    pub requirement: Requirement,
    /// The answer.
    pub verdict: Verdict,
    /// The figure, in the requirement's unit; `None`: nothing was measured.
    pub measured: Option<f64>,
    /// Its confidence interval, same unit.
    pub interval: Option<Interval>,
    /// Distance to the threshold on the good side, percent of the threshold; negative when missed.
    pub margin_percent: Option<f64>,
    /// One sentence: why this answer.
    pub reason: String,
    /// Rows of the study that it rests on.
    pub rows: Vec<usize>,
}
