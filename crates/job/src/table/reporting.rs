//! Rows: what is measured and how it is shown.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, Kind, Status::*};
use crate::typed::{SteadyStateMetric, Unified, WindowValue};
use crate::value::{self, Reading, Refusal, TimeUnit, Word};

const UNIFIED: &[Choice] = &[
    Choice::new("none", "Each direction separately"),
    Choice::new("mixed", "Only the sum of the directions"),
    Choice::new("both", "Each direction, then their sum"),
    Choice::new("0", "Alias of none"),
    Choice::new("1", "Alias of mixed"),
    Choice::new("2", "Alias of both"),
];

const CONTINUE: &[Choice] = &[
    Choice::new("none", "Any error ends the job"),
    Choice::new("read", "Go on after read errors"),
    Choice::new("write", "Go on after write errors"),
    Choice::new("io", "Go on after read and write errors"),
    Choice::new("verify", "Go on after verify errors"),
    Choice::new("all", "Go on after all of these"),
    Choice::new("0", "Alias of none"),
    Choice::new("1", "Alias of all"),
];

const KB_BASES: &[Choice] = &[
    Choice::new("1024", "k is 1024, kib is 1000, as in fio"),
    Choice::new("1000", "k is 1000, kib is 1024 (as the standards have it)"),
];

const UNIT_BASES: &[Choice] =
    &[Choice::new("0", "The format that suits the engine"), Choice::new("8", "Bytes"), Choice::new("1", "Bits")];

const WINDOW_VALUES: &[Choice] = &[
    Choice::new("avg", "The mean"),
    Choice::new("max", "The largest value"),
    Choice::new("both", "The mean, then the maximum in its own column"),
    Choice::new("0", "Alias of avg"),
    Choice::new("1", "Alias of max"),
];

const STEADY_STATES: &[Choice] = &[
    Choice::new("iops", "Largest deviation of IOPS from their mean").tail("limit, or limit%"),
    Choice::new("iops_slope", "Slope of IOPS").tail("limit, or limit%"),
    Choice::new("bw", "Largest deviation of bandwidth from its mean").tail("limit, or limit%"),
    Choice::new("bw_slope", "Slope of bandwidth").tail("limit, or limit%"),
    Choice::new("lat", "Largest deviation of the mean completion latency from its mean").tail("limit, or limit%"),
    Choice::new("lat_slope", "Slope of the mean completion latency").tail("limit, or limit%"),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("group_reporting", flag(|d, on| d.job.reporting.group = on))
        .tier(1).help("One block for all clones and jobs of a group"),
    option("gtod_reduce", boolean(set_gtod_reduce))
        .tier(1).default("0").help("Read the clock less often: no latency lines; one I/O in 64 is timed and noted"),
    option("disable_lat", boolean(|d, off| d.job.reporting.total_latency = !off))
        .default("0").help("Leave total latency out"),
    option("disable_clat", boolean(|d, off| d.job.reporting.completion_latency = !off))
        .default("0").help("Leave completion latency out"),
    option("disable_slat", boolean(|d, off| d.job.reporting.submission_latency = !off))
        .default("0").help("Leave submission latency out"),
    option("disable_bw_measurement", boolean(|d, off| d.job.reporting.bandwidth = !off))
        .aliases(&["disable_bw"]).default("0").help("Leave bandwidth samples out"),
    option("clat_percentiles", boolean(|d, on| d.job.reporting.clat_percentiles = on))
        .default("1").help("Percentiles of completion latency"),
    option("lat_percentiles", boolean(|d, on| d.job.reporting.lat_percentiles = on))
        .default("0").help("Percentiles of total latency"),
    option("slat_percentiles", boolean(|d, on| d.job.reporting.slat_percentiles = on))
        .default("0").help("Percentiles of submission latency"),
    option("percentile_list", floats(0.0, 100.0, 20, |d, list| {
        d.job.reporting.percentiles = list.to_vec();
        d.job.reporting.percentiles.sort_unstable_by(f64::total_cmp);
    })).default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
        .help("Which percentiles are reported, at most 20"),
    option("unified_rw_reporting", word(UNIFIED, set_unified))
        .default("none").help("Whether reads and writes are reported together"),
    option("stats", boolean(|d, on| d.job.reporting.shown = on))
        .default("1").help("Off: leave the job out of the reports"),
    option("disk_util", boolean(|d, on| d.job.reporting.disk_util = on))
        .default("1").help("Report the counters of the devices"),
    option("significant_figures", integer(1, 10, |d, n| d.job.reporting.significant_figures = count(n)))
        .tier(3).default("4").help("Digits of numbers in the normal report"),
    option("kb_base", word(KB_BASES, |d, word| {
        d.job.reporting.kb_base = if word.choice.word == "1000" { 1000 } else { 1024 };
        Ok(())
    })).default("1024").help("Meaning of k in options and reports"),
    option("unit_base", word(UNIT_BASES, |d, word| {
        d.job.reporting.unit_base = word.choice.word.parse().unwrap_or(0);
        Ok(())
    })).default("0").help("Whether reports count bytes or bits"),
    option("bwavgtime", integer(1, COUNT_MAX, |d, n| d.written.bandwidth_window_ms = Some(count(n))))
        .default("500").help("Milliseconds of one bandwidth sample"),
    option("iopsavgtime", integer(1, COUNT_MAX, |d, n| d.written.iops_window_ms = Some(count(n))))
        .default("500").help("Milliseconds of one IOPS sample"),
    option("block_error_percentiles", boolean(ignore))
        .tier(4).default("0").help("Histogram of errors per block of trims")
        .status(WithoutEffect("it is about errors of trims, which are counted like all others; with it a job that trims ends fio 3.42 with an assertion")),
    option("continue_on_error", word(CONTINUE, set_continue))
        .default("none").help("Errors that are counted, and after which the job continues"),
    option("ignore_error", text(|d, text| { d.job.errors.ignored = value::error_lists(text)?; Ok(()) }))
        .tier(3).help("Errors that count as success: lists with colons, for read,write,verify"),
    option("error_dump", boolean(|d, on| d.job.errors.dump = on))
        .tier(3).default("0").help("Print the errors after which the job continues, up to 100 of them"),
    option("write_bw_log", Kind::OptionalText(|d, text| {
        d.job.reporting.logs.bandwidth = Some(text.unwrap_or_default().to_owned());
        Ok(())
    })).help("Write the bandwidth over time into files of this name"),
    option("write_lat_log", Kind::OptionalText(|d, text| {
        d.job.reporting.logs.latency = Some(text.unwrap_or_default().to_owned());
        Ok(())
    })).help("Write latencies over time into files of this name"),
    option("write_iops_log", Kind::OptionalText(|d, text| {
        d.job.reporting.logs.iops = Some(text.unwrap_or_default().to_owned());
        Ok(())
    })).help("Write IOPS over time into files of this name"),
    option("write_hist_log", Kind::OptionalText(|d, text| {
        d.job.reporting.logs.histograms = Some(text.unwrap_or_default().to_owned());
        Ok(())
    })).help("Write latency histograms over time into files of this name, one for each log_hist_msec"),
    option("log_avg_msec", integer(0, COUNT_MAX, |d, n| d.job.reporting.logs.window_ms = count(n)))
        .default("0").help("Average logs over this number of milliseconds; 0 logs every I/O"),
    option("log_window_value", word(WINDOW_VALUES, set_window_value))
        .tier(3).aliases(&["log_max_value"]).default("avg").help("Mean or largest value of a log window"),
    option("log_offset", boolean(|d, on| d.job.reporting.logs.offset = on))
        .default("0").help("Add the offset to log lines"),
    option("log_prio", boolean(|d, on| d.job.reporting.logs.priority = on))
        .tier(3).default("0").help("Add the I/O priority to log lines"),
    option("log_issue_time", boolean(|d, on| d.job.reporting.logs.issue_time = on))
        .tier(3).default("0").help("Add the time of issue to the lines of slat and clat"),
    option("per_job_logs", boolean(|d, on| d.job.reporting.logs.per_job = on))
        .default("1").help("One log file per clone"),
    option("log_entries", integer(1024, 1_048_576, ignore))
        .tier(3).default("1024").help("Log lines to reserve memory for").status(WithoutEffect("lines are written during the run, so that no memory has to be reserved")),
    option("log_hist_msec", integer(0, COUNT_MAX, |d, n| d.job.reporting.logs.histogram_window_ms = count(n)))
        .tier(3).default("0").help("Milliseconds of one logged histogram; 0 logs none"),
    option("log_hist_coarseness", integer(0, 6, |d, n| d.job.reporting.logs.histogram_coarseness = count(n)))
        .tier(3).default("0").help("Merge neighbouring buckets of logged histograms this number of times"),
    option("log_alternate_epoch", boolean(|d, on| d.job.reporting.logs.alternate_epoch = on))
        .tier(3).aliases(&["log_unix_epoch"]).default("0")
        .help("Count log times from the epoch of a clock, by default that of Unix; log_alternate_epoch_clock_id names another"),
    option("log_alternate_epoch_clock_id", integer(0, COUNT_MAX, |d, n| d.job.reporting.logs.epoch_clock = count(n)))
        .tier(3).default("0").help("The system's number of the clock whose epoch log times count from"),
    option("log_compression", size(1024, |d, bytes| d.job.reporting.logs.compressed_bytes = bytes))
        .tier(4).help("With log_store_compressed: bytes that are compressed together, at least; logs take no memory that \
                       compression could spare"),
    option("log_compression_cpus", text(|d, text| {
        d.job.reporting.logs.compression_cpus = value::cpu_list(text)?;
        Ok(())
    })).tier(4).help("Processors of the thread that writes logs"),
    option("log_store_compressed", boolean(|d, on| d.job.reporting.logs.stored_compressed = on))
        .tier(4).default("0").help("Keep logs compressed, in files named .fz that --inflate-log prints"),
    option("steadystate", word(STEADY_STATES, set_steady_state))
        .aliases(&["ss"]).default("iops_slope:0.01%").help("Figure and limit that define the steady state"),
    option("steadystate_duration", seconds(|d, ns| d.written.steady_state.duration_ns = ns))
        .aliases(&["ss_dur"]).default("0").help("Stop when steady for this time; 0 never"),
    option("steadystate_ramp_time", seconds(|d, ns| d.written.steady_state.ramp_ns = ns))
        .aliases(&["ss_ramp"]).default("0").help("Time before the first sample"),
    option("steadystate_check_interval", seconds(|d, ns| d.written.steady_state.interval_ns = ns))
        .aliases(&["ss_interval"]).default("1").help("Length of an interval, at least 1 s"),
];

/// Sets the options that fio's `gtod_reduce` sets; options after it can set them back.
fn set_gtod_reduce(draft: &mut Draft, on: bool) {
    let reporting = &mut draft.job.reporting;
    reporting.sampled_clock = on;
    if on {
        reporting.total_latency = false;
        reporting.completion_latency = false;
        reporting.submission_latency = false;
        reporting.bandwidth = false;
        reporting.clat_percentiles = false;
        reporting.lat_percentiles = false;
        reporting.slat_percentiles = false;
    }
}

fn set_unified(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.reporting.unified = match word.choice.word {
        "mixed" | "1" => Unified::Mixed,
        "both" | "2" => Unified::Both,
        _ => Unified::None,
    };
    Ok(())
}

fn set_window_value(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.reporting.logs.window_value = match word.choice.word {
        "max" | "1" => WindowValue::Largest,
        "both" => WindowValue::Both,
        _ => WindowValue::Mean,
    };
    Ok(())
}

fn set_continue(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let name = word.choice.word;
    let all = matches!(name, "all" | "1");
    draft.job.errors.on_read = all || matches!(name, "read" | "io");
    draft.job.errors.on_write = all || matches!(name, "write" | "io");
    draft.job.errors.on_verify = all || name == "verify";
    Ok(())
}

fn set_steady_state(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let kb_base = draft.job.reporting.kb_base;
    let steady = &mut draft.written.steady_state;
    let name = word.choice.word;
    steady.slope = name.ends_with("_slope");
    steady.metric = match name.trim_end_matches("_slope") {
        "iops" => SteadyStateMetric::Iops,
        "bw" => SteadyStateMetric::Bandwidth,
        _ => SteadyStateMetric::Latency,
    };
    let Some(limit) = &word.tail else {
        return Err(Refusal::new("fio: steadystate threshold must be specified in addition to criterion")
            .advise(format!("write {name}:2%")));
    };
    let percent = limit.strip_suffix('%').map(|limit| limit.trim_end_matches('%'));
    steady.percent = percent.is_some();
    steady.limit = match (percent, steady.metric) {
        (Some(percent), _) => limit_number(percent)
            .ok_or_else(|| Refusal::new("fio: could not parse steadystate threshold percentage").advise("write 2%"))?,
        (None, metric) => limit_in_unit(limit, metric, kb_base)?,
    };
    Ok(())
}

fn limit_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Reads a limit of steady state that is not a percentage: I/Os per second, bytes per second, or a time in ns.
fn limit_in_unit(text: &str, metric: SteadyStateMetric, kb_base: u32) -> Result<f64, Refusal> {
    let number = limit_number(text);
    match metric {
        SteadyStateMetric::Iops => number.ok_or_else(|| {
            Refusal::new(format!("{text} is not a valid limit")).advise("write I/Os per second, or a number with %")
        }),
        SteadyStateMetric::Bandwidth => match number {
            Some(bytes) => Ok(bytes),
            None => value::size(text, &mut Reading::new(kb_base)).map(|bytes| bytes as f64),
        },
        SteadyStateMetric::Latency => match text.trim_end_matches("ec").strip_suffix("ns").and_then(limit_number) {
            Some(ns) => Ok(ns),
            None => value::time(text, TimeUnit::Microseconds).map(|ns| ns as f64),
        },
    }
}
