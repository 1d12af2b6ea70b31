//! `fsdyno measure`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{ArgPredicate, PossibleValue, PossibleValuesParser};
use clap::{Args, value_parser};
use fsdyno_guide::io_mode::RequestedIoMode;
use fsdyno_guide::measure::{Effort, Like, MeasureOptions, familiar_names, measure, names};
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::objects::ObjectOptions;
use fsdyno_guide::study::Place;
use fsdyno_job::EngineName;
use fsdyno_results::Question;

use super::answer::{AskedQuestion, FileOptions, Shared, answer, engine};
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::{StoreOptions, check_foreign};
use super::stored::opened;
#[cfg(all(feature = "object", target_os = "linux"))]
use crate::process::streams::refused;

/// How fast is the storage: throughput, IOPS, latency, and the latency of a durable write.
///
/// Reads and writes in sequence (throughput), at random with many requests in flight (IOPS) and one at a time (latency),
/// in about a minute; then says whether the figures can be trusted, what limits them, and what to do next.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// A directory on the storage to be measured, or an object store: s3://BUCKET or s3://BUCKET/PREFIX, with endpoint,
    /// region and key from the environment and files of AWS' own programs.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Finish within 15 s.
    #[arg(long)]
    quick: bool,
    /// The published command lines unchanged: 60 s each, files of 10 GiB (160 GiB in all for the last of them).
    #[arg(long, conflicts_with_all = ["quick", "runs", "only", "runtime", "engine", "buffered", "like"])]
    full: bool,
    /// The tests of CrystalDiskMark and KDiskMark (cdm), or of diskspd, under their names and with their lengths.
    #[arg(long, value_name = "TOOL", value_parser = PossibleValuesParser::new(Like::NAMED.map(|(name, _)| name)))]
    like: Option<String>,
    /// Measure everything N times, each time on a new file; rates are then medians with intervals. With --like each
    /// test runs N times on the same file [default: 1; with --like=cdm 5].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    runs: Option<u32>,
    /// Run only these tests; with --like by the names of that tool.
    // A configuration names the usual tests, which another tool does not have.
    #[arg(long, value_name = "TESTS", value_delimiter = ',', value_parser = PossibleValuesParser::new(test_names()),
        default_value_if("like", ArgPredicate::IsPresent, None))]
    only: Vec<String>,
    /// The engine of all tests but sync-latency, which has its own [default: libaio, else io_uring].
    #[arg(long, value_parser = engine(), hide_possible_values = true)]
    engine: Option<EngineName>,
    /// Use the page cache instead of direct I/O.
    #[arg(long, conflicts_with = "like")]
    buffered: bool,
    #[command(flatten)]
    file: FileOptions,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    objects: StoreOptions,
    #[command(flatten)]
    shared: Shared,
}

/// All tests by name; help and completions show only the usual ones.
fn test_names() -> Vec<PossibleValue> {
    names().map(PossibleValue::new).chain(familiar_names().map(|name| PossibleValue::new(name).hide(true))).collect()
}

/// Bytes of the file in the last saved run of the same plan and place.
fn size_before(shared: &Shared, place: &Place, options: &MeasureOptions) -> Option<u64> {
    let store = opened(shared.store.as_deref()).ok().filter(|_| !shared.no_store)?;
    let paths = [fsdyno_job::bytes::shown(&place.path)];
    let study = store.latest(Question::Measure, &paths, |study| options.size_in(place, study).is_some())?;
    options.size_in(place, &study)
}

#[cfg(all(feature = "object", target_os = "linux"))]
impl Measure {
    /// Asks an object store.
    fn run_objects(self, place: &Place, command: Vec<String>) -> ExitCode {
        let foreign = [
            ("--full", self.full),
            ("--like", self.like.is_some()),
            ("--only", !self.only.is_empty()),
            ("--engine", self.engine.is_some()),
            ("--buffered", self.buffered),
            ("--size", self.file.size.is_some()),
            ("--expect", self.file.expect.is_some()),
        ];
        let shown = fsdyno_job::bytes::shown(&place.path);
        if let Err(problem) =
            check_foreign(&foreign, &shown, &format!("fsdyno measure {}", fsdyno_text::shell::word_as_typed(&shown)))
        {
            return ExitCode::from(refused(&problem));
        }
        let options = ObjectOptions {
            runtime_s: self.file.runtime.unwrap_or(if self.quick { 1 } else { 5 }),
            runs: self.runs.unwrap_or(1),
            connections: self.objects.connections,
            requests_max: self.objects.limits.budget,
            keeps: self.objects.limits.versioned,
        };
        let asked = AskedQuestion::about(Question::Measure, place, &self.path, command);
        answer(&self.shared, asked, |caller| fsdyno_guide::objects::measure(place, &options, caller))
    }
}

impl Measure {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        #[cfg(all(feature = "object", target_os = "linux"))]
        if let Some(place) = Some(Place::at(&self.path)).filter(Place::is_object_store) {
            return self.run_objects(&place, command);
        }
        let effort = match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Normal,
        };
        let mut options = MeasureOptions {
            effort,
            like: self.like.as_deref().and_then(Like::named),
            size_bytes: self.file.size,
            size_before: None,
            expected: self.file.expect,
            runs: self.runs.unwrap_or(0),
            only: self.only,
            runtime_s: self.file.runtime,
            wanted: RequestedIoMode { engine: self.engine, buffered: self.buffered },
        };
        let place = Place::at(&self.path);
        options.size_before = size_before(&self.shared, &place, &options);
        let asked = AskedQuestion::about(Question::Measure, &place, &self.path, command);
        answer(&self.shared, asked, |caller| measure(&place, &options, caller))
    }
}
