//! Earlier studies of the same storage and question. A change is judged against their scatter.

use super::{Measure, differences};
use crate::studies::{Digest, Trust};
use fsdyno_stats::Scatter;

/// Whether both studies ask the same question about the same places on the same machine.
pub fn is_repeat(study: &Digest, other: &Digest) -> bool {
    let places = || study.targets.iter().map(|target| &target.path).eq(other.targets.iter().map(|target| &target.path));
    study.host_name == other.host_name && places() && differences(study, other, |_| String::new()).is_empty()
}

/// The studies that were made before these two and ask the same as the base, in the given order. Studies between the
/// two do not count, because the change may already have happened in them.
pub fn earlier<'a>(base: &Digest, new: &Digest, kept: &'a [Digest]) -> Vec<&'a Digest> {
    let first = base.started_ms.min(new.started_ms);
    let counts = |study: &&Digest| study.complete && study.started_ms < first && is_repeat(study, base);
    kept.iter().filter(counts).collect()
}

/// How far a figure scatters from study to study; the base is the last study. A study does not count if the test's
/// figures are invalid, or if it has more than `rounds` rounds: then it scatters less than the studies that are
/// compared.
pub fn scatter(studies: &[&Digest], target: usize, pattern: &str, measure: Measure, rounds: usize) -> Scatter {
    let Some((base, earlier)) = studies.split_last() else { return Scatter::Assumed };
    let values = |study: &Digest| match study.test(target, pattern) {
        Some(test) => (test.trust < Trust::Invalid).then(|| test.values(measure)),
        None => Some(Vec::new()),
    };
    let Some(of_base) = values(base) else { return Scatter::Assumed };
    let of_earlier = earlier.iter().filter_map(|study| values(study)).filter(|values| values.len() <= rounds);
    Scatter::of(&of_earlier.chain([of_base]).collect::<Vec<_>>())
}
