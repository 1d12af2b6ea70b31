//! Finds the number of nodes from which on the total no longer grows, and what limits it there.

use fsdyno_findings::limits::{Limit, Phrase};
use fsdyno_results::{Interval, Row, Study, SweepPoint};
use fsdyno_stats::{Knee, knee};
use fsdyno_text::quantity::{bytes_per_s, count_per_s, counted, number};

use crate::requests::Requests;
use crate::sweep::loads_of;

/// A rise above this share is a gain.
pub(super) const GAIN: f64 = 0.1;

/// The word before the number of nodes in a row's name.
pub(super) const WORD: &str = "n";

/// Rates of requests of at least this size are shown in bytes per second.
const LARGE_BYTES: u64 = 64 << 10;

/// The number of nodes of a step, and what they reached.
struct Step<'s> {
    nodes: u32,
    found: SweepPoint,
    rows: Vec<&'s Row>,
}

/// A sentence on the steps of one kind of request.
pub(super) fn sentence(study: &Study, requests: &Requests) -> String {
    let steps: Vec<Step<'_>> = study
        .numbered_points(&requests.pattern(), WORD)
        .into_iter()
        .filter_map(|(nodes, rows)| Some(Step { nodes, found: SweepPoint::of(&rows)?, rows }))
        .collect();
    format!("{}: {}", requests.title(), KneeWords { requests }.description(&steps))
}

struct KneeWords<'r> {
    requests: &'r Requests,
}

impl KneeWords<'_> {
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
                // The gain was found by comparing round with round; the medians of all rounds need not show it.
                let more = if gained < 0.5 {
                    String::new()
                } else {
                    format!(", {} % more than with {}", number(gained), before.nodes)
                };
                let (upto, rate) = (nodes(last.nodes), self.rate(last));
                format!("does not saturate up to {upto}: {rate} there{more}. {}", self.ends(first, last))
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
        let interval = interval
            .map(|Interval { low, high, confidence }| format!(" ({:.0} %: {low} to {high})", confidence * 100.0));
        let interval = interval.unwrap_or_default();
        format!("saturates at {}{interval}: {}{limited}. {ends}", nodes(count), self.rate(knee))
    }

    /// The rates of the first and the last step, in words.
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

/// The number of nodes with its verb: `1 node gets`, `4 nodes get`.
fn get(count: u32) -> String {
    format!("{} {}", nodes(count), if count == 1 { "gets" } else { "get" })
}

/// The number of nodes from which on the total does not grow, with its interval.
struct Saturation {
    nodes: u32,
    interval: Option<Interval>,
}

/// The intersection of two bounds of a closed system: the total grows as the first step's does, up to the height of the
/// last (E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter 5). It is kept above the step before
/// the knee, which is known to be too few, and at most at the knee, which is enough.
fn saturation(first: &Step<'_>, before: &Step<'_>, knee: &Step<'_>) -> Saturation {
    let bounded = |count: f64| (count.ceil() as u32).clamp(before.nodes + 1, knee.nodes);
    let each = f64::from(first.nodes);
    let interval = first.found.interval.zip(knee.found.interval).map(|(one, all)| {
        let found = quotient(all, one);
        let bounded = |quotient: f64| f64::from(bounded(quotient * each));
        Interval { low: bounded(found.low), high: bounded(found.high), ..found }
    });
    // With few rounds the interval may have a confidence of 50 % or less; then none is shown.
    let interval = interval.filter(|found| found.confidence > 0.5);
    Saturation { nodes: bounded(knee.found.iops / first.found.iops * each), interval }
}

/// The interval of the quotient of two rates. It is wrong only if one of the two intervals is: its confidence follows
/// from both.
fn quotient(of: Interval, by: Interval) -> Interval {
    Interval { low: of.low / by.high, high: of.high / by.low, confidence: of.confidence + by.confidence - 1.0 }
}

/// What limits a step, with the figure that shows it, if its runs agree.
fn limit(step: &Step<'_>) -> Option<String> {
    let limits: Vec<Limit> =
        step.rows.iter().filter_map(|row| fsdyno_findings::limits::of_run(row.run.as_ref()?).ok()).collect();
    let first = limits.first()?.limiter;
    let evidence = Phrase::joined(&limits.iter().map(|limit| &limit.evidence).collect::<Vec<_>>());
    let shown = evidence.filter(|words| !words.is_empty()).map(|words| format!(" ({words})")).unwrap_or_default();
    limits.iter().all(|limit| limit.limiter == first).then(|| format!("limited by {}{shown}", first.word()))
}

#[cfg(test)]
mod tests {
    use fsdyno_results::{RunRecord, Trust};
    use testkit::draw::{Test, TestWork, cases, number_after, numbers, printed, unexplained};

    use super::*;

    #[test]
    fn a_quotient_is_as_wide_as_both_of_its_parts() {
        let between = |low, high| Interval { low, high, confidence: 0.95 };
        let found = quotient(between(90.0, 120.0), between(20.0, 30.0));
        assert_eq!((found.low, found.high), (3.0, 6.0));
        assert!((found.confidence - 0.9).abs() < 1e-9, "{found:?}");
    }

    /// The median rate of the rounds that count, computed independently, 1/s.
    fn by_hand(study: &Study, nodes: u32) -> Option<f64> {
        let pattern = format!("randread-4k-n{nodes}");
        let rows = study.rows.iter().filter(|row| row.pattern == pattern && row.trust() < Trust::Invalid);
        let jobs = rows.filter_map(|row| row.run.as_ref()?.jobs.first()).filter(|job| job.error.is_none());
        let rates: Vec<f64> = jobs.map(|job| job.directions.read.ios as f64 / 2.0).filter(|rate| *rate > 0.0).collect();
        fsdyno_stats::median(&rates)
    }

    /// Each figure that the sentence may have: nodes up to the most, their rates and those of each of them, growth from step to
    /// step, and with which confidence the rates of two steps both lie in their intervals.
    fn known(study: &Study, rates: &[(u32, f64)]) -> Vec<f64> {
        let most = rates.last().map_or(0, |(nodes, _)| *nodes);
        let mut known: Vec<f64> = (1..=most).map(f64::from).collect();
        rates.iter().for_each(|(nodes, rate)| known.extend([*rate, rate / f64::from(*nodes)]));
        known.extend(rates.windows(2).map(|pair| (pair[1].1 / pair[0].1 - 1.0) * 100.0));
        let points = study.numbered_points("randread-4k", "n");
        let level = |(_, rows): &(u32, Vec<&Row>)| Some(SweepPoint::of(rows)?.interval?.confidence);
        let levels: Vec<f64> = points.iter().filter_map(level).collect();
        let both = levels.iter().flat_map(|one| levels.iter().map(move |other| one + other - 1.0));
        known.extend(both.map(|level| (level * 100.0).round_ties_even()));
        known
    }

    #[test]
    fn no_sentence_denies_its_table() {
        let requests = Requests::parse("randread", "4k").unwrap();
        for (case, mut draw) in cases(60) {
            let mut study = Study::of_run(RunRecord::new("test", 0));
            study.rows.clear();
            let (rounds, most) = (draw.one_of(&[1, 3, 4, 6]), draw.one_of(&[900.0, 3000.0, 1e6]));
            for nodes in [1u32, 2, 4, 8, 16] {
                let factor = draw.one_of(&[1.0, 1.0, 1.0, 0.6, 1.3]);
                let per_s = (f64::from(nodes) * 800.0).min(most) * factor;
                let pattern = format!("randread-4k-n{nodes}");
                let test = Test {
                    target: 0,
                    pattern: &pattern,
                    does: TestWork::Read,
                    depth: 4,
                    block_bytes: 4096,
                    rounds,
                    per_s,
                };
                study.rows.extend(draw.rounds(&test));
            }
            let text = sentence(&study, &requests);
            let rates: Vec<(u32, f64)> =
                [1, 2, 4, 8, 16].into_iter().filter_map(|nodes| Some((nodes, by_hand(&study, nodes)?))).collect();
            let told = || format!("case {case}: {text}\n{rates:?}");
            let of = |nodes: f64| {
                rates.iter().find(|(of, _)| f64::from(*of) == nodes).unwrap_or_else(|| panic!("{}", told())).1
            };
            let Some((last, ends)) = rates.last().zip(text.rsplit_once(" each).")) else {
                assert!(rates.len() < 2 && (text.contains("One step") || rates.is_empty()), "{}", told());
                continue;
            };
            let strange = unexplained(&text, &["4k random"], &known(&study, &rates), &[]);
            assert!(strange.is_empty(), "{strange:?}: {}", told());
            let shown = numbers(ends.0.rsplit(". ").next().unwrap());
            // The rates of the first step, the last one, and of each node in it.
            let [.., few, few_get, many, many_get, each] = shown[..] else { panic!("{}", told()) };
            assert!(printed(few_get, of(few)) && printed(many_get, of(many)), "{}", told());
            assert!((few, many) == (f64::from(rates[0].0), f64::from(last.0)), "{}", told());
            assert!(printed(each, last.1 / f64::from(last.0)), "{}", told());
            if let Some(at) = number_after(&text, "saturates at ") {
                // The step up to which it does not saturate has the rate that the sentence names.
                let (before, rest) = text.split_once(" IOPS").unwrap();
                let rate = *numbers(before).last().unwrap();
                assert!(
                    !rest.is_empty()
                        && rates.iter().any(|(nodes, found)| f64::from(*nodes) >= at && printed(rate, *found)),
                    "{}",
                    told()
                );
                if let Some((low, high)) =
                    text.split_once(" %: ").and_then(|(_, rest)| rest.split_once(')')?.0.split_once(" to "))
                {
                    let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
                    assert!(low <= at && at <= high, "{}", told());
                    let level = *numbers(text.split(" %: ").next().unwrap()).last().unwrap();
                    assert!(level > 50.0 && level < 97.0, "of six rounds: {}", told());
                }
            }
            if text.contains("does not saturate up to") {
                let grown = (last.1 / rates[rates.len() - 2].1 - 1.0) * 100.0;
                match text.split_once(" % more than with ") {
                    Some((before, _)) => assert!(printed(*numbers(before).last().unwrap(), grown), "{}", told()),
                    None => assert!(grown < 0.5, "{}", told()),
                }
            }
            if text.contains("all that there is") {
                let most = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
                assert!(most <= rates[0].1 * 1.1, "{}", told());
            }
        }
    }
}
