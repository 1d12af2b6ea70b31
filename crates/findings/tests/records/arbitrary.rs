//! Checks that judging any record does not panic.

use fsdyno_results::RunRecord;
use fsdyno_results::evidence::{FileState, RecordedFact, WireCounters};
use proptest::prelude::*;
use serde_json::Value;

use crate::scene::*;

/// A record in which every layer is visible.
fn full() -> RunRecord {
    let mut second = writer("other");
    second.plan.stage = 1;
    let jobs = vec![
        rates(
            latencies(queued(reader("job"), "libaio", 32), 40_000, 1_300_000),
            &[400, 90, 300, 400, 100, 100, 90, 80],
        ),
        direct(reader("beside")),
        second,
    ];
    let mut record = on_disk(jobs);
    look(&mut record, 0, [8 * GIB, 0], [GIB, 0]);
    look(&mut record, 1, [0, 4 * GIB], [0, MIB]);
    last(&mut record).wire = RecordedFact::Value(WireCounters::default());
    let state =
        FileState { size_bytes: GIB, written_bytes: Some(MIB), encoded_bytes: Some(MIB), ..FileState::default() };
    file(&mut record, "/data/job", state);
    record
}

/// Pseudorandom changes: a kind of 40, and any number (splitmix64).
fn changes(seed: u64) -> impl Iterator<Item = (u8, u64)> {
    let mut state = seed;
    let mut draw = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    std::iter::repeat_with(move || ((draw() % 40) as u8, draw()))
}

/// Fields of at most 32 bits.
const NARROW: &[&str] = &[
    "schema",
    "cpus",
    "thread_number",
    "group",
    "members",
    "clone",
    "pid",
    "block_sizes",
    "depth",
    "clones",
    "kb_base",
    "unit_base",
    "significant_figures",
    "latency_depth",
    "timed_one_in",
    "stage",
    "compressible_percent",
    "classes",
    "signal",
    "code",
    "first",
    "queue_requests",
    "logical_block_bytes",
    "physical_block_bytes",
    "nconnect",
];

/// Replaces each number of the document, where `changes` says so, by an extreme or any other value of its field.
fn disturb(value: &mut Value, narrow: bool, changes: &mut impl Iterator<Item = (u8, u64)>) {
    match value {
        Value::Number(number) => {
            let Some((kind, any)) = changes.next() else { return };
            match kind {
                0 => *value = Value::from(0u64),
                1 if number.is_u64() => *value = Value::from(i32::MAX),
                2 if number.is_u64() && !narrow => *value = Value::from(u64::MAX),
                3 if number.is_u64() && !narrow => *value = Value::from(any),
                4 if number.is_u64() => *value = Value::from(any % 1000),
                _ => {}
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| disturb(entry, narrow, changes)),
        Value::Object(entries) => {
            for (key, entry) in entries {
                disturb(entry, narrow || NARROW.contains(&key.as_str()), changes);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn judging_never_fails(
        seed in any::<u64>(),
        samples in 0usize..5,
    ) {
        let mut record = full();
        record.nodes[0].ledger.as_mut().unwrap().samples.truncate(samples);
        let mut document = serde_json::to_value(record).unwrap();
        disturb(&mut document, false, &mut changes(seed));
        let record = serde_json::from_value::<RunRecord>(document);
        prop_assert!(record.is_ok(), "{:?}", record.err());
        let record = record.unwrap();
        for finding in fsdyno_findings::of_run(&record).into_iter().chain(fsdyno_findings::of_plan(&record)) {
            prop_assert!(!finding.cause.is_empty() && !finding.next.is_empty());
            prop_assert!(!finding.cause.contains("NaN") && !finding.cause.contains("inf "), "{}", finding.cause);
        }
    }
}

#[test]
fn the_undisturbed_record_has_something_to_say() {
    assert!(fsdyno_findings::of_run(&full()).len() > 3);
}
