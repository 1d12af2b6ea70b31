//! T35 to T41 and T53: runs on real storage, merged as those of several nodes; one of them is then made to lag, to come late, to
//! be missing.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{ActiveSpan, ClockOffset, JobError, MissingRank, RankRecord, RunRecord, Severity};

use crate::bench::{Bench, FILE_MIB};

/// The same reads of a file on each of these nodes, each from the start to the end of its run.
fn nodes(bench: &Bench, names: &[&str]) -> Vec<RunRecord> {
    let words = format!(
        "--name=job --filename=file --rw=randread --bs=4k --direct=1 --time_based --runtime=1 --size={FILE_MIB}m \
         --rate_iops=500"
    );
    let run = |(rank, name): (u32, &&str)| {
        let mut record = bench.run(&words).record;
        record.nodes[0].name = (*name).to_owned();
        // Its rate is known, and not that of a disk that others use too.
        record.jobs[0].plan.paced = false;
        // Nor what others do with the processors of this machine.
        processors(&mut record, 1);
        let spans = vec![ActiveSpan { stage: 0, start_ns: 0, end_ns: 1_000_000_000 }];
        let clock = Some(ClockOffset { before_ns: 0, after_ns: Some(0), error_ns: 1000 });
        record.take_part(RankRecord { rank, clock, spans, sees_first: None }, names.len() as u32);
        record
    };
    (0..).zip(names).map(run).collect()
}

/// Makes it a node with eight processors, of which this number was busy all the time.
fn processors(record: &mut RunRecord, busy: u64) {
    for sample in &mut record.nodes[0].ledger.as_mut().unwrap().samples {
        sample.system.total_ms = Some(sample.at_ms * 8);
        sample.system.busy_ms = Some(sample.at_ms * busy);
    }
}

fn merged(records: &[RunRecord]) -> RunRecord {
    records[0].clone().merge_all(records[1..].to_vec()).expect("they fit")
}

/// Severity and node of the only finding of this kind.
fn one(id: &str, record: &RunRecord) -> (Severity, Option<String>) {
    let found = fsdyno_findings::between_nodes(record);
    let mut of_kind = found.iter().filter(|finding| finding.id == id);
    let finding = of_kind.next().unwrap_or_else(|| panic!("no {id} in {found:#?}"));
    assert!(of_kind.next().is_none(), "{found:#?}");
    (finding.severity, finding.node.clone())
}

#[test]
fn nodes_that_did_the_same_are_spared_and_one_that_did_not_is_named() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let even = nodes(&bench, &["a", "b", "c"]);
    let found = fsdyno_findings::between_nodes(&merged(&even));
    let kinds =
        ["ranks-missing", "ranks-apart", "slow-node", "client-cache", "node-limit", "mounts-differ", "clocks-drift"];
    for finding in &found {
        assert!(!kinds.contains(&finding.id.as_str()) || finding.id == "node-limit", "{found:#?}");
    }
    let caution = |node: &str| (Severity::Caution, Some(node.to_owned()));
    let with = |change: fn(&mut RunRecord)| {
        let mut changed = even.clone();
        change(&mut changed[1]);
        merged(&changed)
    };
    let slow = with(|record| record.jobs[0].directions.read.runtime_ms *= 3);
    assert_eq!(one("slow-node", &slow), caution("b"));
    let fast = with(|record| record.jobs[0].directions.read.ios *= 5);
    assert_eq!(one("client-cache", &fast), caution("b"));
    let clock = with(|record| {
        record.nodes[0].part.as_mut().unwrap().clock.as_mut().unwrap().after_ns = Some(20_000_000);
    });
    assert_eq!(one("clocks-drift", &clock), caution("b"));
    let apart = with(|record| {
        let spans = vec![ActiveSpan { stage: 0, start_ns: 500_000_000, end_ns: 1_500_000_000 }];
        record.take_part(RankRecord { rank: 1, spans, ..RankRecord::default() }, 3);
    });
    assert_eq!(one("ranks-apart", &apart), (Severity::Caution, None));
    let mounted = with(|record| match &mut record.nodes[0].storages[0].mount {
        fsdyno_results::evidence::RecordedFact::Value(mount) => mount.options.push("sync".into()),
        fsdyno_results::evidence::RecordedFact::NotVisible(reason) => panic!("{reason}"),
    });
    assert_eq!(one("mounts-differ", &mounted), caution("b"));
    // Its processors were busy all the time, for others, and it waited for them.
    let busy = with(|record| {
        processors(record, 8);
        for sample in &mut record.nodes[0].ledger.as_mut().unwrap().samples {
            sample.devices = fsdyno_results::evidence::RecordedFact::NotVisible("not its own".into());
        }
        record.jobs[0].user_ns = record.jobs[0].job_runtime_ms * 500_000;
    });
    assert!(fsdyno_findings::between_nodes(&busy).iter().any(|finding| {
        finding.id == "node-limit" && finding.node.as_deref() == Some("b") && finding.cause.contains("its CPUs")
    }));
    assert!(fsdyno_findings::of_run(&merged(&even)).iter().all(|finding| finding.id != "run-failed"));
    let full = with(|record| {
        let text = "No space left on device".to_owned();
        record.jobs[0].error = Some(JobError { code: 28, function: "write".into(), text });
    });
    let found = fsdyno_findings::of_run(&full);
    let failed: Vec<_> = found.iter().filter(|finding| finding.id == "run-failed").collect();
    assert_eq!(failed.len(), 1, "the others did their work: {found:#?}");
    assert_eq!(failed[0].node.as_deref(), Some("b"));
    assert!(failed[0].cause.contains("rank 1 on b: write: No space left on device"), "{}", failed[0].cause);
    let mut missing = merged(&even[..2]);
    missing.lacks(vec![MissingRank { rank: 2, node: Some("c".into()), reason: "it ended by signal 9".into() }]);
    assert_eq!(one("ranks-missing", &missing), (Severity::Invalid, None));
}

/// The same file on each node, as if it lay on a server that all have mounted.
#[test]
fn ranks_that_read_the_same_offsets_of_a_server_are_named() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let mut shared = nodes(&bench, &["a", "b", "c"]);
    for record in &mut shared {
        record.nodes[0].storages[0].class = StorageClass::Network;
    }
    assert_eq!(one("same-offsets", &merged(&shared)), (Severity::Caution, None));
    let spared = |records: &[RunRecord]| {
        fsdyno_findings::between_nodes(&merged(records)).iter().all(|finding| finding.id != "same-offsets")
    };
    let with = |change: fn(&mut RunRecord)| {
        let mut changed = shared.clone();
        changed.iter_mut().for_each(change);
        changed
    };
    let seeded = |record: &mut RunRecord| record.jobs[0].options.push(("randrepeat".into(), "0".into()));
    assert!(spared(&with(seeded)), "each has an order of its own");
    let own_files = |record: &mut RunRecord| record.jobs[0].plan.files[0] += &record.nodes[0].name;
    assert!(spared(&with(own_files)));
    let own_disks = |record: &mut RunRecord| record.nodes[0].storages[0].class = StorageClass::Block;
    assert!(spared(&with(own_disks)));
    let fixed = with(|record| {
        record.jobs[0]
            .options
            .extend([("randrepeat", "0"), ("randseed", "7")].map(|(name, value)| (name.into(), value.into())));
    });
    assert_eq!(one("same-offsets", &merged(&fixed)), (Severity::Caution, None));
}
