//! Tests S3 through s3fs, with the wire's counters as evidence.

use serde_json::Value;

use crate::bench::{Bench, near};
use crate::case_c::{is_honest, rate};
use crate::stack::carried;
use testkit::stack::{inside_beside_others, place, show};
use testkit::word;

/// Case C of the design as it was asked for, except for size and time.
fn literal(access: &str) -> String {
    let file = place("LAB_S3").join("perf.txt");
    format!(
        "-filename={} -rw={access} -direct=1 -iodepth 32 -thread -ioengine=libaio -bs=4k -size=16M -numjobs=8 \
         -group_reporting -runtime=8 -time_base -name={access}",
        word(&file)
    )
}

/// The link carries 25 MB/s.
#[test]
fn what_the_wire_carried() {
    inside_beside_others("s3fs::what_the_wire_carried", "s3fs --rate-mbit 200", || {
        the_published_lines_measure_the_cache();
        a_close_hides_the_upload();
        durable_writes_are_what_the_wire_carried();
        a_comparison_is_honest();
    });
}

fn the_published_lines_measure_the_cache() {
    let bench = Bench::with_link_mbit(200);
    for access in ["write", "read"] {
        let before = carried();
        let run = bench.fio(&literal(access));
        assert_eq!(run.status, 0, "{}", run.stderr);
        let crossed = carried().since(before).read;
        let (application, wire) = run.moved();
        let moved = application.sum();
        show(&format!("{access}: the jobs moved {moved}, the wire carried {}", wire.bytes.read));
        assert!(moved > 2 * wire.bytes.read, "the trap itself");
        let cause = &run.invalid("fuse-cache").cause;
        assert!(cause.contains("over the network (interface lo)") && cause.contains("s3fs"), "{cause}");
        // Before the read its file is made with its full length.
        if access == "write" {
            near(wire.bytes.read, crossed, 0.02, "the ledger and the interface");
        }
        let runtimes =
            run.record.jobs.iter().map(|job| job.directions.read.runtime_ms.max(job.directions.write.runtime_ms));
        let claimed = moved * 1000 / runtimes.max().expect("a job").max(1);
        // One job represents all of them.
        if claimed > 27_000_000 {
            run.invalid("above-link-speed");
        }
    }
}

/// Objects are stored when they are closed, after the clock has stopped.
fn a_close_hides_the_upload() {
    let bench = Bench::new();
    let line = format!("--name=unsynced --directory={} --rw=write --bs=1m --size=16m", word(&place("LAB_S3")));
    let run = bench.fio(&line);
    let cause = &run.invalid("writes-in-memory").cause;
    assert!(cause.contains("with it; 16.") && cause.contains("crossed the network"), "{cause}");
}

fn durable_writes_are_what_the_wire_carried() {
    let bench = Bench::with_link_mbit(200);
    let line = format!("--directory={} --rw=write --bs=1m --size=32m --end_fsync=1", word(&place("LAB_S3")));
    let run = bench.fio(&format!("--name=durable {line}"));
    run.silent(&["fuse-cache", "writes-in-memory", "above-link-speed"]);
    let rate = run.record.jobs[0].directions.write.bandwidth();
    let ledger = run.record.only_node().unwrap().ledger.as_ref().expect("a ledger");
    let end = ledger.samples.last().expect("looks");
    let wire = end.wire.value().expect("a witness").bytes.write;
    near(rate, wire * 1000 / end.at_ms, 0.1, "durable rate and the wire's, bytes per second");
    assert!(rate < 27_000_000, "{rate} B/s over 25 MB/s");
}

fn a_comparison_is_honest() {
    let bench = Bench::with_link_mbit(200);
    let (here, s3) = (bench.path(""), place("LAB_S3"));
    let places = [format!("local={}", word(&here)), format!("s3={}", word(&s3))];
    let options = ["--expect", "s3=s3fs", "--rounds=1", "--size=16m", "--runtime=3"];
    let words = [&["compare", &places[0], &places[1]], &options[..]].concat();
    let study = bench.ask(&words);
    let rows: Vec<_> = study.rows.iter().filter(|row| row.target == 1 && row.run.is_some()).collect();
    assert!(rows.len() >= 5, "{:?}", study.rows.iter().map(|row| &row.pattern).collect::<Vec<_>>());
    for row in rows {
        is_honest(row, 27e6);
        let rate = rate(row);
        show(&format!("{} on s3: {rate:.0} B/s, {:?}", row.title, row.trust()));
    }
}

/// A daemon with a cache, and a server with space for less than an object.
#[test]
fn caches_and_lost_objects() {
    inside_beside_others(
        "s3fs::caches_and_lost_objects",
        "s3fs --server-mb 24 --use-cache --s3fs-options retries=1",
        || {
            let bench = Bench::new();
            let s3 = place("LAB_S3");
            let cache = bench.inspect(&s3).pointer("/storage/fuse/cache").and_then(Value::as_str).map(str::to_owned);
            assert!(cache.as_deref().is_some_and(|cache| cache.starts_with("use_cache=/")), "{cache:?}");

            let line = format!("--filename={} --bs=1m --size=8m", word(&s3.join("cached")));
            assert_eq!(bench.fio(&format!("--name=stored {line} --rw=write --end_fsync=1")).status, 0);
            let reread = bench.fio(&format!("--name=reread {line} --rw=read --direct=1"));
            let cause = &reread.invalid("fuse-cache").cause;
            assert!(cause.contains("came from the local cache of s3fs (use_cache=/"), "{cause}");

            let lost = bench.fio(&format!("--name=lost --directory={} --rw=write --bs=1m --size=48m", word(&s3)));
            assert_eq!(lost.status, 1, "{}", lost.stderr);
            assert!(lost.stderr.contains("cannot close") && lost.stderr.contains("lost.0.0"), "{}", lost.stderr);
            let error = lost.record.jobs[0].error.as_ref().expect("the job's error");
            assert_eq!((error.code, error.function.as_str()), (5, "close"));
        },
    );
}
