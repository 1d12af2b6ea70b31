//! Tests that a digest has the figures of its study, also after it was stored as bytes.

use super::*;
use crate::evidence::{Mount, RecordedFact, Storage};
use crate::record::{JobError, JobRecord, JobSetup, RunRecord};
use crate::studies::{Finding, Lane, PhaseRecord, Row};
use crate::{Severity, test_name};

fn row(target: usize, pattern: &str, round: u32, ios: u64) -> Row {
    let mut job = JobRecord::new("job", 1, JobSetup::default());
    let read = &mut job.directions.read;
    (read.ios, read.bytes, read.runtime_ms) = (ios, ios * 4096, 1234);
    let mut run = RunRecord::new("fio-3.42-test", 0);
    run.jobs.push(job);
    let command = vec![format!("--rw={pattern}"), format!("--filename=/data/{round}")];
    Row { target, pattern: pattern.into(), round, command, run: Some(run), ..Row::default() }
}

/// Two targets, a file that was filled, a phase, a row without figures, an error and a finding.
fn study() -> Study {
    let mut study = Study::of_run(RunRecord::new("fio-3.42-test", 7));
    let mount = Mount { fstype: "ext4".into(), ..Mount::default() };
    let known = Storage { mount: RecordedFact::Value(mount), ..Storage::default() };
    study.targets = vec![
        Target { name: "local".into(), path: "/data".into(), storage: known, reference: false },
        Target { name: "nfs".into(), path: "/mnt/ä".into(), ..Target::default() },
    ];
    let failed = JobError { code: 5, function: "read".into(), text: "Input/output error".into() };
    study.rows = vec![
        row(0, test_name::FILL, 0, 1),
        row(0, "randread", 0, 1000),
        row(1, "randread", 0, 3),
        row(0, "randread", 1, 1001),
        Row { run: None, ..row(1, "read", 0, 0) },
    ];
    study.rows[3].findings.push(Finding::new("page-cache", Severity::Invalid, String::new(), String::new()));
    study.rows[2].run.as_mut().unwrap().jobs[0].error = Some(failed);
    let phase = PhaseRecord { operations: 50, elapsed_ns: 3_000_000, ..PhaseRecord::default() };
    study.rows.push(Row { phase: Some(phase), run: None, ..row(1, "create", 0, 0) });
    (study.host.cpus, study.host_name, study.complete) = (Some(2), Some("vm".into()), false);
    study
}

#[test]
fn a_digest_has_the_figures_of_the_rows() {
    let study = study();
    let digest = Digest::of(&study);
    assert_eq!((digest.rows, digest.patterns()), (6, study.tests()));
    for (test, rounds) in digest.tests.iter().zip(study.test_rounds().iter().filter(|of| of.pattern != test_name::FILL))
    {
        assert_eq!((test.rounds.len(), test.trust), (rounds.counted().len(), rounds.trust()));
        for measure in Measure::ALL {
            let metric = measure.metric(rounds, Lane::Request);
            assert_eq!(
                test.figure(measure),
                metric.and_then(|metric| rounds.value(metric)).filter(|value| *value > 0.0)
            );
            let values = metric
                .map_or_else(Vec::new, |metric| rounds.by_round(metric))
                .iter()
                .filter(|value| **value > 0.0)
                .count();
            assert_eq!(test.values(measure).len(), values, "{measure:?} of {}", test.pattern);
        }
    }
    let test = |target, pattern| digest.test(target, pattern).unwrap();
    let reads = test(0, "randread");
    assert_eq!((reads.values(Measure::Iops).len(), reads.trust), (1, Trust::Caution), "the invalid round is left out");
    assert_eq!((test(1, "randread").values(Measure::Iops).len(), test(1, "randread").trust), (1, Trust::Invalid));
    assert_eq!((test(1, "read").values(Measure::Iops), test(1, "create").is_phase), (Vec::new(), true));
    let create = test(1, "create");
    assert!(create.unexamined && create.trust == Trust::Caution, "nobody examined the phase, so it is not ok");
    assert_eq!(Digest::trust_word([create].into_iter()), "not examined");
    assert_eq!(Digest::trust_word([create, reads].into_iter()), "caution");
    assert_eq!((digest.trust, digest.failed, digest.lacks_ranks), (Trust::Invalid, true, false));
    assert_eq!(digest.targets[0].fstype.as_deref(), Some("ext4"));
    assert_eq!(test(0, "randread").plan, test(1, "randread").plan, "places are no part of a plan");
    assert_ne!(test(0, "randread").plan, test(1, "create").plan);
}

/// An invalid round is left out of its test, which the answer then calls caution, and so does the digest.
#[test]
fn the_trust_is_that_of_the_tests() {
    let mut study = study();
    study.rows.truncate(4);
    study.rows.remove(2);
    assert_eq!(Digest::of(&study).trust, Trust::Caution);
    study.rows.remove(1);
    assert_eq!(Digest::of(&study).trust, Trust::Invalid, "no round counts");
    study.rows.clear();
    assert_eq!(Digest::of(&study).trust, Trust::Caution, "nothing was measured");
}

#[test]
fn bytes_give_the_same_digest_or_none() {
    for study in [study(), Study::of_run(RunRecord::new("fio-3.42-test", u64::MAX))] {
        let digest = Digest::of(&study);
        let mut bytes = Vec::new();
        digest.put(&mut bytes);
        digest.put(&mut bytes);
        let mut rest = bytes.iter();
        assert_eq!([Digest::take(&mut rest), Digest::take(&mut rest)], [Some(digest.clone()), Some(digest)]);
        assert_eq!(rest.len(), 0);
        for length in 0..bytes.len() / 2 {
            assert_eq!(Digest::take(&mut bytes[..length].iter()), None, "{length} bytes");
        }
        for place in 0..bytes.len() / 2 {
            // The result does not matter, but reading must end.
            let mut damaged = bytes[..bytes.len() / 2].to_vec();
            damaged[place] = 0xff;
            Digest::take(&mut damaged.iter());
        }
    }
}
