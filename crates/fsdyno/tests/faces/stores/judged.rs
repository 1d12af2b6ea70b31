//! What speaks against a figure of an object store is a finding of its row.

use testkit::{ObjectServer, ServerBehaviour, TestDirectory};

use super::{HONEST, Measured, ask, directory};

#[test]
fn what_speaks_against_the_number_stands_in_the_answer() {
    let place = TestDirectory::new();
    let compare =
        format!("compare s3://bucket local={} --only read-4k,stat-4k --rounds 1 --json --no-store", directory(&place));
    for (manner, told) in [(ServerBehaviour::Honest, false), (ServerBehaviour::ClosesBehindAnswers, true)] {
        let closes = (manner != ServerBehaviour::Honest).then(|| Measured::new(manner));
        let measured = closes.as_ref().unwrap_or(&*HONEST);
        assert_eq!(measured.ran.status, Some(0), "{:?}", measured.ran);
        let compared = ask(&place, &ObjectServer::start(manner), &compare).good().study();
        for (study, patterns) in [(&measured.study, ["get-4k", "head-4k"]), (&compared, ["read-4k", "stat-4k"])] {
            for pattern in patterns {
                let row = study.rows.iter().find(|row| row.pattern == pattern && row.target == 0).expect("a row");
                let found = row.findings.iter().any(|finding| finding.id == "no-keep-alive");
                assert_eq!(found, told, "{manner:?} {pattern}: {:?}", row.findings);
            }
        }
    }
}
