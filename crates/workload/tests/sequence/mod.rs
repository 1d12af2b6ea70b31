//! Workloads from fio's options, and sequences of requests as text.

use job::{
    Access, BlockSize, Distribution, Durability, FileService, Pacing, Pattern, PerDirection, RandomGenerator, Seed,
};
use workload::{Block, FileRange, Generator, OpKind, Refill, Workload};

/// The options of one line, as far as the tests use them.
pub(crate) struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    /// Splits `--key=value` words.
    pub(crate) fn new(line: &'a str) -> Self {
        let word = |word: &'a str| word.trim_start_matches("--").split_once('=').unwrap_or((&word[2..], ""));
        Options(line.split_whitespace().map(word).collect())
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn bytes(&self, key: &str) -> Option<u64> {
        self.get(key).map(bytes)
    }

    fn count(&self, key: &str) -> u32 {
        self.get(key).map_or(0, |text| text.parse().unwrap())
    }
}

fn bytes(text: &str) -> u64 {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        suffix => panic!("suffix {suffix}"),
    };
    digits.parse::<u64>().unwrap() << shift
}

fn per_direction<T: Clone>(text: &str, parse: impl Fn(&str) -> T) -> PerDirection<T> {
    let values: Vec<T> = text.split(',').map(parse).collect();
    let last = values.last().unwrap();
    PerDirection {
        read: values[0].clone(),
        write: values.get(1).unwrap_or(last).clone(),
        trim: values.get(2).unwrap_or(last).clone(),
    }
}

fn block_size(options: &Options) -> PerDirection<BlockSize> {
    if let Some(text) = options.get("bsrange") {
        return per_direction(text, |range| {
            let (min, max) = range.split_once('-').unwrap();
            BlockSize::Range(bytes(min) as u32, bytes(max) as u32)
        });
    }
    if let Some(text) = options.get("bssplit") {
        return per_direction(text, |split| {
            let part = |part: &str| {
                let (size, percent) = part.split_once('/').unwrap();
                (bytes(size) as u32, percent.parse().unwrap())
            };
            BlockSize::Split(split.split(':').map(part).collect())
        });
    }
    per_direction(options.get("bs").unwrap_or("4k"), |size| BlockSize::Fixed(bytes(size) as u32))
}

fn access(options: &Options) -> (Access, Option<i64>) {
    let text = options.get("rw").unwrap_or("read");
    let (word, modifier) = text.split_once(':').map_or((text, None), |(word, number)| (word, Some(number)));
    let modifier = modifier.map(|number| match number.strip_prefix('-') {
        Some(number) => -(bytes(number) as i64),
        None => bytes(number) as i64,
    });
    (Access::named(word).unwrap(), modifier)
}

fn distribution(options: &Options) -> Distribution {
    let Some(text) = options.get("random_distribution") else { return Distribution::Uniform };
    let (name, rest) = text.split_once(':').unwrap();
    let pairs = |rest: &str| -> Vec<(u32, u64)> {
        let pair = |pair: &str| pair.split_once('/').map(|(a, b)| (a.parse().unwrap(), bytes(b))).unwrap();
        rest.split(':').map(pair).collect()
    };
    match name {
        "zipf" => Distribution::Zipf(rest.parse().unwrap(), None),
        "zoned" => Distribution::Zoned(PerDirection::all(
            pairs(rest).into_iter().map(|(share, size)| (share, size as u32)).collect(),
        )),
        "zoned_abs" => Distribution::ZonedAbsolute(PerDirection::all(pairs(rest))),
        _ => panic!("random_distribution={text}"),
    }
}

fn service(options: &Options) -> FileService {
    let text = options.get("file_service_type").unwrap_or("roundrobin");
    let (name, number) = text.split_once(':').unwrap_or((text, "1"));
    let per_file = number.parse().unwrap();
    match name {
        "roundrobin" => FileService::RoundRobin { per_file },
        "random" => FileService::Random { per_file },
        "sequential" => FileService::Sequential,
        _ => panic!("file_service_type={text}"),
    }
}

fn files(options: &Options) -> Vec<FileRange> {
    let count = u64::from(options.count("nrfiles").max(1));
    let size = options.bytes("size").unwrap();
    let length = size / count;
    let start = options.bytes("offset").unwrap_or(0);
    (0..count).map(|number| FileRange { start, length, name: format!("a.0.{number}") }).collect()
}

/// The workload that these options describe.
pub(crate) fn workload(options: &Options) -> Workload {
    let block_size = block_size(options);
    let pattern = Pattern {
        access: access(options).0,
        modifier: access(options).1,
        identical: options.get("rw_sequencer") == Some("identical"),
        block_align: options.get("ba").map(|text| per_direction(text, bytes)),
        unaligned_sizes: options.has("bs_unaligned"),
        sizes_by_sequence: options.get("bs_is_seq_rand") == Some("1"),
        read_percent: options.get("rwmixread").map_or(50, |text| text.parse().unwrap()),
        random_percent: per_direction(options.get("percentage_random").unwrap_or("100"), |text| text.parse().unwrap()),
        // fio 3.33 runs its streams on from loop to loop when a seed is given.
        seed: if options.has("randseed") { Seed::System } else { Seed::Fixed(0x89) },
        random_map: !options.has("norandommap"),
        generator: options.get("random_generator").map(|name| match name {
            "tausworthe" => RandomGenerator::Tausworthe,
            "tausworthe64" => RandomGenerator::Tausworthe64,
            "lfsr" => RandomGenerator::Lfsr,
            _ => panic!("random_generator={name}"),
        }),
        distribution: distribution(options),
        block_size,
    };
    let io_size = options.bytes("io_size");
    Workload {
        pattern,
        service: service(options),
        files: files(options),
        bytes: io_size.unwrap_or_else(|| options.bytes("size").unwrap()),
        starts_over: io_size.is_some(),
        verified: options.has("verify"),
        pass_bytes: (options.count("iodepth") > 1).then(|| options.bytes("size").unwrap()),
        loops: options.count("loops").max(1),
        time_based: options.has("time_based"),
        number_ios: options.count("number_ios").into(),
        durability: Durability {
            fsync_every: options.count("fsync"),
            fdatasync_every: options.count("fdatasync"),
            sync_file_range: options
                .get("sync_file_range")
                .map(|text| (2, text.split_once(':').unwrap().1.parse().unwrap())),
            ..Durability::default()
        },
        pacing: Pacing::default(),
        thread_number: options.count("thread_number").max(1),
        seed: options.get("randseed").map_or(0x89, |text| text.parse().unwrap()),
    }
}

/// The first `most` requests: `r8192+4096` reads 4096 bytes at 8192, `@1` names a file other than the first.
pub(crate) fn sequence(workload: &Workload, most: usize) -> Vec<String> {
    let mut generator = Generator::new(workload).unwrap();
    let mut block = Block::new();
    let mut words = Vec::new();
    while words.len() < most {
        match generator.refill(&mut block) {
            Refill::Ops => words.extend(block.ops[..block.len].iter().map(|op| {
                let letter = match op.kind {
                    OpKind::Read => 'r',
                    OpKind::Write => 'w',
                    OpKind::Trim => 't',
                    OpKind::Sync => 's',
                    OpKind::DataSync => 'd',
                    OpKind::SyncRange => 'g',
                };
                word(letter, op.offset, op.length.into(), op.file as usize)
            })),
            Refill::Pass => {}
            Refill::Done => break,
        }
    }
    words.truncate(most);
    words
}

/// One request as text. Syncs show no place.
pub(crate) fn word(letter: char, offset: u64, length: u64, file: usize) -> String {
    let place = if "sdg".contains(letter) { String::new() } else { format!("{offset}+{length}") };
    let file = if file == 0 { String::new() } else { format!("@{file}") };
    format!("{letter}{place}{file}")
}
