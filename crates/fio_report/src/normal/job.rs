//! The block of one row.

use fsdyno_results::{
    DirectionRecord, JobRecord, JobSetup, Latency, PerDirection, Samples, SteadyStateMetric, SteadyStateRecord,
    SurvivedErrors, SyncRecord,
};
use fsdyno_text::escape;
use jiff::tz::TimeZone;

use super::latency::{decimals, write_classes, write_moments, write_percentiles};
use crate::calendar::moment;
use crate::figures::{CALL_LABELS, Shares, error_code, error_text};
use crate::groups::Group;
use crate::lanes::{Lane, lanes};
use crate::number::Style;

/// The block of a row; empty for a row without any transfer.
pub(super) fn write(out: &mut String, row: &JobRecord, group: &Group, taken_ms: u64, zone: &TimeZone) {
    write_as(out, row, group, taken_ms, zone, Form::Row);
}

/// The block of the sum over all clients, for which fio's client has its own form.
pub(super) fn write_sum(out: &mut String, row: &JobRecord, group: &Group, taken_ms: u64, zone: &TimeZone) {
    write_as(out, row, group, taken_ms, zone, Form::Sum);
}

/// The kind of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Row,
    /// The sum: rates without `B/s`, percentiles without decimals, no latency target.
    Sum,
}

impl Form {
    /// Decimals of the percentages.
    fn decimals(self, percentiles: &[f64]) -> usize {
        match self {
            Form::Row => decimals(percentiles),
            Form::Sum => 0,
        }
    }

    /// A rate in this form.
    fn rate(self, rate: &str) -> &str {
        match self {
            Form::Row => rate,
            Form::Sum => rate.trim_end_matches("B/s"),
        }
    }
}

fn write_as(out: &mut String, row: &JobRecord, group: &Group, taken_ms: u64, zone: &TimeZone, form: Form) {
    let JobRecord { setup, directions, sync, .. } = row;
    if directions.iter().all(|(_, direction)| direction.bytes == 0 && direction.ios == 0) {
        return;
    }
    write_header(out, row, &moment(taken_ms, zone));
    if let Some(description) = &row.description {
        out.push_str(&format!("  Description  : [{}]\n", escape::line(description)));
    }
    for (lane, direction) in lanes(row) {
        write_direction(out, (setup, row.zone_resets), group, lane, &direction, form);
    }
    let shares = Shares::of(row);
    write_classes(out, "nsec", &shares.latency_ns);
    write_classes(out, "usec", &shares.latency_us);
    write_classes(out, "msec", &shares.latency_ms);
    write_syncs(out, sync, &setup.percentiles, form);
    let (user, system) = row.cpu_percent();
    out.push_str(&format!(
        "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={}, majf={}, minf={}\n",
        row.context_switches, row.major_faults, row.minor_faults,
    ));
    write_distribution(out, "  IO depths    ", &JobRecord::DEPTH_LABELS, &shares.depth);
    write_distribution(out, "     submit    ", &CALL_LABELS, &shares.submit);
    write_distribution(out, "     complete  ", &CALL_LABELS, &shares.complete);
    write_issued(out, directions, sync.ios);
    write_survived(out, row.survived_errors.as_ref());
    if form == Form::Row {
        write_target(out, setup, row.latency_depth);
    }
    if let Some(steady) = &row.steady_state {
        write_steady(out, steady, Style::of(setup));
    }
}

fn write_issued(out: &mut String, directions: &PerDirection<DirectionRecord>, syncs: u64) {
    out.push_str(&format!(
        "     issued rwts: total={},{syncs} short={},0 dropped={},0\n",
        commas(directions.as_ref().map(|direction| direction.ios)),
        commas(directions.as_ref().map(|direction| direction.short_ios)),
        commas(directions.as_ref().map(|direction| direction.dropped_ios)),
    ));
}

fn commas(counts: PerDirection<u64>) -> String {
    counts.map(|count| count.to_string()).into_values().join(",")
}

/// `J: (groupid=0, jobs=8): err= 0: pid=6835: Sat Nov 21 12:01:34 2026`.
fn write_header(out: &mut String, row: &JobRecord, now: &str) {
    let code = error_code(row);
    let cause = match &row.error {
        Some(error) => format!(" (func={}, error={})", error.function, error.text),
        None if code != 0 => format!(" (error={})", error_text(code)),
        None => String::new(),
    };
    let JobRecord { name, group, members, pid, .. } = row;
    let name = escape::line(name);
    out.push_str(&format!("{name}: (groupid={group}, jobs={members}): err={code:2}{cause}: pid={pid}: {now}\n"));
}

fn write_direction(
    out: &mut String,
    (setup, zone_resets): (&JobSetup, Option<u64>),
    group: &Group,
    lane: Lane,
    direction: &DirectionRecord,
    form: Form,
) {
    let DirectionRecord { bytes, runtime_ms, slat, clat, lat, bandwidth_samples, iops_samples, .. } = direction;
    if *bytes == 0 {
        return;
    }
    let style = Style::of(setup);
    let bandwidth = direction.bandwidth();
    let resets = zone_resets.map_or_else(String::new, |resets| format!("; {resets} zone resets"));
    out.push_str(&format!(
        "  {}: IOPS={}, BW={} ({})({}/{runtime_ms}msec){resets}\n",
        lane.name(),
        style.count(direction.iops_whole()),
        form.rate(&style.rate(bandwidth)),
        form.rate(&style.rate_other(bandwidth)),
        style.bytes(*bytes),
    ));
    let latencies: [(&str, &Latency, bool); 3] = [
        ("slat", slat, setup.slat_percentiles),
        ("clat", clat, setup.clat_percentiles),
        ("lat", lat, setup.lat_percentiles),
    ];
    for (label, latency, _) in latencies {
        write_moments(out, label, &latency.moments);
    }
    let priorities = priorities(setup, direction);
    for (label, _, latency) in &priorities {
        write_moments(out, &format!("    {label}"), &latency.moments);
    }
    for (label, latency, _) in latencies.into_iter().filter(|(_, _, shown)| *shown) {
        let decimals = form.decimals(&setup.percentiles);
        write_percentiles(out, label, latency.histogram.as_ref(), &setup.percentiles, decimals);
    }
    for (label, share, latency) in &priorities {
        let label = format!("{label} ({share:3.2}% of IOs)");
        let histogram = latency.histogram.as_ref().filter(|_| setup.clat_percentiles || setup.lat_percentiles);
        write_percentiles(out, &label, histogram, &setup.percentiles, form.decimals(&setup.percentiles));
    }
    write_bandwidth_samples(out, style, bandwidth_samples, group.share_percent(lane, bandwidth_samples));
    write_iops_samples(out, iops_samples);
}

/// The priorities with their share of requests and their latency: `clat prio 2/7/0`; empty where all requests have the
/// same.
fn priorities<'r>(setup: &JobSetup, direction: &'r DirectionRecord) -> Vec<(String, f64, &'r Latency)> {
    let of = &direction.priorities;
    let all: u64 = of.iter().map(|one| one.latency.moments.count).sum();
    let name = if setup.lat_percentiles { "lat" } else { "clat" };
    let described = of.iter().filter(|_| of.len() > 1).map(|one| {
        let share = one.latency.moments.count as f64 * 100.0 / all.max(1) as f64;
        (format!("{name} prio {}/{}/{}", one.class, one.level, one.hint), share, &one.latency)
    });
    described.collect()
}

/// `   bw (  KiB/s): min=  532, ...`; in kB/s with kb_base=1000, a prefix higher above a mean of 1024 * 1024 KiB/s.
fn write_bandwidth_samples(out: &mut String, style: Style, samples: &Samples, share: f64) {
    if samples.count == 0 {
        return;
    }
    let (factor, names) = if style.is_decimal() { (1.024, ["kB", "MB"]) } else { (1.0, ["KiB", "MiB"]) };
    let step = if style.is_decimal() { 1000.0 } else { 1024.0 };
    let large = samples.mean * factor > step * step;
    let scale = if large { factor / step } else { factor };
    out.push_str(&format!(
        "   bw ({:>5}/s): min={:5}, max={:5}, per={share:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n",
        names[usize::from(large)],
        (samples.min as f64 * scale) as u64,
        (samples.max as f64 * scale) as u64,
        samples.mean * scale,
        samples.deviation() * scale,
        samples.count,
    ));
}

fn write_iops_samples(out: &mut String, samples: &Samples) {
    if samples.count == 0 {
        return;
    }
    let Samples { count, min, max, mean, squared_deviations: _, series: _ } = samples;
    out.push_str(&format!(
        "   iops        : min={min:5}, max={max:5}, avg={mean:5.2}, stdev={:5.2}, samples={count}\n",
        samples.deviation()
    ));
}

fn write_syncs(out: &mut String, sync: &SyncRecord, percentiles: &[f64], form: Form) {
    let SyncRecord { ios: _, lat } = sync;
    if lat.moments.count == 0 {
        return;
    }
    out.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
    write_moments(out, "sync", &lat.moments);
    write_percentiles(out, "sync", lat.histogram.as_ref(), percentiles, form.decimals(percentiles));
}

fn write_distribution(out: &mut String, title: &str, labels: &[&str; 7], shares: &[f64; 7]) {
    let shares: Vec<String> = labels.iter().zip(shares).map(|(label, share)| format!("{label}={share:3.1}%")).collect();
    out.push_str(&format!("{title}: {}\n", shares.join(", ")));
}

fn write_survived(out: &mut String, survived: Option<&SurvivedErrors>) {
    let Some(SurvivedErrors { total, first }) = survived else { return };
    let text = if *first == 0 { "Success".to_owned() } else { error_text(*first) };
    out.push_str(&format!("     errors    : total={total}, first_error={first}/<{text}>\n"));
}

fn write_target(out: &mut String, setup: &JobSetup, depth: u32) {
    out.push_str(&format!(
        "     latency   : target={}, window={}, percentile={:.2}%, depth={depth}\n",
        duration(setup.latency_target_ns),
        duration(setup.latency_window_ns),
        setup.latency_percentile,
    ));
}

/// A time in the largest unit in which it is at least 1: `10.00ms`.
fn duration(ns: u64) -> String {
    let (divisor, unit) = match ns {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2}{unit}", ns as f64 / divisor)
}

/// `  steadystate  : attained=yes, bw=3998KiB/s (4094kB/s), iops=999, iops slope=0.000%`.
fn write_steady(out: &mut String, steady: &SteadyStateRecord, style: Style) {
    let bandwidth = crate::figures::mean(&steady.bandwidth);
    let latency = match steady.metric {
        SteadyStateMetric::Latency => format!(", lat={}", latency(crate::figures::mean(&steady.lat_ns))),
        SteadyStateMetric::Iops | SteadyStateMetric::Bandwidth => String::new(),
    };
    out.push_str(&format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {} {}={:.3}{}\n",
        if steady.attained { "yes" } else { "no" },
        style.rate(bandwidth),
        style.rate_other(bandwidth),
        style.count(crate::figures::mean(&steady.iops)),
        steady.metric.word(),
        if steady.by_slope { "slope" } else { "mean dev" },
        steady.criterion.unwrap_or(0.0),
        if steady.percent { "%" } else { "" },
    ));
}

/// A latency in the largest unit that keeps four digits: `779nsec`.
fn latency(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns}nsec"),
        10_000..10_000_000 => format!("{}usec", ns / 1_000),
        _ => format!("{}msec", ns / 1_000_000),
    }
}
