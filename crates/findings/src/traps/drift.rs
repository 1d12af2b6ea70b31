//! T16: a rate that has not settled.

use fsdyno_results::{Finding, Severity};
use fsdyno_stats::{Sensitivity, change_point, drift, median};

use super::throttled::limited_later;
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, rate};

pub(crate) const ID: &str = "drift";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T16",
    title: "The rate did not settle",
    happens: "An SSD that collects garbage or gets hot slows down for minutes; a cache that fills speeds up. The mean \
              of such a run describes no stable state, and a run of another length gives another number.",
    seen: "Checked for runs of ten seconds or more. The medians of the first and the last third differ by a fifth or \
           more, and the rates follow a trend (Mann–Kendall, p at most 0.01) or change level. It is a caution. Jobs \
           with a rate limit or think time are not checked, and a fall that `burst` explains is not reported twice.",
    advice: "Run until the rate settles: --ramp_time skips the beginning, --steadystate stops by itself, --runtime \
             makes the run longer.",
    documented: "SNIA Solid State Storage Performance Test Specification; fio documentation, steadystate; TKperf issue 35",
};

/// Least number of values (seconds) for a trend.
const VALUES_MIN: usize = 10;
/// p-value of the Mann-Kendall test: noise gives such a trend in one run of a hundred.
const P_VALUE: f64 = 0.01;
/// Least distance of the last third from the first, as a share of the first.
const DISTANCE: f64 = 0.2;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced());
    rows.filter(|(stage, row)| limited_later(evidence, stage, row).is_none())
        .filter_map(|(_, row)| judge(row))
        .collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let rates = row.rates();
    let values = &rates.values;
    if values.len() < VALUES_MIN {
        return None;
    }
    let third = values.len() / 3;
    let (first, last) = (median(&values[..third])?, median(&values[values.len() - third..])?);
    let moved = last / first - 1.0;
    let leans = drift(values).is_some_and(|drift| drift.p_value <= P_VALUE);
    let jumps = change_point(values, &Sensitivity::default()).is_some();
    if !moved.is_finite() || moved.abs() < DISTANCE || !(leans || jumps) {
        return None;
    }
    let (way, next) = if moved < 0.0 {
        ("fell", "run longer, until it settles: --time_based --runtime=600, or --steadystate")
    } else {
        ("rose", "skip the beginning: --ramp_time=30 --time_based --runtime=60")
    };
    let cause = format!(
        "the rate {way} by {} during the run, from {} to {}: it did not settle",
        percent(moved.abs()),
        rate(first),
        rate(last)
    );
    Some(
        Report::new(ID, Severity::Caution, row.name)
            .number("rate of the first third", first, "B/s")
            .number("rate of the last third", last, "B/s")
            .says(cause, next),
    )
}
