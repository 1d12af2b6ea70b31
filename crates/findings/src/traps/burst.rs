//! T15: a fast beginning on burst credit.

use fsdyno_results::{Finding, Severity};
use fsdyno_stats::{Sensitivity, change_point};

use super::throttled::limited_later;
use super::writes_in_memory::without_sync;
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, rate};

pub(crate) const ID: &str = "burst";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T15",
    title: "Fast at first, then slow: burst credit or a full cache",
    happens: "Cloud volumes have burst credits, SSDs have a fast part of their flash, controllers and page caches \
              have memory. A short test ends before these are used up. The mean of a longer test mixes both speeds.",
    seen: "The rate falls from one level to another by a quarter or more. Each level lasts at least 5 s, and almost \
           no second of one level reaches the other (p at most 0.01). It is a caution. Jobs with a rate limit or \
           think time are not checked, nor is a fall to a limit that the control group got during the run.",
    advice: "For sustained load use the later figure, and run for five minutes or more: --time_based --runtime=300.",
    documented: "Amazon EBS user guide, gp2 burst credits; linux ena_ethtool.c; thomas-krenn TKperf issue 35",
};

/// Later level divided by the earlier one: a smaller fall is normal variation.
const FALL: f64 = 0.75;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced());
    // A limit that was set during the run is not a credit that ended.
    rows.filter(|(stage, row)| limited_later(evidence, stage, row).is_none())
        .filter_map(|(_, row)| judge(row))
        .collect()
}

/// The rates before and after a fall, and its second.
fn fall(row: &JobInStage<'_>) -> Option<(f64, f64, usize)> {
    let rates = row.rates();
    let change = change_point(&rates.values, &Sensitivity { change_min: 1.0 - FALL, ..Sensitivity::default() })?;
    let (before, after) = (change.before_median, change.after_median);
    (after <= before * FALL).then_some((before, after, change.index * rates.step_s))
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let (before, after, seconds) = fall(row)?;
    let reason = if without_sync(row) { "in memory" } else { "from burst credit or a cache" };
    let cause = format!(
        "{} for the first {seconds} s, then {} ({} of it): the fast part came {reason}",
        rate(before),
        rate(after),
        percent(after / before)
    );
    Some(
        Report::new(ID, Severity::Caution, row.name)
            .number("rate at first", before, "B/s")
            .number("rate later", after, "B/s")
            .number("time of the change", seconds as f64, "s")
            .says(
                cause,
                format!("use the later figure; run again with --time_based --runtime=300 --ramp_time={}", seconds + 5),
            ),
    )
}
