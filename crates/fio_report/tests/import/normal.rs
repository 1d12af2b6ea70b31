//! Reads normal reports, from the first job's block on.

use fsdyno_results::{
    DirectionRecord, DiskRecord, JobError, JobRecord, JobSetup, Latency, PriorityRecord, ReadWrite, RunRecord, Samples,
    SteadyStateMetric, SteadyStateRecord, SurvivedErrors, UnifiedReporting,
};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{calls, counts, histogram, moments, samples, value_shown_as};

/// The run that a report describes. `setup` has what the report lacks: the number style, and block sizes, which turn
/// numbers of I/Os into bytes.
pub(crate) fn run(report: &str, setup: &JobSetup) -> RunRecord {
    let mut run = RunRecord::new("fio-3.42", 0);
    let mut blocks = Vec::new();
    for line in report.lines() {
        if line.contains(": (groupid=") {
            blocks.push(Vec::new());
        }
        if line.starts_with("Run status") {
            break;
        }
        blocks.last_mut().expect("the report starts with a job").push(line);
    }
    let header = blocks[0][0];
    run.taken_ms = moment(header);
    run.jobs = blocks.iter().map(|block| job(block, setup)).collect();
    let disks = report.split("Disk stats (read/write):\n").nth(1).unwrap_or("");
    run.nodes[0].disks = disks.lines().map(disk).collect();
    run
}

fn moment(header: &str) -> u64 {
    let words: Vec<&str> = header.split(' ').collect();
    let text = words[words.len() - 5..].join(" ");
    let civil = DateTime::strptime("%a %b %e %H:%M:%S %Y", text).unwrap();
    civil.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond() as u64
}

fn job(block: &[&str], setup: &JobSetup) -> JobRecord {
    let header = block[0];
    let name = header.split(": (groupid=").next().unwrap();
    let mut job = JobRecord::new(name, 1, JobSetup { clat_percentiles: false, ..setup.clone() });
    job.group = number(header, "groupid=");
    job.members = number(header, "jobs=");
    job.pid = number(header, ": pid=");
    let code = number(header, "err=");
    job.error = (code > 0).then(|| JobError {
        code,
        function: between(header, "func=", ",").to_owned(),
        text: between(header, ", error=", ")").to_owned(),
    });
    for (index, line) in block.iter().enumerate() {
        let rest = &block[index + 1..];
        match line.split(':').next().unwrap().trim() {
            "read" => job.directions.read = direction(line, rest, &mut job.setup, 0),
            "write" => job.directions.write = direction(line, rest, &mut job.setup, 1),
            "mixed" => {
                job.directions.read = direction(line, rest, &mut job.setup, 0);
                job.setup.unified = UnifiedReporting::Mixed;
            }
            "fsync/fdatasync/sync_file_range/syncfs" | "fsync/fdatasync/sync_file_range" => {
                // fio 3.33 counted these syncs as short reads.
                let line = block_line(block, "issued rwts");
                let syncs = list::<u64>(between(line, "total=", " "))[3] + list::<u64>(between(line, "short=", " "))[0];
                job.sync.lat = latency(rest, "sync", syncs, &mut job.setup);
            }
            _ => {}
        }
    }
    figures(&mut job, block);
    job
}

/// Reads everything below the directions.
fn figures(job: &mut JobRecord, block: &[&str]) {
    let issued: Vec<u64> = list(between(block_line(block, "issued rwts"), "total=", " "));
    let short: Vec<u64> = list(between(block_line(block, "issued rwts"), "short=", " "));
    (job.directions.read.short_ios, job.directions.write.short_ios) = (short[0], short[1]);
    (job.directions.read.ios, job.directions.write.ios, job.sync.ios) = (issued[0], issued[1], issued[3]);
    let ios = job.directions.read.ios + job.directions.write.ios;
    let cpu = block_line(block, "cpu  ");
    job.job_runtime_ms = 1_000_000;
    job.user_ns = (number::<f64>(cpu, "usr=") * 1e10).round() as u64;
    job.system_ns = (number::<f64>(cpu, "sys=") * 1e10).round() as u64;
    job.context_switches = number(cpu, "ctx=");
    job.major_faults = number(cpu, "majf=");
    job.minor_faults = number(cpu, "minf=");
    job.depth_levels = counts(shares(block_line(block, "IO depths")), ios, 0.1);
    job.submit_sizes = calls(shares(block_line(block, "submit  ")));
    job.complete_sizes = calls(shares(block_line(block, "complete  ")));
    job.latency_ns_counts = counts(classes(block, "nsec"), ios, 0.01);
    job.latency_us_counts = counts(classes(block, "usec"), ios, 0.01);
    job.latency_ms_counts = counts(classes(block, "msec"), ios, 0.01);
    job.survived_errors = block
        .iter()
        .find(|line| line.contains("errors    :"))
        .map(|line| SurvivedErrors { total: number(line, "total="), first: number(line, "first_error=") });
    let target = block_line(block, "latency   :");
    job.setup.latency_target_ns = duration(between(target, "target=", ","));
    job.setup.latency_window_ns = duration(between(target, "window=", ","));
    job.setup.latency_percentile = number(target, "percentile=");
    job.latency_depth = number(target, "depth=");
    job.steady_state = block.iter().find(|line| line.contains("steadystate  :")).map(|line| steady(line));
}

fn direction(line: &str, rest: &[&str], setup: &mut JobSetup, index: usize) -> DirectionRecord {
    let end = rest.iter().position(|line| !line.starts_with("   ")).unwrap();
    let below = &rest[..end];
    let issued = rest.iter().find(|line| line.contains("issued rwts")).unwrap();
    let ios = list::<u64>(between(issued, "total=", " "))[index];
    let block_size = setup.block_sizes.into_values()[index].0;
    let shown = between(line, ")(", "/");
    let mut bytes = ios * block_size;
    if fsdyno_fio_report::Style::of(setup).bytes(bytes) != shown {
        // Not every I/O that was submitted counts.
        let (number, unit) = shown.split_at(shown.len() - 3);
        let factor = if unit == "MiB" { 1_048_576.0 } else { 1024.0 };
        bytes = (number.parse::<f64>().unwrap() * factor) as u64 / block_size * block_size;
    }
    let count = bytes / block_size;
    DirectionRecord {
        bytes,
        ios,
        runtime_ms: between(&line[line.find(")(").unwrap()..], "/", "msec").parse().unwrap(),
        slat: latency(below, "slat", count, setup),
        clat: latency(below, "clat", count, setup),
        lat: latency(below, "lat", count, setup),
        bandwidth_samples: sampled(below, "bw ("),
        iops_samples: sampled(below, "iops  "),
        priorities: priorities(below, count, setup),
        ..DirectionRecord::default()
    }
}

fn priorities(lines: &[&str], count: u64, setup: &mut JobSetup) -> Vec<PriorityRecord> {
    let titles = lines.iter().filter_map(|line| line.split_once("% of IOs) percentiles"));
    titles
        .map(|(title, _)| {
            let (label, share) = title.trim().split_once(" (").unwrap();
            let own = (share.parse::<f64>().unwrap() * count as f64 / 100.0).round() as u64;
            let numbers: Vec<u16> = list(&label.rsplit(' ').next().unwrap().replace('/', ","));
            // The title of its percentiles, without the share.
            let below: Vec<String> =
                lines.iter().map(|line| line.replace(&format!(" ({share}% of IOs)"), "")).collect();
            let below: Vec<&str> = below.iter().map(String::as_str).collect();
            let latency = latency(&below, label, own, setup);
            PriorityRecord { class: numbers[0] as u8, level: numbers[1] as u8, hint: numbers[2], latency }
        })
        .collect()
}

fn sampled(lines: &[&str], title: &str) -> Samples {
    let Some(line) = lines.iter().find(|line| line.trim().starts_with(title)) else { return Samples::default() };
    samples(
        number(line, "samples="),
        number(line, "min="),
        number(line, "max="),
        number(line, "avg="),
        number(line, "stdev="),
    )
}

fn latency(lines: &[&str], label: &str, count: u64, setup: &mut JobSetup) -> Latency {
    let Some(line) = lines.iter().find(|line| line.trim().starts_with(&format!("{label} ("))) else {
        return Latency::default();
    };
    let unit = 1000u64.pow(steps(line));
    let whole = |key: &str| {
        let text = between(line, key, ",");
        let thousand = text.ends_with('k');
        let value: f64 = text.trim_end_matches('k').parse().unwrap();
        // It was truncated to the unit when it was printed; the middle is a safe value.
        (value * if thousand { 1000.0 } else { 1.0 }).round() as u64 * unit + unit / 2
    };
    let real = |key: &str| number::<f64>(line, key) * unit as f64;
    let moments = moments(count, whole("min="), whole("max="), real("avg="), real("stdev="));
    let title = format!("{label} percentiles (");
    let at = lines.iter().position(|line| line.trim().starts_with(&title));
    let histogram = at.map(|at| {
        let steps = steps(lines[at]);
        let list = percentiles(&lines[at + 1..], steps);
        setup.percentiles = list.iter().map(|(percent, _)| *percent).collect();
        match label {
            "clat" => setup.clat_percentiles = true,
            "lat" => setup.lat_percentiles = true,
            "slat" => setup.slat_percentiles = true,
            _ => {}
        }
        histogram(count, &list)
    });
    Latency { moments, histogram }
}

fn percentiles(lines: &[&str], steps: u32) -> Vec<(f64, u64)> {
    let lines = lines.iter().take_while(|line| line.starts_with("     |"));
    let cells = lines.flat_map(|line| line.trim_start_matches("     |").split(',')).filter(|cell| !cell.is_empty());
    cells
        .map(|cell| {
            let (percent, value) = cell.split_once("th=[").unwrap();
            let shown: u64 = value.trim_end_matches(']').trim().parse().unwrap();
            (percent.trim().parse().unwrap(), value_shown_as(shown, steps))
        })
        .collect()
}

fn steps(line: &str) -> u32 {
    match between(line, "(", ")") {
        "nsec" => 0,
        "usec" => 1,
        _ => 2,
    }
}

fn shares(line: &str) -> [f64; 7] {
    let shares: Vec<f64> = line.split('%').filter_map(|part| part.rsplit('=').next()?.parse().ok()).collect();
    shares.try_into().unwrap()
}

fn classes<const N: usize>(block: &[&str], unit: &str) -> [f64; N] {
    const LABELS: [&str; 12] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    let mut shares = [0.0; N];
    let title = format!("  lat ({unit})   : ");
    for cell in block.iter().filter_map(|line| line.strip_prefix(&title)).flat_map(|line| line.split(", ")) {
        let (label, share) = cell.trim_end_matches('%').rsplit_once('=').unwrap();
        shares[LABELS.iter().position(|known| *known == label).unwrap()] = share.parse().unwrap();
    }
    shares
}

fn duration(text: &str) -> u64 {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let factor = match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => 1.0,
    };
    (text.trim_end_matches(unit).parse::<f64>().unwrap() * factor).round() as u64
}

fn steady(line: &str) -> SteadyStateRecord {
    SteadyStateRecord {
        metric: SteadyStateMetric::Iops,
        by_slope: line.contains("slope="),
        limit: 0.5,
        duration_s: 3,
        attained: line.contains("attained=yes"),
        criterion: Some(number(line, "slope=")),
        value: Some(0.0),
        percent: line.ends_with('%'),
        intervals: 1,
        bandwidth: vec![between(line, "bw=", "KiB").parse::<u64>().unwrap() * 1024],
        iops: vec![number(line, "iops=")],
        lat_ns: Vec::new(),
    }
}

fn disk(line: &str) -> DiskRecord {
    let pair = |key: &str| {
        let pair: Vec<u64> = between(line, key, ",").split('/').filter_map(|text| text.parse().ok()).collect();
        ReadWrite { read: pair.first().copied().unwrap_or(0), write: pair.last().copied().unwrap_or(0) }
    };
    DiskRecord {
        name: line.trim().split(':').next().unwrap().to_owned(),
        ios: pair("ios="),
        sectors: pair("sectors="),
        merges: pair("merge="),
        ticks_ms: pair("ticks="),
        in_queue_ms: number(line, "in_queue="),
        util_percent: number(line, "util="),
        slaves: Vec::new(),
    }
}

fn block_line<'a>(block: &[&'a str], title: &str) -> &'a str {
    block.iter().find(|line| line.trim().starts_with(title)).unwrap_or_else(|| panic!("no line {title:?}"))
}

/// The text between two others; empty if the first is missing.
fn between<'a>(line: &'a str, from: &str, to: &str) -> &'a str {
    let Some(start) = line.find(from) else { return "" };
    let rest = &line[start + from.len()..];
    &rest[..rest.find(to).unwrap_or(rest.len())]
}

fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split(',').map(|item| item.parse().unwrap()).collect()
}

/// The number after `key`.
fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(line: &str, key: &str) -> T {
    let rest = &line[line.find(key).unwrap_or_else(|| panic!("no {key:?} in {line:?}")) + key.len()..];
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|error| panic!("{key:?} in {line:?}: {error:?}"))
}
