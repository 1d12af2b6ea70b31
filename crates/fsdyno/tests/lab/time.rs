//! Tests `fsdyno time` where its own disk, server or daemon shows what it must see.

use fsdyno_results::{Study, TreeRecord};
use testkit::stack::{inside_beside_others, place, show};
use testkit::{TestDirectory, word};

/// The answer about a shell line there, for people.
fn answer_about(variable: &str, line: &str) -> String {
    let at = place(variable);
    let words = ["time", word(&at), "--memory=none", "--rounds=2", "-q", "--no-store", "--shell", "--", line];
    TestDirectory::new().run(&words[..]).good().stdout
}

/// Times a shell line on the place of this variable.
fn timed(variable: &str, options: &str, line: &str) -> Study {
    let at = place(variable);
    let mut words = vec!["time", word(&at), "--memory=none", "--quiet", "--no-store", "--json"];
    words.extend(options.split_whitespace());
    words.extend(["--shell", "--", line]);
    TestDirectory::new().run(&words[..]).good().study()
}

fn tree(study: &Study) -> &TreeRecord {
    study.rows[0].tree.as_ref().expect("it is a command's")
}

fn hidden(study: &Study) -> Vec<&'static str> {
    fsdyno_present::Headline::of(study).tests[0].not_visible.clone()
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
        assert_eq!(of("STATFS").count, 0, "who looks at the free space is not the command");
        assert!(of("OPEN").count >= 5 && of("WRITE").count >= 5, "{operations:?}");
        assert!(operations.windows(2).all(|two| two[0].count >= two[1].count), "the most frequent first");
        assert!(of("OPEN").round_trip_ms >= 5 * 2, "the link takes 2 ms each way: {operations:?}");
        let written = wire.bytes.write + tree.in_sync.wire.value().expect("mountstats").bytes.write;
        assert!((500_000..650_000).contains(&written), "{written} B");
        assert!(tree.requests().expect("operations") >= 15);
        assert!(!hidden(&study).contains(&"network of the command"), "what crossed the card is the mount's");
        let answer = answer_about("LAB_NFS", "mkdir a");
        assert!(answer.contains("CREATE") && answer.contains("of round trips"), "{answer}");
        show(&answer);
        elsewhere_on_the_network();
    });
}

/// The command works on the local disk and uses a server.
fn elsewhere_on_the_network() {
    let local = "head -c 100000 /dev/zero > x";
    assert!(!hidden(&timed("LAB_LOCAL", "--rounds=2", local)).contains(&"network of the command"));
    let remote = format!("head -c 300000 /dev/zero > {0}/x; sync {0}/x; rm {0}/x", word(&place("LAB_NFS")));
    let study = timed("LAB_LOCAL", "--rounds=2", &remote);
    assert!(hidden(&study).contains(&"network of the command"), "{:?}", tree(&study).network_bytes);
}

/// The daemon's own work is a part of the place's cost.
#[test]
fn on_s3() {
    inside_beside_others("time::on_s3", "s3fs", || {
        // The clock of a daemon's CPU time has steps of some ms, which a mkdir may not take.
        let line = "head -c 2000000 /dev/urandom > x; cat x > /dev/null; rm x";
        let study = timed("LAB_S3", "--rounds=2", line);
        let wire = tree(&study).during.wire.value().expect("the daemon's network");
        assert!(wire.bytes.sum() >= 2_000_000, "{wire:?}");
        assert!(wire.daemon_cpu_ns.is_some_and(|ns| ns > 0), "{wire:?}");
        assert!(wire.daemon_bytes.is_some(), "{wire:?}");
        assert_eq!(tree(&study).requests(), None, "nobody counts the requests of a daemon");
        let answer = answer_about("LAB_S3", line);
        assert!(answer.contains("the daemon used "), "{answer}");
        show(&answer);
    });
}
