//! Tests the attribution of latency: the same plan on the server's own filesystem and on the client's mount, in three
//! set-ups with known cause; and what the client alone sees of a slow server.

use std::process::Command;

use fsdyno_results::{ReadWrite, Transfer};
use serde_json::Value;

use crate::bench::{Bench, near};
use testkit::shell;
use testkit::stack::{inside, place, show};
use testkit::{text, word};

/// Durable writes through the page cache; an NFS server also makes each write durable.
const WRITES: &str =
    "--name=write --rw=write --bs=64k --size=8m --sync=dsync --ioengine=psync --time_based --runtime=3";

/// Several direct reads in flight.
const READS: &str = "--name=read --rw=randread --bs=64k --size=8m --direct=1 --ioengine=libaio --iodepth=8 \
                     --time_based --runtime=3";

#[test]
fn server_and_client_apart() {
    inside("attribution::server_and_client_apart", "knfsd", || {
        bytes_agree_with_the_server();
        shell("tc qdisc add dev lo root tbf rate 100mbit burst 256k latency 50ms");
        assert_eq!(culprit(READS, Some(100)), "the link");
        shell("tc qdisc del dev lo root && lab-disk delay 30");
        assert_eq!(culprit(WRITES, None), "the server's storage");
        shell("lab-disk plain");
        // Busy loops for the guest's only CPU.
        let mut busy: Vec<_> = (0..4)
            .map(|_| Command::new("bash").args(["-c", "while :; do :; done"]).spawn().expect("bash is there"))
            .collect();
        let client = measured("LAB_NFS", READS, None);
        for process in &mut busy {
            process.kill().and_then(|()| process.wait().map(drop)).expect("it was running");
        }
        assert_eq!(between(measured("LAB_SERVER", READS, None), client), "the client");
    });
}

/// A server with a slow disk: each pattern says so, even if a run has only a few requests.
#[test]
fn a_server_with_a_slow_disk() {
    inside("attribution::a_server_with_a_slow_disk", "knfsd", || {
        let file = place("LAB_NFS").join("slow");
        shell(&format!("dd if=/dev/urandom of={} bs=1M count=16 conv=fsync status=none", word(&file)));
        shell("lab-disk delay 30");
        let bench = Bench::with_link_mbit(10_000);
        for (access, bs) in [("read", "256k"), ("randread", "4k"), ("write", "256k"), ("randwrite", "4k")] {
            // Neither side has it in memory.
            shell("echo 3 > /proc/sys/vm/drop_caches");
            let run = bench.fio(&format!(
                "--name={access} --filename={} --rw={access} --bs={bs} --size=16m --direct=1 --runtime=1",
                word(&file)
            ));
            let limit =
                fsdyno_findings::limits::of_run(&run.record).unwrap_or_else(|reason| panic!("{access}: {reason}"));
            show(&format!("{access}: {} ({})", limit.limiter.word(), limit.evidence));
            assert_eq!(limit.limiter.word(), "the server", "{access}: {}", limit.evidence);
        }
    });
}

/// A record of the line on this place.
fn measured(variable: &str, line: &str, link_mbit: Option<u32>) -> Measured {
    let bench = link_mbit.map_or_else(Bench::new, Bench::with_link_mbit);
    let run = bench.fio(&format!("{line} --filename={}/attributed", word(&place(variable))));
    assert_eq!(run.status, 0, "{}", run.stderr);
    Measured { bench }
}

struct Measured {
    bench: Bench,
}

fn culprit(line: &str, link_mbit: Option<u32>) -> String {
    let server = measured("LAB_SERVER", line, None);
    between(server, measured("LAB_NFS", line, link_mbit))
}

/// The answer, as people and as programs read it.
#[track_caller]
fn between(server: Measured, client: Measured) -> String {
    let (server_file, client_file) = (server.bench.path("record.json"), client.bench.path("record.json"));
    let words = ["attribute", word(&server_file), word(&client_file)];
    let shown = client.bench.run(&words);
    show(&text(&shown.stdout));
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let json = client.bench.run(&[&words[..], &["--json"]].concat());
    let found: Value = serde_json::from_slice(&json.stdout).expect("one document");
    for side in ["server", "client"] {
        let trust = &found["trust"][side];
        assert!(trust["trust"].is_string() && trust["not_visible"].is_array(), "{found:#}");
        assert!(text(&shown.stdout).contains(&format!("trust: {side} ")), "{}", text(&shown.stdout));
    }
    let pattern = &found["patterns"][0];
    assert!(pattern["queue_ns"].is_number() && pattern["round_trip_ns"].is_number(), "{found:#}");
    pattern["limit"].as_str().unwrap_or_else(|| panic!("no limit: {found:#}")).to_string()
}

/// The server's own counters of reads and writes for its clients.
fn served() -> ReadWrite<u64> {
    let text = std::fs::read_to_string("/proc/net/rpc/nfsd").expect("the server counts");
    let line = text.lines().find_map(|line| line.strip_prefix("io ")).expect("a line of bytes");
    let mut words = line.split_whitespace().map(|word| word.parse().expect("a number"));
    ReadWrite { read: words.next().expect("bytes read"), write: words.next().expect("bytes written") }
}

fn bytes_agree_with_the_server() {
    let bench = Bench::new();
    for (access, way) in [("write", Transfer::Write), ("read", Transfer::Read)] {
        let before = served();
        let nfs = place("LAB_NFS");
        let run =
            bench.fio(&format!("--name=f --directory={} --rw={access} --bs=1m --size=32m --direct=1", word(&nfs)));
        assert_eq!(run.status, 0, "{}", run.stderr);
        let (_, wire) = run.moved();
        near(wire.bytes[way], served().since(before)[way], 0.02, &format!("{access}: mountstats and the server"));
    }
}
