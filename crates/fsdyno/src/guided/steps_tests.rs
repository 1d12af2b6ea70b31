//! Checks that each sentence of `fsdyno_present::headline::next` with a command is reached by a study, and that the
//! program accepts the command.

use std::collections::BTreeSet;

use clap::Parser;
use fsdyno_findings::limits::Limiter;
use fsdyno_present::{Headline, tables};
use fsdyno_results::evidence::{
    Ledger, LedgerSample, Moment, RecordedFact, ServerIdentity, Storage, StorageClass, WireCounters,
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
    let server = ServerIdentity { link_bits_per_s: RecordedFact::Value(336_000_000), ..ServerIdentity::default() };
    let storage = Storage { class: StorageClass::Network, server: Some(server), ..Storage::default() };
    let sample = |moment, at_ms, bytes: u64| {
        let wire = WireCounters { exclusive: true, bytes: [bytes, 0].into(), ..WireCounters::default() };
        let mut sample = LedgerSample { moment, at_ms, wire: RecordedFact::Value(wire), ..LedgerSample::default() };
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
        at_least: None,
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
        study(Question::Measure, "measure /data --no-store"),
        study(Question::Time, "time /data --no-store -- sh -c true"),
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

/// A limit of the control group is named, and the first step raises it: also where other tests have another limit, where
/// others' processes were seen, and where a figure is invalid.
#[test]
fn a_limit_of_the_control_group_is_the_first_to_raise() {
    let mut study = study(Question::Measure, "measure /data");
    let run = study.rows[0].run.as_mut().unwrap();
    (run.jobs[0].plan.files, run.jobs[0].started_ms, run.complete) = (vec!["/data/a".into()], Some(1_000), true);
    run.nodes[0].storages = vec![Storage { class: StorageClass::Block, ..Storage::default() }];
    let sample = |moment, at_ms| {
        let mut sample = LedgerSample { moment, at_ms, ..LedgerSample::default() };
        (sample.system.total_ms, sample.system.busy_ms) = (Some(2 * at_ms), Some(2 * at_ms));
        sample
    };
    let samples = vec![sample(Moment::Begin, 0), sample(Moment::End, 10_000)];
    run.nodes[0].ledger = Some(Ledger { samples, ..Ledger::default() });
    run.jobs[0].user_ns = 9_900_000_000;
    let names = ["rand-read", "seq-read", "read-latency", "rand-write"];
    let row = study.rows[0].clone();
    study.rows = names.map(|name| Row { pattern: name.into(), ..row.clone() }).into();
    let starved = Finding::new("cpu-starved", Severity::Caution, "CPU contention", "stop the other processes");
    study.rows[1].findings.push(starved);
    let first = |study: &Study| Headline::of(study).next[0].what.clone();
    assert_eq!(first(&study), "stop the other processes", "{:?}", Headline::of(&study).limits);
    let ledger = study.rows[0].run.as_mut().and_then(|run| run.nodes[0].ledger.as_mut()).unwrap();
    for (sample, throttled_us) in ledger.samples.iter_mut().zip([0, 8_000_000]) {
        sample.system.throttled_us = Some(throttled_us);
    }
    let raise = Limiter::CpuQuota.raise().unwrap();
    let limits = Headline::of(&study).limits.join("; ");
    assert!(limits.contains(Limiter::CpuQuota.word()) && limits.contains(Limiter::ClientProcessor.word()), "{limits}");
    assert_eq!(first(&study), raise);
    study.rows[3].findings.push(Finding::new("page-cache", Severity::Invalid, "cached", "add data"));
    assert_eq!(first(&study), raise, "three of four figures count");
    for row in &mut study.rows[1..3] {
        row.findings.push(Finding::new("page-cache", Severity::Invalid, "cached", "add data"));
    }
    assert_eq!(first(&study), "add data", "most figures do not count");
}

#[test]
fn two_steps_do_not_advise_one_option() {
    let mut study = study(Question::Measure, "measure /data");
    study.rows[0].findings.push(Finding::new("too-short", Severity::Caution, "a cause", "use more rounds (--runs=6)"));
    let commands: Vec<String> = Headline::of(&study).next.into_iter().filter_map(|step| step.command).collect();
    let of_runs: Vec<&String> = commands.iter().filter(|command| command.contains("--runs")).collect();
    assert_eq!(of_runs, ["fsdyno measure /data --runs=6"], "{commands:?}");
}

/// A run that is not saved has no report; words after `--` are another program's.
#[test]
fn only_an_option_of_the_question_keeps_its_run_from_being_saved() {
    for (command, is_saved) in [
        ("time /data -- true", true),
        ("time /data --no-store -- true", false),
        ("time /data -- true --no-store", true),
    ] {
        let steps = Headline::of(&study(Question::Time, command)).next;
        assert_eq!(steps.iter().any(|step| step.what == "charts and all details"), is_saved, "{command}: {steps:?}");
    }
}

/// Advice keeps its option, whatever options the timed program has.
#[test]
fn an_option_of_a_timed_program_does_not_change_the_advice() {
    for command in ["time /data -- true", "time /data -- true --full --literal"] {
        let mut study = study(Question::Time, command);
        study.rows[0].findings.push(Finding::new(
            "noisy",
            Severity::Caution,
            "a cause",
            "use more rounds (--rounds=8)",
        ));
        let first = Headline::of(&study).next.swap_remove(0);
        let own = first.command.as_deref().and_then(|command| command.split_once(" -- ")).map(|(own, _)| own);
        assert!(own.is_some_and(|own| own.contains("--rounds=8")), "{command}: {first:?}");
    }
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

/// A command stands alone on its line, whole, whatever it is for and however narrow the terminal.
#[test]
fn each_command_of_a_screen_is_a_line() {
    let pages = studies().into_iter().flat_map(|study| [tables::screen(&study, 40), tables::text(&study, 40)]);
    for page in pages {
        for line in page.lines().filter(|line| line.contains("fsdyno ")) {
            let words = line.trim_start().strip_prefix("fsdyno ").unwrap_or_else(|| panic!("{line} in {page}"));
            let typed = std::iter::once("fsdyno").chain(words.split(' '));
            Guided::try_parse_from(typed).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        assert!(page.contains("fsdyno "), "{page}");
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
