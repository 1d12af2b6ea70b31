//! Transfers of one direction, and latencies.

use fsdyno_results::{DirectionRecord, JobSetup, Latency, PriorityRecord, Samples};
use serde_json::{Value, json};

use super::entries::entries;
use crate::groups::Group;
use crate::lanes::Lane;

/// `read`, `write`, `trim` or `mixed` of a row.
pub(super) fn object(direction: &DirectionRecord, lane: Lane, setup: &JobSetup, group: &Group, plus: bool) -> Value {
    let DirectionRecord { bytes, slat, clat, lat, bandwidth_samples, iops_samples, .. } = direction;
    let percentiles = |shown: bool| if shown { &setup.percentiles[..] } else { &[] };
    let mut object = json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": direction.bandwidth(),
        "bw": direction.bandwidth() / 1024,
        "iops": direction.iops(),
        "runtime": direction.runtime_ms,
        "total_ios": direction.ios,
        "short_ios": direction.short_ios,
        "drop_ios": direction.dropped_ios,
        "slat_ns": latency(slat, percentiles(setup.slat_percentiles), plus),
        "clat_ns": latency(clat, percentiles(setup.clat_percentiles), plus),
        "lat_ns": latency(lat, percentiles(setup.lat_percentiles), plus),
    });
    if let Some(object) = object.as_object_mut() {
        // A single priority has the figures above.
        if let priorities @ [_, _, ..] = &direction.priorities[..] {
            object.insert("prios".into(), priorities.iter().map(|one| priority(one, setup, plus)).collect());
        }
        let share = if bandwidth_samples.count > 0 { group.share_percent(lane, bandwidth_samples) } else { 0.0 };
        object.extend(entries(samples(bandwidth_samples, iops_samples, share)));
    }
    object
}

fn priority(of: &PriorityRecord, setup: &JobSetup, plus: bool) -> Value {
    let PriorityRecord { class, level, hint, latency: figures } = of;
    let (name, shown) = match setup.lat_percentiles {
        true => ("lat_ns", true),
        false => ("clat_ns", setup.clat_percentiles),
    };
    let percentiles = if shown { &setup.percentiles[..] } else { &[] };
    let figures = latency(figures, percentiles, plus);
    json!({ "prioclass": class, "prio": level, "priohint": hint, name: figures })
}

fn samples(bandwidth: &Samples, iops: &Samples, share: f64) -> Value {
    json!({
        "bw_min": bandwidth.min,
        "bw_max": bandwidth.max,
        "bw_agg": share,
        "bw_mean": bandwidth.mean,
        "bw_dev": bandwidth.deviation(),
        "bw_samples": bandwidth.count,
        "iops_min": iops.min,
        "iops_max": iops.max,
        "iops_mean": iops.mean,
        "iops_stddev": iops.deviation(),
        "iops_samples": iops.count,
    })
}

/// Moments, percentiles that were asked for, and bins, if there are values. Without values fio writes zeroes, with `N`
/// 0.
pub(super) fn latency(latency: &Latency, percentiles: &[f64], plus: bool) -> Value {
    let Latency { moments, histogram } = latency;
    let mut object = json!({
        "min": moments.min().unwrap_or(0),
        "max": moments.max().unwrap_or(0),
        "mean": moments.mean().unwrap_or(0.0),
        "stddev": moments.deviation().unwrap_or(0.0),
        "N": moments.count,
    });
    let histogram = histogram.as_ref().filter(|_| moments.count > 0 && !percentiles.is_empty());
    if let (Some(histogram), Some(object)) = (histogram, object.as_object_mut()) {
        let value = |percent: &f64| Some((format!("{percent:.6}"), json!(histogram.percentile(*percent)?)));
        object.insert("percentile".into(), percentiles.iter().filter_map(value).collect());
        if plus {
            let bins = histogram.bins().map(|(value_ns, count)| (value_ns.to_string(), json!(count)));
            object.insert("bins".into(), bins.collect());
        }
    }
    object
}
