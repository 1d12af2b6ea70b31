//! `fsdyno compare`.

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use fsdyno_guide::Problem;
use fsdyno_guide::compare::{CompareOptions, compare, expectation, names};
use fsdyno_guide::study::Place;
use fsdyno_results::Question;

use super::answer::{AskedQuestion, Shared, answer, size};
use super::diff::Diff;
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::{StoreOptions, check_foreign};
use super::stored::opened;
use crate::process::streams::refused;

/// Which of several storages is faster: five patterns on each, in rounds that take turns.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// NAME=PATH of each storage; the first is the baseline. Or two kept runs, the older first. Where one PATH is
    /// s3://BUCKET or s3://BUCKET/PREFIX, whole objects are compared with whole files, of the same number and sizes.
    #[arg(required = true, value_name = "NAME=PATH")]
    places: Vec<String>,
    /// Number of rounds, even [default: 8 to 12, until every pattern differs or its 99 % interval is narrow].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Bytes of each job's file, such as 1g [default: as much as the slowest path writes in one turn].
    #[arg(long, value_parser = size)]
    size: Option<u64>,
    /// Block size of all patterns [default: 1m sequential, 4k random].
    #[arg(long)]
    bs: Option<String>,
    /// Requests in flight per job [default: 32].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    iodepth: Option<u32>,
    /// Number of jobs, each with its own file [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    numjobs: Option<u32>,
    /// Length of a turn in seconds; at the end of its file a job starts again.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runtime: u32,
    /// The published command lines unchanged: one file, 8 jobs, 4k, 30 s; one round by default.
    #[arg(long, conflicts_with_all = ["size", "bs", "iodepth", "numjobs", "runtime"])]
    literal: bool,
    /// Only these patterns, commas between them [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = PossibleValuesParser::new(all_names()))]
    only: Vec<String>,
    /// Refuse a path that is not on this type of filesystem: NAME=FSTYPE, such as nfs=nfs.
    #[arg(long, value_name = "NAME=FSTYPE", value_parser = expectation)]
    expect: Vec<(String, String)>,
    /// For two saved runs: exit status 1 if this is true, such as `randread.iops < -5%`.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// For two saved runs: compare even if plan, version or machine differ; the output says so.
    #[arg(long)]
    force: bool,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    objects: StoreOptions,
    #[command(flatten)]
    shared: Shared,
}

/// The patterns of directories; those of object stores are other ones.
fn all_names() -> Vec<&'static str> {
    let directories = names();
    #[cfg(all(feature = "object", target_os = "linux"))]
    let directories = directories.chain(fsdyno_guide::objects::compare_names());
    directories.collect()
}

/// Refuses patterns that these places do not have.
fn check_patterns(only: &[String], known: impl Iterator<Item = &'static str>) -> Result<(), Problem> {
    let known: Vec<&str> = known.collect();
    let Some(other) = only.iter().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    Err(Problem::new(format!("{other} is no pattern of these places")).with_next(format!("use {}", known.join(", "))))
}

/// Whether the word means a saved run, not a place: it has no `NAME=`, and no directory has that path.
fn is_run(word: &str) -> bool {
    let named = !word.contains('=') && (!word.contains('/') || word.ends_with(".json"));
    // Checked last: it accesses a storage that may not answer.
    named && !std::path::Path::new(word).is_dir()
}

/// Bytes of each job's file in the last saved comparison of these places.
fn size_before(shared: &Shared, places: &[Place]) -> Option<u64> {
    let store = opened(shared.store.as_deref()).ok().filter(|_| !shared.no_store)?;
    let paths: Vec<String> = places.iter().map(|place| fsdyno_job::bytes::shown(&place.path)).collect();
    let study = store.latest(Question::Compare, &paths, |_| true)?;
    study.rows.first()?.option("size")?.parse().ok()
}

impl Compare {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        if let [base, new] = &self.places[..]
            && is_run(base)
            && is_run(new)
        {
            return Diff::between(base, new, self.fail_if, self.force, &self.shared).run();
        }
        if self.force || !self.fail_if.is_empty() {
            let problem = Problem::new("--fail-if and --force need two saved runs, but these are paths")
                .with_next("compare the paths first, then run `fsdyno diff BASE last --fail-if …`");
            return ExitCode::from(refused(&problem));
        }
        let places: Vec<Place> = self.places.iter().map(|word| Place::parse(word)).collect();
        #[cfg(all(feature = "object", target_os = "linux"))]
        if let Some(store) = places.iter().find(|place| place.is_object_store()) {
            let store = fsdyno_job::bytes::shown(&store.path);
            return self.run_objects(&places, &store, command);
        }
        if let Err(problem) = check_patterns(&self.only, names()) {
            return ExitCode::from(refused(&problem));
        }
        let options = CompareOptions {
            rounds: self.rounds,
            size_bytes: self.size,
            size_before: if self.size.is_none() && !self.literal { size_before(&self.shared, &places) } else { None },
            block_size: self.bs,
            iodepth: self.iodepth.unwrap_or(CompareOptions::default().iodepth),
            numjobs: self.numjobs.unwrap_or(CompareOptions::default().numjobs),
            runtime_s: self.runtime,
            literal: self.literal,
            only: self.only,
            expected: self.expect,
        };
        let asked = AskedQuestion::among(Question::Compare, &places, &self.places, command);
        answer(&self.shared, asked, |caller| compare(&places, &options, caller))
    }
}

#[cfg(all(feature = "object", target_os = "linux"))]
impl Compare {
    /// Compares places of which one is an object store.
    fn run_objects(self, places: &[Place], store: &str, command: Vec<String>) -> ExitCode {
        use fsdyno_guide::objects::{ObjectCompareOptions, compare, compare_names};
        let foreign = [
            ("--size", self.size.is_some()),
            ("--bs", self.bs.is_some()),
            ("--iodepth", self.iodepth.is_some()),
            ("--numjobs", self.numjobs.is_some()),
            ("--literal", self.literal),
        ];
        let next = format!("fsdyno compare {}", fsdyno_text::shell::as_typed(&self.places));
        let checked = check_foreign(&foreign, store, &next).and_then(|()| check_patterns(&self.only, compare_names()));
        if let Err(problem) = checked {
            return ExitCode::from(refused(&problem));
        }
        let options = ObjectCompareOptions {
            rounds: self.rounds,
            connections: self.objects.connections,
            runtime_s: self.runtime,
            only: self.only,
            requests_max: self.objects.limits.budget,
            keeps: self.objects.limits.versioned,
            expected: self.expect,
        };
        let asked = AskedQuestion::among(Question::Compare, places, &self.places, command);
        answer(&self.shared, asked, |caller| compare(places, &options, caller))
    }
}
