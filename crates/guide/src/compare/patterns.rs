//! The five patterns of a comparison, and their command lines.

use fsdyno_results::evidence::StorageClass;

use super::CompareOptions;
use crate::io_mode::IoMode;
use crate::study::Place;

/// One pattern.
pub(super) struct Pattern {
    /// fio's name for it, which is also the row's.
    pub(super) name: &'static str,
    words: &'static str,
    random: bool,
    reads: bool,
    writes: bool,
    /// Begins with new files, because overwriting is a different case for most storages.
    pub(super) fresh_files: bool,
}

/// The patterns in the order in which they run: the reads of a round use the files that its writes made.
pub(super) const PATTERNS: [Pattern; 5] = [
    Pattern { name: "write", words: "sequential write", random: false, reads: false, writes: true, fresh_files: true },
    Pattern { name: "read", words: "sequential read", random: false, reads: true, writes: false, fresh_files: false },
    Pattern { name: "randread", words: "random read", random: true, reads: true, writes: false, fresh_files: false },
    Pattern { name: "randwrite", words: "random write", random: true, reads: false, writes: true, fresh_files: false },
    Pattern {
        name: "randrw",
        words: "random read and write",
        random: true,
        reads: true,
        writes: true,
        fresh_files: false,
    },
];

/// The names of all patterns.
pub fn names() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|pattern| pattern.name)
}

impl Pattern {
    /// Whether this pattern was asked for; without a choice all are.
    pub(super) fn is_chosen(&self, options: &CompareOptions) -> bool {
        options.only.is_empty() || options.only.iter().any(|name| name == self.name)
    }

    fn block_size<'a>(&self, options: &'a CompareOptions) -> &'a str {
        match &options.block_size {
            _ if options.literal => "4k",
            Some(block_size) => block_size,
            None if self.random => "4k",
            None => "1m",
        }
    }

    /// The pattern's name for people.
    pub(super) fn title(&self, options: &CompareOptions) -> String {
        let (depth, jobs) = if options.literal { (32, 8) } else { (options.iodepth, options.numjobs) };
        let jobs = if jobs == 1 { String::new() } else { format!(", {jobs} jobs") };
        format!("{} {}, depth {depth}{jobs}", self.block_size(options), self.words)
    }
}

/// The cost of a second pass over the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    /// The same as the first: direct I/O, or a storage in memory.
    Alike,
    /// Less than the first: the file is then in the page cache, or in the cache of a daemon or host that direct I/O
    /// does not bypass. Writers therefore sync after each pass, and readers make one pass only.
    Cached,
}

impl Passes {
    pub(super) fn of(class: StorageClass, direct: bool) -> Passes {
        match class {
            StorageClass::Memory => Passes::Alike,
            StorageClass::Block | StorageClass::Network | StorageClass::Device if direct => Passes::Alike,
            _ => Passes::Cached,
        }
    }
}

/// Loops that no turn can finish: the runtime ends it.
const LOOPS_ENDLESS: u32 = 1_000_000;

/// The command line of a turn of `runtime_s`. A file that is done earlier is passed over again. The measured time
/// includes making the writes durable.
pub(super) fn line(
    pattern: &Pattern,
    (io_mode, passes): (&IoMode, Passes),
    directory: &str,
    options: &CompareOptions,
    size_bytes: u64,
) -> Vec<String> {
    let block_size = pattern.block_size(options);
    let mut words = vec![
        format!("--name={}", pattern.name),
        format!("--directory={directory}"),
        "--filename_format=compare.$jobnum".to_string(),
        format!("--rw={}", pattern.name),
        format!("--bs={block_size}"),
        format!("--size={size_bytes}"),
        format!("--iodepth={}", options.iodepth),
        format!("--numjobs={}", options.numjobs),
        format!("--runtime={}", options.runtime_s),
        // A turn is short: its series needs 40 windows.
        format!("--bwavgtime={}", window_ms(options.runtime_s)),
        format!("--iopsavgtime={}", window_ms(options.runtime_s)),
        "--fallocate=none".to_string(),
        "--group_reporting=1".to_string(),
    ];
    words.extend(io_mode.words());
    if pattern.writes {
        words.push("--end_fsync=1".to_string());
    }
    match passes {
        Passes::Alike => words.push("--time_based=1".to_string()),
        // Each loop ends with its sync (end_fsync). A sync in between would overlap the writes of the next pass.
        Passes::Cached if !pattern.reads => words.push(format!("--loops={LOOPS_ENDLESS}")),
        Passes::Cached => {}
    }
    words
}

fn window_ms(runtime_s: u32) -> u32 {
    (runtime_s.saturating_mul(1000) / 40).clamp(100, 500)
}

/// The conditions that a reader must know: files, caches and durability.
pub(super) fn rules<'a>(
    places: &[Place],
    ways: impl Iterator<Item = (&'a IoMode, Passes)>,
    options: &CompareOptions,
) -> String {
    if options.literal {
        return "the published command lines unchanged: one file for eight jobs and no sync at the end, so that \
                written data may still be in memory"
            .to_string();
    }
    let (mut direct, mut cached, mut once) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (io_mode, passes)) in places.iter().zip(ways) {
        let name = place.name.as_str();
        if io_mode.direct {
            direct.push(name)
        } else {
            cached.push(name)
        }
        if passes == Passes::Cached {
            once.push(name);
        }
    }
    let mut text = format!(
        "each round writes new files; a write counts when it is durable (fsync and close are timed); a turn lasts {} \
         s and starts the file again when it reaches the end",
        options.runtime_s
    );
    if !direct.is_empty() {
        text.push_str(&format!("; {}: direct I/O, without this machine's page cache", direct.join(", ")));
    }
    if !cached.is_empty() {
        text.push_str(&format!(
            "; {}: through the page cache; the file's pages are dropped before each run",
            cached.join(", ")
        ));
    }
    if !once.is_empty() {
        text.push_str(&format!(
            "; {}: a read job reads a file once, because a cache has it afterwards; a write job syncs after each pass",
            once.join(", ")
        ));
    }
    text
}

/// The published line of a pattern.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_lasts_its_time_unless_a_second_pass_would_be_of_memory() {
        let of = |name: &str, passes: Passes| {
            let pattern = PATTERNS.iter().find(|pattern| pattern.name == name).unwrap();
            let io_mode = IoMode { engine: "libaio", direct: passes == Passes::Alike };
            let words = line(pattern, (&io_mode, passes), "/data", &CompareOptions::default(), 64 << 20);
            let has = |word: &str| words.iter().any(|other| other == word);
            (has("--time_based=1"), has("--runtime=3"), words.into_iter().find(|word| word.starts_with("--loops=")))
        };
        for pattern in &PATTERNS {
            assert_eq!(of(pattern.name, Passes::Alike), (true, true, None), "{}", pattern.name);
        }
        for writes in ["write", "randwrite"] {
            assert_eq!(of(writes, Passes::Cached), (false, true, Some("--loops=1000000".into())), "{writes}");
        }
        for reads in ["read", "randread", "randrw"] {
            assert_eq!(of(reads, Passes::Cached), (false, true, None), "{reads}");
        }
        assert_eq!(Passes::of(StorageClass::Block, true), Passes::Alike);
        assert_eq!(Passes::of(StorageClass::Block, false), Passes::Cached);
        assert_eq!(Passes::of(StorageClass::Fuse, true), Passes::Cached, "a daemon keeps what was written");
        assert_eq!(Passes::of(StorageClass::Memory, false), Passes::Alike);
    }
}
