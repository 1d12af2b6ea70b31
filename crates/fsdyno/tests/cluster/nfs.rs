//! Tests several clients of one NFS server, each with its own name, network and mount: a stack of the lab.

use std::collections::BTreeSet;
use std::process::Command;

use fsdyno_results::{Node, RunRecord, Study};
use testkit::stack::{inside_beside_others, show};
use testkit::{RunResult, Running, TestDirectory, shell, skip, word};

use crate::launcher::program;
use crate::one_record::record;

/// The link of the server, Mbit/s, which the clients are told as their own.
const LINK_MBIT: u64 = 40;

/// Four clients of a server behind a link that two of them fill.
const STACK: &str = "clients --timeout=900 --clients 4 --rate-mbit 40 --delay-ms 38";

/// Runs the program on the first clients, started from the first of them.
#[track_caller]
fn ran(place: &TestDirectory, clients: u32, words: &str) -> RunResult {
    started(place, clients, words).finish()
}

fn started(place: &TestDirectory, clients: u32, words: &str) -> Running {
    let program = program().expect("it was built before the stack stood");
    let hosts: Vec<String> = (1..=clients).map(|number| format!("node{number}")).collect();
    let line = format!("{} --hosts {} {words}", word(program), hosts.join(","));
    let mut command = Command::new("lab-node");
    command.args(["node1", &line]).current_dir(place.path("")).env("HOME", place.path("")).env("TMPDIR", "/run");
    command.env("XDG_DATA_HOME", place.path("home")).env("FSDYNO_LINK_MBIT", LINK_MBIT.to_string());
    command.env("OMPI_MCA_plm_rsh_agent", "lab-node").env("OMPI_MCA_btl", "tcp,self");
    command.env("HYDRA_LAUNCHER_EXEC", "lab-node");
    command.env("OMPI_MCA_oob_tcp_if_include", "eth0").env("OMPI_MCA_btl_tcp_if_include", "eth0");
    Running::start(&mut command)
}

/// Runs a test inside the stack.
fn on_clients(test: &str, body: impl FnOnce()) {
    if program().is_some() {
        inside_beside_others(test, STACK, body);
    }
}

#[test]
fn the_knee_is_the_servers_link() {
    on_clients("nfs::the_knee_is_the_servers_link", the_knee);
}

#[test]
fn two_addresses_are_one_server_and_a_slow_client_is_named() {
    on_clients("nfs::two_addresses_are_one_server_and_a_slow_client_is_named", a_slow_client);
}

/// One client waits for the round trip half of the time; two fill the link; four get no more.
fn the_knee() {
    let place = TestDirectory::new();
    let words = "scale /mnt/nfs --nodes 1,2,4 --rw=randread --bs=128k --iodepth=1 --size=4m --runtime=3 --quiet --json --no-store";
    let ran = ran(&place, 4, words).good();
    let study: Study = ran.study();
    show(&study.sentences.join("\n"));
    let left = shell("ls /mnt/server");
    assert!(!left.contains("fsdyno-work"), "{left}");
    assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
    let [sentence] = &study.sentences[..] else { panic!("{:?}", study.sentences) };
    let found = ["saturates at 2 nodes", ", limited by the server's link ("].iter().all(|part| sentence.contains(part));
    judged(found, sentence, study.rows.iter().filter_map(|row| row.run.as_ref()));
}

/// The third client's own link carries a tenth of the others'.
fn a_slow_client() {
    let place = TestDirectory::new();
    shell("tc qdisc add dev node3 root tbf rate 5mbit burst 64k latency 50ms");
    let words = "--name=a --directory=/mnt/nfs --rw=randread --ioengine=libaio --iodepth=8 --bs=16k --size=2m --direct=1 --time_based --runtime=3 \
                 --record=run.json";
    ran(&place, 4, words).good();
    shell("tc qdisc del dev node3 root");
    let record = record(&place);
    // The clients use two addresses of the same server.
    let notes: Vec<&str> = record.notes.iter().map(|note| note.id.as_str()).collect();
    assert!(notes.contains(&"servers-differ"), "{notes:?}");
    // Each sees the file that the first one made, by whatever address.
    let sees = |node: &Node| node.part.as_ref().and_then(|part| part.sees_first);
    assert!(record.nodes.iter().all(|node| sees(node) == Some(true)), "{:?}", record.nodes);
    let address = |rank: usize| record.nodes[rank].storages[0].server.as_ref().map(|server| server.address.clone());
    assert!(address(0) == address(2) && address(0).is_some() && address(0) != address(1), "{:?}", address(1));
    let slow: Vec<&str> = of_kind(&record, "slow-node");
    judged(slow == ["node3"], &format!("{slow:?}"), [&record]);
}

/// Findings of nodes that had too little of the one processor that the guest has.
const STARVED: [&str; 3] = ["cpu-starved", "clocks-drift", "ranks-apart"];

/// Requires what the times of the nodes show. Where it is not there, and the records themselves say that the nodes were
/// starved, nothing is judged.
#[track_caller]
fn judged<'a>(found: bool, shown: &str, records: impl IntoIterator<Item = &'a RunRecord>) {
    let ids = records.into_iter().flat_map(|record| &record.findings).map(|found| found.id.as_str());
    let starved: BTreeSet<&str> = ids.filter(|id| STARVED.contains(id)).collect();
    match found || starved.is_empty() {
        true => assert!(found, "{shown}"),
        false => skip(&format!("cannot be judged here: {starved:?}: {shown}")),
    }
}

fn of_kind<'a>(record: &'a RunRecord, id: &str) -> Vec<&'a str> {
    record.findings.iter().filter(|found| found.id == id).filter_map(|found| found.node.as_deref()).collect()
}
