//! `fsdyno measure`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use guide::measure::{Effort, Options, measure};
use guide::study::Place;

use super::answer::{Shared, answer, size};

/// How fast is the storage: latency, IOPS, throughput.
///
/// Reads and writes at depth 1 (latency), at depth 32 (IOPS) and in sequence (throughput), in about a minute; then
/// explains how these figures are related.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// A directory on the storage to be measured.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Finish within 20 s.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The published command lines unchanged: 60 s each, files of 10 GiB (160 GiB in all for the last of them).
    #[arg(long)]
    full: bool,
    /// Bytes of the file, such as 4g [default: fitted to space, memory and speed].
    #[arg(long, value_parser = size)]
    size: Option<u64>,
    /// Refuse any other type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    expect: Option<String>,
    #[command(flatten)]
    shared: Shared,
}

impl Measure {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let effort = match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Normal,
        };
        let options = Options { effort, size_bytes: self.size, expected: self.expect };
        let place = Place::at(&self.path);
        answer(&self.shared, command, |caller| measure(&place, &options, caller))
    }
}
