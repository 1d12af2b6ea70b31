//! A profile in the form of its file.

use fsdyno_guide::object_check::{ObjectFunction, PlainRequests};
use fsdyno_results::{Confidence, RequirementKind, TestOrigin};
use serde::Deserialize;
use toml::Spanned;

use super::{Band, Scale};
use crate::gate::Lock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenProfile {
    pub(super) name: Spanned<String>,
    pub(super) title: String,
    pub(super) about: String,
    pub(super) applies_to: String,
    #[serde(default)]
    pub(super) only_on: Vec<String>,
    pub(super) source: String,
    pub(super) read: String,
    pub(super) kind: RequirementKind,
    pub(super) confidence: Confidence,
    #[serde(default)]
    pub(super) gate: Vec<WrittenGate>,
    #[serde(default)]
    pub(super) test: Vec<WrittenTest>,
    #[serde(default)]
    pub(super) requirement: Vec<WrittenRequirement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenGate {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) because: String,
    pub(super) not_on: Option<Vec<String>>,
    pub(super) lock: Option<Lock>,
    pub(super) free_bytes: Option<u64>,
    pub(super) words: Option<Spanned<Vec<String>>>,
    pub(super) function: Option<ObjectFunction>,
    pub(super) source: Option<String>,
    pub(super) read: Option<String>,
    pub(super) kind: Option<RequirementKind>,
    pub(super) confidence: Option<Confidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenTest {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) origin: Option<WrittenOrigin>,
    pub(super) why: Option<String>,
    pub(super) sound_for: Option<Spanned<String>>,
    pub(super) words: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub(super) small_files: bool,
    pub(super) requests: Option<Spanned<PlainRequests>>,
}

/// Sound variants say so with `sound-for`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WrittenOrigin {
    Vendor,
    Equivalent,
    Ours,
}

impl From<WrittenOrigin> for TestOrigin {
    fn from(written: WrittenOrigin) -> TestOrigin {
        match written {
            WrittenOrigin::Vendor => TestOrigin::Vendor,
            WrittenOrigin::Equivalent => TestOrigin::Equivalent,
            WrittenOrigin::Ours => TestOrigin::Ours,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenRequirement {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) test: Spanned<String>,
    pub(super) metric: Spanned<String>,
    pub(super) at_most: Option<f64>,
    pub(super) at_least: Option<f64>,
    pub(super) unit: Spanned<String>,
    pub(super) per: Option<Scale>,
    pub(super) judged_at_percent: Option<f64>,
    pub(super) tier: Option<String>,
    #[serde(default)]
    pub(super) vendors_test_only: bool,
    #[serde(default)]
    pub(super) band: Vec<Band>,
    pub(super) source: Option<String>,
    pub(super) read: Option<String>,
    pub(super) kind: Option<RequirementKind>,
    pub(super) confidence: Option<Confidence>,
}
