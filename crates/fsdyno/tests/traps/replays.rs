//! T50: a replay that is later than its log.

use fsdyno_results::Severity;

use crate::bench::Bench;

/// Reads of 4 KiB that were all recorded at one moment.
fn burst(count: u64) -> String {
    let reads: String = (0..count).map(|number| format!("0 file read {} 4096\n", number % 1000 * 4096)).collect();
    format!("fio version 3 iolog\n0 file add\n0 file open\n{reads}0 file close\n")
}

#[test]
fn a_burst_that_no_storage_bears() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    bench.place.write("log", burst(20_000));
    let words = "--name=job --read_iolog=log --ioengine=psync";
    let late = bench.run(words);
    let found =
        |ran: &crate::bench::RunResult| ran.record.findings.iter().find(|finding| finding.id == "replay-late").cloned();
    let finding = found(&late).unwrap_or_else(|| panic!("{:#?}", late.record.findings));
    assert_eq!(finding.severity, Severity::Caution);
    assert!(finding.cause.contains("of the 20000 requests with a recorded time"), "{}", finding.cause);
    assert!(late.stderr.contains("replay (job): later than recorded by p50 "), "{}", late.stderr);
    let report = bench.place.run(&format!("fio {words}")).good().stdout;
    assert!(report.contains("\nLateness (fsdyno):\n  replay (job): later than recorded by p50 "), "{report}");
    let without_moments = bench.run(&format!("{words} --replay_no_stall=1"));
    assert!(found(&without_moments).is_none() && without_moments.record.jobs[0].lateness.is_none());
    assert!(without_moments.record.findings.iter().all(|finding| finding.id != "replay-late"));
}
