//! Draws the passes of phases and the runs of commands with what was counted beside them, and checks that each figure that a
//! finding on them quotes is the one that follows from the passes that count, to the printed digit. FSDYNO_CASES=5000 draws
//! more.

use std::collections::BTreeSet;

use fsdyno_present::Headline;
use fsdyno_results::evidence::{BlockDevice, RecordedFact, Storage, StorageClass};
use fsdyno_results::{
    ClockFacts, DeviceTraffic, Finding, PhaseConditions, PhaseRecord, Question, ReadWrite, Row, Study, TreeRecord,
};
use fsdyno_stats::median;
use fsdyno_text::quantity::{bytes_per_s, count, counted, latency, number};
use testkit::draw::{Draw, TestWork, cases, numbers};

use crate::drawn::drawn;

const MIB: u64 = 1 << 20;

/// The phases: plain operations, synced ones, and files that are read cold.
const PHASES: [(&str, TestWork, u32); 3] =
    [("create", TestWork::Phase, 1), ("fsync-file", TestWork::Phase, 1), ("open-read", TestWork::Phase, 1)];

fn storage() -> Storage {
    let device = BlockDevice { name: "vda".into(), ..BlockDevice::default() };
    Storage { class: StorageClass::Block, devices: RecordedFact::Value(vec![device]), ..Storage::default() }
}

/// Adds what was counted during a pass.
fn watch(draw: &mut Draw, phase: &mut PhaseRecord) {
    let (elapsed_ns, operations) = (phase.elapsed_ns, phase.operations);
    phase.threads = draw.one_of(&[1, 4]);
    let mut part = |of: u64, shares: &[f64]| (of as f64 * draw.one_of(shares) * (0.9 + 0.1 * draw.share())) as u64;
    let total_ms = elapsed_ns / 500_000;
    let reads = phase.name == "open-read";
    let foreign = [part(200 * MIB, &[0.0, 0.0, 1.0]), part(200 * MIB, &[0.0, 0.0, 1.0])];
    let own =
        ReadWrite { read: part(operations * 4096, &[0.05, 1.0]), write: part(operations * 4096, &[0.02, 0.2, 1.0]) };
    let own = ReadWrite { read: if reads { own.read } else { 0 }, write: if reads { 0 } else { own.write } };
    phase.conditions = Some(PhaseConditions {
        between_ns: elapsed_ns,
        run_queue_wait_ns: Some(part(elapsed_ns * u64::from(phase.threads), &[0.0, 0.1, 0.6])),
        busy_ms: Some(total_ms / 2),
        steal_ms: Some(part(total_ms, &[0.0, 0.0, 0.3])),
        total_ms: Some(total_ms),
        throttled_us: Some(part(elapsed_ns / 1000, &[0.0, 0.0, 0.0, 0.4])),
        device: RecordedFact::Value(DeviceTraffic {
            name: "vda".into(),
            bytes: own.plus(foreign.into()),
            flushes: Some(part(operations, &[0.1, 1.0])),
        }),
        own_storage_bytes: Some(own),
        foreign_bytes_per_s: RecordedFact::Value([0.0, draw.one_of(&[0.0, 0.0, 0.0, 50e6])].into()),
        ..PhaseConditions::default()
    });
    if reads {
        (phase.bytes, phase.cache) = (Some(operations * 4096), Some("cold".into()));
    }
}

/// A size, in powers of two.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (0..5).rev().find(|power| bytes >= 1u64 << (10 * power)).unwrap_or(0);
    let value = bytes as f64 / (1u64 << (10 * power)) as f64;
    if power > 0 && value < 99.95 {
        format!("{value:.1} {}", units[power])
    } else {
        format!("{value:.0} {}", units[power])
    }
}

/// A share: whole percent, but not 0 or 100 where it is less or more.
fn percent(share: f64) -> String {
    match share * 100.0 {
        all if (99.5..100.0).contains(&all) => format!("{:.2} %", all.min(99.99)),
        little if little > 0.0 && little < 0.5 => format!("{:.2} %", little.max(0.01)),
        part => format!("{part:.0} %"),
    }
}

/// Sums over the passes that count: those that did something and did not fail.
struct Sums<'a> {
    passes: Vec<&'a PhaseRecord>,
}

impl<'a> Sums<'a> {
    fn of(rows: &[&'a Row]) -> Sums<'a> {
        let passes = rows.iter().filter_map(|row| row.phase.as_ref());
        Sums { passes: passes.filter(|phase| phase.operations > 0 && phase.error.is_none()).collect() }
    }

    fn all(&self, of: impl Fn(&PhaseRecord) -> u64) -> u64 {
        self.passes.iter().map(|phase| of(phase)).sum()
    }

    fn seen(&self, of: impl Fn(&PhaseConditions) -> u64) -> u64 {
        self.all(|phase| of(phase.conditions.as_ref().unwrap()))
    }

    fn operations(&self) -> u64 {
        self.all(|phase| phase.operations)
    }

    fn thread_ns(&self) -> u64 {
        self.all(|phase| phase.elapsed_ns * u64::from(phase.threads))
    }

    fn device(&self, of: fn(&DeviceTraffic) -> u64) -> u64 {
        self.seen(|seen| of(seen.device.value().unwrap()))
    }
}

/// The figures that a finding on a phase must quote, in their order.
fn of_phase(study: &Study, sums: &Sums<'_>, finding: &Finding) -> Vec<String> {
    let operations = sums.operations();
    let own = |of: fn(ReadWrite<u64>) -> u64| sums.seen(|seen| of(seen.own_storage_bytes.unwrap()));
    match finding.id.as_str() {
        "too-short" => {
            vec![counted(operations, "operation"), latency(sums.all(|phase| phase.elapsed_ns) as f64)]
        }
        "too-noisy" => {
            let rates: Vec<f64> = sums.passes.iter().map(|phase| phase.rate_per_s().unwrap()).collect();
            let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(low, high), one| (low.min(*one), high.max(*one)));
            vec![rates.len().to_string(), number(low), number(high)]
        }
        "cpu-starved" if finding.cause.contains("throttled") => {
            let between_us = sums.seen(|seen| seen.between_ns / 1000);
            vec![percent((sums.seen(|seen| seen.throttled_us.unwrap()) as f64 / between_us as f64).min(1.0))]
        }
        "cpu-starved" if finding.cause.contains("hypervisor") => {
            let total_ms = sums.seen(|seen| seen.total_ms.unwrap()) as f64;
            vec![percent((sums.seen(|seen| seen.steal_ms.unwrap()) as f64 / total_ms).min(1.0))]
        }
        "cpu-starved" => {
            let waited_ns = sums.seen(|seen| seen.run_queue_wait_ns.unwrap()) as f64;
            vec![percent((waited_ns / sums.thread_ns() as f64).min(1.0))]
        }
        "clock" => {
            let (cost_ns, each_ns) =
                (study.host.clock.as_ref().unwrap().cost_ns, sums.thread_ns() as f64 / operations as f64);
            vec![latency(cost_ns), percent(2.0 * cost_ns / each_ns), latency(each_ns)]
        }
        "foreign-load" if finding.cause.starts_with("before") => {
            let before = sums.passes[0].conditions.as_ref().unwrap().foreign_bytes_per_s.value().unwrap();
            vec![bytes_per_s(before.read + before.write)]
        }
        "foreign-load" => {
            // Blocks of names and inodes are the phase's own.
            let synced = finding.job.as_deref() == Some("fsync-file");
            let blocks = operations * if synced { 64 << 10 } else { 8 << 10 };
            let read = sums.device(|device| device.bytes.read) - own(|own| own.read);
            let write = sums.device(|device| device.bytes.write).saturating_sub(own(|own| own.write) + blocks);
            vec![size(read + write)]
        }
        "page-cache" => vec![counted(operations, "file"), size(own(|own| own.read))],
        "sync-ignored" => vec![count(operations), size(sums.device(|device| device.bytes.write))],
        "sync-not-flushed" => vec![count(operations), count(sums.device(|device| device.flushes.unwrap()))],
        other => panic!("no arithmetic for {other}: {}", finding.cause),
    }
}

/// Checks that the sentence has these figures, in this order, and no other.
fn check(finding: &Finding, expected: &[String], said: &dyn Fn() -> String) {
    // The limit from which on results suffer is no figure of the test.
    let text = finding.cause.split(" (results suffer").next().unwrap();
    assert_eq!(numbers(text), numbers(&expected.join(" ")), "{expected:?}: {}", said());
    assert!(expected.iter().all(|figure| text.contains(figure.as_str())), "{expected:?}: {}", said());
}

#[test]
fn findings_on_phases_quote_the_passes_that_count() {
    let (mut seen, mut quoted) = (BTreeSet::new(), 0);
    for (case, mut draw) in cases(120) {
        let rounds = draw.one_of(&[1, 3, 6]);
        let mut study = drawn(&mut draw, Question::SmallFiles, &["a"], &PHASES, rounds);
        study.targets[0].storage = storage();
        let cost_ns = draw.one_of(&[20.0, 900.0]);
        let clock = ClockFacts { source: "tsc".into(), cost_ns, frequency_hz: None, drift_ppm: None };
        study.host.clock = Some(clock);
        study.rows.iter_mut().filter_map(|row| row.phase.as_mut()).for_each(|phase| watch(&mut draw, phase));
        for (pattern, ..) in PHASES {
            let rows: Vec<&Row> = study.repeats(0, pattern).collect();
            let sums = Sums::of(&rows);
            for finding in fsdyno_findings::of_phase_rows(&study, &rows) {
                let said = || format!("case {case}, {pattern}: {}", finding.cause);
                check(&finding, &of_phase(&study, &sums, &finding), &said);
                seen.insert(finding.id.clone());
                quoted += 1;
            }
            // The table's rate is that of the same passes.
            let counts = |row: &&&Row| crate::drawn::counts(row);
            let rates = rows.iter().filter(counts).filter_map(|row| row.phase.as_ref()?.rate_per_s());
            let rate = median(&rates.collect::<Vec<_>>());
            let shown = Headline::of(&study).tests.into_iter().find(|test| test.name == pattern);
            let shown = shown.filter(|_| rate.is_some()).and_then(|test| test.iops);
            assert_eq!(shown.map(number), rate.map(number), "case {case}, {pattern}");
        }
    }
    let all = ["clock", "cpu-starved", "foreign-load", "page-cache", "sync-ignored", "sync-not-flushed", "too-noisy"];
    for id in all.into_iter().chain(["too-short"]) {
        assert!(seen.contains(id), "no {id} was drawn, only {seen:?}");
    }
    assert!(quoted > 200, "{quoted}");
}

/// Adds what was counted during a run of a command.
fn watch_command(draw: &mut Draw, row: &mut Row) {
    let (Some(phase), Some(tree)) = (row.phase.as_mut(), row.tree.as_mut()) else { return };
    let mut part = |of: u64, shares: &[f64]| (of as f64 * draw.one_of(shares) * (0.9 + 0.1 * draw.share())) as u64;
    tree.machine_total_ns = Some(phase.elapsed_ns * 2);
    tree.machine_busy_ns = Some(part(phase.elapsed_ns * 2, &[0.5, 0.99, 1.0]));
    tree.machine_steal_ns = Some(part(phase.elapsed_ns * 2, &[0.0, 0.0, 0.3]));
    tree.throttled_ns = Some(part(phase.elapsed_ns, &[0.0, 0.0, 0.5]));
    tree.own_ns = part(phase.elapsed_ns, &[0.4]);
    tree.left_running = part(4, &[0.0, 0.0, 1.0]);
    (tree.left_names, tree.left_ended) = (vec!["sleep".into()], tree.left_running == 1);
    let moved = part(300 * MIB, &[0.1, 1.0]);
    tree.call_bytes = Some(ReadWrite { read: moved, write: moved });
    tree.storage_bytes = Some(ReadWrite { read: part(moved, &[0.5]), write: part(moved, &[0.01, 1.0, 4.0]) });
    tree.cancelled_bytes = Some(part(moved, &[0.0, 0.1]));
    tree.foreign_bytes_per_s = Some(part(100 * MIB, &[0.0, 0.0, 1.0]));
}

/// The figures that a finding on one or more runs of a command must quote, in their order.
fn of_command(rows: &[&Row], finding: &Finding) -> Vec<String> {
    let (phase, tree) = (rows[0].phase.as_ref().unwrap(), rows[0].tree.as_ref().unwrap());
    let phases = |of: fn(&PhaseRecord) -> u64| rows.iter().map(|row| of(row.phase.as_ref().unwrap())).sum::<u64>();
    let trees = |of: fn(&TreeRecord) -> u64| rows.iter().map(|row| of(row.tree.as_ref().unwrap())).sum::<u64>();
    let share = |part: u64, of: u64| percent((part as f64 / of as f64).min(1.0));
    let (own, total) = (tree.storage_bytes.unwrap(), trees(|tree| tree.machine_total_ns.unwrap()));
    let device = |tree: &TreeRecord| tree.during.devices.value().unwrap().bytes;
    match finding.id.as_str() {
        "cpu-starved" if finding.cause.contains("throttled") => {
            vec![share(trees(|tree| tree.throttled_ns.unwrap()), phases(|phase| phase.elapsed_ns))]
        }
        "cpu-starved" if finding.cause.contains("hypervisor") => {
            vec![share(trees(|tree| tree.machine_steal_ns.unwrap()), total)]
        }
        "cpu-starved" => {
            vec![share(trees(|tree| tree.machine_busy_ns.unwrap()) - phases(|phase| phase.cpu_ns), total)]
        }
        "foreign-load" if finding.cause.starts_with("before") => {
            vec![bytes_per_s(tree.foreign_bytes_per_s.unwrap() as f64)]
        }
        "foreign-load" => {
            let writes = if own.write == 0 { device(tree).write } else { 0 };
            vec![size(device(tree).read.saturating_sub(own.read) + writes), size(own.read + own.write)]
        }
        "left-running" => {
            let left = if tree.left_running == 1 {
                "1 process".to_owned()
            } else {
                format!("{} processes", tree.left_running)
            };
            let until = if tree.left_ended { None } else { Some(latency(phase.elapsed_ns as f64)) };
            [latency(tree.own_ns as f64), left].into_iter().chain(until).collect()
        }
        "wrote-elsewhere" => {
            let stored = device(tree).write + tree.in_sync.devices.value().unwrap().bytes.write;
            vec![size(own.write - tree.cancelled_bytes.unwrap().min(own.write)), size(stored)]
        }
        other => panic!("no arithmetic for {other}: {}", finding.cause),
    }
}

/// The bytes of a command's calls in the rounds that count, and what is far from them.
fn of_other_work(study: &Study, row: &Row, finding: &Finding) -> Vec<String> {
    let usual = |target: usize, of: fn(&TreeRecord) -> u64| {
        let rows = study.repeats(target, &row.pattern).filter(|row| row.first_error().is_none());
        median(&rows.filter_map(|row| Some(of(row.tree.as_ref()?) as f64)).collect::<Vec<_>>()).unwrap() as u64
    };
    let calls: fn(&TreeRecord) -> u64 = |tree| tree.call_bytes.unwrap().sum();
    let dirty: fn(&TreeRecord) -> u64 = |tree| tree.storage_bytes.unwrap().write;
    let (one, other) = match finding.cause.as_str() {
        cause if cause.contains("in this run") => (calls(row.tree.as_ref().unwrap()), usual(row.target, calls)),
        cause if cause.contains("had storage write") => (usual(row.target, dirty), usual(0, dirty)),
        _ => (usual(row.target, calls), usual(0, calls)),
    };
    vec![size(one), size(other), percent(one.abs_diff(other) as f64 / one.max(other) as f64)]
}

#[test]
fn findings_on_commands_quote_the_runs_that_count() {
    const COMMANDS: [(&str, TestWork, u32); 1] = [("tar", TestWork::Command, 1)];
    let (mut seen, mut quoted) = (BTreeSet::new(), 0);
    for (case, mut draw) in cases(200) {
        let rounds = draw.one_of(&[1, 3, 6]);
        let mut study = drawn(&mut draw, Question::Time, &["a", "b"], &COMMANDS, rounds);
        study.targets.iter_mut().for_each(|target| target.storage = storage());
        study.rows.iter_mut().for_each(|row| watch_command(&mut draw, row));
        let mut checked = |finding: &Finding, expected: Vec<String>| {
            let said = || format!("case {case}: {}", finding.cause);
            check(finding, &expected, &said);
            seen.insert(finding.id.clone());
            quoted += 1;
        };
        for row in &study.rows {
            for finding in fsdyno_findings::of_command(&study.targets[row.target], row) {
                checked(&finding, of_command(&[row], &finding));
            }
        }
        for (row, finding) in fsdyno_findings::between_commands(&study) {
            let row = &study.rows[row];
            let runs = study.repeats(row.target, &row.pattern).filter(|row| row.first_error().is_none());
            let expected = match finding.id.as_str() {
                "work-differs" => of_other_work(&study, row, &finding),
                _ => of_command(&runs.collect::<Vec<_>>(), &finding),
            };
            checked(&finding, expected);
        }
    }
    for id in ["cpu-starved", "foreign-load", "left-running", "work-differs", "wrote-elsewhere"] {
        assert!(seen.contains(id), "no {id} was drawn, only {seen:?}");
    }
    assert!(quoted > 300, "{quoted}");
}
