//! Reads JSON documents into records.

use fsdyno_results::{
    DirectionRecord, DiskRecord, Histogram, JobRecord, JobSetup, Latency, PriorityRecord, RunRecord, SteadyStateMetric,
    SteadyStateRecord, SyncRecord, UnifiedReporting, bucket_of,
};
use serde_json::{Map, Value};

use super::{calls, counts, histogram, moments, samples};

/// The run that a document describes.
pub(crate) fn run(document: &Value) -> RunRecord {
    let mut run = RunRecord::new(text(&document["fio version"]), 0);
    run.taken_ms = whole(&document["timestamp_ms"]);
    run.complete = true;
    run.global_options = options(&document["global options"]);
    run.elapsed_s = whole(&document["jobs"][0]["elapsed"]);
    run.jobs = items(&document["jobs"]).iter().map(job).collect();
    run.nodes[0].disks = items(&document["disk_util"]).iter().map(disk).collect();
    run
}

fn job(value: &Value) -> JobRecord {
    let setup = JobSetup {
        depth: whole(&value["latency_depth"]) as u32,
        slat_percentiles: value["read"]["slat_ns"].get("percentile").is_some(),
        lat_percentiles: value["read"]["lat_ns"].get("percentile").is_some(),
        unified: if value.get("mixed").is_some() { UnifiedReporting::Both } else { UnifiedReporting::None },
        ..JobSetup::default()
    };
    let mut job = JobRecord::new(text(&value["jobname"]), 1, setup);
    job.group = whole(&value["groupid"]) as u32;
    job.options = options(&value["job options"]);
    job.started_ms = Some(whole(&value["job_start"]));
    job.eta_s = Some(whole(&value["eta"])).filter(|eta| *eta > 0);
    let code = whole(&value["error"]) as i32;
    job.error = (code > 0).then(|| fsdyno_results::JobError { code, function: String::new(), text: String::new() });
    job.directions.read = direction(&value["read"]);
    job.directions.write = direction(&value["write"]);
    job.directions.trim = direction(&value["trim"]);
    let sync = &value["sync"];
    job.sync = SyncRecord { ios: whole(&sync["total_ios"]), lat: latency(&sync["lat_ns"]) };
    job.job_runtime_ms = whole(&value["job_runtime"]);
    let cpu = |key: &str| (real(&value[key]) * job.job_runtime_ms as f64 * 1e4).round() as u64;
    (job.user_ns, job.system_ns) = (cpu("usr_cpu"), cpu("sys_cpu"));
    job.context_switches = whole(&value["ctx"]);
    job.major_faults = whole(&value["majf"]);
    job.minor_faults = whole(&value["minf"]);
    let ios = job.directions.read.ios + job.directions.write.ios + job.directions.trim.ios;
    job.depth_levels = counts(shares(&value["iodepth_level"]), ios, 0.1);
    job.submit_sizes = calls(shares(&value["iodepth_submit"]));
    job.complete_sizes = calls(shares(&value["iodepth_complete"]));
    job.latency_ns_counts = counts(shares(&value["latency_ns"]), ios, 0.01);
    job.latency_us_counts = counts(shares(&value["latency_us"]), ios, 0.01);
    job.latency_ms_counts = counts(shares(&value["latency_ms"]), ios, 0.01);
    job.steady_state = value.get("steadystate").map(steady);
    job
}

fn direction(value: &Value) -> DirectionRecord {
    let of = |kind: &str| {
        let figure = |name: &str| &value[format!("{kind}_{name}")];
        // Bandwidth and IOPS use different keys for the deviation.
        let deviation = if kind == "bw" { figure("dev") } else { figure("stddev") };
        samples(
            whole(figure("samples")),
            whole(figure("min")),
            whole(figure("max")),
            real(figure("mean")),
            real(deviation),
        )
    };
    DirectionRecord {
        bytes: whole(&value["io_bytes"]),
        ios: whole(&value["total_ios"]),
        short_ios: whole(&value["short_ios"]),
        dropped_ios: whole(&value["drop_ios"]),
        runtime_ms: whole(&value["runtime"]),
        slat: latency(&value["slat_ns"]),
        clat: latency(&value["clat_ns"]),
        lat: latency(&value["lat_ns"]),
        response: None,
        bandwidth_samples: of("bw"),
        iops_samples: of("iops"),
        priorities: value["prios"].as_array().into_iter().flatten().map(priority).collect(),
    }
}

fn priority(value: &Value) -> PriorityRecord {
    let [class, level, hint] = ["prioclass", "prio", "priohint"].map(|key| whole(&value[key]) as u16);
    PriorityRecord { class: class as u8, level: level as u8, hint, latency: latency(&value["clat_ns"]) }
}

fn latency(value: &Value) -> Latency {
    let count = whole(&value["N"]);
    if count == 0 {
        return Latency::default();
    }
    let moments =
        moments(count, whole(&value["min"]), whole(&value["max"]), real(&value["mean"]), real(&value["stddev"]));
    Latency { moments, histogram: bins(value).or_else(|| from_percentiles(value, count)) }
}

fn bins(value: &Value) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for (value_ns, count) in value.get("bins")?.as_object()? {
        histogram.add(bucket_of(value_ns.parse().unwrap()), whole(count));
    }
    Some(histogram)
}

fn from_percentiles(value: &Value, count: u64) -> Option<Histogram> {
    let list = value.get("percentile")?.as_object()?;
    let list: Vec<(f64, u64)> = list.iter().map(|(key, value)| (key.parse().unwrap(), whole(value))).collect();
    Some(histogram(count, &list))
}

fn steady(value: &Value) -> SteadyStateRecord {
    let (metric, limit) =
        text(&value["ss"]).split_once(':').map(|(left, right)| (left.to_owned(), right.to_owned())).unwrap();
    let number = |text: &str| text.trim_end_matches('%').parse().unwrap();
    let list = |key: &str| -> Vec<u64> { items(&value["data"][key]).iter().map(whole).collect() };
    let by_slope = metric.ends_with("_slope");
    SteadyStateRecord {
        metric: if metric.starts_with("iops") { SteadyStateMetric::Iops } else { SteadyStateMetric::Bandwidth },
        by_slope,
        limit: number(&limit),
        duration_s: whole(&value["duration"]),
        attained: whole(&value["attained"]) == 1,
        criterion: Some(number(&text(&value["criterion"]))),
        value: Some(real(&value[if by_slope { "slope" } else { "max_deviation" }])),
        percent: limit.ends_with('%'),
        intervals: list("iops").len() as u64,
        bandwidth: list("bw"),
        iops: list("iops"),
        lat_ns: list("lat_ns"),
    }
}

fn disk(value: &Value) -> DiskRecord {
    let pair = |what: &str| ["read", "write"].map(|side| whole(&value[format!("{side}_{what}")])).into();
    DiskRecord {
        name: text(&value["name"]),
        ios: pair("ios"),
        sectors: pair("sectors"),
        merges: pair("merges"),
        ticks_ms: pair("ticks"),
        in_queue_ms: whole(&value["in_queue"]),
        util_percent: real(&value["util"]),
        slaves: Vec::new(),
    }
}

fn shares<const N: usize>(value: &Value) -> [f64; N] {
    let shares: Vec<f64> = value.as_object().unwrap().values().map(real).collect();
    shares.try_into().unwrap()
}

fn options(value: &Value) -> Vec<(String, String)> {
    value.as_object().unwrap_or(&Map::new()).iter().map(|(name, option)| (name.clone(), text(option))).collect()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}
