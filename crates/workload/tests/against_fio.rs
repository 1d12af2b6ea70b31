//! Compares sequences of requests with those of fio.
//!
//! `fio_sequences.txt` contains options and the requests that fio 3.33 made, `fio_342_samples.txt` those of fio 3.42
//! with its default seed. `FIO_SEQUENCES=record` writes the first file again with an installed fio;
//! `FIO_SEQUENCES=compare` compares many more cases with an installed fio, which takes minutes.

mod sequence;

use std::process::Command;

use fsdyno_workload::{Block, Generator, OpKind, Refill, Workload};
use sequence::{sequence, word, workload};

/// Number of requests of each case that are compared.
const MOST: usize = 200;

fn recorded() -> Vec<(&'static str, Vec<&'static str>)> {
    cases_of(include_str!("fio_sequences.txt"))
}

fn cases_of(text: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    lines.chunks(2).map(|pair| (pair[0], pair[1].split_whitespace().collect())).collect()
}

/// The difference in this case; `None`: there is none.
fn compare(line: &str, expected: &[impl AsRef<str>]) -> Option<String> {
    compare_first(line, expected, MOST)
}

fn compare_first(line: &str, expected: &[impl AsRef<str>], most: usize) -> Option<String> {
    let made = sequence(&workload(line), most);
    let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    let differs = made.iter().zip(&expected).position(|(made, expected)| made != expected);
    let at = differs.or((made.len() != expected.len()).then_some(made.len().min(expected.len())))?;
    let from = at.saturating_sub(3);
    let some = |words: Vec<String>| words[from.min(words.len())..words.len().min(at + 12)].join(" ");
    Some(format!(
        "{line}\n  request {at} of {} made, {} expected:\n  made     {}\n  expected {}\n",
        made.len(),
        expected.len(),
        some(made.clone()),
        some(expected.iter().map(|word| word.to_string()).collect())
    ))
}

#[test]
fn recorded_sequences() {
    let cases = recorded();
    assert!(cases.len() >= 50, "only {} cases", cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|(line, expected)| compare(line, expected)).collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.concat());
}

#[test]
fn samples_of_fio_342() {
    let cases = cases_of(include_str!("fio_342_samples.txt"));
    assert_eq!(cases.len(), 70);
    let failures: Vec<String> =
        cases.iter().filter_map(|(line, expected)| compare_first(line, expected, expected.len())).collect();
    assert!(failures.is_empty(), "{}", failures.concat());
}

/// Whether the tests with an installed fio were asked for; otherwise prints how to ask.
#[expect(clippy::print_stdout, reason = "the count of skipped tests is read from it")]
fn asked_for(what: &str) -> bool {
    let asked = std::env::var("FIO_SEQUENCES").is_ok_and(|text| text == what);
    if !asked {
        println!("skipped: set FIO_SEQUENCES={what} to run this against an installed fio");
    }
    asked
}

/// The first requests that an installed fio makes.
fn fio(line: &str) -> Vec<String> {
    let directory = std::env::temp_dir().join(format!("fio-sequences-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let trace = directory.join("trace");
    let _ = std::fs::remove_file(&trace);
    let output = Command::new("fio")
        .args(["--name=a", "--ioengine=null", "--output-format=terse"])
        .arg(format!("--write_iolog={}", trace.display()))
        .args(line.split_whitespace())
        .current_dir(&directory)
        .output()
        .expect("fio is installed");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    // With several requests in flight, the null engine returns each request once before it takes it.
    let mut words: Vec<String> = text.lines().filter_map(word_of_trace).collect();
    if line.contains("--iodepth") {
        words.dedup();
    }
    words.truncate(MOST);
    words
}

/// The word for a line such as `122 a.0.1 read 4096 4096`, which begins with the time.
fn word_of_trace(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, file, kind, offset, length] = fields.as_slice() else { return None };
    let letter = match *kind {
        "read" => 'r',
        "write" => 'w',
        "trim" => 't',
        "sync" => 's',
        "datasync" => 'd',
        "sync_file_range" => 'g',
        _ => return None,
    };
    let file = file.rsplit('.').next().unwrap().parse().unwrap();
    Some(word(letter, offset.parse().unwrap(), length.parse().unwrap(), file))
}

#[test]
fn record() {
    if !asked_for("record") {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fio_sequences.txt");
    let header: String = include_str!("fio_sequences.txt")
        .lines()
        .take_while(|line| line.starts_with('#'))
        .fold(String::new(), |header, line| header + line + "\n");
    let cases = recorded().into_iter().map(|(line, _)| format!("\n{line}\n{}\n", fio(line).join(" ")));
    std::fs::write(path, header + &cases.collect::<String>()).unwrap();
}

/// All combinations of these options, one from each row.
const ROWS: [&[&str]; 5] = [
    &[
        "--rw=read",
        "--rw=write",
        "--rw=rw",
        "--rw=randread",
        "--rw=randrw --rwmixread=70",
        "--rw=read:8k",
        "--rw=write:-8k",
        "--rw=randread:3",
        "--rw=randrw:4 --rw_sequencer=identical",
        "--rw=randwrite --percentage_random=40",
        "--rw=randread --norandommap",
        "--rw=randrw --random_generator=lfsr",
        "--rw=randrw --norandommap --random_generator=tausworthe64",
        "--rw=rw --rwmixread=90",
    ],
    &["--size=64k", "--size=90k", "--size=256k"],
    &["--bs=4k", "--bs=1k", "--bsrange=1k-8k", "--bsrange=2k-16k --bs_unaligned", "--bssplit=1k/20:4k/50:8k/30"],
    &[
        "",
        "--nrfiles=3",
        "--nrfiles=2 --file_service_type=random:3",
        "--nrfiles=4 --file_service_type=sequential",
        "--nrfiles=5 --openfiles=2",
        "--nrfiles=5 --openfiles=3 --file_service_type=random",
        "--nrfiles=4 --openfiles=2 --file_service_type=roundrobin:2",
        "--nrfiles=6 --openfiles=2 --file_service_type=zipf:1.2",
    ],
    &["", "--loops=2", "--io_size=150k", "--io_size=40k", "--number_ios=7"],
];

#[test]
fn installed() {
    if !asked_for("compare") {
        return;
    }
    let cases: usize = ROWS.iter().map(|row| row.len()).product();
    let mut failures = Vec::new();
    let mut compared = 0;
    // A step that shares no factor with the number of cases spreads the selection over all cases.
    let share: usize = std::env::var("CASES").map_or(300, |text| text.parse().unwrap());
    for number in 0..share.min(cases) {
        let mut rest = number * 1009 % cases;
        let mut line = String::from("--randrepeat=0 --randseed=7 --random_generator=tausworthe");
        for row in ROWS {
            line = format!("{line} {}", row[rest % row.len()]);
            rest /= row.len();
        }
        // With several files, fio sometimes does not count a random block as used: when the attempt on the file
        // before was sequential and found the end. We do not follow that.
        if line.contains("nrfiles") && (line.contains("randread:3") || line.contains("percentage_random")) {
            continue;
        }
        compared += 1;
        failures.extend(compare(&line, &fio(&line)));
    }
    assert!(failures.is_empty(), "{} of {compared} cases:\n{}", failures.len(), failures.concat());
}

/// The requests of a job in the form of the samples of fio: blocks of 4 KiB, with the reads of `verify`.
fn blocks(workload: &Workload) -> String {
    let mut generator = Generator::new(workload).unwrap();
    let mut words = Vec::new();
    let mut collect = |generator: &mut Generator| {
        let mut block = Block::new();
        while generator.refill(&mut block) != Refill::Done {
            for op in &block.ops[..block.len] {
                let letter = match op.kind {
                    OpKind::Read => 'r',
                    OpKind::Write => 'w',
                    OpKind::Trim => 't',
                    _ => 's',
                };
                words.push(format!("{letter}{}", op.offset / 4096));
            }
        }
    };
    collect(&mut generator);
    collect(&mut generator.unverified(&[]).expect("it has a backlog"));
    words.join(" ")
}

/// The order is fio 3.42's, except for random blocks, whose order is our own.
#[test]
fn a_backlog_is_read_back_among_the_writes() {
    let cases = [
        ("--rw=write --size=40k --verify_backlog=4", "w0 w1 w2 w3 r0 r1 r2 r3 w4 w5 w6 w7 r4 r5 r6 r7 w8 w9 r8 r9"),
        (
            "--rw=write --size=40k --verify_backlog=4 --verify_backlog_batch=2",
            "w0 w1 w2 w3 r0 r1 w4 w5 r2 r3 w6 w7 r4 r5 w8 w9 r6 r7 r8 r9",
        ),
        (
            "--rw=write --size=40k --verify_backlog=4 --verify_backlog_batch=6",
            "w0 w1 w2 w3 r0 r1 r2 r3 w4 r4 w5 r5 w6 w7 w8 w9 r6 r7 r8 r9",
        ),
        (
            "--rw=randwrite --size=40k --verify_backlog=4 --norandommap",
            "w9 w8 w6 w5 r5 r6 r8 r9 w6 w9 w0 w2 r0 r2 r6 r9 w3 w8 r3 r8",
        ),
        (
            "--rw=randrw --size=40k --verify_backlog=2 --random_generator=tausworthe",
            "r9 r8 r6 w5 r7 r0 w1 r5 r1 w2 w3 r2 r3 r4",
        ),
        (
            "--rw=write --size=20k --loops=2 --verify_backlog=4",
            "w0 w1 w2 w3 r0 r1 r2 r3 w4 r4 w0 w1 w2 w3 r0 r1 r2 r3 w4 r4",
        ),
        (
            "--rw=randwrite --size=32k --verify_backlog=2 --number_ios=6 --random_generator=tausworthe",
            "w7 w6 r7 r6 w5 w4 r5 r4",
        ),
        (
            "--rw=write --size=40k --trim_percentage=50 --trim_backlog=2 --verify_backlog=4",
            "w0 w1 t0 t1 w2 w3 r0 r1 r2 r3 w4 w5 t4 w6 w7 r4 r5 r6 r7 w8 w9 r8 r9",
        ),
    ];
    for (words, fio) in cases {
        assert_eq!(blocks(&workload(&format!("--verify=crc32c {words}"))), fio, "{words}");
    }
}

/// The last window is shorter than the others: each of its blocks comes once, then it begins again, with every kind
/// of cover.
#[test]
fn a_short_window_is_used_up_and_begins_anew() {
    for generator in ["tausworthe", "tausworthe64", "lfsr"] {
        let zones = "--zonemode=strided --zonesize=32k --zonerange=32k --zoneskip=16k";
        let line = format!("--rw=randwrite --size=64k {zones} --io_size=128k --random_generator={generator}");
        let made = sequence(&workload(&line), MOST);
        let offset = |word: &String| word[1..].split('+').next().and_then(|offset| offset.parse::<u64>().ok());
        let mut made: Vec<u64> = made.iter().filter_map(|word| Some(offset(word)? / 4096)).collect();
        assert_eq!(made.len(), 32, "{generator}: {made:?}");
        let mut stays = made.chunks_mut(4);
        for (blocks, windows) in [(0..8, 2), (12..16, 1), (12..16, 1), (0..8, 2), (12..16, 1), (12..16, 1)] {
            let mut stay: Vec<u64> = stays.by_ref().take(windows).flat_map(|part| part.to_vec()).collect();
            stay.sort_unstable();
            assert_eq!(stay, blocks.collect::<Vec<u64>>(), "{generator}");
        }
    }
}
