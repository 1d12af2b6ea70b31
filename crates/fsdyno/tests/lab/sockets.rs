//! Tests the counters of a FUSE daemon's connections, in the ledger and in sentences.

use std::process::Command;

use fsdyno_results::evidence::{Moment, SocketCounters};

use crate::bench::{Bench, Run, near};
use testkit::stack::{inside_beside_others, place, show};
use testkit::word;

/// A writer and a reader over the interface that the daemon also uses.
const NEIGHBOUR: &str = "
import socket, threading
listening = socket.create_server(('127.0.0.1', 0))
def send():
    with listening.accept()[0] as connection:
        while True: connection.sendall(bytes(1 << 20))
threading.Thread(target=send, daemon=True).start()
with socket.create_connection(listening.getsockname()) as connection:
    while connection.recv(1 << 20): pass
";

/// What the daemon's connections moved from the first to the last sample, if it is visible.
#[track_caller]
fn connections(run: &Run) -> SocketCounters {
    let ledger = run.record.only_node().unwrap().ledger.as_ref().expect("a ledger");
    let end = ledger.samples.iter().rfind(|sample| sample.moment == Moment::End).expect("a last look");
    let wire = end.wire.value().expect("a witness");
    *wire.daemon_sockets.value().unwrap_or_else(|| panic!("{:?}", wire.daemon_sockets.reason()))
}

#[test]
fn a_daemons_connections() {
    inside_beside_others("sockets::a_daemons_connections", "s3fs --use-cache", || {
        let bench = Bench::new();
        let line = format!("--filename={} --bs=1m --size=24m", word(&place("LAB_S3").join("object")));
        let stored = bench.fio(&format!("--name=stored {line} --rw=write --end_fsync=1"));
        stored.silent(&["fuse-cache"]);
        let moved = connections(&stored);
        show(&format!("stored 24 MiB: {moved:?}"));
        near(24 << 20, moved.bytes.write, 0.02, "what was stored and what the connections sent");
        assert!(moved.bytes.read < 1 << 20, "answers are short: {moved:?}");

        // Read from the daemon's cache, while another program keeps the interface busy.
        let mut neighbour = Command::new("python3").args(["-c", NEIGHBOUR]).spawn().expect("python3 is there");
        let cached = bench.fio(&format!("--name=cached {line} --rw=read --direct=1 --rate=12m"));
        neighbour.kill().expect("it runs");
        neighbour.wait().expect("it ends");
        let (application, wire) = cached.moved();
        let moved = connections(&cached);
        show(&format!("read {application:?}: the interface {:?}, the connections {moved:?}", wire.bytes));
        assert!(wire.bytes.read > application.read, "the interface tells nothing");
        assert!(moved.bytes.read < 1 << 20, "{moved:?}");
        // Idle connections are closed after some seconds: then their last bytes are not visible.
        if moved.open > 0 && moved.closed == 0 {
            let finding = cached.caution("fuse-cache");
            assert!(finding.cause.contains("over the network (the daemon's connections)"), "{}", finding.cause);
        }
    });
}
