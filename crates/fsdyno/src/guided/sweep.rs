//! `fsdyno sweep`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fsdyno_guide::io_mode::RequestedIoMode;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::objects;
use fsdyno_guide::requests::{access, block_size};
use fsdyno_guide::study::Place;
use fsdyno_guide::sweep::{Depths, SweepOptions, sweep};
use fsdyno_job::EngineName;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, FileOptions, Shared, answer, engine};
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::StoreLimits;
#[cfg(all(feature = "object", target_os = "linux"))]
use crate::process::streams::refused;

/// Best queue depth and block size: one point per depth, and the knee beyond which only latency grows.
///
/// The time of each depth is divided into 4 to 12 short runs, which alternate with those of the other depths.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// A directory on the storage to be measured, or an object store: s3://BUCKET or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Requests in flight, to an object store each over a connection: 1..64 is each power of two from 1 to 64, 1,4,24 a
    /// list.
    #[arg(long, visible_alias = "connections", value_name = "DEPTHS", default_value = "1..64")]
    iodepth: Depths,
    /// Block sizes, or sizes of whole objects, separated by commas.
    #[arg(long, visible_alias = "object-size", value_name = "SIZES", default_value = "4k", value_delimiter = ',', value_parser = block_size)]
    bs: Vec<String>,
    /// Kinds of access, separated by commas: read, write, rw, randread, randwrite, randrw; of an object store get, put.
    #[arg(long, visible_alias = "requests", value_name = "WORDS", default_value = "randread", value_delimiter = ',', value_parser = access)]
    rw: Vec<String>,
    /// The engine of all depths [default: libaio, else io_uring].
    #[arg(long, value_parser = engine(), hide_possible_values = true)]
    engine: Option<EngineName>,
    #[command(flatten)]
    file: FileOptions,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    limits: StoreLimits,
    #[command(flatten)]
    shared: Shared,
}

impl Sweep {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let place = Place::at(&self.path);
        #[cfg(all(feature = "object", target_os = "linux"))]
        let limits = {
            let file = [("--size", self.file.size.is_some()), ("--expect", self.file.expect.is_some())];
            self.limits.of(&place, "sweep", &[file[0], file[1], ("--engine", self.engine.is_some())])
        };
        let options = SweepOptions {
            depths: self.iodepth,
            block_sizes: self.bs,
            accesses: self.rw,
            runtime_s: self.file.runtime_s(),
            size_bytes: self.file.size,
            expected: self.file.expect,
            wanted: RequestedIoMode { engine: self.engine, buffered: false },
        };
        let asked = AskedQuestion::about(Question::Sweep, &place, &self.path, command);
        #[cfg(all(feature = "object", target_os = "linux"))]
        if place.is_object_store() {
            return match limits {
                Ok(limits) => answer(&self.shared, asked, |caller| objects::sweep(&place, &options, limits, caller)),
                Err(problem) => ExitCode::from(refused(&problem)),
            };
        }
        answer(&self.shared, asked, |caller| sweep(&place, &options, caller))
    }
}
