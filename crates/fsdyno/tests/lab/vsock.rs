//! Jobs that send to each other by vsock, in a virtual machine whose kernel connects a machine to itself: few others do.

use std::process::Command;

use serde_json::Value;
use testkit::stack::inside;
use testkit::text;

const BYTES: u64 = 64 << 10;

/// The bytes that the first job has read and the second has written.
fn moved(receives: &str, sends: &str) -> (Option<u64>, Option<u64>) {
    let line = format!(
        "--output-format=json --ioengine=net --protocol=vsock --port=9000 --bs=4k --size=64k --runtime=60 \
         --name=r --rw=read --listen {receives} --name=s --rw=write --hostname=1 --startdelay=1 {sends}"
    );
    let ran = Command::new(testkit::program()).args(line.split_whitespace()).output().expect("the program starts");
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let bytes = |job: usize, direction: &str| document["jobs"][job][direction]["io_bytes"].as_u64();
    (bytes(0, "read"), bytes(1, "write"))
}

#[test]
fn what_a_machine_sends_to_its_own_number_it_receives() {
    inside("vsock::what_a_machine_sends_to_its_own_number_it_receives", "devices", || {
        assert_eq!(moved("", ""), (Some(BYTES), Some(BYTES)));
        assert_eq!(moved("--pingpong", "--pingpong"), (Some(BYTES), Some(BYTES)));
        assert_eq!(moved("", "--ioengine=netsplice"), (Some(BYTES), Some(BYTES)));
    });
}
