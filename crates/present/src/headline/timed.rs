//! Computes the figures of timed commands and the sentences on them: how long, how much of it is due to storage, how
//! many requests.

use fsdyno_results::{Interval, Metric, Question, TestRounds, TreeRecord};
use fsdyno_stats::median;
use fsdyno_text::quantity::{bytes, count, counted, latency};
use schemars::JsonSchema;
use serde::Serialize;

use super::standing::PatternRanking;
use super::test::rounded;
use crate::quantity::{listed, times as times_of};
use crate::summary::{Grid, PatternLine};

/// The times of one command on one storage, over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeFigures {
    /// The command's name, the same as its test's.
    pub name: String,
    /// The storage's name.
    pub target: String,
    /// Whether it is the reference run in memory.
    pub reference: bool,
    /// Number of runs that did not fail.
    pub runs: usize,
    /// State of the caches before each run, in words: `data cold, names warm`.
    pub cache: Option<String>,
    /// Time from the start to the end of the last process, s.
    pub wall_s: Option<Times>,
    /// CPU time of all processes, s; the median.
    pub cpu_s: Option<f64>,
    /// Wall time minus CPU time, s; the median. `None`: several processors worked, so that the difference means
    /// nothing.
    pub waits_s: Option<f64>,
    /// Time of the sync after the command, s; the median.
    pub sync_s: Option<f64>,
    /// Requests that the storage answered, including those of the sync; the median.
    pub requests: Option<f64>,
    /// Bytes of these requests; the median.
    pub bytes: Option<f64>,
    /// What the server or daemon behind the place did in the last run, in words.
    pub behind: Option<String>,
    /// Share of the time that is due to storage, percent: what is saved when the same command runs in memory.
    pub storage_percent: Option<Share>,
    /// The fewest and the most requests of a run. `None`: too few runs to exclude chance, or to tell the command's
    /// requests from others' on the device.
    #[serde(skip)]
    requests_span: Option<[f64; 2]>,
    /// Whether any run counts; sentences use only runs that count.
    #[serde(skip)]
    is_told: bool,
}

/// Times of several runs, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    /// The median.
    pub median: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
    /// Interval of the median; `None`: too few runs.
    pub interval: Option<Interval>,
}

/// A share with its interval, percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// Median of the quotients of neighbouring rounds; with few rounds, the quotient of the medians.
    pub about: f64,
    /// Interval of the share; `None`: too few rounds.
    pub interval: Option<Interval>,
}

/// Storage's share counts as small below this: no other storage would make the command noticeably faster, percent.
const LITTLE_PERCENT: f64 = 5.0;

/// If the share's interval ends below this, other storage is not what the command needs, percent.
const NOT_DECISIVE_PERCENT: f64 = 20.0;

/// Least number of runs for which counts that do not overlap are no chance: with four runs each, chance makes it so in
/// 1 of 35 cases.
const COUNTED_RUNS: usize = 4;

/// Counts whose quotient is smaller are shown in the table only.
const TIMES_MIN: f64 = 1.5;

/// The figures of a study of commands; empty for other questions.
pub(super) fn all(grid: &Grid<'_>) -> Vec<TimeFigures> {
    if grid.study.question != Question::Time {
        return Vec::new();
    }
    grid.cells().map(|(line, target, cell)| TimeFigures::of(grid, line, target, cell)).collect()
}

impl TimeFigures {
    fn of(grid: &Grid<'_>, line: &PatternLine<'_>, target: usize, cell: &TestRounds<'_>) -> TimeFigures {
        let ran: Vec<_> = cell.counted().into_iter().filter(|repeat| repeat.error().is_none()).collect();
        let trees = || ran.iter().filter_map(|repeat| repeat.row.tree.as_ref());
        let middle = |values: Vec<f64>| median(&values).map(rounded_s);
        let of_trees = |figure: &dyn Fn(&TreeRecord) -> Option<f64>| -> Option<f64> {
            // A figure that some runs lack would describe the others alone.
            let values: Option<Vec<f64>> = trees().map(figure).collect();
            middle(values?)
        };
        let requests: Option<Vec<u64>> = trees().map(TreeRecord::requests).collect();
        let phases = || ran.iter().filter_map(|repeat| repeat.phase);
        let waits: Option<Vec<f64>> =
            phases().map(|phase| Some(phase.elapsed_ns.checked_sub(phase.cpu_ns)? as f64 / 1e9)).collect();
        let walls: Vec<f64> = phases().map(|phase| phase.elapsed_ns as f64 / 1e9).collect();
        TimeFigures {
            name: line.pattern.clone(),
            target: grid.targets[target].clone(),
            reference: grid.is_reference(target),
            runs: ran.len(),
            cache: phases().next().and_then(|phase| phase.cache.clone()),
            wall_s: Times::of(&walls),
            cpu_s: middle(phases().map(|phase| phase.cpu_ns as f64 / 1e9).collect()),
            waits_s: waits.and_then(middle),
            sync_s: of_trees(&|tree| Some(tree.sync_ns? as f64 / 1e9)),
            requests: of_trees(&|tree| Some(tree.requests()? as f64)),
            bytes: of_trees(&|tree| Some(tree.bytes()? as f64)),
            requests_span: requests.filter(|all| all.len() >= COUNTED_RUNS).map(|all| {
                let (least, most) = (all.iter().min(), all.iter().max());
                [least, most].map(|of| of.map_or(0.0, |requests| *requests as f64))
            }),
            behind: trees().next_back().and_then(behind),
            storage_percent: Share::of(grid, line, target),
            is_told: cell.counts(Metric::Wall),
        }
    }

    /// The median time with its range: `2.58 s (median of 5 runs, 2.44 s to 15.8 s)`.
    fn takes(&self) -> Option<String> {
        let Times { median, least, most, .. } = self.wall_s?;
        let [median, least, most] = [median, least, most].map(seconds);
        let runs = self.runs;
        Some(if runs < 2 { median } else { format!("{median} (median of {runs} runs, {least} to {most})") })
    }
}

/// A time in words: `2.58 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    latency(seconds * 1e9)
}

/// Rounded to microseconds.
fn rounded_s(seconds: f64) -> f64 {
    rounded(seconds * 1e3) / 1e3
}

impl Times {
    fn of(walls: &[f64]) -> Option<Times> {
        let interval = fsdyno_results::interval_of_rounds(walls);
        Some(Times {
            median: rounded_s(median(walls)?),
            least: rounded_s(walls.iter().copied().fold(f64::INFINITY, f64::min)),
            most: rounded_s(walls.iter().copied().fold(0.0, f64::max)),
            interval: interval.map(|found| Interval {
                low: rounded_s(found.low),
                high: rounded_s(found.high),
                ..found
            }),
        })
    }
}

impl Share {
    fn of(grid: &Grid<'_>, line: &PatternLine<'_>, target: usize) -> Option<Share> {
        let memory =
            (0..grid.targets.len()).find(|index| grid.is_reference(*index)).filter(|index| *index != target)?;
        let (memory, here) = (&line.cells[memory], &line.cells[target]);
        // The quotient of the time here and the time in memory; an invalid run decides nothing.
        let count = [memory, here].into_iter().all(|cell| cell.counts(Metric::Wall));
        let times = here.ratio(memory, Metric::Wall).filter(|_| count)?;
        let share = |times: f64| rounded(((1.0 - 1.0 / times) * 100.0).max(0.0));
        let interval = times.interval.map(|found| Interval { low: share(found.low), high: share(found.high), ..found });
        Some(Share { about: share(times.value), interval })
    }

    /// The share in words, `at least 74 %`, `at most 18 %`; `None`: too few rounds, whose medians differ by chance.
    fn words(&self) -> Option<String> {
        let Interval { low, high, .. } = self.interval?;
        Some(if low >= LITTLE_PERCENT { format!("at least {low:.0} %") } else { format!("at most {high:.0} %") })
    }

    /// Whether it is certain that other storage would change little.
    fn is_little(&self) -> bool {
        self.interval.is_some_and(|interval| interval.high < NOT_DECISIVE_PERCENT)
    }
}

/// The answer in a sentence or two.
pub(super) fn sentence(grid: &Grid<'_>, times: &[TimeFigures], standings: &[PatternRanking]) -> Option<String> {
    if !standings.is_empty() {
        let rounds = counted(grid.rounds() as u64, "round");
        let of_one = |standing: &PatternRanking| format!("{}: {}", standing.name, standing.conclusion);
        let until_ended = || standings.iter().filter(|standing| !standing.with_sync);
        let undecided: Option<Vec<String>> = until_ended().map(PatternRanking::undecided).collect();
        if let Some(undecided) = undecided {
            let verb = if grid.rounds() == 1 { "is" } else { "are" };
            let ratios = if grid.rounds() == 1 { "" } else { "; median ratios" };
            return Some(format!("{rounds} {verb} too few to tell a difference{ratios}: {}", undecided.join("; ")));
        }
        // Too few rounds have no interval.
        let level = if until_ended().any(|standing| standing.interval.is_some()) { ", 99 %" } else { "" };
        return Some(format!(
            "{} (median ratio of {rounds}{level})",
            until_ended().map(of_one).collect::<Vec<_>>().join("; ")
        ));
    }
    let takes = |time: &TimeFigures| Some(format!("{} takes {} on {}.", time.name, time.takes()?, time.target));
    let asked = times.iter().filter(|time| !time.reference && time.is_told).count();
    let longest = longest(times)?;
    let of_several = if asked > 1 { format!(" It is the longest of {asked} commands.") } else { String::new() };
    Some(format!("{}{of_several}", takes(longest)?))
}

/// The command that takes longest on one of the storages.
fn longest(times: &[TimeFigures]) -> Option<&TimeFigures> {
    let wall = |time: &TimeFigures| time.wall_s.map_or(0.0, |wall| wall.median);
    let asked = times.iter().filter(|time| !time.reference && time.is_told);
    asked.max_by(|one, other| wall(one).total_cmp(&wall(other)))
}

/// The short labelled lines below the table.
pub(super) fn lines(times: &[TimeFigures], standings: &[PatternRanking]) -> Vec<(&'static str, String)> {
    // Only the longest command's lines; the table and JSON have all.
    let longest = longest(times).map(|time| time.name.as_str());
    let is_told = |time: &&TimeFigures| Some(time.name.as_str()) == longest && time.is_told;
    let times: Vec<TimeFigures> = times.iter().filter(is_told).cloned().collect();
    let times = &times[..];
    let synced = with_sync(times, standings).into_iter().map(|words| ("+ sync", words));
    let counts = synced.chain(counts(times).into_iter().map(|words| ("counts", words)));
    let behind = times.iter().filter_map(|time| Some(("behind", format!("{}: {}", time.target, time.behind.clone()?))));
    counts.chain(behind).chain(decides(times).map(|words| ("storage", words))).collect()
}

/// A sync that takes less than this share of a command's time cannot change the ranking.
const SYNC_SHARE: f64 = 0.01;

/// The second verdict: who is faster once everything is durable. `None`: little was left in memory.
fn with_sync(times: &[TimeFigures], standings: &[PatternRanking]) -> Option<String> {
    let weighs = |time: &TimeFigures| Some(time.sync_s? > time.wall_s?.median * SYNC_SHARE);
    let standing = standings.iter().find(|of| of.with_sync && times.iter().any(|time| time.name == of.name))?;
    let asked = times.iter().filter(|time| !time.reference);
    let (name, conclusion) = (&standing.name, &standing.conclusion);
    asked.filter_map(weighs).any(|weighs| weighs).then(|| format!("{name} until all is durable: {conclusion}"))
}

/// Number of kinds of operations that are named.
const KINDS: usize = 4;

/// The operations of the server or daemon behind a place in the last run: `GETATTR 1,204, LOOKUP 800 and 12 others`.
fn behind(tree: &TreeRecord) -> Option<String> {
    let wire = tree.during.wire.value()?;
    let operations = wire.operations.as_ref().map(|all| {
        let named = all.iter().take(KINDS).map(|operation| format!("{} {}", operation.name, count(operation.count)));
        let others: u64 = all.iter().skip(KINDS).map(|operation| operation.count).sum();
        let round_trips: u64 = all.iter().map(|operation| operation.round_trip_ms).sum();
        let others = (others > 0).then(|| format!("{} others", count(others)));
        let waited = seconds(round_trips as f64 / 1e3);
        format!("{} (together {waited} of round trips)", listed(&named.chain(others).collect::<Vec<_>>()))
    });
    // The daemon's own I/O is a part of the place's cost.
    let moved = wire.daemon_bytes.filter(|moved| moved.sum() > 0);
    let moved = moved.map(|moved| format!(", read {} and wrote {} itself", bytes(moved.read), bytes(moved.write)));
    let daemon = (wire.daemon_cpu_ns.is_some() || moved.is_some()).then(|| {
        // The clock of CPU time counts in steps of some ms.
        let cpu = wire.daemon_cpu_ns.filter(|ns| *ns > 0).map_or_else(
            || "the daemon's CPU time is not visible, or too short for its clock".to_owned(),
            |ns| format!("the daemon used {} of CPU", seconds(ns as f64 / 1e9)),
        );
        format!("{cpu}{}", moved.as_deref().unwrap_or_default())
    });
    let words: Vec<String> = operations.into_iter().chain(daemon).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A sentence on the storage's share of the time.
fn decides(times: &[TimeFigures]) -> Option<String> {
    let shares: Vec<(Share, &TimeFigures)> =
        times.iter().filter_map(|time| Some((time.storage_percent?, time))).collect();
    let name = &shares.first()?.1.name;
    let words = shares.iter().map(|(share, time)| Some(format!("{} on {}", share.words()?, time.target)));
    let Some(words) = words.collect::<Option<Vec<String>>>() else {
        return Some(format!("too few rounds to tell how much of the time of {name} it decides"));
    };
    let next = if shares.iter().all(|(share, _)| share.is_little()) { ": compare CPUs instead" } else { "" };
    Some(format!("decides {} of the time of {name}{next}", listed(&words)))
}

/// A sentence on who needs how many times the requests and bytes: counts are steady where times are not.
fn counts(times: &[TimeFigures]) -> Option<String> {
    let (most, least, more) = apart(times.iter().filter(|time| !time.reference))?;
    let bytes = most.bytes.zip(least.bytes).filter(|(_, least)| *least > 0.0).map(|(most, least)| most / least);
    let bytes = bytes.map(|found| format!(", and {} times the bytes", times_of(found))).unwrap_or_default();
    let (name, most, least, more) = (&most.name, &most.target, &least.target, times_of(more));
    Some(format!("{name} needs {more} times as many requests on {most} as on {least}{bytes}"))
}

/// The two places whose requests differ most, and the quotient: every run of the first needs more than any run of the
/// second.
fn apart<'a>(times: impl Iterator<Item = &'a TimeFigures> + Clone) -> Option<(&'a TimeFigures, &'a TimeFigures, f64)> {
    let known = times.filter_map(|time| Some((time, time.requests_span?, time.requests?)));
    let (most, [low, _], high_median) = known.clone().max_by(|one, other| one.1[0].total_cmp(&other.1[0]))?;
    let (least, [_, high], low_median) = known.min_by(|one, other| one.1[1].total_cmp(&other.1[1]))?;
    let more = high_median / low_median;
    (low > high && low_median > 0.0 && more >= TIMES_MIN).then_some((most, least, more))
}

#[cfg(test)]
mod tests;
