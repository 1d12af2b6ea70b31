//! Checks that each sentence of `fsdyno_present::headline::next` with a command is reached by a study, and that the
//! program accepts the command.

use std::collections::BTreeSet;

use clap::Parser;
use fsdyno_present::Headline;
use fsdyno_results::evidence::{
    Ledger, LedgerSample, Moment, Seen, ServerIdentity, Storage, StorageClass, WireCounters,
};
use fsdyno_results::{
    Finding, JobError, JobRecord, JobSetup, Question, Row, RunRecord, Severity, Study, Target, Verdict,
};

use super::Guided;

/// A study of one row without an error.
fn study(question: Question, words: &str) -> Study {
    let mut job = JobRecord::new("a", 1, JobSetup { depth: 4, ..JobSetup::default() });
    job.job_runtime_ms = 10_000;
    let read = &mut job.directions.read;
    (read.ios, read.bytes, read.runtime_ms) = (100_000, 409_600_000, 10_000);
    let mut run = RunRecord::new("fsdyno", 1_000);
    run.jobs = vec![job];
    let mut study = Study::of_run(run);
    (study.question, study.id) = (question, "20261122-043100-measure-1a2b".into());
    study.command = words.split(' ').map(str::to_owned).collect();
    study.targets = vec![Target { name: "/data".into(), path: "/data".into(), ..Target::default() }];
    study.rows[0].pattern = "rand-read".into();
    study
}

/// A study of a full link: 41 of its 42 MB/s are used.
fn of_a_full_link() -> Study {
    let mut study = study(Question::Compare, "compare a=/data b=/other --rounds=8");
    let run = study.rows[0].run.as_mut().unwrap();
    let server = ServerIdentity { link_bits_per_s: Seen::Value(336_000_000), ..ServerIdentity::default() };
    let storage = Storage { class: StorageClass::Network, server: Some(server), ..Storage::default() };
    let sample = |moment, at_ms, bytes: u64| {
        let wire = WireCounters { exclusive: true, bytes: [bytes, 0].into(), ..WireCounters::default() };
        let mut sample = LedgerSample { moment, at_ms, wire: Seen::Value(wire), ..LedgerSample::default() };
        sample.application.bytes = [bytes, 0].into();
        sample.application.operations = [bytes / 4096, 0].into();
        sample
    };
    let samples = vec![sample(Moment::Begin, 0, 0), sample(Moment::End, 10_000, 409_600_000)];
    run.jobs[0].plan.files = vec!["/data/a".into()];
    run.jobs[0].plan.io_bytes = Some(409_600_000);
    run.jobs[0].started_ms = Some(1_000);
    run.complete = true;
    run.nodes[0].storages = vec![storage];
    run.nodes[0].ledger = Some(Ledger { samples, ..Ledger::default() });
    study
}

/// A study whose test file could not be written.
fn unfilled(code: i32, function: &str) -> Study {
    let mut study = study(Question::Measure, "measure /data");
    study.rows[0].pattern = fsdyno_results::test_name::FILL.into();
    let error = JobError { code, function: function.into(), text: "broken".into() };
    study.rows[0].run.as_mut().unwrap().jobs[0].error = Some(error);
    study
}

fn judged(verdict: Verdict, words: &str) -> Study {
    let mut study = study(Question::Check, words);
    let requirement = fsdyno_results::Requirement {
        id: "iops".into(),
        profile: "etcd".into(),
        profile_title: "etcd".into(),
        title: "reads".into(),
        metric: "read.iops".into(),
        bound: fsdyno_results::Bound::AtLeast,
        threshold: 900.0,
        unit: "IOPS".into(),
        derivation: None,
        source: "A page".into(),
        read_on: "November".into(),
        kind: fsdyno_results::RequirementKind::VendorRequirement,
        confidence: fsdyno_results::Confidence::A,
        job: "-".into(),
    };
    study.verdicts = vec![fsdyno_results::VerdictRow {
        verdict,
        measured: None,
        interval: None,
        margin_percent: None,
        reason: "why".into(),
        origin: fsdyno_results::TestOrigin::Vendor,
        caveats: Vec::new(),
        cap_s: Some(60.0),
        rows: vec![0],
        requirement,
    }];
    study
}

/// A study of two places, or of one and the same in memory.
fn timed(is_reference: bool) -> Study {
    let mut study = study(Question::Time, "time /data /other -- true");
    study.targets.push(Target { reference: is_reference, ..study.targets[0].clone() });
    study.rows[0].run = None;
    let phase =
        fsdyno_results::PhaseRecord { operations: 1, elapsed_ns: 1_000_000, ..fsdyno_results::PhaseRecord::default() };
    study.rows[0].phase = Some(phase);
    let other = Row { target: 1, ..study.rows[0].clone() };
    study.rows.push(other);
    study
}

fn with_finding(id: &str, next: &str) -> Study {
    let mut study = study(Question::Sweep, "sweep /data");
    study.rows[0].findings.push(Finding::new(id, Severity::Caution, "a cause", next));
    study
}

fn studies() -> Vec<Study> {
    let again = "fsdyno explain page-cache";
    vec![
        study(Question::Measure, "measure /data"),
        study(Question::Measure, "measure /data --store /kept"),
        study(Question::Compare, "compare a=/data b=/other"),
        study(Question::Scale, "scale /data"),
        with_finding("page-cache", again),
        with_finding("memory-storage", "name files on the disk in question"),
        with_finding("too-short", "measure for longer (--runtime=60)"),
        of_a_full_link(),
        timed(true),
        timed(false),
        judged(Verdict::Inconclusive, "check etcd --quick /data"),
        judged(Verdict::Inconclusive, "check etcd /data"),
        judged(Verdict::NotApplicable, "check etcd /data"),
        unfilled(22, "open"),
        unfilled(28, "write"),
        unfilled(5, "write"),
    ]
}

/// The sentences in the source that give the purpose of a step.
fn written() -> BTreeSet<String> {
    let source = include_str!("../../../present/src/headline/next.rs").split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join(" ");
    let literals = code.split('"').skip(1).step_by(2).map(str::to_owned);
    literals.filter(|text| text.split(' ').count() > 2 && !text.starts_with("fsdyno ") && !text.contains('{')).collect()
}

#[test]
fn a_full_link_is_told_with_what_shows_it() {
    let limits = |study: &Study| Headline::of(study).limits;
    let mut study = of_a_full_link();
    let shown = "the link (rand-read): 41.0 MB/s of its 42.0 MB/s were in use";
    assert_eq!(limits(&study), [shown]);
    // A load that was served has the offered rate; one that was not served has a limit.
    study.question = Question::Curve;
    study.rows[0].pattern = "randread-4k-load90".into();
    for (offered_per_s, limited) in [("10000", 0), ("20000", 1)] {
        study.rows[0].run.as_mut().unwrap().jobs[0].options = vec![("rate_iops".into(), offered_per_s.into())];
        assert_eq!(limits(&study).len(), limited, "{:?}", study.loads());
    }
}

#[test]
fn each_sentence_of_a_step_is_reached_and_its_command_is_taken() {
    let mut reached = BTreeSet::new();
    for study in studies() {
        for step in Headline::of(&study).next {
            if let Some(command) = &step.command {
                Guided::try_parse_from(command.split(' ')).unwrap_or_else(|error| panic!("{command}: {error}"));
            }
            reached.insert(step.what);
        }
    }
    let left: Vec<String> = written().into_iter().filter(|words| !reached.contains(words)).collect();
    assert!(left.is_empty(), "no study reaches {left:#?}\nof\n{reached:#?}");
    assert!(written().len() > 9, "{:?}", written());
}
