//! One row of `jobs`.

use fsdyno_results::{JobRecord, RunRecord, SteadyStateMetric, SteadyStateRecord, SurvivedErrors, SyncRecord};
use serde_json::{Map, Value, json};

use super::direction::{self, latency};
use super::entries::entries;
use super::options;
use crate::figures::{CALL_LABELS, LATENCY_LABELS, Shares, error_code, mean};
use crate::groups::Group;
use crate::lanes::{Lane, lanes};

pub(super) fn object(run: &RunRecord, row: &JobRecord, group: &Group, plus: bool) -> Value {
    let JobRecord { setup, sync, latency_depth, .. } = row;
    let mut object = entries(json!({
        "jobname": row.name,
        "groupid": row.group,
        // A job that never started has no time; the key stays a number, for readers with fixed types.
        "job_start": row.started_ms.unwrap_or(0),
        "error": error_code(row),
        "eta": eta(run, row),
        "elapsed": run.elapsed_s,
    }));
    // A group's jobs may have no common options, but readers expect the key.
    if !row.options.is_empty() || row.group_reporting && row.members > 1 {
        object.insert("job options".into(), options(&row.options));
    }
    let sync_percentiles = if setup.clat_percentiles || setup.lat_percentiles { &setup.percentiles[..] } else { &[] };
    let (mixed, alone): (Vec<_>, Vec<_>) = lanes(row).into_iter().partition(|(lane, _)| *lane == Lane::Mixed);
    for (lane, direction) in &alone {
        let mut direction = direction::object(direction, *lane, setup, group, plus);
        if let Some(resets) = row.zone_resets.filter(|_| *lane == Lane::Write) {
            direction["zone_resets"] = json!(resets);
        }
        object.insert(lane.name().into(), direction);
    }
    let SyncRecord { ios, lat } = sync;
    if setup.unified != fsdyno_results::UnifiedReporting::Mixed {
        object.insert("sync".into(), json!({ "total_ios": ios, "lat_ns": latency(lat, sync_percentiles, plus) }));
    }
    for (lane, direction) in &mixed {
        object.insert(lane.name().into(), direction::object(direction, *lane, setup, group, plus));
    }
    let (user, system) = row.cpu_percent();
    object.extend(entries(json!({
        "job_runtime": row.job_runtime_ms,
        "usr_cpu": user,
        "sys_cpu": system,
        "ctx": row.context_switches,
        "majf": row.major_faults,
        "minf": row.minor_faults,
    })));
    insert_shares(&mut object, &Shares::of(row));
    if let Some(SurvivedErrors { total, first }) = &row.survived_errors {
        object.insert("total_err".into(), json!(total));
        object.insert("first_error".into(), json!(first));
    }
    // fio leaves these out for a job that never began.
    if *latency_depth > 0 {
        object.extend(entries(json!({
            "latency_depth": latency_depth,
            "latency_target": setup.latency_target_ns,
            "latency_target_ns": setup.latency_target_ns,
            "latency_percentile": setup.latency_percentile,
            "latency_window": setup.latency_window_ns / 1000,
            "latency_window_us": setup.latency_window_ns / 1000,
        })));
    }
    if let Some(description) = &row.description {
        object.insert("desc".into(), json!(description));
    }
    if let Some(steady) = &row.steady_state {
        object.insert("steadystate".into(), steady_object(steady));
    }
    Value::Object(object)
}

/// Seconds left; in the first three seconds of a run fio's number for "unknown" (the largest of 32 bits).
fn eta(run: &RunRecord, row: &JobRecord) -> u64 {
    const UNKNOWN: u64 = i32::MAX as u64;
    if run.elapsed_s < 3 {
        return UNKNOWN;
    }
    let is_over = run.complete || !run.missing_ranks().is_empty();
    row.eta_s.unwrap_or(if is_over { 0 } else { UNKNOWN })
}

fn insert_shares(object: &mut Map<String, Value>, shares: &Shares) {
    let Shares { depth, submit, complete, latency_ns, latency_us, latency_ms } = shares;
    for (key, labels, shares) in [
        ("iodepth_level", &JobRecord::DEPTH_LABELS[..], &depth[..]),
        ("iodepth_submit", &CALL_LABELS, submit),
        ("iodepth_complete", &CALL_LABELS, complete),
        ("latency_ns", &LATENCY_LABELS, latency_ns),
        ("latency_us", &LATENCY_LABELS, latency_us),
        ("latency_ms", &LATENCY_LABELS, latency_ms),
    ] {
        let by_label = labels.iter().zip(shares).map(|(label, share)| ((*label).to_owned(), json!(share)));
        object.insert(key.into(), by_label.collect());
    }
}

fn steady_object(steady: &SteadyStateRecord) -> Value {
    let SteadyStateRecord {
        metric,
        by_slope,
        limit,
        duration_s,
        attained,
        criterion,
        value,
        percent,
        intervals,
        bandwidth,
        iops,
        lat_ns,
    } = steady;
    let slope_word = if *by_slope { "_slope" } else { "" };
    let unit = if *percent { "%" } else { "" };
    let (criterion, value) = (criterion.unwrap_or(0.0), value.unwrap_or(0.0));
    // fio lists as many intervals as the window has, with 0 for those that were not reached.
    let listed = |values: &[u64]| {
        let mut listed = values.to_vec();
        listed.resize(values.len().max(usize::try_from(*intervals).unwrap_or(0)), 0);
        listed
    };
    let mut data = entries(json!({ "bw_mean": mean(bandwidth), "iops_mean": mean(iops) }));
    if *metric == SteadyStateMetric::Latency {
        data.extend(entries(json!({ "lat_mean": mean(lat_ns), "lat_ns": listed(lat_ns) })));
    }
    data.extend(entries(json!({ "iops": listed(iops), "bw": listed(bandwidth) })));
    json!({
        "ss": format!("{}{slope_word}:{limit:.6}{unit}", metric.word()),
        "duration": duration_s,
        "attained": u8::from(*attained),
        "criterion": format!("{criterion:.6}{unit}"),
        "max_deviation": if *by_slope { 0.0 } else { value },
        "slope": if *by_slope { value } else { 0.0 },
        "data": data,
    })
}
