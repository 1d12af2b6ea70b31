//! Objects of a server that are not there.

use fsdyno_results::Severity;
use testkit::{Manner, ObjectServer};

use crate::bench::Bench;

fn line(server: &ObjectServer, words: &str) -> String {
    let host = server.host();
    format!("--name=job --ioengine=http --http_host={host} --filename=/bucket/key --size=4m {words}")
}

#[test]
fn reads_of_objects_that_nobody_wrote_are_no_reads() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(Manner::Honest);
    let written = bench.run(&line(&server, "--rw=write --bs=4k"));
    written.honest("object-missing");
    // The names have another length in them.
    let other = bench.run(&line(&server, "--rw=read --bs=8k"));
    other.caught("object-missing", Severity::Invalid);
    let finding = other.one("object-missing");
    assert!(finding.cause.contains("512 of 512 reads"), "{}", finding.cause);
    let same = bench.run(&line(&server, "--rw=read --bs=4k"));
    same.honest("object-missing");
    // A few of many.
    let more = bench.run(&line(&server, "--rw=read --bs=4k").replace("--size=4m", "--size=4132k"));
    assert_eq!(more.one("object-missing").severity, Severity::Info);
}
