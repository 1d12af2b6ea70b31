//! `fsdyno curve`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use fsdyno_guide::curve::{CurveOptions, LOADS, curve};
use fsdyno_guide::requests::{access, block_size};
use fsdyno_guide::study::Place;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, FileOptions, Shared, answer};

/// Response time under load: requests arrive at a share of the capacity, whether the storage keeps up or not.
///
/// A load near the capacity of a slow storage is measured for up to 30 s.
#[derive(Debug, Args)]
pub(crate) struct Curve {
    /// A directory on the storage to be measured.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Kind of access: read, write, randread, randwrite.
    #[arg(long, value_name = "WORD", default_value = "randread", value_parser = access)]
    rw: String,
    /// Block size.
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = block_size)]
    bs: String,
    /// Queue depth for the capacity runs [default: the best of 1, 4, 16 and 64].
    #[arg(long, value_name = "DEPTH", value_parser = value_parser!(u32).range(1..=65_536))]
    iodepth: Option<u32>,
    /// Loads in percent of the capacity, separated by commas.
    #[arg(long, value_name = "PERCENTS", default_values_t = LOADS, value_delimiter = ',',
        value_parser = value_parser!(u32).range(1..=1000))]
    loads: Vec<u32>,
    #[command(flatten)]
    file: FileOptions,
    #[command(flatten)]
    shared: Shared,
}

impl Curve {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let mut loads = self.loads;
        fsdyno_stats::sort::by(&mut loads, Ord::cmp);
        loads.dedup();
        let options = CurveOptions {
            access: self.rw,
            block_size: self.bs,
            depth: self.iodepth,
            loads,
            runtime_s: self.file.runtime_s(),
            size_bytes: self.file.size,
            expected: self.file.expect,
        };
        let place = Place::at(&self.path);
        let asked = AskedQuestion::about(Question::Curve, &place, &self.path, command);
        answer(&self.shared, asked, |caller| curve(&place, &options, caller))
    }
}
