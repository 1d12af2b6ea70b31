//! T34: a time without any completed I/O.

use std::collections::BTreeMap;

use fsdyno_results::{Finding, JobRecord, Severity};

use crate::evidence::{Evidence, JobInStage, Stage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, time};

pub(crate) const ID: &str = "stalled";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T34",
    title: "All I/O stopped for a while",
    happens: "A server restarts, a path fails over, a device resets, a virtual machine migrates, or a program is \
              stopped: all I/O stops and later continues. Mean rates hide it, and the maximum latency shows one of its \
              requests only.",
    seen: "No I/O of the row completed for a second or more, although the row otherwise does twenty or more in that \
           time. The ledger's samples show whether fsdyno itself was stopped too. A caution from 2 % of the run time \
           on, else information. Jobs with a rate limit or think time are not checked.",
    advice: "Find what happened at that moment (kernel log, server log), and run again.",
    documented: "nfs(5), timeo and retrans; signal(7), SIGSTOP; linux Documentation/scsi/scsi_eh.rst",
};

/// A shorter pause is a long request, ms.
const QUIET_MS: u64 = 1_000;
/// Least number of I/Os that the row would have done meanwhile: fewer are chance.
const IOS_MIN: f64 = 20.0;
/// The share of the run's time from which on the pauses change the rate.
const SHARE: f64 = 0.02;
/// The clocks of workers and samples start up to this far apart, ms.
const APART_MS: u64 = 200;

/// Begin and end, ms since the row began.
type Span = (u64, u64);

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.all_rows().filter(|(_, row)| row.judgeable() && !row.paced());
    rows.filter_map(|(stage, row)| judge(evidence, stage, row)).collect()
}

fn judge(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let (first, others) = row.workers.split_first()?;
    let mut pauses = quiet(first);
    for other in others {
        let theirs = quiet(other);
        pauses.retain(|pause| theirs.iter().any(|their| overlap(*pause, *their) >= QUIET_MS));
    }
    let (from, to) = pauses.into_iter().max_by_key(|(from, to)| to - from)?;
    let (lost_ms, whole_ms) = (to - from, row.runtime_ms());
    let expected = row.ios() as f64 * lost_ms as f64 / whole_ms as f64;
    if expected < IOS_MIN {
        return None;
    }
    let share = lost_ms as f64 / whole_ms as f64;
    let who = match stood_still(evidence, stage, row, (from, to)) {
        Some(true) => "fsdyno was stopped too, or the whole machine was",
        Some(false) => "fsdyno kept running: the storage or the path to it did not respond",
        None => "not visible whether the storage or fsdyno was stopped",
    };
    let cause = format!(
        "no I/O completed for {} of {} ({}), {} after the start; {who}",
        time(lost_ms as f64 * 1e6),
        time(whole_ms as f64 * 1e6),
        percent(share),
        time(from as f64 * 1e6)
    );
    let severity = if share >= SHARE { Severity::Caution } else { Severity::Info };
    let report = Report::new(ID, severity, row.name).number("time without any I/O", lost_ms as f64, "ms").number(
        "its beginning",
        from as f64,
        "ms",
    );
    Some(report.says(cause, "search the logs of the kernel and the server for that moment, and run again"))
}

/// The times in which a worker did nothing: windows without a byte, and windows that are longer than usual.
fn quiet(worker: &JobRecord) -> Vec<Span> {
    let mut windows: BTreeMap<u64, u64> = BTreeMap::new();
    for (at_ms, value) in worker.directions.iter().flat_map(|(_, direction)| &direction.bandwidth_samples.series) {
        let sum = windows.entry(*at_ms).or_default();
        *sum = sum.saturating_add(*value);
    }
    let ends: Vec<(u64, u64)> = windows.into_iter().collect();
    let mut lengths: Vec<u64> = ends.windows(2).map(|two| two[1].0 - two[0].0).collect();
    fsdyno_stats::sort::by(&mut lengths, Ord::cmp);
    let Some(usual_ms) = lengths.get(lengths.len() / 2).copied() else { return Vec::new() };
    let mut spans: Vec<Span> = Vec::new();
    for two in ends.windows(2) {
        let ((from, _), (to, value)) = (two[0], two[1]);
        // A window ends some time after the pause: its usual length was not lost.
        let end = if value == 0 { to } else { to.saturating_sub(usual_ms) };
        match spans.last_mut() {
            Some(last) if last.1 == from && end > from => last.1 = end,
            _ if end > from => spans.push((from, end)),
            _ => {}
        }
    }
    spans.retain(|(from, to)| to - from >= QUIET_MS);
    spans
}

fn overlap(one: Span, two: Span) -> u64 {
    one.1.min(two.1).saturating_sub(one.0.max(two.0))
}

/// Whether the ledger's samples, taken each second, paused as well; `None`: they do not show it.
fn stood_still(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>, pause: Span) -> Option<bool> {
    let (ledger, began_ms) = (evidence.ledger()?, stage.flow.as_ref()?.begin.at_ms);
    let plan = &row.first().plan;
    let looks = ledger.samples.iter().filter(|sample| sample.stage == plan.stage);
    let times: Vec<u64> = looks.map(|sample| sample.at_ms.saturating_sub(began_ms)).collect();
    let inside = |at_ms: &&u64| **at_ms > pause.0.saturating_add(APART_MS) && at_ms.saturating_add(APART_MS) < pause.1;
    if plan.ramp_ms > 0 || ledger.missed > 0 {
        return None;
    }
    if times.iter().any(|at_ms| inside(&at_ms)) {
        return Some(false);
    }
    // Only samples that were taken each second can show a gap.
    let each_second = times.windows(2).filter(|two| two[1].saturating_sub(two[0]) < QUIET_MS + APART_MS).count() >= 2;
    (each_second && pause.1 - pause.0 >= QUIET_MS + 2 * APART_MS).then_some(true)
}
