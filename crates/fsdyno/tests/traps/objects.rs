//! What the answers of a server of objects say against the number.

use fsdyno_results::Severity;
use testkit::{Manner, ObjectServer};

use crate::bench::{Bench, RunResult};

fn line(server: &ObjectServer, words: &str) -> String {
    let host = server.host();
    format!("--name=job --ioengine=http --http_host={host} --filename=/bucket/key --size=4m {words}")
}

/// Writes objects of 4 KiB to a server of this kind, and reads them.
fn read_from(bench: &Bench, manner: Manner, words: &str) -> RunResult {
    let server = ObjectServer::start(manner);
    for number in 0..64 {
        server.keep(&format!("/bucket/key_{}_4096", number * 4096), &[1; 4096]);
    }
    bench.run(&line(&server, &format!("--rw=read --bs=4k {words}")).replace("--size=4m", "--size=256k"))
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

#[test]
fn a_server_that_refuses_some_requests_limits_the_rate() {
    let Some(bench) = Bench::new() else { return };
    let refused = read_from(&bench, Manner::WantsFewer(20), "--continue_on_error=io");
    refused.caught("throttled", Severity::Caution);
    let finding = refused.one("throttled");
    assert!(finding.cause.contains("3 of 64 requests"), "{}", finding.cause);
    // Without words on errors the first one ends the job, and this is said as well.
    let ended = read_from(&bench, Manner::WantsFewer(20), "");
    assert!(ended.one("run-failed").severity == Severity::Invalid && ended.find("throttled").is_some());
    read_from(&bench, Manner::Honest, "").honest("throttled");
}

#[test]
fn a_server_that_closes_its_connections_is_told() {
    let Some(bench) = Bench::new() else { return };
    let closes = read_from(&bench, Manner::ClosesBehindAnswers, "");
    closes.caught("no-keep-alive", Severity::Caution);
    let finding = closes.one("no-keep-alive");
    assert!(finding.cause.contains("63 new connections for 64 requests"), "{}", finding.cause);
    read_from(&bench, Manner::Honest, "").honest("no-keep-alive");
}

#[test]
fn one_object_that_all_read_is_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(Manner::Honest);
    server.keep("/bucket/a", &[1; 64 << 10]);
    server.keep("/bucket/b", &[1; 64 << 10]);
    let range = |files: &str| {
        let words = "--rw=read --bs=4k --numjobs=4 --http_object_mode=range";
        bench.run(&line(&server, words).replace("/bucket/key", files).replace("--size=4m", "--size=64k"))
    };
    let one = range("/bucket/a");
    one.caught("hot-object", Severity::Caution);
    assert!(one.one("hot-object").cause.contains("all 64 reads"), "{}", one.one("hot-object").cause);
    range("/bucket/a:/bucket/b").honest("hot-object");
    read_from(&bench, Manner::Honest, "--loops=4").honest("hot-object");
}

#[test]
fn a_head_that_comes_long_before_its_body_is_told() {
    let Some(bench) = Bench::new() else { return };
    let early = read_from(&bench, Manner::HeadFirst(60), "");
    assert_eq!(early.one("first-byte-only").severity, Severity::Info);
    early.honest("delayed-ack");
    read_from(&bench, Manner::Honest, "").honest("first-byte-only");
}

#[test]
fn an_acknowledgement_that_small_answers_wait_for_is_told() {
    let Some(bench) = Bench::new() else { return };
    let waits = read_from(&bench, Manner::Nagle, "");
    waits.caught("delayed-ack", Severity::Caution);
    assert_eq!(waits.find("first-byte-only"), None, "it has its more exact name");
    read_from(&bench, Manner::Honest, "").honest("delayed-ack");
}

#[test]
fn payload_that_compresses_is_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(Manner::Honest);
    bench.run(&line(&server, "--rw=write --bs=64k --zero_buffers")).caught("compressible-data", Severity::Caution);
    bench.run(&line(&server, "--rw=write --bs=64k")).honest("compressible-data");
}

#[test]
fn a_store_that_gets_faster_during_the_run_is_told() {
    let Some(bench) = Bench::new() else { return };
    let rises = read_from(&bench, Manner::WarmsUp(80), "--time_based --runtime=18");
    rises.caught("drift", Severity::Caution);
    assert!(rises.one("drift").cause.contains("rose"), "{}", rises.one("drift").cause);
    read_from(&bench, Manner::WarmsUp(0), "--time_based --runtime=12").honest("drift");
}
