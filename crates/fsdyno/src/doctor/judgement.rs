//! Judges the facts and words the judgement.

use fsdyno_text::quantity::counted;

use super::findings::{EngineFinding, Findings};

/// The kernel's default of fs.aio-max-nr, which a host with many deep queues can exhaust.
const AIO_REQUESTS_MIN: u64 = 65_536;

/// Free libaio requests that a run should find: 16 jobs at iodepth=256.
const AIO_REQUESTS_LEFT_MIN: u64 = 4096;

/// Open files that a job with many clones or files needs.
const OPEN_FILES_MIN: u64 = 1024;

/// Locked memory that registered buffers of 16 jobs at iodepth=64 and 4 KiB need, bytes.
const LOCKED_MEMORY_BYTES_MIN: u64 = 4 << 20;

/// Memory for the buffers of 16 jobs at iodepth=64 and 256 KiB, bytes.
const MEMORY_BYTES_MIN: u64 = 256 << 20;

/// Whether a run on this machine can measure its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fitness {
    Ok,
    /// A run works, but something may slow it down, stop it or distort its figures.
    Caution,
    /// No run can move data here.
    Failed,
}

impl Fitness {
    pub(super) fn of(findings: &Findings) -> Fitness {
        let moves_data = |engine: &&EngineFinding| engine.available.is_ok() && engine.name.moves_data();
        match () {
            () if !findings.engines.iter().any(|engine| moves_data(&engine)) => Fitness::Failed,
            () if warnings(findings).is_empty() => Fitness::Ok,
            () => Fitness::Caution,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Fitness::Ok => "ok",
            Fitness::Caution => "caution",
            Fitness::Failed => "failed",
        }
    }
}

/// The judgement in one line.
pub(super) fn verdict(findings: &Findings) -> String {
    let fitness = Fitness::of(findings);
    let why = match fitness {
        Fitness::Ok => "nothing was found that keeps a run from measuring the storage".to_owned(),
        Fitness::Caution => {
            let count = counted(warnings(findings).len() as u64, "warning");
            format!("runs work here; {count} of what their figures may suffer from")
        }
        Fitness::Failed => "no engine that moves data can be used here".to_owned(),
    };
    format!("{}: {why}", fitness.word())
}

/// A sentence on when the generator, not the storage, would be the limit.
pub(super) fn capacity(findings: &Findings) -> String {
    let deepest = findings.floors.iter().filter(|floor| !floor.gtod_reduce).max_by_key(|floor| floor.iodepth);
    let Some(floor) = deepest else { return "The CPU cost of fsdyno itself was not measured.".to_owned() };
    match &floor.cpu_ns {
        Ok(cpu_ns) => format!(
            "At iodepth {depth} fsdyno itself needs about {cpu_ns:.0} ns of CPU per I/O: one CPU can drive about \
             {rate} I/Os per second. A slower storage is the limit of a run. The kernel's own CPU time per I/O is \
             extra, and belongs to the storage path that is measured.",
            depth = floor.iodepth,
            rate = in_words(1e9 / cpu_ns),
        ),
        Err(reason) => format!("Not clear whether fsdyno itself would be the limit: {reason}."),
    }
}

/// A rate in words: `28 million`, `1.9 million`, `640 thousand`.
fn in_words(rate: f64) -> String {
    let (value, unit) = if rate >= 1e6 { (rate / 1e6, " million") } else { (rate / 1e3, " thousand") };
    if value < 10.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

/// One line for each limit below what a typical job needs, and for each reason to doubt figures.
pub(super) fn warnings(findings: &Findings) -> Vec<String> {
    let limits = &findings.limits;
    let mut warnings = Vec::new();
    if findings.debug_build {
        warnings.push("this is a debug build: a release build (cargo build --release) is faster".to_owned());
    }
    if let Some(reason) = &findings.clock.fallback_reason {
        warnings.push(format!(
            "the time stamp counter is not the clock, because {reason}: every reading costs {cost:.0} ns; \
             gtod_reduce=1 needs fewest readings",
            cost = findings.clock.cost_ns
        ));
    }
    warnings.extend(aio_warning(findings));
    // A run raises its soft limit to the hard one.
    let open_files = if limits.open_files_hard.is_ok() { &limits.open_files_hard } else { &limits.open_files };
    warnings.extend(below(open_files, OPEN_FILES_MIN).map(|allowed| {
        format!("this process may open {allowed} files; jobs with many clones or files need more: ulimit -n {OPEN_FILES_MIN}")
    }));
    warnings.extend(below(&limits.locked_memory_bytes, LOCKED_MEMORY_BYTES_MIN).map(|bytes| {
        format!(
            "this process may lock {kib} KiB of memory; registered buffers of io_uring (fixedbufs) need more: \
             ulimit -l {least}",
            kib = bytes >> 10,
            least = LOCKED_MEMORY_BYTES_MIN >> 10
        )
    }));
    warnings.extend(below(&limits.cgroup_memory_bytes, MEMORY_BYTES_MIN).map(|bytes| {
        format!(
            "the control group has {mib} MiB of memory; buffers take numjobs x iodepth x bs, and its page cache \
             counts too",
            mib = bytes >> 20
        )
    }));
    warnings
}

/// A limit that is known, set, and lower than `least`.
fn below(limit: &fsdyno_probe::Fact<Option<u64>>, least: u64) -> Option<u64> {
    limit.as_ref().ok().copied().flatten().filter(|value| *value < least)
}

fn aio_warning(findings: &Findings) -> Option<String> {
    let max = *findings.limits.aio_max_requests.as_ref().ok()?;
    let reserved = *findings.limits.aio_reserved_requests.as_ref().unwrap_or(&0);
    let left = max.saturating_sub(reserved);
    (max < AIO_REQUESTS_MIN || left < AIO_REQUESTS_LEFT_MIN).then(|| {
        format!(
            "fs.aio-max-nr leaves {left} of {max} requests for libaio, and each job reserves its iodepth: sysctl -w \
             fs.aio-max-nr=1048576"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_in_words() {
        assert_eq!(in_words(28_571_428.0), "29 million");
        assert_eq!(in_words(1_900_000.0), "1.9 million");
        assert_eq!(in_words(640_000.0), "640 thousand");
    }
}
