//! `fsdyno time` where a disk, a server or a daemon of its own shows what it must see.

use results::{Row, Study, TreeRecord};
use testkit::stack::{inside_beside_others, place, show};
use testkit::{Neighbour, Place, Ran, shell, word};

/// A line of the shell on the place of this variable.
fn ran(variable: &str, options: &str, line: &str) -> Ran {
    let at = place(variable);
    let mut words = vec!["time", word(&at), "--memory=none", "--quiet", "--no-store", "--json"];
    words.extend(options.split_whitespace());
    words.extend(["--shell", "--", line]);
    Place::new().run(&words[..])
}

/// What a person reads about a command that makes a directory there.
fn answer_about(variable: &str) -> String {
    let at = place(variable);
    let words = ["time", word(&at), "--memory=none", "--rounds=2", "-q", "--no-store", "--", "mkdir", "a"];
    Place::new().run(&words[..]).good().stdout
}

fn timed(variable: &str, options: &str, line: &str) -> Study {
    ran(variable, options, line).good().study()
}

fn tree(study: &Study) -> &TreeRecord {
    study.rows[0].tree.as_ref().expect("it is a command's")
}

fn found(study: &Study, id: &str) -> bool {
    study.rows.iter().any(|row: &Row| row.findings.iter().any(|finding| finding.id == id))
}

fn hidden(study: &Study) -> Vec<&'static str> {
    present::Headline::of(study).tests[0].not_visible.clone()
}

/// On a disk that nobody else uses.
#[test]
fn on_a_disk_of_its_own() {
    inside_beside_others("time::on_a_disk_of_its_own", "ext4 --size-mb 400", || {
        cold_reads_reach_the_device_and_warm_ones_do_not();
        what_is_left_in_memory_is_counted_in_the_sync();
        a_neighbour_is_told();
    });
}

fn cold_reads_reach_the_device_and_warm_ones_do_not() {
    let files = Place::with(&["from"]);
    files.write("from/data", vec![7; 8 << 20]);
    let from = files.word("from");
    let read = |cache: &str| {
        let study = timed("LAB_LOCAL", &format!("--rounds=1 --from={from} {cache}"), "cat data > /dev/null");
        tree(&study).during.devices.value().expect("its device counts").bytes.read
    };
    assert!(read("--cold") >= 8 << 20, "all of it");
    assert!(read("--warm") < 1 << 20, "none of it");
}

fn what_is_left_in_memory_is_counted_in_the_sync() {
    let written = |line: &str| {
        let study = timed("LAB_LOCAL", "--rounds=1", line);
        let [during, in_sync] = [&tree(&study).during, &tree(&study).in_sync];
        [during, in_sync].map(|of| of.devices.value().expect("its device counts").bytes.write)
    };
    let [_, left] = written("head -c 8388608 /dev/zero > x");
    assert!(left >= 7 << 20, "{left} B");
    let [during, left] = written("head -c 8388608 /dev/zero > x; sync x");
    assert!(during >= 8 << 20 && left < 1 << 20, "{during} B, then {left} B");
}

fn a_neighbour_is_told() {
    let line = "head -c 1048576 /dev/zero > x; sync x; sleep 0.3";
    assert!(!found(&timed("LAB_LOCAL", "--rounds=2", line), "foreign-load"), "nobody else is there");
    let other = place("LAB_LOCAL").join("other");
    shell(&format!("dd if=/dev/urandom of={} bs=1M count=32 conv=fsync status=none", word(&other)));
    let reader = Neighbour::reading(&other);
    assert!(found(&timed("LAB_LOCAL", "--rounds=2", line), "foreign-load"), "others read");
    drop(reader);
    let _writer = Neighbour::writing(&other);
    assert!(found(&timed("LAB_LOCAL", "--rounds=2", line), "foreign-load"), "others write");
}

#[test]
fn on_what_is_nearly_full() {
    inside_beside_others("time::on_what_is_nearly_full", "tmpfs --size-mb 64", || {
        let filled = place("LAB_LOCAL").join("filled");
        let fill = |mb: u32| shell(&format!("head -c {mb}M /dev/zero > {}", word(&filled)));
        fill(40);
        timed("LAB_LOCAL", "--rounds=1", "head -c 4M /dev/zero > x");
        let stopped = ran("LAB_LOCAL", "--rounds=1", "head -c 40M /dev/zero > x; sleep 2");
        assert!(stopped.status == Some(2) && stopped.stderr.contains("something fills"), "{stopped:?}");
        fill(62);
        let at = place("LAB_LOCAL");
        let words = ["time", word(&at), "--memory=none", "--no-store", "--", "true"];
        let refused = Place::new().run(&words[..]).refused("is nearly full, and gets slower");
        assert!(refused.contains("free some space there"), "{refused}");
        assert_eq!(testkit::names(&place("LAB_LOCAL")), ["filled"], "nothing is left");
    });
}

/// Operations by kind, bytes and round trips of the mount alone.
#[test]
fn on_nfs() {
    inside_beside_others("time::on_nfs", "nfs --vers 4.2 --delay-ms 2", || {
        let line = "for i in 1 2 3 4 5; do head -c 100000 /dev/zero > f$i; done; sync f5; cat f* > /dev/null";
        let study = timed("LAB_NFS", "--rounds=2", line);
        let tree = tree(&study);
        let wire = tree.during.wire.value().expect("mountstats");
        let operations = wire.operations.as_ref().expect("it is NFS");
        let of = |name: &str| operations.iter().find(|operation| operation.name == name).cloned().unwrap_or_default();
        assert!(wire.exclusive && wire.witness.contains("mountstats"), "{wire:?}");
        assert!(of("OPEN").count >= 5 && of("WRITE").count >= 5, "{operations:?}");
        assert!(operations.windows(2).all(|two| two[0].count >= two[1].count), "the most frequent first");
        assert!(of("OPEN").round_trip_ms >= 5 * 2, "the link takes 2 ms each way: {operations:?}");
        let written = wire.bytes.write + tree.in_sync.wire.value().expect("mountstats").bytes.write;
        assert!((500_000..650_000).contains(&written), "{written} B");
        assert!(tree.requests().expect("operations") >= 15);
        assert!(!hidden(&study).contains(&"network of the command"), "what crossed the card is the mount's");
        let answer = answer_about("LAB_NFS");
        assert!(answer.contains("CREATE") && answer.contains("of round trips"), "{answer}");
        show(&answer);
        elsewhere_on_the_network();
    });
}

/// The command works on the local disk and talks to a server.
fn elsewhere_on_the_network() {
    let local = "head -c 100000 /dev/zero > x";
    assert!(!hidden(&timed("LAB_LOCAL", "--rounds=2", local)).contains(&"network of the command"));
    let remote = format!("head -c 300000 /dev/zero > {0}/x; sync {0}/x; rm {0}/x", word(&place("LAB_NFS")));
    let study = timed("LAB_LOCAL", "--rounds=2", &remote);
    assert!(hidden(&study).contains(&"network of the command"), "{:?}", tree(&study).network_bytes);
}

/// The daemon's own work is a part of what the place costs.
#[test]
fn on_s3() {
    inside_beside_others("time::on_s3", "s3fs", || {
        let study = timed("LAB_S3", "--rounds=2", "head -c 2000000 /dev/urandom > x; cat x > /dev/null; rm x");
        let wire = tree(&study).during.wire.value().expect("the daemon's network");
        assert!(wire.bytes.sum() >= 2_000_000, "{wire:?}");
        assert!(wire.daemon_cpu_ns.is_some_and(|ns| ns > 0), "{wire:?}");
        assert!(wire.daemon_bytes.is_some(), "{wire:?}");
        assert_eq!(tree(&study).requests(), None, "nobody counts the requests of a daemon");
        let answer = answer_about("LAB_S3");
        assert!(answer.contains("the daemon used "), "{answer}");
        show(&answer);
    });
}
