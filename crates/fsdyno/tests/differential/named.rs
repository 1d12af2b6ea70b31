//! Where the tools may differ, and why.

use crate::draw::Drawn;

/// What of a case is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spared {
    /// Everything but that ours ends.
    All,
    /// How much was moved each way, and with it which blocks were written.
    Counts,
    /// What the check of written blocks finds in fio, and how many it reads for it.
    Findings,
    /// What the files hold.
    Content,
}

/// A difference by choice, or of fio's versions.
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

/// Something follows the colon of `rw`.
fn has_modifier(drawn: &Drawn) -> bool {
    drawn.value("rw").is_some_and(|rw| rw.contains(':'))
}

/// Reads and writes, both with a share.
fn is_mix(drawn: &Drawn) -> bool {
    let rw = drawn.value("rw").unwrap_or_default();
    let shares = drawn.last_of(&["rwmixread", "rwmixwrite"]).unwrap_or("50");
    (rw.starts_with("rw") || rw.starts_with("readwrite") || rw.starts_with("randrw")) && !["0", "100"].contains(&shares)
}

/// Each direction has a size of its own.
fn sizes_differ(drawn: &Drawn) -> bool {
    let lists = ["bs", "bsrange", "bssplit"].map(|name| drawn.value(name).unwrap_or_default());
    lists.iter().any(|list| list.contains(','))
}

/// Random blocks are kept from repeating.
fn has_map(drawn: &Drawn) -> bool {
    is_random(drawn) && !drawn.is_on("norandommap")
}

fn trims(drawn: &Drawn) -> bool {
    drawn.value("rw").is_some_and(|rw| rw.contains("trim"))
}

/// The differences.
pub(crate) const NAMED: &[Named] = &[
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
            drawn.value("randseed").is_some() && ["loops", "io_size"].iter().any(|name| drawn.value(name).is_some())
        },
        "with a seed of its own 3.33 lets its random streams run on from pass to pass; 3.42 repeats them",
    ),
    named(
        Spared::Counts,
        |drawn| is_random(drawn) && drawn.value("random_generator").is_none() && drawn.depends_on_offsets(),
        "random offsets of its own: which blocks come together decides how many requests there are",
    ),
    named(
        Spared::Content,
        |drawn| is_random(drawn) && drawn.value("random_generator").is_none(),
        "random offsets of its own, as above",
    ),
    named(
        Spared::Counts,
        Drawn::lies_in_a_longer_file,
        "fio goes by the length of the file and reaches beyond the range; here nothing outside it is touched",
    ),
    named(
        Spared::Counts,
        |drawn| {
            // 40000 is the one that is no multiple of a block.
            let filesize = drawn.value("filesize");
            let ends_otherwise = filesize.is_some() && has_modifier(drawn) || filesize == Some("40000");
            drawn.value("ioengine") == Some("null") && ends_otherwise
        },
        "fio takes a file of its null engine to be as long as size: requests reach beyond filesize, or end there",
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

/// What of this case is not compared.
pub(crate) fn spared(drawn: &Drawn) -> Vec<Spared> {
    NAMED.iter().filter(|named| (named.applies)(drawn)).map(|named| named.spared).collect()
}
