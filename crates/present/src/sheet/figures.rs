//! Makes the full tables: all figures of each test on each storage, percentiles of latency, depth and CPU time.

use fsdyno_results::test_name::phase_of_part;
use fsdyno_results::{Interval, JobRecord, Lane, Metric, Question, Repeat, Row, TestRounds, Trust, VerdictRow};
use fsdyno_stats::sort;
use fsdyno_text::quantity::{Units, bytes, count as counted_in_full, rate_number, rate_unit};
use maud::{Markup, html};

use super::chart::distribution::Curve;
use super::outline::{Outline, badge, place_of, test};
use super::series::device_depth;
use super::table::{Table, TableRow};
use super::{charts, findings};
use crate::headline::verdict::figure;
use crate::headline::{Headline, LatencyMicroseconds, TestFigures, TimeFigures, seconds};
use crate::quantity::{duration, listed, number, percent, ratio, shortened, times_between};
use crate::summary::{Grid, PatternLine, did_nothing};

pub(super) fn section(grid: &Grid<'_>, headline: &Headline, place: &Outline) -> Markup {
    if grid.lines.is_empty() {
        return html! {};
    }
    place.section(
        "figures",
        "All figures",
        html! {
            (all(grid, headline, place))
            div.beside[grid.targets.len() == 1] {
                div { (percentiles(grid)) }
                div { (depth_and_cpu(grid)) }
            }
        },
    )
}

fn all(grid: &Grid<'_>, headline: &Headline, place: &Outline) -> Markup {
    let mut table = Table::new().words("Test").words("Place").words("Trust").numbers("Depth").numbers(rate_unit());
    table = table.numbers(if grid.lines.iter().all(PatternLine::is_phase) { "ops/s" } else { "IOPS" });
    table = table
        .numbers("Wall")
        .numbers("CPU")
        .numbers("+ sync")
        .numbers("Requests")
        .numbers("Bytes")
        .words("Latency of")
        .numbers("Mean")
        .numbers("p50")
        .numbers("p99")
        .numbers("CPU %")
        .numbers(&format!("{} per CPU-s", Units::shown().megabyte()));
    table = table.numbers("Ratio").numbers("Scatter");
    let of_syncs = headline.tests.iter().any(|test| test.lanes.contains(&Lane::Sync));
    for ((line, target, cell), figures) in grid.tests().zip(&headline.tests) {
        let rate = |value: Option<f64>, interval: Option<Interval>, words: &dyn Fn(f64) -> String| {
            let interval = interval.map(|interval| format!("{}–{}", words(interval.low), words(interval.high)));
            value.map(
                |value| html! { (words(value)) @if let Some(interval) = interval { small.interval { (interval) } } },
            )
        };
        let time = |us: fn(&LatencyMicroseconds) -> Option<f64>| {
            let found = figures.latency_us.as_ref()?;
            let known =
                headline.tests.iter().any(|test| test.latency_us.as_ref().is_some_and(|found| us(found).is_some()));
            us(found).map(|us| html! { (duration(us * 1e3)) }).or_else(|| known.then(|| missing("too few")))
        };
        let of_cpu = |value: Option<f64>| {
            let known = line.cells.iter().any(|cell| cell.value(Metric::Cpu).is_some());
            value.map(|value| html! { (number(value)) }).or_else(|| known.then(|| missing("not measured")))
        };
        let of_command = headline.times.iter().find(|time| time.name == figures.name && time.target == figures.target);
        let of_command =
            |figure: fn(&TimeFigures) -> Option<String>| of_command.and_then(figure).map(|figure| html! { (figure) });
        table.row(TableRow {
            begins: is_first(line, target),
            is_void: !figures.counts(),
            cells: vec![
                Some(name(line, target)),
                place_of(grid, target),
                Some(match phase_of_part(&line.pattern) {
                    // It ran within that phase: what is found there is found here, and counts once.
                    Some(phase) => html! { span.muted { "as " (test(phase)) } },
                    None => status(cell, target, grid, place),
                }),
                figures.depth.map(|depth| html! { @if figures.jobs > 1 { (figures.jobs) " x " } (depth) }),
                rate(figures.mb_per_s, figures.intervals.mb_per_s, &|rate| rate_number(rate * 1e6)),
                rate(figures.iops.filter(|_| figures.wall_s.is_none()), figures.intervals.iops, &number),
                figures.wall_s.map(|wall_s| html! { (seconds(wall_s)) }),
                of_command(|time| time.cpu_s.map(seconds)),
                of_command(|time| time.sync_s.map(seconds)),
                of_command(|time| time.requests.map(number)),
                of_command(|time| time.bytes.map(|moved| bytes(moved as u64))),
                of_syncs.then(|| html! { (latency_of(figures)) }),
                time(|found| found.mean),
                time(|found| found.p50),
                judged_p99(grid, line, target, figures).or_else(|| time(|found| found.p99)),
                of_cpu(figures.cpu_percent),
                cell.value(Metric::BytesPerCpuSecond).map(|bytes| html! { (rate_number(bytes)) }),
                (target > 0).then(|| multiple(cell, &line.cells[0], line.headline())).flatten(),
                cell.scatter_percent(line.headline()).map(|scatter| html! { (percent(scatter)) }),
            ],
        });
    }
    table.shown("wide", &caption(grid))
}

/// Names what the table's latency is of, where it is not all requests: `sync`, `read and write`.
fn latency_of(figures: &TestFigures) -> String {
    listed(&figures.lanes.iter().map(|lane| lane.word().to_owned()).collect::<Vec<_>>())
}

/// A cell that says why a test has no figure.
fn missing(reason: &str) -> Markup {
    html! { span.muted { (reason) } }
}

/// A 99th percentile that a verdict rests on though fewer than ten values lie beyond it.
fn judged_p99(grid: &Grid<'_>, line: &PatternLine<'_>, target: usize, figures: &TestFigures) -> Option<Markup> {
    let is_own = |row: &Row| (row.target, &row.pattern) == (target, &line.pattern);
    let of_test = |row: &VerdictRow| row.rows.iter().filter_map(|index| grid.study.rows.get(*index)).any(is_own);
    let is_scarce = figures.latency_us.is_some_and(|found| found.p99.is_none());
    let mut judged = grid.study.verdicts.iter().filter(|row| row.requirement.metric.ends_with(".p99") && of_test(row));
    let row = judged.next().filter(|_| is_scarce)?;
    Some(html! { (figure(row.measured?)) " " (row.requirement.unit) small.muted { " as judged" } })
}

/// Whether this is the first storage that has the test.
fn is_first(line: &PatternLine<'_>, target: usize) -> bool {
    line.cells[..target].iter().all(|cell| cell.repeats.is_empty())
}

/// The test's name, with its description the first time.
fn name(line: &PatternLine<'_>, target: usize) -> Markup {
    html! {
        (test(&line.pattern))
        @if is_first(line, target) && line.title != line.pattern { small.what { (shortened(&line.title, 80)) } }
        @if let Some(cache) = cache(line).filter(|_| is_first(line, target)) { small.what { "cache: " (cache) } }
    }
}

/// The cache state of a phase, where all storages have the same.
fn cache<'a>(line: &PatternLine<'a>) -> Option<&'a str> {
    let mut words =
        line.cells.iter().flat_map(|cell| &cell.repeats).filter_map(|repeat| repeat.phase?.cache.as_deref());
    let first = words.next()?;
    words.all(|word| word == first).then_some(first)
}

/// The trust with its reasons, the error, and what is not visible.
fn status(cell: &TestRounds<'_>, target: usize, grid: &Grid<'_>, place: &Outline) -> Markup {
    let (trust, rounds) = (cell.trust(), cell.counted().len());
    let all = cell.repeats.len().max(grid.rounds());
    let phases = || cell.repeats.iter().filter_map(|repeat| repeat.phase);
    let failures: u64 = phases().map(|phase| phase.failures).sum();
    html! {
        @if did_nothing(cell) { span.muted { "not run" } } @else { (badge(trust)) }
        @for reason in cell.reasons().iter().filter(|_| trust > Trust::Ok) {
            " " a.reason href=(format!("#{}", findings::anchor(place, target, reason))) { (shortened(reason, 32)) }
        }
        @if let Some(error) = cell.error() { " " span.error { (shortened(&error, 80)) } }
        @else if failures > 0 { " " span.error { (failures) " failed" } }
        @if rounds != all { " " small { (rounds) " of " (all) " rounds" } }
    }
}

/// The ratio to the baseline's figure, with its interval.
fn multiple(cell: &TestRounds<'_>, baseline: &TestRounds<'_>, metric: Metric) -> Option<Markup> {
    let found = cell.ratio(baseline, metric)?;
    if cell.trust().max(baseline.trust()) == Trust::Invalid {
        return Some(html! { (ratio(found.value)) small.interval { "not compared" } });
    }
    Some(html! {
        (ratio(found.value))
        @if let Some(interval) = found.interval {
            small.interval { (times_between(&interval)) }
            @if let Some(doubt) = found.doubt() { small.interval { (doubt) } }
        }
    })
}

fn caption(grid: &Grid<'_>) -> String {
    let mut text = match grid.rounds() {
        0 | 1 => "One round: how far the figures vary is not known.".to_owned(),
        rounds => {
            let confidence = grid.cells().filter_map(|(line, _, cell)| cell.interval(line.headline()));
            let interval = confidence
                .map(|interval| interval.confidence)
                .reduce(f64::min)
                .map(|confidence| format!(", with their {:.0}\u{a0}% interval in small print", confidence * 100.0));
            let percentiles = if grid.study.question == Question::Time {
                ""
            } else {
                " Percentiles are over the requests of all rounds."
            };
            format!(
                "Medians of {rounds} rounds{}.{percentiles} Scatter: standard deviation of the rounds over their mean.",
                interval.unwrap_or_default()
            )
        }
    };
    if grid.tests().any(|(line, _, _)| line.headline() == Metric::Durable) {
        text.push_str(" Writes count until they are durable.");
    }
    if grid.targets.len() > 1 {
        let ratio = if grid.rounds() > 1 { "; a ratio is the median of the rounds' ratios" } else { "" };
        text.push_str(&format!(" The baseline is {}{ratio}.", shortened(&grid.targets[0], 40)));
    }
    if grid.cells().any(|(_, _, cell)| cell.repeats.iter().any(Repeat::is_sampled)) {
        text.push_str(" For some jobs not every request was timed, because the job reduces clock readings.");
    }
    text
}

/// The table of the usual percentiles, for reads, writes and syncs separately.
fn percentiles(grid: &Grid<'_>) -> Markup {
    const QUOTED: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
    let mut table = Table::new().words("Test").words("Place");
    for percent in QUOTED {
        table = table.numbers(&format!("p{percent}"));
    }
    table = table.numbers("Slowest").numbers("Requests");
    for (line, target, cell) in grid.tests() {
        let curves = charts::curves_of(cell, target);
        let several = curves.len() > 1;
        for (index, (lane, curve)) in curves.into_iter().enumerate() {
            let at = |percent: &f64| curve.ns_at(*percent).map(|ns| html! { (duration(ns)) });
            let of = html! { (test(&line.pattern)) @if several { " " small { (lane.word()) } } };
            let mut cells = vec![Some(of), place_of(grid, target)];
            cells.extend(QUOTED.iter().map(at));
            let Curve { slowest, count, .. } = curve;
            cells.push(Some(html! { (duration(slowest as f64)) }));
            cells.push(Some(html! { (counted_in_full(count)) }));
            table.row(TableRow { begins: index == 0 && is_first(line, target), is_void: false, cells });
        }
    }
    table.shown("wide", "Percentiles of latency; one with fewer than ten requests beyond it is left out.")
}

fn depth_and_cpu(grid: &Grid<'_>) -> Markup {
    let mut table = Table::new().words("Test").words("Place").numbers("Depth asked").numbers("At submission");
    table = table.numbers("In the device").numbers("User CPU").numbers("System CPU").numbers("Switches per I/O");
    for (line, target, cell) in grid.tests() {
        let Some((repeat, merged)) = median_repeat(cell) else { continue };
        let members = f64::from(merged.members.max(1));
        let asked = match merged.members {
            0 | 1 => merged.setup.depth.to_string(),
            members => format!("{members} x {}", merged.setup.depth),
        };
        let ios = merged.directions.read.ios + merged.directions.write.ios + merged.directions.trim.ios;
        let (user, system) = merged.cpu_percent();
        let cpu = |share: f64| (merged.job_runtime_ms > 0).then(|| html! { (percent(share * members)) });
        table.row(TableRow {
            begins: is_first(line, target),
            is_void: false,
            cells: vec![
                Some(test(&line.pattern)),
                place_of(grid, target),
                Some(html! { (asked) }),
                depth_reached(merged).map(|words| html! { (words) }),
                device_depth(repeat).map(|depth| html! { (number(depth)) }),
                cpu(user),
                cpu(system),
                (ios > 0).then(|| html! { (number(merged.context_switches as f64 / ios as f64)) }),
            ],
        });
    }
    table.shown(
        "wide",
        "The round in the middle. At submission: requests in flight at most submissions, and the share of these. Switches of \
         context; CPU time of one CPU.",
    )
}

/// The depth level at which most requests were submitted: `≥ 16: 98 %`.
fn depth_reached(merged: &JobRecord) -> Option<String> {
    let total: u64 = merged.depth_levels.iter().sum();
    let (level, most) = merged.depth_levels.iter().enumerate().max_by_key(|(_, count)| **count)?;
    let sign = if level > 0 { "≥\u{a0}" } else { "" };
    let label = JobRecord::DEPTH_LABELS[level].trim_start_matches(">=");
    (total > 0).then(|| format!("{sign}{label}: {}", percent(*most as f64 * 100.0 / total as f64)))
}

/// The round with the median throughput.
fn median_repeat<'a, 'b>(cell: &'b TestRounds<'a>) -> Option<(&'b Repeat<'a>, &'b JobRecord)> {
    let mut repeats: Vec<&Repeat<'_>> = cell.counted();
    repeats.retain(|repeat| repeat.merged.is_some());
    let throughput = |repeat: &&Repeat<'_>| Metric::Throughput.of(repeat).unwrap_or(0.0);
    sort::by(&mut repeats, |first, second| throughput(first).total_cmp(&throughput(second)));
    let middle = repeats.get(repeats.len() / 2).copied()?;
    Some((middle, middle.merged.as_ref()?))
}
