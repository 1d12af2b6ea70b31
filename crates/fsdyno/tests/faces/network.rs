//! Tests jobs that send to each other, over the loopback interface.

use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Stdio};

use testkit::{TestDirectory, has, skip};

const BYTES: u64 = 64 << 10;

/// Datagrams to a group, which stay on this machine.
const GROUP: &str = "--protocol=udp --hostname=239.255.7.9 --interface=127.0.0.1";

/// A port that was just free, for either protocol.
fn port() -> u16 {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = tcp.local_addr().expect("a bound socket").port();
    UdpSocket::bind(("127.0.0.1", port)).map_or_else(|_| self::port(), |_| port)
}

fn receiver(words: &str, port: &str) -> String {
    format!("--name=r --ioengine=net {words} {port} --rw=read --bs=4k --size=64k --runtime=20")
}

fn sender(words: &str, port: &str) -> String {
    format!("--name=s --ioengine=net {words} {port} --rw=write --bs=4k --size=64k")
}

#[test]
fn what_one_job_sends_the_other_receives() {
    let place = TestDirectory::new();
    let here = "--hostname=127.0.0.1";
    let sockets = "--protocol=unix --hostname=socket";
    for (receives, sends, answered) in [
        ("--listen", here.to_owned(), false),
        ("--listen --nodelay=1 --pingpong", format!("{here} --nodelay=1 --pingpong"), true),
        ("--listen --window_size=64k --mss=1400", format!("{here} --window_size=64k --mss=1400"), false),
        ("--ioengine=netsplice --listen", format!("{here} --ioengine=netsplice"), false),
        ("--listen --pingpong", format!("{here} --ioengine=netsplice --pingpong"), true),
        ("--protocol=udp", format!("{here} --protocol=udp"), false),
        (GROUP, GROUP.to_owned(), false),
        ("--protocol=tcpv6 --listen", "--protocol=tcpv6 --hostname=::1".to_owned(), false),
        ("--protocol=udpv6", "--protocol=udpv6 --hostname=::1".to_owned(), false),
        (sockets, sockets.to_owned(), false),
    ] {
        if receives.contains("v6") && UdpSocket::bind("[::1]:0").is_err() {
            skip("there is no IPv6");
            continue;
        }
        let port = if receives.contains("unix") { String::new() } else { format!("--port={}", port()) };
        let line =
            format!("{} {} --startdelay=1 --output-format=json", receiver(receives, &port), sender(&sends, &port));
        let document = place.run(&line).good().document();
        let bytes = |job: usize, direction: &str| document["jobs"][job][direction]["io_bytes"].as_u64();
        assert_eq!((bytes(0, "read"), bytes(1, "write")), (Some(BYTES), Some(BYTES)), "{receives}, {answered}");
        // The wait for the sender is not part of the measurement.
        let runtime_ms = document["jobs"][0]["read"]["runtime"].as_u64().expect("a number");
        let longest_ns = document["jobs"][0]["read"]["clat_ns"]["max"].as_u64().expect("a number");
        assert!(runtime_ms < 1000 && longest_ns < 900_000_000, "{receives}: {runtime_ms} ms, {longest_ns} ns");
    }
    assert!(!place.names("").contains(&"socket".to_owned()), "it was made by the receiver");
}

#[test]
fn a_receiver_ends_with_its_sender_and_a_sender_without_receiver_fails() {
    let place = TestDirectory::new();
    let port = format!("--port={}", port());
    let long = receiver("--listen", &port).replace("--size=64k", "--size=1m");
    let short = sender("--hostname=127.0.0.1", &port);
    let document = place.run(&format!("{long} {short} --output-format=json")).good().document();
    assert_eq!(document["jobs"][0]["read"]["io_bytes"].as_u64(), Some(BYTES), "{document}");
    // The sender's time is over while the receiver waits.
    let slow = format!("{short} --rate_iops=2 --runtime=1 --time_based");
    let document = place.run(&format!("{long} {slow} --output-format=json")).good().document();
    let bytes = |job: usize, direction: &str| document["jobs"][job][direction]["io_bytes"].as_u64();
    assert!(bytes(0, "read") > Some(0) && bytes(0, "read") == bytes(1, "write"), "{document}");
    let alone = place.run(&short);
    assert!(alone.status == Some(1) && alone.stderr.contains("127.0.0.1, port"), "{alone:?}");
    for (words, complaint) in [
        ("--rw=read", "requires port"),
        ("--rw=randread --port=1 --listen", "can't be random"),
        ("--rw=write --port=1", "no host to connect to"),
        ("--rw=read --port=1 --listen --hostname=a", "hostname not valid"),
        ("--rw=read --protocol=udp --listen --port=1", "listen only valid"),
        ("--rw=write --protocol=vsock --hostname=1", "requires port"),
        ("--rw=write --protocol=vsock --hostname=localhost --port=1", "is no CID"),
        ("--rw=read --protocol=vsock --port=1", "no host to connect to"),
    ] {
        let refused = place.run(&format!("--name=a --ioengine=net --size=4k {words}"));
        assert!(refused.status == Some(1) && refused.stderr.contains(complaint), "{refused:?}");
    }
}

/// The receiver of each tool accepts the other's sender.
#[test]
fn receivers_understand_the_senders_of_fio() {
    if !has("fio") {
        return skip("there is no fio");
    }
    for (protocol, listens) in [("tcp", "--listen"), ("udp", "")] {
        let place = TestDirectory::new();
        let port = format!("--port={}", port());
        let words = receiver(&format!("--protocol={protocol} {listens}"), &port).replace("--size=64k", "--size=1m");
        let mut ours = place.start(&words);
        ours.wait_for("waiting for connection");
        let sends = sender(&format!("--protocol={protocol} --hostname=127.0.0.1"), &port);
        let fio = Command::new("fio").args(sends.split_whitespace()).stdout(Stdio::null()).status().expect("fio runs");
        assert!(fio.success());
        let report = ours.finish().good().stdout;
        assert!(report.contains("(64.0KiB/"), "{protocol}: {report}");
    }
}

#[test]
fn receivers_of_fio_understand_the_senders() {
    if !has("fio") {
        return skip("there is no fio");
    }
    for (protocol, listens) in [("tcp", "--listen"), ("udp", "")] {
        let place = TestDirectory::new();
        let port = port();
        let words = receiver(&format!("--protocol={protocol} {listens}"), &format!("--port={port}"));
        let words = format!("{words} --output=report --output-format=json");
        let mut fio = Command::new("fio");
        let mut fio = fio
            .args(words.split_whitespace())
            .current_dir(place.path(""))
            .stdout(Stdio::null())
            .spawn()
            .expect("fio runs");
        let bound = format!(":{port:04X} ");
        let waits =
            || std::fs::read_to_string(format!("/proc/net/{protocol}")).is_ok_and(|table| table.contains(&bound));
        testkit::wait_until("fio waits for its sender", waits);
        place.run(&sender(&format!("--protocol={protocol} --hostname=127.0.0.1"), &format!("--port={port}"))).good();
        assert!(fio.wait().expect("fio ends").success(), "{protocol}");
        let document: serde_json::Value = serde_json::from_str(&place.read("report")).expect("a document");
        assert_eq!(document["jobs"][0]["read"]["io_bytes"].as_u64(), Some(BYTES), "{protocol}");
    }
}

/// A file with the name of a receiver's socket belongs to somebody: it is kept.
#[test]
fn a_file_in_the_place_of_a_socket_stays() {
    let place = TestDirectory::new();
    place.write("mine", "precious");
    let refused = place.run("--name=a --ioengine=net --protocol=unix --hostname=mine --rw=read --size=4k");
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert_eq!(place.read("mine"), "precious");
}
