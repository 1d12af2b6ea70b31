//! Rules across the options of reporting: windows, logs, steady state.

use super::Rules;
use crate::diagnostic::WarningCode;
use crate::draft::WrittenValues;
use crate::typed::{Logs, Reporting, SteadyStateMetric};

/// Samples of bandwidth and IOPS use the window of their log, as in fio, unless they have a window of their own.
pub(super) fn finish_windows(reporting: &mut Reporting, written: &WrittenValues) {
    let Logs { bandwidth, iops, window_ms, .. } = &reporting.logs;
    let logged = |log: &Option<String>| log.as_ref().map(|_| *window_ms).filter(|ms| *ms > 0);
    let window_ms = |own: Option<u32>, log| own.or(logged(log)).unwrap_or(Reporting::WINDOW_MS);
    (reporting.bandwidth_window_ms, reporting.iops_window_ms) =
        (window_ms(written.bandwidth_window_ms, bandwidth), window_ms(written.iops_window_ms, iops));
}

pub(super) fn check_logs(logs: &Logs, rules: &mut Rules<'_>) {
    const COMPRESSED_MAX: u64 = 512 << 20;
    if logs.issue_time && (logs.latency.is_none() || !logs.offset) {
        let text = "fio: log_issue_time option requires write_lat_log and log_offset options";
        rules.refuse("log_issue_time", text, "add write_lat_log=NAME and log_offset=1, or leave log_issue_time out");
    }
    if logs.compressed_bytes > COMPRESSED_MAX {
        let text = format!("log_compression: max value out of range: {} ({COMPRESSED_MAX} max)", logs.compressed_bytes);
        rules.refuse("log_compression", text, "use 512m or less");
    }
    if logs.histograms.is_some() && logs.histogram_window_ms == 0 {
        let text = "write_hist_log has no effect without log_hist_msec: its log stays empty";
        rules.warn(WarningCode::WithoutEffect, "write_hist_log", text);
    }
}

pub(super) fn check_steady_state(reporting: &Reporting, rules: &mut Rules<'_>) {
    let Some(steady) = &reporting.steady_state else { return };
    let (duration_us, interval_us) = (steady.duration_ns / 1000, steady.interval_ns / 1000);
    if interval_us < 1_000_000 {
        let text = "fio: ss_check_interval must be at least 1s";
        rules.refuse("steadystate_check_interval", text, "leave it out, or write 1s or more");
    } else if duration_us <= interval_us || duration_us % interval_us != 0 {
        let text = format!(
            "fio: ss_duration {duration_us}us must be multiple of ss_check_interval {interval_us}us, and longer than it"
        );
        let whole_s = (duration_us / interval_us).max(2) * interval_us / 1_000_000;
        rules.refuse("steadystate_duration", text, &format!("write steadystate_duration={whole_s}"));
    }
    if steady.metric == SteadyStateMetric::Latency && !reporting.completion_latency {
        let text = "fio: steadystate judges completion latencies, which this job does not keep";
        rules.refuse("steadystate", text, "leave out gtod_reduce and disable_clat, or judge iops or bw");
    }
}
