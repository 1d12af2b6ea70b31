//! Tests runs on several nodes: each job is judged by the counters of its own node.

use fsdyno_results::RunRecord;

use crate::scene::*;

/// A reader on a node of this name, and the bytes that the disk delivered for it.
fn on_node(name: &str, delivered: u64) -> RunRecord {
    let mut record = on_disk(vec![reader("job")]);
    record.nodes[0].name = name.into();
    look(&mut record, 0, [4 * GIB, 0], [delivered, 0]);
    record
}

#[test]
fn a_ledger_speaks_for_its_own_node_alone() {
    let (cached, honest) = (on_node("cached", 0), on_node("honest", 4 * GIB));
    let both = cached.clone().merge(honest.clone()).unwrap();
    let found = fsdyno_findings::of_run(&both);
    let pages: Vec<_> = found.iter().filter(|finding| finding.id == "page-cache").collect();
    assert_eq!(pages.len(), 1, "{found:#?}");
    assert_eq!(pages[0].node.as_deref(), Some("cached"));
    assert_eq!(pages[0].cause, one(&cached, "page-cache").cause);
    assert_eq!(one(&cached, "page-cache").node, None, "on one node there is nothing to tell apart");
}

#[test]
fn what_limited_the_first_job_is_its_nodes() {
    let honest = on_node("b", 4 * GIB);
    let mut far = on_node("a", 4 * GIB);
    last(&mut far).devices = fsdyno_results::evidence::RecordedFact::NotVisible("hidden".into());
    let limit = |record: &RunRecord| fsdyno_findings::limits::of_run(record).map(|limit| limit.limiter);
    assert_ne!(limit(&far), limit(&honest));
    let alone = limit(&far);
    assert_eq!(limit(&honest.merge(far).unwrap()), alone, "the node that is first by name has the first job");
}
