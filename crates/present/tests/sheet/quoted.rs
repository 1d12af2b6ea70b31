//! Draws studies of all questions whose tests were watched, and checks that each figure of a test that a finding or a limit
//! quotes is the table's, to the printed digit, or follows from it by arithmetic. FSDYNO_CASES=5000 draws more.

use std::collections::BTreeSet;

use fsdyno_findings::limits;
use fsdyno_present::Headline;
use fsdyno_results::evidence::{
    BlockDevice, DeviceCounters, Ledger, LedgerSample, Moment, Mount, ProcessCounters, RecordedFact, Storage,
    StorageClass, SystemCounters,
};
use fsdyno_results::{Access, Direction, Finding, JobRecord, Pace, Question, ReadWrite, Row, RunRecord, Study};
use fsdyno_text::quantity::{bytes_per_s, counted, number};
use testkit::draw::{Draw, TestWork, cases, numbers, printed, time_after};

use crate::drawn::drawn;

const TESTS: [(&str, TestWork, u32); 4] = [
    ("seq-write", TestWork::Write, 16),
    ("rand-read", TestWork::Read, 32),
    ("rand-write", TestWork::Write, 4),
    ("read-latency", TestWork::Read, 1),
];

/// The figures of a row, computed independently of those that the program makes.
struct ByHand {
    ios: f64,
    seconds: f64,
    iops: f64,
    bytes_per_s: f64,
    workers: f64,
    cpu_ns: f64,
}

/// Requests count when they complete, writes once they are durable, all workers over the longest time.
fn by_hand(jobs: &[JobRecord]) -> ByHand {
    let (mut ios, mut bytes, mut runtime_ms, mut close_ns, mut cpu_ns) = (0, 0, 0, 0, 0);
    for job in jobs {
        for (_, one) in job.directions.iter() {
            ios += one.clat.moments.count;
            bytes += one.bytes;
            runtime_ms = runtime_ms.max(one.runtime_ms);
        }
        let is_durable = job.final_sync_ns.is_some() && job.directions.write.ios > 0;
        close_ns = close_ns.max(job.close_ns.filter(|_| is_durable).unwrap_or(0));
        cpu_ns += job.user_ns + job.system_ns;
    }
    let (ios, seconds) = (ios as f64, runtime_ms as f64 / 1e3 + close_ns as f64 / 1e9);
    let workers = jobs.len() as f64;
    ByHand { ios, seconds, iops: ios / seconds, bytes_per_s: bytes as f64 / seconds, workers, cpu_ns: cpu_ns as f64 }
}

/// What was set for a run: a limit of the control group, or a pace of its own.
#[derive(Clone, Copy, Debug)]
enum Bound {
    None,
    GroupIos(u64),
    GroupBytes(u64),
    Pace(u64),
}

/// Adds what counters show of a run: one or two workers with direct I/O on the disk vda.
fn watch(draw: &mut Draw, run: &mut RunRecord) -> Bound {
    let reads = run.jobs[0].directions.read.ios > 0;
    let job = &mut run.jobs[0];
    job.setup.access = Access::named(if reads { "randread" } else { "randwrite" }).unwrap();
    job.setup.engine = "libaio".into();
    (job.plan.files, job.plan.file_count) = (vec!["/data/file".into()], 1);
    (job.plan.direct, job.plan.span_bytes, job.started_ms) = (Some(true), Some(1 << 40), Some(1000));
    (job.plan.end_sync, job.run_queue_wait_ns) = (job.final_sync_ns.is_some(), Some(draw.below(1_500_000_000)));
    job.user_ns = draw.below(2_000_000_000);
    // After a ramp more requests complete than begin.
    let in_flight = u64::from(job.setup.depth);
    let moved = &mut job.directions[if reads { Direction::Read } else { Direction::Write }];
    moved.ios = moved.ios.saturating_sub(draw.below(in_flight)).max(1);
    if draw.below(3) == 0 {
        let mut other = job.clone();
        other.directions[if reads { Direction::Read } else { Direction::Write }].runtime_ms -= 100;
        run.jobs.push(other);
    }
    let found = by_hand(&run.jobs);
    let near = draw.one_of(&[0.95, 1.0, 1.08, 0.2]);
    let (ios, bytes) = ((found.iops / near) as u64, (found.bytes_per_s / near) as u64);
    let bound = draw.one_of(&[Bound::None, Bound::GroupIos(ios), Bound::GroupBytes(bytes), Bound::Pace(ios)]);
    let letter = if reads { 'r' } else { 'w' };
    let of_group = match bound {
        Bound::GroupIos(ios) if ios > 0 => vec![format!("vda (254:0) {letter}iops={ios}")],
        Bound::GroupBytes(bytes) if bytes > 0 => vec![format!("vda (254:0) {letter}bps={bytes}")],
        _ => Vec::new(),
    };
    if let Bound::Pace(ios) = bound {
        let each = ios / run.jobs.len() as u64;
        let direction = if reads { Direction::Read } else { Direction::Write };
        for job in &mut run.jobs {
            let mut pace = Pace::default();
            pace.ios_per_s[direction] = Some(each);
            (job.plan.paced, job.plan.pace) = (true, Some(pace));
        }
    }
    let mut storage = Storage { asked_path: "/data".into(), class: StorageClass::Block, ..Storage::default() };
    storage.mount =
        RecordedFact::Value(Mount { mount_point: "/data".into(), fstype: "ext4".into(), ..Mount::default() });
    storage.devices = RecordedFact::Value(vec![BlockDevice { name: "vda".into(), ..BlockDevice::default() }]);
    storage.cgroup.io = RecordedFact::Value(of_group);
    let node = &mut run.nodes[0];
    (node.host.cpus, node.storages) = (Some(2), vec![storage]);
    node.ledger = Some(Ledger { samples: samples(draw, reads, &run.jobs), ..Ledger::default() });
    bound
}

fn samples(draw: &mut Draw, reads: bool, jobs: &[JobRecord]) -> Vec<LedgerSample> {
    let found = by_hand(jobs);
    let amount = |value: f64| ReadWrite {
        read: if reads { value as u64 } else { 0 },
        write: if reads { 0 } else { value as u64 },
    };
    let (bytes, ios) = (amount(found.bytes_per_s * found.seconds), amount(found.ios));
    let system =
        |busy_ms| SystemCounters { busy_ms: Some(busy_ms), total_ms: Some(busy_ms + 100), ..SystemCounters::default() };
    let device = DeviceCounters { name: "vda".into(), ..DeviceCounters::default() };
    let begin = LedgerSample {
        moment: Moment::Begin,
        process: RecordedFact::Value(ProcessCounters::default()),
        devices: RecordedFact::Value(vec![device.clone()]),
        system: SystemCounters { busy_ms: Some(0), total_ms: Some(0), ..SystemCounters::default() },
        ..LedgerSample::default()
    };
    let mut device = device;
    let parts = draw.one_of(&[1, 1, 3]);
    (device.done.bytes, device.done.operations) = (bytes, ios.map(|ios| ios * parts));
    let queued_s = found.seconds * found.workers * f64::from(jobs[0].setup.depth) * draw.one_of(&[0.1, 0.9, 2.0]);
    device.weighted_ms = (queued_s * 1e3) as u64;
    let mut end = LedgerSample {
        at_ms: (found.seconds * 1e3) as u64,
        moment: Moment::End,
        devices: RecordedFact::Value(vec![device]),
        system: system(draw.one_of(&[10, 4000])),
        ..begin.clone()
    };
    (end.application.bytes, end.application.operations) = (bytes, ios);
    end.process = RecordedFact::Value(ProcessCounters { storage_bytes: bytes, ..ProcessCounters::default() });
    vec![begin, end]
}

/// The figures before and after `words`; `None`: the sentence has not these words.
fn figures_beside<'t>(text: &'t str, words: &str) -> Option<(&'t str, f64)> {
    let (before, after) = text.split_once(words)?;
    Some((before, *numbers(after).first()?))
}

/// Checks one sentence; returns whether it quotes a figure that the table has.
fn quotes(text: &str, found: &ByHand, bound: Bound, said: &dyn Fn() -> String) -> bool {
    let (ios_asked, bytes_asked) = match bound {
        Bound::GroupIos(ios) => (ios as f64, 0.0),
        Bound::GroupBytes(bytes) => (0.0, bytes as f64),
        Bound::Pace(ios) => ((ios / found.workers as u64) as f64 * found.workers, 0.0),
        Bound::None => (0.0, 0.0),
    };
    let share = |shown: f64, of: f64| assert!((shown - of * 100.0).abs() <= 0.51, "{shown} %, not {of}: {}", said());
    if let Some((reached, percent)) =
        figures_beside(text, " I/Os per second is ").or_else(|| figures_beside(text, " I/Os per second, "))
    {
        assert_eq!(reached, number(found.iops), "{}", said());
        share(percent, found.iops / ios_asked);
    } else if let Some((reached, percent)) =
        figures_beside(text, " is ").or_else(|| figures_beside(text, ", ")).filter(|_| text.contains("bps="))
    {
        assert_eq!(reached, bytes_per_s(found.bytes_per_s), "{}", said());
        share(percent, found.bytes_per_s / bytes_asked);
    } else if let Some((words, _)) = text.split_once(" I/Os per second that it asks for") {
        assert_eq!(words, format!("{} of the {}", number(found.iops), number(ios_asked)), "{}", said());
    } else if let Some((ios, _)) = text.split_once(" in ").filter(|_| text.ends_with("too little for a conclusion")) {
        assert_eq!(ios, counted(found.ios as u64, "I/O"), "{}", said());
    } else if let Some(each_ns) = time_after(text, " of the time: ").filter(|_| text.contains(" of CPU per I/O")) {
        let by_hand = found.cpu_ns / found.ios;
        assert!(printed(each_ns, by_hand), "{by_hand}: {}", said());
        assert!(text.ends_with(&format!("at most {} per second", number(1e9 / by_hand))), "{}", said());
    } else {
        return false;
    }
    true
}

/// Whether the data of a finding that name a rate of the test have the table's.
fn data(finding: &Finding, found: &ByHand, said: &dyn Fn() -> String) {
    for data in
        finding.numbers.iter().filter(|data| data.name == "reached" && !finding.cause.contains("device requests"))
    {
        let table = if data.unit == "B/s" { found.bytes_per_s } else { found.iops };
        assert!((data.value / table - 1.0).abs() < 1e-6, "{table} and {}: {}", data.value, said());
    }
    for data in finding.numbers.iter().filter(|data| data.unit == "I/Os" && data.name == "I/Os") {
        assert_eq!(data.value, found.ios, "{}", said());
    }
}

/// The cells of the row's own table.
fn cells(study: &Study, row: &Row) -> String {
    let alone = Study { rows: vec![row.clone()], ..study.clone() };
    fsdyno_present::tables::text(&alone, 4000)
}

#[test]
fn findings_quote_the_figures_of_the_table() {
    let (mut seen, mut quoted) = (BTreeSet::new(), 0);
    let asked =
        [Question::Measure, Question::Compare, Question::Check, Question::Sweep, Question::Scale, Question::Curve];
    for (case, mut draw) in cases(120) {
        let question = asked[case as usize % asked.len()];
        let places: &[&str] = if question == Question::Compare { &["a", "b"] } else { &["a"] };
        let mut study = drawn(&mut draw, question, places, &TESTS, 2);
        let mut bounds = Vec::new();
        for row in &mut study.rows {
            let ran = row.run.as_mut().filter(|run| run.jobs[0].directions.iter().any(|(_, one)| one.ios > 0));
            bounds.push(ran.map(|run| watch(&mut draw, run)));
        }
        for (row, bound) in study.rows.iter().zip(bounds) {
            let (Some(run), Some(bound)) = (&row.run, bound) else { continue };
            let found = by_hand(&run.jobs);
            let findings = fsdyno_findings::of_run(run);
            let limit = limits::of_run(run).ok().map(|limit| limit.evidence.to_string());
            let sentences = findings.iter().map(|finding| finding.cause.clone()).chain(limit);
            for text in sentences {
                let said = || format!("case {case}, {question:?}, {} {bound:?}: {text}", row.pattern);
                if quotes(&text, &found, bound, &said) {
                    quoted += 1;
                }
            }
            for finding in &findings {
                let said = || format!("case {case}, {question:?}, {} {bound:?}: {}", row.pattern, finding.cause);
                data(finding, &found, &said);
                seen.insert(finding.id.clone());
            }
            // What was computed here is what people read.
            let answer = Headline::of(&Study { rows: vec![row.clone()], ..study.clone() });
            let shown = answer.tests.iter().find_map(|test| test.iops);
            let is_it = shown.is_none_or(|iops| (iops - found.iops).abs() <= found.iops * 1e-5 + 0.0006);
            assert!(is_it, "case {case}, {question:?}: {shown:?}, not {}\n{}", found.iops, cells(&study, row));
        }
    }
    for id in ["throttled", "too-short", "generator-bound"] {
        assert!(seen.contains(id), "no {id} was drawn, only {seen:?}");
    }
    assert!(quoted > 300, "{quoted}");
}
