//! Generates a case from its number.

use fsdyno_job::option::{Kind, Status};
use fsdyno_job::table::JobRow;

use crate::random::Random;
use crate::tool::Tool;
use crate::values::{self, Values};

/// The file of a case with a single file.
const FILE: &str = "data";

const SIZES: &[&str] = &["32k", "64k", "64k", "128k", "100k", "50000", "66000", "256k"];
const BLOCKS: &[&str] = &["4k", "4k", "4k", "4k", "8k", "16k", "512", "5000", "4k,8k", "8k,4k"];
const ENGINES: &[&str] =
    &["null", "null", "psync", "psync", "sync", "pvsync2", "libaio", "libaio", "io_uring", "mmap", "splice"];

/// The bytes of an existing file.
const BEFORE: u8 = 0x5a;

/// A command line with the files that exist before it.
pub(crate) struct Drawn {
    /// The words after the program's name.
    pub(crate) words: Vec<String>,
    /// Files that exist before the run.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

impl Drawn {
    /// The case of this number, with options that this fio knows.
    pub(crate) fn of(number: u64, fio: &Tool) -> Drawn {
        let mut random = Random::of(number);
        let mut drawn = Drawn { words: vec!["--name=a".to_owned()], files: Vec::new() };
        let drawn_engine = random.one_of(ENGINES);
        let access = access(&mut random, 15);
        // Files cannot be trimmed: a few such cases are enough.
        let engine = if access.contains("trim") && random.percent(90) { "null" } else { drawn_engine };
        drawn.push("ioengine", engine);
        drawn.push("rw", &access);
        drawn.push("bs", random.one_of(BLOCKS));
        drawn.push("size", random.one_of(SIZES));
        let rows: Vec<&JobRow> = values::full_rows()
            .filter(|row| fio.options.contains(row.name) && (row.engines.is_empty() || row.engines.contains(&engine)))
            .collect();
        for _ in 0..1 + random.below(5) {
            drawn.option(random.one_of(&rows), &mut random);
        }
        if random.percent(25) {
            drawn.content(&mut random);
        }
        drawn.zones(&mut random);
        drawn.seed(&mut random);
        drawn.put_file(engine, &mut random);
        if drawn.value("verify").is_some() || drawn.value("verify_pattern").is_some() {
            drawn.push("verify_state_save", "0");
        }
        drawn.hint(&mut random);
        drawn.priorities(&mut random);
        drawn.without_storage(number, &mut random);
        drawn.recorded(number, &mut random);
        drawn
    }

    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.words.push(format!("--{name}={value}"));
    }

    /// The value of an option, if it was drawn.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let prefix = format!("--{name}=");
        self.words.iter().rev().find_map(|word| word.strip_prefix(&prefix))
    }

    /// The value of the last of these options.
    pub(crate) fn last_of(&self, names: &[&str]) -> Option<&str> {
        self.words.iter().rev().find_map(|word| {
            let (name, value) = word.strip_prefix("--")?.split_once('=')?;
            names.contains(&name).then_some(value)
        })
    }

    /// Whether a flag was drawn and is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| value != "0")
    }

    fn option(&mut self, row: &JobRow, random: &mut Random) {
        if self.value(row.name).is_some() {
            return;
        }
        if let Some(Values::Texts(texts)) = values::of(row) {
            let value = &texts[random.below(texts.len())];
            self.push(row.name, value);
        }
    }

    /// Adds content that can be checked, by a pattern or a checksum.
    fn content(&mut self, random: &mut Random) {
        let kinds = ["crc32c", "md5", "crc64", "xxhash", "sha1", "crc7", "meta"];
        match random.below(4) {
            0 => self.push("buffer_pattern", "0xdeadbeef"),
            1 => {
                self.push("verify", "pattern");
                self.push("verify_pattern", "0xdeadbeef");
            }
            _ => self.push("verify", random.one_of(&kinds)),
        }
    }

    /// Adds zones that move over the file.
    fn zones(&mut self, random: &mut Random) {
        if random.percent(93) {
            return;
        }
        self.push("zonemode", "strided");
        self.push("zonesize", random.one_of(&["8k", "16k", "32k"]));
        self.push("zonerange", random.one_of(&["16k", "32k"]));
        self.push("zoneskip", random.one_of(&["0", "16k"]));
    }

    /// Adds a hint on the lifetime of the data.
    fn hint(&mut self, random: &mut Random) {
        if random.percent(4) {
            self.push("write_hint", random.one_of(&["none", "short", "extreme"]));
        }
    }

    /// Adds requests with other priorities than the job's.
    fn priorities(&mut self, random: &mut Random) {
        let engine = self.value("ioengine").is_some_and(|engine| ["libaio", "io_uring"].contains(&engine));
        match random.below(12) {
            0 if engine => {
                self.push("cmdprio_percentage", random.one_of(&["0", "30", "100", "20,60"]));
                self.push("cmdprio_class", random.one_of(&["2", "3", "2,3"]));
                self.push("cmdprio", random.one_of(&["0", "7", "3,4"]));
            }
            1 if engine => {
                self.push("cmdprio_bssplit", random.one_of(&["4k/30/2/7:8k/50/3/0", "4k/60/2/1,8k/100/3/0"]));
            }
            _ => {}
        }
    }

    /// Some cases are of the engines that have no storage instead.
    fn without_storage(&mut self, number: u64, random: &mut Random) {
        if !random.percent(5) {
            return;
        }
        self.words.truncate(1);
        self.files.clear();
        match random.below(3) {
            0 => self.drawn_for("cpuio", &["cpuload=10,50,100", "cpuchunks=1000,20000", "cpumode=noop,qsort"], random),
            1 => {
                let options = ["program=true,echo", "arguments=a,a b,%n:%r,", "grace_time=0,1", "std_redirect=0,1"];
                self.drawn_for("exec", &options, random);
            }
            _ => {
                let options = ["size=32k,64k", "bs=512,4k,16k", "nodelay=0,1", "pingpong=0,1", "window_size=0,64k"];
                self.drawn_for("net", &options, random);
                let both = self.words[1..].to_vec();
                let port = 20_000 + number % 10_000;
                let receiver = [format!("--port={port}"), "--listen".to_owned(), "--rw=read".to_owned()];
                let sender = ["--hostname=127.0.0.1", "--rw=write", "--startdelay=1"].map(str::to_owned);
                self.words.extend(receiver);
                self.words
                    .extend([vec!["--name=b".to_owned(), format!("--port={port}")], both, sender.to_vec()].concat());
                return;
            }
        }
        self.words.extend(["--runtime=1", "--time_based=1"].map(str::to_owned));
    }

    /// An engine, and of each of its options (`name=value,value`) one value.
    fn drawn_for(&mut self, engine: &str, options: &[&str], random: &mut Random) {
        self.push("ioengine", engine);
        for option in options {
            let (name, values) = option.split_once('=').expect("an option has values");
            self.push(name, random.one_of(&values.split(',').collect::<Vec<_>>()));
        }
    }

    /// Names a generator and a seed, so that both tools use the same random order.
    fn seed(&mut self, random: &mut Random) {
        let is_random = self.value("rw").is_some_and(|rw| rw.starts_with("rand"));
        if !is_random || random.percent(30) {
            return;
        }
        let generator = random.one_of(&["tausworthe", "tausworthe64", "lfsr"]);
        self.push("random_generator", generator);
        self.push("randrepeat", "0");
        let drawn = 1 + random.below(1000);
        // With these seeds fio's shift register for 8 and for 32 blocks starts no I/O.
        let seed = if generator == "lfsr" && [521, 569].contains(&drawn) { drawn + 1 } else { drawn };
        self.push("randseed", &seed.to_string());
    }

    /// Chooses the file and its content before the run.
    pub(crate) fn put_file(&mut self, engine: &str, random: &mut Random) {
        let clones = self.value("numjobs").is_some() || self.value("nrfiles").is_some();
        if engine == "null" || clones && random.percent(70) {
            return;
        }
        // If several writers verify the same block, chance decides which one is the last.
        if self.value("numjobs").is_some() && self.value("verify").is_some() {
            return;
        }
        self.push("filename", FILE);
        if random.percent(35) {
            let bytes = random.one_of(&[0, 30_000, 65_536, 66_000, 131_072, 300_000]);
            self.files.push((FILE.to_owned(), vec![BEFORE; bytes]));
        }
    }
}

/// A word of `rw`, sometimes with a modifier after its colon.
pub(crate) fn access(random: &mut Random, with_tail: usize) -> String {
    let row = values::full_rows().find(|row| row.name == "rw").expect("rw is an option");
    let Kind::Word { choices, .. } = &row.kind else { unreachable!("rw is a word") };
    let words: Vec<&str> =
        choices.iter().filter(|choice| choice.status == Status::Full).map(|choice| choice.word).collect();
    let word = random.one_of(&words);
    let tails: &[&str] = if word.starts_with("rand") { &["2", "3", "8"] } else { &["4k", "8k", "-4k", "512", "12k"] };
    if random.percent(with_tail) { format!("{word}:{}", random.one_of(tails)) } else { word.to_owned() }
}

impl Drawn {
    /// Whether the used range ends before its file.
    pub(crate) fn lies_in_a_longer_file(&self) -> bool {
        let clones_share_it = self.value("offset_increment").is_some();
        clones_share_it || self.files.iter().any(|(_, bytes)| !bytes.is_empty())
    }

    /// Whether the files are passed over more than once.
    pub(crate) fn starts_over(&self) -> bool {
        self.value("loops").is_some() || self.value("io_size").is_some()
    }

    pub(crate) fn syncs_or_is_direct(&self) -> bool {
        ["direct", "fsync", "fdatasync"].iter().any(|name| self.is_on(name)) || self.value("buffered") == Some("0")
    }

    /// Whether all blocks are whole pages.
    pub(crate) fn has_whole_pages(&self) -> bool {
        let odd = ["512", "5000"].iter().any(|size| self.value("bs") == Some(size));
        !odd && !self.has_drawn_sizes()
    }

    /// Whether the word of `rw`, without its modifier, is this one.
    pub(crate) fn accesses_by(&self, word: &str) -> bool {
        self.value("rw").is_some_and(|rw| rw.split(':').next() == Some(word))
    }

    /// Whether each sequential request skips this number of bytes.
    pub(crate) fn steps_by(&self, skipped: &str) -> bool {
        self.value("rw").and_then(|rw| rw.split_once(':')).is_some_and(|(_, step)| step == skipped)
    }

    /// Whether requests return before they are complete.
    pub(crate) fn keeps_requests_in_flight(&self) -> bool {
        matches!(self.value("ioengine"), Some("libaio" | "io_uring"))
            || self.value("iodepth").is_some_and(|depth| depth != "1")
    }

    /// Whether requests of one job have several sizes.
    pub(crate) fn has_drawn_sizes(&self) -> bool {
        self.value("bsrange").is_some() || self.value("bssplit").is_some()
    }

    /// Whether there are enough blocks of one size for a shift register to permute.
    pub(crate) fn has_many_equal_blocks(&self) -> bool {
        let small = ["512", "4k"].iter().any(|size| self.value("bs") == Some(size));
        let split = ["ba", "nrfiles", "filesize", "offset"].iter().any(|name| self.value(name).is_some());
        small && !split && !self.has_drawn_sizes()
    }

    /// Whether the drawn offsets decide the number of requests.
    pub(crate) fn depends_on_offsets(&self) -> bool {
        self.has_drawn_sizes()
            || self.value("ba").is_some()
            || self.value("rw").is_some_and(|rw| rw.contains(':'))
            || self.value("percentage_random").is_some()
    }

    /// Whether blocks are verified.
    pub(crate) fn is_verified(&self) -> bool {
        self.value("verify").map_or(self.value("verify_pattern").is_some(), |kind| kind != "0")
    }

    /// Whether writes contain a pattern.
    pub(crate) fn has_known_content(&self) -> bool {
        let pattern = self.value("buffer_pattern").is_some() && self.value("verify").is_none();
        (pattern || self.value("verify") == Some("pattern"))
            && !self.is_on("zero_buffers")
            && !self.is_on("refill_buffers")
            && !self.is_on("buffer_compress_percentage")
            && !self.is_on("dedupe_percentage")
    }

    /// Whether a whole file was written in order, with a checksum in each block.
    pub(crate) fn is_sealed(&self) -> bool {
        let of_pattern = if self.value("verify_pattern").is_some() { "pattern_hdr" } else { "0" };
        let kind = self.value("verify").unwrap_or(of_pattern);
        let plain =
            ["offset", "io_size", "number_ios", "numjobs", "nrfiles", "filesize", "verify_only", "bsrange", "bssplit"];
        // fio confuses the size of a header with that of a read.
        let of_one_size = self.value("bs").is_none_or(|bs| !bs.contains(','));
        !["0", "pattern", "null", "sha512"].contains(&kind)
            && of_one_size
            && self.value("rw") == Some("write")
            && self.value("filename").is_some()
            && !self.is_on("unlink")
            && !plain.iter().any(|name| self.value(name).is_some())
    }
}
