//! How the figures of `measure` are related, in three sentences.

use results::evidence::{ServerIdentity, StorageClass};
use results::quantity::{bytes_per_s, count, latency, number, published};
use results::{Direction, JobRecord, Row, Study, Target, test_name};
use run::StopRule;

use super::lines::Timing;
use crate::io_mode::IoMode;

/// Why the file is as large as it is.
pub(super) const SAME_SIZE: &str =
    "The file is as large as in the last run of the same plan here, so that `diff` can compare the two.";

/// The sentences that the rows allow.
pub(super) fn of(study: &Study) -> Vec<String> {
    let storage = study.targets.first().map(|target| &target.storage);
    let server = storage.and_then(|storage| storage.server.as_ref());
    let laws = [concurrency(study), throughput(study), round_trip(study, server), nfs_request(study)];
    laws.into_iter().flatten().chain(crate::limits::sentences(study)).collect()
}

/// Rate, mean time from submission to completion in ns, and depth of a row's only job.
struct Measured {
    iops: f64,
    bytes_per_s: f64,
    mean_ns: f64,
    depth: f64,
    block_bytes: u32,
}

fn measured(study: &Study, pattern: &str) -> Option<Measured> {
    let row = study.rows.iter().find(|row| row.pattern == pattern)?;
    let job = only_job(row)?;
    let direction = if job.directions.read.ios > 0 { Direction::Read } else { Direction::Write };
    let block_bytes = job.setup.block_sizes[direction].0;
    let direction = &job.directions[direction];
    let mean_ns = direction.lat.moments.mean()?;
    (direction.ios > 0).then(|| Measured {
        iops: direction.iops(),
        bytes_per_s: direction.bandwidth() as f64,
        mean_ns,
        depth: f64::from(job.setup.depth),
        block_bytes,
    })
}

/// The workers of a row as one; depths add up.
fn only_job(row: &Row) -> Option<JobRecord> {
    let jobs = &row.run.as_ref()?.jobs;
    let mut merged = jobs.first()?.clone();
    jobs[1..].iter().for_each(|job| merged.merge(job));
    merged.setup.depth *= jobs.len() as u32;
    Some(merged)
}

/// IOPS = concurrency / latency.
fn concurrency(study: &Study) -> Option<String> {
    let deep = measured(study, test_name::RAND_READ)?;
    let possible = deep.depth * 1e9 / deep.mean_ns;
    let holds = deep.iops / possible * 100.0;
    let mut sentence = format!(
        "IOPS = concurrency / latency: {} requests in flight / {} on average = {} IOPS; measured {} ({:.0} % of it{}).",
        deep.depth,
        latency(deep.mean_ns),
        number(possible),
        number(deep.iops),
        holds,
        if holds < 95.0 { ": the rest of the time requests waited for submission" } else { "" }
    );
    if let Some(single) = measured(study, test_name::READ_LATENCY) {
        // By the same law: so many requests were really being served at once.
        let served = deep.iops * single.mean_ns / 1e9;
        sentence.push_str(&format!(
            " A read alone takes {} on average: at depth {} the storage served {} such reads at once, the others waited.",
            latency(single.mean_ns),
            deep.depth,
            number(served)
        ));
    }
    Some(sentence)
}

/// Throughput = IOPS x block size.
fn throughput(study: &Study) -> Option<String> {
    let read = measured(study, test_name::SEQ_READ_64K)?;
    let product = read.iops * f64::from(read.block_bytes);
    let small = measured(study, test_name::RAND_READ)?;
    Some(format!(
        "Throughput = IOPS x block size: {} reads/s x {} KiB = {}; the same storage moves {} in 4 KiB random \
         reads.",
        number(read.iops),
        read.block_bytes / 1024,
        bytes_per_s(product),
        bytes_per_s(small.bytes_per_s),
    ))
}

/// What the network's round trip explains of the latency.
fn round_trip(study: &Study, server: Option<&ServerIdentity>) -> Option<String> {
    let single = measured(study, test_name::READ_LATENCY).or_else(|| measured(study, test_name::WRITE_LATENCY))?;
    let Some(server) = server else { return Some(without_server(study.targets.first()?, single.mean_ns)) };
    Some(match server.connect_ns.value() {
        // Clearly longer: two measurements of the same round trip differ a little.
        Some(connect_ns) if *connect_ns as f64 > single.mean_ns * 1.25 => format!(
            "A TCP connect to {} takes {}, longer than the {} of a 4k request: a cache on this machine answered some \
             requests.",
            server.address,
            latency(*connect_ns as f64),
            latency(single.mean_ns)
        ),
        Some(connect_ns) => format!(
            "A TCP connect to {} takes {}, {:.0} % of the {} of a 4k request: no request to that server can be faster.",
            server.address,
            latency(*connect_ns as f64),
            (*connect_ns as f64 / single.mean_ns * 100.0).min(100.0),
            latency(single.mean_ns)
        ),
        None => format!(
            "The share of the network round trip to {} in the {} of a 4k request is not visible: {}.",
            server.address,
            latency(single.mean_ns),
            server.connect_ns.reason().unwrap_or("not inspected")
        ),
    })
}

/// The same where no server is known, which need not mean that there is none.
fn without_server(target: &Target, mean_ns: f64) -> String {
    let took = latency(mean_ns);
    match target.storage.class {
        StorageClass::Memory => format!(
            "No network and no device below: all {took} of a 4k request are spent in this machine's memory and CPUs."
        ),
        StorageClass::Network | StorageClass::Fuse | StorageClass::HostShare | StorageClass::Unknown => format!(
            "The share of a network round trip in the {took} of a 4k request is not visible: the server is not known."
        ),
        StorageClass::Block | StorageClass::Device | StorageClass::Kernel => format!(
            "No network is visible: all {took} of a 4k request are spent in this machine and its devices, including \
             what is behind them."
        ),
    }
}

/// On what, and how, in a sentence.
pub(super) fn io_mode(file_bytes: u64, io_mode: IoMode, timing: Timing) -> String {
    let path = if io_mode.direct { "direct I/O" } else { "the page cache" };
    let seconds = |ms: u32| published(f64::from(ms) / 1e3);
    let length = match timing.stop_rule {
        StopRule::AsWritten => format!("{} s", seconds(timing.runtime_ms)),
        StopRule::Settled { least_s, .. } => {
            format!("until its rate settled ({} to {} s),", published(least_s), seconds(timing.runtime_ms))
        }
    };
    format!(
        "Measured with {} and {path} on a file of {} MiB, written first; each test ran {length} after {} s of warm-up.",
        io_mode.engine,
        count(file_bytes >> 20),
        seconds(timing.ramp_ms)
    )
}

/// The same of the published lines.
pub(super) fn published_lines(file_bytes: u64) -> String {
    format!(
        "The published command lines unchanged: files of {} MiB, 60 s each after 5 s of warm-up, libaio and direct \
         I/O.",
        count(file_bytes >> 20)
    )
}

/// What there was no time for.
pub(super) fn left_out(names: &[&str], total_s: u32) -> String {
    format!(
        "skipped, because all tests would take longer than {total_s} s here (slow syncs): {}; use --size to run them \
         all",
        names.join(", ")
    )
}

/// Where a request of the mount is, by the mount's own counters.
fn nfs_request(study: &Study) -> Option<String> {
    let named = |pattern| study.rows.iter().find(|row| row.pattern == pattern);
    let row = named(test_name::READ_LATENCY).or_else(|| named(test_name::WRITE_LATENCY))?;
    let times = findings::limits::nfs_times(row.run.as_ref()?)?;
    Some(format!(
        "NFS counters, {}: each request waits {} in the client and takes {} on the network and in the server.",
        row.title,
        latency(times.queue_ns),
        latency(times.round_trip_ns)
    ))
}

#[cfg(test)]
mod tests;
