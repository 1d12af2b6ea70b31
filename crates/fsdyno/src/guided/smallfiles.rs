//! `fsdyno smallfiles`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use fsdyno_guide::smallfiles::{
    BRANCH_MAX, DEPTH_MAX, FILES_MAX, SIZE_BYTES_MAX, SmallFilesOptions, THREADS_MAX, smallfiles,
};
use fsdyno_guide::study::Place;

use fsdyno_results::Question;

use super::answer::{AskedQuestion, Shared, answer, size};
use crate::nodes::Nodes;

/// How fast are metadata and small files: the 10 s rule, create, stat, rename, fsync.
///
/// First 1,001 files are written and read, and compared with the published 10 s rule. Then come the operations that
/// decide
/// how a git server, a mail store or a build feels: create, stat, open and read, readdir, rename, fsync of files and
/// directories, mkdir, rmdir, symlink, readlink and unlink, each with its rate and latency.
#[derive(Debug, Args)]
pub(crate) struct SmallFiles {
    /// A directory on the storage to be measured.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Number of files, on each node if several take part.
    #[arg(long, default_value_t = 1001, value_parser = value_parser!(u32).range(1..=i64::from(FILES_MAX)))]
    files: u32,
    /// Size of each file, such as 5 or 64k.
    #[arg(long, default_value = "5", value_parser = file_size)]
    size: u64,
    /// Levels of directories for the files.
    #[arg(long, default_value_t = 0, value_parser = value_parser!(u32).range(0..=i64::from(DEPTH_MAX)))]
    depth: u32,
    /// Directories in each directory of these levels.
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = value_parser!(u32).range(1..=i64::from(BRANCH_MAX)))]
    branch: u32,
    /// Files of each directory that has files, in place of --files.
    #[arg(long, value_name = "NUMBER", conflicts_with = "files", value_parser = value_parser!(u32).range(1..=i64::from(FILES_MAX)))]
    files_per_dir: Option<u32>,
    /// Number of threads, all in the same directories.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..=i64::from(THREADS_MAX)))]
    threads: u32,
    /// Time limit of each phase; the first write and read have none.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = value_parser!(u32).range(1..=3600))]
    limit: u32,
    /// Also run the published shell loops, and show both times.
    #[arg(long)]
    literal: bool,
    /// With several nodes: all make their files in the same directories, instead of each in its own.
    #[arg(long = "shared")]
    one_place: bool,
    /// Drop the caches of the whole machine before phases with cold caches (root only; slows other programs for a
    /// while).
    #[arg(long)]
    drop_caches: bool,
    /// Refuse any other type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    expect: Option<String>,
    #[command(flatten)]
    shared: Shared,
}

/// Parses a size of at most a small file's.
fn file_size(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    let too_large = || format!("the maximum size of a small file is {} MiB", SIZE_BYTES_MAX >> 20);
    if bytes <= SIZE_BYTES_MAX { Ok(bytes) } else { Err(too_large()) }
}

impl SmallFiles {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let mut options = SmallFilesOptions {
            files: self.files,
            size_bytes: self.size,
            depth: self.depth,
            branch: self.branch,
            threads: self.threads,
            limit_s: self.limit,
            wear_out: false,
            literal: self.literal,
            shared: self.one_place,
            drop_caches: self.drop_caches,
            expected: self.expect,
        };
        if let Some(each) = self.files_per_dir {
            // More than the most files are refused below.
            options.files = u32::try_from(options.leaves().saturating_mul(each.into())).unwrap_or(u32::MAX);
        }
        let place = Place::at(&self.path);
        let asked = AskedQuestion::about(Question::SmallFiles, &place, &self.path, command);
        answer(&self.shared, asked, |caller| smallfiles(&place, &options, &mut Nodes, caller))
    }
}
