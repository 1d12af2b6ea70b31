//! `fsdyno compare`.

use std::process::ExitCode;

use clap::Args;
use guide::compare::{Options, compare, expectation};
use guide::study::Place;

use super::{Diff, Shared, answer, size};

/// Which of several storages is faster: five patterns on each, in rounds that take turns.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// NAME=PATH of each storage; the first is the baseline. Or two kept runs, the older first.
    #[arg(required = true, value_name = "NAME=PATH")]
    places: Vec<String>,
    /// So many rounds [default: at least 5, until the intervals are narrow].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Bytes of each job's file, such as 1g [default: what the slowest writes in one turn].
    #[arg(long, value_parser = size)]
    size: Option<u64>,
    /// Block size of all patterns [default: 1m in sequence, 4k at random].
    #[arg(long)]
    bs: Option<String>,
    /// Requests in flight per job.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    iodepth: u32,
    /// Jobs at once, each with a file of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    numjobs: u32,
    /// Longest turn, s.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    runtime: u32,
    /// The published lines as they stand: one file, 8 jobs, 4k, 30 s by the clock; one round unless told otherwise.
    #[arg(long, conflicts_with_all = ["size", "bs", "iodepth", "numjobs", "runtime"])]
    literal: bool,
    /// Refuse a place that is not this type of filesystem: NAME=FSTYPE, such as nfs=nfs.
    #[arg(long, value_name = "NAME=FSTYPE", value_parser = expectation)]
    expect: Vec<(String, String)>,
    #[command(flatten)]
    shared: Shared,
}

/// Whether the word means a kept run and not a place: it has no name before a path, and no directory is there.
fn is_run(word: &str) -> bool {
    !word.contains('=') && !std::path::Path::new(word).is_dir() && (!word.contains('/') || word.ends_with(".json"))
}

impl Compare {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        if let [base, new] = &self.places[..]
            && is_run(base)
            && is_run(new)
        {
            return Diff::between(base, new, &self.shared).run();
        }
        let options = Options {
            rounds: self.rounds,
            size_bytes: self.size,
            block_size: self.bs,
            iodepth: self.iodepth,
            numjobs: self.numjobs,
            runtime_s: self.runtime,
            literal: self.literal,
            expected: self.expect,
        };
        let places: Vec<Place> = self.places.iter().map(|word| Place::parse(word)).collect();
        answer(&self.shared, command, |caller| {
            compare(&places, &options, crate::VERSION, caller.command, caller.control, caller.watcher)
        })
    }
}
