//! `compare` whole: a local disk, NFS and S3 in one view, the servers behind one gigabit link.

use crate::bench::{Bench, word};
use crate::stack::{inside, long_ones_are_wanted, place, skip, tell};

#[test]
fn local_nfs_and_s3() {
    if !long_ones_are_wanted() {
        return skip("takes minutes: set FSDYNO_LAB_LONG=1");
    }
    inside("case_c::local_nfs_and_s3", "case-c", || {
        let bench = Bench::told(1000);
        let named = |name: &str, variable: &str| format!("{name}={}", word(&place(variable)));
        let places = [named("local", "LAB_LOCAL"), named("nfs", "LAB_NFS"), named("s3", "LAB_S3")];
        let mut words = vec!["compare"];
        words.extend(places.iter().map(String::as_str));
        words.extend(["--expect", "nfs=nfs", "--expect", "s3=s3fs"]);
        let study = bench.ask(&words);
        let took_s = (study.ended_ms - study.started_ms) / 1000;
        tell(&format!("{took_s} s\n{}", study.sentences.join("\n")));
        assert!(took_s < 600, "{took_s} s");
        assert_eq!(study.patterns(), ["write", "read", "randread", "randwrite", "randrw"]);
        for row in study.rows.iter().filter(|row| row.target > 0) {
            let total = row.figures().expect("figures").total;
            let rate = total.durable_bytes_per_s.unwrap_or(total.bytes_per_s);
            let marked = row.trust() == results::Trust::Invalid;
            assert!(rate < 131e6 || marked, "{} on {}: {rate} B/s over 125 MB/s", row.title, row.target);
        }
    });
}
