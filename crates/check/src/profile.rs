//! Reads requirement profiles, TOML files: what a vendor requires of a storage, the tests that measure it, and the
//! source.

use std::ops::Range;

use fsdyno_guide::Problem;
use fsdyno_guide::object_check::{PlainRequests, PlainVerb};
use fsdyno_results::{Bound, Confidence, RequirementKind, TestOrigin};
use fsdyno_stats::sort;
use serde::Deserialize;
use toml::Spanned;

use crate::gate::Condition;
use crate::metric::{self, JoblessPhase, Metric};

mod written;

use written::{WrittenGate, WrittenProfile, WrittenRequirement, WrittenTest};

/// A profile that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name on the command line: `etcd`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// A paragraph for people.
    pub about: String,
    /// The directories that it applies to.
    pub applies_to: String,
    /// The source of most of it.
    pub source: Source,
    /// Types or groups of filesystems that it is about; empty: all.
    pub(crate) only_on: Vec<String>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) tests: Vec<Test>,
    pub(crate) requirements: Vec<Requirement>,
}

/// The source of a figure, and its reliability.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Title of the document.
    pub title: String,
    /// When it was read, or its version.
    pub read_on: String,
    /// The kind of the figure.
    pub kind: RequirementKind,
    /// How well the source is known.
    pub confidence: Confidence,
}

/// A condition that must hold before the measurement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gate {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) condition: Condition,
    /// What the vendor says about storage that does not meet it.
    pub(crate) because: String,
    pub(crate) source: Source,
}

/// A test of a profile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) origin: TestOrigin,
    /// Why it is made as it is; for a sound variant, the weakness of the vendor's test.
    pub(crate) why: Option<String>,
    /// The id of the test whose sound variant this is.
    pub(crate) sound_for: Option<String>,
    pub(crate) work: Work,
}

/// The work of a test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// Words of the fio language, with `{dir}` and `{file}` for the place, or `{object}` for the objects of a store.
    Line(Vec<String>),
    /// The native write and read of 1,001 small files.
    SmallFiles,
    /// Requests about the objects of a store that no job makes.
    Requests(PlainRequests),
}

impl Work {
    /// Why it cannot give a figure; `None`: it can.
    fn missing_figure(&self, metric: Metric) -> Option<&'static str> {
        match (self, metric) {
            (Work::Line(words), _) => crate::line::missing_figure(words, metric),
            (Work::Requests(_), Metric::Phase(JoblessPhase::Requests, _)) => None,
            (Work::Requests(_), _) => Some("its test is one of requests and not a fio job"),
            (Work::SmallFiles, Metric::Phase(JoblessPhase::Write | JoblessPhase::Read, _)) => None,
            (Work::SmallFiles, _) => Some("its test is one of small files and not a fio job"),
        }
    }

    /// The words that run it, for people.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Work::Line(words) => words.clone(),
            Work::SmallFiles => vec!["fsdyno".to_string(), "smallfiles".to_string()],
            Work::Requests(requests) => {
                let verb = match requests.verb {
                    PlainVerb::Head => "HEAD",
                    PlainVerb::Delete => "DELETE",
                    PlainVerb::List => "LIST",
                };
                vec![verb.to_string(), crate::line::OBJECT.to_string()]
            }
        }
    }

    /// Number of objects that one of its operations is about.
    fn objects_each(&self) -> f64 {
        if let Work::Requests(requests) = self { requests.objects_each().into() } else { 1.0 }
    }
}

/// A figure that a test must reach.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) test: String,
    pub(crate) metric_name: String,
    pub(crate) metric: Metric,
    pub(crate) bound: Bound,
    /// The published figure, in `unit`.
    pub(crate) threshold: f64,
    pub(crate) unit: String,
    /// Size of `unit` in the base unit.
    pub(crate) unit_size: f64,
    pub(crate) per: Option<Scale>,
    /// Percentage of the published figure at which it is judged.
    pub(crate) judged_at_percent: Option<f64>,
    /// The tier for which it is judged; otherwise it is a reference.
    pub(crate) tier: Option<String>,
    /// Whether the sound variant of its test says nothing about it.
    pub(crate) vendors_test_only: bool,
    /// The vendor's words for ranges: each reaches up to (or down to) its limit, the best first.
    pub(crate) bands: Vec<Band>,
    pub(crate) source: Source,
}

/// The factor of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Number of CPUs of this machine.
    Vcpu,
    /// Size of the filesystem, GiB.
    Gib,
    /// Size of the filesystem, TiB.
    Tib,
}

/// A range of a figure, given by its worse end.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Band {
    /// The worst value in the range, in the requirement's unit; `None` for the last range.
    pub(crate) limit: Option<f64>,
    pub(crate) name: String,
}

/// A part of the text, with a sentence about it.
type Fault = (Range<usize>, String);

impl Profile {
    /// Reads a profile. `place`: the file's path, for errors.
    ///
    /// # Errors
    /// With the path and line, when it is no TOML, has an unknown key or figure, or contradicts itself.
    pub fn read(place: &str, text: &str) -> Result<Profile, Problem> {
        let fault = |(span, what): Fault| {
            let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
            Problem::new(format!("{place}:{line}: {what}"))
        };
        let written: WrittenProfile = toml::from_str(text)
            .map_err(|error| fault((error.span().unwrap_or(0..0), error.message().replace('\n', " "))))?;
        Profile::checked(written).map_err(fault)
    }

    fn checked(written: WrittenProfile) -> Result<Profile, Fault> {
        let source =
            Source { title: written.source, read_on: written.read, kind: written.kind, confidence: written.confidence };
        let mut tests = Vec::new();
        for test in written.test {
            let test = checked_test(test, &tests)?;
            tests.push(test);
        }
        let gates = written.gate.into_iter().map(|gate| checked_gate(gate, &source));
        let requirements = written.requirement.into_iter().map(|asked| checked_requirement(asked, &tests, &source));
        let profile = Profile {
            title: written.title,
            about: written.about.trim().to_string(),
            applies_to: written.applies_to,
            only_on: written.only_on,
            gates: gates.collect::<Result<_, _>>()?,
            requirements: requirements.collect::<Result<_, _>>()?,
            tests,
            source,
            name: written.name.get_ref().clone(),
        };
        let ids = profile.gates.iter().map(|gate| &gate.id).chain(profile.requirements.iter().map(|asked| &asked.id));
        let mut ids: Vec<&String> = ids.collect();
        sort::by(&mut ids, Ord::cmp);
        match ids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err((written.name.span(), format!("two rows have the id `{}`", pair[0]))),
            None if ids.is_empty() => {
                Err((written.name.span(), "it asks for nothing: no [[gate]], no [[requirement]]".into()))
            }
            None => Ok(profile),
        }
    }

    /// Whether it is about object stores; all of its tests and gates are then.
    pub(crate) fn is_of_objects(&self) -> bool {
        let of_test = |test: &Test| crate::line::is_of_objects(&test.work.words());
        self.tests.iter().any(of_test) || self.gates.iter().any(|gate| matches!(gate.condition, Condition::Function(_)))
    }

    /// The test with this id.
    pub(crate) fn test(&self, id: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.id == id)
    }

    /// The requirements for this tier: those of other tiers are left out. If the profile does not have the tier, all
    /// are kept.
    pub(crate) fn requirements_of(&self, tier: Option<&str>) -> Vec<&Requirement> {
        let known = tier.is_some_and(|tier| self.tiers().contains(&tier));
        let wanted = |asked: &&Requirement| !known || asked.tier.is_none() || asked.tier.as_deref() == tier;
        self.requirements.iter().filter(wanted).collect()
    }

    /// The tests that these requirements are measured by.
    pub(crate) fn tests_of(&self, tier: Option<&str>) -> Vec<&Test> {
        let requirements = self.requirements_of(tier);
        let used = |test: &&Test| requirements.iter().any(|asked| asked.rests_on(test));
        self.tests.iter().filter(used).collect()
    }

    /// The names of its tiers.
    pub fn tiers(&self) -> Vec<&str> {
        let mut tiers: Vec<&str> = Vec::new();
        for tier in self.requirements.iter().filter_map(|asked| asked.tier.as_deref()) {
            if !tiers.contains(&tier) {
                tiers.push(tier);
            }
        }
        tiers
    }
}

fn checked_test(written: WrittenTest, before: &[Test]) -> Result<Test, Fault> {
    let WrittenTest { id, title, origin, why, sound_for, words, small_files, requests } = written;
    if before.iter().any(|test| test.id == *id.get_ref()) {
        return Err((id.span(), format!("two tests have the id `{}`", id.get_ref())));
    }
    let work = match (words, small_files, requests) {
        (Some(words), false, None) => {
            let span = words.span();
            crate::line::check(words.get_ref()).map_err(|reason| (span, reason))?;
            Work::Line(words.into_inner())
        }
        (None, true, None) => Work::SmallFiles,
        (None, false, Some(requests)) => Work::Requests(checked_requests(&requests)?),
        _ => return Err((id.span(), "a test has one of `words`, `small-files = true` and `requests`".to_string())),
    };
    let origin = match (&sound_for, origin) {
        (None, Some(origin)) => origin.into(),
        (None, None) => return Err((id.span(), "`origin` is missing: vendor, equivalent or ours".to_string())),
        (Some(of), None) if before.iter().any(|test| test.id == *of.get_ref() && test.sound_for.is_none()) => {
            TestOrigin::Sound
        }
        (Some(of), None) => return Err((of.span(), format!("there is no test `{}` before this one", of.get_ref()))),
        (Some(of), Some(_)) => return Err((of.span(), "a sound variant has no `origin`: it is ours".to_string())),
    };
    let sound_for = sound_for.map(Spanned::into_inner);
    Ok(Test { id: id.into_inner(), title, origin, why, sound_for, work })
}

/// Refuses requests that would ask for nothing, and more at once than a check may open.
fn checked_requests(written: &Spanned<PlainRequests>) -> Result<PlainRequests, Fault> {
    let PlainRequests { objects, object_bytes, connections, requests, .. } = *written.get_ref();
    let is_one = objects > 0 && object_bytes > 0 && requests > 0 && (1..=CONNECTIONS_MAX).contains(&connections);
    let text = || format!("requests need objects, bytes, requests and 1 to {CONNECTIONS_MAX} connections");
    if is_one { Ok(*written.get_ref()) } else { Err((written.span(), text())) }
}

/// The most connections of requests that no job makes.
const CONNECTIONS_MAX: u32 = 256;

fn checked_gate(written: WrittenGate, source: &Source) -> Result<Gate, Fault> {
    let WrittenGate {
        id,
        title,
        because,
        not_on,
        lock,
        free_bytes,
        words,
        function,
        source: title_of_source,
        read,
        kind,
        confidence,
    } = written;
    let words = match words {
        None => None,
        Some(words) => {
            crate::line::check(words.get_ref()).map_err(|reason| (words.span(), reason))?;
            Some(words.into_inner())
        }
    };
    let mut conditions = [
        not_on.map(Condition::NotOn),
        lock.map(Condition::Lock),
        free_bytes.map(Condition::FreeBytes),
        words.map(Condition::Runs),
        function.map(Condition::Function),
    ]
    .into_iter()
    .flatten();
    let (Some(condition), None) = (conditions.next(), conditions.next()) else {
        return Err((id.span(), "a gate has one of not-on, lock, free-bytes, words and function".to_string()));
    };
    let source = source.with(title_of_source, read, kind, confidence);
    Ok(Gate { id: id.into_inner(), title, condition, because, source })
}

fn checked_requirement(written: WrittenRequirement, tests: &[Test], source: &Source) -> Result<Requirement, Fault> {
    let id_span = written.id.span();
    let metric = Metric::parse(written.metric.get_ref()).map_err(|reason| (written.metric.span(), reason))?;
    let (dimension, unit_size) =
        metric::unit(written.unit.get_ref()).map_err(|reason| (written.unit.span(), reason))?;
    // A request that lists is about many objects.
    let of_test = tests.iter().find(|test| test.id == *written.test.get_ref());
    let objects_each = of_test.filter(|_| written.unit.get_ref() == metric::OBJECTS_PER_S);
    let unit_size = unit_size / objects_each.map_or(1.0, |test| test.work.objects_each());
    if dimension != metric.dimension() {
        let text = format!(
            "{} is {}, and {} is {dimension}",
            written.metric.get_ref(),
            metric.dimension(),
            written.unit.get_ref()
        );
        return Err((written.unit.span(), text));
    }
    let test = written.test.get_ref();
    let sound = |known: &Test| !written.vendors_test_only && known.sound_for.as_ref() == Some(test);
    let with_test = || tests.iter().filter(|known| known.id == *test || sound(known));
    if !tests.iter().any(|known| known.id == *test && known.sound_for.is_none()) {
        return Err((written.test.span(), format!("there is no test `{test}` (a sound variant runs with its own)")));
    }
    let missing = with_test().find_map(|test| Some((&test.id, test.work.missing_figure(metric)?)));
    if let Some((test, reason)) = missing {
        let text = format!("{} cannot come from the test `{test}`: {reason}", written.metric.get_ref());
        return Err((written.metric.span(), text));
    }
    let (bound, threshold) = match (written.at_most, written.at_least) {
        (Some(most), None) => (Bound::AtMost, most),
        (None, Some(least)) => (Bound::AtLeast, least),
        _ => return Err((id_span, "a requirement has one of at-most and at-least".to_string())),
    };
    if !(threshold.is_finite() && threshold > 0.0) {
        return Err((id_span, format!("a limit is above 0, and {threshold} is not")));
    }
    let source = source.with(written.source, written.read, written.kind, written.confidence);
    Ok(Requirement {
        id: written.id.into_inner(),
        title: written.title,
        test: written.test.into_inner(),
        metric_name: written.metric.into_inner(),
        metric,
        bound,
        threshold,
        unit: written.unit.into_inner(),
        unit_size,
        per: written.per,
        judged_at_percent: written.judged_at_percent,
        tier: written.tier,
        vendors_test_only: written.vendors_test_only,
        bands: written.band,
        source,
    })
}

impl Source {
    /// This source, with the fields that a row overrides.
    fn with(
        &self,
        title: Option<String>,
        read_on: Option<String>,
        kind: Option<RequirementKind>,
        confidence: Option<Confidence>,
    ) -> Source {
        Source {
            title: title.unwrap_or_else(|| self.title.clone()),
            read_on: read_on.unwrap_or_else(|| self.read_on.clone()),
            kind: kind.unwrap_or(self.kind),
            confidence: confidence.unwrap_or(self.confidence),
        }
    }
}

impl Requirement {
    /// Whether the requirement is measured by a test, or by its sound variant.
    pub(crate) fn rests_on(&self, test: &Test) -> bool {
        test.id == self.test || (!self.vendors_test_only && test.sound_for.as_ref() == Some(&self.test))
    }

    /// The vendor's word for a value, in the requirement's unit.
    pub(crate) fn band(&self, value: f64) -> Option<&str> {
        let within = |band: &&Band| match (band.limit, self.bound) {
            (None, _) => true,
            (Some(limit), Bound::AtLeast) => value >= limit,
            (Some(limit), _) => value <= limit,
        };
        self.bands.iter().find(within).map(|band| band.name.as_str())
    }
}

#[cfg(test)]
mod tests;
