//! Says in three sentences how the figures of `measure` are related.

use fsdyno_results::evidence::{ServerIdentity, StorageClass};
use fsdyno_results::{Direction, Lane, Study, Target, TestRounds, Trust, test_name};
use fsdyno_run::StopRule;
use fsdyno_text::quantity::{are_apart, bytes_per_s, count, latency, number, published};

use super::lines::Timing;
use crate::io_mode::IoMode;

/// Ends a sentence on the file size, where it is that of an earlier run.
pub(super) const SAME_SIZE: &str =
    "The file is as large as in the last run of the same plan here, so that `diff` can compare the two.";

/// The sentences that the rows allow.
pub(super) fn of(study: &Study) -> Vec<String> {
    let storage = study.targets.first().map(|target| &target.storage);
    let server = storage.and_then(|storage| storage.server.as_ref());
    let laws = [concurrency(study), throughput(study), round_trip(study, server), nfs_request(study)];
    laws.into_iter().flatten().chain(crate::limits::sentences(study)).collect()
}

/// The figures of one test, which has one job.
struct Measured {
    iops: f64,
    bytes_per_s: f64,
    mean_ns: f64,
    /// The median latency, or the mean where the requests are too few, with its name.
    typical: (f64, &'static str),
    depth: f64,
    /// The mean number of its requests in flight; `None`: not known.
    in_flight: Option<f64>,
    block_bytes: u64,
}

/// The names of the tests with random 4 KiB reads, many in flight.
const DEEP_READS: [&str; 3] = [test_name::RAND_READ, test_name::CDM[2].read, test_name::DISKSPD[2].read];
/// The names of the tests with random 4 KiB reads, one in flight.
const SINGLE_READS: [&str; 3] = [test_name::READ_LATENCY, test_name::CDM[3].read, test_name::DISKSPD[3].read];
/// The names of the tests with random 4 KiB writes, one in flight.
const SINGLE_WRITES: [&str; 3] = [test_name::WRITE_LATENCY, test_name::CDM[3].write, test_name::DISKSPD[3].write];

/// The figures of the first of these tests that has any that count.
fn measured_of(study: &Study, patterns: [&str; 3]) -> Option<Measured> {
    patterns.into_iter().find_map(|pattern| measured(study, pattern))
}

/// The figures of a test as the answer shows them: the rate is the median of its rounds, latencies are over the
/// requests of all. `None`: no figures count.
fn measured(study: &Study, pattern: &str) -> Option<Measured> {
    let rounds = TestRounds::of_rows(study.repeats(0, pattern));
    let (first, latency) = (*rounds.counted().first()?, rounds.latency(Lane::Request)?);
    let mean_ns = latency.moments.mean()?;
    let one = first.merged.as_ref()?;
    let direction = if one.directions.read.ios > 0 { Direction::Read } else { Direction::Write };
    let rate = rounds.rates();
    rounds.counts(rate.1).then_some(())?;
    Some(Measured {
        iops: rounds.value(rate.1).filter(|iops| *iops > 0.0)?,
        bytes_per_s: rounds.value(rate.0)?,
        mean_ns,
        typical: latency.shown(50.0).map_or((mean_ns, "mean"), |p50_ns| (p50_ns as f64, "median")),
        in_flight: rounds.in_flight(),
        depth: f64::from(one.setup.depth) * first.workers.len() as f64,
        block_bytes: one.setup.block_sizes[direction].0,
    })
}

/// A deep queue is worth it from this multiple of a single request's IOPS on.
const GAIN: f64 = 1.05;

/// IOPS = concurrency / mean latency.
fn concurrency(study: &Study) -> Option<String> {
    let deep = measured_of(study, DEEP_READS)?;
    let gain = measured_of(study, SINGLE_READS).map(|single| {
        let (gain, one) = (deep.iops / single.iops, number(single.iops));
        match gain {
            GAIN.. => {
                format!("One read at a time gives {one} IOPS, depth {} {} times as many.", deep.depth, number(gain))
            }
            _ if gain * GAIN < 1.0 => {
                format!(
                    "One read at a time gives {one} IOPS, depth {} only {} times as many.",
                    deep.depth,
                    number(gain)
                )
            }
            _ => format!("One read at a time gives {one} IOPS: depth {} gains less than 5 % here.", deep.depth),
        }
    });
    let sentences: Vec<String> = little(&deep).into_iter().chain(gain).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Little's law with the figures of a test. `None` where rounds differ: the median of their rates and the mean latency
/// of all requests then belong to different rounds.
fn little(deep: &Measured) -> Option<String> {
    let product = deep.iops * deep.mean_ns / 1e9;
    let in_flight = deep.in_flight.filter(|in_flight| (product / in_flight - 1.0).abs() < 0.02)?;
    let possible = deep.depth * 1e9 / deep.mean_ns;
    let holds = deep.iops / possible * 100.0;
    let fewer = if holds < 95.0 { format!(": {} were in flight on average", number(in_flight)) } else { String::new() };
    Some(format!(
        "IOPS = concurrency / mean latency: {} requests in flight / {} = {} IOPS; measured {} ({holds:.0} % of it{fewer}).",
        deep.depth,
        latency(deep.mean_ns),
        number(possible),
        number(deep.iops),
    ))
}

/// Throughput = IOPS x block size.
fn throughput(study: &Study) -> Option<String> {
    let read = measured(study, test_name::SEQ_READ_64K)?;
    let small = measured(study, test_name::RAND_READ)?;
    // The product is printed only where it equals the measured rate.
    let product = read.iops * read.block_bytes as f64;
    ((product / read.bytes_per_s - 1.0).abs() < 0.005).then_some(())?;
    Some(format!(
        "Throughput = IOPS x block size: {} reads/s x {} KiB = {}; the same storage moves {} in 4 KiB random \
         reads.",
        number(read.iops),
        read.block_bytes / 1024,
        bytes_per_s(read.bytes_per_s),
        bytes_per_s(small.bytes_per_s),
    ))
}

/// Says which part of the latency the network's round trip is.
fn round_trip(study: &Study, server: Option<&ServerIdentity>) -> Option<String> {
    let of = |what, patterns| Some((what, measured_of(study, patterns)?));
    let (what, found) = of("a 4k read", SINGLE_READS).or_else(|| of("a 4k write", SINGLE_WRITES))?;
    let (p50_ns, figure) = found.typical;
    let mean =
        if are_apart(found.mean_ns, p50_ns) { format!(", mean {}", latency(found.mean_ns)) } else { String::new() };
    let (took, what) = (latency(p50_ns), &format!("{what} ({figure}{mean})"));
    let Some(server) = server else { return Some(without_server(study.targets.first()?, what, &took)) };
    let address = &server.address;
    Some(match server.connect_ns.value().map(|connect_ns| *connect_ns as f64) {
        // Clearly longer: two measurements of one round trip differ a little.
        Some(connect_ns) if connect_ns > p50_ns * 1.25 => format!(
            "A TCP connect to {address} takes {}, longer than the {took} of {what}: a cache on this machine answered.",
            latency(connect_ns),
        ),
        Some(connect_ns) if connect_ns > p50_ns => format!(
            "A TCP connect to {address} takes {}, about as long as {what} ({took}): all of that is the round trip.",
            latency(connect_ns),
        ),
        Some(connect_ns) => format!(
            "A TCP connect to {address} takes {}, {:.0} % of the {took} of {what}: no answer of that server can be faster.",
            latency(connect_ns),
            connect_ns / p50_ns * 100.0,
        ),
        None => format!(
            "The share of the network round trip to {address} in the {took} of {what} is not visible: {}.",
            server.connect_ns.reason().unwrap_or("not inspected")
        ),
    })
}

/// The same where no server is known; there may still be one.
fn without_server(target: &Target, what: &str, took: &str) -> String {
    match target.storage.class {
        StorageClass::Memory => {
            format!("No network and no device below: all {took} of {what} are spent in this machine's memory and CPUs.")
        }
        StorageClass::Network | StorageClass::Fuse | StorageClass::HostShare | StorageClass::Unknown => format!(
            "The share of a network round trip in the {took} of {what} is not visible: the server is not known."
        ),
        StorageClass::Block | StorageClass::Device | StorageClass::Kernel => format!(
            "No network is visible: all {took} of {what} are spent in this machine and its devices, including what is \
             behind them."
        ),
    }
}

/// A sentence on the conditions: file size, I/O mode, times.
pub(super) fn io_mode(file_bytes: u64, io_mode: IoMode, timing: Timing) -> String {
    let path = if io_mode.direct { "direct I/O" } else { "the page cache" };
    let seconds = |ms: u32| published(f64::from(ms) / 1e3);
    let length = match timing.stop_rule {
        StopRule::AsWritten | StopRule::WearOut => format!("{} s", seconds(timing.runtime_ms)),
        StopRule::Settled { least_s, .. } => {
            format!("until its rate settled ({} to {} s),", published(least_s), seconds(timing.runtime_ms))
        }
    };
    format!(
        "Measured with {} and {path} on a file of {} MiB, written first; each test ran {length} after {}.",
        io_mode.engine,
        count(file_bytes >> 20),
        if timing.interval_s > 0 {
            format!("{} s without I/O", timing.interval_s)
        } else {
            format!("{} s of warm-up", seconds(timing.ramp_ms))
        }
    )
}

/// The same for the published lines.
pub(super) fn published_lines(file_bytes: u64) -> String {
    format!(
        "The published command lines unchanged: files of {} MiB, 60 s each after 5 s of warm-up, libaio and direct \
         I/O.",
        count(file_bytes >> 20)
    )
}

/// A sentence that names the tests that there was no time for.
pub(super) fn left_out(names: &[&str], total_s: u32) -> String {
    format!(
        "skipped, because all tests would take longer than {total_s} s here: {}; use --size to run them \
         all",
        names.join(", ")
    )
}

/// Says where a request of an NFS mount spends its time, by the mount's own counters.
fn nfs_request(study: &Study) -> Option<String> {
    let valid = || study.rows.iter().filter(|row| row.trust() < Trust::Invalid && row.first_error().is_none());
    let one_of = |patterns: [&str; 3]| valid().find(|row| patterns.contains(&row.pattern.as_str()));
    let row = one_of(SINGLE_READS).or_else(|| one_of(SINGLE_WRITES))?;
    let times = fsdyno_findings::limits::nfs_times(row.run.as_ref()?)?;
    Some(format!(
        "NFS counters, {}: {} waits {} in the client and takes {} on the network and in the server.",
        row.title,
        times.request(),
        latency(times.queue_ns),
        latency(times.round_trip_ns)
    ))
}

#[cfg(test)]
mod tests;
