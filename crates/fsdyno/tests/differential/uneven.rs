//! Generates cases on sizes: blocks that do not divide the range, a size for each direction, percentages, holes, files
//! and offsets, more or less than one pass.

use crate::draw::{Drawn, access};
use crate::random::Random;
use crate::tool::Tool;

const SIZES: &[&str] = &["32k", "64k", "100k", "300k", "50000", "66000"];
const BLOCKS: &[&str] =
    &["4k", "3k", "5000", "512", "16k", "12k", "4k,16k", "8k,3k", "16k,4k", "3k,5k", "4k,4k,8k", "1k,64k"];
const RANGES: &[&str] = &["4k-16k", "3k-9k", "1k-4k,4k-8k", "4k-10k", "2k-2k,4k-32k"];
const SPLITS: &[&str] = &["4k/50:8k/50,64k/100", "4k/60:12k/30:16k/10", "3k/50:5k/50", "1k/20:4k/80,2k/50:8k/50"];
const ENGINES: &[&str] = &["null", "null", "psync", "sync", "libaio", "io_uring"];

/// Options that determine how much is done of which bytes, with their values.
#[rustfmt::skip]
const OTHERS: &[(&str, &[&str])] = &[
    ("percentage_random", &["0", "20", "50", "90", "20,80"]),
    ("rwmixread", &["0", "10", "50", "75", "100"]),
    ("io_size", &["12k", "40k", "150k", "200000", "50%", "700k"]),
    ("loops", &["2", "3"]),
    ("offset", &["4k", "10k", "16k", "7%", "50%"]),
    ("offset_increment", &["16k", "5000"]),
    ("nrfiles", &["2", "3", "7"]),
    ("filesize", &["40000", "64k", "33k"]),
    ("number_ios", &["7", "40"]),
    ("ba", &["4k", "512", "5k"]),
    ("norandommap", &["1"]),
    ("random_distribution", &["zipf:1.2", "pareto:0.9", "normal:20", "zoned:60/10:40/90"]),
    ("file_service_type", &["random", "sequential", "roundrobin:3"]),
    ("random_generator", &["tausworthe", "tausworthe", "tausworthe64", "lfsr"]),
    ("bs_is_seq_rand", &["1"]),
    ("bs_unaligned", &["1"]),
    ("rw_sequencer", &["identical"]),
    ("iodepth", &["4", "16"]),
    ("numjobs", &["2"]),
];

impl Drawn {
    /// The case of this number.
    pub(crate) fn uneven(number: u64, _: &Tool) -> Drawn {
        // Different numbers from the other cases.
        let mut random = Random::of(number ^ 0x5555_5555);
        let mut drawn = Drawn { words: vec!["--name=a".to_owned()], files: Vec::new() };
        let engine = random.one_of(ENGINES);
        let access = access(&mut random, 30);
        let engine = if access.contains("trim") { "null" } else { engine };
        drawn.push("ioengine", engine);
        drawn.push("rw", &access);
        drawn.push("size", random.one_of(SIZES));
        match random.below(10) {
            0 | 1 => drawn.push("bsrange", random.one_of(RANGES)),
            2 | 3 => drawn.push("bssplit", random.one_of(SPLITS)),
            _ => drawn.push("bs", random.one_of(BLOCKS)),
        }
        for _ in 0..1 + random.below(4) {
            let (name, values) = random.one_of(OTHERS);
            if drawn.value(name).is_none() {
                drawn.push(name, random.one_of(values));
            }
        }
        let is_random = access.starts_with("rand");
        if is_random && drawn.value("random_generator").is_none() && random.percent(70) {
            drawn.push("random_generator", "tausworthe");
        }
        if is_random || random.percent(30) {
            drawn.push("randrepeat", "0");
            drawn.push("randseed", &(1 + random.below(500)).to_string());
        }
        if random.percent(40) {
            drawn.put_file(engine, &mut random);
        }
        if drawn.files.iter().any(|(_, bytes)| bytes.len() > 60_000) && random.percent(40) {
            drawn.push("size", random.one_of(&["50%", "75%", "100%"]));
        }
        drawn
    }
}
