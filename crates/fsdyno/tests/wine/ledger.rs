//! Layers of the ledger.

use serde_json::Value;
use testkit::{skip, text};

use crate::bench::{SHARE, Wine, built, directory, windows, wine};

const NO_REMOTE_DRIVE: &str = "Wine does not take N: for a drive of a server";

/// Whether Linux has an interface of this name that is not its own.
fn is_interface(name: &str) -> bool {
    std::path::Path::new("/sys/class/net").join(name).is_dir() && name != "lo"
}

/// The wire in each look of a run's record.
fn wire(wine: &Wine, ground: &str) -> Vec<Value> {
    let place = directory();
    let record = place.path().join("record.json");
    let shape = ["--name=a", "--rw=write", "--bs=64k", "--size=1m", "--time_based", "--runtime=2", "--ioengine=psync"];
    let asked = [format!("--directory={}", ground.replace(':', r"\:")), format!("--record={}", windows(&record))];
    let asked: Vec<&str> = asked.iter().map(String::as_str).chain(shape).collect();
    wine.fsdyno(&asked);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).expect("one record");
    let samples = record["nodes"][0]["ledger"]["samples"].as_array().expect("samples").clone();
    assert!(samples.len() >= 2, "one before and one after");
    samples.into_iter().map(|sample| sample["wire"].clone()).collect()
}

/// What crosses the network for a drive of a server is counted by the interfaces, of which the machine's own is none.
#[test]
fn a_drive_of_a_server_has_the_counters_of_interfaces() {
    let Some(wine) = wine() else { return };
    let place = tempfile::tempdir_in(wine.remote()).expect("a directory can be made");
    let name = testkit::word(place.path().file_name().expect("it has a name").as_ref()).to_owned();
    let ground = format!(r"N:\{name}");
    let wire = wire(wine, &ground);
    if wire[0]["not_visible"].as_str().is_some_and(|reason| reason.contains("no file is on a server")) {
        return skip(NO_REMOTE_DRIVE);
    }
    if let Some(reason) = wire[0]["not_visible"].as_str() {
        assert!(reason.contains("network interfaces: no interface moved any bytes"), "{reason}");
        return skip(reason);
    }
    let witness = wire[0]["value"]["witness"].as_str().expect("a name").to_owned();
    let (_, names) = witness.split_once(' ').expect("a word before it");
    assert!(names.split(", ").all(is_interface), "{witness}");
    let bytes = |look: &Value| [0, 1].map(|at| look["value"]["bytes"][at].as_u64());
    let counted: Vec<[Option<u64>; 2]> = wire.iter().map(bytes).collect();
    assert_eq!(counted[0], [Some(0), Some(0)], "counted from the first look on");
    let grows = |both: &[[Option<u64>; 2]]| (0..2).all(|at| both[1][at].is_some() && both[1][at] >= both[0][at]);
    assert!(counted.windows(2).all(grows), "{counted:?}");
    assert!(wire.iter().all(|look| look["value"]["exclusive"] == false), "others use them too");
    // What a card moves by RDMA is not among these bytes.
    let card = r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4D36E972-E325-11CE-BFC1-08002BE10318}\0042";
    let reg = |words: &[&str]| wine.run(std::path::Path::new("reg"), words);
    assert!(reg(&["add", card, "/v", "*NetworkDirect", "/d", "1", "/f"]).status.success());
    let uncounted = self::wire(wine, &ground);
    assert!(reg(&["delete", card, "/f"]).status.success());
    let said = |look: &Value| look["not_visible"].as_str().is_some_and(|reason| reason.contains("RDMA"));
    assert!(uncounted.iter().all(said), "{uncounted:?}");
}

#[test]
fn files_of_this_machine_have_no_wire() {
    let Some(wine) = wine() else { return };
    let place = directory();
    for look in wire(wine, &windows(place.path())) {
        assert_eq!(look["not_visible"], "not visible: network: no file is on a server");
    }
}

/// A mapped drive: the server is named, with the way to it or why that is not visible.
#[test]
fn a_mapped_drive_has_its_server() {
    let Some(wine) = wine() else { return };
    let inspect = format!(r"{} inspect N:\ --json", windows(built("fsdyno", "fsdyno")));
    let target = r"\Device\LanmanRedirector\;N:0000000000012345\127.0.0.1\data";
    let ran = wine.run(&wine.helper(SHARE), &[target, &inspect]);
    assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
    let inspected: Value = serde_json::from_str(&text(&ran.stdout)).expect("one document");
    let storage = &inspected["storage"];
    if storage["class"] != "network" {
        return skip(NO_REMOTE_DRIVE);
    }
    assert!(storage["remarks"][0].as_str().unwrap().starts_with("share data of 127.0.0.1"), "{storage}");
    let server = &storage["server"];
    assert_eq!(server["address"], "127.0.0.1:445", "{storage}");
    let refused = |reason: &Value| reason.as_str().is_some_and(|reason| reason.contains("connect 127.0.0.1:445"));
    let connect = &server["connect_ns"];
    assert!(connect["value"].as_u64().is_some_and(|ns| ns > 0) || refused(&connect["not_visible"]), "{server}");
    // Wine says that packets to this machine leave by a card.
    let interface = &server["interface"];
    let hidden = interface["not_visible"].as_str().is_some_and(|reason| reason.contains("network interfaces: "));
    assert!(hidden || interface["value"].as_str().is_some_and(is_interface), "{server}");
    assert_eq!(hidden, server["link_bits_per_s"]["not_visible"] == interface["not_visible"], "{server}");
}
