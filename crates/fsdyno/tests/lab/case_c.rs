//! Runs the whole `compare`: a local disk, NFS and S3 in one view, the servers behind one gigabit link.

use std::fs;

use fsdyno_results::evidence::Moment;
use fsdyno_results::{Row, Trust};

use crate::bench::{Bench, near};
use crate::stack::long_ones_are_wanted;
use testkit::skip;
use testkit::stack::{inside, place, show};
use testkit::{text, word};

/// The most that a gigabit link carries, with a burst of the shaped link.
const LINK_BYTES_PER_S: f64 = 131e6;

/// The size of the file.
const FILE_BYTES: u64 = 128 << 20;

/// Set to `write`: the page of this run becomes docs/example-report.html, its table the README's.
const EXAMPLE: &str = "FSDYNO_EXAMPLE";

#[test]
fn local_nfs_and_s3() {
    if !long_ones_are_wanted() {
        return skip("takes minutes: set FSDYNO_LAB_LONG=1");
    }
    inside("case_c::local_nfs_and_s3", "case-c --timeout=900", || {
        let bench = Bench::with_link_mbit(1000);
        let named = |name: &str, variable: &str| format!("{name}={}", word(&place(variable)));
        let places = [named("local", "LAB_LOCAL"), named("nfs", "LAB_NFS"), named("s3", "LAB_S3")];
        let mut words = vec!["compare"];
        words.extend(places.iter().map(String::as_str));
        // Each turn takes a second: a gigabit link cannot carry a file of this size in less.
        words.extend(["--size=128m", "--runtime=1", "--expect=nfs=nfs", "--expect=s3=s3fs"]);
        let study = bench.ask(&words);
        let took_s = (study.ended_ms - study.started_ms) / 1000;
        show(&format!("{took_s} s\n{}", study.sentences.join("\n")));
        assert_eq!(study.patterns(), ["write", "read", "randread", "randwrite", "randrw"]);
        for row in study.rows.iter().filter(|row| row.target > 0 && row.trust() != Trust::Invalid) {
            is_within(row, LINK_BYTES_PER_S);
            match (row.pattern.as_str(), row.target) {
                ("write", 1) => is_what_the_wire_carried(row),
                ("write", _) => sent_whole_objects(row),
                _ => {}
            }
        }
        study.rows.iter().for_each(rests_on_a_second);
        write_example(&bench, &words);
        assert!(took_s < 600, "{took_s} s");
    });
}

/// The example of docs/object-storage.md with fewer rounds: a bucket, its mount and NFS behind one link, and a disk.
#[test]
fn a_bucket_its_mount_nfs_and_a_disk() {
    if !long_ones_are_wanted() {
        return skip("takes minutes: set FSDYNO_LAB_LONG=1");
    }
    inside("case_c::a_bucket_its_mount_nfs_and_a_disk", "case-d --timeout=900", || {
        let bench = Bench::with_link_mbit(1000);
        let named = |name: &str, variable: &str| format!("{name}={}", word(&place(variable)));
        let places = [named("mount", "LAB_S3"), named("nfs", "LAB_NFS"), named("local", "LAB_LOCAL")];
        let mut words = vec!["compare", "bucket=s3://bench/lab"];
        words.extend(places.iter().map(String::as_str));
        words.extend(["--rounds=2", "--runtime=15"]);
        let study = bench.ask(&words);
        show(&text(&bench.run(&["show", "last"]).stdout));
        for row in &study.rows {
            let phase = row.phase.as_ref().expect("a phase");
            assert!(phase.operations > 0 && phase.error.is_none(), "{}: {phase:?}", row.pattern);
            if let (Some(bytes), true) = (phase.bytes, row.target < 3) {
                let rate = bytes as f64 * 1e9 / phase.elapsed_ns as f64;
                assert!(row.trust() == Trust::Invalid || rate < LINK_BYTES_PER_S, "{}: {rate} B/s", row.pattern);
            }
        }
    });
}

/// Nothing is faster than its link without a finding, and durable writes equal the bytes on the wire.
#[track_caller]
pub(crate) fn is_honest(row: &Row, link_bytes_per_s: f64) {
    if row.trust() == Trust::Invalid {
        return;
    }
    is_within(row, link_bytes_per_s);
    if row.pattern == "write" {
        is_what_the_wire_carried(row);
    }
}

#[track_caller]
fn is_within(row: &Row, link_bytes_per_s: f64) {
    let rate = rate(row);
    assert!(rate < link_bytes_per_s, "{} on {}: {rate} B/s over {link_bytes_per_s}", row.title, row.target);
}

#[track_caller]
fn is_what_the_wire_carried(row: &Row) {
    let what = format!("{} on {}: the row and the wire", row.title, row.target);
    let (written, wire, took_ms) = sent(row);
    near(written, wire, 0.1, &format!("{what}, bytes"));
    // In a run of milliseconds the last sample is late by as much.
    if took_ms >= 1000 {
        near(rate(row) as u64, wire * 1000 / took_ms, 0.1, &format!("{what}, bytes per second"));
    }
}

/// A bucket stores whole objects: if a file was written in part, or repeatedly, all of it is sent each time.
#[track_caller]
fn sent_whole_objects(row: &Row) {
    let what = format!("{} on {}: the wire and whole objects", row.title, row.target);
    let (written, wire, _) = sent(row);
    let objects = (wire as f64 / FILE_BYTES as f64).round().max(1.0) as u64;
    near(objects * FILE_BYTES, wire, 0.02, &format!("{what}, bytes"));
    assert!(wire >= written, "{what}: {written} bytes were written, {wire} were sent");
}

/// Smaller differences are noise, and no example.
#[track_caller]
fn rests_on_a_second(row: &Row) {
    let measured_s = row.figures().expect("figures").elapsed_s;
    assert!(measured_s >= 1.0, "{} on {}, round {}: {measured_s} s", row.title, row.target, row.round);
}

/// The rate by which a row is compared, bytes per second; of writes, the durable ones.
pub(crate) fn rate(row: &Row) -> f64 {
    row.figures().expect("figures").bytes_per_s()
}

/// What the row's jobs wrote until the last sample, what was sent over the wire by then, and the time of that sample,
/// ms.
#[track_caller]
fn sent(row: &Row) -> (u64, u64, u64) {
    let ledger = row.run.as_ref().and_then(|run| run.only_node().unwrap().ledger.as_ref()).expect("a ledger");
    let end = ledger.samples.iter().find(|sample| sample.moment == Moment::End).expect("the last look");
    (end.application.bytes.write, end.wire.value().expect("a witness").bytes.write, end.at_ms)
}

/// Writes the last answer as a page, and as the README shows it.
fn write_example(bench: &Bench, asked: &[&str]) {
    if std::env::var(EXAMPLE).is_ok_and(|word| word == "write") {
        let root = testkit::workspace();
        let page = root.join("docs/example-report.html");
        let title = "A local disk, NFS and S3 behind one gigabit link";
        let made = bench.run(&["report", "last", "--title", title, "-o", word(&page)]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let typed = as_a_person_types(&fs::read_to_string(&page).expect("the page"));
        fs::write(&page, typed).expect("the page is writable");
        let shown = bench.run(&["show", "last"]);
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        let readme = root.join("README.md");
        let old = fs::read_to_string(&readme).expect("the README");
        let (before, rest) = old.split_once("<!-- example -->\n").expect("where the example begins");
        let (_, after) = rest.split_once("<!-- end of the example -->\n").expect("where it ends");
        let shown = table_and_why(&text(&shown.stdout));
        let asked = asked.join(" ");
        let new = format!(
            "{before}<!-- example -->\n```\n$ fsdyno {asked}\n\n{shown}```\n<!-- end of the example -->\n{after}"
        );
        fs::write(&readme, new).expect("the README is writable");
    }
}

/// The answer without the table of all figures and without single findings, which are in the page.
fn table_and_why(shown: &str) -> String {
    let end = shown.find("\npattern ").expect("the table of all figures");
    shown[..end].to_string()
}

/// The command without the options that only this test needs.
fn as_a_person_types(shown: &str) -> String {
    shown.replace(" --json --quiet", "")
}
