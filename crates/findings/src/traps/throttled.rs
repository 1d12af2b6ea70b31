//! T25: a limit held the rate at a fixed level.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};
use fsdyno_stats::{flat_plateau, median};

use crate::evidence::{DirectionTotals, Evidence, JobInStage, Stage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, percent, rate};

pub(crate) const ID: &str = "throttled";

pub(crate) const RAISE: &str = "run outside the limited control group, or report the limit with the number";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T25",
    title: "A rate limit set the number",
    happens: "Control groups, hypervisors and cloud volumes limit I/O to a configured rate. The number is then the \
              setting, not the storage. Buffered writes may bypass the same limit.",
    seen: "A control group limit on the devices (io.max, blkio.throttle), which the rate reaches by nine tenths and \
           exceeds by a fifth at most: a caution. A limit of I/Os is also compared with the requests that the device \
           received, since large requests are split. For a limit that was set during the run, only the last five \
           seconds or more count, however much the rate varied before. \
           Or a rate without the page cache stays within 1 % for twenty seconds. That is a caution if the device's \
           queue holds less than a quarter of an iodepth of four or more, else information, since a saturated link or \
           bus is flat too. Jobs with a rate limit or think time are not checked.",
    advice: "Compare the number with the limit, or run outside the limited control group.",
    documented: "linux Documentation/admin-guide/cgroup-v2.rst, io.max; Documentation/admin-guide/cgroup-v1/blkio-controller.rst; \
                 RFC 6585, 4",
};

/// The files that set the limit, in both versions of control groups.
pub(crate) const FILES: &str = "io.max, or blkio.throttle of version 1";
/// The share of the limit from which on the limit determines the rate.
const REACHED: f64 = 0.9;
/// A rate above this multiple of the limit was not held by it.
const PASSED: f64 = 1.2;
/// A limit that was set during the run must have held the rate for this time, s.
const HELD_S: usize = 5;
/// If the device's queue is at most this share of the iodepth, requests wait above the device.
const IDLE_QUEUE: f64 = 0.25;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows =
        evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced() && row.class() != StorageClass::Memory);
    let of_storage = rows.filter_map(|(stage, row)| {
        limited(stage, row).or_else(|| limited_later(evidence, stage, row)).or_else(|| plateau(stage, row))
    });
    #[cfg(feature = "object")]
    let of_storage = of_storage.chain(super::objects::refused::find(evidence));
    of_storage.collect()
}

/// A control group's limit that the stage reached.
pub(super) fn limited(stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let (line, limit) = standing(stage, row)?;
    let cause = format!(
        "{} is {} of the control group's limit ({line} in {FILES}): the limit is the number",
        limit.shown(),
        percent(limit.reached / limit.value)
    );
    Some(limit.report(row).says(cause, RAISE))
}

/// A limit that was set during the run, to which the rate fell.
pub(super) fn limited_later(evidence: &Evidence<'_>, stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let ChangedLimit { line, limit, before, after, seconds } = set_later(evidence, stage, row)?;
    let cause = format!(
        "{} for the first {seconds} s, then {}, which is {} of a control group limit set during the run ({line} in {FILES})",
        rate(before),
        rate(after),
        percent(limit.reached / limit.value)
    );
    Some(limit.report(row).says(cause, "run again with the limit unchanged, or without it"))
}

/// The control group's limit that held the row, from its start or later, with the line that sets it.
pub(crate) fn of_control_group<'r>(
    evidence: &Evidence<'r>,
    stage: &Stage<'r>,
    row: &JobInStage<'r>,
) -> Option<(&'r str, Limit)> {
    standing(stage, row).or_else(|| set_later(evidence, stage, row).map(|later| (later.line, later.limit)))
}

fn standing<'r>(stage: &Stage<'r>, row: &JobInStage<'r>) -> Option<(&'r str, Limit)> {
    let limits = row.storage?.cgroup.io.value()?;
    let sum = |part: fn(DirectionTotals) -> f64, direction| {
        stage.rows.iter().map(|row| part(row.done(direction))).sum::<f64>()
    };
    // The kernel counts each part of a large request that it splits, and small ones that it merges once.
    let of_device = |direction| {
        let each = stage.flow.as_ref()?.device_requests_per_byte(direction)?;
        Some((sum(DirectionTotals::bytes_per_s, direction) * each, LimitedQuantity::DeviceRequests))
    };
    settings(limits).find_map(|Setting { line, direction, by_bytes, value }| {
        let (of_run, of_device) = match by_bytes {
            true => ((sum(DirectionTotals::bytes_per_s, direction), LimitedQuantity::Bytes), None),
            false => ((sum(DirectionTotals::ios_per_s, direction), LimitedQuantity::Ios), of_device(direction)),
        };
        let is_it = |(reached, _): &(f64, LimitedQuantity)| (value * REACHED..=value * PASSED).contains(reached);
        let (reached, counted) = [Some(of_run), of_device].into_iter().flatten().find(is_it)?;
        Some((line, Limit { value, reached, counted }))
    })
}

/// A limit that was set in some second of the run, with the bytes per second before and after.
struct ChangedLimit<'r> {
    line: &'r str,
    limit: Limit,
    before: f64,
    after: f64,
    seconds: usize,
}

/// Finds a limit that was set later: the rate was above it, then no more until the end, and half of the seconds since
/// then reached it. How much the rate varied before does not matter.
fn set_later<'r>(evidence: &Evidence<'r>, stage: &Stage<'r>, row: &JobInStage<'r>) -> Option<ChangedLimit<'r>> {
    let limits = evidence.ledger()?.io_limits_after.value()?;
    let unchanged = row.storage?.cgroup.io.value() == Some(limits);
    let [_] = &stage.rows[..] else { return None };
    let rates = row.rates();
    let all = Transfer::BOTH.map(|direction| row.done(direction).bytes as f64).iter().sum::<f64>().max(1.0);
    settings(limits).filter(|_| !unchanged).find_map(|Setting { line, direction, by_bytes, value }| {
        let done = row.done(direction);
        // The part of the row's bytes that counts against the limit.
        let counted = if by_bytes { done.bytes } else { done.ios } as f64 / all;
        let first = rates.values.iter().rposition(|rate| rate * counted > value * PASSED)? + 1;
        let (before, after) = rates.values.split_at(first);
        let (before, after) = (median(before)?, median(after).filter(|_| after.len() * rates.step_s >= HELD_S)?);
        let kind = if by_bytes { LimitedQuantity::Bytes } else { LimitedQuantity::Ios };
        let limit = Limit { value, reached: after * counted, counted: kind };
        let held = limit.reached >= value * REACHED;
        held.then_some(ChangedLimit { line, limit, before, after, seconds: first * rates.step_s })
    })
}

/// A limit, and the rate that was reached.
pub(crate) struct Limit {
    pub(crate) value: f64,
    pub(crate) reached: f64,
    pub(crate) counted: LimitedQuantity,
}

/// What a limit counts per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LimitedQuantity {
    Bytes,
    /// The run's own requests.
    Ios,
    /// The requests that the device received for them, which are other ones in number and size.
    DeviceRequests,
}

impl Limit {
    /// The words after the figure; a figure of bytes has its unit.
    pub(crate) fn unit(&self) -> &'static str {
        match self.counted {
            LimitedQuantity::Bytes => "",
            LimitedQuantity::Ios => " I/Os per second",
            LimitedQuantity::DeviceRequests => " device requests per second",
        }
    }

    fn shown(&self) -> String {
        let figure = if self.counted == LimitedQuantity::Bytes { rate(self.reached) } else { number(self.reached) };
        format!("{figure}{}", self.unit())
    }

    fn report(&self, row: &JobInStage<'_>) -> Report {
        let unit = if self.counted == LimitedQuantity::Bytes { "B/s" } else { "1/s" };
        let report = Report::new(ID, Severity::Caution, row.name);
        report.number("limit", self.value, unit).number("reached", self.reached, unit)
    }
}

/// One limit in a line such as `8:0 rbps=1048576 wiops=max`.
struct Setting<'r> {
    line: &'r str,
    direction: Transfer,
    by_bytes: bool,
    value: f64,
}

fn settings(lines: &[String]) -> impl Iterator<Item = Setting<'_>> {
    let words = lines.iter().flat_map(|line| line.split([' ', ',']).map(move |word| (line.as_str(), word)));
    words.filter_map(|(line, word)| {
        let (key, value) = word.split_once('=')?;
        let (direction, by_bytes) = match key {
            "rbps" => (Transfer::Read, true),
            "wbps" => (Transfer::Write, true),
            "riops" => (Transfer::Read, false),
            "wiops" => (Transfer::Write, false),
            _ => return None,
        };
        let value = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0)?;
        Some(Setting { line, direction, by_bytes, value })
    })
}

/// A rate that stays constant.
fn plateau(stage: &Stage<'_>, row: &JobInStage<'_>) -> Option<Finding> {
    let rates = row.rates();
    let flat = flat_plateau(&rates.values).filter(|_| !row.buffered())?;
    let scatter = flat.coefficient_of_variation;
    let flow = stage.flow.as_ref();
    let depth = flow.and_then(|flow| flow.device.as_ref()?.depth(flow.seconds));
    let asked: u64 = stage.rows.iter().map(JobInStage::depth_asked).fold(0, u64::saturating_add);
    let idle =
        depth.filter(|depth| asked >= 4 && !row.first().plan.synchronous_engine && *depth < asked as f64 * IDLE_QUEUE);
    let sentence =
        format!("{} for {} s within {}", rate(flat.mean), flat.length * rates.step_s, percent(scatter.max(0.0001)));
    let (severity, cause) = match idle {
        Some(depth) => (
            Severity::Caution,
            format!(
                "{sentence} while the device's queue held {depth:.1} of {asked} requests: something above the device \
                 limits the rate"
            ),
        ),
        None => (Severity::Info, format!("{sentence}: the ceiling of a configured limit or of a link")),
    };
    let report = Report::new(ID, severity, row.name).number("rate", flat.mean, "B/s").number(
        "deviation over mean",
        scatter,
        "ratio",
    );
    Some(report.says(cause, "compare with the limits of the volume, the control group and the link"))
}
