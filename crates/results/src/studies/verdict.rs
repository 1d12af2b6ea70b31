//! Requirements and verdicts: whether a storage meets a published requirement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fsdyno_stats::Interval;

/// A published requirement, with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// Name within its profile: `wal-fsync-p99`.
    pub id: String,
    /// The profile: `etcd`.
    pub profile: String,
    /// The profile's title: `etcd: syncing the write-ahead log`.
    #[serde(default)]
    pub profile_title: String,
    /// One line for people: `99th percentile of fdatasync`.
    pub title: String,
    /// The figure that is judged: `sync.lat.p99`, `read.iops`, `phase.elapsed`.
    pub metric: String,
    /// Which side of the threshold is good.
    pub bound: Bound,
    /// The threshold, in `unit`.
    pub threshold: f64,
    /// The vendor's own unit: `ms`, `IOPS`, `MB/s`, `s`.
    pub unit: String,
    /// How the threshold was derived from the published figure: `90 % of the promised 3,000 IOPS`. `None`: it is that
    /// figure.
    #[serde(default)]
    pub derivation: Option<String>,
    /// Title of the document.
    pub source: String,
    /// Version of the document, or when it was read: `2026-08`.
    pub read_on: String,
    /// What kind of figure it is.
    pub kind: RequirementKind,
    /// How well the source is known.
    pub confidence: Confidence,
    /// The exact job or procedure.
    pub job: String,
}

/// Which side of the threshold is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The figure must not be above.
    AtMost,
    /// The figure must not be below.
    AtLeast,
    /// A condition without a figure, checked before any I/O: filesystem type, locks.
    Gate,
}

/// The kind of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// The vendor demands it.
    VendorRequirement,
    /// The vendor shows it as an example.
    VendorExample,
    /// A provider promises it for a volume of this kind.
    ProviderPromise,
    /// Somebody measured this load.
    ObservedLoad,
    /// It is our own judgement.
    OurBand,
}

/// How well the source is known: A the vendor's own text; B seen in part, through a copy or in an older version; C
/// second-hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Confidence {
    /// The vendor's own text.
    A,
    /// RecordedFact in part, through a copy, or in an older version.
    B,
    /// Second-hand.
    C,
}

/// The answer to one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is on the good side.
    Pass,
    /// The whole interval is on the bad side.
    Fail,
    /// The threshold lies within the interval, or the measurement cannot be trusted.
    Inconclusive,
    /// The requirement does not apply to this storage.
    NotApplicable,
    /// The published figure is for comparison, and no limit.
    Reference,
}

/// Whose test gave the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestOrigin {
    /// The vendor's own command.
    #[default]
    Vendor,
    /// The vendor's procedure, done by this program.
    Equivalent,
    /// The vendor names the figure but no test: we have chosen the test.
    Ours,
    /// A stronger test, in addition to the vendor's weak one.
    Sound,
}

impl RequirementKind {
    /// Whether the requirement can be missed: only what a vendor demands or promises can be; the rest is for
    /// comparison.
    pub fn binds(self) -> bool {
        matches!(self, RequirementKind::VendorRequirement | RequirementKind::ProviderPromise)
    }

    /// `vendor requirement`, `our band`.
    pub fn word(self) -> &'static str {
        match self {
            RequirementKind::VendorRequirement => "vendor requirement",
            RequirementKind::VendorExample => "vendor example",
            RequirementKind::ProviderPromise => "provider promise",
            RequirementKind::ObservedLoad => "observed load",
            RequirementKind::OurBand => "our band",
        }
    }
}

impl Verdict {
    /// `PASS`, `FAIL`, `INCONCLUSIVE`, `NOT APPLICABLE`, `REFERENCE`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::NotApplicable => "NOT APPLICABLE",
            Verdict::Reference => "REFERENCE",
        }
    }
}

/// The least that a figure can be, with its confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LowerBound {
    /// In the unit of the figure.
    pub value: f64,
    /// Probability, 0 to 1: 0.975.
    pub confidence: f64,
}

/// A requirement and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictRow {
    /// The requirement.
    pub requirement: Requirement,
    /// The verdict.
    pub verdict: Verdict,
    /// The figure, in the requirement's unit; `None`: nothing was measured.
    pub measured: Option<f64>,
    /// Its confidence interval, in the same unit.
    pub interval: Option<Interval>,
    /// The least that a percentile without an interval can be, which may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<LowerBound>,
    /// Distance to the threshold on the good side, percent of the threshold; negative when missed.
    pub margin_percent: Option<f64>,
    /// The reason of this verdict, in one sentence.
    pub reason: String,
    /// Whose test it is based on.
    #[serde(default)]
    pub origin: TestOrigin,
    /// Caveats, one sentence each: a thin margin, a rate that fell, a shortened test.
    #[serde(default)]
    pub caveats: Vec<String>,
    /// Set if more runs could decide: the limit of measured seconds because of which the test was not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_s: Option<f64>,
    /// The rows of the study that it is based on.
    pub rows: Vec<usize>,
}
