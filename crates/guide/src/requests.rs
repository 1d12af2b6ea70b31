//! Parses the requests of a pattern: `rw` and block size, in fio's words.

use fsdyno_job::{Job, Outcome};
use fsdyno_run::MachineSources;
use fsdyno_text::quantity::counted;

use crate::Problem;
use crate::question_file::FilledTarget;

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
    /// Whether they are GET or PUT of whole objects, each of this block size.
    pub of_objects: bool,
}

/// The requests to object stores, with the access that stands for them in a job's line.
const OBJECT_REQUESTS: [(&str, &str); 2] = [("get", "randread"), ("put", "randwrite")];

impl Requests {
    /// Parses both words.
    ///
    /// # Errors
    /// When fio's language does not know one of them, or when it trims: files cannot be trimmed.
    pub fn parse(access: &str, block_size: &str) -> Result<Requests, String> {
        let of_objects = OBJECT_REQUESTS.iter().find(|(verb, _)| *verb == access);
        let access = of_objects.map_or(access, |(_, access)| access);
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
            of_objects: of_objects.is_some(),
        })
    }

    #[cfg(any(test, all(feature = "object", target_os = "linux")))]
    /// The same as requests for whole objects; the error says which there are.
    pub(crate) fn into_objects(self) -> Result<Requests, Problem> {
        if self.reads && self.writes {
            let text =
                format!("{} both reads and writes, and a request to an object store does one of them", self.access);
            return Err(Problem::new(text).with_next("use --requests get,put"));
        }
        Ok(Requests { access: OBJECT_REQUESTS[usize::from(self.writes)].1.to_owned(), of_objects: true, ..self })
    }

    /// Refuses requests that directories do not have.
    pub(crate) fn check_of_files(&self) -> Result<(), Problem> {
        if !self.of_objects {
            return Ok(());
        }
        let text = format!("{} is a request to an object store, and this is a directory", self.word());
        Err(Problem::new(text).with_next("use one of read, write, rw, randread, randwrite, randrw"))
    }

    /// The word for these requests: `randread`, `get`.
    fn word(&self) -> &str {
        match self.of_objects {
            true => OBJECT_REQUESTS[usize::from(self.writes)].0,
            false => &self.access,
        }
    }

    /// This number of requests in flight, as people say it: `depth 8`, for objects `8 connections`.
    pub(crate) fn at_once(&self, depth: u32) -> String {
        at_once(self.of_objects, depth)
    }

    /// The pattern's name in rows, the same on every storage: `randread-4k`.
    pub fn pattern(&self) -> String {
        format!("{}-{}", self.word(), self.block_size)
    }

    /// The pattern's name for people: `4k random read`.
    pub fn title(&self) -> String {
        let words = match self.word() {
            "get" => "GET",
            "put" => "PUT",
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

    /// The command line for this number of these requests in flight on what was filled, bounded by time.
    pub(crate) fn line(&self, name: &str, site: FilledTarget<'_>, timing: Timing, depth: u32) -> Vec<String> {
        let mut words = vec![
            format!("--name={name}"),
            format!("--filename={}", site.file),
            format!("--size={}", site.bytes_of(self.largest_bytes)),
            "--fallocate=none".to_string(),
            format!("--rw={}", self.access),
            format!("--bs={}", self.block_size),
        ];
        words.extend(site.ends(depth, self.largest_bytes, timing));
        // A few seconds then give enough values to show how the rate varies.
        words.push("--iopsavgtime=100".to_string());
        words.extend_from_slice(site.engine);
        if self.writes && !self.of_objects {
            words.push("--end_fsync=1".to_string());
        }
        words.push(site.at_once(depth));
        words
    }
}

/// This number of requests in flight, as people say it: `depth 8`, for objects `8 connections`.
pub(crate) fn at_once(of_objects: bool, depth: u32) -> String {
    if of_objects { counted(depth.into(), "connection") } else { format!("depth {depth}") }
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
    Requests::parse(word, "4k").map(|requests| requests.word().to_owned())
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
    fn requests_to_object_stores_have_words_of_their_own() {
        let get = Requests::parse("get", "128k").unwrap();
        assert_eq!(
            (get.pattern(), get.title(), get.at_once(1)),
            ("get-128k".into(), "128k GET".into(), "1 connection".into())
        );
        assert_eq!((access("put").unwrap().as_str(), get.access.as_str()), ("put", "randread"));
        assert_eq!(Requests::parse("read", "128k").unwrap().into_objects().unwrap(), get, "reads are GETs there");
        assert_eq!(Requests::parse("write", "4k").unwrap().into_objects().unwrap().pattern(), "put-4k");
        let mixed = Requests::parse("randrw", "4k").unwrap();
        assert_eq!(mixed.at_once(8), "depth 8");
        assert_eq!(mixed.into_objects().unwrap_err().next.as_deref(), Some("use --requests get,put"));
        assert!(get.check_of_files().unwrap_err().what.starts_with("get is a request to an object store"));
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
