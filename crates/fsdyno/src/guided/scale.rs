//! `fsdyno scale`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fsdyno_guide::Problem;
#[cfg(all(feature = "object", target_os = "linux"))]
use fsdyno_guide::objects;
use fsdyno_guide::requests::{access, block_size};
use fsdyno_guide::scale::{Io500Options, STONEWALL_S, ScaleOptions, Steps, scale};
use fsdyno_guide::study::{Caller, Place};

use fsdyno_results::{Question, Study};

use super::answer::{AskedQuestion, FileOptions, Shared, answer, size};
#[cfg(all(feature = "object", target_os = "linux"))]
use super::store_options::StoreLimits;
use crate::nodes::Nodes;
#[cfg(all(feature = "object", target_os = "linux"))]
use crate::process::streams::refused;

/// The rate that several nodes reach together, and the number of nodes beyond which it does not grow.
///
/// Each node reads or writes its own file, or its own objects, or all nodes one file (--shared). Steps are repeated 4 to 12 times, alternating. More nodes than this
/// machine need a build for MPI: `fsdyno --hosts A,B,C scale DIR`, or its launcher's own call, such as
/// `mpirun -n 16 --hostfile HOSTS fsdyno scale DIR`.
#[derive(Debug, Args)]
pub(crate) struct Scale {
    /// A directory on the storage, the same on all nodes, or an object store: s3://BUCKET or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Nodes, a step for each number [default: 1,2,4,8,16; with --like all at once].
    #[arg(long, value_name = "NUMBERS")]
    nodes: Option<Steps>,
    /// Block sizes, or sizes of whole objects, separated by commas.
    #[arg(long, visible_alias = "object-size", value_name = "SIZES", default_value = "1m", value_delimiter = ',', value_parser = block_size)]
    bs: Vec<String>,
    /// Kinds of access, separated by commas: read, write, rw, randread, randwrite, randrw; of an object store get, put.
    #[arg(long, visible_alias = "requests", value_name = "WORDS", default_value = "read", value_delimiter = ',', value_parser = access)]
    rw: Vec<String>,
    /// Requests in flight on each node, to an object store each over a connection.
    #[arg(long, visible_alias = "connections", value_name = "DEPTH", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    iodepth: u32,
    /// All nodes use one file in place of a file each: in a random order of its own each, or in segments by node.
    #[arg(long = "shared")]
    one_file: bool,
    /// Bytes of a node's block in each segment of one file [default: as --bs].
    #[arg(long, value_parser = size, requires = "one_file")]
    block: Option<u64>,
    /// Each node goes on after its time until it has done as much as the one that has done most.
    #[arg(long)]
    wear_out: bool,
    /// Run the phases of IO500 with their published parameters on all nodes; --runtime is then the time after which writes
    /// stop [300], and --size the most that each node writes in each phase of IOR.
    #[arg(long, value_name = "TOOL", value_parser = ["io500"],
          conflicts_with_all = ["bs", "rw", "iodepth", "one_file", "wear_out"])]
    like: Option<String>,
    #[command(flatten)]
    file: FileOptions,
    #[cfg(all(feature = "object", target_os = "linux"))]
    #[command(flatten)]
    limits: StoreLimits,
    #[command(flatten)]
    shared: Shared,
}

impl Scale {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let place = Place::at(&self.path);
        #[cfg(all(feature = "object", target_os = "linux"))]
        let limits = {
            let of_files = [
                ("--size", self.file.size.is_some()),
                ("--expect", self.file.expect.is_some()),
                ("--shared", self.one_file),
                ("--wear-out", self.wear_out),
                ("--like", self.like.is_some()),
            ];
            self.limits.of(&place, "scale", &of_files)
        };
        let asked = AskedQuestion::about(Question::Scale, &place, &self.path, command);
        #[cfg(all(feature = "object", target_os = "linux"))]
        if let (true, Err(problem)) = (place.is_object_store(), &limits) {
            return ExitCode::from(refused(problem));
        }
        if self.like.is_some() {
            let time_s = self.file.runtime.unwrap_or(STONEWALL_S);
            let options =
                Io500Options { nodes: self.nodes, time_s, size_bytes: self.file.size, expected: self.file.expect };
            return answer(&self.shared, asked, |caller| like_io500(&place, &options, caller));
        }
        let options = ScaleOptions {
            nodes: self.nodes.unwrap_or_default(),
            block_sizes: self.bs,
            accesses: self.rw,
            iodepth: self.iodepth,
            shared: self.one_file,
            block_bytes: self.block,
            wear_out: self.wear_out,
            runtime_s: self.file.runtime_s(),
            size_bytes: self.file.size,
            expected: self.file.expect,
        };
        #[cfg(all(feature = "object", target_os = "linux"))]
        if let (true, Ok(limits)) = (place.is_object_store(), limits) {
            return answer(&self.shared, asked, |caller| objects::scale(&place, &options, limits, &mut Nodes, caller));
        }
        answer(&self.shared, asked, |caller| scale(&place, &options, &mut Nodes, caller))
    }
}

#[cfg(feature = "mpi")]
fn like_io500(place: &Place, options: &Io500Options, caller: Caller<'_>) -> Result<Study, Problem> {
    fsdyno_guide::scale::io500(place, options, &mut Nodes, caller)
}

/// A program without MPI has one node: it says how to start more, and does not contain the phases.
#[cfg(not(feature = "mpi"))]
fn like_io500(place: &Place, _: &Io500Options, _: Caller<'_>) -> Result<Study, Problem> {
    fsdyno_guide::work_directory::check_path(&place.path)?;
    let what = "more nodes are needed for the phases of IO500, and this program was built without MPI";
    Err(Problem::new(what).with_next(format!(
        "start a build for MPI on all of them: `mpirun -n 10 --hostfile HOSTS fsdyno-openmpi scale {} --like io500`",
        place.path.display()
    )))
}
