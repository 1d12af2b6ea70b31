//! Jobs that read and write the objects of a server.

use std::io::{Read, Write};
use std::net::TcpListener;

use testkit::{ObjectServer, RunResult, Running, ServerBehaviour, TestDirectory};

const SECRET: &str = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";

fn line(server: &ObjectServer, words: &str) -> String {
    let host = server.host();
    format!("--name=o --ioengine=http --http_host={host} --filename=/bucket/key --bs=4k --size=64k {words}")
}

fn run(server: &ObjectServer, words: &str) -> RunResult {
    TestDirectory::new().run(&line(server, words))
}

#[test]
fn what_is_written_is_read_back_under_the_names_of_fio() {
    for manner in [
        ServerBehaviour::Honest,
        ServerBehaviour::Chunked,
        ServerBehaviour::Interim,
        ServerBehaviour::ClosesBehindAnswers,
    ] {
        let server = ObjectServer::start(manner);
        run(&server, "--rw=write --verify=crc32c").good();
        let objects = server.objects();
        let names: Vec<&str> = objects.keys().map(String::as_str).collect();
        assert!(names.contains(&"/bucket/key_0_4096") && names.contains(&"/bucket/key_61440_4096"), "{names:?}");
        assert!(objects.len() == 16 && objects.values().all(|object| object.len() == 4096), "{manner:?}");
        let document = run(&server, "--rw=randread --output-format=json").good().document();
        assert_eq!(document["jobs"][0]["read"]["io_bytes"].as_u64(), Some(64 << 10), "{manner:?}");
        run(&server, "--rw=trim").good();
        assert!(server.objects().is_empty(), "{manner:?}");
        let heads = server.heads();
        assert!(!heads.iter().any(|head| head.to_lowercase().contains("expect")), "{manner:?}");
        let connections = server.connections();
        let kept = manner != ServerBehaviour::ClosesBehindAnswers;
        assert!(if kept { connections == 3 } else { connections >= 48 }, "{manner:?}: {connections} connections");
    }
}

#[test]
fn a_range_is_a_part_of_one_object() {
    let server = ObjectServer::start(ServerBehaviour::Honest);
    let object: Vec<u8> = (0..64 << 10).map(|at: u32| (at % 251) as u8).collect();
    server.keep("/bucket/key", &object);
    run(&server, "--rw=read --http_object_mode=range").good();
    assert!(server.heads()[1].contains("\r\nRange: bytes=4096-8191\r\n"), "{:?}", server.heads());
    // Behind the end of the object is nothing.
    let beyond = run(&server, "--rw=read --http_object_mode=range --size=128k");
    assert!(beyond.status == Some(1) && beyond.stderr.contains("4096 were asked for"), "{beyond:?}");
}

#[test]
fn each_fault_of_a_server_is_an_error_in_bounded_time() {
    for (manner, direction, says) in [
        (
            ServerBehaviour::Status(403, "<Error><Code>AccessDenied</Code></Error>"),
            "write",
            "DDIR_WRITE failed with HTTP status code 403",
        ),
        (ServerBehaviour::Status(503, "<Error><Code>SlowDown</Code></Error>"), "read", "the server says SlowDown"),
        (ServerBehaviour::Status(404, ""), "write", "DDIR_WRITE failed with HTTP status code 404"),
        (
            ServerBehaviour::Status(200, "<Error><Code>InternalError</Code></Error>"),
            "write",
            "the server says InternalError",
        ),
        (
            ServerBehaviour::Status(500, "<!DOCTYPE a [<!ENTITY b \"c\">]><Error><Code>&b;</Code></Error>"),
            "trim",
            "DDIR_TRIM failed",
        ),
        (ServerBehaviour::EndlessHead, "read", "the head of the answer does not end"),
        (ServerBehaviour::EndlessError, "read", "DDIR_READ failed with HTTP status code 500"),
        (ServerBehaviour::ClaimsMore(0), "read", "the connection ended after 4 of 4096 bytes"),
        (ServerBehaviour::ClaimsMore(1), "read", "more than 4096 bytes"),
        (ServerBehaviour::OtherLength(8192), "read", "more than 4096 bytes"),
        (ServerBehaviour::OtherLength(100), "read", "the answer has 100 bytes"),
        (ServerBehaviour::ClosesAtOnce, "read", "closed the connection without an answer"),
        (ServerBehaviour::OtherProtocol, "read", "the answer is not HTTP"),
        (ServerBehaviour::Redirects, "read", "DDIR_READ failed with HTTP status code 307"),
    ] {
        let server = ObjectServer::start(manner);
        let ran = run(&server, &format!("--rw={direction}"));
        assert!(ran.status == Some(1) && ran.stderr.contains(says), "{manner:?}: {ran:?}");
        // Nothing is done again, and nothing is followed.
        assert_eq!(server.heads().len(), 1, "{manner:?}");
    }
}

/// A stop order is heard while a request waits for its answer.
#[test]
fn a_server_that_does_not_answer_delays_no_end() {
    for manner in [ServerBehaviour::Silent, ServerBehaviour::SlowBytes] {
        let server = ObjectServer::start(manner);
        let ran = run(&server, "--rw=read --runtime=1 --output-format=json").good();
        assert_eq!(ran.document()["jobs"][0]["read"]["total_ios"].as_u64(), Some(0), "{manner:?}");
    }
}

/// A store makes an object of a request that it has whole. Its job ends behind the answer, so that deletes come later.
#[test]
fn no_object_comes_behind_the_end_of_its_job() {
    let server = ObjectServer::start(ServerBehaviour::KeepsParts(700));
    let words = "--rw=write --time_based --runtime=1 --http_mode=s3 --http_s3_keyid=AKID --http_s3_key=secret";
    run(&server, words).good();
    let there = server.objects().len();
    // Each request takes the server this time before it has its effect.
    testkit::pause(1500);
    assert!(
        there > 0 && server.objects().len() == there,
        "{there} objects at the end, {} later",
        server.objects().len()
    );
}

/// fio does not give up at an error that the job may survive.
#[test]
fn errors_are_counted_where_the_job_goes_on() {
    let server = ObjectServer::start(ServerBehaviour::Status(503, ""));
    let ran = run(&server, "--rw=read --continue_on_error=io --output-format=json");
    assert_eq!(ran.document()["jobs"][0]["total_err"].as_u64(), Some(16), "{ran:?}");
}

/// Secrets are sent or signed with, and stand nowhere else.
#[test]
fn secrets_stay_out_of_everything_that_is_shown() {
    let server = ObjectServer::start(ServerBehaviour::Honest);
    let place = TestDirectory::new();
    let secrets = format!(
        "--http_mode=s3 --http_s3_keyid=AKID --http_s3_key={SECRET} --http_s3_security_token={SECRET} \
         --http_pass={SECRET} --http_swift_auth_token={SECRET} --http_s3_sse_customer_key={SECRET}"
    );
    for (words, good) in [
        ("--rw=write", true),
        ("--rw=write --output-format=json+", true),
        ("--rw=write --record=r.json", true),
        ("--rw=write --showcmd", true),
        ("--rw=write --debug=parse", true),
        ("--rw=write --fsync=1", false),
        ("--rw=write --http_s3_storage_class=a\u{1}b", false),
    ] {
        let ran = place.run(&format!("{} {secrets}", line(&server, words)));
        assert!((ran.status == Some(0)) == good, "{words}: {ran:?}");
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{words}: {ran:?}");
    }
    let record = place.read("r.json");
    assert!(record.contains("--http_s3_key=(hidden)") && !record.contains(SECRET), "{record}");
    let host = server.host();
    place.write(
        "job.fio",
        format!("[o]\nioengine=http\nhttp_host={host}\nfilename=/b/k\nhttp_mode=s3\nhttp_s3_key={SECRET}\nsize=4k\nrw=write\n"),
    );
    let half = place.run("job.fio");
    assert!(half.status == Some(1) && half.stderr.contains("give both") && !half.stderr.contains(SECRET), "{half:?}");
    let heads = server.heads();
    let signed = "Authorization: AWS4-HMAC-SHA256 Credential=AKID/";
    assert!(
        heads.iter().all(|head| head.contains(signed) && head.contains("x-amz-storage-class: STANDARD")),
        "{heads:?}"
    );
}

/// The record of a run with what came of its requests.
#[test]
fn the_record_has_what_came_of_the_requests() {
    let server = ObjectServer::start(ServerBehaviour::ClosesBehindAnswers);
    let place = TestDirectory::new();
    place.run(&line(&server, "--rw=write --record=r.json")).good();
    let record: serde_json::Value = serde_json::from_str(&place.read("r.json")).expect("a record");
    let object = &record["jobs"][0]["object"];
    assert_eq!(object["server"].as_str(), Some(server.host().as_str()), "{object}");
    assert_eq!((object["statuses"]["200"].as_u64(), object["reconnects"].as_u64()), (Some(16), Some(15)), "{object}");
    let counted =
        |phase: &str| object[phase].as_array().into_iter().flatten().filter_map(|pair| pair[1].as_u64()).sum::<u64>();
    assert_eq!(["send", "first_byte", "body"].map(counted), [16; 3], "{object}");
}

/// Over TLS: with an authority that is trusted, with one that is not, and with one that nobody asks about.
#[test]
fn certificates_are_checked_unless_the_job_says_no() {
    let place = TestDirectory::new();
    let Some(server) = ObjectServer::start_encrypted(ServerBehaviour::Honest, &place.path("")) else { return };
    let words = line(&server, "--rw=write --verify=crc32c --bs=256k --size=1m");
    let stranger = place.run(&format!("{words} --https=on"));
    assert!(stranger.status == Some(1) && stranger.stderr.contains("certificate"), "{stranger:?}");
    place.run(&format!("{words} --https=insecure")).good();
    assert!(server.objects().contains_key("/bucket/key_0_262144"));
    let mut command = place.command(&format!("{words} --https=on --record=r.json"));
    Running::start(command.env("SSL_CERT_FILE", "certificate.pem")).finish().good();
    assert!(place.read("r.json").contains("TLSv1_3"));
}

/// A server that speaks no TLS, and one that never says anything: its connections wait in the queue of the system.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn a_handshake_that_fails_is_an_error_in_bounded_time() {
    let [plain, silent] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let read_from = |listener: &TcpListener| {
        let host = listener.local_addr().expect("a bound socket");
        let words = "--rw=read --bs=4k --size=4k --filename=/bucket/key --https=insecure";
        TestDirectory::new().run(&format!("--name=o --ioengine=http --http_host={host} {words}"))
    };
    let spoken = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = plain.accept().expect("a connection");
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            // Until the client leaves.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        read_from(&plain)
    });
    for (ran, says) in [(spoken, "InvalidContentType"), (read_from(&silent), "timed out")] {
        assert!(ran.status == Some(1) && ran.stderr.contains(says), "{says}: {ran:?}");
    }
}

#[test]
fn what_a_job_must_say_is_asked_for() {
    let server = ObjectServer::start(ServerBehaviour::Honest);
    let host = server.host();
    for (words, says) in [
        ("--size=4k --rw=read", "needs filename"),
        ("--size=4k --rw=read --filename=b/k", "does not begin with /"),
        ("--size=4k --rw=read --directory=/d --filename=/b/k", "directory is none of a server"),
        ("--rw=read --filename=/b/k", "you need to specify size="),
        ("--size=4k --rw=write --filename=/b/k --fsync=1", "Only DDIR_READ/DDIR_WRITE/DDIR_TRIM are supported!"),
        ("--size=4k --rw=read --filename=/b/k --http_host=a/b", "is no HOST or HOST:PORT"),
        ("--size=4k --rw=read --filename=/b/k --http_host=127.0.0.1:1", "is a server at 127.0.0.1:1?"),
    ] {
        let ran = TestDirectory::new().run(&format!("--name=o --ioengine=http --http_host={host} {words}"));
        assert!(ran.status == Some(1) && ran.stderr.contains(says), "{words}: {ran:?}");
    }
}
