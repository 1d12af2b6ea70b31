//! Kept runs of object stores are compared as those of directories are.

use testkit::{ObjectServer, ServerBehaviour, TestDirectory};

use super::ask;

#[test]
fn runs_of_buckets_have_a_history_and_differences() {
    let (server, place) = (ObjectServer::start(ServerBehaviour::Honest), TestDirectory::new());
    let words = "compare a=s3://bucket/a b=s3://bucket/b --only read-4k,stat-4k --rounds 4 --quiet --store runs";
    (0..2).for_each(|_| drop(ask(&place, &server, words).good()));
    let asked = server.requests();
    let history = place.run("history --store runs --json").good().document();
    let runs = history["runs"].as_array().expect("runs");
    assert!(runs.len() == 2 && runs.iter().all(|run| run["tests"].as_array().is_some_and(|tests| tests.len() == 4)));
    let found = place.run("diff previous last --store runs --json").good().document();
    let of = |pattern: &str, target: &str, figure: &str| {
        let changes = found["changes"].as_array().expect("changes").iter();
        let mut its = changes.filter(|change| change["pattern"] == pattern && change["target"] == target);
        its.find(|change| change["figure"] == figure).expect("a change")["rounds"].clone()
    };
    for (pattern, target) in [("read-4k", "a"), ("stat-4k", "b")] {
        assert_eq!(of(pattern, target, "iops"), serde_json::json!([4, 4]), "{pattern} on {target}: {found}");
    }
    place.run("baseline set good previous --store runs").good();
    place.run(&["diff", "good", "last", "--store", "runs", "--fail-if", "read-4k.iops < -99.9%"]).good();
    assert_eq!(server.requests(), asked, "what is kept asks no server");
}
