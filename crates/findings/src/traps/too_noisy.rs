//! T26, second form: too noisy for a conclusion.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};
use fsdyno_stats::{coefficient_of_variation, median, median_absolute_deviation};

use super::throttled::limited_later;
use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{number, percent, rate};

pub(crate) const ID: &str = "too-noisy";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T26",
    title: "The rate varied too much",
    happens: "Other guests on the host, background work and garbage collection change the rate from second to second. \
              One run then says little about the next, and a difference between two runs says nothing.",
    seen: "The rates of the seconds deviate from their mean by 40 % or more, over at least six seconds, without a \
           level, trend or pause that explains it: a caution. Jobs with a rate limit or think time are not checked. \
           For a phase of operations on names three passes or more are compared: a caution if half of them or more are \
           a quarter or more away from the median.",
    advice: "Repeat at least five times, alternating with whatever it is compared with; `fsdyno compare` does that.",
    documented: "fio issue 955; hyperfine issues 238, 528, 580 on when to warn",
};

/// Standard deviation divided by the mean.
const VARIATION: f64 = 0.4;
/// Least number of values (seconds): the variation of fewer is chance.
pub(crate) const VALUES_MIN: usize = 6;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row) in evidence.rows().filter(|(_, row)| row.judgeable() && row.class() != StorageClass::Memory) {
        let rates = row.rates();
        let Some(scatter) = coefficient_of_variation(&rates.values).filter(|scatter| *scatter >= VARIATION) else {
            continue;
        };
        if rates.values.len() < VALUES_MIN || row.paced() || limited_later(evidence, stage, row).is_some() {
            continue;
        }
        let lowest = rates.values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = rates.values.iter().copied().fold(0.0, f64::max);
        let cause = format!(
            "the rate varied between {} and {} from second to second, {} of its mean: one run says little",
            rate(lowest),
            rate(highest),
            percent(scatter)
        );
        let report = Report::new(ID, Severity::Caution, row.name).number("deviation over mean", scatter, "ratio");
        found.push(report.says(cause, "repeat at least five times, for a minute each, and compare the medians"));
    }
    found
}

/// Least number of passes for a spread: with two, nobody knows which one is usual.
pub(crate) const PASSES_MIN: usize = 3;
/// Median distance of the passes from their median, as a share of it. A single disturbed pass does not change it.
const BETWEEN_PASSES: f64 = 0.25;

/// For the passes of a phase.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let rates = passes.rates();
    let middle = median(&rates)?;
    let scatter = median_absolute_deviation(&rates)? / middle;
    if rates.len() < PASSES_MIN || scatter < BETWEEN_PASSES {
        return None;
    }
    let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let cause = format!(
        "{} passes made between {} and {} operations per second: their median says little",
        rates.len(),
        number(lowest),
        number(highest)
    );
    let report = Report::new(ID, Severity::Caution, passes.name()).number("deviation over median", scatter, "ratio");
    Some(report.says(cause, "run again when nothing else uses the machine and the storage, and compare"))
}
