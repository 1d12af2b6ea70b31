use fsdyno_results::evidence::RecordedFact;
use fsdyno_results::{
    DeviceWork, PhaseRecord, ReadWrite, Row, RunRecord, StorageTraffic, Study, Target, TreeRecord, WireOperation,
    WireTraffic,
};

use super::*;
use crate::Headline;

const MS: u64 = 1_000_000;

fn row(target: usize, round: u32, wall_ms: u64, cpu_ms: u64, requests: u64) -> Row {
    let phase = PhaseRecord {
        name: "command".into(),
        operations: 1,
        threads: 1,
        elapsed_ns: (wall_ms + u64::from(round % 3)) * MS,
        cpu_ns: cpu_ms * MS,
        ..PhaseRecord::default()
    };
    let work = |requests: u64| StorageTraffic {
        devices: RecordedFact::Value(DeviceWork {
            requests: ReadWrite { read: 0, write: requests },
            bytes: ReadWrite { read: 0, write: requests * 4096 },
            flushes: None,
        }),
        wire: RecordedFact::NotVisible("no file is on a network".into()),
        group: None,
    };
    let no_work = StorageTraffic::default();
    let (during, in_sync) = if requests == 0 { (no_work.clone(), no_work) } else { (work(requests), work(10)) };
    let tree = TreeRecord { sync_ns: Some(3 * MS), during, in_sync, ..TreeRecord::default() };
    Row {
        target,
        pattern: "command".into(),
        title: "make".into(),
        round,
        phase: Some(phase),
        tree: Some(tree),
        ..Row::default()
    }
}

/// `(name, wall ms, CPU ms, requests)` of each place; the last one is memory.
fn study(places: &[(&str, u64, u64, u64)], rounds: u32) -> Study {
    let target = |(index, (name, ..)): (usize, &(&str, u64, u64, u64))| Target {
        name: (*name).into(),
        path: format!("/mnt/{name}"),
        reference: index + 1 == places.len(),
        ..Target::default()
    };
    let rows = (0..rounds).flat_map(|round| {
        let of_place =
            move |(index, place): (usize, &(&str, u64, u64, u64))| row(index, round, place.1, place.2, place.3);
        places.iter().enumerate().map(of_place).collect::<Vec<_>>()
    });
    Study {
        question: Question::Time,
        complete: true,
        targets: places.iter().enumerate().map(target).collect(),
        rows: rows.collect(),
        command: ["time", "a=/mnt/a", "b=/mnt/b", "--", "make"].map(str::to_owned).to_vec(),
        ..Study::of_run(RunRecord::new("fsdyno", 0))
    }
}

#[test]
fn the_answer_has_a_winner_counts_and_what_storage_decides() {
    let study = study(&[("a", 1000, 100, 400), ("b", 2000, 100, 4000), ("(memory)", 100, 90, 0)], 8);
    let headline = Headline::of(&study);
    assert_eq!(headline.standings[0].winner.as_deref(), Some("a"), "memory is not asked about");
    assert!(headline.headline.unwrap().starts_with("command: a wins (2.00x b)"));
    let [a, b, memory] = &headline.times[..] else { panic!("{:?}", headline.times) };
    assert_eq!((a.wall_s.unwrap().median, a.waits_s, a.requests), (1.001, Some(0.901), Some(410.0)));
    assert_eq!((memory.requests, memory.storage_percent), (None, None), "not visible is not 0");
    assert!(b.storage_percent.unwrap().interval.unwrap().low > 94.0);
    let lines = lines(&headline.times, &headline.standings);
    assert_eq!(
        lines[0],
        ("counts", "command needs 9.78 times as many requests on b as on a, and 9.78 times the bytes".to_owned())
    );
    assert!(lines[1].1.starts_with("decides at least 90 % on a and at least 9"), "{lines:?}");
    let text = crate::tables::text(&study, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.lines().count() <= 24, "{text}");
    insta::assert_snapshot!(text);
}

/// Too few rounds have no interval, so that no level of confidence is told.
#[test]
fn a_level_is_told_with_an_interval() {
    let headline = |rounds| {
        Headline::of(&study(&[("a", 1000, 100, 400), ("b", 2000, 100, 4000), ("(memory)", 100, 90, 0)], rounds))
            .headline
            .unwrap()
    };
    assert_eq!(headline(2), "2 rounds are too few to tell a difference; median ratios: command (a 2.00x)");
    assert!(headline(8).ends_with(" (median ratio of 8 rounds, 99 %)"), "{}", headline(8));
}

#[test]
fn counts_that_meet_are_not_told() {
    let told = |requests: &[u64], rounds| {
        let mut study = study(&[("a", 1000, 100, 400), ("b", 1000, 100, 400), ("(memory)", 100, 90, 0)], rounds);
        for row in study.rows.iter_mut().filter(|row| row.target == 1) {
            let of_round = requests[row.round as usize % requests.len()];
            row.tree = super::tests::row(1, row.round, 1000, 100, of_round).tree;
        }
        let headline = Headline::of(&study);
        lines(&headline.times, &headline.standings).iter().any(|(label, _)| *label == "counts")
    };
    assert!(told(&[900, 1000], 4), "each run on b needs more");
    assert!(!told(&[900, 1000], 2), "two runs are chance");
    assert!(!told(&[900, 1000, 900, 390], 4), "others were on the device: one run on b needs fewer");
}

#[test]
fn a_command_that_memory_does_not_make_faster_is_not_the_storage_s() {
    let of_cpu = study(&[("a", 1000, 970, 4), ("(memory)", 980, 970, 0)], 8);
    let headline = Headline::of(&of_cpu);
    let words = &lines(&headline.times, &headline.standings)[0].1;
    assert!(words.starts_with("decides at most 2 %") && words.ends_with("compare CPUs instead"), "{words}");
    assert!(headline.standings.is_empty() && headline.headline.unwrap().starts_with("command takes 1"));
    // A single round in memory that was twice as fast may be chance.
    let few = study(&[("a", 1000, 100, 4), ("(memory)", 500, 100, 0)], 1);
    let words = lines(&Headline::of(&few).times, &[])[0].1.clone();
    assert!(words.starts_with("too few rounds to tell"), "{words}");
    let many_cpus = study(&[("a", 100, 300, 4), ("(memory)", 100, 300, 0)], 8);
    assert_eq!(Headline::of(&many_cpus).times[0].waits_s, None, "several processors worked");
}

#[test]
fn the_operations_of_a_server_are_told_by_kind() {
    let operation = |name: &str, count| WireOperation { name: name.into(), count, round_trip_ms: 2 * count };
    let names = ["GETATTR", "LOOKUP", "OPEN", "WRITE", "CLOSE"];
    let wire = WireTraffic {
        operations: Some(names.iter().zip([50, 40, 30, 20, 10]).map(|(name, count)| operation(name, count)).collect()),
        exclusive: true,
        ..WireTraffic::default()
    };
    let during = StorageTraffic { wire: RecordedFact::Value(wire), ..StorageTraffic::default() };
    assert_eq!(during.requests(), Some(150));
    let tree = TreeRecord { during, ..TreeRecord::default() };
    let words = behind(&tree).unwrap();
    assert_eq!(words, "GETATTR 50, LOOKUP 40, OPEN 30, WRITE 20 and 10 others (together 300 ms of round trips)");
    let of_daemon = |daemon_cpu_ns| {
        let daemon = WireTraffic { daemon_cpu_ns, ..WireTraffic::default() };
        let during = StorageTraffic { wire: RecordedFact::Value(daemon), ..StorageTraffic::default() };
        behind(&TreeRecord { during, ..TreeRecord::default() })
    };
    let too_short = "the daemon's CPU time is not visible, or too short for its clock";
    assert_eq!((of_daemon(Some(0)).as_deref(), of_daemon(None)), (Some(too_short), None), "never 0 ns");
    let daemon = WireTraffic { daemon_cpu_ns: Some(20 * MS), ..WireTraffic::default() };
    let during = StorageTraffic { wire: RecordedFact::Value(daemon), ..StorageTraffic::default() };
    assert_eq!((during.requests(), during.bytes()), (None, None), "a daemon counts no requests");
    let mut tree = TreeRecord { during, ..TreeRecord::default() };
    assert_eq!(behind(&tree).unwrap(), "the daemon used 20.0 ms of CPU");
    let moved = Some(ReadWrite { read: 0, write: 2_000_000 });
    let RecordedFact::Value(daemon) = &mut tree.during.wire else { panic!("it is seen") };
    daemon.daemon_bytes = moved;
    assert_eq!(behind(&tree).unwrap(), "the daemon used 20.0 ms of CPU, read 0 B and wrote 1.91 MiB itself");
}

#[test]
fn there_is_a_second_verdict_with_the_sync() {
    let mut study = study(&[("a", 1000, 100, 400), ("b", 2000, 100, 400), ("(memory)", 100, 90, 0)], 8);
    let synced = |study: &Study| {
        let headline = Headline::of(study);
        let [until_ended, with_sync] = &headline.standings[..] else { panic!("{:?}", headline.standings) };
        assert_eq!((until_ended.winner.as_deref(), with_sync.with_sync), (Some("a"), true));
        let line = headline.lines(study).into_iter().find(|(label, _)| *label == "+ sync");
        (with_sync.winner.clone(), line.map(|(_, words)| words))
    };
    assert_eq!(synced(&study), (Some("a".into()), None), "3 ms change nothing");
    for row in study.rows.iter_mut().filter(|row| row.target == 0) {
        row.tree.as_mut().unwrap().sync_ns = Some(4000 * MS);
    }
    let (winner, line) = synced(&study);
    assert_eq!(winner.as_deref(), Some("b"), "a had left it all in memory");
    assert!(line.unwrap().starts_with("command until all is durable: b wins (2.50x"));
}

/// A command is shown by its time, both while it runs and in the list of saved runs.
#[test]
fn a_run_is_known_by_its_times() {
    assert_eq!(crate::tables::summary(&row(0, 0, 1000, 100, 400)), "command 1.00 s");
    let digest = fsdyno_results::Digest::of(&study(&[("a", 1000, 100, 400), ("(memory)", 100, 90, 0)], 3));
    let listed = crate::tables::runs(&[digest], &std::collections::BTreeMap::new(), 80);
    assert!(listed.contains("command 1.00 s") && !listed.contains("ops/s"), "{listed}");
}

/// The median, computed independently of the program's code.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

/// Rounds of a place: wall, CPU and sync in ms, and requests. No two are equal, and the median is neither the first nor
/// the last.
const ROUNDS: [[u64; 4]; 9] = [
    [1700, 310, 40, 520],
    [1100, 390, 10, 480],
    [1900, 330, 90, 500],
    [1300, 350, 70, 410],
    [1600, 370, 20, 450],
    [1200, 340, 60, 470],
    [1800, 320, 80, 460],
    [1500, 380, 30, 430],
    [1400, 360, 50, 490],
];

/// A study in which place `a` took these rounds, `b` twice as long, and memory a tenth plus the CPU time; one run on
/// `b` failed.
fn of_rounds() -> Study {
    let mut study = study(&[("a", 0, 0, 1), ("b", 0, 0, 1), ("(memory)", 0, 0, 0)], ROUNDS.len() as u32);
    for row in &mut study.rows {
        let values @ [_, cpu, sync, requests] = ROUNDS[row.round as usize];
        let (elapsed_ns, cpu_ns) = (wall_ms(row.target, values) * MS, cpu * MS);
        row.phase = row.phase.take().map(|phase| PhaseRecord { elapsed_ns, cpu_ns, ..phase });
        let tree = super::tests::row(row.target, 0, 0, 0, requests * u64::from(row.target < 2)).tree;
        row.tree = tree.map(|tree| TreeRecord { sync_ns: Some(sync * MS), ..tree });
    }
    let failed = study.rows.iter_mut().find(|row| (row.target, row.round as usize) == FAILED).unwrap();
    let error = fsdyno_results::JobError { code: 0, function: "command".into(), text: "exit status 3".into() };
    failed.phase.as_mut().unwrap().error = Some(error);
    study
}

const FAILED: (usize, usize) = (1, 2);

fn wall_ms(target: usize, [wall, cpu, ..]: [u64; 4]) -> u64 {
    [wall, 2 * wall, wall / 10 + cpu][target]
}

/// A figure of each round of a place that did not fail.
fn of(target: usize, figure: impl Fn([u64; 4]) -> f64) -> Vec<f64> {
    let rounds = ROUNDS.iter().enumerate().filter(|(round, _)| (target, *round) != FAILED);
    rounds.map(|(_, values)| figure(*values)).collect()
}

/// The figures of a place by their JSON keys, computed from the rows.
fn by_the_rows(target: usize) -> Vec<(&'static str, f64)> {
    let walls = of(target, |values| wall_ms(target, values) as f64 / 1e3);
    let [least, most] = [f64::min, f64::max].map(|end| walls.iter().copied().reduce(end).unwrap());
    let interval = fsdyno_results::interval_of_rounds(&walls).expect("there are enough rounds");
    let mut all = vec![
        ("/runs", walls.len() as f64),
        ("/wall_s/median", middle(walls)),
        ("/wall_s/least", least),
        ("/wall_s/most", most),
        ("/wall_s/interval/low", interval.low),
        ("/wall_s/interval/high", interval.high),
        ("/wall_s/interval/confidence", interval.confidence),
        ("/cpu_s", middle(of(target, |[_, cpu, ..]| cpu as f64 / 1e3))),
        ("/waits_s", middle(of(target, |values| (wall_ms(target, values) - values[1]) as f64 / 1e3))),
        ("/sync_s", middle(of(target, |[_, _, sync, _]| sync as f64 / 1e3))),
    ];
    if target == 2 {
        return all;
    }
    // The sync adds ten requests of 4 KiB.
    let requests = middle(of(target, |[.., requests]| requests as f64 + 10.0));
    // Rounds are compared in pairs; the failed round has none.
    let ratios = of(target, |values| wall_ms(target, values) as f64 / wall_ms(2, values) as f64);
    let share = |ratio: f64| (1.0 - 1.0 / ratio) * 100.0;
    let of_ratios = fsdyno_stats::paired_ratio(&ratios, &vec![1.0; ratios.len()], 0.99).unwrap().interval;
    all.extend([
        ("/requests", requests),
        ("/bytes", requests * 4096.0),
        ("/storage_percent/about", share(middle(ratios))),
        ("/storage_percent/interval/low", share(of_ratios.low)),
        ("/storage_percent/interval/high", share(of_ratios.high)),
        ("/storage_percent/interval/confidence", of_ratios.confidence),
    ]);
    all
}

#[test]
fn each_number_of_the_summary_is_that_of_the_rows() {
    let json: serde_json::Value = serde_json::from_str(&Headline::json(&of_rounds())).unwrap();
    let summary = &json["summary"];
    for (target, name) in ["a", "b", "(memory)"].into_iter().enumerate() {
        let found = &summary["times"][target];
        let number = |key: &str| found.pointer(key).and_then(serde_json::Value::as_f64);
        let known = by_the_rows(target);
        for (key, due) in &known {
            let is = number(key).unwrap_or_else(|| panic!("{name} has no {key}: {found:#}"));
            assert!((is - due).abs() < 1e-3 * due.min(1.0), "{name}{key}: {is}, and {due} by the rows");
        }
        assert_eq!(count_numbers(found), known.len(), "a number that nobody compares: {found:#}");
        let test = summary["tests"].as_array().unwrap().iter().find(|test| test["target"] == name).unwrap();
        assert_eq!(test["wall_s"].as_f64(), number("/wall_s/median"), "of the test as of the command");
    }
    let with_sync = |[wall, _, sync, _]: [u64; 4]| (2 * wall + sync) as f64 / (wall + sync) as f64;
    let standings = summary["standings"].as_array().unwrap();
    for (standing, due) in standings.iter().zip([2.0, middle(of(1, with_sync))]) {
        assert!((standing["ratio"].as_f64().unwrap() - due).abs() < 1e-3, "{standing}, {due}");
        assert_eq!((standing["winner"].as_str(), standing["against"].as_str()), (Some("a"), Some("b")));
    }
    assert_eq!(standings.len(), 2, "until the command has ended, and until all is durable");
}

fn count_numbers(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Number(_) => 1,
        serde_json::Value::Array(all) => all.iter().map(count_numbers).sum(),
        serde_json::Value::Object(all) => all.values().map(count_numbers).sum(),
        _ => 0,
    }
}
