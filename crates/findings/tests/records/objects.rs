//! Tests what the answers of a server of objects say.

use fsdyno_results::{ObjectRecord, Severity};

use crate::scene::*;

/// Workers of one job, each with answers and those of them that found no object.
fn found(workers: &[(u64, u64)]) -> Option<(Severity, String)> {
    let worker = |(answers, missing): &(u64, u64)| {
        let mut job = reader("job");
        job.setup.engine = "http".into();
        let mut object = ObjectRecord::default();
        (object.answers.read, object.missing.read) = (*answers, *missing);
        job.object = Some(Box::new(object));
        job
    };
    let record = on_disk(workers.iter().map(worker).collect());
    let findings = fsdyno_findings::of_run(&record);
    let missing = findings.into_iter().find(|finding| finding.id == "object-missing");
    missing.map(|finding| (finding.severity, finding.cause))
}

#[test]
fn answers_without_an_object_weigh_from_one_per_cent_on() {
    assert_eq!(found(&[(1000, 0)]), None);
    assert_eq!(found(&[(1000, 9)]).map(|found| found.0), Some(Severity::Info));
    assert_eq!(found(&[(1000, 10)]).map(|found| found.0), Some(Severity::Invalid));
    // All workers of a row together.
    let (severity, cause) = found(&[(1000, 10), (1000, 0)]).expect("some are missing");
    assert!(severity == Severity::Info && cause.starts_with("10 of 2000 reads"), "{cause}");
}
