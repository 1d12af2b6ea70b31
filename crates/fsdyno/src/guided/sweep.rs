//! `fsdyno sweep`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use guide::requests::{access, block_size};
use guide::study::Place;
use guide::sweep::{Depths, Options, sweep};

use super::answer::{Shared, answer, size};

/// Best queue depth and block size: one point per depth, and the knee beyond which only latency grows.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// A directory on the storage to be measured.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Requests in flight: 1..64 is each power of two from 1 to 64, 1,4,24 a list.
    #[arg(long, value_name = "DEPTHS", default_value = "1..64")]
    iodepth: Depths,
    /// Block sizes, separated by commas.
    #[arg(long, value_name = "SIZES", default_value = "4k", value_delimiter = ',', value_parser = block_size)]
    bs: Vec<String>,
    /// Kinds of access, separated by commas: read, write, rw, randread, randwrite, randrw.
    #[arg(long, value_name = "WORDS", default_value = "randread", value_delimiter = ',', value_parser = access)]
    rw: Vec<String>,
    /// Time per point, s: 4 to 12 short runs, alternating with the other points.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = value_parser!(u32).range(1..=86_400))]
    runtime: u32,
    /// Bytes of the file, such as 4g [default: fitted to space, memory and speed].
    #[arg(long, value_parser = size)]
    size: Option<u64>,
    /// Refuse any other type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    expect: Option<String>,
    #[command(flatten)]
    shared: Shared,
}

impl Sweep {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let options = Options {
            depths: self.iodepth,
            block_sizes: self.bs,
            accesses: self.rw,
            runtime_s: self.runtime,
            size_bytes: self.size,
            expected: self.expect,
        };
        let place = Place { name: self.path.display().to_string(), path: self.path };
        answer(&self.shared, command, |caller| sweep(&place, &options, caller))
    }
}
