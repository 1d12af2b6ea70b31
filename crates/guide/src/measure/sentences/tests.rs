//! Tests of the sentences, with a storage that takes exactly 100 µs per request (the `sim` engine).

use std::sync::Arc;

use fsdyno_results::Question;
use fsdyno_results::evidence::RecordedFact;

use super::super::lines::{TESTS, Timing};
use super::*;
use testkit::draw::{Draw, Test as Drawn, TestWork, cases, number_after, printed, time_after, unexplained};

use crate::study::{Caller, Place, StudyRun, planned_row};
use crate::watch::SilentWatcher;
use crate::work_directory::{SpaceNeeds, WorkDirectory};

/// A study as `measure` makes it, on the simulated storage.
fn simulated() -> Study {
    simulated_runs(&["100us"])
}

/// The same with several runs, whose requests take these times.
fn simulated_runs(services: &[&str]) -> Study {
    let place = Place { name: "/data".into(), path: "/".into() };
    let mut unwatched = SilentWatcher;
    let control = Arc::new(fsdyno_run::Control::default());
    let caller = Caller { version: "test", command: Vec::new(), control, watcher: &mut unwatched };
    let mut study_run = StudyRun::begin(Question::Measure, &[place], caller);
    let folder = tempfile::tempdir().unwrap();
    let work = WorkDirectory::open(folder.path(), None, SpaceNeeds::default(), &study_run.control).unwrap();
    for (round, service) in (0..).zip(services) {
        for test in TESTS.iter().filter(|test| test.words[0].ends_with("read")) {
            let words = ["--name=a", "--ioengine=sim", "--size=16m", "--lat_percentiles=1"];
            let mut command: Vec<String> = words.map(str::to_string).to_vec();
            command.push(format!("--sim_service={service}"));
            command.extend(test.words.iter().map(|word| word.to_string()));
            let row = planned_row(0, test.pattern, test.title, round, command);
            study_run.run_row(row, StopRule::AsWritten, &work).unwrap();
        }
    }
    study_run.finish()
}

/// The sentences, one per line.
fn sentences(study: &Study) -> String {
    of(study).join("\n")
}

#[test]
fn on_a_local_disk() {
    let mut study = simulated();
    study.targets[0].storage.class = StorageClass::Block;
    insta::assert_snapshot!(sentences(&study));
}

#[test]
fn several_runs_are_told_by_their_median_and_not_by_the_first() {
    let mut study = simulated_runs(&["900us", "100us", "100us"]);
    study.targets[0].storage.class = StorageClass::Block;
    let mut one = simulated();
    one.targets[0].storage.class = StorageClass::Block;
    let rate = |study: &Study, round| {
        let row = study.rows.iter().find(|row| row.pattern == test_name::READ_LATENCY && row.round == round);
        format!("gives {} IOPS", number(row.unwrap().figures().unwrap().iops()))
    };
    let text = sentences(&study);
    let took = sentences(&one).lines().find(|line| line.contains("of a 4k read")).unwrap().to_owned();
    let (took, rest) = took.split_once("(median)").unwrap();
    assert!(text.contains(&format!("{took}(median, mean 367 µs){rest}")), "the mean is far away: {took}: {text}");
    assert!(text.contains(&rate(&one, 0)) && !text.contains(&rate(&study, 0)), "{text}");
}

#[test]
fn of_the_round_trip() {
    let mut study = simulated();
    let mut lines = Vec::new();
    for class in [StorageClass::Memory, StorageClass::Fuse] {
        study.targets[0].storage.class = class;
        lines.extend(of(&study).into_iter().filter(|sentence| sentence.contains("etwork")));
    }
    let server =
        |connect_ns| ServerIdentity { address: "10.0.0.5:2049".into(), connect_ns, ..ServerIdentity::default() };
    let seen = [
        RecordedFact::Value(40_000),
        RecordedFact::Value(400_000),
        RecordedFact::NotVisible("no response within 1 s".into()),
    ];
    for connect_ns in seen {
        lines.extend(round_trip(&study, Some(&server(connect_ns))));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn of_how_it_was_done() {
    let direct = IoMode { engine: "libaio", direct: true };
    let lines = [
        io_mode(256 << 20, direct, Timing::QUICK),
        io_mode(2 << 30, IoMode { direct: false, ..direct }, Timing::NORMAL),
        published_lines(10 << 30),
        left_out(&["rand-write", "seq-write"], 15),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

const ADDRESS: &str = "10.0.0.5:2049";

/// Checks the sentence on a server's round trip, and returns its numbers: the time of a connect as a share of a request's.
fn of_server(study: &Study, text: &str) -> (Vec<f64>, Vec<f64>) {
    let server = study.targets[0].storage.server.as_ref();
    let Some(connect_ns) = server.and_then(|server| server.connect_ns.value()).map(|ns| *ns as f64) else {
        assert!(!text.contains("TCP connect"), "{text}");
        return Default::default();
    };
    let Some(line) = text.lines().find(|line| line.contains("TCP connect")) else { return Default::default() };
    assert!(printed(time_after(line, " takes ").unwrap(), connect_ns), "{line}");
    let whole = number_after(line, "s, ").filter(|_| line.contains(" % of the "));
    let took_ns = ["than the ", " of the ", "write (median) (", "read (median) ("];
    let took_ns = took_ns.iter().find_map(|words| time_after(line, words));
    if let (Some(share), Some(took_ns)) = (whole, took_ns) {
        assert!((share - connect_ns / took_ns * 100.0).abs() <= 0.51 + share * 0.006, "{line}");
        assert!(connect_ns <= took_ns * 1.006, "{line}");
    } else if let Some(took_ns) = took_ns {
        let is_longer = connect_ns > took_ns * 1.25;
        assert!(line.contains("longer than") == is_longer || (connect_ns / took_ns - 1.25).abs() < 0.01, "{line}");
    }
    (whole.into_iter().collect(), vec![connect_ns])
}

fn drawn(draw: &mut Draw) -> Study {
    let mut study = Study::of_run(fsdyno_results::RunRecord::new("test", 0));
    study.question = Question::Measure;
    study.rows.clear();
    let rounds = draw.one_of(&[1, 2, 3, 5]);
    let rates = [3.0, 40.0, 900.0, 12_000.0, 150_000.0];
    let one = draw.one_of(&rates);
    let gain = draw.one_of(&[0.5, 1.0, 1.04, 4.0, 31.0]);
    let tests = [
        (test_name::READ_LATENCY, TestWork::Read, 1, 4096, one),
        (test_name::RAND_READ, TestWork::Read, 32, 4096, one * gain),
        (test_name::SEQ_READ_64K, TestWork::Read, 32, 65_536, draw.one_of(&rates)),
        (test_name::WRITE_LATENCY, TestWork::Write, 1, 4096, draw.one_of(&rates)),
    ];
    let connect_ns = draw.one_of(&[None, Some(40_000), Some(400_000), Some(9_000_000)]);
    study.targets[0].storage.class = draw.one_of(&[StorageClass::Network, StorageClass::Block]);
    study.targets[0].storage.server = connect_ns.map(|connect_ns| ServerIdentity {
        address: ADDRESS.into(),
        connect_ns: RecordedFact::Value(connect_ns),
        ..ServerIdentity::default()
    });
    for (pattern, does, depth, block_bytes, per_s) in tests {
        study.rows.extend(draw.rounds(&Drawn { target: 0, pattern, does, depth, block_bytes, rounds, per_s }));
    }
    study
}

/// The figures of a test's rounds that count, computed independently: IOPS, bytes per second, mean latency, requests in
/// flight.
fn by_hand(study: &Study, pattern: &str) -> Option<[f64; 4]> {
    let jobs = study.rows.iter().filter(|row| row.pattern == pattern && row.trust() < Trust::Invalid);
    let jobs = jobs.filter_map(|row| row.run.as_ref()?.jobs.first()).filter(|job| job.error.is_none());
    let directions: Vec<_> = jobs.map(|job| &job.directions.read).filter(|read| read.ios > 0).collect();
    let median = |of: &dyn Fn(&fsdyno_results::DirectionRecord) -> f64| {
        fsdyno_stats::median(&directions.iter().map(|read| of(read)).collect::<Vec<_>>())
    };
    let (sum_ns, count) = directions.iter().fold((0.0, 0.0), |(sum, count), read| {
        (sum + read.lat.moments.sum as f64, count + read.lat.moments.count as f64)
    });
    let in_flight = median(&|read| read.lat.moments.sum as f64 / 2e9)?;
    Some([median(&|read| read.ios as f64 / 2.0)?, median(&|read| read.bytes as f64 / 2.0)?, sum_ns / count, in_flight])
}

const DRAWN: [&str; 4] =
    [test_name::READ_LATENCY, test_name::RAND_READ, test_name::SEQ_READ_64K, test_name::WRITE_LATENCY];

/// Each figure that the sentences may have: of each test requests, megabytes and what was in flight; of the deep reads their
/// depth, what Little's law says of them, and how many times those of a single read they are.
fn known(study: &Study) -> Vec<f64> {
    let of = |pattern| by_hand(study, pattern);
    let mut known = vec![32.0];
    DRAWN.into_iter().filter_map(of).for_each(|[iops, bytes, _, in_flight]| {
        known.extend([iops, bytes / 1e3, bytes / 1e6, bytes / 1e9, in_flight]);
    });
    if let Some([iops, _, mean_ns, _]) = of(test_name::RAND_READ) {
        let possible = 32e9 / mean_ns;
        known.extend([possible, (iops / possible * 100.0).round()]);
        // Less than 5 % is no gain.
        known.extend(of(test_name::READ_LATENCY).into_iter().flat_map(|[one, ..]| [iops / one, 5.0]));
    }
    known
}

/// Means and medians of all requests of a test, ns.
fn times_ns(study: &Study) -> Vec<f64> {
    let of = |pattern: &&str| {
        let mut all = fsdyno_results::Latency::default();
        let jobs = study.rows.iter().filter(|row| row.pattern == **pattern && row.trust() < Trust::Invalid);
        let jobs = jobs.filter_map(|row| row.run.as_ref()?.jobs.first()).filter(|job| job.error.is_none());
        jobs.for_each(|job| job.directions.iter().for_each(|(_, direction)| all.merge(&direction.lat)));
        [all.moments.mean(), all.shown(50.0).map(|ns| ns as f64)]
    };
    DRAWN.iter().flat_map(of).flatten().collect()
}

#[test]
fn no_sentence_denies_its_table() {
    let mut of_servers = 0;
    for (case, mut draw) in cases(60) {
        let study = drawn(&mut draw);
        let text = sentences(&study);
        of_servers += usize::from(text.contains("TCP connect"));
        let is = |words: &str, of: Option<f64>| match (number_after(&text, words), of) {
            (None, _) => false,
            (Some(shown), Some(of)) if printed(shown, of) => true,
            (shown, of) => panic!("case {case}: {words}: {shown:?} and not {of:?}\n{text}"),
        };
        let [deep, one, large] = [test_name::RAND_READ, test_name::READ_LATENCY, test_name::SEQ_READ_64K]
            .map(|pattern| by_hand(&study, pattern));
        if is("; measured ", deep.map(|deep| deep[0])) {
            let [iops, _, mean_ns, in_flight] = deep.unwrap();
            let shown = time_after(&text, "requests in flight / ").unwrap();
            assert!(printed(shown, mean_ns), "case {case}: {mean_ns}\n{text}");
            let share = number_after(&text, &format!("measured {} (", number(iops))).unwrap();
            assert!((share - iops * mean_ns / 32e7).abs() < 0.51, "case {case}: {share}\n{text}");
            is("% of it: ", Some(in_flight));
            assert!((iops * mean_ns / 1e9 / in_flight - 1.0).abs() < 0.021, "case {case}: no equation\n{text}");
        }
        if is("One read at a time gives ", one.map(|one| one[0])) {
            let gain = deep.unwrap()[0] / one.unwrap()[0];
            let told = ["depth 32 only ", "depth 32 "].into_iter().any(|words| is(words, Some(gain)));
            assert!(told || (gain < 1.05 && text.contains("gains less than 5 %")), "case {case}: {gain}\n{text}");
            assert!(gain < 1.0 || !text.contains("only"), "case {case}: {gain}\n{text}");
        }
        if is("IOPS x block size: ", large.map(|large| large[0])) {
            is("reads/s x 64 KiB = ", large.map(|large| large[1] / 1e6));
            is("the same storage moves ", deep.map(|deep| deep[1] / 1e6));
        }
        let (shares, connects) = of_server(&study, &text);
        let words = ["seq-read-64k", "4k", "x 64 KiB", "4 KiB", ADDRESS];
        let (figures, times) = ([known(&study), shares].concat(), [times_ns(&study), connects].concat());
        let strange = unexplained(&text, &words, &figures, &times);
        assert!(strange.is_empty(), "case {case}: {strange:?} in\n{text}");
        let typical = text.contains(" of a 4k read (median)") || text.contains(" of a 4k read (mean)");
        assert!(!typical || one.is_some(), "case {case}: {text}");
    }
    assert!(of_servers > 5, "{of_servers}");
}
