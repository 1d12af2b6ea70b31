//! T34: everything stands still for a while.

use fsdyno_results::{RunRecord, Severity};
use testkit::{pause, shell};

use crate::bench::{Bench, FILE_MIB};

/// Random reads of four seconds, stopped in their midst for `stop_ms`.
fn read_with_a_stop(bench: &Bench, stop_ms: u64) -> RunRecord {
    let words = format!(
        "--name=job --filename=file --rw=randread --bs=4k --direct=1 --size={FILE_MIB}m --time_based --runtime=5 \
         --record=stalled.json"
    );
    let running = bench.place.start(&format!("fio {words}"));
    // The program that was called and the one that does the work.
    let signal = |name: &str| shell(&format!("kill -{name} {0} $(pgrep -P {0})", running.id()));
    pause(2_000);
    if stop_ms > 0 {
        signal("STOP");
        pause(stop_ms);
        signal("CONT");
    }
    running.finish().good();
    let text = std::fs::read_to_string(bench.path("stalled.json")).expect("a record");
    RunRecord::from_json(&text).expect("a record")
}

#[test]
fn a_program_that_is_stopped() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let found = |record: &RunRecord| record.findings.iter().find(|finding| finding.id == "stalled").cloned();
    let stopped = read_with_a_stop(&bench, 2_000);
    let finding = found(&stopped).unwrap_or_else(|| panic!("{:#?}", stopped.findings));
    assert_eq!(finding.severity, Severity::Caution);
    assert!(finding.cause.contains("fsdyno was stopped too"), "{}", finding.cause);
    let quiet = read_with_a_stop(&bench, 0);
    assert!(quiet.findings.iter().all(|finding| finding.id != "stalled"), "{:#?}", quiet.findings);
}
