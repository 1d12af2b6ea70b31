//! From how many nodes on the total no longer grows, and what limits it there.

use results::quantity::{bytes_per_s, count_per_s, counted, number};
use results::statistics::{Knee, knee};
use results::{Interval, Row, Study, SweepPoint};

use crate::requests::Requests;
use crate::sweep::loads_of;

/// More than this is a gain, as a share.
const GAIN: f64 = 0.1;

/// From this block size on people think in bytes.
const LARGE_BYTES: u64 = 64 << 10;

/// A number of nodes and what came of it.
struct Step<'s> {
    nodes: u32,
    found: SweepPoint,
    rows: Vec<&'s Row>,
}

/// What the steps of one kind of request say.
pub(super) fn sentence(study: &Study, requests: &Requests) -> String {
    let steps: Vec<Step<'_>> = study
        .numbered_points(&requests.pattern(), "n")
        .into_iter()
        .filter_map(|(nodes, rows)| Some(Step { nodes, found: SweepPoint::of(&rows)?, rows }))
        .collect();
    format!("{}: {}", requests.title(), Words { requests }.description(&steps))
}

struct Words<'r> {
    requests: &'r Requests,
}

impl Words<'_> {
    fn description(&self, steps: &[Step<'_>]) -> String {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return "how it scales cannot be told: no number of nodes has a valid figure.".to_owned();
        };
        if steps.len() == 1 {
            return format!(
                "{} {}. One step shows no scaling: give --nodes a list.",
                get(first.nodes),
                self.rate(first)
            );
        }
        let loads = loads_of(&steps.iter().map(|step| (step.nodes, &step.found)).collect::<Vec<_>>());
        match knee(&loads, GAIN) {
            Some(Knee::At(at) | Knee::Level(at)) => self.saturated(steps, at),
            Some(Knee::Within(earliest, latest)) => format!(
                "saturates somewhere from {} to {}: the runs vary too much to tell closer. {}",
                steps[earliest].nodes,
                nodes(steps[latest].nodes),
                self.ends(first, last)
            ),
            Some(Knee::Beyond) => {
                let before = &steps[steps.len() - 2];
                let gained = (last.found.iops / before.found.iops - 1.0) * 100.0;
                format!(
                    "does not saturate up to {}: {} there, {} % more than with {}. {}",
                    nodes(last.nodes),
                    self.rate(last),
                    number(gained),
                    before.nodes,
                    self.ends(first, last)
                )
            }
            None => format!("where it saturates cannot be told from so few steps or runs. {}", self.ends(first, last)),
        }
    }

    fn saturated(&self, steps: &[Step<'_>], at: usize) -> String {
        let (first, last, knee) = (&steps[0], &steps[steps.len() - 1], &steps[at]);
        let limited = limit(knee).map(|limit| format!(", {limit}")).unwrap_or_default();
        let ends = self.ends(first, last);
        if at == 0 {
            return format!("{} all that there is: {}{limited}. {ends}", get(first.nodes), self.rate(first));
        }
        let Saturation { nodes: count, interval } = saturation(first, &steps[at - 1], knee);
        let interval = interval.map(|(low, high)| format!(" (95 %: {low} to {high})")).unwrap_or_default();
        format!("saturates at {}{interval}: {}{limited}. {ends}", nodes(count), self.rate(knee))
    }

    /// What the first and the last step get.
    fn ends(&self, first: &Step<'_>, last: &Step<'_>) -> String {
        let each = self.of(last, 1.0 / f64::from(last.nodes));
        format!("{} {}, {} {} ({each} each).", get(first.nodes), self.rate(first), get(last.nodes), self.rate(last))
    }

    fn rate(&self, step: &Step<'_>) -> String {
        self.of(step, 1.0)
    }

    fn of(&self, step: &Step<'_>, share: f64) -> String {
        if self.requests.largest_bytes >= LARGE_BYTES {
            bytes_per_s(step.found.bytes_per_s * share)
        } else {
            count_per_s(step.found.iops * share)
        }
    }
}

fn nodes(count: u32) -> String {
    counted(u64::from(count), "node")
}

/// `1 node gets`, `4 nodes get`.
fn get(count: u32) -> String {
    format!("{} {}", nodes(count), if count == 1 { "gets" } else { "get" })
}

/// From how many nodes on it does not grow.
struct Saturation {
    nodes: u32,
    /// 95 %.
    interval: Option<(u32, u32)>,
}

/// Where the rise of the first step meets the height of the last: the two bounds of a closed system (E. D. Lazowska et
/// al., "Quantitative System Performance", 1984, chapter 5). The step before the knee is known to be too few, that of the
/// knee to be enough.
fn saturation(first: &Step<'_>, before: &Step<'_>, knee: &Step<'_>) -> Saturation {
    let bounded = |count: f64| (count.ceil() as u32).clamp(before.nodes + 1, knee.nodes);
    let each = f64::from(first.nodes);
    let interval = first.found.interval.zip(knee.found.interval).map(|(one, all)| {
        let (least, most) = quotient(all, one);
        (bounded(least * each), bounded(most * each))
    });
    Saturation { nodes: bounded(knee.found.iops / first.found.iops * each), interval }
}

/// Between what the quotient of two rates lies, for all that both may be.
fn quotient(of: Interval, by: Interval) -> (f64, f64) {
    (of.low / by.high, of.high / by.low)
}

/// What limits a step, if its runs agree.
fn limit(step: &Step<'_>) -> Option<&'static str> {
    let limits: Vec<&str> = step
        .rows
        .iter()
        .filter_map(|row| findings::limits::of_run(row.run.as_ref()?).ok())
        .map(|limit| limit.limiter.word())
        .collect();
    let first = *limits.first()?;
    limits.iter().all(|limit| *limit == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_is_as_wide_as_both_of_its_parts() {
        let between = |low, high| Interval { low, high, confidence: 0.95 };
        assert_eq!(quotient(between(90.0, 120.0), between(20.0, 30.0)), (3.0, 6.0));
    }
}
