//! What the answers of a server of objects say against the number.

use std::process::Command;

use fsdyno_results::{RunRecord, Severity};
use testkit::{ObjectServer, ServerBehaviour};

use crate::bench::{Bench, RunResult, one_of_five, the_first_idle_one};

fn line(server: &ObjectServer, words: &str) -> String {
    let host = server.host();
    format!("--name=job --ioengine=http --http_host={host} --filename=/bucket/key --size=4m {words}")
}

/// Writes objects of 4 KiB to a server of this kind, and reads them.
fn read_from(bench: &Bench, manner: ServerBehaviour, words: &str) -> RunResult {
    let server = ObjectServer::start(manner);
    for number in 0..64 {
        server.keep(&format!("/bucket/key_{}_4096", number * 4096), &[1; 4096]);
    }
    bench.run(&line(&server, &format!("--rw=read --bs=4k {words}")).replace("--size=4m", "--size=256k"))
}

#[test]
fn reads_of_objects_that_nobody_wrote_are_no_reads() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(ServerBehaviour::Honest);
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
    let refused = read_from(&bench, ServerBehaviour::WantsFewer(20), "--continue_on_error=io");
    refused.caught("throttled", Severity::Caution);
    let finding = refused.one("throttled");
    assert!(finding.cause.contains("3 of 64 requests"), "{}", finding.cause);
    // Without words on errors the first one ends the job, and this is said as well.
    let ended = read_from(&bench, ServerBehaviour::WantsFewer(20), "");
    assert!(ended.one("run-failed").severity == Severity::Invalid && ended.find("throttled").is_some());
    read_from(&bench, ServerBehaviour::Honest, "").honest("throttled");
}

#[test]
fn a_server_that_closes_its_connections_is_told() {
    let Some(bench) = Bench::new() else { return };
    let closes = read_from(&bench, ServerBehaviour::ClosesBehindAnswers, "");
    closes.caught("no-keep-alive", Severity::Caution);
    let finding = closes.one("no-keep-alive");
    assert!(finding.cause.contains("63 new connections for 64 requests"), "{}", finding.cause);
    read_from(&bench, ServerBehaviour::Honest, "").honest("no-keep-alive");
}

#[test]
fn one_object_that_all_read_is_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(ServerBehaviour::Honest);
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
    read_from(&bench, ServerBehaviour::Honest, "--loops=4").honest("hot-object");
}

#[test]
fn a_head_that_comes_long_before_its_body_is_told() {
    let Some(bench) = Bench::new() else { return };
    let early = read_from(&bench, ServerBehaviour::HeadFirst(60), "");
    assert_eq!(early.one("first-byte-only").severity, Severity::Info);
    early.honest("delayed-ack");
    read_from(&bench, ServerBehaviour::Honest, "").honest("first-byte-only");
}

#[test]
fn an_acknowledgement_that_small_answers_wait_for_is_told() {
    let Some(bench) = Bench::new() else { return };
    let waits = read_from(&bench, ServerBehaviour::Nagle, "");
    waits.caught("delayed-ack", Severity::Caution);
    assert_eq!(waits.find("first-byte-only"), None, "it has its more exact name");
    read_from(&bench, ServerBehaviour::Honest, "").honest("delayed-ack");
}

#[test]
fn payload_that_compresses_is_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(ServerBehaviour::Honest);
    bench.run(&line(&server, "--rw=write --bs=64k --zero_buffers")).caught("compressible-data", Severity::Caution);
    bench.run(&line(&server, "--rw=write --bs=64k")).honest("compressible-data");
}

#[test]
fn a_store_that_gets_faster_during_the_run_is_told() {
    let Some(bench) = Bench::new() else { return };
    // Where other programs have the CPUs, the server is as slow as before.
    let rises = || read_from(&bench, ServerBehaviour::WarmsUp(80), "--time_based --runtime=18");
    let rises = one_of_five("drift", rises, |ran| ran.find("drift").is_some());
    rises.inspect(|ran| {
        ran.caught("drift", Severity::Caution);
        assert!(ran.one("drift").cause.contains("rose"), "{}", ran.one("drift").cause);
    });
    let even = || read_from(&bench, ServerBehaviour::WarmsUp(0), "--time_based --runtime=12");
    let even = one_of_five("no drift", even, |ran| ran.find("drift").is_none());
    even.inspect(|ran| ran.honest("drift"));
}

#[test]
fn a_server_with_another_time_is_told() {
    let Some(bench) = Bench::new() else { return };
    read_from(&bench, ServerBehaviour::OldClock, "").caught("clock-skew", Severity::Caution);
    let now = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let right = read_from(&bench, ServerBehaviour::Dated(now.leak()), "");
    right.honest("clock-skew");
    assert!(right.record.jobs[0].object.as_ref().is_some_and(|object| object.ahead_s.is_some()), "it was looked at");
}

/// Reads with two workers from a server whose name has two addresses of this machine; `None`: its name cannot be changed
/// here.
fn read_by_name(bench: &Bench, server: &ObjectServer) -> Option<RunResult> {
    let hosts = bench.path("hosts");
    std::fs::write(&hosts, "127.0.0.1 two.example\n127.0.0.2 two.example\n").expect("a file");
    let words = line(server, "--rw=read --bs=4k --numjobs=2 --findings=all --record=record.json");
    let words =
        words.replace(&server.host(), &format!("two.example:{}", server.port())).replace("--size=4m", "--size=256k");
    let mut command = Command::new("unshare");
    let script = "mount --bind \"$1\" /etc/hosts && shift && exec \"$@\"";
    command.args(["-rm", "sh", "-c", script, "sh"]).arg(&hosts).arg(testkit::program()).arg("fio");
    let output = command.args(words.split(' ')).current_dir(bench.path("")).output().ok()?;
    let saved = std::fs::read_to_string(bench.path("record.json")).ok()?;
    std::fs::remove_file(bench.path("record.json")).expect("it was there");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let record = RunRecord::from_json(&saved).expect("a record");
    Some(RunResult { record, stdout: text(output.stdout), stderr: text(output.stderr) })
}

#[test]
fn one_address_of_two_that_serves_all_is_told() {
    let Some(bench) = Bench::new() else { return };
    let keep = |server: &ObjectServer| {
        (0..64).for_each(|number| server.keep(&format!("/bucket/key_{}_4096", number * 4096), &[1; 4096]));
    };
    let (one, both) =
        (ObjectServer::start(ServerBehaviour::Honest), ObjectServer::start_on_all_addresses(ServerBehaviour::Honest));
    [&one, &both].into_iter().for_each(keep);
    let Some(alone) = read_by_name(&bench, &one) else { return testkit::skip("no namespace with names of its own") };
    alone.caught("one-endpoint", Severity::Caution);
    read_by_name(&bench, &both).expect("as before").honest("one-endpoint");
}

#[test]
fn hashes_that_take_a_part_of_the_time_are_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(ServerBehaviour::Honest);
    let put = |words: &str| {
        let words = format!("--rw=write --bs=8m --time_based --runtime=2 {words}");
        bench.run(&line(&server, &words).replace("--size=4m", "--size=32m"))
    };
    // A server that waits for a CPU takes the larger part of the time.
    let signed = || put("--http_mode=s3 --http_s3_keyid=AKID --http_s3_key=secret");
    let signed = the_first_idle_one("checksum-cost", signed, |ran| ran.find("checksum-cost").is_some());
    signed.inspect(|ran| ran.caught("checksum-cost", Severity::Caution));
    put("").honest("checksum-cost");
}

#[test]
fn a_window_that_limits_what_is_sent_is_told() {
    let Some(bench) = Bench::new() else { return };
    let put = |manner| bench.run(&line(&ObjectServer::start(manner), "--rw=write --bs=1m").replace("=4m", "=48m"));
    // The kernel looks at the window when it could send: while other programs have the CPUs, it looks rarely.
    let is_limited = |ran: &RunResult| ran.find("rwnd-limited").is_some();
    let limited = one_of_five("rwnd-limited", || put(ServerBehaviour::SmallWindow), is_limited);
    limited.inspect(|ran| assert_eq!(ran.one("rwnd-limited").severity, Severity::Info));
    // A server that waits for a CPU does not read in time, either.
    let honest = one_of_five("no rwnd-limited", || put(ServerBehaviour::Honest), |ran| !is_limited(ran));
    honest.inspect(|ran| ran.honest("rwnd-limited"));
}

#[test]
fn a_client_that_is_the_limit_is_told() {
    let Some(bench) = Bench::new() else { return };
    let server = ObjectServer::start(ServerBehaviour::Honest);
    // Its checksums take fifty times as long as the server does.
    let words = line(&server, "--rw=write --bs=2m --verify=sha3-512 --do_verify=0");
    let words = words.replace("--size=4m", "--size=48m");
    // The server has no CPU of its own: where other programs have it, the client waits for it, and is not the limit.
    let busy = one_of_five("client-bound", || bench.run(&words), |ran| ran.find("client-bound").is_some());
    busy.inspect(|ran| ran.caught("client-bound", Severity::Caution));
    read_from(&bench, ServerBehaviour::WarmsUp(0), "--time_based --runtime=1").honest("client-bound");
}

/// The same over TLS, whose share is told.
#[test]
fn the_share_of_tls_is_told_where_the_client_is_the_limit() {
    let Some(bench) = Bench::new() else { return };
    let Some(server) = ObjectServer::start_encrypted(ServerBehaviour::Honest, &bench.path("")) else { return };
    let words = line(&server, "--rw=write --bs=2m --verify=sha3-512 --do_verify=0 --https=insecure");
    let words = words.replace("--size=4m", "--size=48m");
    let busy = one_of_five("client-bound", || bench.run(&words), |ran| ran.find("client-bound").is_some());
    busy.inspect(|ran| {
        let cause = &ran.one("client-bound").cause;
        assert!(!cause.contains("TLS took 0 %") && cause.contains("hashes and signatures 0 %"), "{cause}");
    });
}
