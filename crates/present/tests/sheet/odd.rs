//! Makes studies other than comparisons, and extreme ones.

use fsdyno_results::evidence::{Layer, Storage};
use fsdyno_results::{
    Access, Bound, Confidence, Finding, JobError, JobRecord, JobSetup, PhaseRecord, Question, Requirement,
    RequirementKind, Row, RunRecord, Severity, Study, Verdict, VerdictRow, test_name,
};

use crate::fixture::{self, STARTED_MS};

/// A text that must never become markup.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>\"'&<img src=x onerror=alert(2)>\u{202e}\u{0}-->";

/// A name of 4,000 characters without a break.
pub(crate) fn long_name() -> String {
    "long".repeat(1000)
}

/// A study in which nothing was run and nothing is known.
pub(crate) fn nothing() -> Study {
    Study { command: Vec::new(), ..fixture::empty(Question::Compare) }
}

/// A study of one row with nothing visible.
pub(crate) fn one_bare_row() -> Study {
    let mut job = JobRecord::new("bare", 1, JobSetup::default());
    (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms) = (10, 40_960, 1000);
    let mut run = RunRecord::new("fio-3.42-fsdyno-0.1.0", STARTED_MS);
    run.jobs = vec![job];
    Study::of_run(run)
}

/// A job of a command line that failed before its first I/O, beside one that ran.
pub(crate) fn failed_job() -> Study {
    let mut study = one_bare_row();
    let run = study.rows[0].run.as_mut().expect("a run");
    let mut job = JobRecord::new("broken", 2, JobSetup::default());
    job.error = Some(JobError { code: 28, function: "file:filesetup".into(), text: "No space left on device".into() });
    run.jobs.push(job);
    study.complete = false;
    study
}

/// A study in which every free text is hostile.
pub(crate) fn hostile() -> Study {
    let mut study = fixture::comparison();
    let bad = || HOSTILE.to_owned();
    study.rows.truncate(15);
    study.id = bad();
    study.version = bad();
    study.host_name = Some(bad());
    study.sentences.push(bad());
    study.command.push(bad());
    for target in &mut study.targets {
        target.name = bad();
        target.storage.layers.push(Layer { name: bad(), ..Layer::default() });
        target.storage.remarks.push(bad());
    }
    for row in &mut study.rows {
        row.title = bad();
        row.pattern = format!("{}{HOSTILE}", row.pattern);
        row.command.push(bad());
        row.findings.push(Finding::new(bad(), Severity::Caution, bad(), bad()));
    }
    study.notes.push(fixture::note(HOSTILE, Severity::Invalid, HOSTILE));
    study
}

/// A study with names that are far too long.
pub(crate) fn long_names() -> Study {
    let mut study = fixture::comparison();
    study.rows.truncate(15);
    for target in &mut study.targets {
        target.name = format!("{}{}", long_name(), target.name);
        target.path = long_name();
    }
    for row in &mut study.rows {
        row.title = format!("{}{}", row.title, long_name());
    }
    study.sentences = vec![long_name()];
    study
}

/// Operations on names and small files on two targets, three rounds.
pub(crate) fn small_files() -> Study {
    let mut study = fixture::empty(Question::SmallFiles);
    study.targets =
        ["local", "nfs"].map(|name| fixture::target(name, &format!("/mnt/{name}"), Storage::default())).to_vec();
    let phases = [
        ("create", "create, 5 bytes each", 18.0),
        ("stat-hot", "stat, names cached", 1.1),
        ("read", "read", 9.0),
        ("rename", "rename", 22.0),
        ("fsync-file", "create and fsync", 900.0),
        ("remove", "remove", 14.0),
    ];
    for round in 0..3 {
        for (index, (name, title, us)) in phases.into_iter().enumerate() {
            for (target, slower) in [1.0, 31.0].into_iter().enumerate() {
                let median_ns = us * 1e3 * slower * (1.0 + 0.02 * f64::from(round));
                let phase = PhaseRecord {
                    name: name.into(),
                    operations: 20_000,
                    failures: u64::from(index == 3 && target == 1),
                    threads: 1,
                    bytes: (name == "create").then_some(100_000),
                    elapsed_ns: (median_ns * 1.1 * 20_000.0) as u64,
                    cpu_ns: (median_ns * 0.2 * 20_000.0) as u64,
                    latency: fixture::latency(median_ns, 0.2, 20_000),
                    cache: Some(if name == "stat-hot" { "hot" } else { "cold" }.into()),
                    ..PhaseRecord::default()
                };
                study.rows.push(Row {
                    target,
                    pattern: name.into(),
                    title: title.into(),
                    round,
                    phase: Some(phase),
                    ..Row::default()
                });
            }
        }
    }
    study
}

/// A study of `measure --quick` on one disk: nine tests of a second each, on a busy machine.
pub(crate) fn quick() -> Study {
    let mut study = fixture::comparison();
    study.question = Question::Measure;
    study.command = ["measure", "--quick", "/data"].map(str::to_owned).to_vec();
    study.targets.truncate(1);
    let tests = [
        (test_name::READ_LATENCY, "4k random read, depth 1", "randread"),
        (test_name::RAND_READ, "4k random read, depth 32", "randread"),
        (test_name::SEQ_READ, "1m sequential read, depth 16", "read"),
        (test_name::WRITE_LATENCY, "4k random write, depth 1", "randwrite"),
        (test_name::SYNC_LATENCY, "4k write + fdatasync, depth 1", "write"),
        (test_name::RAND_WRITE, "4k random write, depth 32", "randwrite"),
        (test_name::SEQ_WRITE, "1m sequential write, depth 16", "write"),
        (test_name::SEQ_READ_64K, "64k sequential read, depth 32", "read"),
        (test_name::SEQ_WRITE_64K, "64k sequential write, depth 32", "write"),
    ];
    let row = |(name, title, pattern): (&str, &str, &str)| {
        let found = study.rows.iter().find(|row| row.target == 0 && row.round == 0 && row.pattern == pattern);
        let mut row = Row { pattern: name.into(), title: title.into(), ..found.expect(pattern).clone() };
        for job in row.run.iter_mut().flat_map(|run| &mut run.jobs) {
            if name == test_name::SYNC_LATENCY {
                job.sync.lat = fixture::latency(900_000.0, 0.3, 5_000);
            }
            for direction in [&mut job.directions.read, &mut job.directions.write] {
                direction.bandwidth_samples.series.truncate(2);
                direction.iops_samples.series.truncate(2);
            }
        }
        row.findings.push(Finding::new(
            "cpu-starved",
            Severity::Caution,
            "I/O threads waited for a CPU 41 % of the time",
            "stop the other processes",
        ));
        row
    };
    study.rows = tests.into_iter().map(row).collect();
    let sentence = "The queue of nvme0n1 held 31.4 of 32 requests in flight, 377 µs for each of them, so that the device was the limit.";
    study.sentences = vec![sentence.into(); 5];
    study.notes.clear();
    study
}

/// Three requirements: met, missed, undecided.
pub(crate) fn check() -> Study {
    let mut study = fixture::comparison();
    study.question = Question::Check;
    study.targets.truncate(1);
    study.rows.retain(|row| row.target == 0 && row.pattern.starts_with("randwrite"));
    for job in study.rows.iter_mut().filter_map(|row| row.run.as_mut()).flat_map(|run| &mut run.jobs) {
        job.sync.lat = fixture::latency(2_100_000.0, 0.3, 5_000);
    }
    study.sentences = vec!["This disk is fast enough for etcd on average, and not in its worst hundredth.".into()];
    let answers = [(Verdict::Pass, 2.1), (Verdict::Fail, 14.0), (Verdict::Inconclusive, 9.9)];
    study.verdicts = answers.into_iter().map(|(verdict, measured)| verdict_row(verdict, measured)).collect();
    study
}

fn verdict_row(verdict: Verdict, measured: f64) -> VerdictRow {
    let requirement = serde_json::json!({
        "id": format!("wal-fsync-{}", verdict.word().to_lowercase()),
        "profile": "etcd",
        "title": "99th percentile of fdatasync",
        "metric": "sync.lat.p99",
        "bound": serde_json::to_value(Bound::AtMost).expect("a word"),
        "threshold": 10.0,
        "unit": "ms",
        "source": "etcd documentation, hardware recommendations",
        "read_on": "2026-08",
        "kind": serde_json::to_value(RequirementKind::VendorRequirement).expect("a word"),
        "confidence": serde_json::to_value(Confidence::A).expect("a word"),
        "job": "fsync after each write",
    });
    // Made from JSON: a requirement has fields that a sheet does not show.
    let requirement: Requirement = serde_json::from_value(requirement).expect("a requirement");
    let row = serde_json::json!({
        "requirement": requirement,
        "verdict": verdict,
        "measured": measured,
        "interval": {"low": measured * 0.95, "high": measured * 1.05, "confidence": 0.95},
        "margin_percent": 100.0 - measured * 10.0,
        "reason": "The whole interval lies on one side of 10 ms.",
        "rows": [0],
    });
    serde_json::from_value(row).expect("a verdict")
}

/// Depths from 1 to 64 with two block sizes, or a curve of offered load.
pub(crate) fn sweep(question: Question) -> Study {
    let mut study = fixture::empty(question);
    study.targets = vec![fixture::target("nvme", "/data", Storage::default())];
    for (bytes, size) in [(4096u64, "4k"), (65_536, "64k")] {
        for step in 0..7u32 {
            let depth = 1 << step;
            let iops = 90_000.0 * f64::from(depth) / (f64::from(depth) + 8.0) * 4096.0 / bytes as f64 * 4.0;
            let ios = (iops * 10.0) as u64;
            let setup = JobSetup {
                access: Access::named("randread").unwrap(),
                depth,
                block_sizes: fsdyno_results::PerDirection::all((bytes, bytes)),
                ..JobSetup::default()
            };
            let mut job = JobRecord::new("sweep", 1, setup);
            (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms) =
                (ios, ios * bytes, 10_000);
            job.directions.read.clat = fixture::latency(f64::from(depth) * 0.9e9 / iops, 0.2, ios);
            if question == Question::Curve {
                // The response time also includes the wait in the queue.
                job.directions.read.response = Some(fixture::latency(f64::from(depth) * 4e9 / iops, 0.6, ios));
            }
            job.job_runtime_ms = 10_000;
            let mut run = RunRecord::new("fio-3.42-fsdyno-0.1.0", STARTED_MS);
            run.jobs = vec![job];
            let last = match question {
                Question::Curve => format!("load{}", 10 + 15 * step),
                Question::Scale => format!("n{depth}"),
                _ => format!("qd{depth}"),
            };
            study.rows.push(Row {
                pattern: format!("randread-{size}-{last}"),
                title: format!("{size} random read, {last}"),
                run: Some(run),
                ..Row::default()
            });
        }
    }
    study
}

/// A command on two places and in memory.
pub(crate) fn timed() -> Study {
    let mut study = fixture::empty(Question::Time);
    let places = ["/srv/a-long-way/to/the/repositories", "/mnt/nfs/repositories", "(memory)"];
    study.targets = places.map(|path| fixture::target(path, path, Storage::default())).into();
    study.targets[2].reference = true;
    for (target, elapsed_ns) in (0..).zip([2_100_000_000, 7_400_000_000, 900_000_000u64]) {
        let rows = (0..8u32).map(|round| Row {
            target,
            round,
            pattern: "git-clone".into(),
            title: "git clone --no-local /srv/a-long-way/to/the/repositories/linux.git linux".into(),
            phase: Some(fsdyno_results::PhaseRecord {
                operations: 1,
                elapsed_ns: elapsed_ns + u64::from(round) * 10_000_000,
                cpu_ns: 800_000_000,
                ..fsdyno_results::PhaseRecord::default()
            }),
            tree: Some(fsdyno_results::TreeRecord::default()),
            ..Row::default()
        });
        study.rows.extend(rows);
    }
    study
}
