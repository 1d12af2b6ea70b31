//! Generates texts around the edges of each kind of value; a number always gives the same texts.

use crate::parsers::{Depth, Written};
use crate::random::Random;

/// A kind of value.
pub(crate) struct Kind {
    /// Options of this kind.
    pub(crate) options: &'static [&'static str],
    /// The beginning of an item: numbers, or words.
    pub(crate) items: &'static [&'static str],
    /// The end of an item.
    pub(crate) ends: &'static [&'static str],
    /// The text between two items.
    pub(crate) between: &'static [&'static str],
}

impl Kind {
    /// Numbers need no run.
    pub(crate) fn depth(&self) -> Depth {
        if [COUNTS, PERCENTILES].contains(&self.items) { Depth::Numbers } else { Depth::Whole }
    }
}

const COUNTS: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "7",
    "12",
    "50",
    "99",
    "100",
    "101",
    "512",
    "4096",
    "010",
    "0x10",
    "0X1f",
    "0x",
    "x5",
    "",
    "+5",
    "-1",
    "-5",
    " 4",
    "1.5",
    "12.5",
    "4.0",
    "5.",
    ".5",
    "1e3",
    "4294967295",
    "4294967296",
    "9223372036854775806",
    "9223372036854775808",
    "18446744073709551616",
    "\"5\"",
];
const PERCENTILES: &[&str] =
    &["50", "99.9", "100", "0", "101", "-1", "5e1", "0x10", "nan", "inf", "x", "", ".5", "5.", "+5", " 50", "100.0001"];
const UNITS: &[&str] = &[
    "", "", "", "", "", "k", "K", "kb", "ki", "KiB", "kibs", "kk", "m", "gb", "t", "p", "e", "b", "bytes", "%", "%%",
    "%x", "s", "x", " ", " k", "z", "//c", "4",
];
const TIMES: &[&str] = &[
    "", "", "", "", "s", "ms", "msec", "msecs", "us", "usec", "m", "h", "d", "S", "sec", "min", "ns", "k", "%", " ",
    " s", "x", "h30m", "ms5", "//c",
];
const LISTS: &[&str] = &["", "", "", "", ",", ":", "-", "/", ", ", ",,"];

pub(crate) const KINDS: &[Kind] = &[
    Kind { options: &["iodepth", "fsync", "rate_cycle", "nice", "loops"], items: COUNTS, ends: UNITS, between: LISTS },
    Kind {
        options: &["rwmixread", "rwmixwrite", "buffer_compress_percentage"],
        items: COUNTS,
        ends: UNITS,
        between: LISTS,
    },
    Kind { options: &["direct", "invalidate"], items: COUNTS, ends: UNITS, between: LISTS },
    Kind { options: &["thread", "time_based"], items: COUNTS, ends: UNITS, between: LISTS },
    Kind {
        options: &["number_ios", "zonesize", "verify_backlog", "randseed"],
        items: COUNTS,
        ends: UNITS,
        between: LISTS,
    },
    Kind { options: &["size", "io_size", "offset", "offset_increment"], items: COUNTS, ends: UNITS, between: LISTS },
    Kind { options: &["ba", "rate", "rate_iops", "percentage_random"], items: COUNTS, ends: UNITS, between: LISTS },
    Kind { options: &["filesize"], items: COUNTS, ends: UNITS, between: &["-", "-", "-", "", ":", ",", " - "] },
    Kind { options: &["bsrange"], items: COUNTS, ends: UNITS, between: &["-", "-", "-", "-", ":", ",", "", " - "] },
    Kind {
        options: &["runtime", "ramp_time", "thinktime", "latency_target"],
        items: COUNTS,
        ends: TIMES,
        between: LISTS,
    },
    Kind { options: &["startdelay"], items: COUNTS, ends: TIMES, between: &["-", "-", "", ":", ","] },
    Kind { options: &["max_latency"], items: COUNTS, ends: TIMES, between: LISTS },
    Kind {
        options: &["percentile_list", "latency_percentile"],
        items: PERCENTILES,
        ends: &["", "", "", "", "%", "%%", "x", " ", "k"],
        between: &[":", ":", ":", "", ",", "-", "::", " : "],
    },
    Kind {
        options: &[
            "rw",
            "file_service_type",
            "random_distribution",
            "sync_file_range",
            "fallocate",
            "rw_sequencer",
            "verify",
        ],
        items: &[
            "read",
            "randread",
            "rw",
            "Read",
            "rea",
            " read",
            "readx",
            "roundrobin",
            "sequential",
            "random",
            "zipf",
            "pareto",
            "gauss",
            "write",
            "wait_before",
            "native",
            "none",
            "posix",
            "identical",
            "md5",
            "crc32c",
            "",
            "0",
            "1",
        ],
        ends: &[
            "", "", "", "", " ", ",", ":", ":4", ":0", ":-4", ":x", ":4k", ":1.5", ":0.5", ":4,5", ",write", ",bogus",
        ],
        between: &[""],
    },
    Kind {
        options: &["bssplit"],
        items: &["4k", "8k", "0", "x", "", "4x", "1.5k", "4kib", "0x1000", "+4k", " 4k", "-4k", "4294967295"],
        ends: &[
            "", "/", "/50", "/50", "/50", "/100", "/30", "/50%", "/33.3", "/x", "/101", "/-5", "/0", "/50/50", " /50",
        ],
        between: &[":", ":", ":", "", ",", "::", " :"],
    },
    Kind {
        options: &["ignore_error"],
        items: &["EIO", "ENOSPC", "eio", "5", "BOGUS", "", "0", "0x1", "-5", "5x", "1000"],
        ends: &["", "", "", " "],
        between: &["", ",", ":", ",,", "-"],
    },
    // CPUs that every machine has.
    Kind {
        options: &["cpus_allowed"],
        items: &["0", "0", "0-0", "x", "", "0x0", "-0", "0y"],
        ends: &["", "", "", " "],
        between: &["", ",", ":", ",,", "-"],
    },
];

/// Texts that people write, and that chance rarely produces.
#[rustfmt::skip]
const NAMED: &[(&str, &str)] = &[
    ("size", "50%%"), ("size", "100%%"), ("size", "50.5%"), ("size", "50%x"), ("size", "200%"), ("size", " 50%"), ("size", "50 %"), ("io_size", "0%"),
    ("offset", "5g"), ("zonesize", "4g"), ("ba", "4g"), ("thinktime_blocks", "4g"), ("rwmixwrite", "12.5"), ("rwmixread", "12.5%"),
    ("flow", "-1"), ("bs", "1k,2k,3k,4k"), ("bs", ",8k"), ("bs", ",,8k"), ("bs", "8k,"), ("ba", ","), ("filesize", "0-4k"),
    ("filesize", "4k,8k"), ("startdelay", "5s-10s"), ("startdelay", "5-10ms"), ("file_service_type", "sequential:1"),
    ("file_service_type", "random:0"), ("ignore_error", "EIO,EIO,EIO,EIO"), ("cpus_allowed", "0,"),
    ("percentile_list", "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21"), ("steadystate", "iops:10%%"),
    ("bssplit", "4k/50%:8k"), ("bssplit", "4k/50:8k/50:"), ("number_ios", "5%"), ("number_ios", "50x"), ("runtime", "0x10"),
    ("iodepth", "4096:0x4"), ("verify", "none"), ("sync_file_range", "write "), ("sync_file_range", "write,bogus"), ("random_distribution", "zipf:0"),
    ("filesize", "4096-0x2000"), ("cpus_allowed", ","), ("randseed", "9223372036854775808"),
];

pub(crate) fn named() -> Vec<Written> {
    NAMED.iter().map(|&(option, text)| Written { option, text: text.to_owned() }).collect()
}

const PATTERN_PARTS: &[&str] = &[
    "\"ab\"",
    "\"0x1\"",
    "-12",
    "12",
    "0",
    "00",
    "256",
    "-129",
    "2147483647",
    "2147483648",
    "+5",
    "0xdeadface",
    "0xabc",
    "0X1f",
    "0x",
    " 7",
    " ",
    "-",
    "x",
    "\"",
    "1",
    "\t9",
];

/// Patterns of strings and numbers.
pub(crate) fn patterns(seed: u64, count: usize) -> Vec<Written> {
    let mut random = Random::of(seed);
    let pattern = |random: &mut Random| {
        let mut text = random.one_of(PATTERN_PARTS).to_owned();
        while random.percent(60) {
            text.push_str(random.one_of(PATTERN_PARTS));
        }
        text
    };
    (0..count).map(|_| Written { option: "buffer_pattern", text: pattern(&mut random) }).collect()
}

/// `count` texts of a kind for its options, without duplicates.
pub(crate) fn draw(kind: &Kind, seed: u64, count: usize) -> Vec<Written> {
    let mut random = Random::of(seed);
    let mut drawn: Vec<Written> = Vec::new();
    while drawn.len() < count {
        let mut text = String::new();
        loop {
            text.push_str(random.one_of(kind.items));
            text.push_str(random.one_of(kind.ends));
            match random.one_of(kind.between) {
                _ if text.len() > 60 => break,
                "" => break,
                between => text.push_str(between),
            }
            if random.percent(50) {
                break;
            }
        }
        let written = Written { option: random.one_of(kind.options), text };
        if !drawn.contains(&written) {
            drawn.push(written);
        }
    }
    drawn
}
