//! Tests the frame of the guided face: what is saved, what is left, what is refused.

use std::fs;

use fsdyno_results::{Lane, Question, Study, TestRounds};
use testkit::{RunResult, Running, TestDirectory, wait_until};

fn place() -> TestDirectory {
    TestDirectory::with(&["data"])
}

const MEASURE: &str = "measure data --size=16m --store store";

fn measure(place: &TestDirectory, more: &str) -> RunResult {
    place.run(&format!("{MEASURE} --quick {more}"))
}

fn is_empty(place: &TestDirectory) -> bool {
    place.names("data").is_empty()
}

/// Whether rate and mean latency of the deep reads give the requests in flight, to 2 %. On a disk that others use
/// unevenly they may not, and then no equation is printed.
fn littles_law_holds(study: &Study) -> bool {
    let rounds = TestRounds::of_rows(study.repeats(0, "rand-read"));
    let mean_ns = rounds.latency(Lane::Request).and_then(|latency| latency.moments.mean()).unwrap();
    let product = rounds.value(rounds.rates().1).unwrap() * mean_ns / 1e9;
    rounds.in_flight().is_some_and(|in_flight| (product / in_flight - 1.0).abs() < 0.02)
}

#[test]
fn a_measurement_is_printed_kept_and_leaves_nothing() {
    let place = place();
    let RunResult { stdout, stderr, .. } = measure(&place, "").good();
    assert!(is_empty(&place));
    for words in [
        "\nwrite + fdatasync ",
        "random 4k, deep",
        "\ntrust  ",
        "\nrand-read        32 ",
        "Throughput = IOPS x block size",
        "a file of 16 MiB",
    ] {
        assert!(stdout.contains(words), "{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{stdout}");
    assert!(stderr.contains("[10/10]"), "without a terminal each step leaves a line: {stderr}");
    let kept = place.studies("store");
    assert_eq!(kept.len(), 1);
    assert_eq!(stdout.contains("IOPS = concurrency / mean latency"), littles_law_holds(&kept[0]), "{stdout}");
    assert_eq!((kept[0].question, kept[0].rows.len(), kept[0].complete), (Question::Measure, 10, true));
    assert_eq!(place.run("show last --store store").stdout, stdout, "a kept run prints the same");
    let listed = place.run("runs --store store").stdout;
    assert!(listed.contains(&kept[0].id), "{listed}");
}

#[test]
fn the_sums_of_the_sentences_are_those_of_the_table() {
    let place = place();
    let study = measure(&place, "--json --only=read-latency,rand-read,seq-read-64k").study();
    let read = study.rows.iter().find(|row| row.pattern == "seq-read-64k").unwrap();
    let figures = read.figures().unwrap();
    // Requests are counted at submission, bytes at completion: those in flight at either end make a difference.
    let apart = (figures.total.bytes / 65536).abs_diff(figures.total.operations);
    assert!(apart <= 2 * 32, "{figures:?}");
    let product = figures.total.operations as f64 / figures.total.iops * figures.total.bytes_per_s;
    assert!((figures.total.bytes as f64 / product - 1.0).abs() < 0.001, "{figures:?}");
    let begins = |sentence: usize, words| study.sentences[sentence].starts_with(words);
    assert!(begins(1, "Throughput = ") && begins(2, "No network"), "{:?}", study.sentences);
    assert_eq!(begins(0, "IOPS = "), littles_law_holds(&study), "{:?}", study.sentences);
    // Each row has a command that can be run again.
    assert!(study.rows.iter().all(|row| row.command.iter().any(|word| word.starts_with("--rw="))));
}

/// Memory keeps the CPUs busy: reads and writes, one and many at a time, small and large, with syncs.
const IN_MEMORY: &str = "rand-read,sync-latency,seq-write,seq-read-64k";

/// Requests per second times their size are the bytes per second of each row, however it was measured: after a ramp,
/// with syncs, at a rate, with reads and writes mixed.
#[test]
fn iops_times_block_size_is_the_rate_of_every_row_of_every_question() {
    let place = TestDirectory::with(&["data", "other"]);
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    let memory = memory.as_ref().map(|folder| folder.path().display().to_string());
    let ask = |words: &str| place.run(&format!("{words} --size=16m --no-store --json -q")).study();
    let mut studies = vec![
        ask("measure data --quick"),
        ask("sweep data --runtime=1 --iodepth=16 --bs=4k,1m --rw=randread,randrw"),
        ask("curve data --runtime=1 --iodepth=4 --loads=40,120"),
        ask("compare a=data b=other --runtime=1 --rounds=1 --bs=1m"),
    ];
    studies.extend(memory.map(|path| ask(&format!("measure {path} --quick --only={IN_MEMORY}"))));
    let mut judged = 0;
    for (study, row) in studies.iter().flat_map(|study| study.rows.iter().map(move |row| (study, row))) {
        let round = fsdyno_results::TestRounds::of_rows([row]);
        let (bytes, requests) = round.rates();
        let (Some(rate), Some(iops)) = (round.value(bytes), round.value(requests)) else { continue };
        let setup = &row.run.as_ref().unwrap().jobs[0].setup;
        let (least, most) = if setup.access.reads { setup.block_sizes.read } else { setup.block_sizes.write };
        let of = |size: u64| iops * size as f64 / rate;
        assert!(of(least) <= 1.005 && of(most) >= 0.995, "{:?} {}: {iops} {rate} {least}", study.question, row.pattern);
        judged += 1;
    }
    assert!(judged > 40, "{judged}");
}

#[test]
fn runs_are_repeated_and_tests_chosen() {
    let place = place();
    let words = "measure data --size=16m --no-store --json -q --runs=3 --runtime=1 --only=sync-latency,read-latency";
    let study = place.run(&format!("{words} --engine=psync --buffered")).study();
    let tests: Vec<(&str, u32)> = study.rows.iter().map(|row| (row.pattern.as_str(), row.round)).collect();
    let one_run = |round| [("fill", round), ("read-latency", round), ("sync-latency", round)];
    assert_eq!(tests, [one_run(0), one_run(1), one_run(2)].concat());
    let has = |row: &fsdyno_results::Row, word: &str| row.command.iter().any(|known| known == word);
    assert!(study.rows.iter().all(|row| has(row, "--ioengine=psync") && has(row, "--direct=0")));
    assert!(study.rows[2].figures().unwrap().sync.is_some(), "each write is followed by an fdatasync");
    let summary = fsdyno_present::Headline::of(&study);
    assert_eq!(summary.tests.iter().map(|test| test.runs).collect::<Vec<_>>(), [3, 3]);
    assert!(summary.tests[0].intervals.iops.is_some(), "{summary:?}");
}

#[test]
fn quiet_shows_nothing_and_no_store_keeps_nothing() {
    let place = place();
    assert_eq!(place.run("measure data --quick --only=sync-latency --size=16m --quiet --no-store").good().stderr, "");
    assert_eq!(place.names(""), ["data"]);
}

#[test]
fn markdown_is_a_table_for_a_ticket() {
    let place = place();
    let stdout = measure(&place, "--markdown --only=sync-latency").stdout;
    assert!(stdout.contains("| test ") && stdout.contains("|---"), "{stdout}");
}

#[test]
fn an_interrupt_ends_it_with_what_there_is_and_nothing_left() {
    let place = place();
    let mut running = place.start(MEASURE);
    // Before that nothing has begun that could be kept.
    let is_measured = |folder: &String| {
        let file = place.path(&format!("data/{folder}/measure.dat"));
        file.metadata().is_ok_and(|file| file.len() > 0)
    };
    running.wait_until("the measured file", |_| place.names("data").iter().any(is_measured));
    running.signal("INT");
    assert_eq!(running.finish().status, Some(130));
    assert!(is_empty(&place));
    let kept = place.studies("store");
    assert!(!kept[0].complete);
}

#[test]
fn clean_removes_what_a_killed_run_left() {
    let place = place();
    place.write("data/mine", "mine");
    let mut running = place.start(MEASURE);
    let marked =
        || fs::read_dir(place.path("data")).unwrap().flatten().any(|entry| entry.path().join(".fsdyno-work").exists());
    running.wait_until("a marked directory", |_| marked());
    let busy = place.run("clean data").stdout;
    assert!(busy.contains("still uses it"), "{busy}");
    let kept = |name: &String| name.ends_with(".json");
    running.wait_until("a study", |_| place.path("store").is_dir() && place.names("store").iter().any(kept));
    running.signal("KILL");
    running.finish();
    assert_eq!(place.names("data").len(), 2);
    let kept = place.studies("store");
    assert!(!kept[0].complete && !kept[0].rows.is_empty(), "what it had found by then is kept");
    // The working process dies a moment after the one that was killed.
    wait_until("the removal", || place.run("clean data").good().stdout.contains(": removed"));
    assert_eq!(place.read("data/mine"), "mine");
    assert_eq!(place.names("data"), ["mine"]);
    let again = place.run("clean data").stdout;
    assert!(again.starts_with("no fsdyno files are left"), "{again}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_status_2() {
    let place = place();
    place.write("data/file", "x");
    place.write("store-is-a-file", "x");
    let cases: [(&str, &str); 10] = [
        ("measure data/missing", "does not exist"),
        ("measure data/file", "is not a directory"),
        ("measure /proc --no-store", "kernel filesystem"),
        ("measure data --expect nfs --no-store", "should be nfs, but it is"),
        ("measure data --size 4x", "powers of 1,024"),
        ("measure data --only seq-raed", "seq-read"),
        ("measure data --engine null", "use one of"),
        ("measure data --size 1048576t --no-store", "below the limit of 90 %"),
        ("measure data --store store-is-a-file", "cannot save runs in"),
        ("show nothing --no-such-option", "show has no option `--no-such-option`"),
    ];
    for (words, reason) in cases {
        place.run(words).refused(reason);
    }
    assert_eq!(place.names("data"), ["file"], "a refusal writes nothing");
}

#[test]
fn a_directory_with_a_colon_and_blanks_works() {
    let place = place();
    fs::create_dir(place.path("data/a:b c")).unwrap();
    place
        .run(&["measure", "data/a:b c", "--quick", "--only=sync-latency,seq-read", "--size=16m", "--no-store", "-q"])
        .good();
    assert!(place.names("data/a:b c").is_empty());
}

#[test]
fn without_a_home_the_answer_is_printed_and_not_kept() {
    let place = place();
    let mut command = place.command("measure data --quick --only=sync-latency --size=16m");
    let ran = Running::start(command.env_remove("HOME").env_remove("XDG_DATA_HOME")).finish().good();
    let stderr = ran.stderr;
    assert!(stderr.contains("neither XDG_DATA_HOME nor HOME is set; this run is not saved"), "{stderr}");
    assert!(!stderr.contains("saved as") && !ran.stdout.is_empty(), "{stderr}");
    // Without a saved run there is nothing to report.
    assert!(ran.stdout.contains("fsdyno check etcd") && !ran.stdout.contains("fsdyno report"), "{}", ran.stdout);
    assert_eq!(place.names(""), ["data"]);
}

/// A short `measure` of the tests of another tool.
fn like(place: &TestDirectory, tool: &str, more: &[&str]) -> RunResult {
    let tool = format!("--like={tool}");
    let words = ["measure", "data", &tool, "--quick", "--size=16m", "--store=store", "-q"];
    place.run(&[&words, more].concat())
}

#[test]
fn tests_of_crystaldiskmark_have_its_names_on_every_face() {
    let place = place();
    // A configuration names the usual tests, and chooses none of these.
    let mut command = place.command("measure data --like=cdm --quick --size=16m --store=store -q");
    let stdout = Running::start(command.env("FSDYNO_PATTERNS", "seq-read")).finish().good().stdout;
    let names = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];
    let flat = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in names {
        assert!(flat.contains(&format!("{name} reads ")), "{stdout}");
        for begin in [format!("{name} "), format!("{name} read "), format!("{name} write ")] {
            assert!(stdout.lines().any(|line| line.starts_with(&begin)), "no `{begin}`: {stdout}");
        }
    }
    for words in ["read MB/s", "write IOPS", "read µs", "--like=cdm", "--runs=5", "CrystalDiskMark shows the best loop"]
    {
        assert!(flat.contains(words), "no `{words}`: {stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{stdout}");
    place.run("report last --store store -o sheet.html").good();
    place.run("report last --store store -o rows.csv").good();
    let markdown = place.run("show last --store store --markdown").good().stdout;
    for text in [place.read("sheet.html"), place.read("rows.csv"), markdown] {
        assert!(names.iter().all(|name| text.contains(&format!("{name} read"))), "{text}");
    }
    let study = &place.studies("store")[0];
    assert_eq!(study.rows.len(), 9);
    let tests: Vec<String> = fsdyno_present::Headline::of(study).tests.into_iter().map(|test| test.name).collect();
    let all = |direction| names.map(|name| format!("{name} {direction}"));
    assert_eq!(tests, [all("read"), all("write")].concat());
}

#[test]
fn a_test_of_another_tool_is_chosen_repeated_and_compared() {
    let place = place();
    let only = ["--only=SEQ1M Q1T1", "--runs=4", "--json"];
    let study = like(&place, "cdm", &only).good().study();
    let rows: Vec<(&str, u32)> = study.rows.iter().map(|row| (row.pattern.as_str(), row.round)).collect();
    let [read, write] = ["SEQ1M Q1T1 read", "SEQ1M Q1T1 write"];
    let loops = |name| [0, 1, 2, 3].map(|turn| (name, turn)).to_vec();
    assert_eq!(rows, [vec![("fill", 0)], loops(read), loops(write)].concat(), "loops use one file");
    let has = |row: &fsdyno_results::Row, word: &str| row.command.iter().any(|known| known == word);
    assert!(study.rows[5..].iter().all(|row| has(row, "--end_fsync=1") && has(row, "--refill_buffers=1")));
    like(&place, "cdm", &only).good();
    let kept = place.studies("store");
    let condition = format!("--fail-if={read}.iops < -99%");
    let words = ["diff", &kept[0].id, &kept[1].id, "--store=store", "--wide", &condition];
    let diff = place.run(&words);
    assert!(diff.stdout.contains(read) && diff.stdout.contains(write), "{}{}", diff.stdout, diff.stderr);
    let history = place.run("history --store store").stdout;
    assert!(history.contains(read), "{history}");
}

#[test]
fn lines_of_diskspd_are_direct_and_write_through() {
    let place = place();
    let study = like(&place, "diskspd", &["--runtime=1", "--json", "--only=64K seq o2t1,4K rnd o32t8 write"]).study();
    let lines: Vec<(&str, &[String])> =
        study.rows[1..].iter().map(|row| (row.pattern.as_str(), row.command.as_slice())).collect();
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["64K seq o2t1 read", "64K seq o2t1 write", "4K rnd o32t8 write"]);
    let has = |line: &[String], word: &str| line.iter().any(|known| known == word);
    assert!(!has(lines[0].1, "--sync=dsync") && lines[1..].iter().all(|(_, line)| has(line, "--sync=dsync")));
    assert!(has(lines[2].1, "--numjobs=8") && has(lines[2].1, "--iodepth=32"));
    assert_eq!(study.rows[3].run.as_ref().unwrap().jobs.len(), 8);
}

#[test]
fn what_does_not_go_with_another_tool_is_refused_by_name() {
    let place = place();
    let cases: [(&[&str], &str); 6] = [
        (&["--like=cdm", "--only=seq-read"], "`seq-read` is not one of the tests of --like cdm"),
        (&["--like=diskspd", "--only=RND4K Q1T1"], "`RND4K Q1T1` is not one of the tests of --like diskspd"),
        (&["--only=RND4K Q1T1"], "`RND4K Q1T1` is not one of the usual tests"),
        (&["--like=cdm", "--buffered"], "exclude each other"),
        (&["--like=cdm", "--full"], "exclude each other"),
        (&["--like=atto"], "cdm, diskspd"),
    ];
    for (words, reason) in cases {
        place.run(&[&["measure", "data", "--no-store"], words].concat()).refused(reason);
    }
    assert!(is_empty(&place));
}
