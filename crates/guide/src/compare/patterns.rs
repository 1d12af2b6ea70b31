//! The five patterns of a comparison, and their command lines.

use super::Options;
use crate::manner::Manner;
use crate::study::Place;

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
        // A turn is short: its course shows in windows of a fortieth.
        format!("--bwavgtime={}", window_ms(options.runtime_s)),
        format!("--iopsavgtime={}", window_ms(options.runtime_s)),
        "--fallocate=none".to_string(),
        "--group_reporting=1".to_string(),
    ];
    words.extend(manner.words());
    if pattern.writes {
        words.push("--end_fsync=1".to_string());
    }
    words
}

fn window_ms(runtime_s: u32) -> u32 {
    (runtime_s.saturating_mul(1000) / 40).clamp(100, 500)
}

/// What a reader must know of files, caches and durability.
pub(super) fn rules<'a>(places: &[Place], manners: impl Iterator<Item = &'a Manner>, options: &Options) -> String {
    if options.literal {
        return "the published lines as they stand: one file for eight jobs, and no sync at the end, so that what was \
                written may still be in memory"
            .to_string();
    }
    let (mut direct, mut cached) = (Vec::new(), Vec::new());
    for (place, manner) in places.iter().zip(manners) {
        if manner.direct { direct.push(place.name.as_str()) } else { cached.push(place.name.as_str()) }
    }
    let mut text = "each round writes new files, and a write counts as fast as it becomes durable (fsync and close \
                    within the time)"
        .to_string();
    if !direct.is_empty() {
        text.push_str(&format!("; {}: direct I/O, past this machine's page cache", direct.join(", ")));
    }
    if !cached.is_empty() {
        text.push_str(&format!(
            "; {}: through the page cache, a file's pages dropped before each run",
            cached.join(", ")
        ));
    }
    text
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
