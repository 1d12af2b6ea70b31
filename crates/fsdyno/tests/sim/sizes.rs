//! Tests the size of every request of many random jobs against the header of the report: exactly a size that was given
//! as one number, else within the range. Header, record and log must agree.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::run::simulate;

/// Runs of the program, and jobs in each.
const RUNS: u64 = 20;
const JOBS: u64 = 100;

const ACCESSES: &[&str] = &[
    "read",
    "write",
    "rw",
    "randread",
    "randwrite",
    "randrw",
    "randrw",
    "randrw:3",
    "randread:8",
    "read:4k",
    "write:-4k",
    "rw:12k",
];
const SIZES: &[&str] = &[
    "bs=4k",
    "bs=3k",
    "bs=5000",
    "bs=4k,16k",
    "bs=16k,4k",
    "bs=8k,3k",
    "bs=1k,16k",
    "bs=512,5000",
    "bs=2k,2k,8k",
    "bsrange=1k-16k",
    "bsrange=4k-10k",
    "bsrange=4k-4k,3k-9k",
    "bssplit=4k/50:16k/50",
    "bssplit=4k/50:8k/50,16k/100",
    "bssplit=3k/60:5k/40,4k/100",
];
/// Options that determine the offsets of requests, and so the space that they have.
const OTHERS: &[&str] = &[
    "norandommap",
    "random_generator=tausworthe",
    "random_generator=tausworthe64",
    "random_generator=lfsr",
    "percentage_random=20",
    "percentage_random=50,90",
    "blockalign=4k",
    "blockalign=512,5000",
    "rwmixread=75",
    "rwmixread=3",
    "zonemode=strided --zonesize=20k --zonerange=24k --zoneskip=5000",
    "zonemode=strided --zonesize=64k --zonerange=16k",
    "random_distribution=zoned:60/10:40/90",
    "random_distribution=zipf:1.2",
    "random_distribution=pareto:0.9",
    "random_distribution=zoned_abs:60/6k:40/7k",
    "loops=3",
    "io_size=150k",
    "io_size=50%",
    "nrfiles=3",
    "offset=10k",
    "iodepth=4",
    "bs_unaligned",
    "rw_sequencer=identical",
    "number_ios=40",
    "file_service_type=random",
    "verify=crc32c --do_verify=0",
    "time_based --runtime=30ms",
    "bs_is_seq_rand=1",
    "randrepeat=0 --randseed=5",
];

/// splitmix64.
struct Random(u64);

impl Random {
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        list[((mixed ^ (mixed >> 31)) % list.len() as u64) as usize]
    }
}

/// The words of a job.
fn job(number: u64, random: &mut Random) -> String {
    let access = random.one_of(ACCESSES);
    let size = random.one_of(&["64k", "100k", "300k", "50000", "70001"]);
    let mut words = format!("--name=j{number} --ioengine=sim --rw={access} --size={size} --{}", random.one_of(SIZES));
    for _ in 0..random.one_of(&[0, 1, 2, 3]) {
        words = format!("{words} --{}", random.one_of(OTHERS));
    }
    format!("{words} --write_iops_log=j{number} --log_offset=1")
}

/// Parses `16.0KiB` or `5000B`.
fn bytes_of(text: &str) -> f64 {
    let units = [("KiB", 1024.0), ("B", 1.0)];
    let found = units.iter().find_map(|(unit, factor)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * factor));
    found.unwrap_or_else(|| panic!("a number of bytes, not {text}"))
}

/// The least and the greatest size of reads and of writes in the line of each job.
fn promises(report: &str) -> BTreeMap<&str, [(f64, f64); 2]> {
    let lines = report.lines().filter(|line| line.contains("): rw="));
    let of = |line: &str, side: &str| {
        let text = line.split_once(side).and_then(|(_, text)| text.split_once(',')).expect("both sizes").0;
        let (least, largest) = text.split_once('-').expect("two ends");
        (bytes_of(least), bytes_of(largest))
    };
    lines.map(|line| (line.split(':').next().unwrap(), [of(line, "(R) "), of(line, "(W) ")])).collect()
}

/// The requests of the log: direction and length.
fn requests(log: &str) -> impl Iterator<Item = (usize, u64)> + '_ {
    log.lines().map(|line| {
        let numbers: Vec<u64> = line.split(", ").map(|number| number.parse().expect("a number")).collect();
        (numbers[2] as usize, numbers[3])
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn requests_have_the_sizes_that_the_report_promises() {
    let compared: u64 = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| scope.spawn(move || (half..RUNS).step_by(2).map(compare).sum::<u64>()));
        halves.into_iter().map(|half| half.join().expect("each request is as promised")).sum()
    });
    assert!(compared > 20_000, "only {compared} requests of one size");
}

/// Requests and bytes of reads, and of writes.
fn amounts(words: &str) -> [(u64, u64); 2] {
    let ran = simulate(words);
    assert_eq!(ran.status, Some(0), "{words}: {}", ran.stderr);
    ["read", "write"].map(|side| (ran.integer(&format!("{side}/total_ios")), ran.integer(&format!("{side}/io_bytes"))))
}

/// Blocks that do not divide the range, in every way that could end a job before its size.
#[test]
fn a_job_does_all_of_its_size() {
    let reads = [
        // The same number of requests as in fio.
        ("--bs=3k --size=2m --percentage_random=20", 683),
        ("--bs=16k --size=300k --percentage_random=50 --random_distribution=pareto:0.9", 19),
        ("--rw=randread:4 --bs=3k --blockalign=4k --size=300k", 100),
        ("--rw=randread:3 --bs=5000 --norandommap --size=100k", 21),
        ("--bs=16k --size=300k --percentage_random=20 --random_generator=tausworthe", 19),
        // More than a pass, and fewer than the loops would be.
        ("--rw=read --bs=64k --size=2m --io_size=3m --loops=2", 96),
        ("--rw=read --bs=64k --size=2m --io_size=1m --loops=3", 48),
    ];
    for (words, ios) in reads {
        assert_eq!(amounts(words)[0].0, ios, "{words}");
    }
    assert_eq!(amounts("--rw=write --bs=64k --size=2m --io_size=3m --loops=2")[1].1, 6 << 20);
    // If sizes are drawn, or directions have their own, the last request may exceed what was asked for.
    let sums = [
        ("--rw=read --bsrange=4k-64k --size=100k --io_size=150k", 150 << 10, 4 << 10),
        ("--bsrange=4k-10k --size=1m", 1 << 20, 4 << 10),
        ("--bssplit=3k/50:5k/50 --size=1m", 1 << 20, 3 << 10),
        ("--rw=randrw --bs=5000,3k --size=100k", 100 << 10, 5000),
        ("--rw=randrw --bs=3k,16k --size=300k --rwmixread=5", 300 << 10, 16 << 10),
        ("--rw=randrw --bs=4k,64k --size=1m --random_distribution=zipf:1.2", 1 << 20, 1),
    ];
    for (words, bytes, block) in sums {
        let done: u64 = amounts(words).iter().map(|side| side.1).sum();
        assert!(done + block > bytes, "{words}: {done} of {bytes}");
    }
}

/// The mean of the writes is their size, whatever else varies and however often the job begins again.
#[test]
fn each_direction_has_its_size() {
    let cases = [
        ("--rw=randrw --bs=4k,16k --size=8m", [4096, 16384]),
        ("--rw=randrw --rwmixread=75 --bs=8k,64k --size=64m", [8192, 65536]),
        ("--rw=randrw --bs=4k,16k --size=1m --time_based --runtime=200ms", [4096, 16384]),
        ("--rw=randrw --bs=16k,4k --size=1m --loops=3 --percentage_random=30", [16384, 4096]),
        ("--rw=randrw --bs=4k,16k --size=1m --random_generator=tausworthe", [4096, 16384]),
    ];
    for (words, sizes) in cases {
        for ((ios, bytes), size) in amounts(words).into_iter().zip(sizes) {
            assert!(ios > 10 && bytes == ios * size, "{words}: {ios} of {size} bytes are not {bytes}");
        }
    }
    let [(_, reads), (ios, bytes)] = amounts("--rw=randrw --bssplit=4k/50:8k/50,64k/100 --size=32m");
    assert!(reads > 0 && bytes == ios * 65536, "{ios} writes of 64 KiB are not {bytes}");
}

/// Lengths of more than 32 bits, with engines that need no memory for them; where memory is needed, the plan says how
/// much.
#[test]
fn blocks_of_four_gibibytes_are_done() {
    for engine in ["null", "null --iodepth=4", "sim"] {
        assert_eq!(amounts(&format!("--ioengine={engine} --rw=read --bs=4g --size=16g"))[0], (4, 16 << 30), "{engine}");
    }
    assert_eq!(amounts("--ioengine=null --rw=read --bsrange=2g-8g --size=64g")[0].1, 64 << 30);
    let ran = testkit::TestDirectory::new().run("--name=a --ioengine=psync --rw=write --bs=4t --size=8t");
    assert!(ran.status == Some(1) && ran.stderr.contains("need 4.0 TiB of memory"), "{}", ran.stderr);
}

/// Runs a hundred jobs. Answers how many requests had a size given as one number.
fn compare(run: u64) -> u64 {
    let mut random = Random(run << 32);
    let jobs: Vec<String> = (1..=JOBS).map(|number| job(number, &mut random)).collect();
    let place = testkit::TestDirectory::new();
    let ran = place.run(&format!("{} --record=record", jobs.join(" ")));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let record: Value = serde_json::from_str(&place.read("record")).expect("a record");
    let promises = promises(&ran.stdout);
    let mut exact = 0;
    for (number, words) in (1..).zip(&jobs) {
        let name = format!("j{number}");
        let promised = promises[name.as_str()];
        let by_sequence = words.contains("bs_is_seq_rand");
        let recorded = record["jobs"].as_array().and_then(|jobs| jobs.iter().find(|job| job["name"] == name.as_str()));
        let recorded = recorded.expect("it is in the record");
        let mut sums = [(0, 0); 2];
        for (direction, length) in requests(&place.read(&format!("{name}_iops.{number}.log"))) {
            // Under bs_is_seq_rand the two sizes are those of sequential and of random requests.
            let sides = if by_sequence { &promised[..] } else { &promised[direction..=direction] };
            let kept = sides.iter().any(|(least, largest)| (*least..=*largest).contains(&(length as f64)));
            assert!(kept, "run {run}, {words}: {length} bytes in direction {direction}, not {sides:?}");
            exact += u64::from(sides[0].0 == sides[0].1);
            sums[direction] = (sums[direction].0 + 1, sums[direction].1 + length);
        }
        for (direction, (ios, bytes)) in ["read", "write"].into_iter().zip(sums) {
            let side = &recorded["directions"][direction];
            assert_eq!((&side["ios"], &side["bytes"]), (&ios.into(), &bytes.into()), "run {run}, {words}: {direction}");
        }
        assert!(sums[0].0 + sums[1].0 > 0, "run {run}, {words}: nothing was done");
    }
    exact
}
