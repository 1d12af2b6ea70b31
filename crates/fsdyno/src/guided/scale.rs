//! `fsdyno scale`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fsdyno_guide::requests::{access, block_size};
use fsdyno_guide::scale::{ScaleOptions, Steps, scale};
use fsdyno_guide::study::Place;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, FileOptions, Shared, answer};
use crate::nodes::Nodes;

/// The rate that several nodes reach together, and the number of nodes beyond which it does not grow.
///
/// Each node reads or writes its own file, or all nodes one file (--shared). Steps are repeated 4 to 12 times, alternating. More nodes than this
/// machine need a build for MPI: `fsdyno --hosts A,B,C scale DIR`, or its launcher's own call, such as
/// `mpirun -n 16 --hostfile HOSTS fsdyno scale DIR`.
#[derive(Debug, Args)]
pub(crate) struct Scale {
    /// A directory on the storage, the same on all nodes.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Nodes, a step for each number.
    #[arg(long, value_name = "NUMBERS", default_value = "1,2,4,8,16")]
    nodes: Steps,
    /// Block sizes, separated by commas.
    #[arg(long, value_name = "SIZES", default_value = "1m", value_delimiter = ',', value_parser = block_size)]
    bs: Vec<String>,
    /// Kinds of access, separated by commas: read, write, rw, randread, randwrite, randrw.
    #[arg(long, value_name = "WORDS", default_value = "read", value_delimiter = ',', value_parser = access)]
    rw: Vec<String>,
    /// Requests in flight on each node.
    #[arg(long, value_name = "DEPTH", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    iodepth: u32,
    /// All nodes use one file, each in a random order of its own, in place of a file each.
    #[arg(long = "shared")]
    one_file: bool,
    #[command(flatten)]
    file: FileOptions,
    #[command(flatten)]
    shared: Shared,
}

impl Scale {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let options = ScaleOptions {
            nodes: self.nodes,
            block_sizes: self.bs,
            accesses: self.rw,
            iodepth: self.iodepth,
            shared: self.one_file,
            runtime_s: self.file.runtime_s(),
            size_bytes: self.file.size,
            expected: self.file.expect,
        };
        let place = Place::at(&self.path);
        let asked = AskedQuestion::about(Question::Scale, &place, &self.path, command);
        answer(&self.shared, asked, |caller| scale(&place, &options, &mut Nodes, caller))
    }
}
