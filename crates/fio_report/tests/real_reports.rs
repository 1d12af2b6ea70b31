//! Checks that real reports of fio are reproduced after conversion to a record. They are in `tests/fio`; those of fio
//! 3.33 are first converted to the wording of 3.42.

mod import;

use fsdyno_fio_report::{json, normal, terse};
use fsdyno_results::{JobSetup, PerDirection, RunRecord};
use import::sample;
use jiff::tz::TimeZone;
use serde_json::Value;

fn document(name: &str) -> (String, RunRecord) {
    let text = sample(name);
    let value: Value = serde_json::from_str(&text).unwrap();
    (text, import::json::run(&value))
}

#[track_caller]
fn assert_same(name: &str, printed: &str, expected: &str) {
    for (number, (printed, expected)) in printed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(printed, expected, "line {} of {name}", number + 1);
    }
    assert_eq!(printed.len(), expected.len(), "length of {name}");
}

#[test]
fn json_documents() {
    for name in [
        "d-multijob-group-json.json",
        "e-json-psync.json",
        "h-verify-fail-crc-json.json",
        "p-status-interval-json.json",
        "q-steadystate-json.json",
        "t-multi-format.json",
    ] {
        let (text, run) = document(name);
        assert_same(name, &json::document(&run, false, &TimeZone::UTC), &text);
    }
}

#[test]
fn json_of_several_priorities() {
    let (text, mut run) = document("b-prio-json.json");
    run.jobs[0].setup.percentiles = vec![50.0, 99.0];
    assert_same("b-prio-json.json", &json::document(&run, false, &TimeZone::UTC), &text);
}

/// The sum of two histograms that were rebuilt from percentiles has other percentiles: those are masked.
#[test]
fn json_of_both_directions_and_their_sum() {
    let name = "n-mixed-unified-json.json";
    let (text, run) = document(name);
    let masked = |text: &str| {
        let (before, mixed) = text.split_once("\"mixed\" : {").unwrap();
        let (start, rest) = mixed.split_once("\"percentile\" : {").unwrap();
        format!("{before}{start}{}", rest.split_once('}').unwrap().1)
    };
    assert_same(name, &masked(&json::document(&run, false, &TimeZone::UTC)), &masked(&text));
}

/// Bins and percentiles of three histograms of 2048 values: ours come from the bins alone.
#[test]
fn json_with_bins() {
    let (text, run) = document("e-jsonplus.json");
    assert_same("e-jsonplus.json", &json::document(&run, true, &TimeZone::UTC), &text);
}

#[test]
fn one_run_in_three_formats() {
    let (_, mut run) = document("t-multi-format.json");
    assert_same(
        "t-multi-format.terse.txt",
        &terse::lines(&run, terse::Version::V3),
        &sample("t-multi-format.terse.txt"),
    );
    run.jobs[0].pid = 10727;
    let expected = format!("\n{}", sample("t-multi-format.txt"));
    assert_same("t-multi-format.txt", &normal::results(&run, &TimeZone::UTC), &expected);
}

/// Converts what fio 3.33 words differently, and what we word differently on purpose: no position in fio's source, a
/// cause for every error, and the bandwidth of a steady state in both units.
fn to_our_wording(report: &str) -> String {
    let has_sectors = report.contains("sectors=");
    let lines = report.lines().map(|line| {
        let mut line = line
            .replace("; 0 zone resets", "")
            .replace("target=0, window=0,", "target=0.00ns, window=0.00ns,")
            .replace("fsync/fdatasync/sync_file_range:", "fsync/fdatasync/sync_file_range/syncfs:")
            .replace("bw=3998KiB/s (3998kB/s)", "bw=3998KiB/s (4094kB/s)");
        if !has_sectors && line.contains(", merge=") {
            line = line.replace(", merge=", ", sectors=0/0, merge=");
        }
        if let (Some(start), Some(end)) = (line.find("(file:"), line.find("func=")) {
            line.replace_range(start + 1..end, "");
        }
        line + "\n"
    });
    lines.collect()
}

#[track_caller]
fn assert_report(name: &str, setup: &JobSetup) {
    let text = to_our_wording(&sample(name));
    let run = import::normal::run(&text, setup);
    assert_same(name, &normal::results(&run, &TimeZone::UTC), &format!("\n{text}"));
}

#[test]
fn normal_reports() {
    for name in [
        "a-randrw-full.txt",
        "a-randrw-gtod.txt",
        "b-prio.txt",
        "b-read-numjobs8.txt",
        "c-randread-qd32.txt",
        "c-randwrite-ramp.txt",
        "d-multijob-group.txt",
        "g-rate-iops.txt",
        "h-verify-fail.txt",
        "h-verify-ok.txt",
        "l-fdatasync1.txt",
        "l-fsync.txt",
        "m-percentiles-lat.txt",
        "m-percentiles.txt",
        "n-mixed-unified.txt",
        "q-lattarget.txt",
        "q-steadystate.txt",
        "r-ratemin.txt",
        "u-eta-newline.txt",
        "u-eta.txt",
        "x-sigint.txt",
    ] {
        assert_report(name, &JobSetup::default());
    }
}

#[test]
fn normal_reports_of_other_block_sizes() {
    let large = JobSetup { block_sizes: PerDirection::all((65536, 65536)), ..JobSetup::default() };
    assert_report("k-enospc-write.txt", &large);
    let two = JobSetup {
        block_sizes: PerDirection { read: (8192, 8192), ..PerDirection::all((16384, 16384)) },
        ..JobSetup::default()
    };
    assert_report("n-mixed-rw.txt", &two);
}

#[test]
fn normal_reports_in_other_units() {
    assert_report("s-bits.txt", &JobSetup { unit_base: 1, ..JobSetup::default() });
    assert_report("s-kb1000.txt", &JobSetup { kb_base: 1000, ..JobSetup::default() });
}

/// fio prints empty parentheses where we name the error that was continued after.
#[test]
fn a_report_with_survived_errors() {
    let name = "h-verify-fail-continue.txt";
    let text = to_our_wording(&sample(name));
    let mut run = import::normal::run(&text, &JobSetup::default());
    run.jobs[0].error = None;
    let cause = "err=84 (error=Invalid or incomplete multibyte or wide character)";
    let expected = format!("\n{}", text.replace("err=84 ()", cause));
    assert_same(name, &normal::results(&run, &TimeZone::UTC), &expected);
}
