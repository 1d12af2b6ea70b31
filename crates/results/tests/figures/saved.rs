//! Records that are saved and read again, and records of older formats.

use fsdyno_results::{
    Direction, JobRecord, JobSetup, Latency, PhaseRecord, Question, ReadWrite, Row, RunRecord, SCHEMA_VERSION,
    STUDY_SCHEMA_VERSION, SavedRecordError, Study,
};
use serde_json::{Value, json};

/// A read of a file on a loop device in format 6: a sentence describes the layers below.
const FORMAT_6: &str = include_str!("../saved/format-6.json");

/// A run of two jobs with libaio in format 4: one job mixes reads and writes, the other has only some requests timed.
const FORMAT_4: &str = include_str!("../saved/format-4.json");

#[test]
fn a_saved_run_comes_back_the_same() {
    let mut job = JobRecord::new("j", 1, JobSetup::default());
    job.directions.read.clat = Latency::with_histogram();
    (0..1000).for_each(|value| job.directions.read.clat.record(value * value));
    job.directions.read.bandwidth_samples.record(7, 500);
    job.directions.read.bandwidth_samples.mean = 0.1 + 0.2;
    let mut run = RunRecord::new("fio-3.42", 1_795_262_548_000);
    run.jobs = vec![job];
    assert_eq!(RunRecord::from_json(&run.to_json()).unwrap(), run);
}

#[test]
fn a_newer_or_damaged_record_is_refused_with_a_reason() {
    // A newer record need not have today's fields.
    let newer = format!("{{\"schema\": {}}}", SCHEMA_VERSION + 1);
    let error = RunRecord::from_json(&newer).unwrap_err();
    assert!(matches!(error, SavedRecordError::Newer { found } if found == SCHEMA_VERSION + 1));
    assert!(error.to_string().contains("newer"), "{error}");
    let error = RunRecord::from_json("{\"jobs\": []}").unwrap_err();
    assert!(error.to_string().contains("not a run record: missing field `schema`"), "{error}");
}

/// Compares with the fields of the older format.
fn assert_same(run: &RunRecord, before: &Value) {
    assert_eq!(run.schema, SCHEMA_VERSION);
    let node = run.only_node().expect("it was of one machine");
    assert_eq!(serde_json::to_value(&node.host).unwrap(), before["host"]);
    let mut storages = before["storages"].clone();
    for storage in storages.as_array_mut().unwrap() {
        assert_eq!(storage.as_object_mut().unwrap().remove("stack"), Some(json!([])));
        storage["layers"] = json!([]);
    }
    assert_eq!(serde_json::to_value(&node.storages).unwrap(), storages);
    assert_eq!(serde_json::to_value(&node.disks).unwrap(), before["disks"]);
    assert_eq!(serde_json::to_value(&node.ledger).unwrap(), before["ledger"]);
    assert_eq!(serde_json::to_value(&run.findings).unwrap(), before["findings"]);
    assert_eq!(run.jobs.len(), before["jobs"].as_array().unwrap().len());
    for (job, before) in run.jobs.iter().zip(before["jobs"].as_array().unwrap()) {
        assert_eq!((job.node, job.name.as_str()), (0, before["name"].as_str().unwrap()));
        for (direction, moved) in job.directions.iter() {
            assert_eq!(serde_json::to_value(moved).unwrap(), before[direction.name()], "{direction:?}");
            let sizes = &before["setup"]["block_sizes"][direction as usize];
            assert_eq!(json!(job.setup.block_sizes[direction]), *sizes);
        }
        match &job.sampled_latency {
            None => assert!(before["sampled_latency"].is_null()),
            Some(sampled) => Direction::ALL.into_iter().for_each(|direction| {
                let before = &before["sampled_latency"][direction as usize];
                assert_eq!(serde_json::to_value(&sampled[direction]).unwrap(), *before);
            }),
        }
    }
}

#[test]
fn a_record_of_the_format_before_has_the_same_figures() {
    let before: Value = serde_json::from_str(FORMAT_4).unwrap();
    let run = RunRecord::from_json(FORMAT_4).unwrap();
    assert_same(&run, &before);
    let mix = &run.jobs[0];
    assert_eq!((mix.directions.read.ios, mix.directions.read.bytes), (7, 28_672));
    assert_eq!(mix.directions.read.clat.percentile(99.0), Some(37_486_592));
    assert!(run.jobs.iter().any(|job| job.sampled_latency.is_some()));
    let vda = &run.only_node().unwrap().disks[0];
    assert_eq!(vda.ios, ReadWrite { read: 265, write: 496 });
    // The record is saved in the present format.
    assert_eq!(RunRecord::from_json(&run.to_json()).unwrap(), run);
}

#[test]
fn a_study_of_the_format_before_has_the_same_runs() {
    let run: Value = serde_json::from_str(FORMAT_4).unwrap();
    let mut study = serde_json::to_value(Study::of_run(RunRecord::from_json(FORMAT_4).unwrap())).unwrap();
    study["study_schema"] = json!(2);
    study["question"] = json!("measure");
    study["rows"][0]["run"] = run.clone();
    let read = Study::from_json(&study.to_string()).unwrap();
    assert_eq!((read.study_schema, read.question), (STUDY_SCHEMA_VERSION, Question::Measure));
    assert_same(read.rows[0].run.as_ref().unwrap(), &run);
    assert_eq!(Study::from_json(&read.to_json()).unwrap(), read);
    let alone = Study::from_json(FORMAT_4).unwrap();
    assert_eq!(alone.rows[0].run, read.rows[0].run, "a run alone is a study of one row");
}

#[test]
fn a_record_of_format_3_is_read() {
    let mut before: Value = serde_json::from_str(FORMAT_4).unwrap();
    before["schema"] = json!(3);
    for job in before["jobs"].as_array_mut().unwrap() {
        job["plan"]["random"] = json!(false);
    }
    assert_eq!(RunRecord::from_json(&before.to_string()).unwrap(), RunRecord::from_json(FORMAT_4).unwrap());
}

#[test]
fn a_record_of_format_5_is_one_of_a_single_machine() {
    let now = RunRecord::from_json(FORMAT_4).unwrap();
    let mut before: Value = serde_json::from_str(&now.to_json()).unwrap();
    // Format 6 only added facts that a run on one machine does not have.
    assert!(before.get("together").is_none() && before["nodes"][0].get("part").is_none());
    before["schema"] = json!(5);
    assert_eq!(RunRecord::from_json(&before.to_string()).unwrap(), now);
}

#[test]
fn a_record_of_format_6_keeps_its_sentences_of_what_lies_below() {
    let before: Value = serde_json::from_str(FORMAT_6).unwrap();
    let run = RunRecord::from_json(FORMAT_6).unwrap();
    let storage = run.storages().next().unwrap();
    assert_eq!(json!(storage.layers[0].to_string()), before["nodes"][0]["storages"][0]["stack"][0]);
    assert_eq!((storage.layers.len(), storage.in_memory()), (1, None));
    let reads = &run.jobs[0].directions.read;
    assert_eq!(serde_json::to_value(reads).unwrap(), before["jobs"][0]["directions"]["read"]);
    assert!(run.jobs[0].plan.parts.is_empty(), "unknown is not none");
    assert_eq!(RunRecord::from_json(&run.to_json()).unwrap(), run);
    let mut study = serde_json::to_value(Study::of_run(run.clone())).unwrap();
    study["study_schema"] = json!(4);
    study["targets"][0]["storage"] = before["nodes"][0]["storages"][0].clone();
    let read = Study::from_json(&study.to_string()).unwrap();
    assert_eq!(read.targets[0].storage.layers, storage.layers, "those of a study's targets too");
}

#[test]
fn a_phase_of_a_study_of_format_5_was_seen_by_nobody() {
    let phase = PhaseRecord { name: "create".into(), operations: 9, ..PhaseRecord::default() };
    let row = Row { phase: Some(phase.clone()), ..Row::default() };
    let study = Study { rows: vec![row], ..Study::of_run(RunRecord::new("v", 1)) };
    let mut before: Value = serde_json::from_str(&study.to_json()).unwrap();
    before["study_schema"] = json!(5);
    before["rows"][0]["phase"].as_object_mut().unwrap().remove("conditions").expect("it is new");
    assert_eq!(Study::from_json(&before.to_string()).unwrap().rows[0].phase, Some(phase));
}
