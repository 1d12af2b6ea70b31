//! Lists where the tools may differ, and why.

use crate::draw::Drawn;

/// The part of a case that is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spared {
    /// Everything except that our program ends.
    All,
    /// How much is moved in each direction, and so which blocks are written.
    Counts,
    /// What fio's verification finds, and how many blocks it reads.
    Findings,
    /// The content of the files.
    Content,
}

/// An intended difference, or one between fio's versions.
pub(crate) struct Named {
    pub(crate) applies: fn(&Drawn) -> bool,
    pub(crate) spared: Spared,
    #[expect(dead_code, reason = "for readers")]
    pub(crate) reason: &'static str,
}

const fn named(spared: Spared, applies: fn(&Drawn) -> bool, reason: &'static str) -> Named {
    Named { applies, spared, reason }
}

fn is_random(drawn: &Drawn) -> bool {
    drawn.value("rw").is_some_and(|rw| rw.starts_with("rand"))
}

/// Whether `rw` has a modifier after its colon.
fn has_modifier(drawn: &Drawn) -> bool {
    drawn.value("rw").is_some_and(|rw| rw.contains(':'))
}

/// Whether it reads and writes, both with a share above 0.
fn is_mix(drawn: &Drawn) -> bool {
    let rw = drawn.value("rw").unwrap_or_default();
    let shares = drawn.last_of(&["rwmixread", "rwmixwrite"]).unwrap_or("50");
    (rw.starts_with("rw") || rw.starts_with("readwrite") || rw.starts_with("randrw")) && !["0", "100"].contains(&shares)
}

/// Whether each direction has its own block size.
fn sizes_differ(drawn: &Drawn) -> bool {
    let lists = ["bs", "bsrange", "bssplit"].map(|name| drawn.value(name).unwrap_or_default());
    lists.iter().any(|list| list.contains(','))
}

/// Whether a random map prevents repeated blocks.
fn has_map(drawn: &Drawn) -> bool {
    is_random(drawn) && !drawn.is_on("norandommap")
}

fn trims(drawn: &Drawn) -> bool {
    drawn.trims()
}

/// The differences.
pub(crate) const NAMED: &[Named] = &[
    named(
        Spared::Counts,
        |drawn| drawn.value("read_iolog").is_some() && drawn.keeps_requests_in_flight(),
        "3.33 does not count the bytes of requests that are in flight when the log ends",
    ),
    named(
        Spared::Counts,
        |drawn| matches!(drawn.value("ioengine"), Some("cpuio" | "exec")),
        "they move nothing: what is counted are bursts and looks at the clock",
    ),
    named(
        Spared::All,
        |drawn| trims(drawn) && drawn.value("ioengine") != Some("null"),
        "a file is refused before it is made; fio fails with its first trim, if one comes",
    ),
    named(
        Spared::Counts,
        |drawn| trims(drawn) && is_random(drawn) && drawn.value("random_generator") == Some("lfsr"),
        "3.33 trims nothing with its shift register",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let placed = ["offset", "offset_increment"].iter().any(|name| drawn.value(name).is_some());
            drawn.accesses_by("randtrimwrite") && placed
        },
        "3.33 trims one block and then only writes",
    ),
    named(
        Spared::All,
        |drawn| drawn.accesses_by("trimwrite") && has_modifier(drawn),
        "3.33 trims the first block for ever where it goes backwards",
    ),
    named(
        Spared::All,
        |drawn| drawn.is_verified() && drawn.is_on("trim_percentage") && drawn.is_on("trim_backlog"),
        "3.33 aborts with its first trim among writes",
    ),
    named(
        Spared::All,
        |drawn| drawn.value("ioengine") == Some("null") && drawn.is_on("pre_read"),
        "3.33 crashes: it reads files that its null engine never opened",
    ),
    named(
        Spared::Counts,
        |drawn| is_mix(drawn) && ["rate", "rate_iops"].iter().any(|name| drawn.value(name).is_some()),
        "the clock decides in fio which direction is behind its rate",
    ),
    named(
        Spared::Counts,
        |drawn| has_map(drawn) && sizes_differ(drawn),
        "fio's map counts in the blocks of each direction and is full early; here each block comes once",
    ),
    named(
        Spared::Findings,
        |drawn| has_map(drawn) && sizes_differ(drawn) && drawn.is_verified(),
        "by that map blocks of the two sizes overlap, and 3.33 takes those that were written over for damaged",
    ),
    named(
        Spared::All,
        |drawn| has_map(drawn) && sizes_differ(drawn) && drawn.is_on("direct") && drawn.value("size") == Some("50000"),
        "the order decides whether a block comes that the end of the file cuts off, which direct I/O refuses",
    ),
    named(
        Spared::Findings,
        |drawn| (is_random(drawn) || is_mix(drawn)) && has_modifier(drawn) && drawn.is_verified(),
        "3.33 takes blocks that were written over for damaged",
    ),
    named(
        Spared::Findings,
        |drawn| {
            let differ = drawn.keeps_requests_in_flight() || sizes_differ(drawn);
            drawn.is_on("norandommap") && drawn.is_verified() && differ
        },
        "3.33 takes blocks that were written over for damaged",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.is_verified() && drawn.value("io_size").is_some(),
        "3.33 verifies as soon as the size is written; 3.42 writes on to io_size",
    ),
    named(
        Spared::All,
        |drawn| {
            let stay_in_use = drawn.value("ioengine") == Some("mmap") || drawn.is_on("registerfiles");
            drawn.is_on("unlink_each_loop") && stay_in_use
        },
        "the files that are mapped or registered would stay in use: the job is refused",
    ),
    named(
        Spared::All,
        |drawn| drawn.value("ioengine") == Some("null") && drawn.is_on("unlink_each_loop"),
        "fio fails when it removes the file that its null engine never made",
    ),
    named(
        Spared::All,
        |drawn| drawn.is_on("create_only") && drawn.is_on("unlink"),
        "fio removes the file that was made for a later job",
    ),
    named(
        Spared::All,
        |drawn| drawn.value("ioengine") == Some("mmap") && drawn.syncs_or_is_direct() && !drawn.has_whole_pages(),
        "fio maps such blocks only where nothing is synced",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.value("rw").is_some_and(|rw| rw.contains(":-")) && drawn.value("offset").is_some(),
        "fio steps back before the first request, past the begin of the range, and ends",
    ),
    named(
        Spared::Counts,
        |drawn| !is_random(drawn) && is_mix(drawn) && drawn.keeps_requests_in_flight() && drawn.starts_over(),
        "what is left of a size that is no multiple of the block goes to either direction in the next pass",
    ),
    named(
        Spared::Counts,
        |drawn| !is_random(drawn) && is_mix(drawn) && has_modifier(drawn) && drawn.value("offset").is_some(),
        "where a mix skips and has an offset, fio ends a pass with the range of one direction; without one it begins again",
    ),
    named(
        Spared::All,
        |drawn| {
            let commands = ["exec_prerun", "exec_postrun"].iter().any(|name| drawn.value(name).is_some());
            commands && drawn.value("random_generator") == Some("lfsr")
        },
        "3.33 runs no command of a job whose shift register it cannot begin",
    ),
    named(Spared::All, |drawn| drawn.words.iter().any(|word| word == "--verify=pattern_hdr"), "3.42 added the word"),
    named(Spared::All, |drawn| drawn.value("fadvise_hint") == Some("noreuse"), "3.42 added the word"),
    named(
        Spared::Counts,
        |drawn| drawn.value("random_generator") == Some("lfsr") && !drawn.has_many_equal_blocks(),
        "3.33 does nothing where its shift register has few blocks",
    ),
    named(
        Spared::All,
        |drawn| {
            let reads = drawn.value("rw").is_some_and(|rw| rw.starts_with("randread"));
            drawn.value("random_generator") == Some("lfsr")
                && !drawn.has_many_equal_blocks()
                && reads
                && drawn.is_verified()
        },
        "where 3.33 does nothing, as above, it finds no damage either",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let writes = ["write", "rw", "readwrite"].iter().any(|word| drawn.accesses_by(word));
            writes && drawn.is_verified() && ["8k", "12k"].iter().any(|step| drawn.steps_by(step))
        },
        "fio adds the reads of the check to what was done of size: where holes leave both below it, all is done again",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let even = ["32k", "64k", "128k", "256k"].iter().any(|size| drawn.value("size") == Some(size));
            let placed = ["offset", "offset_increment", "nrfiles", "filesize"];
            let plain = drawn.has_whole_pages() && !has_modifier(drawn) && !sizes_differ(drawn) && even;
            let plain = plain && !placed.iter().any(|name| drawn.value(name).is_some());
            drawn.value("zonemode").is_some() && (is_random(drawn) || drawn.starts_over() || !plain)
        },
        "fio ends where a zone reaches past the end of the file, or is smaller than its map; here it is cut, or begins anew",
    ),
    named(
        Spared::Findings,
        |drawn| drawn.value("zonemode").is_some() && drawn.is_verified(),
        "3.33 takes blocks that were written over for damaged",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.is_on("bs_is_seq_rand") && sizes_differ(drawn),
        "fio ends where a random block does not fit behind the last offset; here it goes before it",
    ),
    named(
        Spared::Findings,
        |drawn| drawn.value("random_generator") == Some("lfsr") && drawn.is_verified(),
        "3.33 takes blocks that were written over for damaged",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let draws = is_random(drawn) || is_mix(drawn) || drawn.has_drawn_sizes();
            drawn.value("randseed").is_some() && drawn.starts_over() && draws
        },
        "with a seed of its own 3.33 lets its random streams run on from pass to pass; 3.42 repeats them",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let own_order = drawn.value("random_generator").is_none() || drawn.value("random_distribution").is_some();
            is_random(drawn) && own_order && drawn.depends_on_offsets()
        },
        "random offsets of its own: which blocks come together decides how many requests there are",
    ),
    named(
        Spared::Content,
        |drawn| is_random(drawn) && drawn.value("random_generator").is_none(),
        "random offsets of its own, as above",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.lies_in_a_longer_file() && (is_uneven(drawn) || has_modifier(drawn)),
        "fio goes by the length of the file and reaches beyond the range; here nothing outside it is touched",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let filesize = drawn.value("filesize").map(bytes_of);
            let offset = drawn.value("offset").map_or(0, bytes_of);
            let ends_otherwise = |bytes: u64| {
                has_modifier(drawn) || drawn.blocks().any(|block| bytes.saturating_sub(offset) % block != 0)
            };
            drawn.value("ioengine") == Some("null") && filesize.is_some_and(ends_otherwise)
        },
        "fio takes a file of its null engine to be as long as size: requests reach beyond filesize, or end there",
    ),
    named(
        Spared::All,
        |drawn| {
            let files = drawn.value("nrfiles").map_or(1, bytes_of);
            let sizes = [drawn.value("size").map(|size| bytes_of(size) / files), drawn.value("filesize").map(bytes_of)];
            let offset = drawn.value("offset").map_or(0, bytes_of);
            let longest = drawn.blocks().max().unwrap_or(4096);
            sizes.into_iter().flatten().any(|bytes| bytes < longest + offset)
        },
        "a size that fits in no file is refused; fio does nothing that way, or nothing at all, status 0",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.value("offset").is_some_and(|offset| offset.ends_with('%')),
        "fio takes the share anew in each pass, and of a file that it has just made",
    ),
    named(
        Spared::Counts,
        |drawn| {
            let beyond = is_uneven(drawn) || sizes_differ(drawn);
            drawn.value("random_distribution").is_some() && is_random(drawn) && beyond
        },
        "fio ends where an uneven spread leads past the last block",
    ),
    named(
        Spared::Counts,
        |drawn| !is_random(drawn) && has_modifier(drawn) && drawn.value("offset").is_some() && is_uneven(drawn),
        "where holes end behind the range, fio ends if it has an offset; here it continues at the start of the range",
    ),
    named(
        Spared::Counts,
        |drawn| trims(drawn) && ["number_ios", "nrfiles"].iter().any(|name| drawn.value(name).is_some()),
        "3.33 counts trims and writes together, and not in each pass; it ends between the two of another block",
    ),
    named(
        Spared::Counts,
        Drawn::has_rounded_split,
        "fio rounds the sizes of a split down to multiples of the smallest; here they are those that were given",
    ),
    named(
        Spared::Counts,
        |drawn| {
            is_random(drawn) && (has_modifier(drawn) || drawn.value("percentage_random").is_some()) && is_uneven(drawn)
        },
        "fio ends where a sequential request does not fit before the end; here a random one serves",
    ),
    named(
        Spared::Counts,
        |drawn| {
            drawn.value("io_size").is_some()
                && (drawn.value("loops").is_some() || drawn.has_drawn_sizes() || sizes_differ(drawn))
        },
        "fio leaves out what is less than the largest block, and counts loops of size; here each loop does io_size",
    ),
    named(
        Spared::All,
        |drawn| {
            let some_random = drawn.value("percentage_random").is_some_and(|share| share != "0" && share != "100");
            some_random && drawn.is_verified() && is_mix(drawn) && is_uneven(drawn)
        },
        "where a random and a sequential request wrote one block, 3.33 verifies it with the seed of the earlier write",
    ),
    named(
        Spared::All,
        |drawn| drawn.value("verify_only").is_some() && is_mix(drawn),
        "3.33 waits for ever: it verifies blocks of the reads",
    ),
    named(
        Spared::Counts,
        |drawn| drawn.value("verify_only").is_some(),
        "3.33 takes the flag for set, whatever its value, and reports the writes that it does not make",
    ),
    named(
        Spared::All,
        |drawn| {
            let offset = drawn.value("verify_offset").is_some_and(|offset| offset != "0");
            offset && drawn.value("verify").is_some_and(|kind| kind.starts_with("sha"))
        },
        "fio exchanges a long header with bytes of its own, and takes the block for damaged; here it is refused",
    ),
];

/// Whether requests may end beyond the end of the range.
fn is_uneven(drawn: &Drawn) -> bool {
    let ends = ["size", "filesize", "offset", "ba"].into_iter().filter_map(|name| drawn.value(name)).map(bytes_of);
    let files = drawn.value("nrfiles").map_or(1, bytes_of);
    let ends: Vec<u64> = ends.map(|bytes| bytes / files).collect();
    drawn.has_drawn_sizes() || drawn.blocks().any(|block| ends.iter().any(|bytes| *bytes == 0 || bytes % block != 0))
}

/// The bytes of a text such as `16k`.
fn bytes_of(text: &str) -> u64 {
    let (digits, unit) = text.strip_suffix('k').map_or((text, 1), |digits| (digits, 1024));
    digits.parse().unwrap_or(0) * unit
}

impl Drawn {
    /// Whether it has sizes that fio rounds.
    fn has_rounded_split(&self) -> bool {
        let uneven = self.blocks().min().is_some_and(|least| self.blocks().any(|size| size % least != 0));
        self.value("bssplit").is_some() && uneven && !self.is_on("bs_unaligned")
    }

    /// Whether the amount is known before, or reported: trims are not, and holes end where the file does.
    pub(crate) fn has_amount(&self) -> bool {
        let holes = !is_random(self) && has_modifier(self) && self.lies_in_a_longer_file();
        !self.trims() && !self.has_rounded_split() && !holes
    }

    fn trims(&self) -> bool {
        self.value("rw").is_some_and(|rw| rw.contains("trim"))
    }

    /// Bytes that may be left out at the ends of files and passes.
    pub(crate) fn bytes_left_out(&self) -> u64 {
        let ends = ["nrfiles", "loops", "numjobs"].map(|name| self.value(name).map_or(1, bytes_of));
        self.blocks().max().unwrap_or(4096) * ends.iter().product::<u64>()
    }

    /// All block sizes, bytes.
    fn blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let lists = ["bs", "bsrange", "bssplit"].into_iter().filter_map(|name| self.value(name));
        let words = lists.flat_map(|list| list.split([',', '-', ':'])).filter(|word| !word.is_empty());
        words.map(|word| bytes_of(word.split('/').next().unwrap_or(word)))
    }
}

/// The parts of this case that are not compared.
pub(crate) fn spared(drawn: &Drawn) -> Vec<Spared> {
    NAMED.iter().filter(|named| (named.applies)(drawn)).map(|named| named.spared).collect()
}
