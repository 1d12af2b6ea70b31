//! Tests the comparison of nodes: missing, apart, slow, fast by a cache, limited by themselves, mounted differently.

use fsdyno_results::evidence::{RecordedFact, ServerIdentity, StorageClass, WireCounters};
use fsdyno_results::{ActiveSpan, ClockOffset, Finding, MissingRank, RankRecord, ReadWrite, RunRecord, Severity};

use crate::scene::*;

/// A node that reads `iops` I/Os per second.
fn node(name: &str, iops: u64) -> RunRecord {
    let mut record = on_disk(vec![direct(reader("job"))]);
    record.nodes[0].name = name.into();
    record.jobs[0].directions.read.ios = iops * 10;
    record
}

fn rank(number: u32, start_ms: i64, end_ms: i64) -> RunRecord {
    let mut record = node(&format!("n{number}"), 1000);
    let ns = |ms: i64| ms * 1_000_000;
    let spans = vec![ActiveSpan { stage: 0, start_ns: ns(start_ms), end_ns: ns(end_ms) }];
    record.take_part(RankRecord { rank: number, clock: None, spans, sees_first: None }, 2);
    record
}

fn merged(records: Vec<RunRecord>) -> RunRecord {
    let mut records = records.into_iter();
    records.next().unwrap().merge_all(records.collect()).unwrap()
}

fn of_kind(record: &RunRecord, id: &str) -> Vec<Finding> {
    fsdyno_findings::between_nodes(record).into_iter().filter(|finding| finding.id == id).collect()
}

/// The nodes that findings of this kind name.
fn named(record: &RunRecord, id: &str) -> Vec<String> {
    of_kind(record, id).into_iter().filter_map(|finding| finding.node).collect()
}

#[test]
fn a_missing_rank_makes_the_total_invalid() {
    let mut record = merged(vec![rank(0, 0, 10_000), rank(1, 0, 10_000)]);
    assert!(of_kind(&record, "ranks-missing").is_empty());
    record.lacks(vec![MissingRank { rank: 2, node: Some("n2".into()), reason: "it ended by signal 9".into() }]);
    let found = of_kind(&record, "ranks-missing");
    assert_eq!(found[0].cause, "1 of 2 ranks sent no results (rank 2 on n2: it ended by signal 9)");
    assert_eq!(found[0].severity, Severity::Invalid);
}

#[test]
fn ranks_that_ran_one_after_the_other_are_no_total() {
    let apart = of_kind(&merged(vec![rank(0, 0, 4_000), rank(1, 5_000, 9_000)]), "ranks-apart");
    assert_eq!((apart[0].severity, apart[0].node.as_deref()), (Severity::Invalid, None));
    assert_eq!(apart[0].cause, "at no time were all 2 ranks active in these 9.00 s");
    // One second of ten at either end: 1 s + 1 s of 20 s.
    let partly = of_kind(&merged(vec![rank(0, 0, 10_000), rank(1, 1_000, 11_000)]), "ranks-apart");
    assert_eq!(partly[0].severity, Severity::Caution);
    assert!(partly[0].cause.contains("active for 9.00 s; 10 % of their time lies outside"), "{}", partly[0].cause);
    // 0.4 s at either end are 4 %.
    assert!(of_kind(&merged(vec![rank(0, 0, 10_000), rank(1, 400, 10_400)]), "ranks-apart").is_empty());
}

#[test]
fn a_slow_node_is_named_and_even_ones_are_not() {
    let even = [990, 1000, 1010, 1005].into_iter().zip(["a", "b", "c", "d"]);
    let all = |slow: u64| merged(even.clone().map(|(iops, name)| node(name, iops)).chain([node("e", slow)]).collect());
    assert_eq!(named(&all(500), "slow-node"), ["e"]);
    assert!(of_kind(&all(500), "slow-node")[0].cause.starts_with("e does 500 IOPS, 50 % of what the median"));
    // A difference of 15 % is common between equal machines, even if the others are alike.
    assert!(named(&all(850), "slow-node").is_empty());
    // If nodes differ widely, one more that does is no exception.
    let wide = [400, 700, 1000, 1300, 1600].into_iter().zip(["a", "b", "c", "d", "e"]);
    assert!(named(&merged(wide.map(|(iops, name)| node(name, iops)).collect()), "slow-node").is_empty());
    assert_eq!(named(&merged(vec![node("a", 1000), node("b", 450)]), "slow-node"), ["b"]);
    assert!(named(&merged(vec![node("a", 1000), node("b", 550)]), "slow-node").is_empty());
}

/// A slow node makes few I/Os, which must not hide it.
#[test]
fn the_slowest_node_is_named_however_few_its_ios() {
    let with = |ios: u64| {
        let mut slow = node("d", 0);
        slow.jobs[0].directions.read.ios = ios;
        if ios == 0 {
            slow.jobs[0].directions.read.runtime_ms = 0;
        }
        merged(vec![node("a", 350), node("b", 355), node("c", 345), slow])
    };
    for ios in [63, 29, 1, 0] {
        assert_eq!(named(&with(ios), "slow-node"), ["d"], "{ios} I/Os in ten seconds");
        assert!(named(&with(ios), "client-cache").is_empty());
    }
    // Ten requests of a second each, or seven: the difference is chance.
    let few = |name: &str, ios: u64| {
        let mut record = node(name, 0);
        record.jobs[0].directions.read.ios = ios;
        record
    };
    assert!(named(&merged(vec![few("a", 10), few("b", 10), few("c", 7)]), "slow-node").is_empty());
    assert!(named(&merged(vec![few("a", 10), few("b", 4)]), "slow-node").is_empty());
    assert!(named(&merged(vec![few("a", 2), few("b", 2), few("c", 60)]), "client-cache").is_empty());
}

#[test]
fn a_node_that_falls_behind_the_pace_is_named() {
    let paced = |rates: &[(&str, u64)]| {
        let mut record = merged(rates.iter().map(|(name, iops)| node(name, *iops)).collect());
        record.jobs.iter_mut().for_each(|job| job.plan.paced = true);
        record
    };
    let behind = paced(&[("a", 1000), ("b", 1000), ("c", 700)]);
    assert_eq!(named(&behind, "slow-node"), ["c"]);
    assert!(of_kind(&behind, "slow-node")[0].cause.ends_with("(1,000): it falls behind the pace of the job"));
    assert!(named(&paced(&[("a", 1000), ("b", 1000), ("c", 995)]), "slow-node").is_empty(), "all keep it");
    let quick = paced(&[("a", 1000), ("b", 1000), ("c", 1000), ("d", 9000)]);
    assert!(named(&quick, "client-cache").is_empty(), "each pace is what the job says");
}

#[test]
fn a_reader_far_above_the_others_probably_has_a_cache() {
    let all = |fast| merged(vec![node("a", 1000), node("b", 1020), node("c", 980), node("d", fast)]);
    assert_eq!(named(&all(9000), "client-cache"), ["d"]);
    assert!(named(&all(1900), "client-cache").is_empty());
    let mut writes = all(9000);
    for job in &mut writes.jobs {
        std::mem::swap(&mut job.directions.read, &mut job.directions.write);
    }
    assert!(named(&writes, "client-cache").is_empty());
}

/// A client of a server behind a link of 1 GB/s, of which it used `megabytes_per_s`; its CPUs were busy for `busy`
/// percent.
fn client(name: &str, megabytes_per_s: u64, busy: u64) -> RunRecord {
    let mut record = on(StorageClass::Network, vec![direct(reader("job"))]);
    record.nodes[0].name = name.into();
    record.nodes[0].storages[0].server = Some(ServerIdentity {
        address: "10.0.0.1:2049".into(),
        connect_ns: RecordedFact::NotVisible("test".into()),
        interface: RecordedFact::Value("eth0".into()),
        link_bits_per_s: RecordedFact::Value(8_000_000_000),
    });
    look(&mut record, 0, [4 * GIB, 0], [0, 0]);
    let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
    for (sample, share) in samples.iter_mut().zip([0, 1]) {
        let bytes = ReadWrite { read: share * megabytes_per_s * 10_000_000, write: 0 };
        sample.wire = RecordedFact::Value(WireCounters { bytes, exclusive: true, ..WireCounters::default() });
        (sample.system.busy_ms, sample.system.total_ms) = (Some(share * busy * 800), Some(share * 80_000));
    }
    let job = &mut record.jobs[0];
    (job.user_ns, job.directions.read.ios) = (5_000_000_000, 10_000);
    record
}

#[test]
fn a_node_that_fills_its_own_link_or_cpus_is_named() {
    let quiet = || vec![client("a", 100, 10), client("b", 100, 10), client("c", 100, 10)];
    let with = |other: RunRecord| merged(quiet().into_iter().chain([other]).collect());
    assert!(named(&with(client("d", 100, 10)), "node-limit").is_empty());
    let linked = of_kind(&with(client("d", 950, 10)), "node-limit");
    assert!(
        linked[0].cause.starts_with("d is limited by its own link: 950 MB/s of its 1,000 MB/s"),
        "{}",
        linked[0].cause
    );
    let busy = of_kind(&with(client("d", 100, 97)), "node-limit");
    assert_eq!(busy[0].cause, "d is limited by its CPUs: CPUs were busy 97 % of the time");
    // A limit that most nodes have is no property of one node.
    let all = merged(["a", "b", "c"].map(|name| client(name, 950, 10)).into());
    assert!(named(&all, "node-limit").is_empty());
}

#[test]
fn clients_that_fill_a_link_together_have_that_of_the_server_in_common() {
    let limit = |record: &RunRecord| fsdyno_findings::limits::of_run(record).map(|limit| limit.limiter.word());
    let shared = merged(["a", "b", "c", "d"].map(|name| client(name, 240, 10)).into());
    assert_eq!(limit(&shared), Ok("the server's link"));
    let evidence = fsdyno_findings::limits::of_run(&shared).unwrap().evidence.to_string();
    assert_eq!(evidence, "4 nodes together moved 960 MB/s, and a link like theirs carries 1,000 MB/s");
    let idle = merged(["a", "b"].map(|name| client(name, 240, 10)).into());
    assert_ne!(limit(&idle), Ok("the server's link"));
    assert_eq!(limit(&merged(["a", "b"].map(|name| client(name, 900, 10)).into())), Ok("the link"));
    assert_eq!(limit(&client("a", 900, 10)), Ok("the link"));
}

#[test]
fn a_mount_with_other_options_is_named() {
    let mounted = |name: &str, options: &[&str], source: &str| {
        let mut record = client(name, 100, 10);
        let storage = &mut record.nodes[0].storages[0];
        let RecordedFact::Value(mount) = &mut storage.mount else { panic!("it has a mount") };
        mount.options = options.iter().map(|option| (*option).to_owned()).collect();
        mount.source = source.into();
        record
    };
    let usual = |name: &str, own: &str| mounted(name, &["rw", "vers=4.2", own], "s:/data");
    let all =
        |other: RunRecord| merged(vec![usual("a", "clientaddr=10.0.0.2"), usual("b", "clientaddr=10.0.0.3"), other]);
    assert!(of_kind(&all(usual("c", "clientaddr=10.0.0.4")), "mounts-differ").is_empty(), "their addresses differ");
    let older = of_kind(&all(mounted("c", &["rw", "vers=3"], "s:/data")), "mounts-differ");
    assert_eq!(older[0].cause, "c has vers=3, where most nodes have vers=4.2");
    let elsewhere = of_kind(&all(mounted("c", &["rw", "vers=4.2"], "s:/old")), "mounts-differ");
    assert_eq!(elsewhere[0].cause, "c has source s:/old, where most nodes have source s:/data");
    // The name of a local disk may differ between nodes.
    let disk = |name: &str, source: &str| {
        let mut record = mounted(name, &["rw"], source);
        record.nodes[0].storages[0].class = StorageClass::Block;
        record
    };
    assert!(of_kind(&merged(vec![disk("a", "/dev/vda"), disk("b", "/dev/sda")]), "mounts-differ").is_empty());
}

#[test]
fn a_clock_that_moves_is_named() {
    let with_clock = |moved_us: i64| {
        let mut other = rank(1, 0, 10_000);
        let clock = ClockOffset { before_ns: 5_000, after_ns: Some(5_000 + moved_us * 1000), error_ns: 100_000 };
        other.nodes[0].part.as_mut().unwrap().clock = Some(clock);
        merged(vec![rank(0, 0, 10_000), other])
    };
    // 500 ppm of ten seconds are 5 ms; the comparison can be wrong by 0.1 ms.
    assert!(named(&with_clock(5_050), "clocks-drift").is_empty());
    assert_eq!(named(&with_clock(-6_000), "clocks-drift"), ["n1"]);
    let cause = &of_kind(&with_clock(10_100), "clocks-drift")[0].cause;
    assert_eq!(cause, "the clock of n1 moved 10.0 ms against that of rank 0 in 10.0 s (1,000 ppm)");
}

#[test]
fn a_run_on_one_machine_has_none_of_it() {
    assert!(fsdyno_findings::between_nodes(&client("a", 950, 97)).is_empty());
}
