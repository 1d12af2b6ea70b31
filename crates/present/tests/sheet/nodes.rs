//! Tests runs on several nodes: the figures of the nodes are the same in each form.

use fsdyno_present::export::{csv, markdown};
use fsdyno_present::{Headline, sheet, tables};
use fsdyno_results::{
    ActiveSpan, DirectionRecord, JobError, JobRecord, JobSetup, Latency, Question, RankRecord, Row, RunRecord, Study,
};
use serde_json::Value;

use crate::fixture;

/// A node that reads for four seconds, each request of 1 MiB with this latency.
fn node(number: u32, name: &str, ios: u64, latency_ns: u64) -> RunRecord {
    let mut lat = Latency::with_histogram();
    (0..2000).for_each(|_| lat.record(latency_ns));
    let read = DirectionRecord { bytes: ios << 20, ios, runtime_ms: 4000, lat, ..DirectionRecord::default() };
    let mut job = JobRecord::new("read-1m-n3", 1, JobSetup::default());
    job.directions.read = read;
    let mut run = RunRecord::new("fio-3.42", fixture::STARTED_MS);
    run.nodes[0].name = name.into();
    run.jobs = vec![job];
    let start_ns = i64::from(number) * 100_000_000;
    let spans = vec![ActiveSpan { stage: 0, start_ns, end_ns: start_ns + 4_000_000_000 }];
    run.take_part(RankRecord { rank: number, clock: None, spans, sees_first: None }, 3);
    run
}

fn row(nodes: u32, record: RunRecord) -> Row {
    Row {
        pattern: format!("read-1m-n{nodes}"),
        title: format!("1m sequential read, {nodes} nodes"),
        run: Some(record),
        ..Row::default()
    }
}

pub(crate) fn study() -> Study {
    let nodes = [(0, "a", 400, 1_000_000), (1, "slow<b>", 100, 8_000_000), (2, "c", 500, 900_000)];
    let [first, second, third] = nodes.map(|(number, name, ios, ns)| node(number, name, ios, ns));
    let one = node(0, "a", 450, 950_000);
    let all = first.merge_all(vec![second, third]).unwrap();
    let mut study = fixture::empty(Question::Scale);
    study.targets = vec![fixture::target("/mnt/nfs", "/mnt/nfs", fixture::nfs_mount())];
    study.rows = vec![row(1, one), row(3, all)];
    study.sentences = vec!["1m sequential read: saturates at 2 nodes: 262 MB/s. 1 node gets 118 MB/s.".into()];
    study
}

#[test]
fn each_face_has_the_same_figures_of_the_nodes() {
    let study = study();
    let headline = Headline::of(&study);
    assert_eq!(headline.headline.as_deref(), Some("1m sequential read: saturates at 2 nodes: 262 MB/s."));
    assert!(
        headline.next.iter().any(|step| step.command.as_deref() == Some("fsdyno measure /mnt/nfs")),
        "{headline:?}"
    );
    let [nodes] = &headline.nodes[..] else { panic!("{:?}", headline.nodes) };
    assert_eq!((nodes.test.as_str(), nodes.nodes.len()), ("read-1m-n3", 3), "one node has no others beside it");
    let iops = &nodes.iops;
    assert_eq!((iops.least, iops.median, iops.most, iops.imbalance), (25.0, 100.0, 125.0, Some(5.0)));
    assert_eq!((iops.least_node.as_str(), iops.most_node.as_str()), ("slow<b>", "c"));
    // All three were active from 0.2 s to 4.0 s: 11.4 s of their 12 s.
    assert_eq!((nodes.all_active_s, nodes.outside_percent), (Some(3.8), Some(5.0)));

    let text = tables::text(&study, 120);
    let line = text.lines().find(|line| line.contains("IOPS") && line.contains("slow<b>")).expect("a line of IOPS");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["read-1m-n3", "3", "IOPS", "25.0", "slow<b>", "100", "125", "c", "5.00"], "{text}");
    assert!(text.contains("all 3 nodes were active together for 3.80 s; 5.00 % of their time lies outside"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let narrow = tables::text(&study, 80);
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");

    assert!(markdown(&study).contains("25.0") && markdown(&study).contains("most/least"), "{}", markdown(&study));
    let csv = csv(&study);
    let last = csv.lines().last().unwrap();
    assert!(last.ends_with(",3,25,100,125,5"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with(",,,,,"), "{csv}");
    let document: Value = serde_json::from_str(&Headline::json(&study)).unwrap();
    assert_eq!(document["summary"]["nodes"][0]["iops"]["imbalance"], 5.0);

    let page = sheet::html(&[study], &sheet::SheetOptions::default());
    assert!(page.contains("IOPS of the 3 nodes of read-1m-n3") && page.contains("slow&lt;b&gt;"), "the strip");
    assert_eq!(page.matches("<rect class=\"bar c0\"").count(), 3);
    // Three charts against the number of nodes.
    for name in ["MB/s by nodes: 1: ", "IOPS by nodes: 1: 112; 3: 250", "p99 by nodes: 1: "] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn a_study_of_one_machine_has_no_table_of_nodes() {
    let study = fixture::comparison();
    assert!(Headline::of(&study).nodes.is_empty());
    assert!(!tables::text(&study, 120).contains("most/least"));
}

#[test]
fn the_rank_that_failed_is_named_on_each_face() {
    let mut study = study();
    let row = study.rows.last_mut().unwrap();
    let run = row.run.as_mut().unwrap();
    let error = |function: &str, text: &str| JobError { code: 5, function: function.into(), text: text.into() };
    let slow = run.nodes.iter().position(|node| node.name == "slow<b>").unwrap();
    run.jobs.iter_mut().find(|job| job.node == slow).unwrap().error = Some(error("read", "Input/output error"));
    let named = "rank 1 on slow<b>: Input/output error (read, errno 5)";
    let headline = Headline::of(&study);
    assert_eq!(headline.tests.last().unwrap().error.as_deref(), Some(named));
    assert!(Headline::json(&study).contains("rank 1 on slow<b>: Input/output error"));
    // That they cannot run together is an error of all ranks; its sentence names the rank that differs.
    let sentence = "rank 1 on slow<b> cannot run: no such directory";
    for job in &mut study.rows.last_mut().unwrap().run.as_mut().unwrap().jobs {
        job.error = Some(error(fsdyno_results::RANKS_APART, sentence));
    }
    assert_eq!(Headline::of(&study).tests.last().unwrap().error.as_deref(), Some(sentence));
    assert!(tables::summary(study.rows.last().unwrap()).contains(&format!("failed: {sentence}")));
}
