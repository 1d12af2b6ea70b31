//! Earlier studies of the same storage and question: a change is judged against their scatter.

use super::{Measure, obstacles};
use crate::statistics::Scatter;
use crate::studies::{Row, Study, Trust};

/// Whether both ask the same of the same places on the same machine.
pub fn is_repeat(study: &Study, other: &Study) -> bool {
    let places = |study: &Study| study.targets.iter().map(|target| target.path.clone()).collect::<Vec<_>>();
    study.host_name == other.host_name && places(study) == places(other) && obstacles(study, other).is_empty()
}

/// The studies that were made before these two and ask the same as the base, in the order in which they are given.
/// Those between the two are none of them: what is to be found may have happened in them already.
pub fn earlier<'a>(base: &Study, new: &Study, kept: &'a [Study]) -> Vec<&'a Study> {
    let first = base.started_ms.min(new.started_ms);
    kept.iter().filter(|study| study.complete && study.started_ms < first && is_repeat(study, base)).collect()
}

/// How far a figure scatters from study to study, of which the base is the last. A round that is invalid makes its
/// study none, and so does having more than so many rounds: it scatters less than those that are compared.
pub fn scatter(studies: &[&Study], target: usize, pattern: &str, measure: Measure, rounds: usize) -> Scatter {
    let Some((base, earlier)) = studies.split_last() else { return Scatter::Assumed };
    let values = |study: &Study| -> Option<Vec<f64>> {
        let rows: Vec<&Row> = study.repeats(target, pattern).collect();
        rows.iter().all(|row| row.trust() < Trust::Invalid).then(|| measure.values(&rows))
    };
    let Some(of_base) = values(base) else { return Scatter::Assumed };
    let of_earlier = earlier.iter().filter_map(|study| values(study)).filter(|values| values.len() <= rounds);
    Scatter::of(&of_earlier.chain([of_base]).collect::<Vec<_>>())
}
