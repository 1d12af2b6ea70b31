//! The five patterns of a comparison, and their command lines.

use super::Options;
use crate::manner::Manner;

/// One pattern.
pub(super) struct Pattern {
    /// fio's word, which is also the row's.
    pub(super) name: &'static str,
    words: &'static str,
    random: bool,
    writes: bool,
    /// Begins with new files: a file that is written again is another case for most storages.
    pub(super) fresh_files: bool,
}

/// In the order in which they run: each round's reads meet what its writes made.
pub(super) const PATTERNS: [Pattern; 5] = [
    Pattern { name: "write", words: "sequential write", random: false, writes: true, fresh_files: true },
    Pattern { name: "read", words: "sequential read", random: false, writes: false, fresh_files: false },
    Pattern { name: "randread", words: "random read", random: true, writes: false, fresh_files: false },
    Pattern { name: "randwrite", words: "random write", random: true, writes: true, fresh_files: false },
    Pattern { name: "randrw", words: "random read and write", random: true, writes: true, fresh_files: false },
];

impl Pattern {
    fn block_size<'a>(&self, options: &'a Options) -> &'a str {
        match &options.block_size {
            _ if options.literal => "4k",
            Some(block_size) => block_size,
            None if self.random => "4k",
            None => "1m",
        }
    }

    /// For people.
    pub(super) fn title(&self, options: &Options) -> String {
        let (depth, jobs) = if options.literal { (32, 8) } else { (options.iodepth, options.numjobs) };
        let jobs = if jobs == 1 { String::new() } else { format!(", {jobs} jobs") };
        format!("{} {}, depth {depth}{jobs}", self.block_size(options), self.words)
    }
}

/// One pass over each job's file, cut off by the runtime; writes are durable within the time that counts.
pub(super) fn line(
    pattern: &Pattern,
    manner: &Manner,
    directory: &str,
    options: &Options,
    size_bytes: u64,
) -> Vec<String> {
    let mut words = vec![
        format!("--name={}", pattern.name),
        format!("--directory={directory}"),
        "--filename_format=compare.$jobnum".to_string(),
        format!("--rw={}", pattern.name),
        format!("--bs={}", pattern.block_size(options)),
        format!("--size={size_bytes}"),
        format!("--iodepth={}", options.iodepth),
        format!("--numjobs={}", options.numjobs),
        format!("--runtime={}", options.runtime_s),
        "--fallocate=none".to_string(),
        "--group_reporting=1".to_string(),
    ];
    words.extend(manner.words());
    if pattern.writes {
        words.push("--end_fsync=1".to_string());
    }
    words
}

/// The published line.
pub(super) fn literal(pattern: &Pattern, file: &str) -> Vec<String> {
    let line = format!(
        "-rw={} -direct=1 -iodepth 32 -thread -ioengine=libaio -bs=4k -size=1G -numjobs=8 -group_reporting -runtime=30 \
         -time_base -name={}",
        pattern.name, pattern.name
    );
    let mut words = vec![format!("-filename={file}")];
    words.extend(line.split(' ').map(str::to_string));
    words
}
