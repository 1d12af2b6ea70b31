//! Parses the requests of a pattern: `rw` and block size, in fio's words.

use fsdyno_job::{Job, Outcome};
use fsdyno_run::MachineSources;

use crate::io_mode::IoMode;

/// The requests of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// `rw` in fio's words: `randread`.
    pub access: String,
    /// The block size as it was typed: `4k`.
    pub block_size: String,
    /// Bytes of the largest request.
    pub largest_bytes: u64,
    /// Whether some are reads.
    pub reads: bool,
    /// Whether some are writes.
    pub writes: bool,
}

impl Requests {
    /// Parses both words.
    ///
    /// # Errors
    /// When fio's language does not know one of them, or when it trims: files cannot be trimmed.
    pub fn parse(access: &str, block_size: &str) -> Result<Requests, String> {
        let job = job(&[format!("--rw={access}"), format!("--bs={block_size}")])?;
        let access = &job.pattern.access;
        let plain = "use one of read, write, rw, randread, randwrite, randrw";
        if access.trims {
            return Err(format!("`{}` trims, which has no effect on a file: {plain}", access.name()));
        }
        if job.pattern.modifier.is_some() {
            return Err(format!("a number after the pattern is not supported here: {plain}"));
        }
        let sizes = &job.pattern.block_size;
        let largest =
            if access.reads { sizes.read.max() } else { 0 }.max(if access.writes { sizes.write.max() } else { 0 });
        Ok(Requests {
            access: access.name().to_string(),
            block_size: block_size.to_string(),
            largest_bytes: largest,
            reads: access.reads,
            writes: access.writes,
        })
    }

    /// The pattern's name in rows, the same on every storage: `randread-4k`.
    pub fn pattern(&self) -> String {
        format!("{}-{}", self.access, self.block_size)
    }

    /// The pattern's name for people: `4k random read`.
    pub fn title(&self) -> String {
        let words = match self.access.as_str() {
            "read" => "sequential read",
            "write" => "sequential write",
            "rw" => "sequential read and write",
            "randread" => "random read",
            "randwrite" => "random write",
            "randrw" => "random read and write",
            other => other,
        };
        format!("{} {words}", self.block_size)
    }

    /// The command line for these requests on a filled file, bounded by time; the caller adds iodepth and rate.
    pub(crate) fn line(
        &self,
        name: &str,
        io_mode: &IoMode,
        file: &str,
        size_bytes: u64,
        timing: Timing,
    ) -> Vec<String> {
        let mut words = vec![
            format!("--name={name}"),
            format!("--filename={file}"),
            format!("--size={size_bytes}"),
            "--fallocate=none".to_string(),
            format!("--rw={}", self.access),
            format!("--bs={}", self.block_size),
            "--time_based=1".to_string(),
            format!("--runtime={}ms", timing.runtime_ms),
            format!("--ramp_time={}ms", timing.ramp_ms),
            // A few seconds then give enough values to show how the rate varies.
            "--iopsavgtime=100".to_string(),
        ];
        words.extend(io_mode.words());
        if self.writes {
            words.push("--end_fsync=1".to_string());
        }
        words
    }
}

/// The times of one measured point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    /// Ramp, ms.
    pub(crate) ramp_ms: u32,
    /// Longest measuring time, ms.
    pub(crate) runtime_ms: u32,
}

impl Timing {
    /// For a point of `runtime_s` seconds: a quarter of it as ramp, 1 s at most.
    pub(crate) fn of_runtime(runtime_s: u32) -> Timing {
        let runtime_ms = runtime_s.saturating_mul(1000);
        Timing { ramp_ms: (runtime_ms / 4).min(1000), runtime_ms }
    }

    /// The times of each of `turns` equal parts.
    pub(crate) fn split(self, turns: u32) -> Timing {
        Timing { ramp_ms: self.ramp_ms / turns, runtime_ms: self.runtime_ms / turns }
    }

    /// The same with a measuring time of at least `runtime_ms`.
    pub(crate) fn at_least(self, runtime_ms: u32) -> Timing {
        Timing { runtime_ms: self.runtime_ms.max(runtime_ms), ..self }
    }

    /// The longest time of `points` points, s.
    pub(crate) fn seconds(self, points: usize) -> u64 {
        (u64::from(self.ramp_ms) + u64::from(self.runtime_ms)) * points as u64 / 1000
    }
}

/// The job that these words make, or why they make none.
fn job(words: &[String]) -> Result<Job, String> {
    let line: Vec<String> =
        ["--name=a", "--size=1g"].into_iter().map(str::to_string).chain(words.iter().cloned()).collect();
    match fsdyno_job::parse_command_line(&line, &mut MachineSources) {
        Outcome::Run(request) => request.jobs.into_iter().next().ok_or_else(|| "they make no job".to_string()),
        Outcome::Immediate(_) => Err("they make no job".to_string()),
        Outcome::Rejected(rejection) => {
            let lines = rejection.errors.iter().flat_map(|error| std::iter::once(&error.message).chain(&error.help));
            Err(lines.map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Checks a word of `rw`.
///
/// # Errors
/// When fio's language does not know it.
pub fn access(word: &str) -> Result<String, String> {
    Requests::parse(word, "4k").map(|requests| requests.access)
}

/// Checks a block size as fio does.
///
/// # Errors
/// When it is no block size.
pub fn block_size(word: &str) -> Result<String, String> {
    Requests::parse("read", word).map(|requests| requests.block_size)
}

/// A duration for people: `45 s`, `2 min 6 s`.
pub(crate) fn duration(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_fios_and_so_are_the_complaints() {
        let requests = Requests::parse("randread", "64k").unwrap();
        assert_eq!((requests.pattern(), requests.title()), ("randread-64k".into(), "64k random read".into()));
        assert_eq!((requests.largest_bytes, requests.reads, requests.writes), (65_536, true, false));
        assert_eq!(access("readwrite").unwrap(), "rw", "one word for one thing");
        assert_eq!(Requests::parse("randrw", "4k,64k").unwrap().largest_bytes, 65_536);
        let unknown = access("randraed").unwrap_err();
        assert!(unknown.contains("randraed") && unknown.contains("randread"), "{unknown}");
        assert!(access("randtrim").unwrap_err().contains("trims"));
        assert!(access("randread:8").unwrap_err().contains("a number after the pattern"));
        for wrong in ["0", "4x", "", "-1"] {
            assert!(!block_size(wrong).unwrap_err().is_empty(), "{wrong}");
        }
    }

    #[test]
    fn times_are_as_people_say_them() {
        assert_eq!([duration(45), duration(120), duration(126)], ["45 s", "2 min", "2 min 6 s"]);
        let timing = Timing::of_runtime(5);
        assert_eq!((timing.ramp_ms, timing.runtime_ms, timing.seconds(21)), (1000, 5000, 126));
        assert_eq!(Timing::of_runtime(1).ramp_ms, 250);
        let split = timing.split(8);
        assert_eq!((split.ramp_ms, split.runtime_ms), (125, 625));
        assert_eq!([split.at_least(1000), split.at_least(10)].map(|timing| timing.runtime_ms), [1000, 625]);
    }
}
