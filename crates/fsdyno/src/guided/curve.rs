//! `fsdyno curve`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use fsdyno_guide::curve::{CurveOptions, LOADS, curve};
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::objects;
use fsdyno_guide::requests::{access, block_size};
use fsdyno_guide::study::Place;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, FileOptions, Shared, answer};
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::StoreLimits;
#[cfg(all(feature = "object", target_os = "linux"))]
use crate::process::streams::refused;

/// Response time under load: requests arrive at a share of the capacity, whether the storage keeps up or not.
///
/// A load near the capacity of a slow storage is measured for up to 30 s.
#[derive(Debug, Args)]
pub(crate) struct Curve {
    /// A directory on the storage to be measured, or an object store: s3://BUCKET or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Kind of access: read, write, randread, randwrite; of an object store get, put.
    #[arg(long, visible_alias = "requests", value_name = "WORD", default_value = "randread", value_parser = access)]
    rw: String,
    /// Block size, or the size of whole objects.
    #[arg(long, visible_alias = "object-size", value_name = "SIZE", default_value = "4k", value_parser = block_size)]
    bs: String,
    /// Queue depth, or connections, for the capacity runs [default: the best of 1, 4, 16 and 64].
    #[arg(long, visible_alias = "connections", value_name = "DEPTH", value_parser = value_parser!(u32).range(1..=65_536))]
    iodepth: Option<u32>,
    /// Loads in percent of the capacity, separated by commas.
    #[arg(long, value_name = "PERCENTS", default_values_t = LOADS, value_delimiter = ',',
        value_parser = value_parser!(u32).range(1..=1000))]
    loads: Vec<u32>,
    #[command(flatten)]
    file: FileOptions,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    limits: StoreLimits,
    #[command(flatten)]
    shared: Shared,
}

impl Curve {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let mut loads = self.loads;
        fsdyno_stats::sort::by(&mut loads, Ord::cmp);
        loads.dedup();
        let place = Place::at(&self.path);
        #[cfg(all(feature = "object", target_os = "linux"))]
        let limits = {
            let file = [("--size", self.file.size.is_some()), ("--expect", self.file.expect.is_some())];
            self.limits.of(&place, "curve", &file)
        };
        let options = CurveOptions {
            access: self.rw,
            block_size: self.bs,
            depth: self.iodepth,
            loads,
            runtime_s: self.file.runtime_s(),
            size_bytes: self.file.size,
            expected: self.file.expect,
        };
        let asked = AskedQuestion::about(Question::Curve, &place, &self.path, command);
        #[cfg(all(feature = "object", target_os = "linux"))]
        if place.is_object_store() {
            return match limits {
                Ok(limits) => answer(&self.shared, asked, |caller| objects::curve(&place, &options, limits, caller)),
                Err(problem) => ExitCode::from(refused(&problem)),
            };
        }
        answer(&self.shared, asked, |caller| curve(&place, &options, caller))
    }
}
