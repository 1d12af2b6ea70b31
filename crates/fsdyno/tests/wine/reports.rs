//! Reports are the same text as on Linux, and JSON has the same keys.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::TestDirectory;

use crate::bench::{directory, escaped, wine};

/// Virtual time: every figure follows from the options.
const SIM: &[&str] = &[
    "--name=a",
    "--ioengine=sim",
    "--rw=randrw",
    "--bs=4k",
    "--size=4m",
    "--iodepth=4",
    "--randseed=5",
    "--thread",
    "--allow_file_create=0",
    // Windows has a note on what it does not count.
    "--findings=off",
];

/// Each format that fio has, byte for byte but for the moment, the process and what it cost.
#[test]
fn reports_are_those_of_linux() {
    let Some(wine) = wine() else { return };
    let place = TestDirectory::new();
    for format in ["normal", "terse", "json", "json+"] {
        let format = format!("--output-format={format}");
        let words = [SIM, &[format.as_str()]].concat();
        let (there, here) = (wine.fsdyno(&words), place.run(&words).good().stdout);
        assert_eq!(without_moment(&there), without_moment(&here), "{format}");
    }
}

/// Without the lines that say when, by whom and at what cost, and the five fields of terse reports on the latter.
fn without_moment(report: &str) -> Vec<String> {
    const COST: std::ops::Range<usize> = 87..92;
    let moments = ["timestamp", "\"time\"", "job_start", "pid=", "_cpu\"", "\"ctx\"", "\"majf\"", "\"minf\"", "  cpu "];
    let lengths = ["\"elapsed\"", "\"job_runtime\""];
    let lines = report.lines().map(|line| line.trim_end_matches('\r'));
    let kept = lines.filter(|line| !moments.iter().chain(&lengths).any(|word| line.contains(word)));
    let fields = |line: &str| {
        line.split(';')
            .enumerate()
            .filter(|(at, _)| !COST.contains(at))
            .map(|(_, field)| field)
            .collect::<Vec<_>>()
            .join(";")
    };
    kept.map(|line| if line.starts_with("3;") { fields(line) } else { line.to_owned() }).collect()
}

/// Paths to all values, without numbers of a histogram's buckets.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = if key.bytes().all(|byte| byte.is_ascii_digit()) { "*" } else { key };
            keys(value, &format!("{path}/{key}"), found);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, &format!("{path}/-"), found)),
        _ => drop(found.insert(path.to_owned())),
    }
}

/// The three lines that a published page gives for Windows: latency, IOPS, throughput. They run as they stand, but for
/// their sizes and times; what they print has the tree of the same lines on Linux.
#[test]
fn the_published_lines_run_and_their_json_has_the_same_tree() {
    let Some(wine) = wine() else { return };
    let place = directory();
    let ground = escaped(place.path());
    for shape in [
        &["--name=latency", "--rw=randread", "--bs=4k", "--iodepth=1"][..],
        &["--name=iops", "--rw=randread", "--bs=4k", "--iodepth=32", "--numjobs=2", "--group_reporting"][..],
        &["--name=throughput", "--rw=read", "--bs=64k", "--iodepth=32"][..],
    ] {
        let common = ["--size=4m", "--io_size=4m", "--direct=1", "--thread", "--output-format=json"];
        let printed = wine.fsdyno(&[&["--ioengine=windowsaio", &ground], shape, &common[..]].concat());
        let there: Value = serde_json::from_str(&printed).expect("one document");
        assert_eq!(there["jobs"][0]["error"], 0, "{shape:?}");
        assert!(there["jobs"][0]["read"]["io_bytes"].as_u64().is_some_and(|bytes| bytes >= 4 << 20), "{shape:?}");
        let here = TestDirectory::new().run(&[&["--ioengine=libaio"], shape, &common[..]].concat());
        let here = here.document();
        let tree = |document: &Value| {
            let mut found = BTreeSet::new();
            keys(document, "", &mut found);
            // Reports of Windows have no disks, as with fio; evidence names what each system shows.
            found.retain(|key| !key.contains("disk_util") && !key.contains("fsdyno"));
            found
        };
        let options = |tree: BTreeSet<String>| -> BTreeSet<String> {
            tree.into_iter().filter(|key| !key.ends_with("/directory") && !key.contains("percentile")).collect()
        };
        assert_eq!(options(tree(&there)), options(tree(&here)), "{shape:?}");
    }
}
