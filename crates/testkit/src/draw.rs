//! Draws random rounds of tests, reproducibly, for checks that sentences hold for any rounds.

use fsdyno_results::evidence::RecordedFact;
use fsdyno_results::{
    DeviceWork, Finding, Histogram, JobError, JobRecord, JobSetup, Latency, Moments, PhaseRecord, Row, RunRecord,
    Severity, TreeRecord, bucket_of,
};

/// A source of random draws.
#[derive(Clone, Debug)]
pub struct Draw(u64);

/// The cases of a property with their numbers: `FSDYNO_CASES` of them, or `usual`.
pub fn cases(usual: u64) -> impl Iterator<Item = (u64, Draw)> {
    let cases = std::env::var("FSDYNO_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    (1..=cases).map(|case| (case, Draw::of(case)))
}

/// The work of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestWork {
    /// Reads.
    Read,
    /// Writes, with a sync at the end.
    Write,
    /// Writes that are each synced.
    SyncedWrite,
    /// Operations on names.
    Phase,
    /// A command of the user's.
    Command,
}

/// A test whose rounds are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Test<'a> {
    /// Index of the target.
    pub target: usize,
    /// Name of the test.
    pub pattern: &'a str,
    /// What the test does.
    pub does: TestWork,
    /// Requests in flight.
    pub depth: u32,
    /// Bytes of each request.
    pub block_bytes: u64,
    /// Rounds of the test.
    pub rounds: u32,
    /// Requests per second, approximately.
    pub per_s: f64,
}

/// The rate, the latencies and the queue of a round.
#[derive(Clone, Copy)]
struct Shape {
    per_s: f64,
    /// Latency of the slowest tenth of requests, as a multiple of the others'.
    tail: u64,
    /// Share of the iodepth that was in flight.
    filled: f64,
}

impl Draw {
    /// The draws of the case with this number.
    pub fn of(case: u64) -> Draw {
        Draw(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(case) | 1)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// One of these values.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A number from 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    /// The rounds of a test: noisy, and some of them missing, failed, invalid or with a caution.
    pub fn rounds(&mut self, test: &Test<'_>) -> Vec<Row> {
        let scatter = self.one_of(&[0.0, 0.01, 0.1, 1.5]);
        let mut shape = Shape { per_s: 0.0, tail: self.one_of(&[1, 1, 3, 60]), filled: self.one_of(&[1.0, 1.0, 0.4]) };
        // Some tests have only good rounds, some only bad ones.
        let fates = self.one_of(&[&["ok"][..], &["ok", "caution"], &FATES, &FATES, &["invalid", "failed", "missing"]]);
        let mut rows = Vec::new();
        for round in 0..test.rounds {
            let fate = self.one_of(fates);
            let held_up = if self.below(12) == 0 { 0.05 } else { 1.0 };
            shape.per_s = test.per_s * (scatter * (2.0 * self.share() - 1.0)).exp() * held_up;
            if fate != "missing" {
                rows.push(self.row(test, round, fate, shape));
            }
        }
        rows
    }

    fn row(&mut self, test: &Test<'_>, round: u32, fate: &str, shape: Shape) -> Row {
        let severity = match fate {
            "invalid" => Some((Severity::Invalid, "page-cache")),
            "caution" => Some((Severity::Caution, self.one_of(&["cpu-starved", "too-short", "foreign-load"]))),
            _ => None,
        };
        let cause = format!("round {round} is one of doubt");
        let findings = severity.map(|(severity, id)| Finding::new(id, severity, cause, "look at it"));
        let error = (fate == "failed").then(|| JobError { code: 5, function: "read".into(), text: "broken".into() });
        let row = Row {
            target: test.target,
            pattern: test.pattern.into(),
            title: test.pattern.into(),
            round,
            command: vec!["fsdyno".into(), format!("--name={}", test.pattern)],
            findings: findings.into_iter().collect(),
            ..Row::default()
        };
        let nothing = fate == "nothing";
        match test.does {
            TestWork::Phase => Row { phase: Some(self.phase(test, shape, (error, nothing))), ..row },
            TestWork::Command => {
                let phase = Some(self.command(test, shape, (error, nothing)));
                Row { phase, tree: Some(self.tree()), ..row }
            }
            _ => Row { run: Some(self.run(test, shape, (error, nothing))), ..row },
        }
    }

    /// Two seconds.
    fn run(&mut self, test: &Test<'_>, shape: Shape, (error, nothing): (Option<JobError>, bool)) -> RunRecord {
        let ios = if nothing { 0 } else { ((shape.per_s * 2.0) as u64).max(1) };
        let setup = JobSetup { depth: test.depth, ..JobSetup::default() };
        let mut job =
            JobRecord { error, job_runtime_ms: 2000, user_ns: ios * 900, ..JobRecord::new(test.pattern, 1, setup) };
        job.members = 1;
        job.setup.block_sizes.read = (test.block_bytes, test.block_bytes);
        job.setup.block_sizes.write = (test.block_bytes, test.block_bytes);
        let mean_ns = (f64::from(test.depth) * shape.filled).max(1.0) * 2e9 / ios.max(1) as f64;
        let mut whole = latency(mean_ns, shape.tail, ios);
        let moved = if test.does == TestWork::Read { &mut job.directions.read } else { &mut job.directions.write };
        (moved.ios, moved.bytes, moved.runtime_ms) = (ios, ios * test.block_bytes, if nothing { 0 } else { 2000 });
        if test.does == TestWork::SyncedWrite {
            job.sync.ios = ios;
            job.sync.lat = std::mem::replace(&mut whole, latency(900.0, 1, ios));
            job.plan.sync_every_writes = 1;
        }
        if test.does == TestWork::Write && !nothing {
            job.close_ns = Some(self.below(3) * 200_000_000);
            job.final_sync_ns = Some(1_000_000);
        }
        moved.clat = whole.clone();
        moved.lat = whole;
        let mut run = RunRecord::new("fio-3.42-fsdyno", 1_795_262_548_563);
        run.jobs = vec![job];
        run
    }

    fn phase(&mut self, test: &Test<'_>, shape: Shape, (error, nothing): (Option<JobError>, bool)) -> PhaseRecord {
        // Some phases were stopped before their end.
        let operations = if nothing { 0 } else { self.one_of(&[1001, 1001, 1001, 1001, 300, 12]) };
        let failures = if error.is_some() { 1 + self.below(3) } else { 0 };
        PhaseRecord {
            name: test.pattern.into(),
            operations,
            failures,
            error,
            threads: 1,
            elapsed_ns: (operations as f64 * 1e9 / shape.per_s) as u64,
            latency: latency(1e9 / shape.per_s, shape.tail, operations),
            ..PhaseRecord::default()
        }
    }

    fn command(&mut self, test: &Test<'_>, shape: Shape, (error, nothing): (Option<JobError>, bool)) -> PhaseRecord {
        let elapsed_ns = (1e9 / shape.per_s) as u64;
        PhaseRecord {
            name: test.pattern.into(),
            operations: u64::from(!nothing && error.is_none()),
            failures: u64::from(error.is_some()),
            error,
            threads: 1,
            elapsed_ns,
            cpu_ns: elapsed_ns / self.one_of(&[1, 2, 40]),
            ..PhaseRecord::default()
        }
    }

    fn tree(&mut self) -> TreeRecord {
        let mut tree = TreeRecord { sync_ns: Some(self.below(1_000_000_000)), ..TreeRecord::default() };
        let scale = self.one_of(&[1, 30, 4000]);
        let mut work = || {
            let requests = [self.below(30) * scale, self.below(30) * scale].into();
            RecordedFact::Value(DeviceWork {
                requests,
                bytes: [self.below(1 << 30), self.below(1 << 30)].into(),
                flushes: None,
            })
        };
        (tree.during.devices, tree.in_sync.devices) = (work(), work());
        tree
    }
}

/// The latencies of `count` requests with this mean. The slowest tenth takes `tail` times as long as the others.
fn latency(mean_ns: f64, tail: u64, count: u64) -> Latency {
    let mut all = Latency { moments: Moments::default(), histogram: Some(Histogram::new()) };
    let slow = count / 10;
    let each_ns = mean_ns * count as f64 / ((count - slow) as f64 + (slow * tail) as f64).max(1.0);
    for (value, many) in [(each_ns as u64, count - slow), (each_ns as u64 * tail, slow)] {
        if many > 0 {
            let (wide, times) = (u128::from(value), u128::from(many));
            let (sum, sum_of_squares) = (wide * times, wide * wide * times);
            all.moments.merge(&Moments { count: many, min: value, max: value, sum, sum_of_squares });
            all.histogram.as_mut().expect("it has one").add(bucket_of(value), many);
        }
    }
    all
}

/// Every number in a text, without the commas between thousands.
pub fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|letter: char| !(letter.is_ascii_digit() || ".,".contains(letter)));
    words.filter_map(|word| word.trim_matches(['.', ',']).replace(',', "").parse().ok()).collect()
}

/// The number after these words, up to the next blank; `None`: the words are not there.
pub fn number_after(text: &str, words: &str) -> Option<f64> {
    let rest = text.split_once(words)?.1;
    numbers(rest.split_whitespace().next()?).first().copied()
}

/// The time after these words, ns: `16.6 ms`.
pub fn time_after(text: &str, words: &str) -> Option<f64> {
    let mut rest = text.split_once(words)?.1.split_whitespace();
    let value = *numbers(rest.next()?).first()?;
    let unit: String = rest.next()?.chars().take_while(|letter| letter.is_alphabetic()).collect();
    let (_, size) = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter().find(|(name, _)| *name == unit)?;
    Some(value * size)
}

/// Whether a printed number of three digits or more can stand for this value.
pub fn printed(shown: f64, of: f64) -> bool {
    (shown - of).abs() <= of.abs() * 0.0056 + 0.0006
}

/// Numbers of a text that nothing explains: neither one of these words, which hold numbers of their own, nor a figure, nor a
/// time in ns, which the text may show in any unit.
pub fn unexplained(text: &str, words: &[&str], figures: &[f64], times_ns: &[f64]) -> Vec<f64> {
    let text = words.iter().fold(text.to_owned(), |text, word| text.replace(word, " "));
    let in_units = times_ns.iter().flat_map(|ns| [1.0, 1e3, 1e6, 1e9].map(|unit| ns / unit));
    let known: Vec<f64> = figures.iter().copied().chain(in_units).collect();
    // Three digits, or all before the point; no more than three behind it.
    let is_shown = |shown: f64, of: f64| {
        let unit = 10f64.powf(of.abs().max(1e-9).log10().floor() - 2.0).clamp(0.001, 1.0);
        (shown - of).abs() <= 0.5001 * unit
    };
    numbers(&text).into_iter().filter(|shown| !known.iter().any(|of| is_shown(*shown, *of))).collect()
}

/// The possible states of a drawn round.
const FATES: [&str; 10] = ["ok", "ok", "ok", "ok", "caution", "invalid", "invalid", "failed", "missing", "nothing"];
